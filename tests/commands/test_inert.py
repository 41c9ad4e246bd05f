"""Names of files that are meant to hurt: every format stays valid and inert, and no file is taken for another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tclint.cli import main
from tclint.output import FORMATS
from tclint.sources import files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="such names cannot be given there")
HAZARD = "import torch\n\n@torch.compile\ndef f(x):\n    print('::error::no')\n    return x.sum().item()\n"
NAMES = [
    "\x1b[31mred.py",
    "::error file=x::planted.py",
    "##[error]planted.py",
    "a ::error::planted.py",
    "new\n::error::planted.py",
    "back\r::error::planted.py",
    "]]>.py",
    "<script>alert(1)<.py",
    "\"'`|.py",
    "turned\u202egnp.py",
    "wrapped\u2066x.py",
    "c1\x9b31m.py",
    "percent%0A::error::x.py",
    "tab\there.py",
    "\\x1b[31mred.py",
    "long" * 60 + ".py",
]
PEOPLE = ("full", "text", "grouped", "concise", "github", "pylint")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        (tmp_path / name).write_text(HAZARD)
    (tmp_path / os.fsdecode(b"bytes\xff.py")).write_text(HAZARD)
    return tmp_path


def test_no_name_is_shown_like_another(folder: Path) -> None:
    from tclint.model.settings import Settings

    found = files.discover(["."], Settings(root=str(folder)), str(folder))
    assert len({file.path for file in found}) == len(NAMES) + 1
    assert all(file.path.isprintable() for file in found)
    assert all(os.path.exists(file.absolute) for file in found)


@pytest.mark.parametrize("style", FORMATS)
def test_every_format_is_inert(folder: Path, capfdbinary: pytest.CaptureFixture[bytes], style: str) -> None:
    assert main([".", "--no-cache", "--isolated", "--output-format", style]) == 1
    text = capfdbinary.readouterr().out.decode()
    assert all(line.isprintable() for line in text.split("\n"))
    commands = [line for line in text.split("\n") if line.lstrip().startswith(("::", "##["))]
    if style == "github":
        assert len(commands) == 2 * (len(NAMES) + 1) == len(text.splitlines())
        assert all(line.partition(" ")[2].startswith("title=tclint TCL") for line in commands)
    else:
        assert commands == []
    if style == "rdjsonl":
        assert all(json.loads(line) for line in text.splitlines())
    elif style == "junit":
        assert len(ElementTree.fromstring(text)) == len(NAMES) + 1
    elif style not in PEOPLE:
        json.loads(text)


@pytest.mark.parametrize("style", ["text", "markdown", "html"])
def test_diagnoses_are_inert(style: str) -> None:
    from tclint.commands.telling import rendered
    from tclint.diagnose.measurement import Diagnosis, FindingRow

    bad = "\x1b[31m::error::<script>alert(1)</script>\u202e `x`\n::error:: |"
    row = FindingRow(bad, 1, bad, bad, "high", "graph-break", bad, help=bad, reached=True)
    text = rendered(Diagnosis("1", bad, bad, inputs=bad, findings=(row,)), style, to_stdout=False)
    assert all(line.isprintable() for line in text.split("\n"))
    assert not [line for line in text.split("\n") if line.lstrip().startswith("::")]
    assert "<script>" not in text or style == "text"


# --- changed lines ------------------------------------------------------------------------------------------------


def git(*args: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *who, *args], check=True, capture_output=True)


def test_changed_lines_are_found_whatever_they_and_their_files_are_called(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for path in folder.iterdir():
        path.write_text("import torch\n\n")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "one")
    # An added line that looks like the head of another file, and a repository that has its own ways with diffs.
    for path in folder.glob("*.py"):
        path.write_text("import torch\n\nx = (1\n++ y\n)\n++ a/other.py\n" + HAZARD)
    (folder / ".gitattributes").write_text("*.py -diff\n*.py diff=mine\n")
    for setting in ("diff.noprefix=false", "diff.mnemonicPrefix=true", "core.quotePath=true", "diff.renames=copies"):
        git("config", *setting.split("="))
    for setting in ("diff.mine.textconv", "diff.external", "core.fsmonitor"):
        git("config", setting, f"touch {folder}/ran; cat")
    assert main([".", "--no-cache", "--isolated", "--diff-base", "HEAD", "--output-format", "rdjsonl"]) == 1
    found = [json.loads(line)["location"]["path"] for line in capfdbinary.readouterr().out.splitlines()]
    assert len(found) == 2 * (len(NAMES) + 1)
    assert len(set(found)) == len(NAMES) + 1
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("base", ["--output=stolen", "-O/etc/passwd", "--no-index", "", "a\0b"])
def test_a_revision_that_is_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], base: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(HAZARD)
    git("init", "-q")
    assert main([".", "--no-cache", f"--diff-base={base}"]) == 2
    assert "internal error" not in capsys.readouterr().err
    assert not (tmp_path / "stolen").exists()


def test_a_patch_names_odd_files_as_git_does(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for path in folder.iterdir():
        path.write_text("import torch\n\n@torch.compile\ndef f(x):\n    print(1)\n    return x\n")
    git("init", "-q")
    main([".", "--no-cache", "--isolated", "--diff", "--unsafe-fixes"])
    patch = capfdbinary.readouterr().out
    assert patch.count(b"\n+++ ") == len(NAMES) + 1
    subprocess.run(["git", "apply", "--check"], input=patch, check=True)
