"""Cache, processes and a first glance save time and change nothing: on the fixtures, and on libraries where they are installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.model.finding import Finding
from tclint.run import engine, plan
from tclint.sources import configuration, files, glance

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("torch/nn", "timm", "transformers/models", "diffusers/models")


def library(name: str) -> Path | None:
    """Where a library lies: under $TCLINT_LIBRARIES (a site-packages folder), or installed beside us."""
    given = os.environ.get("TCLINT_LIBRARIES")
    if given:
        return Path(given, name) if Path(given, name).is_dir() else None
    package, _, inside = name.partition("/")
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent / inside if found is not None and found.origin else None


def _folders() -> list[object]:
    slow = pytest.mark.slow
    return [ROOT / "fixtures", *(pytest.param(name, id=name.replace("/", "."), marks=slow) for name in LIBRARIES)]


@pytest.fixture(params=_folders(), ids=lambda each: each.name if isinstance(each, Path) else None)
def folder(request: pytest.FixtureRequest) -> Path:
    if isinstance(request.param, Path):
        return request.param
    found = library(request.param)
    if found is None or not found.is_dir():
        pytest.skip(f"{request.param} is not installed; $TCLINT_LIBRARIES may name a site-packages folder that has it")
    return found


def printed(folder: Path, *options: str, seed: str = "0") -> bytes:
    # Fixtures have nothing to do with each other, and are many by now: each ninth of them will do, here and below.
    where = (
        [str(each) for each in sorted((folder / "rules").glob("TCL*"))[::9]] if folder == ROOT / "fixtures" else ["."]
    )
    command = [sys.executable, "-m", "tclint", "--isolated", "--output-format", "json", *options, *where]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout


def test_cache_and_processes_change_no_byte(folder: Path, tmp_path: Path) -> None:
    """Nor does the seed of the hashes, which differs from process to process. Workers know of no cache: what they send is
    the same with and without one, so one run has both, and is held against one that has neither."""
    fresh = printed(folder, "--no-cache", "--jobs", "1")
    kept = ("--cache-dir", str(tmp_path / "cache"))
    assert printed(folder, *kept, "--jobs", "3", seed="1") == fresh
    assert printed(folder, *kept, seed="2") == fresh


def test_nor_do_they_where_libraries_are_read(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    (site / "draws").mkdir(parents=True)
    (site / "draws" / "__init__.py").write_text("from .place import place\n")
    (site / "draws" / "place.py").write_text("def place(x):\n    return int(x.sum())\n")
    (tmp_path / "project").mkdir()
    head = "import torch\nfrom draws import place\nclass Net(torch.nn.Module):\n"
    for name in "abcd":
        body = f"    def forward(self, {name}: torch.Tensor):\n        return {name} * place({name})\n"
        (tmp_path / "project" / f"{name}.py").write_text(head + body)
    read = ("--python", str(site))
    fresh = printed(tmp_path / "project", *read, "--no-cache", "--jobs", "1")
    assert fresh.count(b"TCL110") >= 4
    kept = (*read, "--cache-dir", str(tmp_path / "cache"))
    assert printed(tmp_path / "project", *kept, "--jobs", "3", seed="1") == fresh
    assert printed(tmp_path / "project", *kept, seed="2") == fresh


def findings(folder: Path) -> list[tuple[object, ...]]:
    settings = configuration.load(["."], cwd=str(folder), isolated=True, overrides={"jobs": 1})
    found = files.discover(["."], settings, str(folder))
    report = engine.lint(found[::9] if folder == ROOT / "fixtures" else found, settings)
    return [_told(finding) for finding in report.findings]


def _told(finding: Finding) -> tuple[object, ...]:
    return (finding.sort_key, finding.confidence, finding.message)


def test_the_glance_changes_no_finding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every file by itself: which of them share a part must not depend on how many there are.
    monkeypatch.setattr(plan, "divided", lambda items: ([item] for item in items))
    filtered = findings(folder)
    survey = glance.glance

    def everything(data: bytes, *args: object) -> glance.Glance:
        # As if every file compiled something: all of them are read, and their eager code is run through.
        return survey(data, *args)._replace(root=True, compiles=True)  # type: ignore[arg-type]

    monkeypatch.setattr(glance, "glance", everything)
    assert findings(folder) == filtered
    assert filtered


HOOKED = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
net[0].register_full_backward_hook(lambda module, wanted, given: None)

def call_one(x: torch.Tensor):
    return net(x) * 2

def main():
    torch.compile(call_one)(torch.randn(2, 4))
"""
SPLIT = """
import torch
from torch import nn

class Inner{n}(nn.Module):
    def forward(self, x: torch.Tensor, sizes: torch.Tensor):
        parts = (sizes.prod(-1) // 2).tolist()
        return torch.split(x, parts)

def make():
    return Inner{n}()
"""


def test_nor_does_it_matter_which_trees_are_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node of a file that was parsed again is another one, at the same place."""
    for n in range(4):
        (tmp_path / f"hooked_{n}.py").write_text(HOOKED)
        (tmp_path / f"split_{n}.py").write_text(SPLIT.replace("{n}", str(n)))
    users = "".join(f"from split_{n} import make as make_{n}\n" for n in range(4))
    (tmp_path / "users.py").write_text(
        users + "from torch import nn\nclass User(nn.Module):\n    def forward(self, x): return x\n"
    )

    def told() -> list[str]:
        settings = configuration.load(
            ["."], cwd=str(tmp_path), isolated=True, overrides={"jobs": 1, "assume-compiled": "all"}
        )
        return list(map(repr, engine.lint(files.discover(["."], settings, str(tmp_path)), settings).findings))

    known = told()
    assert any("TCL112" in each for each in known)
    assert sum("capture_scalar_outputs = True" in each for each in known) == 4
    monkeypatch.setattr("tclint.program.program._KEPT_LINES", 1)
    monkeypatch.setattr("tclint.program.program._KEPT_FUNCTION_LINES", 1)
    assert told() == known
