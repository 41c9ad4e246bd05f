"""From what the parts gave to one report: the best of several findings at a place, comments, filters, order."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from tclint.model.finding import RANK, Confidence, Effect, Finding, Severity, Span
from tclint.model.report import Problem, Report, Site
from tclint.program import FunctionPlace
from tclint.ruleset.notices import NOTICES
from tclint.run import suppress
from tclint.run.results import Brief, Found, Result, SitePlace
from tclint.sources.text import NEWER, Unparsable, decode
from tclint.torch_facts import facts

if TYPE_CHECKING:
    from tclint.model.settings import Settings
    from tclint.ruleset.rule import Rule
    from tclint.run.reading import Reading

OWN_NAMES: Final = {code: notice.name for code, notice in NOTICES.items() if code != suppress.UNUSED}
_MAX_LIBRARIES: Final = 3
_UNUSED: Final = (suppress.UNUSED, suppress.UNUSED_NAME)


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a report is made from, beside the results of the parts."""

    reading: Reading
    settings: Settings
    known: Sequence[Rule]
    active: Sequence[Rule]
    commented: Container[str]
    """Files that may hold comments which silence something."""
    marked: Container[str]
    """Those of them whose comments are looked at even where nothing is found."""
    assumed: bool
    torch: str
    absolute: Mapping[str, str]
    """Where the files lie, by the path shown."""
    scanned: suppress.Scan | None = None
    """Who remembers the comments of a text."""

    def report(self, results: Sequence[Result]) -> Report:
        """The report of a run."""
        best: dict[tuple[str, int, int, str], Found] = {}
        starts: dict[tuple[str, int, int, str], set[tuple[str, str]]] = {}
        for found in (f for result in results for f in result.found):
            key, start = found.brief.place, found.brief.start
            begun = starts.setdefault(key, set())
            if start is not None:
                begun.add(start)
            old = best.get(key)
            if old is None or self._certainty(found.brief) > self._certainty(old.brief):
                best[key] = found
        mine = [f for key, f in best.items() if key[0] in self.reading.reported]
        whole = {place[:2] for result in results for place in result.whole}
        # Where `fullgraph=True` compiles a function, it has no break: an assumption does not know better.
        mine = [
            f
            for f in mine
            if not (
                f.finding.ground == 0
                and (f.finding.path, f.finding.function) in whole
                and f.finding.effect is Effect.GRAPH_BREAK
            )
        ]
        findings = [f.finding for f in mine]
        findings.extend(self._problem_findings(p for result in results for p in result.problems))
        kept, silenced = self._uncommented(findings)
        kept = [f for f in kept if self._shown(f)]
        kept = _with_copies(kept, {id(f.finding): f.copy for f in mine})
        reach = {(site, p[:2]) for result in results for site, places in result.reach.items() for p in places}
        through = Counter(place for _, place in reach)
        kept = [
            replace(f, roots=max(through[f.path, f.function], len(starts.get((*f.sort_key[:4],), ())))) for f in kept
        ]
        kept.sort(key=lambda f: f.listed)
        compiled = near(results, self.reading.reported)
        return Report(
            findings=tuple(kept),
            sites=tuple(_site_rows(results, self.reading.reported)),
            assumed=self.assumed,
            files=self.reading.files,
            functions=len(compiled),
            supposed=len(compiled.difference(*_reach(results).values())),
            suppressed=silenced,
            torch=self.torch,
            notes=tuple(filter(None, [facts.at(self.torch).note, *self._newer(), self._below(results)])),
        )

    def _below(self, results: Sequence[Result]) -> str:
        """What could be known of more, and how."""
        libraries = sorted(set[str]().union(*(result.below for result in results)))
        if not libraries:
            return ""
        more = f" and {len(libraries) - _MAX_LIBRARIES} more" if len(libraries) > _MAX_LIBRARIES else ""
        names = f"{', '.join(libraries[:_MAX_LIBRARIES])}{more}"
        return (
            f"base classes of compiled code from {names} were not read: --python .venv reads them from that environment"
        )

    def _certainty(self, found: Brief) -> tuple[bool, int, int, int, int]:
        """Of two findings at one place the one that is shown stays, then the known one, then the surer one, then the graver."""
        shown = found.confidence >= RANK[self._held(found.place[0]).min_confidence]
        return (shown, found.ground, found.confidence, found.certain, found.severity)

    def _held(self, path: str) -> Settings:
        """What holds for a file by the path shown."""
        return self.settings.at(self.absolute.get(path, path)) if self.settings.nearer else self.settings

    def _shown(self, finding: Finding) -> bool:
        held = self._held(finding.path)
        sure = RANK[finding.confidence.value] >= RANK[held.min_confidence]
        return sure and RANK[finding.severity.value] >= RANK[held.severity]

    def _uncommented(self, findings: Sequence[Finding]) -> tuple[list[Finding], int]:
        """What no comment silences, with the comments that silence nothing; and how many findings are silenced."""
        texts = self._texts(findings)
        kept: list[Finding] = []
        silenced = 0
        # A comment is unused where its rule ran, and that is for the configuration of its file to say.
        for settings in self.settings.everywhere():
            mine = [f for f in findings if self._held(f.path) is settings]
            own = {path: text for path, text in texts.items() if self._held(path) is settings}
            result = suppress.apply(mine, own, self._activity(settings), self.scanned)
            kept += result.kept
            silenced += result.suppressed
        return sorted(kept, key=lambda f: f.sort_key), silenced

    def _texts(self, findings: Iterable[Finding]) -> dict[str, str]:
        """The files whose comments may silence something."""
        texts: dict[str, str] = {}
        flagged = {f.path for f in findings}
        modules = {module.path: module for module in self.reading.program.modules}
        for path in sorted(self.reading.reported):
            # Most files with a noqa hold no finding: they are not even read.
            if path in self.marked or (path in flagged and path in self.commented):
                try:
                    texts[path] = decode(path, modules[path].data)
                except Unparsable:
                    continue
        return texts

    def _newer(self) -> Iterator[str]:
        """Files in the syntax of a newer Python than this, told once for each release."""
        mine = (m.problem for m in self.reading.program.modules if m.path in self.reading.reported)
        files: dict[str, list[str]] = {}
        for problem in mine:
            if problem is not None and problem.code == NEWER:
                files.setdefault(problem.message, []).append(problem.path)
        for release, paths in sorted(files.items()):
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            here = ".".join(map(str, sys.version_info[:2]))
            yield f"Python {release} syntax; tclint runs on {here}: not analysed: {paths[0]}{more}"

    def _activity(self, settings: Settings) -> Callable[[str], bool]:
        known = [(rule.code, rule.name) for rule in self.known] + [_UNUSED]
        active = [rule for rule in self.active if settings.selects(rule.code, rule.name, rule.default)]
        ran = [(rule.code, rule.name) for rule in active]
        if settings.selects(*_UNUSED, True):
            ran.append(_UNUSED)
        return suppress.activity(known, ran, all_loaded=not settings.withheld)

    def _problem_findings(self, met: Iterable[Problem]) -> Iterator[Finding]:
        own = (m.problem for m in self.reading.program.modules if m.problem is not None)
        told = [p for p in (*met, *own) if p.path in self.reading.reported]
        for problem in dict.fromkeys((*self.reading.problems, *told)):
            if problem.code == NEWER:
                continue
            yield Finding(
                code=problem.code,
                name=OWN_NAMES.get(problem.code, "problem"),
                path=problem.path,
                span=Span(problem.line, 1, problem.line, 1),
                message=problem.message,
                effect=Effect.ERROR,
                severity=Severity.HIGH,
                confidence=Confidence.HIGH,
            )


def _with_copies(findings: list[Finding], copies: dict[int, tuple[str, int, int] | None]) -> list[Finding]:
    """Name the other places where the same function stands with the same finding: a fix is needed there too."""
    places: dict[tuple[Any, ...], dict[str, list[Finding]]] = {}
    for finding in sorted(findings, key=lambda f: f.sort_key):
        copy = copies.get(id(finding))
        if copy is not None:
            places.setdefault((finding.code, *copy), {}).setdefault(finding.path, []).append(finding)
    result = []
    for finding in findings:
        copy = copies.get(id(finding))
        by_file = places[(finding.code, *copy)] if copy is not None else {}
        if len(by_file) > 1:
            elsewhere = (f for path, found in by_file.items() if path != finding.path for f in found)
            shown = tuple(f"{f.path}:{f.span.line}" for f in islice(elsewhere, 3))
            rest = sum(map(len, by_file.values())) - len(by_file[finding.path]) - len(shown)
            finding = replace(finding, same_as=(*shown, *((f"and {rest} more",) if rest else ())))
        result.append(finding)
    return result


def near(results: Sequence[Result], reported: Container[str]) -> set[FunctionPlace]:
    """The functions that are interpreted as compiled: those of the files asked about, and what the sites compile that lead there."""
    places = {place for result in results for place in result.reached if place[0] in reported}
    for (path, _), functions in _reach(results).items():
        if path in reported or any(place[0] in reported for place in functions):
            places |= functions
    return places


def _reach(results: Sequence[Result]) -> dict[SitePlace, set[FunctionPlace]]:
    reach: dict[SitePlace, set[FunctionPlace]] = {}
    for result in results:
        for place, functions in result.reach.items():
            reach.setdefault(place, set()).update(functions)
    return reach


def _site_rows(results: Sequence[Result], reported: Container[str]) -> Iterator[Site]:
    places: dict[tuple[str, int], tuple[str, set[str]]] = {}
    reach = _reach(results)
    for result in results:
        for path, line, text, mode in result.sites:
            places.setdefault((path, line), (text, set()))[1].add(mode)
    first = {row[:2] for row in results[0].sites}
    reasons = {place: reason for result in results for place, reason in result.unresolved.items()}
    called: dict[FunctionPlace, dict[str, None]] = {}
    for result in results:
        for function, names in result.unfollowed.items():
            called.setdefault(function, {}).update(dict.fromkeys(names))
    handing = {place: names for result in results for place, names in result.handing.items()}
    unread = {place: name for result in results for place, name in result.unread.items()}
    for place, (text, modes) in sorted(places.items()):
        shown = sorted(modes - {"?"}) or ["?"]
        beside = place[0] not in reported and not any(path in reported for path, *_ in reach.get(place, ()))
        # Of what does not lead here a run may interpret nothing, and so knows what all runs know: the sites read first.
        if beside and place not in first:
            continue
        yield Site(
            *place,
            text,
            "|".join(shown),
            len(reach.get(place, ())),
            unresolved="" if reach.get(place) else reasons.get(place, ""),
            unread=unread.get(place, ""),
            handing=handing.get(place, ()) if reach.get(place) else (),
            unfollowed=tuple(dict.fromkeys(n for f in sorted(reach.get(place, ())) for n in called.get(f, ()))),
            beside=beside,
        )
