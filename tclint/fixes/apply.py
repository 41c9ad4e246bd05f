"""Applying edits: to the bytes of a file, which are written in one piece."""

from __future__ import annotations

import ast
import difflib
import os
import re
import stat
import tempfile
import warnings
from collections.abc import Iterable, Sequence

from tclint.model.finding import Edit
from tclint.sources import regular
from tclint.sources.text import encoding_of

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


class CannotApply(Exception):
    """A set of edits that does not fit its file, or leaves one that is not Python."""


# --- text and bytes -------------------------------------------------------------------------------------------------


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes of a file after some edits that do not overlap. Line endings, byte-order mark and encoding stay."""
    try:
        encoding = encoding_of(data)
        text = data.decode(encoding)
        same = text.encode(encoding) == data
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise CannotApply(f"the file cannot be decoded: {error}") from error
    if not same:
        # Such as `unicode_escape`, which writes a line end as two letters.
        raise CannotApply(f"in {encoding} the file would not be written as it was read")
    lines = [m for m in _LINE.findall(text) if m]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    newline = newline_of(lines)
    pieces: list[str] = []
    at = 0
    # Two insertions at one place keep the order they came in.
    for edit in sorted(edits, key=lambda e: (e.span.line, e.span.column, e.span.end_line, e.span.end_column)):
        start, end = (
            _offset(starts, edit.span.line, edit.span.column),
            _offset(starts, edit.span.end_line, edit.span.end_column),
        )
        if not at <= start <= end <= len(text):
            raise CannotApply("the edits overlap, or lie outside the file")
        pieces += [text[at:start], edit.text.replace("\n", newline)]
        at = end
    pieces.append(text[at:])
    try:
        return "".join(pieces).encode(encoding)
    except UnicodeError as error:
        raise CannotApply(f"the new text cannot be written in {encoding}") from error


def newline_of(lines: Sequence[str]) -> str:
    """The line ending that most lines have."""
    counts = dict.fromkeys(("\n", "\r\n", "\r"), 0)
    for line in lines:
        ending = "\r\n" if line.endswith("\r\n") else line[-1:]
        if ending in counts:
            counts[ending] += 1
    return max(counts, key=lambda ending: counts[ending])


def _offset(starts: Sequence[int], line: int, column: int) -> int:
    if not 1 <= line <= len(starts):
        raise CannotApply("an edit lies outside the file")
    return starts[line - 1] + column - 1


def parses(data: bytes) -> str:
    """Empty, or why the bytes are not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


# --- files ----------------------------------------------------------------------------------------------------------


def write(absolute: str, before: bytes, after: bytes, root: str) -> str:
    """Replace a file, unless it changed since it was read. Empty, or why it was left alone.

    A link inside the project stays one, and what it leads to is replaced; one that leads out of the project at `root` is
    not followed. A file of several names (hard links) is left alone too: written in place, it would change under names that
    may be anybody's, in the store of a package manager say; replaced, it would be another file than under these.
    """
    target = os.path.realpath(absolute)
    if _leads_out(absolute, target, root):
        return f"a link that leads out of the project, to {target}; left alone: fix that file under its own name"
    temporary = ""
    try:
        status = os.stat(target)
        mode = stat.S_IMODE(status.st_mode)
        if not mode & 0o222 or not os.access(target, os.W_OK):
            return "read-only; left alone"
        if status.st_nlink > 1:
            more = "another name" if status.st_nlink == 2 else f"{status.st_nlink - 1} other names"
            return f"the same file has {more} (hard links); left alone: copy it to a file of its own, then fix that"
        descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".tclint-")
        with os.fdopen(descriptor, "wb") as out:
            out.write(after)
            out.flush()
            # Or a machine that stops now could find an empty file under the name.
            os.fsync(out.fileno())
        if not _owned_alike(temporary, status):
            return "it belongs to somebody else, whom the new file would not belong to; left alone"
        os.chmod(temporary, mode)
        # The last thing before the file is replaced: the user may have saved it while all else was done.
        if regular.read(target) != before:
            return "changed on disk since it was linted; left alone: run tclint again"
        os.replace(temporary, target)
        temporary = ""
    except FileNotFoundError:
        return "gone since it was linted; left alone"
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    finally:
        if temporary:
            os.unlink(temporary)
    return ""


def _owned_alike(path: str, status: os.stat_result) -> bool:
    """Give a file the owner and the group of another one, where that can be done."""
    made = os.stat(path)
    if (made.st_uid, made.st_gid) == (status.st_uid, status.st_gid) or not hasattr(os, "chown"):
        return True
    try:
        os.chown(path, status.st_uid, status.st_gid)
    except OSError:
        return False
    return True


def _leads_out(absolute: str, target: str, root: str) -> bool:
    """Whether a path of the project stands for a file elsewhere. One that the user gave from elsewhere is his own word."""
    try:
        shared = os.path.commonpath([os.path.abspath(root), os.path.abspath(absolute)])
    except ValueError:  # two drives
        return False
    return not target.startswith(os.path.join(os.path.realpath(shared), ""))


def _git_name(path: str) -> str:
    """A name as git writes it in a patch: odd ones in quotes, so that no terminal obeys them."""
    if path.isprintable() and '"' not in path and "\\" not in path:
        return path
    raw = os.fsencode(path)
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in raw) + '"'


def diff(path: str, before: bytes, after: bytes) -> str:
    """A unified diff that `patch -p1` and `git apply` take."""
    old, new = (_LINE.findall(data.decode(encoding_of(data))) for data in (before, after))
    lines = difflib.unified_diff(
        [x for x in old if x], [x for x in new if x], _git_name(f"a/{path}"), _git_name(f"b/{path}")
    )
    text = ""
    for line in lines:
        text += line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"
    return text
