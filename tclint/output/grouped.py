"""For people with many findings: by root cause. One helper that breaks forty models is one thing to repair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tclint.model.finding import RANK, Applicability, Finding
from tclint.output import RuleInfo, Sources, full, words
from tclint.output.lines import Lines, shown
from tclint.output.palette import Palette
from tclint.output.words import plural

if TYPE_CHECKING:
    from tclint.model.report import Report

_MAX_PLACES = 3


@dataclass(slots=True)
class Cause:
    """One function (or one script) and what is wrong in it, wherever its code stands."""

    findings: list[Finding]
    """Those of the first place."""
    copies: list[Finding]
    """The first finding of each other place with the same code."""
    total: int

    @property
    def roots(self) -> int:
        return max(finding.roots for finding in self.findings)

    @property
    def order(self) -> tuple[int, int, int, tuple[str, int, int, str, str]]:
        """The known before the assumed, and what costs most first: by severity, then by how much hangs on it."""
        worst = max(RANK[finding.severity.value] for finding in self.findings)
        return (
            -max(finding.ground for finding in self.findings),
            -worst,
            -(self.total + self.roots),
            self.findings[0].sort_key,
        )


def causes(findings: Sequence[Finding]) -> list[Cause]:
    """Findings by the function they stand in; functions that are copies of each other count as one."""
    functions: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        functions.setdefault((finding.place, finding.function), []).append(finding)
    at = {f"{f.path}:{f.span.line}": key for key, here in functions.items() for f in here}
    leader: dict[tuple[str, str], tuple[str, str]] = {}

    def lead(key: tuple[str, str]) -> tuple[str, str]:
        while leader.get(key, key) != key:
            key = leader[key]
        return key

    for key, here in functions.items():
        for place in (place for finding in here for place in finding.same_as if place in at):
            first, second = sorted((lead(key), lead(at[place])))
            leader[second] = first
    groups: dict[tuple[str, str], list[list[Finding]]] = {}
    for key, here in functions.items():
        groups.setdefault(lead(key), []).append(here)
    found = [Cause(g[0], [h[0] for h in g[1:]], sum(map(len, g))) for g in groups.values()]
    return sorted(found, key=lambda cause: cause.order)


def render(
    report: Report,
    *,
    color: bool,
    width: int,
    sources: Sources,
    rules: Sequence[RuleInfo] = (),
    summary: bool = True,
    verbose: bool = False,
) -> str:
    paint = Palette(color)
    lines = Lines(sources)
    found = causes(report.findings)
    blocks = ["\n".join(_cause(cause, lines, paint, max(width, 40))) for cause in found]
    if summary:
        head = [paint.bold(plural(len(found), "root cause"))] if found else []
        blocks.append("\n".join([*head, *full.summary_lines(report, paint)]))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _cause(cause: Cause, lines: Lines, paint: Palette, room: int) -> Iterator[str]:
    first = cause.findings[0]
    what = f" in {first.function}" if first.function and first.function != "<module>" else ""
    counts = [plural(cause.total, "finding")]
    if cause.copies:
        counts.append(f"{len(cause.copies) + 1} copies of the code")
    if cause.roots > 1:
        counts.append(f"reached from {cause.roots} roots")
    worst = max(cause.findings, key=lambda f: RANK[f.severity.value]).severity.value
    yield f"{paint.bold(shown(f'{first.place}:{first.span.line}'))}{shown(what)}  {paint.severity(worst, ' · '.join(counts))}"
    digits = max(len(f"{f.span.line}:{f.span.column}") for f in cause.findings)
    for finding in cause.findings:
        place = f"{finding.span.line}:{finding.span.column}"
        text = " ".join(words.message(finding).split())
        start = f"  {place:>{digits}}  {paint.severity(finding.severity.value, finding.code)} "
        yield from full.wrapped(shown(text), start, digits + len(finding.code) + 5, room)
    if first.chain and not (first.eager and len(first.chain) == 1):
        others = f"  (and from {plural(cause.roots - 1, 'other root')})" if cause.roots > 1 else ""
        yield from _note(paint, *full.because(first, words.chain(first) + others), room)
    if cause.copies:
        places = [f"{f.place}:{f.span.line}" for f in cause.copies]
        more = f" and {len(places) - _MAX_PLACES} more" if len(places) > _MAX_PLACES else ""
        yield from _note(paint, "same code as", ", ".join(places[:_MAX_PLACES]) + more, room)
    for advice in dict.fromkeys(a for f in cause.findings if (a := words.advice(f))):
        yield from _note(paint, "help", advice, room)
    fixable = [f for f in cause.findings if f.fix is not None and f.fix.applicability is Applicability.SAFE]
    if fixable and cause.copies:
        yield from _note(paint, "fix", "--fix repairs every copy", room)


def _note(paint: Palette, title: str, text: str, room: int) -> Iterator[str]:
    start = f"  {paint.gutter('=')} {paint.bold(title)}{' ' * (17 - len(title))} "
    yield from full.wrapped(shown(text.replace("\n", " ")), start, 22, room)
