"""One source file: its bytes, its text, its tree."""

from __future__ import annotations

import ast
import codecs
import re
import symtable
import warnings

from tclint.model.report import Problem
from tclint.sources import newer

UNREADABLE = "TCL902"
SYNTAX = "TCL903"
TOO_DEEP = "TCL904"
NEWER = "newer"
"""No problem of the file: the release it is written for stands for the message."""


class Unparsable(Exception):
    """The file has no tree; `problem` says why in the words the user gets."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


_CODING = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#|$)")


def encoding_of(data: bytes) -> str:
    """The encoding of a file, as Python finds it. `LookupError` or `SyntaxError` where it finds none.

    Not `tokenize.detect_encoding`: that wants the coding line itself to be UTF-8, where the parser does not.
    """
    marked = data.startswith(codecs.BOM_UTF8)
    for line in re.split(rb"\r\n|\r|\n", data[3:] if marked else data, maxsplit=2)[:2]:
        if found := _CODING.match(line):
            name = found[1].decode("ascii")
            encoding = _codec(name)
            if marked and encoding != "utf-8":
                raise SyntaxError(f"a UTF-8 byte-order mark, and a coding line that says {name}")
            return "utf-8-sig" if marked else encoding
        if not _BLANK.match(line):
            break
    return "utf-8-sig" if marked else "utf-8"


def _codec(name: str) -> str:
    """The codec that a coding line names. Emacs writes `utf-8-unix`, and Python takes it."""
    plain = name[:12].lower().replace("_", "-")
    if plain == "utf-8" or plain.startswith("utf-8-"):
        return "utf-8"
    if re.match(r"(latin-1|iso-8859-1|iso-latin-1)(-|$)", plain):
        return "iso8859-1"
    found = codecs.lookup(name)
    # `hex`, `rot13`, `zlib`: from bytes to bytes, or from text to text.
    if not getattr(found, "_is_text_encoding", True):
        raise LookupError(f"{name} is not a text encoding")
    return found.name


def quoted(data: bytes) -> str:
    """The text of a file as well as it can be told, to quote lines of it."""
    try:
        return data.decode(encoding_of(data), "replace")
    except (SyntaxError, LookupError, UnicodeError):  # the engine says what is wrong with it
        return data.decode("utf-8", "replace")


def decode(path: str, data: bytes) -> str:
    """The text of a file, by its coding line or byte-order mark, with line endings as they are."""
    if data.isascii():
        return data.decode("ascii")
    try:
        return data.decode(encoding_of(data))
    except (SyntaxError, LookupError) as error:
        raise Unparsable(Problem(path, 1, UNREADABLE, f"cannot be decoded: {error}; save the file as UTF-8")) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        what = f"byte 0x{data[error.start]:02x} is not valid {error.encoding}; save the file as UTF-8"
        raise Unparsable(Problem(path, line, UNREADABLE, f"cannot be decoded: {what}")) from None
    except UnicodeError as error:
        raise Unparsable(Problem(path, 1, UNREADABLE, f"cannot be decoded: {error}; save the file as UTF-8")) from None


def lines_of(data: bytes) -> bytes:
    """The text for patterns that start with a line: every line is behind a break, which is looked for far faster than `^`."""
    return b"\n" + data


def parse(path: str, data: bytes) -> ast.Module:
    """The tree of a file, or `Unparsable`."""
    try:
        with warnings.catch_warnings():
            # An invalid escape in linted code is not our warning to give.
            warnings.simplefilter("ignore")
            return ast.parse(data, filename=path)
    except UnicodeDecodeError:
        decode(path, data)
        raise
    except SyntaxError as error:
        try:
            decode(path, data)
        except Unparsable as unreadable:
            raise unreadable from None
        if (tree := newer.parse(path, data)) is not None:
            return tree
        where = error.lineno or 1
        if release := newer.release(data, error):
            raise Unparsable(Problem(path, where, NEWER, release)) from None
        raise Unparsable(Problem(path, where, SYNTAX, f"syntax error: {error.msg}; not analysed")) from None
    except ValueError as error:
        raise Unparsable(Problem(path, 1, SYNTAX, f"cannot be parsed: {error}; not analysed")) from None
    except RecursionError:
        raise Unparsable(Problem(path, 1, TOO_DEEP, "nested too deeply to be parsed; not analysed")) from None
    except MemoryError:
        # Python's parser says so of its own stack, too.
        why = "nested too deeply to be parsed, or there is too little memory; not analysed"
        raise Unparsable(Problem(path, 1, TOO_DEEP, why)) from None


def broken(path: str, data: bytes) -> Problem | None:
    """What is wrong with the syntax of a file that is not interpreted; half the price of a tree."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Python's parser cannot be asked alone. This goes the shortest way on from it: no nodes, no bytecode.
            symtable.symtable(data, path, "exec")  # type: ignore[arg-type]  # takes bytes, as `compile` does
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        try:
            parse(path, data)
        except Unparsable as unparsable:
            return unparsable.problem
    return None
