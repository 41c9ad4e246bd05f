"""What one file of many may not do to a run: items of the first attack that no other test holds."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tclint.cli import main
from tclint.sources import text

HAZARD = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.py").write_text(HAZARD)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *args: str) -> list[tuple[str, str]]:
    """The findings of a run, by file and code; it ends as one with findings does."""
    assert main([".", "--no-cache", "--isolated", "--output-format", "json", *args]) == 1
    out = capsys.readouterr()
    assert "internal error" not in out.err
    return [(each["path"], each["code"]) for each in json.loads(out.out)["findings"]]


@pytest.mark.parametrize(
    "coding", "hex rot13 base64 bz2 zlib uu quopri idna undefined punycode unicode_escape no-such".split()
)
def test_codings_that_are_none(folder: Path, capsys: pytest.CaptureFixture[str], coding: str) -> None:
    """27.7: one diagnostic at most for the file, and its neighbours are told as ever."""
    (folder / "bad.py").write_bytes(b"# coding: %s\nimport torch\nx = '\xe9'\n" % coding.encode())
    found = told(capsys)
    assert ("good.py", "TCL108") in found
    assert [code for path, code in found if path == "bad.py"] in ([], ["TCL902"], ["TCL903"])


def test_a_number_in_a_notebook_that_python_does_not_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """27.7"""
    (folder / "book.ipynb").write_text('{"cells": [], "nbformat": ' + "9" * 5000 + "}")
    assert ("good.py", "TCL108") in told(capsys)


@pytest.mark.parametrize("line", ["!", "\\", "a\\", "[z-a]", "[", "**/", "*a*a*a*a*a*a*a*a*a*a*b", "(?:x", "\x00"])
def test_lines_of_gitignore(folder: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    """27.7, 27.11: patterns that are none, and one that takes a pattern matcher forever."""
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text(f"{line}\n")
    (folder / ("a" * 60 + ".py")).write_text(HAZARD)
    before = time.process_time()
    assert ("good.py", "TCL108") in told(capsys)
    assert time.process_time() - before < 10


def test_no_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small: a file that did not fit is not simply said to be nested too deeply; Python's parser tells both alike."""

    def full(*given: object, **named: object) -> None:
        raise MemoryError

    # pytest itself parses what it shows of a failure.
    with monkeypatch.context() as short:
        short.setattr(text.ast, "parse", full)
        with pytest.raises(text.Unparsable) as caught:
            text.parse("m.py", b"x = 1\n")
    assert "too little memory" in caught.value.problem.message


def test_files_with_findings_are_not_more_than_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Small: "29 hazards in 15 of 14 files"."""
    (folder / "broken.py").write_text("import torch\ndef forward(:\n")
    (folder / "book.ipynb").write_text("{")
    assert main([".", "--no-cache", "--isolated"]) == 1
    assert "in 3 of 3 files" in capsys.readouterr().out


def test_a_broken_file_that_never_says_torch(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Small: it was clean in a run over its folder, and broken where it was named."""
    (folder / "broken.py").write_text("def f(:\n")
    assert ("broken.py", "TCL903") in told(capsys)


def test_comments_for_a_file_that_cannot_be_decoded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """27.12: `--add-ignore` ended there."""
    bad = HAZARD.encode() + b"y = '\xff'\n"
    (folder / "bad.py").write_bytes(bad)
    assert main([".", "--no-cache", "--isolated", "--add-ignore"]) in (0, 1)
    assert "tclint: ignore[TCL108]" in (folder / "good.py").read_text()
    assert (folder / "bad.py").read_bytes() == bad
    assert "internal error" not in capsys.readouterr().err
