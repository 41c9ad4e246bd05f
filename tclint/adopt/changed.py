"""Which lines changed since a revision, by git."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tclint.model.errors import UserError
from tclint.model.finding import Applicability, Finding, Fix
from tclint.model.report import Report
from tclint.sources import cells
from tclint.sources.files import ENDINGS, shown

if TYPE_CHECKING:
    from tclint.sources.files import InputFile

_HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_SETTINGS: Final = ("core.quotePath=false", "core.fsmonitor=false")
_COMMAND: Final = (
    "diff -U0 --inter-hunk-context=0 --no-color --no-ext-diff --no-textconv --text --no-renames --no-prefix "
    "--submodule=short --relative --output-indicator-new=+ --output-indicator-old=-"
).split()
"""Whatever the repository's own configuration makes of `git diff`, this is read the same, and runs nothing."""
_ESCAPE: Final = re.compile(rb"\\(?:([0-7]{3})|(.))")
_ESCAPED: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def changed_lines(base: str, cwd: str, paths: Sequence[str] = ()) -> dict[str, set[int]]:
    """By the path shown from `cwd`, the lines that are new or different since `base`.

    `paths` are files that count although they are not called like Python's.
    """
    if base.startswith("-") or not base:
        # git would take it for an option, of which some write files.
        raise UserError(f"--diff-base {base!r}: not a revision; name a commit, a branch or a tag")
    settings = (*_SETTINGS, *_no_filters(cwd))
    command = ["git", *(word for setting in settings for word in ("-c", setting)), *_COMMAND, base, "--"]
    command += [f":(glob)**/*{ending}" for ending in ENDINGS] + [f":(literal){path}" for path in paths]
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_PATHSPECS")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, check=False, env=environment)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"--diff-base {base}: git cannot be run: {why}") from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if words and "not a git repository" in words[0].lower():
            raise UserError(f"--diff-base {base}: {cwd} is in no git repository, so nothing tells what changed")
        raise UserError(f"--diff-base {base}: {words[0] if words else 'git diff failed'}")
    found: dict[str, set[int]] = {}
    for name, lines in _hunks(done.stdout):
        path = shown(os.path.normpath(os.path.join(cwd, os.fsdecode(name))), cwd)
        found.setdefault(path, set()).update(lines)
    return found


def _no_filters(cwd: str) -> Iterator[str]:
    """Settings that take the programs away from the filters this repository knows: `git diff` runs those of changed files."""
    command = ["git", "config", "--null", "--name-only", "--get-regexp", r"^filter\."]
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    except (OSError, ValueError):
        return  # without git the diff itself will say so
    names = {key.rpartition(".")[0] for key in os.fsdecode(done.stdout).split("\0") if key}
    for name in sorted(names):
        yield from (f"{name}.clean=", f"{name}.smudge=", f"{name}.process=", f"{name}.required=false")


def _hunks(diff: bytes) -> Iterator[tuple[bytes, range]]:
    """The name of a file and the lines of it that are new, hunk by hunk.

    What a hunk holds is counted, not looked at: an added line may itself look like the head of a file.
    """
    name = b""
    left = 0
    for line in diff.split(b"\n"):
        if left and line[:1] in (b"+", b"-"):
            left -= 1
        elif line.startswith(b"+++ "):
            name = _name(line[4:])
        elif match := _HUNK.match(line):
            old, start, new = int(match[1] or b"1"), int(match[2]), int(match[3] or b"1")
            left = old + new
            yield name, range(start, start + new)


def _name(written: bytes) -> bytes:
    """A file's name as git writes it: in quotes where it holds control characters, quotes or backslashes."""
    if not written.startswith(b'"'):
        return written.removesuffix(b"\t")  # git ends a name with blanks so
    inner = written.removesuffix(b"\t")[1:-1]
    return _ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if m[1] else _ESCAPED.get(m[2], m[2]), inner)


def only_changed(report: Report, lines: Mapping[str, set[int]], files: Sequence[InputFile] = ()) -> Report:
    """The findings on changed lines; a fix that reaches other lines is only shown, for a review cannot hold it."""
    kept = []
    books = cells.texts(files)
    for finding in report.findings:
        here = lines.get(finding.path, set())
        book = books(finding.path)
        if book is not None:
            # git speaks of lines of the file, a finding of lines of the joined cells.
            count = book.text.count("\n") + 1
            here = {line for line in range(1, count + 1) if book.row(line) in here}
        if here.isdisjoint(range(finding.span.line, finding.span.end_line + 1)):
            continue
        kept.append(finding if _fits(finding, here) else replace(finding, fix=_shown(finding.fix)))
    return replace(report, findings=tuple(kept))


def _fits(finding: Finding, here: set[int]) -> bool:
    if finding.fix is None or not finding.fix.edits:
        return True
    if any(edit.path != finding.path for edit in finding.fix.edits):
        return False
    first = min(edit.span.line for edit in finding.fix.edits)
    spans = (edit.span for edit in finding.fix.edits)
    last = max(s.end_line - 1 if s.end_column == 1 and s.end_line > s.line else s.end_line for s in spans)
    return here.issuperset(range(first, last + 1))


def _shown(fix: Fix | None) -> Fix | None:
    return replace(fix, edits=(), applicability=Applicability.DISPLAY) if fix is not None else None
