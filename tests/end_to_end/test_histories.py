"""benchmarks/histories.py: commits of projects, linted whole, held against what people who read them say."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from lintkit import ROOT

BEFORE = "import torch\n\n\n@torch.compile\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"
AFTER = BEFORE.replace(
    "    if x.sum() > 0:\n        return x\n    return -x\n", "    return torch.where(x.sum() > 0, x, -x)\n"
)


@pytest.fixture(scope="module")
def histories() -> ModuleType:
    spec = importlib.util.spec_from_file_location("histories", ROOT / "benchmarks" / "histories.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["histories"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _git(folder: Path, *arguments: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(["git", *names, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _mirrored(folder: Path) -> tuple[str, str]:
    """A project of two commits: one with a hazard, one that repairs it."""
    folder.mkdir(parents=True)
    _git(folder, "init", "-q")
    commits = []
    for source in (BEFORE, AFTER):
        (folder / "a.py").write_text(source)
        (folder / "picture.png").write_bytes(b"\x89PNG")
        _git(folder, "add", "-A")
        _git(folder, "commit", "-q", "-m", "a commit")
        commits.append(_git(folder, "rev-parse", "HEAD"))
    return commits[0], commits[1]


def test_before_and_after(tmp_path: Path, histories: ModuleType) -> None:
    work = tmp_path / "work"
    before, after = _mirrored(work)
    (tmp_path / "a+b").mkdir()
    (work / ".git").rename(tmp_path / "a+b" / "repo")

    def row(commit: str, expected: str) -> object:
        return histories.Row("a/b", commit, "a.py", 6, "TCL101", "an if on a tensor", expected, "run")

    right = [row(before, "flagged"), row(after, "silent")]
    wrong = [row(before, "silent"), row(after, "flagged")]
    assert list(histories.score(right, tmp_path)) == []
    assert list(histories.score([*right, *wrong], tmp_path)) == wrong
    assert list(histories.told(right + wrong, wrong))[-2:] == [
        "a/b: 1 of 2 flagged, 1 of 2 silent",
        "2 of 4 rows are so (50.0 %)",
    ]


def test_a_commit_that_is_not_there_is_said(tmp_path: Path, histories: ModuleType) -> None:
    _mirrored(tmp_path / "work")
    with pytest.raises(SystemExit, match="repo"):
        histories.write_tree(tmp_path / "repo", "0" * 40, tmp_path / "out")


def test_rows_are_sound(histories: ModuleType) -> None:
    rows = histories.read(histories.ROWS)
    assert len(rows) == len({(r.project, r.commit, r.file, r.line, r.rule) for r in rows})
    assert {row.expected for row in rows} == {"flagged", "silent"}


def test_a_row_without_a_verdict_is_refused(tmp_path: Path, histories: ModuleType) -> None:
    row = {"commit": "0" * 40, "file": "a.py", "line": 1, "rule": "TCL101", "hazard": "x", "how": "read"}
    (tmp_path / "rows.json").write_text(json.dumps({"a/b": [{**row, "expected": "maybe"}]}))
    with pytest.raises(SystemExit, match="no row"):
        histories.read(tmp_path / "rows.json")
