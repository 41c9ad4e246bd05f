"""A diagnosis from beginning to end: orders to children, answers to one result. A child that dies is a row, not an end."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from tclint import __version__
from tclint.diagnose import linting
from tclint.diagnose.breaks import breaks_of
from tclint.diagnose.gathered import NEEDS_CUDA, Gathered
from tclint.diagnose.measurement import (
    SCHEMA,
    Ablate,
    Cost,
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
from tclint.diagnose.plan import DIAGNOSTICS, FORWARD, TOTAL, Diagnostic, Task, schedule
from tclint.diagnose.repeats import agree
from tclint.diagnose.target import Target
from tclint.model import codec
from tclint.model.finding import Finding
from tclint.model.settings import Settings
from tclint.verify.heard import Heard, with_paths
from tclint.verify.process import Limits, ask_child, stop_servers
from tclint.verify.spans import outline
from tclint.verify.targets import absolute, relative

QUICKER = 0.34
"""What --quick leaves of every budget."""
GRACE = 20.0
"""Seconds beyond a budget that a child may need to finish what it has begun."""

FIRST = 0.6
"""The share of the run that one child may take before anybody knows how long a compilation lasts."""
ENOUGH = 4
"""Cores: one for each of two children and their compilers."""
PLENTY = 12
"""Cores: so many that four children can compile at the same time, and one of them measure."""
OUT_OF_MEMORY = "OutOfMemoryError"
LEAST = 15.0
"""Seconds that every child gets."""
COMPILERS = 8
"""Processes that compile kernels of a GPU, at most."""

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
Tells = Callable[[Diagnosis], None]
"""Given what is known, whenever there is more of it."""
GOES_ON = "the run goes on"


@dataclass(frozen=True, slots=True)
class Options:
    names: tuple[str, ...]
    asked: tuple[str, ...] = ()
    """Those that were asked for by name: --quick leaves none of them out."""
    device: str = "cpu"
    quick: bool = False
    ablate: tuple[str, ...] = ()
    timeout: float = 150.0
    """Seconds for one child."""
    total: float = TOTAL
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
    built_s: float = 0.0
    """Seconds until the target stood ready in a child, at most."""
    first_s: float = 0.0
    """Seconds of the first step that compiles."""


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def diagnose(target: Target, options: Options, settings: Settings, progress: Progress, tell: Tells) -> Diagnosis:
    session = Session(target, options, settings, progress, tell)
    try:
        return session.run()
    finally:
        stop_servers()


class Session:
    def __init__(
        self, target: Target, options: Options, settings: Settings, progress: Progress, tell: Tells = lambda _: None
    ) -> None:
        self.target, self.options, self.settings = target, options, settings
        self.progress, self.tell = progress, tell
        self.began = time.monotonic()
        self.shared = _Shared()
        self.heard = Heard()
        self.findings: tuple[Finding, ...] = ()
        self.rows: tuple[FindingRow, ...] = ()
        self.linted: linting.Linted | None = None
        self.gathered = {each.name: Gathered() for each in DIAGNOSTICS}
        self.cost: Cost | None = None
        self.waiting = 0
        """Children that are still to be started, without repeats and what may take minutes."""
        self.beside: dict[Task, Future[tuple[str, str, Any]]] = {}
        """What is asked for while something else is measured."""
        self.together = options.device.startswith("cuda") and cores() >= PLENTY
        """Whether the children that measure in turns are all started at once."""
        self.turn = ""

    @property
    def seconds_left(self) -> float:
        return self.options.total - (time.monotonic() - self.began) if self.options.total else float("inf")

    def run(self) -> Diagnosis:
        """All that was asked for; on Ctrl-C what there is of it by then."""
        if not self.together:
            return self._run()
        with tempfile.TemporaryDirectory(prefix="tclint-diagnose-") as folder:
            self.turn = os.path.join(folder, "turn")
            return self._run()

    def _run(self) -> Diagnosis:
        """Task by task."""
        chosen = [each for each in DIAGNOSTICS if each.name in self.options.names]
        tasks = self._begun(schedule(chosen, self._parts, self.options.quick))
        try:
            for done, task in enumerate(tasks):
                rest = tasks[done + 1 :]
                self.waiting = self._still(rest)
                if task.again:
                    self._again(task, self.gathered[task.diagnostic.name], done, len(tasks))
                else:
                    self._part(task, self.gathered[task.diagnostic.name], done, len(tasks))
                if rest:
                    self.tell(self.diagnosis(GOES_ON))
                if done == 0 and self.together:
                    self._start(rest)
            diagnosis = self.diagnosis()
            if self.options.cost:
                from tclint.diagnose.cost import measure

                self.tell(self.diagnosis(GOES_ON))
                for cost in measure(self, diagnosis):
                    self.cost = cost
                    self.tell(self.diagnosis(GOES_ON))
                diagnosis = self.diagnosis()
        except KeyboardInterrupt:
            self._collect()
            return self.diagnosis(f"stopped after {time.monotonic() - self.began:.0f} s")
        self.progress("done", len(tasks), len(tasks))
        return diagnosis

    def _wait(self) -> None:
        """Until nothing else runs."""
        for future in self.beside.values():
            future.exception()

    def _collect(self) -> None:
        """What has been answered beside, and nobody has asked for yet."""
        for task, future in self.beside.items():
            if future.done() and future.result()[2] is not None:
                self.gathered[task.diagnostic.name].results[task.part] = future.result()[2]

    def diagnosis(self, unfinished: str = "") -> Diagnosis:
        """What is known by now."""
        results: dict[str, Any] = {}
        states: list[State] = []
        for diagnostic in DIAGNOSTICS:
            name, parts = diagnostic.name, self._parts(diagnostic)
            if name not in self.options.names:
                states.append(State(name, "left out"))
            elif not parts:
                why = "give --ablate 'NAME;NAME=VALUE' to try Inductor's options"
                states.append(
                    State(name, "left out", why if name == "ablate" else f"by --quick; --only {name} asks for it")
                )
            else:
                states.append(self.gathered[name].state(name, parts, unfinished))
                if self.gathered[name].results:
                    results[name] = self.gathered[name].merged(parts)
        return Diagnosis(
            SCHEMA,
            self.target.text,
            self.options.device,
            tclint=__version__,
            quick=self.options.quick,
            seconds=time.monotonic() - self.began,
            unfinished=unfinished,
            states=tuple(states),
            findings=self.rows,
            **{key: self.shared.about[key] for key in ("gpu", "torch", "python", "inputs") if key in self.shared.about},
            parameters=int(self.shared.about.get("parameters", 0)),
            cost=self.cost,
            **results,
        )

    def _begun(self, tasks: list[Task]) -> list[Task]:
        """The tasks in their order. Where there are cores enough, Dynamo is listened to while the first steps compile.

        Nothing is timed before these have compiled, and by then the listener is at its end: it compiles nothing. With
        cores for all, the others that measure in turns compile together: in a hurry they are built at that time, else when
        the first verdict is there, which six more imports and models would hold up.
        """
        if [task.diagnostic.name for task in tasks[:2]] != ["breaks", "speed"] or cores() < ENOUGH:
            return tasks
        listening, timed, *rest = tasks
        self._start([listening])
        if self.options.quick:
            self._start(rest)
        return [timed, listening, *rest]

    def _still(self, tasks: Sequence[Task]) -> int:
        """How many children are still to be started, of those that the run keeps time for."""
        return sum(
            not task.again and task.part not in task.diagnostic.last and task not in self.beside for task in tasks
        )

    def _start(self, tasks: Sequence[Task]) -> None:
        """Ask for those that may run beside others, at the same time."""
        others = [task for task in tasks if self._beside(task) and task not in self.beside]
        if not others:
            return
        # Each of them may take the time that all those leave who come after them.
        self.waiting = self._still([task for task in tasks if task not in others])
        pool = ThreadPoolExecutor(len(others), thread_name_prefix="tclint-diagnose")
        for task in others:
            order = self.order(task.diagnostic.name, task.diagnostic.budget, task.part)
            self.beside[task] = pool.submit(self.ask, order)
        pool.shutdown(wait=False)

    def _beside(self, task: Task) -> bool:
        """Whether a task may run while others do. Not what may take minutes, nor what the child of another answers."""
        apart = task.again or task.part in task.diagnostic.last or self._shared(task.diagnostic, FORWARD)
        listens = task.diagnostic.name == "breaks"
        return task.diagnostic.turns and not apart and (self.together or listens)

    def _parts(self, diagnostic: Diagnostic) -> tuple[str, ...]:
        if diagnostic.name == "ablate":
            return self.options.ablate
        if self.together and diagnostic.apart:
            return diagnostic.apart
        if self.options.quick and diagnostic.quick is not None and diagnostic.name not in self.options.asked:
            return diagnostic.quick
        return diagnostic.parts

    def _part(self, task: Task, gathered: Gathered, done: int, total: int) -> None:
        """One part of a diagnostic, in a child of its own."""
        diagnostic, part = task.diagnostic, task.part
        if part in diagnostic.cuda_parts and not self.options.device.startswith("cuda"):
            gathered.troubles[part] = NEEDS_CUDA
            return
        if self.seconds_left < 5 and task not in self.beside:
            gathered.troubles[part] = (
                f"not begun: the run's {self.options.total:g} s are used up (--total 0 lifts the limit)"
            )
            return
        if part in gathered.lasted:
            return  # answered by the child of another
        began = time.monotonic()
        self.progress(f"{diagnostic.name} {part}".strip(), done, total)

        def so_far(result: Any) -> None:
            gathered.results[part] = result
            self.tell(self.diagnosis(GOES_ON))

        gathered.running = part
        together = bool(self.beside)
        if task in self.beside:
            # Taken out when it has answered, and not before: whoever is stopped here collects what is in there.
            status, words, result = self.beside[task].result()
            del self.beside[task]
        else:
            status, words, result = self.ask(self.order(diagnostic.name, diagnostic.budget, part), so_far=so_far)
        if together and OUT_OF_MEMORY in words:
            # Two copies of a large model at the same time: alone it may well fit.
            self._wait()
            status, words, result = self.ask(self.order(diagnostic.name, diagnostic.budget, part), so_far=so_far)
        gathered.running = None
        gathered.lasted[part] = time.monotonic() - began
        gathered.seconds += gathered.lasted[part]
        if result is not None:
            gathered.results[part] = result
        if words:
            gathered.troubles[part] = words if status != "not applicable" else f"{status}: {words}"
        if diagnostic.name == "breaks" and result is not None:
            self._lint(gathered)

    def _again(self, task: Task, gathered: Gathered, done: int, total: int) -> None:
        """What went well once is measured in another process, until two of them agree or the run's time is too short."""
        times = (
            [gathered.results[task.part], *gathered.repeats.get(task.part, ())] if task.part in gathered.results else []
        )
        if not times or agree(times):
            return
        # What ran beside others was waited for no longer than the rest of its time.
        least = max(gathered.lasted[task.part], self.shared.built_s + self.shared.first_s)
        if self.seconds_left < RESERVE * least:
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
            turn=self.turn,
            ahead=bool(self.turn) and part == FORWARD,
            also=tuple(each.name for each in DIAGNOSTICS if each.shares == name and self._shared(each, part)),
            budget=min(own, max(5.0, self._limit() - GRACE)),
            factories=self.options.factories,
        )

    def _shared(self, diagnostic: Diagnostic, part: str) -> bool:
        """Whether a diagnostic makes do with what this part of another one compiles."""
        name = diagnostic.name
        wanted = (
            bool(diagnostic.shares)
            and self.options.quick
            and name in self.options.names
            and name not in self.options.asked
        )
        return wanted and part in ("", FORWARD)

    def _limit(self) -> float:
        """Seconds after which a child is ended: those that wait behind it get what the first one shows they need."""
        if not self.shared.first_s:
            left = self.seconds_left * FIRST
        else:
            left = self.seconds_left - self.waiting * (self.shared.built_s + self.shared.first_s)
        return min(self.options.timeout, max(LEAST, left, self.seconds_left / (self.waiting + 1)))

    def ask(
        self, order: Order, free: bool = False, so_far: Callable[[Any], None] | None = None
    ) -> tuple[str, str, Any]:
        """Status, words and result of one child; `free`: outside the limit of the run."""
        limit = self.options.timeout if free else self._limit()
        cuda = order.device.startswith("cuda")
        compilers = min(COMPILERS, cores()) if cuda else 1
        limits = Limits(self.options.python, order.device, limit, self.options.memory_mb, compilers=compilers)

        def heard(data: Mapping[str, Any]) -> None:
            status, _, result = self._read(order, data)
            if so_far is not None and status == "done":
                so_far(result)

        answer = ask_child(codec.encode(order), limits, heard)
        if answer.data is None:
            return "failed", answer.trouble, None
        status, words, result = self._read(order, answer.data)
        return status, answer.trouble or words, result

    def _read(self, order: Order, data: Mapping[str, Any]) -> tuple[str, str, Any]:
        self.shared.built_s = max(self.shared.built_s, float(data.get("built_s", 0.0)))
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
            for name, answer in data.get("also", {}).items():
                self._also(self.gathered[name], name, answer)
            if order.diagnostic == "breaks":
                self.heard = with_paths(codec.decode(Heard, data["result"]), lambda p: relative(p, self.options.cwd))
                own = {relative(path, self.options.cwd) for path in self.shared.files}
                return "done", "", breaks_of(self.heard, own.__contains__, self._name_at)
            if order.diagnostic == "cost":
                return "done", "", data["result"]
            result: Any = codec.decode(_KINDS[order.diagnostic], data["result"])
            if isinstance(result, Speed) and result.rows:
                self.shared.first_s = self.shared.first_s or result.rows[0].first_s
            return "done", str(data.get("words", "")), result
        except (codec.Malformed, KeyError, TypeError) as error:
            return "failed", f"the answer cannot be read ({error})", None

    def _also(self, gathered: Gathered, name: str, answer: Mapping[str, Any]) -> None:
        gathered.lasted[""] = 0.0
        if answer["status"] == "done":
            gathered.results[""] = codec.decode(_KINDS[name], answer["result"])
        else:
            words, status = str(answer["words"]), str(answer["status"])
            gathered.troubles[""] = f"{status}: {words}" if status == "not applicable" else words

    def _name_at(self, path: str, line: int) -> tuple[str, int] | None:
        found = outline(absolute(path, self.options.cwd)).function_at(line)
        return (found.name, found.line) if found is not None else None

    def _lint(self, gathered: Gathered) -> None:
        """The findings in what the target's calls ran, and which of them Dynamo complained of."""
        self.progress("linting", 0, 0)
        breaks, cwd = gathered.results[""], self.options.cwd
        named = {os.path.join(cwd, path) for path in breaks.covered}
        named |= {os.path.join(cwd, row.path) for row in (*breaks.breaks, *breaks.recompiles)}
        own = {path for path in self.shared.files if relative(path, cwd) in breaks.covered}
        self.linted = linting.lint(named | own, self.settings, cwd)
        self.findings = self.linted.findings
        gathered.results[""] = linting.explained(breaks, self.findings, cwd)
        self.rows = linting.rows_of(self.findings, self.heard, cwd)
