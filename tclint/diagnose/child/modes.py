"""The modes of torch.compile, what became of CUDA graphs in them, and re-entry: called twice before reading."""

from __future__ import annotations

from typing import Any

import torch
import torch._dynamo
import torch.utils._pytree as pytree
from torch._dynamo.utils import counters

from tclint.diagnose.child.caches import cold, warm_up
from tclint.diagnose.child.clock import effort, forward, peak_mb, seconds, sync, timings, work_of
from tclint.diagnose.child.target import NotApplicable, Subject
from tclint.diagnose.measurement import ModeRow, Modes, Reentry
from tclint.diagnose.plan import REENTRY
from tclint.diagnose.shortening import first_line, shortened
from tclint.runtime.cudagraph import cloned, run_cloned
from tclint.verify.child.cudagraph import OVERWRITTEN, graph_counters, noisy, watching
from tclint.verify.child.experiments import difference
from tclint.verify.child.inputs import Call

TOLERANCE = 1e-2
SHARED = "the first steps compiled while other parts of this run did; `latency` compiles alone"


def measure_modes(subject: Subject) -> Modes:
    if not subject.example.wrap:
        raise NotApplicable("the program compiles by itself, in a mode of its own")
    if subject.order.part == REENTRY:
        with subject.turn.compiling():
            return Modes(reentry=_reentry(subject))
    with subject.turn.compiling():
        warm_up(subject.device)
    with cold():
        return Modes((_row(subject, subject.order.part),), notes=(SHARED,) if subject.order.turn else ())


def _row(subject: Subject, mode: str) -> ModeRow:
    counters.clear()
    target, call = subject.made()
    eager = forward(subject.eager(target), call)
    plain = forward(torch.compile(target, mode=mode), call)

    def marked() -> Any:
        torch.compiler.cudagraph_mark_step_begin()
        return plain()

    compiled = marked if mode == "reduce-overhead" else plain
    notes: list[str] = []
    with subject.turn.compiling(), watching() as seen:
        first = seconds(compiled, subject.device)
        for _ in range(3):
            compiled()
        sync(subject.device)
        numbers = graph_counters()
        recordings = sum(seen.recorded.values())
        skips = tuple(dict.fromkeys(text.strip()[:500] for text in seen.skips if "skipping" in text.lower()))
    if not skips and (count := numbers.get("cudagraph_skips", 0)):
        skips = (f"CUDA graphs skipped {count} times",)
    memory = gpu_ms = None
    with subject.turn.measuring():
        took = timings({"eager": eager, "compiled": compiled}, subject.device, effort(subject.order.quick))
        try:
            memory = peak_mb(compiled, subject.device)
        except RuntimeError as error:
            notes.append(f"peak memory cannot be told: {first_line(str(error))}")
        if subject.device.startswith("cuda"):
            try:
                gpu_ms = work_of(compiled, subject.device).gpu_ms
            except RuntimeError as error:
                notes.append(f"the GPU's part cannot be told: {first_line(str(error))}")
    return ModeRow(
        mode,
        first,
        took["eager"],
        took["compiled"],
        memory,
        skips,
        int(numbers.get("cudagraph_partitions", 0)),
        recordings,
        tuple(notes),
        gpu_ms,
    )


def _reentry(subject: Subject) -> Reentry:
    """Two calls, then the first output is read: as it is, and through `run_cloned`."""
    target, call = subject.made()
    other = _other(call)
    with torch.no_grad():
        expected = cloned(subject.eager(target)(*call.args, **call.kwargs))
        function = torch.compile(target, mode="reduce-overhead")
        for _ in range(4):
            run_cloned(function, *call.args, **call.kwargs)
        kept, words = _kept(function, call, other, expected)
        try:
            first = run_cloned(function, *call.args, **call.kwargs)
            run_cloned(function, *other.args, **other.kwargs)
            sync(subject.device)
            differs = difference(expected, first, "the first output", TOLERANCE)
            safe = "wrong" if differs else "fine"
        except RuntimeError as error:
            safe, differs = "error", shortened(str(error))
    if differs:
        words = f"{words}; with run_cloned: {differs}".lstrip("; ")
    return Reentry(kept, safe, words)


def _other(call: Call) -> Call:
    """The same shapes with other values: equal ones would hide an output that was overwritten."""
    leaves = pytree.tree_leaves((call.args, dict(call.kwargs)))
    if any(isinstance(leaf, torch.Tensor) and leaf.is_floating_point() for leaf in leaves):
        return noisy(call, 1)

    def turned(leaf: Any) -> Any:
        # Only token ids and the like: turned round they are still valid ones.
        return leaf.flip(-1) if isinstance(leaf, torch.Tensor) and leaf.dim() else leaf

    return Call(pytree.tree_map(turned, call.args), pytree.tree_map(turned, dict(call.kwargs)))


def _kept(function: Any, call: Any, other: Any, expected: Any) -> tuple[str, str]:
    try:
        torch.compiler.cudagraph_mark_step_begin()
        first = function(*call.args, **call.kwargs)
        torch.compiler.cudagraph_mark_step_begin()
        function(*other.args, **other.kwargs)
        torch.cuda.synchronize()
        found = difference(expected, cloned(first), "the first output", TOLERANCE)
    except RuntimeError as error:
        if OVERWRITTEN not in str(error):
            raise
        return "error", shortened(str(error))
    return ("wrong", f"silently wrong: {found}") if found else ("fine", "")
