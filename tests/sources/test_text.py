"""The text and the tree of one file: encodings as Python takes them, and one clear problem where there is none."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from tclint.model.report import Problem
from tclint.sources import ignoring, regular
from tclint.sources.ipython import blanked, restored
from tclint.sources.text import Unparsable, broken, decode, encoding_of, parse, quoted


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"x = 1\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-\n", "iso8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n", "cp1252"),
        (b"# coding: utf-8-unix\n", "utf-8"),
        (b"x = 1\n# coding: latin-1\n", "utf-8"),  # too late: a statement stands before it
        (b"\n\n# coding: latin-1\n", "utf-8"),  # the third line
        (b"\xef\xbb\xbf# coding: utf-8\n", "utf-8-sig"),
    ],
)
def test_encodings_as_python_finds_them(data: bytes, encoding: str) -> None:
    assert encoding_of(data) == encoding


@pytest.mark.parametrize(
    ("data", "line", "code", "words"),
    [
        (b"x = 1\ny = '\xff'\n", 2, "TCL902", "byte 0xff is not valid utf-8"),
        (b"# coding: nonsense\nx = '\xff'\n", 1, "TCL902", "nonsense"),
        (b"# coding: rot13\nx = '\xff'\n", 1, "TCL902", "rot13"),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, "TCL902", "byte-order mark"),
        (b"x = (\n", 1, "TCL903", "syntax error"),
        (b"x = 1\n\x00\n", 1, "TCL903", ""),
    ],
)
def test_a_file_without_a_tree_has_one_problem(data: bytes, line: int, code: str, words: str) -> None:
    with pytest.raises(Unparsable) as raised:
        parse("a.py", data)
    problem = raised.value.problem
    assert (problem.path, problem.code) == ("a.py", code)
    assert problem.line in (line, line + 1)  # Pythons differ in where a bracket is missed
    assert words in problem.message
    assert broken("a.py", data) == problem


def test_a_file_with_a_tree() -> None:
    data = "# coding: latin-1\ns = 'é'\r\n".encode("latin-1")
    assert decode("a.py", data) == "# coding: latin-1\ns = 'é'\r\n"
    assert isinstance(parse("a.py", data).body[0], ast.Assign)
    assert broken("a.py", data) is None
    assert quoted(b"caf\xe9") == "caf\ufffd"


def test_what_python_cannot_parse_is_broken_and_nothing_else() -> None:
    """`broken` has no tree made: what it asks must refuse whatever `ast.parse` refuses, also what is nested too deeply."""
    nested = ((b"(", b""), (b"(", b"x"), (b"not ", b"x"), (b"x if y else ", b"z"), (b"x.", b"y"))
    deep = [part * many + end for many in (50, 300, 5000) for part, end in nested]
    text = b"def f(x, *, y=1):\n    if x:\n        return f\"{x!r}\" + 'a'\n    return [y for y in x]\n"
    cut = [text[:at] + text[at + wide :] for at in range(len(text)) for wide in (1, 4)]
    refused = 0
    for data in (*deep, *cut, b"return 1\n", b"nonlocal x\n", b"x = 1\n"):
        problem = _problem(data)
        refused += problem is not None
        assert broken("a.py", data) == problem, data
    assert refused > 50


def _problem(data: bytes) -> Problem | None:
    try:
        parse("a.py", data)
    except Unparsable as unparsable:
        return unparsable.problem
    return None


# --- IPython ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nx = 1\n",
        "!pip install torch\nx = 1\n",
        "files = !ls\n",
        "model?\nx = 1\n",
        "for i in range(3):\n    %time f(i)\n",
        "pip install torch\n",
        "%%bash\necho 'x\n",
        "%%time\nx = 1\n",
        's = """\n%not a magic\n"""\n',
    ],
)
def test_what_ipython_takes_becomes_python_and_comes_back(cell: str) -> None:
    magics: list[tuple[str, str]] = []
    text = blanked(cell, magics)
    ast.parse(text)
    assert text.count("\n") == cell.count("\n"), "lines stay where they are"
    back = [restored(line, tuple(magics)) for line in text.split("\n")]
    assert "\n".join(back) == cell


def test_plain_python_is_left_alone() -> None:
    magics: list[tuple[str, str]] = []
    cell = 'x = 7 % 3\ns = "!ls"\nif x != 1:\n    y = x\n'
    assert blanked(cell, magics) == cell
    assert magics == []


# --- files on disk ----------------------------------------------------------------------------------------------------


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"12345")
    os.mkfifo(tmp_path / "pipe")
    assert regular.read(str(tmp_path / "a.txt")) == b"12345"
    assert regular.begins(str(tmp_path / "a.txt"), 2) == b"12"
    for name in ("pipe", "."):
        assert regular.read(str(tmp_path / name)) is None
    with pytest.raises(FileNotFoundError):
        regular.read(str(tmp_path / "missing"))
    assert regular.is_folder(str(tmp_path))
    assert not regular.is_folder(str(tmp_path / "a.txt"))


def test_ignored_as_git_ignores(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("# words\nbuild/\n*.gen.py\n!kept.gen.py\n")
    spec = ignoring.read(str(tmp_path / ".gitignore"))
    assert spec is not None
    names = ("build/a.py", "a.gen.py", "kept.gen.py", "a.py")
    assert [spec.match_file(name) for name in names] == [True, True, False, False]
    assert ignoring.read(str(tmp_path / "missing")) is None
