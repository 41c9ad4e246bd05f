"""Syntax of a Python newer than the one that runs tclint.

Type parameters, `type` statements and `except` without brackets are written as older Pythons know them, each in its own
place: lines and columns stay, but for those behind the brackets of an `except`. What only a newer parser can read is named.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from typing import Final

_HEAD: Final = re.compile(r"^[ \t]*(?:class|(?:async[ \t]+)?def)[ \t]+\w+[ \t]*(?=\[)", re.M)
_ALIAS: Final = re.compile(r"^([ \t]*|.*;[ \t]*)(type[ \t]+)(?=[^\W\d]\w*[ \t]*[\[=])", re.M)
_EXCEPT: Final = re.compile(r"^([ \t]*except\*?[ \t]+)([\w.]+(?:[ \t]*,[ \t]*[\w.]+)+)([ \t]*:)", re.M)


def parse(path: str, data: bytes) -> ast.Module | None:
    """The tree of a file that is written in a newer Python; None where that is not what is wrong with it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    older = _EXCEPT.sub(r"\1(\2)\3", _aliases(_without_parameters(text)))
    if older == text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(older, filename=path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def release(data: bytes, error: SyntaxError) -> str:
    """The Python whose syntax a file seems to be written in, where this one is older and cannot read it; or nothing."""
    text = data.decode("utf-8", errors="replace")
    older = _aliases(_without_parameters(text))
    seems = _release(text, error)
    if seems or older == text:
        return seems
    # Type parameters are refused first: what else an older Python does not know shows only behind them.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(older)
    except SyntaxError as behind:
        return _release(older, behind)
    except (ValueError, RecursionError, MemoryError):
        pass
    return ""


def _release(text: str, error: SyntaxError) -> str:
    lines = text.split("\n")
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    if sys.version_info < (3, 14) and re.search(r"""(?<![\w'"])(?:t|tr|rt)["']""", line, re.I):
        return "3.14"
    if sys.version_info < (3, 12) and ("f-string" in (error.msg or "") or re.search(r"""(?<!\w)f["']""", line, re.I)):
        return "3.12"
    return ""


def _without_parameters(text: str) -> str:
    """`class Box[T]:` as `class Box   :`."""
    for head in reversed([*_HEAD.finditer(text)]):
        end = _closing(text, head.end())
        if end:
            blank = re.sub(r"[^\n]", " ", text[head.end() : end])
            # A line break outside of brackets ends the statement.
            text = text[: head.end()] + blank.replace(" \n", "\\\n") + text[end:]
    return text


def _aliases(text: str) -> str:
    """`type Name[T] = int` as `Name         = int`."""
    for found in reversed([*_ALIAS.finditer(text)]):
        name = re.compile(r"\w+").match(text, found.end())
        assert name is not None
        end = _closing(text, name.end()) if text.startswith("[", name.end()) else name.end()
        if end:
            width = end - found.start(2)
            text = text[: found.start(2)] + name[0].ljust(width) + text[end:]
    return text


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` is behind; 0 where it never closes."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "[(") - (text[place] in "])")
        if not depth:
            return place + 1
    return 0
