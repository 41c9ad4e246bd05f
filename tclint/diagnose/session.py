"""A diagnosis from beginning to end: orders to children, answers to one result. A child that dies is a row, not an end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tclint import __version__
from tclint.diagnose import linting
from tclint.diagnose.breaks import breaks_of
from tclint.diagnose.measurement import (
    SCHEMA,
    Ablate,
    Diagnosis,
    FindingRow,
    Guards,
    Latency,
    Modes,
    Numerics,
    Shapes,
    Speed,
    State,
)
from tclint.diagnose.order import Order
from tclint.diagnose.plan import DIAGNOSTICS, Diagnostic, Task, schedule
from tclint.diagnose.repeats import agree, pooled
from tclint.diagnose.target import Target
from tclint.model import codec
from tclint.model.finding import Finding
from tclint.model.settings import Settings
from tclint.verify.heard import Heard, with_paths
from tclint.verify.process import Answer, Limits, ask_child, stop_servers
from tclint.verify.spans import outline
from tclint.verify.targets import absolute, relative

NEEDS_CUDA = "needs cuda"
QUICKER = 0.34
"""What --quick leaves of every budget."""
GRACE = 20.0
"""Seconds beyond a budget that a child may need to finish what it has begun."""

RESERVE = 0.75
"""What must be left of a run for a repeat, in times of what the first one took: what it compiled is in the cache."""

_KINDS: Mapping[str, type] = {
    "speed": Speed,
    "shapes": Shapes,
    "latency": Latency,
    "modes": Modes,
    "guards": Guards,
    "ablate": Ablate,
    "numerics": Numerics,
}
Progress = Callable[[str, int, int], None]
"""Told before each child: what it measures, how many are done, how many there are."""


@dataclass(frozen=True, slots=True)
class Options:
    names: tuple[str, ...]
    device: str = "cpu"
    quick: bool = False
    ablate: tuple[str, ...] = ()
    timeout: float = 150.0
    """Seconds for one child."""
    total: float = 285.0
    """Seconds for the whole run; 0: as long as it takes."""
    batch: int = 0
    python: str = ""
    memory_mb: int = 0
    threads: int = 1
    root: str = ""
    cwd: str = ""
    factories: Mapping[str, str] = field(default_factory=dict)
    cost: bool = False


@dataclass
class _Shared:
    """What is common to all answers."""

    about: dict[str, Any] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)


@dataclass
class _Gathered:
    """What the parts of one diagnostic have come to, by the name of the part."""

    results: dict[str, Any] = field(default_factory=dict)
    repeats: dict[str, list[Any]] = field(default_factory=dict)
    """What later processes measured of the same."""
    troubles: dict[str, str] = field(default_factory=dict)
    lasted: dict[str, float] = field(default_factory=dict)
    """Seconds of the first time."""
    seconds: float = 0.0
    """Of all times."""

    def merged(self, parts: tuple[str, ...]) -> Any:
        """One result, in the order of the parts, whenever they ran."""
        first, *others = (self._settled(part) for part in parts if part in self.results)
        for other in others:
            changes: dict[str, Any] = {}
            for each in fields(first):
                mine, theirs = getattr(first, each.name), getattr(other, each.name)
                together = (*mine, *theirs) if isinstance(mine, tuple) else mine if mine is not None else theirs
                changes[each.name] = together
            first = replace(first, **changes)
        return first

    def _settled(self, part: str) -> Any:
        again = self.repeats.get(part)
        return pooled([self.results[part], *again]) if again else self.results[part]

    def state(self, name: str, parts: tuple[str, ...]) -> State:
        troubles = [(part, self.troubles[part]) for part in parts if part in self.troubles]
        said = "; ".join(f"{part}: {words}" if part else words for part, words in troubles)
        if self.results:
            return State(name, "done", said, self.seconds)
        if troubles and all(words == NEEDS_CUDA for _, words in troubles):
            return State(name, NEEDS_CUDA, "", self.seconds)
        if troubles and all(words.startswith("not applicable: ") for _, words in troubles):
            return State(name, "not applicable", troubles[0][1].removeprefix("not applicable: "), self.seconds)
        if troubles and all(words == NEEDS_CUDA or words.startswith("not begun: ") for _, words in troubles):
            why = next(words for _, words in troubles if words != NEEDS_CUDA)
            return State(name, "not begun", why.removeprefix("not begun: "), self.seconds)
        return State(name, "failed", said, self.seconds)


def diagnose(target: Target, options: Options, settings: Settings, progress: Progress) -> Diagnosis:
    session = Session(target, options, settings, progress)
    try:
        return session.run()
    finally:
        stop_servers()


class Session:
    def __init__(self, target: Target, options: Options, settings: Settings, progress: Progress) -> None:
        self.target, self.options, self.settings, self.progress = target, options, settings, progress
        self.began = time.monotonic()
        self.shared = _Shared()
        self.heard = Heard()
        self.findings: tuple[Finding, ...] = ()
        self.linted: linting.Linted | None = None

    @property
    def seconds_left(self) -> float:
        return self.options.total - (time.monotonic() - self.began) if self.options.total else float("inf")

    def run(self) -> Diagnosis:
        chosen = [each for each in DIAGNOSTICS if each.name in self.options.names]
        tasks = schedule(chosen, self._parts, self.options.quick)
        total = len(tasks)
        gathered = {each.name: _Gathered() for each in DIAGNOSTICS}
        for done, task in enumerate(tasks):
            if task.again:
                self._again(task, gathered[task.diagnostic.name], done, total)
            else:
                self._part(task, gathered[task.diagnostic.name], done, total)
        results: dict[str, Any] = {}
        states: list[State] = []
        for diagnostic in DIAGNOSTICS:
            name = diagnostic.name
            if diagnostic not in chosen:
                states.append(State(name, "left out"))
            elif not self._parts(diagnostic):
                states.append(State(name, "left out", "give --ablate 'NAME;NAME=VALUE' to try Inductor's options"))
            else:
                states.append(gathered[name].state(name, self._parts(diagnostic)))
                if gathered[name].results:
                    results[name] = gathered[name].merged(self._parts(diagnostic))
        rows = self._lint(results)
        diagnosis = Diagnosis(
            SCHEMA,
            self.target.text,
            self.options.device,
            tclint=__version__,
            quick=self.options.quick,
            states=tuple(states),
            findings=rows,
            **{key: self.shared.about[key] for key in ("gpu", "torch", "python", "inputs") if key in self.shared.about},
            parameters=int(self.shared.about.get("parameters", 0)),
            **results,
        )
        if self.options.cost:
            from tclint.diagnose.cost import measure

            diagnosis = replace(diagnosis, cost=measure(self, diagnosis))
        self.progress("done", total, total)
        return replace(diagnosis, seconds=time.monotonic() - self.began)

    def _parts(self, diagnostic: Diagnostic) -> tuple[str, ...]:
        return self.options.ablate if diagnostic.name == "ablate" else diagnostic.parts

    def _part(self, task: Task, gathered: _Gathered, done: int, total: int) -> None:
        """One part of a diagnostic, in a child of its own."""
        diagnostic, part = task.diagnostic, task.part
        if part in diagnostic.cuda_parts and not self.options.device.startswith("cuda"):
            gathered.troubles[part] = NEEDS_CUDA
            return
        if self.seconds_left < 5:
            gathered.troubles[part] = (
                f"not begun: the run's {self.options.total:g} s are used up (--total 0 lifts the limit)"
            )
            return
        began = time.monotonic()
        self.progress(f"{diagnostic.name} {part}".strip(), done, total)
        status, words, result = self.ask(self.order(diagnostic.name, diagnostic.budget, part))
        gathered.lasted[part] = time.monotonic() - began
        gathered.seconds += gathered.lasted[part]
        if result is not None:
            gathered.results[part] = result
        if words:
            gathered.troubles[part] = words if status != "not applicable" else f"{status}: {words}"

    def _again(self, task: Task, gathered: _Gathered, done: int, total: int) -> None:
        """What went well once is measured in another process, until two of them agree or the run's time is too short."""
        times = (
            [gathered.results[task.part], *gathered.repeats.get(task.part, ())] if task.part in gathered.results else []
        )
        if not times or agree(times) or self.seconds_left < RESERVE * gathered.lasted[task.part]:
            return
        began = time.monotonic()
        self.progress(f"{task.diagnostic.name} {task.part}".strip() + " again", done, total)
        order = self.order(task.diagnostic.name, task.diagnostic.budget, task.part)
        _, words, result = self.ask(replace(order, again=True))
        gathered.seconds += time.monotonic() - began
        if result is not None:
            gathered.repeats.setdefault(task.part, []).append(result)
        elif words:
            gathered.troubles.setdefault(task.part, f"measured again: {words}")

    def order(self, name: str, budget: float, part: str = "") -> Order:
        # Whoever lifts the limit of the run wants all of it: then only the child's own time limit is left.
        own = budget * (QUICKER if self.options.quick else 1) if self.options.total else self.options.timeout
        return Order(
            diagnostic=name,
            root=self.options.root,
            name=self.target.name,
            path=self.target.path,
            module=self.target.module,
            part=part,
            device=self.options.device,
            threads=self.options.threads,
            batch=self.options.batch,
            quick=self.options.quick,
            budget=min(own, max(5.0, self.seconds_left - GRACE)),
            factories=self.options.factories,
        )

    def ask(self, order: Order, free: bool = False) -> tuple[str, str, Any]:
        """Status, words and result of one child; `free`: outside the limit of the run."""
        limit = (
            self.options.timeout if free else min(self.options.timeout, float(max(5, int(min(self.seconds_left, 1e6)))))
        )
        limits = Limits(self.options.python, self.options.device, limit, self.options.memory_mb)
        answer = ask_child(codec.encode(order), limits)
        if answer.data is None:
            return "failed", answer.trouble, None
        status, words, result = self._read(order, answer)
        return status, answer.trouble or words, result

    def _read(self, order: Order, answer: Answer) -> tuple[str, str, Any]:
        assert answer.data is not None
        data = dict(answer.data)
        for key in ("gpu", "torch", "python", "inputs", "parameters"):
            if data.get(key):
                self.shared.about.setdefault(key, data[key])
        if order.diagnostic != "cost":
            # A cost is measured on a copy, whose files are gone by now.
            self.shared.files.update(data.get("sources", ()))
            if data.get("file"):
                self.shared.files.add(str(data["file"]))
        if data.get("result") is None:
            return str(data.get("status", "failed")), str(data.get("words", "")), None
        try:
            if order.diagnostic == "breaks":
                self.heard = with_paths(codec.decode(Heard, data["result"]), lambda p: relative(p, self.options.cwd))
                own = {relative(path, self.options.cwd) for path in self.shared.files}
                return "done", "", breaks_of(self.heard, own.__contains__, self._name_at)
            if order.diagnostic == "cost":
                return "done", "", data["result"]
            return "done", str(data.get("words", "")), codec.decode(_KINDS[order.diagnostic], data["result"])
        except (codec.Malformed, KeyError, TypeError) as error:
            return "failed", f"the answer cannot be read ({error})", None

    def _name_at(self, path: str, line: int) -> tuple[str, int] | None:
        found = outline(absolute(path, self.options.cwd)).function_at(line)
        return (found.name, found.line) if found is not None else None

    def _lint(self, results: dict[str, Any]) -> tuple[FindingRow, ...]:
        breaks = results.get("breaks")
        if breaks is None:
            return ()
        self.progress("linting", 0, 0)
        cwd = self.options.cwd
        named = {os.path.join(cwd, path) for path in breaks.covered}
        named |= {os.path.join(cwd, row.path) for row in (*breaks.breaks, *breaks.recompiles)}
        own = {path for path in self.shared.files if relative(path, cwd) in breaks.covered}
        self.linted = linting.lint(named | own, self.settings, cwd)
        self.findings = self.linted.findings
        results["breaks"] = linting.explained(breaks, self.findings, cwd)
        return linting.rows_of(self.findings, self.heard, cwd)
