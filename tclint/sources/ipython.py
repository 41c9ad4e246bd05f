"""What IPython takes for itself in a cell: `%time`, `!pip`, `model?`, a `%%bash` cell.

Such lines become `pass` or comments, one for one, so that the rest is Python whose lines stay where they are.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from functools import partial

NEWLINE = re.compile(r"\r\n|\r|\n")
_MAGIC = re.compile(r"# tclint magic (\d+)$")
# Cell magics whose cell is Python all the same.
_PYTHON_CELLS = frozenset("capture memit prun time timeit".split())
# The same width, so that columns stay: what is timed is code like any other.
_TIMED = {"%time ": "if 1: ", "%timeit ": "if True:"}
_ASSIGNED = re.compile(r"^(\s*[\w.,\[\]'\"\s]+?=\s*)([%!])")
_QUESTION = re.compile(r"^\s*(\?{1,2}\s*[\w.*%]+|%{0,2}[\w.*\[\]'\"]+\s*\?{1,2})\s*(#.*)?$")
# IPython takes these without `%` too ("automagic"); none of them can be Python.
_AUTOMAGIC = re.compile(
    r"^\s*(?:(?:pip|conda|mamba|cd|ls)\s+[-\w./~][^=(]*|(?:pip|conda|mamba)\s+(?:install|uninstall|list|show|download)\b.*)$"
)
_PIECE = re.compile(
    r'''"""(?:\\.|(?!""").)*(?:"""|\Z)|\'\'\'(?:\\.|(?!\'\'\').)*(?:\'\'\'|\Z)'''
    r"""|"(?:\\.|[^"\\\r\n])*"?|'(?:\\.|[^'\\\r\n])*'?|\#[^\r\n]*|\\(?:\r\n|\r|\n)|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<end>\r\n|\r|\n)|[^"'\#\\()\[\]{}\r\n]+|.""",
    re.S,
)


class CannotFold(Exception):
    """An edit that cannot be put back into the cells."""


def blanked(text: str, magics: list[tuple[str, str]]) -> str:
    """A cell as Python, line for line. What was replaced is added to `magics`."""
    stripped = text.lstrip()
    first = stripped.split(None, 1)[0] if stripped else ""
    if first.startswith("%%") and first[2:] not in _PYTHON_CELLS:
        return "\n".join(_stand_in(line, "", magics) if line.strip() else line for line in NEWLINE.split(text))
    if not re.search(r"[%!?/,;]|^\s*(?:pip|conda|mamba|cd|ls)\s", text, re.M) or (
        not first.startswith("%") and _parses(text)
    ):
        return text
    out: list[str] = []
    at = 0
    # IPython takes away what all lines of a cell begin with.
    margin = text[: len(text) - len(stripped)].rpartition("\n")[2]
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end]
        if _is_magic(line):
            stand_in: Callable[[str, list[tuple[str, str]]], str] = partial(_statement, margin)
            while True:
                body = text[at:end].rstrip("\r\n")
                out.append(stand_in(body, magics) + text[at + len(body) : end])
                at = end
                if not body.endswith("\\") or at >= len(text):
                    break
                # A shell line goes on after a backslash; one statement for all of it is enough.
                end = _line_end(text, at)
                stand_in = _comment
            continue
        assigned = _ASSIGNED.match(line)
        if assigned and not _parses(line.strip()):
            body = line.rstrip("\r\n")
            code = f"{assigned[1]}get_ipython()"
            out.append(_stand_in(body, code, magics) + line[len(body) :])
            at = end
            continue
        end = _logical_end(text, at)
        out.append(text[at:end])
        at = end
    return "".join(out)


def _is_magic(line: str) -> bool:
    start = line.lstrip()
    if start.startswith(("%", "!", "/", ",", ";")) or _AUTOMAGIC.match(line.rstrip()):
        return True
    return _QUESTION.match(line.rstrip()) is not None


def _statement(margin: str, line: str, magics: list[tuple[str, str]]) -> str:
    if not line.strip():
        return line
    for timed, stand_in in _TIMED.items():
        code = line[len(timed) :]
        if line.startswith(timed) and not code.lstrip().startswith("-") and code.strip() and _parses(code.strip()):
            return _stand_in(line, f"{stand_in}{code}", magics)
    indent = line[: len(line) - len(line.lstrip())].removeprefix(margin)
    return _stand_in(line, f"{indent}pass", magics)


def _comment(line: str, magics: list[tuple[str, str]]) -> str:
    return _stand_in(line, "", magics)


def _stand_in(line: str, code: str, magics: list[tuple[str, str]]) -> str:
    replaced = f"{code}{'  ' if code else ''}# tclint magic {len(magics)}"
    magics.append((line, replaced))
    return replaced


def _line_end(text: str, at: int) -> int:
    found = NEWLINE.search(text, at)
    return found.end() if found else len(text)


def _logical_end(text: str, at: int) -> int:
    """Where the logical line that starts here ends: brackets closed, strings over."""
    depth = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        assert piece is not None
        at = piece.end()
        if piece["open"]:
            depth += 1
        elif piece["close"]:
            depth = max(depth - 1, 0)
        elif piece["end"] and not depth:
            break
    return at


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def restored(line: str, magics: tuple[tuple[str, str], ...]) -> str:
    """The line of a cell that a line of its Python stands for."""
    if not (magic := _MAGIC.search(line)):
        return line
    number = int(magic[1])
    if number >= len(magics):
        return line
    original, replaced = magics[number]
    if line == replaced:
        return original
    for timed, stand_in in _TIMED.items():
        if replaced.startswith(stand_in) and line.startswith(stand_in):
            return timed + line[len(stand_in) : magic.start()].rstrip()
    raise CannotFold("the edit touches a line that is IPython's")
