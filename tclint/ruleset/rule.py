"""The rule API: one class per rule, its docstring its page, its attributes its facts, its `on_…` methods its eyes."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from tclint.events import Call, Event, span_of
from tclint.model.finding import RANK, Compiled, Confidence, Effect, Finding, Fix, Label, Severity
from tclint.sources import roles
from tclint.sources.once import Once
from tclint.torch_facts import GraphBreak, calls, facts, graph_breaks, releases
from tclint.torch_facts.calls import Verdict
from tclint.torch_facts.kind import Kind
from tclint.values import NAMED, OWN_BACKEND, PROVEN, Tensor, Value
from tclint.values.kinds import kinds_of

if TYPE_CHECKING:
    from tclint.events.queries import Frame
    from tclint.model.settings import Settings
    from tclint.values import CompileSite, Origin

_BREAKS: Final = re.compile(
    r"(?:so )?Dynamo breaks(?: the graph)?(?: here)?(?: and the device is waited for)?|the graph breaks here"
)

_CONFIDENCE = (Confidence.LOW, Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


_CREDIBLE: Final = 3
"""Tests of which nobody in sight says what they come to, that a finding may hang on and still be told by default."""
_IN_EVERY_CALL: Final = frozenset({Effect.GRAPH_BREAK, Effect.SLOW})
"""What costs because it happens again and again: done in the first call alone, it costs less, or nothing."""

SCOPES = ("region", "seen", "eager", "any")


class Rule:
    """A hazard. Subclass it in a file of its own; define `on_<event>` methods that yield findings.

    `scope` says where the rule looks: in compiled code (`region`), only where calls of it were seen (`seen`), in the eager
    code around it (`eager`), or everywhere (`any`).
    `calls` names the calls that `on_call` wants: dotted names, a trailing `*` for a prefix.
    `owns` names, in the same way, the calls that are this rule's alone: a `general` rule, which wants whatever was measured
    to break a graph, leaves them to it.
    `subjects` narrows other events to those about values of some types: `{"subscript": (Tensor,)}`.
    `by_facts`: which of its calls break the graph is asked of the facts, so it may differ between releases of torch.
    `triggers` are byte strings; `on_module` sees only files that contain one of them.
    `elsewhere` is what the caller can do where no change at the line helps: the help then names the calls, and says it.
    """

    code: ClassVar[str] = ""
    name: ClassVar[str] = ""
    effect: ClassVar[Effect] = Effect.GRAPH_BREAK
    severity: ClassVar[Severity] = Severity.MEDIUM
    default: ClassVar[bool] = True
    graph_breaks: ClassVar[tuple[str, ...]] = ()
    torch: ClassVar[str] = ""
    scope: ClassVar[str] = "region"
    calls: ClassVar[Iterable[str]] = ()
    owns: ClassVar[Iterable[str]] = ()
    general: ClassVar[bool] = False
    subjects: ClassVar[Mapping[str, tuple[type[Value], ...]]] = {}
    triggers: ClassVar[tuple[bytes, ...]] = ()
    by_facts: ClassVar[bool] = False
    elsewhere: ClassVar[str] = ""

    def __init__(self) -> None:
        self.target = releases.NEWEST
        self.settings: Settings | None = None  # set by the engine before the run
        self.left_to_others: tuple[str, ...] = ()
        """The calls that other rules own: a general rule is told when it is loaded."""
        self.by_place: dict[tuple[str, int, int, str], Finding] = {}
        """The findings made so far, recorded or not; emptied by who hands out the events."""

    def ids(self, measured: str) -> tuple[str, ...]:
        """The rule's graph-break ids, the one that was measured for this very call first: that is the one shown."""
        return tuple(dict.fromkeys((measured, *self.graph_breaks))) if measured else self.graph_breaks

    def finding(
        self,
        event: Event,
        message: str,
        *,
        help: str = "",
        node: ast.AST | None = None,
        about: Tensor | None = None,
        confidence: Confidence | None = None,
        severity: Severity | None = None,
        effect: Effect | None = None,
        graph_breaks: tuple[str, ...] | None = None,
        labels: tuple[Label, ...] = (),
    ) -> Finding:
        """A finding at an event's node. `about` is the tensor whose evidence decides the confidence."""
        node = node if node is not None else event.node
        frame = event.frame
        if confidence is None:
            confidence = _CONFIDENCE[about.conf if about is not None else PROVEN]
        if event.unlikely:
            confidence = Confidence.LOW  # a handler runs only when something already went wrong
        effect, severity = effect or self.effect, severity or self.severity
        if effect is Effect.GRAPH_BREAK and _raises(event) and roles.is_test(event.site.path if event.site else ""):
            confidence = Confidence.LOW  # the test would fail: it says that nothing breaks
        if effect is Effect.RECOMPILE and event.ask.is_left_out():
            confidence = Confidence.LOW  # what has no graph is not compiled again
        skipped = event.ask.once(node) if effect in _IN_EVERY_CALL and event.compiled and not _raises(event) else None
        if skipped is not None and effect is not Effect.GRAPH_BREAK:
            confidence = Confidence.LOW  # what a graph does once costs nothing: the next one is without it
        elif skipped is not None and skipped.anew:
            severity = Severity.LOW  # it costs one call, and one compilation
        # A line is met again in every context it is called in; the first finding as sure as this one is the one that stays.
        site = frame.region.site if frame.region is not None else None
        uncalled = site.uncalled if site is not None else ""
        place = (frame.module.path, getattr(node, "lineno", 1), getattr(node, "col_offset", 0), uncalled)
        before = self.by_place.get(place)
        conditions = event.conditions
        if len(conditions) > _CREDIBLE:
            confidence = Confidence.LOW  # so many tests of which nobody knows seldom come out so in one run
        standing = (RANK[confidence.value], int(not conditions), RANK[severity.value])
        if before is not None and before.standing >= standing:
            return before
        if about is not None and not labels and about.origin.line:
            _names_line(frame, about.origin)
        if about is not None and not labels and about.origin.line and about.origin.line != getattr(node, "lineno", 0):
            text = about.origin.text()
            labels = (Label(about.origin.line, f"tensor since here: {text}" if text else "tensor since here"),)
        line = getattr(node, "lineno", 1)
        if effect is Effect.GRAPH_BREAK and _raises(event):
            message = _BREAKS.sub("under fullgraph=True Dynamo raises here", message)
        if skipped is not None and effect is Effect.GRAPH_BREAK:
            message, help = _told_once(message, help, skipped)
        found = self.by_place[place] = Finding(
            code=self.code,
            name=self.name,
            path=frame.module.path,
            span=span_of(frame.module, node),
            message=message,
            effect=effect,
            severity=severity,
            confidence=confidence,
            help=help,
            function=frame.function.qualname if frame.function is not None else "<module>",
            chain=frame.chain(line),
            labels=labels,
            graph_breaks=self.graph_breaks if graph_breaks is None else graph_breaks,
            eager=frame.region is None,
            compiled=_compiled(frame.region.site) if frame.region is not None else None,
            assumed=(frame.region is not None and frame.region.site is None) or bool(uncalled or conditions),
            uncalled=uncalled,
            conditions=conditions,
        )
        return found

    def captured(self, event: Event, setting: str) -> bool:
        """Whether the graph keeps what Dynamo breaks on unless `setting` is on: since 2.10 `fullgraph=True` implies it."""
        whole = event.site is not None and event.site.fullgraph is True and self.target >= (2, 10)
        return whole or event.configured(setting)

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """A repair for a finding of this rule, if there is one."""
        return None

    def told_of_callers(self, finding: Finding, event: Event, fix: Fix | None) -> Finding:
        """The finding; where nothing at the line helps, its help names the calls, where something can be done."""
        helped = fix is not None and (fix.edits or fix.switch)
        places = event.evidence.places if self.elsewhere and not helped and event.evidence is not None else ""
        if not places:
            return finding
        return replace(finding, help=f"{finding.help}: the compiled function is {places}; {self.elsewhere}")

    def restart(self) -> None:
        """Be as new. A rule that collects things while it looks keeps them no longer than one part of a run."""
        if type(self).__init__ is not Rule.__init__:
            told = self.target, self.settings, self.left_to_others
            self.__init__()  # type: ignore[misc]
            self.target, self.settings, self.left_to_others = told

    def another(self) -> Rule:
        """One more of the same, which has seen nothing yet."""
        new = type(self)()
        new.target, new.settings, new.left_to_others = self.target, self.settings, self.left_to_others
        return new

    @property
    def release(self) -> str:
        """The release whose facts hold: the target, or the nearest one that was asked."""
        return _asked(self.target)

    def verdict(self, event: Call) -> Verdict | None:
        """Whether the call breaks the graph on the target; None where that was never asked."""
        return calls.verdict(event.name, self.release, *_kinds(event))

    def unswitched(self, event: Call) -> GraphBreak | None:
        """The break that a call makes only as long as a setting is off."""
        verdict = self.verdict(event)
        found = graph_breaks().get(verdict.id) if verdict is not None else None
        return found if found is not None and found.switch else None

    def span(self, event: Call) -> str:
        """` (torch until 2.13)` for a call that does not break the graph on every release."""
        return span(calls.span(event.name, self.release, *_kinds(event)))

    def changes(self) -> Mapping[str, Sequence[str]]:
        """What breaks the graph on some releases only: `until 2.13` -> the calls."""
        found: dict[str, list[str]] = {}
        for name in calls.breaking_somewhere() if self.by_facts else ():
            mine = any(name.startswith(p[:-1]) if p.endswith("*") else name == p for p in self.calls)
            others = self.general and any(
                name.startswith(p[:-1]) if p.endswith("*") else name == p for p in self.left_to_others
            )
            if mine and not others and (releases := calls.history(name)):
                found.setdefault(releases, []).append(name.removeprefix("builtins."))
        return found

    def holds(self) -> bool:
        """Whether the rule is true of the torch version the run speaks for."""
        return releases.matches(self.torch, self.target)


@functools.cache
def _asked(target: tuple[int, int]) -> str:
    return facts.at(".".join(map(str, target))).version


def _kinds(event: Call) -> tuple[tuple[Kind | None, ...], dict[str, Kind | None]]:
    return kinds_of(event.receiver, event.args, event.keywords, event.ask.is_nn_module)


def span(releases: str) -> str:
    """` (torch until 2.13)` for what is so on some releases only."""
    return f" (torch {releases})" if releases else ""


def whole_frame(event: Event) -> str:
    """The price of a break inside a block that cannot be resumed."""
    if _raises(event):
        return ""
    block = event.unresumed
    return f"; inside `{block}` the whole function runs eagerly" if block else ""


def _told_once(message: str, help: str, once: Once) -> tuple[str, str]:
    """What is behind a flag or a cache: a call that skips it is compiled without it, or stays as the first one left it."""
    after = (
        ", and later calls are compiled again, without the break"
        if once.anew
        else ", but what the first call has split stays split in later calls"
    )
    return (
        f"{message}; this line runs only {once}{after}",
        f"{help}{'; or ' if help else ''}do it before the first compiled call",
    )


def _names_line(frame: Frame, origin: Origin) -> None:
    """Note that a finding names the line of an origin: of the function that is read, of another one, or of another file."""
    function = frame.function
    while function is not None and function.parent is not None:
        function = function.parent
    first, last = (function.node.lineno, function.node.end_lineno or 0) if function is not None else (0, 0)
    here = origin.path == frame.module.path and first <= origin.line <= last
    frame.module.program.names_lines([origin.path], elsewhere=not here)


def _raises(event: Event) -> bool:
    return event.site is not None and event.site.fullgraph is True


def _compiled(site: CompileSite | None) -> Compiled | None:
    if site is None:
        return None
    literals = [(k, repr(v)) for k, v in (site.options or {}).items() if isinstance(v, (bool, int, float, str))]
    return Compiled(
        mode=site.mode if isinstance(site.mode, str) and site.mode != "?" else "",
        backend=site.backend if isinstance(site.backend, str) and site.backend not in ("?", OWN_BACKEND) else "",
        dynamic=site.dynamic if isinstance(site.dynamic, bool) else None,
        fullgraph=site.fullgraph is True,
        options=tuple(sorted(literals)),
    )


def sure(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.conf > NAMED
