"""TCL506: timings of compiled code that measure something else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tclint.events import CompiledCall
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import LOOPS, scope
from tclint.ruleset.rule import Rule
from tclint.sources.tree import FUNCTIONS, ancestors, own, text

_CLOCKS = ("time.time", "time.perf_counter", "time.monotonic", "perf_counter", "time.perf_counter_ns", "time.time_ns")
_WAITS = ("synchronize", "item", "cpu", "tolist", "numpy", "elapsed_time", "wait", "block_until_ready")
_READS = ("float", "int", "bool", "print")
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

    Ignore it where the time of the first call is what is wanted; a name that says so (`compile_time`, `first`,
    `warmup`) keeps the rule silent.
    """

    code, name = "TCL506", "unsynced-timing"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    scope = "eager"

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        call = event.node
        if not isinstance(call, ast.Call):
            return
        root = scope(event)
        pair = _clocks(root, call)
        if pair is None:
            return
        start, end, measured = pair
        if _includes_compilation(event, root, call, start) and not _ABOUT_COMPILING.search(measured):
            what = "the first call, which compiles"
            help = "call it once before the clock starts"
        elif _on_cuda(event, root) and not _waits(root, call, end) and not _runs_on(root, start, end):
            what = "only the launch: nothing waits for the device before the clock is read"
            help = "torch.cuda.synchronize() before reading the clock"
        else:
            return
        yield self.finding(
            event,
            f"the time around `{text(call.func)}` (line {call.lineno}) is that of {what}",
            node=end,
            confidence=Confidence.HIGH,
            help=help,
        )


def _is_clock(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and text(node.func) in _CLOCKS


def _clocks(root: ast.AST, call: ast.Call) -> tuple[ast.Assign, ast.AST, str] | None:
    """The readings of the clock before and after a call, and the statement that takes their difference."""
    start: ast.Assign | None = None
    stamps: dict[str, ast.Assign] = {}
    for node in own(root):
        if isinstance(node, ast.Assign) and _is_clock(node.value) and isinstance(node.targets[0], ast.Name):
            if node.lineno < call.lineno:
                start = node
            else:
                stamps.setdefault(node.targets[0].id, node)
    if start is None:
        return None
    for node in own(root):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub) or node.lineno <= call.lineno:
            continue
        if text(node.right) != text(start.targets[0]):
            continue
        stamp = stamps.get(text(node.left))
        end = node.left if _is_clock(node.left) else stamp.value if stamp is not None else None
        if end is None:
            continue
        chain = ancestors(root, node)
        statement = next((n for n in reversed(chain) if isinstance(n, ast.stmt)), None)
        name = getattr(root, "name", "")
        return start, end, f"{name} {text(statement)}"
    return None


def _waits(root: ast.AST, call: ast.Call, end: ast.AST) -> bool:
    for node in own(root):
        if not isinstance(node, ast.Call) or not call.lineno <= node.lineno <= getattr(end, "lineno", 0):
            continue
        name = text(node.func).rpartition(".")[2]
        if name in _WAITS or (isinstance(node.func, ast.Name) and (name in _READS or "sync" in name)):
            return True
    return False


def _runs_on(root: ast.AST, start: ast.Assign, end: ast.AST) -> bool:
    """Whether the clock runs through a training loop (`t0 = t1`, or a backward pass in between).

    The device's queue is bounded, so that over many steps such times are right on average.
    """
    first, last = start.lineno, getattr(end, "lineno", 0)
    for node in own(root):
        if isinstance(node, ast.Assign) and node is not start and text(node.targets[0]) == text(start.targets[0]):
            if isinstance(node.value, ast.Name):
                return True
        elif isinstance(node, ast.Attribute) and node.attr == "backward" and first <= node.lineno <= last:
            return True
    return False


def _on_cuda(event: CompiledCall, root: ast.AST) -> bool:
    """Whether this function, or the top level of the file, moves something to a CUDA device."""
    if b"cuda" not in event.module.data:
        return False
    for node in (*own(root), *own(event.module.tree)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda"):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
            return True
    return False


def _includes_compilation(event: CompiledCall, root: ast.AST, call: ast.Call, start: ast.Assign) -> bool:
    """Whether the first call of all is inside: compiled in this function, called nowhere before the clock starts."""
    site = event.callee.site
    if site.path != event.module.path or site.decorator or site.line > start.lineno:
        return False
    if event.enclosing is not None and site.line < getattr(root, "lineno", 0):
        return False
    if event.enclosing is None and any(_holds(f, site.line) for f in ast.walk(root) if isinstance(f, FUNCTIONS)):
        return False
    if any(isinstance(n, LOOPS) for n in ancestors(root, start)):
        return False
    name = text(call.func)
    for node in own(root):
        if not isinstance(node, ast.Call) or not site.line < node.lineno < start.lineno:
            continue
        given = [text(a) for a in (*node.args, *(k.value for k in node.keywords))]
        if text(node.func) == name or any(g == name or name.startswith(g + ".") for g in given):
            return False
    return True


def _holds(function: ast.AST, line: int) -> bool:
    return bool(getattr(function, "lineno", 0) <= line <= (getattr(function, "end_lineno", 0) or 0))
