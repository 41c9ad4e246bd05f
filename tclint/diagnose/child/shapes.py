"""What a new batch, a new sequence length costs: compilations, the guard that failed, the time lost; with marks and without."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch._dynamo
import torch.utils._pytree as pytree
from torch._dynamo.utils import counters

from tclint.diagnose.child.caches import cold
from tclint.diagnose.child.clock import forward, seconds
from tclint.diagnose.child.target import NotApplicable, Subject
from tclint.diagnose.measurement import ShapeRow, Shapes, ShapeStep
from tclint.diagnose.shortening import shortened
from tclint.verify.child.inputs import Call
from tclint.verify.child.repeated import working_calls
from tclint.verify.child.sweep import Sweep, sweeps

_RECOMPILES = "torch._dynamo.guards.__recompiles"
AXES = ("batch", "length", "image side")


def measure_shapes(subject: Subject) -> Shapes:
    if not subject.example.wrap:
        raise NotApplicable("the program compiles by itself: its own calls are what `breaks` sweeps over")
    rows: list[ShapeRow] = []
    notes: list[str] = []
    found = 0
    for sweep in sweeps(subject.example.calls()[0]):
        axis = next((name for name in AXES if sweep.label.startswith(name)), "")
        if not axis:
            continue
        working = working_calls(subject.example, sweep, subject.setup)
        if len(working) < 2:
            notes.append(f"{axis}: the target takes one size only")
            continue
        found += 1
        for marked in (False, True):
            # Dynamo's part tells the counts and the guards; only Inductor's tells the whole time.
            backend = "aot_eager" if subject.order.quick or subject.seconds_left < 0 else "inductor"
            rows.append(_row(subject, sweep, working, axis, marked, backend))
            subject.save(Shapes(tuple(rows), tuple(notes)))
    if not found and not notes:
        notes.append("no tensor with a batch or a sequence to vary")
    return Shapes(tuple(rows), tuple(notes))


def _row(subject: Subject, sweep: Sweep, working: list[int], axis: str, marked: bool, backend: str) -> ShapeRow:
    torch._dynamo.reset()
    target, first = subject.made()
    calls = [sweep.calls(first)[number] for number in working]
    varying = _varying(calls)
    notes: list[str] = []
    steps: list[ShapeStep] = []
    with cold(), _reasons() as reasons:
        function = subject.compiled(target, backend=backend)
        for call in calls:
            if steps and subject.seconds_left < 0 and backend == "inductor":
                rest = ", ".join(_shape(each, varying) for each in calls[len(steps) :])
                notes.append(f"left out, as no time was left: {rest}")
                break
            if marked:
                _mark(call, varying)
            step = forward(function, call)
            before = counters["stats"]["unique_graphs"]
            reasons.clear()
            try:
                took = seconds(step, subject.device)
            except Exception as error:
                # A mark that the program contradicts is a result: torch says which line specialises.
                notes.append(f"{_shape(call, varying)}: {type(error).__name__}: {shortened(str(error))}")
                break
            made = int(counters["stats"]["unique_graphs"] - before)
            told = tuple(dict.fromkeys(reasons))[:4]
            steady = min(seconds(step, subject.device) for _ in range(3))
            lost = max(0.0, took - steady) if made else 0.0
            steps.append(ShapeStep(_shape(call, varying), made, lost * 1e3, steady * 1e3, told))
    return ShapeRow(axis, marked, backend, tuple(steps), tuple(notes))


def _leaves(call: Call) -> list[Any]:
    return list(pytree.tree_leaves((call.args, dict(call.kwargs))))


def _varying(calls: list[Call]) -> list[tuple[int, int]]:
    """Which dimension of which tensor differs between the calls."""
    first = _leaves(calls[0])
    found: list[tuple[int, int]] = []
    for number, leaf in enumerate(first):
        if isinstance(leaf, torch.Tensor):
            others = [_leaves(call)[number].shape for call in calls[1:]]
            found += [(number, axis) for axis in range(leaf.dim()) if any(s[axis] != leaf.shape[axis] for s in others)]
    return found


def _mark(call: Call, varying: list[tuple[int, int]]) -> None:
    leaves = _leaves(call)
    for number, axis in varying:
        # A size of 1 is always a program of its own: a mark on it would be refused.
        if leaves[number].shape[axis] > 1:
            torch._dynamo.mark_dynamic(leaves[number], axis)


def _shape(call: Call, varying: list[tuple[int, int]]) -> str:
    leaves = _leaves(call)
    sizes = dict.fromkeys(str(leaves[number].shape[axis]) for number, axis in varying)
    return "x".join(sizes)


class _Ear(logging.Handler):
    def __init__(self, told: list[str]) -> None:
        super().__init__(level=logging.DEBUG)
        self.told = told

    def emit(self, record: logging.LogRecord) -> None:
        for line in record.getMessage().splitlines()[1:]:
            text = line.strip().removeprefix("- ")
            if text and not text.startswith("triggered by"):
                self.told.append(text.partition("#")[0].strip()[:300])


@contextmanager
def _reasons() -> Iterator[list[str]]:
    """The guards that failed, from Dynamo's log; the trace would cost time that is being measured."""
    told: list[str] = []
    torch._logging.set_logs(recompiles=True)
    logger = logging.getLogger(_RECOMPILES)
    ear = _Ear(told)
    kept = (logger.handlers, logger.propagate)
    logger.handlers, logger.propagate = [ear], False
    try:
        yield told
    finally:
        logger.handlers, logger.propagate = kept
