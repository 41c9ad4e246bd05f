"""Adopting tclint in code that has findings already: suppressions written for all of them, or a baseline of what is known."""

from __future__ import annotations

import io
import json
import os
import re
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tclint.fixes import apply
from tclint.model.errors import UserError
from tclint.model.finding import Edit, Finding, Span
from tclint.output.fingerprint import fingerprints
from tclint.output.lines import Lines
from tclint.sources import notebook, regular
from tclint.sources.text import encoding_of

_OURS = re.compile(r"#\s*tclint\s*:\s*ignore\[(?P<codes>[^\]]*)\]")
VERSION = 1

# --- suppressions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ignored:
    """The result of writing suppressions into one file."""

    data: bytes
    written: int
    failed: tuple[Finding, ...] = ()
    """Findings that no comment can silence: they stand inside a string, or before a backslash, with no free line."""


def add_ignores(data: bytes, findings: Sequence[Finding], reason: str = "", path: str = "") -> Ignored:
    """`data` with a comment `# tclint: ignore[CODE] reason` for each finding. `path` tells a notebook from a module."""
    if notebook.named(path):
        book = notebook.read(data)
        done = add_ignores(book.source, findings, reason)
        try:
            return replace(done, data=book.folded(done.data))
        except notebook.CannotFold as error:
            raise UserError(f"the comments cannot be put into the cells: {error}") from error
    try:
        text = data.decode(encoding_of(data))
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise UserError(f"the file cannot be decoded: {error}") from error
    rows = _Rows(text)
    by_row: dict[int, dict[str, str]] = {}
    above: dict[int, dict[str, str]] = {}
    failed: list[Finding] = []
    for finding in findings:
        if finding.code.startswith("TCL9"):
            continue
        row = rows.for_comment(finding.span)
        if row is not None:
            by_row.setdefault(row, {})[finding.code] = finding.name
        elif rows.free_above(finding.span.line):
            above.setdefault(finding.span.line, {})[finding.code] = finding.name
        else:
            failed.append(finding)
    edits = [rows.behind(row, codes, reason) for row, codes in by_row.items()]
    edits += [rows.above(row, codes, reason) for row, codes in above.items()]
    if not edits:
        return Ignored(data, 0, tuple(failed))
    try:
        after = apply.apply_edits(data, edits)
    except apply.CannotApply as error:
        raise UserError(f"no comments were written: {error}") from error
    if why := apply.parses(after):
        raise UserError(f"{findings[0].path}: the comments would break the file: {why}")
    return Ignored(after, sum(map(len, (*by_row.values(), *above.values()))), tuple(failed))


class _Rows:
    """Where comments can go: the lines of a text that end outside strings and without a backslash."""

    def __init__(self, text: str) -> None:
        self.lines = re.split(r"\r\n|\r|\n", text)
        self.ends: dict[int, int] = {}
        """Row to the column (from 0) where its line of code ends."""
        self.comments: dict[int, tuple[int, str]] = {}
        depth = 0
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                kind = tokenize.tok_name[token.type]
                depth += (kind in ("FSTRING_START", "TSTRING_START")) - (kind in ("FSTRING_END", "TSTRING_END"))
                row, column = token.start
                if kind == "COMMENT" and not depth:
                    self.comments[row] = (column, token.string)
                elif kind in ("NEWLINE", "NL") and not depth:
                    self.ends[row] = column
        except (tokenize.TokenError, SyntaxError) as error:
            raise UserError(f"the file cannot be read as Python: {error}") from error

    def for_comment(self, span: Span) -> int | None:
        """The row of the finding whose end can take a comment: the first, or the one where a long string ends."""
        last = span.end_line - 1 if span.end_column <= 1 and span.end_line > span.line else span.end_line
        free = [row for row in range(span.line, last + 1) if row in self.ends]
        if free:
            return free[0]
        # A string of several lines is silenced by a comment after its end.
        after = next((row for row in range(last, len(self.lines) + 1) if row in self.ends), None)
        inside = after is not None and not any(self.lines[row - 1].endswith("\\") for row in range(span.line, after))
        return after if inside else None

    def free_above(self, row: int) -> bool:
        return row == 1 or row - 1 in self.ends

    def behind(self, row: int, codes: Mapping[str, str], reason: str) -> Edit:
        comment = self.comments.get(row)
        if comment is not None and (match := _OURS.search(comment[1])):
            at = comment[0] + match.end("codes") + 1
            known = {code.strip() for code in match["codes"].split(",")}
            new = [code for code in sorted(codes) if code not in known]
            return Edit("", Span(row, at, row, at), "".join(f", {code}" for code in new))
        end = comment[0] + len(comment[1]) if comment is not None else len(self.lines[row - 1].rstrip())
        return Edit("", Span(row, end + 1, row, len(self.lines[row - 1]) + 1), f"  {_comment(codes, reason)}")

    def above(self, row: int, codes: Mapping[str, str], reason: str) -> Edit:
        line = self.lines[row - 1]
        indent = line[: len(line) - len(line.lstrip())]
        return Edit("", Span(row, 1, row, 1), f"{indent}{_comment(codes, reason)}\n")


def _comment(codes: Mapping[str, str], reason: str) -> str:
    why = reason or f"accepted: {', '.join(codes[code] for code in sorted(codes))}"
    return f"# tclint: ignore[{', '.join(sorted(codes))}] {' '.join(why.split())}"


# --- the baseline ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """One finding of a baseline. Its path is relative to the baseline's folder."""

    fingerprint: str
    code: str
    path: str
    function: str
    line: int
    """Where it was; for people, not compared."""


@dataclass(frozen=True, slots=True)
class Compared:
    new: tuple[Finding, ...]
    known: int
    stale: tuple[Known, ...]
    """Entries that nothing answers to any more."""


class Baseline:
    """A file of known findings."""

    def __init__(self, path: str, cwd: str, entries: Iterable[Known] = ()) -> None:
        self.path = path
        self.cwd = cwd
        self.folder = os.path.dirname(os.path.join(cwd, path)) or cwd
        self.entries = tuple(entries)

    @classmethod
    def read(cls, path: str, cwd: str, *, missing_ok: bool = False) -> Baseline:
        if regular.is_odd(os.path.join(cwd, path)):
            raise UserError(f"--baseline {path}: not a regular file; name a file that --update-baseline wrote")
        try:
            with open(os.path.join(cwd, path), encoding="utf-8") as file:
                document = json.load(file)
            entries = [
                Known(e["fingerprint"], e["code"], e["path"], e.get("function", ""), e.get("line", 0))
                for e in document["findings"]
            ]
        except FileNotFoundError:
            if missing_ok:
                return cls(path, cwd)
            raise UserError(f"--baseline {path}: no such file; write it with --update-baseline") from None
        except OSError as error:
            raise UserError(f"--baseline {path}: cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = (
                f"line {error.lineno}: {error.msg}"
                if isinstance(error, json.JSONDecodeError)
                else "its entries are others"
            )
            raise UserError(
                f"--baseline {path}: not a baseline of tclint ({why}); write one with --update-baseline"
            ) from error
        if document.get("version") != VERSION:
            raise UserError(f"--baseline {path}: version {document.get('version')!r} is not known; update the baseline")
        return cls(path, cwd, entries)

    def compare(self, findings: Sequence[Finding], sources: Callable[[str], str], linted: Iterable[str]) -> Compared:
        """What is not in the baseline. `linted` are the paths the run reports on: only there an entry can be stale."""
        have = {entry.fingerprint for entry in self.entries}
        named = self._named(findings, sources)
        seen = {entry.fingerprint for _, entry in named}
        new = tuple(finding for finding, entry in named if entry.fingerprint not in have)
        here = {self._relative(path) for path in linted}
        stale = tuple(e for e in self.entries if e.fingerprint not in seen and self._gone(e, here))
        return Compared(new, len(findings) - len(new), stale)

    def updated(self, findings: Sequence[Finding], sources: Callable[[str], str], linted: Iterable[str]) -> Baseline:
        """The baseline after this run: what it found, and what stands in files it did not look at."""
        here = {self._relative(path) for path in linted}
        kept = [e for e in self.entries if not self._gone(e, here)]
        entries = {e.fingerprint: e for e in (*kept, *(entry for _, entry in self._named(findings, sources)))}
        ordered = sorted(entries.values(), key=lambda e: (e.path, e.line, e.code, e.fingerprint))
        return Baseline(self.path, self.cwd, ordered)

    def text(self) -> str:
        rows: list[dict[str, Any]] = [
            {"code": e.code, "path": e.path, "line": e.line, "function": e.function, "fingerprint": e.fingerprint}
            for e in self.entries
        ]
        return json.dumps({"tool": "tclint", "version": VERSION, "findings": rows}, indent=1, ensure_ascii=False) + "\n"

    def _named(self, findings: Sequence[Finding], sources: Callable[[str], str]) -> list[tuple[Finding, Known]]:
        # The fingerprint holds the path: relative to the baseline it is the same from whichever folder tclint is run.
        shown = {self._relative(finding.path): finding.path for finding in findings}
        moved = [replace(finding, path=self._relative(finding.path)) for finding in findings]
        names = fingerprints(moved, Lines(lambda path: sources(shown.get(path, path))))
        return [
            (finding, Known(name, there.code, there.path, there.function, there.line))
            for finding, there, name in zip(findings, moved, names, strict=True)
        ]

    def _relative(self, path: str) -> str:
        return os.path.relpath(os.path.join(self.cwd, path), self.folder).replace(os.sep, "/")

    def _gone(self, entry: Known, linted: set[str]) -> bool:
        return entry.path in linted or not os.path.exists(os.path.join(self.folder, entry.path))
