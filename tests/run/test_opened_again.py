"""A folder of a project that is opened again: what leads there is known from the last time, until something changes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from lintkit import Project

from tclint.run.project import Project as Opened
from tclint.sources import around as scanned
from tclint.sources.files import InputFile

SOURCES: dict[str, str | bytes] = {
    "pyproject.toml": "[project]\nname = 'p'\n",
    "net/model.py": "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
    "train.py": "import torch\nfrom net.model import Net\n\nmodel = torch.compile(Net())\n",
    "other.py": "x = 1\n",
}


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders whose project is scanned from now on."""
    seen: list[str] = []
    real = scanned.around

    def noted(files: Sequence[InputFile], root: str, *rest: object) -> list[InputFile]:
        seen.append(os.path.basename(root))
        return real(files, root, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(scanned, "around", noted)
    return seen


def paths(root: Path, **overrides: object) -> list[str]:
    return [file.path for file in Opened.open(["net"], cwd=str(root), overrides=overrides).files]


def test_nothing_is_scanned_again(project: Project, scans: list[str]) -> None:
    root = project.write(SOURCES).root
    for path in root.rglob("*.py"):
        os.utime(path, (1e9, 1e9))
    assert paths(root) == ["net/model.py", "train.py"]
    assert paths(root) == ["net/model.py", "train.py"]
    assert len(scans) == 1


def test_what_changed_is_scanned_again(project: Project, scans: list[str]) -> None:
    root = project.write(SOURCES).root
    assert paths(root) == ["net/model.py", "train.py"]
    project.write({"other.py": "import torch\nfrom net import model\n\ntorch.compile(model.Net())\n"})
    assert paths(root) == ["net/model.py", "other.py", "train.py"]
    (root / "train.py").unlink()
    assert paths(root) == ["net/model.py", "other.py"]
    assert paths(root, **{"compile-functions": ["fast"]}) == ["net/model.py", "other.py"]
    assert len(scans) == 4


def test_without_a_cache_nothing_is_kept(project: Project, scans: list[str]) -> None:
    root = project.write(SOURCES).root
    assert paths(root, **{"no-cache": True}) == paths(root, **{"no-cache": True}) == ["net/model.py", "train.py"]
    assert len(scans) == 2
    assert not (root / ".tclint_cache").exists()
