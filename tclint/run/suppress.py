"""Comments that silence findings: `# tclint: ignore[TCL101] why`, `# noqa: TCL101`, `# tclint: ignore-file`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tclint.model.errors import did_you_mean
from tclint.model.finding import Applicability, Confidence, Edit, Effect, Finding, Fix, Severity, Span
from tclint.model.settings import matches, normal_selector

UNUSED = "TCL901"
UNUSED_NAME = "unused-suppression"

_TCLINT = re.compile(r"#\s*tclint\s*:\s*(?P<verb>[\w-]*)\s*(?P<open>\[)?(?P<codes>[^\]]*\])?")
_NOQA = re.compile(r"#\s*noqa\b(?P<colon>\s*:\s*(?P<codes>[a-z]+[0-9]+(?:[,\s]+[a-z]+[0-9]+)*)?)?", re.IGNORECASE)
_MARKER = re.compile(r"#\s*tclint\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Suppressed:
    """What is left of the findings."""

    kept: tuple[Finding, ...]
    """The findings no comment speaks of, and a TCL901 for every comment that silences nothing; sorted."""
    suppressed: int
    unused: tuple[Finding, ...] = ()
    """The TCL901 among `kept`."""


class Scanned(NamedTuple):
    """What a text holds that decides which comment speaks of which line: plain values, a pure function of the text."""

    complete: bool
    """Whether it could be read to its end."""
    alone: tuple[int, ...]
    """The lines with a comment and nothing else."""
    strings: tuple[tuple[int, int], ...]
    """The first and last lines of the strings of several lines."""
    comments: tuple[tuple[str, int, int, str], ...]
    """The comments that may be for us: each with its line, its column and all that stands on the line."""


Scan = Callable[[str, str], Scanned]
"""What the text of a file holds, by its path and the text: tokenizing is slow, and somebody may remember it."""


def apply(
    findings: Sequence[Finding],
    texts: Mapping[str, str],
    active_codes: Callable[[str], bool] = lambda selector: True,
    scanned: Scan | None = None,
) -> Suppressed:
    """Drop the findings that a comment in their file silences.

    `texts` maps the path of every reported file to its text. `active_codes` is asked about each selector as it stands
    in a comment (a code, a prefix or a name), and says whether a rule it names ran: an ignore for a rule that did not
    run is not unused. See `activity`. Pass all findings, before filters by confidence or severity: a comment that
    silences a finding the user does not look at today is no reason to complain.
    """
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    kept: list[Finding] = []
    unused: list[Finding] = []
    for path, text in texts.items():
        here = by_path.pop(path, [])
        # Most files hold no such comment, and tokenize is slow: ask the text first.
        comments = _Comments(scanned(path, text) if scanned else scan(text)) if _speaks(text, here) else None
        if comments is None:
            kept += here
            continue
        kept += [finding for finding in here if not comments.silence(finding)]
        if active_codes(UNUSED):
            unused += comments.unused(path, active_codes)
    for rest in by_path.values():
        kept += rest
    gone = len(findings) - len(kept)
    return Suppressed(tuple(sorted([*kept, *unused], key=lambda f: f.sort_key)), gone, tuple(unused))


def _speaks(text: str, findings: Sequence[Finding]) -> bool:
    """Whether a text may hold a comment for us: a noqa for codes of other linters is none.

    Nor is a bare one above all findings: it silences what stands on its line or below, and nobody complains of it.
    """
    if _MARKER.search(text) is not None:
        return True
    if "noqa" not in text.lower():
        return False
    bare: list[int] = []
    for match in _NOQA.finditer(text):
        if not match["codes"]:
            bare.append(match.start())
        elif "TCL" in match["codes"].upper():
            return True
    if not bare or not findings:
        return False
    return text.count("\n", 0, bare[-1]) + 1 >= _first_line(text, min(finding.span.line for finding in findings))


def _first_line(text: str, line: int) -> int:
    """The first line whose comment can speak of what begins on a line: lines of comments above it do."""
    lines = text.split("\n", line)
    while 1 < line <= len(lines) + 1 and lines[line - 2].lstrip().startswith("#"):
        line -= 1
    return line


def activity(
    known: Iterable[tuple[str, str]], ran: Iterable[tuple[str, str]], *, all_loaded: bool = True
) -> Callable[[str], bool]:
    """The `active_codes` of a run, from (code, name) of all rules and of those that ran.

    A selector that names no rule at all counts as active: a misspelt code should be told, not kept. Unless some rules were
    not loaded (`all_loaded`): it may name one of those.
    """
    all_rules, active = tuple(known), tuple(ran)

    def answer(selector: str) -> bool:
        if selector == UNUSED and not any(code == UNUSED for code, _ in all_rules):
            return True
        if any(matches(selector, *rule) for rule in active):
            return True
        return all_loaded and not any(matches(selector, *rule) for rule in all_rules)

    return answer


@dataclass(slots=True)
class _Ignore:
    """One comment, and which of its selectors were of use."""

    span: Span
    text: str
    selectors: tuple[str, ...]
    """Empty: everything."""
    removal: Span | None = None
    """What to cut to remove the comment; None for a noqa, whose other codes belong to other linters."""
    whole_file: bool = False
    noqa: bool = False
    error: str = ""
    used: set[str] = field(default_factory=set)

    def silences(self, finding: Finding) -> bool:
        if self.error:
            return False
        hits = [s for s in self.selectors if matches(s, finding.code, finding.name)]
        if not self.selectors:
            hits = ["ALL"]
        self.used.update(hits)
        return bool(hits)


class _Comments:
    """The suppressions of one file, by line."""

    def __init__(self, scanned: Scanned) -> None:
        self._file: list[_Ignore] = []
        self._lines: dict[int, list[_Ignore]] = {}
        self._comment_only = frozenset(scanned.alone)
        self._strings = scanned.strings
        self._complete = scanned.complete
        for comment, line, start, around in scanned.comments:
            for ignore in _parse(comment, line, start, around):
                if ignore.whole_file:
                    self._file.append(ignore)
                else:
                    self._lines.setdefault(line, []).append(ignore)

    def silence(self, finding: Finding) -> bool:
        # All comments that speak of the finding count as used, so no early exit.
        hits = [ignore.silences(finding) for ignore in (*self._file, *self._around(finding.span))]
        return any(hits)

    def unused(self, path: str, active: Callable[[str], bool]) -> list[Finding]:
        if not self._complete:
            # Where the file does not parse, the rules saw nothing, and no comment could be of use.
            return []
        ignores = [*self._file, *(ignore for line in self._lines.values() for ignore in line)]
        found = (_unused(ignore, path, active) for ignore in ignores)
        return [finding for finding in found if finding is not None]

    def _around(self, span: Span) -> list[_Ignore]:
        last = span.end_line - 1 if span.end_column <= 1 and span.end_line > span.line else span.end_line
        for start, end in self._strings:
            # No comment fits inside a string of several lines: the one after its end speaks for it.
            if start <= last <= end:
                last = end
        first = span.line
        while first - 1 in self._comment_only:
            first -= 1
        return [ignore for line in range(first, last + 1) for ignore in self._lines.get(line, ())]


def scan(text: str) -> Scanned:
    """What a text holds of comments, and of strings that no comment fits into."""
    opened: list[int] = []
    alone: list[int] = []
    strings: list[tuple[int, int]] = []
    comments: list[tuple[str, int, int, str]] = []
    complete = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = tokenize.tok_name[token.type]
            if kind == "COMMENT":
                line, start = token.start
                if not token.line[:start].strip():
                    alone.append(line)
                if _TCLINT.search(token.string) or _NOQA.search(token.string):
                    comments.append((token.string, line, start, token.line))
            elif kind == "STRING" and token.end[0] > token.start[0]:
                strings.append((token.start[0], token.end[0]))
            elif kind in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif kind in ("FSTRING_END", "TSTRING_END") and opened:
                strings.append((opened.pop(), token.end[0]))
    except (tokenize.TokenError, SyntaxError):
        # What came before the error still counts; the engine reports the file as unreadable.
        complete = False
    return Scanned(complete, tuple(alone), tuple(strings), tuple(comments))


def _parse(comment: str, line: int, start: int, around: str) -> Iterable[_Ignore]:
    """What a comment says that begins after so many characters of a line."""
    own_line = not around[:start].strip()
    # A comment may hold several: `# type: ignore # tclint: ignore[TCL101]`.
    for match in _TCLINT.finditer(comment):
        after = comment.find("#", match.end())
        text = comment[match.start() : after if after >= 0 else None].rstrip()
        column = start + match.start() + 1
        span = Span(line, column, line, column + len(text))
        ignore = _Ignore(span, text, (), removal=span)
        if after < 0:
            # Nothing of the line is left behind the comment: take the blanks before it too, or the whole line.
            before = len(around[: column - 1].rstrip())
            ignore.removal = Span(line, before + 1, line, span.end_column) if before else Span(line, 1, line + 1, 1)
        verb, codes = match["verb"], match["codes"]
        if verb not in ("ignore", "ignore-file"):
            hint = did_you_mean(verb, ("ignore", "ignore-file")) or ': write "ignore" or "ignore-file"'
            ignore.error = f"tclint has no comment {verb!r}{hint}"
        elif not match["open"] and (bare := re.match(r"\s*(TCL\d+)", comment[match.end("verb") :])):
            ignore.error = f"a code stands in brackets: write {verb}[{bare[1]}]"
        elif match["open"] and codes is None:
            ignore.error = "the list of codes is not closed: add the ']'"
        elif match["open"]:
            assert codes is not None
            ignore.selectors = tuple(normal_selector(s) for s in codes[:-1].split(",") if s.strip())
            if not ignore.selectors:
                ignore.error = "the list of codes is empty: name one, or leave the brackets out"
        if verb == "ignore-file" and not ignore.error:
            if own_line:
                ignore.whole_file = True
            else:
                ignore.error = "ignore-file must stand on a line of its own"
        yield ignore
    for match in _NOQA.finditer(comment):
        codes = match["codes"]
        if match["colon"] and codes is None:
            continue
        ours = tuple(s.upper() for s in re.split(r"[,\s]+", codes or "") if s.upper().startswith("TCL"))
        if codes is not None and not ours:
            continue
        column = start + match.start() + 1
        span = Span(line, column, line, column + len(match[0]))
        yield _Ignore(span, match[0], ours, noqa=True)


def _unused(ignore: _Ignore, path: str, active: Callable[[str], bool]) -> Finding | None:
    fix: Fix | None = None
    if ignore.error:
        message = f"this comment silences nothing: {ignore.error}"
    elif not ignore.selectors:
        # A bare noqa speaks to every linter; that we have nothing to say here proves nothing.
        if ignore.noqa or ignore.used:
            return None
        message = "this comment silences nothing: remove it"
        fix = _removal(ignore, path)
    else:
        # `ignore[TCL101, TCL901]` says: and do not complain where it is not needed.
        if any(matches(s, UNUSED, UNUSED_NAME) for s in ignore.selectors):
            return None
        idle = [s for s in ignore.selectors if s not in ignore.used and active(s)]
        if not idle:
            return None
        message = f"{', '.join(idle)} silences nothing here: remove it"
        if len(idle) == len(ignore.selectors):
            fix = _removal(ignore, path)
    return Finding(
        code=UNUSED,
        name=UNUSED_NAME,
        path=path,
        span=ignore.span,
        message=message,
        effect=Effect.SLOW,
        severity=Severity.LOW,
        confidence=Confidence.HIGH,
        fix=fix,
    )


def _removal(ignore: _Ignore, path: str) -> Fix | None:
    if ignore.removal is None:
        return None
    return Fix("remove the comment", Applicability.SAFE, (Edit(path, ignore.removal, ""),))
