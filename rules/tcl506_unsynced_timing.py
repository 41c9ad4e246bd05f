"""TCL506: timings of compiled code that measure something else."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from tclint.events import CompiledCall, Event
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._scope import LOOPS
from tclint.rules._timings import Times
from tclint.ruleset.rule import Rule
from tclint.sources.tree import FUNCTIONS, own, text
from tclint.torch_facts import facts
from tclint.torch_facts.devices import OTHERS
from tclint.values import FunctionValue, Instance

_CLOCKS = facts.named("reads a clock")
_READS = frozenset(name[9:] for name in facts.named("waits for the device") if name.startswith("builtins."))
_WAITS = facts.methods("waits for the device") - _READS - {"nonzero"}
_OTHER_DEVICES = OTHERS | {"cpu"}
_SYNCHRONIZE = "torch.cuda.synchronize() before reading the clock"
_ABOUT_COMPILING = re.compile(r"compil|first|warm|cold|startup|init", re.I)


class UnsyncedTiming(Rule):
    """A clock around a compiled call that does not wait for the device, or that starts before the first call.

    A CUDA kernel is launched, not run, when the call returns: without `torch.cuda.synchronize()` before the second
    reading of the clock the time is that of the launch. And the first call of a compiled function compiles: seconds
    or minutes that have nothing to do with the speed of a step.

    Bad::

        def measure(x):
            f = torch.compile(lambda t: t * 2)
            x = x.cuda()
            f(x)
            start = time.perf_counter()
            f(x)
            return time.perf_counter() - start

    Good::

        def measure(x):
            f = torch.compile(lambda t: t * 2)
            x = x.cuda()
            f(x)
            torch.cuda.synchronize()
            start = time.perf_counter()
            f(x)
            torch.cuda.synchronize()
            return time.perf_counter() - start

    Fix: warm up, synchronize, then time; or `torch.utils.benchmark.Timer`, which does both.

    `--fix --unsafe-fixes` lets the host wait before the clock is read.

    Ignore it where the time of the first call is what is wanted; a name that says so (`compile_time`, `first`,
    `warmup`) keeps the rule silent. So does a time that is printed for whoever waits, in code that does not say it measures
    anything, and a list of times of which the first are left out.
    """

    code, name = "TCL506", "unsynced-timing"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    scope = "eager"

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        call = event.node
        if not isinstance(call, ast.Call):
            return
        clocks = event.ask.of_scope(_Clocks)
        timing = clocks.around(call)
        if timing is None:
            return
        times = event.ask.of_scope(Times)
        if times.are_only_told(event, timing.difference, timing.statement):
            return
        if _includes_compilation(event, clocks, call, timing) and not _ABOUT_COMPILING.search(timing.measured):
            if times.pass_over_the_first(timing.statement):
                return
            what = "the first call, which compiles"
            help = "call it once before the clock starts"
        elif (
            _on_cuda(event, clocks, call)
            and not (clocks.waits(call, timing) or clocks.runs_on(call, timing))
            and not _waits_itself(event)
            and not times.wait_in_helper(event, call.lineno, timing.end.lineno, _is_wait)
        ):
            what = "only the launch: nothing waits for the device before the clock is read"
            help = _SYNCHRONIZE
        else:
            return
        yield self.finding(
            event,
            f"the time around `{text(call.func)}` (line {call.lineno}) is that of {what}",
            node=timing.end,
            confidence=Confidence.HIGH,
            help=help,
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """The host waits before the clock is read."""
        read = node_at(event, finding.span, ast.expr) if finding.help == _SYNCHRONIZE else None
        place = Place(event, read) if read is not None else None
        statement = place.statement if place is not None else None
        torch = place.importing("torch") if place is not None else None
        if place is None or statement is None or torch is None or not place.owns_its_lines(statement):
            return None
        if isinstance(statement, (*LOOPS, ast.If, ast.With)):
            return None  # the clock is read in its first line
        line = place.insert_line(statement.lineno, f"{place.indent(statement)}{torch[0]}.cuda.synchronize()")
        note = "the host waits here in every run: take it out again when nothing is measured"
        return Fix("wait for the device", Applicability.UNSAFE, (*torch[1], line), note)


class _Timing(NamedTuple):
    """Two readings of the clock, and the statement that takes their difference."""

    start: ast.Assign
    looped: bool
    """Whether the first reading is taken in a loop."""
    end: ast.expr
    measured: str
    difference: ast.BinOp
    statement: ast.stmt | None


class _Difference(NamedTuple):
    node: ast.BinOp
    statement: ast.stmt | None


class _Clocks:
    """The readings of clocks in a function or at the top level of a file, found once for all the calls in it."""

    def __init__(self, root: ast.AST) -> None:
        self._root = root
        self._starts: list[tuple[ast.Assign, bool]] = []
        """What is bound to a reading of the clock, in source order, and whether in a loop."""
        self._stamps: dict[str, list[ast.Assign]] = {}
        self._differences: dict[str, list[_Difference]] = {}
        """By what is subtracted."""
        self._walk(root, root if isinstance(root, ast.stmt) else None, False)
        self._furthest = {
            name: list(accumulate((d.node.lineno for d in found), max)) for name, found in self._differences.items()
        }

    def _walk(self, node: ast.AST, statement: ast.stmt | None, looped: bool) -> None:
        for child in ast.iter_child_nodes(node):
            around = child if isinstance(child, ast.stmt) else statement
            if isinstance(child, ast.Assign) and _is_clock(child.value) and isinstance(child.targets[0], ast.Name):
                self._starts.append((child, looped))
                self._stamps.setdefault(child.targets[0].id, []).append(child)
            elif isinstance(child, ast.BinOp) and isinstance(child.op, ast.Sub):
                self._differences.setdefault(text(child.right), []).append(_Difference(child, around))
            if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
                self._walk(child, around, looped or isinstance(child, LOOPS))

    def around(self, call: ast.Call) -> _Timing | None:
        """The clock that was started last before a call, and read again after it."""
        place = bisect_left(self._starts, call.lineno, key=lambda start: start[0].lineno)
        if not place:
            return None
        start, looped = self._starts[place - 1]
        name = text(start.targets[0])
        differences = self._differences.get(name, [])
        # Nothing before this one stands after the call.
        first = bisect_right(self._furthest.get(name, []), call.lineno)
        for node, statement in differences[first:]:
            end = self._end(node.left, call.lineno) if node.lineno > call.lineno else None
            if end is not None and not self._started_between(name, call.lineno, node.lineno):
                measured = f"{getattr(self._root, 'name', '')} {text(statement)}"
                return _Timing(start, looped, end, measured, node, statement)
        return None

    def _started_between(self, name: str, first: int, last: int) -> bool:
        """Whether a clock is started anew between two lines: what is read after that is another interval."""
        stamps = self._stamps.get(name, [])
        place = bisect_right(stamps, first, key=lambda stamp: stamp.lineno)
        return place < len(stamps) and stamps[place].lineno <= last

    def _end(self, node: ast.expr, line: int) -> ast.expr | None:
        if _is_clock(node):
            return node
        stamps = self._stamps.get(text(node), [])
        place = bisect_left(stamps, line, key=lambda stamp: stamp.lineno)
        return stamps[place].value if place < len(stamps) else None

    @cached_property
    def _waiting(self) -> list[int]:
        """The lines of calls that wait for the device."""
        return sorted(node.lineno for node in own(self._root) if isinstance(node, ast.Call) and _is_wait(node))

    def waits(self, call: ast.Call, timing: _Timing) -> bool:
        place = bisect_left(self._waiting, call.lineno)
        return place < len(self._waiting) and self._waiting[place] <= timing.end.lineno

    @cached_property
    def _restarted(self) -> set[str]:
        """The names that are bound to another name, as in `t0 = t1`."""
        assigned = (node for node in own(self._root) if isinstance(node, ast.Assign))
        return {text(node.targets[0]) for node in assigned if isinstance(node.value, ast.Name)}

    @cached_property
    def _backward(self) -> list[int]:
        mentions = (node for node in own(self._root) if isinstance(node, ast.Attribute))
        return sorted(node.lineno for node in mentions if node.attr == "backward")

    def runs_on(self, call: ast.Call, timing: _Timing) -> bool:
        """Whether the clock runs through a training loop (`t0 = t1`, a backward pass in between, or read in turns that did not
        start it).

        The device's queue is bounded, so that over many steps such times are right on average.
        """
        place = bisect_left(self._backward, timing.start.lineno)
        passes = place < len(self._backward) and self._backward[place] <= timing.end.lineno
        return passes or text(timing.start.targets[0]) in self._restarted or self._spans_turns(call, timing)

    def _spans_turns(self, call: ast.Call, timing: _Timing) -> bool:
        """Whether a loop calls and reads the clock, which was started before it, or in a turn of its own (`if step == 10:`)."""
        start, end = timing.start.lineno, timing.end.lineno
        turns = [loop for loop in self._loops if call.lineno in loop and end in loop]
        choices = [branch for branch in self._choices if start in branch and end not in branch]
        return any(start not in loop or any(branch[0] in loop for branch in choices) for loop in turns)

    @cached_property
    def _loops(self) -> list[range]:
        return _lines_of(self._root, LOOPS)

    @cached_property
    def _choices(self) -> list[range]:
        return _lines_of(self._root, (ast.If,))

    @cached_property
    def without_cuda(self) -> list[range]:
        """The lines of branches that are for another device: `if device == "cpu":`."""
        chosen = (n for n in own(self._root) if isinstance(n, ast.If) and _names_another_device(n.test))
        return [range(n.body[0].lineno, (n.body[-1].end_lineno or 0) + 1) for n in chosen]

    @cached_property
    def uses_cuda(self) -> bool:
        return any(_is_cuda(node) for node in own(self._root))

    @cached_property
    def _calls(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """The lines where something is called, and those where it is handed to a call, by how it is written."""
        called: dict[str, list[int]] = {}
        given: dict[str, list[int]] = {}
        for node in own(self._root):
            if isinstance(node, ast.Call):
                called.setdefault(text(node.func), []).append(node.lineno)
                for argument in (*node.args, *(k.value for k in node.keywords)):
                    given.setdefault(text(argument), []).append(node.lineno)
        for lines in (*called.values(), *given.values()):
            lines.sort()
        return called, given

    def used_between(self, name: str, first: int, last: int) -> bool:
        """Whether something, or what it is an attribute of, is called or handed on between two lines."""
        called, given = self._calls
        parts = name.split(".")
        owners = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
        return any(
            (place := bisect_right(lines, first)) < len(lines) and lines[place] < last
            for lines in (called.get(name, []), *(given.get(owner, []) for owner in owners))
        )

    @cached_property
    def functions(self) -> list[tuple[int, int]]:
        """The lines of the functions inside, those within others left out."""
        spans = sorted((f.lineno, f.end_lineno or 0) for f in ast.walk(self._root) if isinstance(f, FUNCTIONS))
        found: list[tuple[int, int]] = []
        for first, last in spans:
            if not found or last > found[-1][1]:
                found.append((first, last))
        return found

    def in_function(self, line: int) -> bool:
        """Whether a line belongs to a function inside."""
        place = bisect_right(self.functions, (line, sys.maxsize))
        return place > 0 and self.functions[place - 1][1] >= line


def _lines_of(root: ast.AST, kinds: tuple[type[ast.stmt] | type[ast.expr], ...]) -> list[range]:
    """The lines of the statements of these kinds."""
    return [range(n.lineno, (n.end_lineno or 0) + 1) for n in own(root) if isinstance(n, kinds)]


def _is_clock(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and text(node.func) in _CLOCKS


def _is_wait(node: ast.Call) -> bool:
    name = text(node.func).rpartition(".")[2]
    return name in _WAITS or (isinstance(node.func, ast.Name) and (name in _READS or "sync" in name))


def _is_cuda(node: ast.AST) -> bool:
    """`"cuda:0"`, `x.cuda()`."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.startswith("cuda")
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"


def _names_another_device(test: ast.expr) -> bool:
    """`device == "cpu"`, `x.device.type == "mps"`: the other side is a device by its name."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, test.comparators[0])
    named = any(isinstance(side, ast.Constant) and side.value in _OTHER_DEVICES for side in sides)
    return named and not any(_is_cuda(side) for side in sides)


def _waits_itself(event: CompiledCall) -> bool:
    """Whether the last thing that what is timed does is to wait for the device; `work.wait()` only lets a stream wait."""
    target = event.callee.target
    called = event.ask.method(target.cls, "forward") if isinstance(target, Instance) else None
    function = target.function if isinstance(target, FunctionValue) else called
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    body = [
        s for s in function.node.body if not (isinstance(s, ast.Return) and isinstance(s.value, (ast.Name, ast.Tuple)))
    ]
    last = body[-1] if body else None
    return isinstance(last, (ast.Expr, ast.Return)) and any(
        isinstance(n, ast.Call) and _is_wait(n) and not text(n.func).endswith(".wait") for n in own(last)
    )


def _on_cuda(event: CompiledCall, clocks: _Clocks, call: ast.Call) -> bool:
    """Whether this function, or the top level of the file, moves something to a CUDA device, and not on this way."""
    if any(call.lineno in branch for branch in clocks.without_cuda):
        return False
    return b"cuda" in event.module.data and (clocks.uses_cuda or event.module.node_index(_Clocks).uses_cuda)


def _includes_compilation(event: CompiledCall, clocks: _Clocks, call: ast.Call, timing: _Timing) -> bool:
    """Whether the first call of all is inside: compiled in this function, called nowhere before the clock starts."""
    site, start, function = event.callee.site, timing.start, event.enclosing
    if site.path != event.module.path or site.decorator or site.line > start.lineno or timing.looped:
        return False
    if function is not None and site.line < function.node.lineno:
        return False
    if function is None and clocks.in_function(site.line):
        return False
    return not clocks.used_between(text(call.func), site.line, start.lineno)
