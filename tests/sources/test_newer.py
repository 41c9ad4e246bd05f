"""Files in the syntax of a newer Python are no syntax errors."""

from __future__ import annotations

import ast
import sys

import pytest
from lintkit import Project

from tclint.sources import newer

FILE = """
import torch
from torch import nn

type Pair[T: (int, str)] = tuple[T, T]
type Short = int

class Box[T, *Ts](nn.Module):
    def forward[
        U
    ](self, x: U) -> U:
        print(x)
        return x

def f(x):
    try:
        return x
    except ValueError, TypeError:
        return None
"""


def test_it_is_read_with_lines_and_columns_as_they_are(project: Project) -> None:
    report = project.write({"box.py": FILE}).lint()
    assert [(f.path, f.line, f.span.column, f.code) for f in report.findings] == [("box.py", 11, 9, "TCL108")]
    assert not report.notes


def test_what_is_wrong_in_any_python_stays_a_syntax_error(project: Project) -> None:
    files = {
        "a.py": "import torch\nclass Box[T]:\n    def forward(:\n        pass\n",
        "b.py": "import torch\ndef (x): pass\n",
    }
    assert [f.code for f in project.write(files).lint().findings] == ["TCL903", "TCL903"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_what_only_a_newer_python_reads_is_a_note_told_once(project: Project) -> None:
    text = 'import torch\nx = {}\nprint(f"{x["a"]}")\n'
    report = project.write({"a.py": text, "b.py": text}).lint()
    here = ".".join(map(str, sys.version_info[:2]))
    assert report.findings == ()
    assert report.notes == (f"Python 3.12 syntax; tclint runs on {here}: not analysed: a.py and 1 more",)


def test_an_alias_becomes_an_assignment() -> None:
    tree = newer.parse("a.py", b"type A[T] = list[T]\nclass B[T]: pass\n")
    assert tree is not None
    assert [type(node) for node in tree.body] == [ast.Assign, ast.ClassDef]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_what_stands_behind_type_parameters_may_be_newer_too() -> None:
    """Such a file is refused at its first class; that its texts nest quotes shows only behind that."""
    data = b'class Box[T]:\n    pass\n\n\ndef told(names):\n    return f"{", ".join(names)}"\n'
    with pytest.raises(SyntaxError) as caught:
        compile(data, "m.py", "exec")
    assert newer.release(data, caught.value) == "3.12"
    plain = b"class Box(:\n    pass\n"
    with pytest.raises(SyntaxError) as caught:
        compile(plain, "m.py", "exec")
    assert newer.release(plain, caught.value) == ""
