"""Libraries of an environment: read where the program uses them, never reported, and nothing of them without being asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import Project

from tclint.model.errors import ConfigError
from tclint.program.libraries import Libraries
from tclint.sources.site_packages import site_packages

SITE = ".venv/lib/python3.11/site-packages"
LIBRARY: dict[str, str | bytes] = {
    f"{SITE}/measures/__init__.py": "from .base import Measure\n",
    f"{SITE}/measures/base.py": """
        from torch import nn
        class Measure(nn.Module):
            def forward(self, *args, **kwargs):
                return self.update(*args, **kwargs)
        """,
    f"{SITE}/draws.py": """
        import torch
        class Crop:
            @staticmethod
            def params(x):
                return place(x)
        def place(x):
            return int(x.sum())
        def perhaps(x, given=None):
            return None if given is None else float(x.sum())
        def spread(x, index, size=None):
            if index.dim() != 1:
                raise ValueError("one dimension")
            if size is None:
                size = int(index.max()) + 1 if index.numel() > 0 else 0
            return x.new_zeros(size).scatter_add(0, index, x)
        def seldom(x, given):
            if given:
                return x.sum().item()
            return x
        """,
    f"{SITE}/measures-1.0.dist-info/METADATA": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path).write(LIBRARY)


def test_a_base_calls_what_its_subclass_overrides(project: Project) -> None:
    project.write(
        {
            "a.py": """
                import torch
                import measures as m
                class Total(m.Measure):
                    def update(self, x: torch.Tensor):
                        return x.sum().item()
                """
        }
    )
    assert project.places() == []
    assert project.places(python=".venv") == ["a.py:5 TCL103"]


def test_a_break_that_every_run_comes_to_is_told_at_the_call(project: Project) -> None:
    project.write(
        {
            "a.py": """
                import torch
                from torch import nn
                from draws import Crop, perhaps, seldom
                class Net(nn.Module):
                    def forward(self, x: torch.Tensor, given):
                        seldom(x, given)
                        perhaps(x, given)
                        return x * Crop.params(x)
                """
        }
    )
    assert project.places() == []
    report = project.lint(python=".venv")
    assert [(f.path, f.line, f.code) for f in report.findings] == [("a.py", 8, "TCL110")]
    assert "`draws.Crop.params`" in report.findings[0].message
    assert report.files == 1


def test_checks_and_arguments_that_are_not_empty_leave_a_break_sure(project: Project) -> None:
    project.write(
        {
            "a.py": """
                import torch
                from torch import nn
                from draws import spread
                class Net(nn.Module):
                    def forward(self, x: torch.Tensor, index: torch.Tensor):
                        return spread(x, index)
                class Told(nn.Module):
                    def forward(self, x: torch.Tensor, index: torch.Tensor):
                        return spread(x, index, 4)
                class Chosen(nn.Module):
                    def forward(self, x: torch.Tensor, index: torch.Tensor):
                        chosen = index[index > 2]
                        return spread(x, chosen)
                """
        }
    )
    assert project.places(python=".venv") == ["a.py:6 TCL110", "a.py:12 TCL106"]


def test_what_nobody_asks_for_is_not_looked_for(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    look = Libraries.file_of

    def noted(self: Libraries, dotted: str) -> str | None:
        found = look(self, dotted)
        asked.append(dotted if found else "")
        return found

    monkeypatch.setattr(Libraries, "file_of", noted)
    project.write(
        {
            "a.py": """
                import draws, measures, torch
                from torch import nn
                class Net(nn.Module):
                    def forward(self, x: torch.Tensor):
                        return draws.place(x)
                """
        }
    )
    assert project.places(python=".venv") == ["a.py:5 TCL110"]
    assert set(asked) == {"draws", ""}  # torch is none of those that are read


def test_torch_is_asked_and_not_read(project: Project) -> None:
    project.write({f"{SITE}/torch/__init__.py": "def relu(x):\n    return x.sum().item()\n"})
    project.write({f"{SITE}/scipy/__init__.py": "def solve(x):\n    return x\n"})
    assert Libraries(str(project.root / SITE)).names == {"measures", "draws"}
    project.write(
        {
            "a.py": """
                import torch
                class Net(torch.nn.Module):
                    def forward(self, x):
                        return torch.relu(x)
                """
        }
    )
    assert project.places(python=".venv") == []


def test_a_library_that_changes_is_read_again(project: Project) -> None:
    project.write(
        {
            "a.py": """
                import torch, draws
                class Net(torch.nn.Module):
                    def forward(self, x: torch.Tensor):
                        return draws.place(x)
                """
        }
    )
    kept = {"python": ".venv", "no_cache": False, "cache_dir": "kept"}
    assert project.places("a.py", **kept) == project.places("a.py", **kept) == ["a.py:4 TCL110"]
    project.write({f"{SITE}/draws.py": "def place(x):\n    return x.sum()\n"})
    assert project.places("a.py", **kept) == []


def test_where_the_libraries_of_an_environment_lie(project: Project) -> None:
    site = project.root / SITE
    (project.root / ".venv" / "bin").mkdir()
    (project.root / ".venv" / "bin" / "python").write_bytes(b"")
    for named in (".venv", ".venv/bin/python", SITE):
        assert site_packages(str(project.root / named)) == str(site)
    assert site_packages(str(project.root / "nowhere")) is None
    with pytest.raises(ConfigError, match="python must be a virtual environment"):
        project.lint(python="nowhere")
