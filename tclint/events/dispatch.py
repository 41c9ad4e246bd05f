"""From events to rules and back to findings: who listens to what, and what they said."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from tclint.events.broken import Break, GraphBreak, seen_from
from tclint.events.kinds import Feature, With
from tclint.model.finding import Confidence, Effect, Finding
from tclint.model.report import Problem

if TYPE_CHECKING:
    from tclint.events.kinds import Event
    from tclint.ruleset.rule import Rule
    from tclint.values import Region

Handler = Callable[[Any], Iterable[Finding]]

CRASHED = "TCL905"
# Where an event happens: in eager code, in compiled code, or in compiled code whose calls were seen.
EAGER, COMPILED, SEEN = "eager", "compiled", "seen"

_NOT_RESUMED: Final = (ast.Name, ast.Attribute, ast.Import, ast.ImportFrom, ast.Await)
"""What no instruction stands for at which Dynamo can leave the graph and come back: it gives the whole function up."""


class Dispatcher:
    """Knows which rules want which events, and keeps the best finding for each place."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.found: dict[tuple[str, int, int, str, bool], tuple[Finding, Rule, Event]] = {}
        """By place and rule, apart from one another what is known and what only a site that nobody calls says."""
        self.problems: list[Problem] = []
        self._crashed: set[tuple[str, str]] = set()
        self._by_kind: dict[str, dict[tuple[type[Event], type | None], list[tuple[Rule, Handler]]]]
        self._by_kind = {EAGER: {}, COMPILED: {}, SEEN: {}}
        self._by_call: dict[str, dict[str, list[tuple[Rule, Handler]]]] = {EAGER: {}, COMPILED: {}, SEEN: {}}
        self._callers = [(r, *_wanted(type(r))) for r in rules if hasattr(r, "on_call")]
        self.forget()

    def forget(self) -> None:
        """Let go of the findings; what the rules saw stays with them."""
        self.found = {}
        for rule in self.rules:
            rule.by_place = {}

    def restart(self) -> None:
        """Forget what was found, and let the rules forget what they saw."""
        self.problems = []
        self._crashed = set()
        for rule in self.rules:
            rule.restart()
        self.forget()

    def handlers(self, kind: type[Event], region: Region | None, subject: type | None) -> list[tuple[Rule, Handler]]:
        """Who wants such an event about a value of such a type."""
        state = EAGER if region is None else COMPILED if region.evidence is None else SEEN
        known = self._by_kind[state].get((kind, subject))
        if known is None:
            method = "on_" + kind.kind
            known = self._by_kind[state][kind, subject] = [
                (r, getattr(r, method))
                for r in self.rules
                if hasattr(r, method) and _looks(r, state) and _wants(r, kind, subject)
            ]
        return known

    def call_handlers(self, name: str, region: Region | None) -> list[tuple[Rule, Handler]]:
        state = EAGER if region is None else COMPILED if region.evidence is None else SEEN
        known = self._by_call[state].get(name)
        if known is None:
            known = self._by_call[state][name] = [
                (r, r.on_call)
                for r, names, prefixes in self._callers
                if (name in names or name.startswith(prefixes))
                and _looks(r, state)
                and not (r.general and _named(name, r.left_to_others))
            ]
        return known

    def module_handlers(self, codes: Container[str]) -> list[tuple[Rule, Handler]]:
        """Who wants to see a whole file, of the rules with these codes."""
        return [(r, r.on_module) for r in self.rules if hasattr(r, "on_module") and r.code in codes]

    def dispatch(self, handlers: Sequence[tuple[Rule, Handler]], event: Event) -> None:
        for rule, handler in handlers:
            try:
                for told in handler(event) or ():
                    finding = _behind(told, event)
                    self.record(finding, rule, event)
                    if finding.effect is Effect.GRAPH_BREAK and event.compiled and not event.apart:
                        self.broke(finding, event)
            except Exception as error:
                self.crashed(rule, event.module.path, getattr(event.node, "lineno", 1), error)

    def record(self, finding: Finding, rule: Rule, event: Event) -> None:
        key = (finding.path, finding.span.line, finding.span.column, finding.code, bool(finding.uncalled))
        old = self.found.get(key)
        if old is None or finding.standing > old[0].standing:
            self.found[key] = (finding, rule, event)

    def broke(self, finding: Finding, event: Event) -> None:
        """Tell who listens that the graph breaks here; those who called this function hear of it when it is done."""
        site = event.site
        if finding.confidence is Confidence.LOW or (site is not None and site.fullgraph is True):
            return
        frame = event.frame
        at = Break(finding.path, finding.span.line, False, finding.confidence is Confidence.HIGH)
        refused = isinstance(event, With) or (isinstance(event, Feature) and isinstance(event.node, _NOT_RESUMED))
        # What cannot be handed to a function in which the graph breaks leaves the caller to eager mode as a whole.
        refused = refused or (isinstance(event, GraphBreak) and event.function is not None)
        frame.broken = seen_from(frame, at, refused=refused)
        if at.sure:
            frame.handed_on()
        handlers = self.handlers(GraphBreak, frame.region, None)
        if handlers:
            self.dispatch(handlers, GraphBreak(frame, event.node, at))

    def crashed(self, rule: Rule, path: str, line: int, error: Exception) -> None:
        """A rule that throws costs one diagnostic for each file, not the run."""
        if (rule.code, path) not in self._crashed:
            self._crashed.add((rule.code, path))
            what = f"rule {rule.code} failed here: {type(error).__name__}: {error}; the other rules went on"
            self.problems.append(Problem(path, line, CRASHED, what))


_Wanted = tuple[frozenset[str], tuple[str, ...]]
_wanted_by: WeakKeyDictionary[type[Rule], _Wanted] = WeakKeyDictionary()


def _wanted(kind: type[Rule]) -> _Wanted:
    """The calls that a rule names, and how those begin of which it names the beginning. There are thousands of them, and
    a rule is made anew for every run."""
    known = _wanted_by.get(kind)
    if known is None:
        patterns = tuple(kind.calls)
        known = _wanted_by[kind] = (
            frozenset(pattern for pattern in patterns if not pattern.endswith("*")),
            tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*")),
        )
    return known


def _behind(finding: Finding, event: Event) -> Finding:
    """A break that nobody meets: the function was left to eager mode before, in a loop around a call that breaks."""
    before = event.frame.broken if event.compiled and finding.effect is Effect.GRAPH_BREAK else None
    if before is None or not before.hides or event.apart:
        return finding
    where = f"line {before.line}" if before.path == finding.path else f"{before.path}:{before.line}"
    words = f"{finding.message}; behind the break at {where}, which leaves this function to eager mode"
    return replace(finding, message=words, confidence=Confidence.LOW)


def _named(name: str, patterns: Iterable[str]) -> bool:
    return any(name.startswith(p[:-1]) if p.endswith("*") else name == p for p in patterns)


def _wants(rule: Rule, kind: type[Event], subject: type | None) -> bool:
    wanted = rule.subjects.get(kind.kind)
    return wanted is None or (subject is not None and issubclass(subject, wanted))


def _looks(rule: Rule, state: str) -> bool:
    if rule.scope == "any":
        return True
    if rule.scope == "seen":
        return state == SEEN
    return (rule.scope == "region") is (state != EAGER)
