"""Which lines changed since a revision, by git."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.model.errors import UserError
from tclint.model.finding import Applicability, Finding, Fix
from tclint.model.report import Report
from tclint.sources import cells

if TYPE_CHECKING:
    from tclint.sources.files import InputFile

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def changed_lines(base: str, cwd: str) -> dict[str, set[int]]:
    """By path relative to `cwd`, the lines that are new or different since `base`."""
    command = ["git", "diff", "-U0", "--no-color", "--no-ext-diff", "--no-prefix", "--relative", base, "--", "."]
    command[1:1] = ["-c", "core.quotePath=false"]
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    except OSError as error:
        raise UserError(f"--diff-base {base}: git cannot be run: {error.strerror}") from error
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UserError(f"--diff-base {base}: {why[0] if why else 'git diff failed'}")
    found: dict[str, set[int]] = {}
    path = ""
    for line in done.stdout.decode("utf-8", "surrogateescape").split("\n"):
        if line.startswith("+++ "):
            path = line[4:].rstrip("\t\r")
        elif match := _HUNK.match(line):
            start, count = int(match[1]), int(match[2] or "1")
            found.setdefault(path, set()).update(range(start, start + count))
    return found


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
    first = min(edit.span.line for edit in finding.fix.edits)
    spans = (edit.span for edit in finding.fix.edits)
    last = max(s.end_line - 1 if s.end_column == 1 and s.end_line > s.line else s.end_line for s in spans)
    return here.issuperset(range(first, last + 1))


def _shown(fix: Fix | None) -> Fix | None:
    return replace(fix, edits=(), applicability=Applicability.DISPLAY) if fix is not None else None
