"""The first step: the whole module compiled at once against its repeated blocks one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import torch
import torch._dynamo
from torch import nn
from torch._dynamo.utils import counters

from tclint.diagnose.child.caches import cold, warm_up
from tclint.diagnose.child.clock import NoGradient, effort, seconds, sync, timings
from tclint.diagnose.child.speed import step_of
from tclint.diagnose.child.target import NotApplicable, Subject
from tclint.diagnose.measurement import Latency, LatencyRow
from tclint.diagnose.shortening import first_line


def measure_latency(subject: Subject) -> Latency:
    if not subject.example.wrap:
        raise NotApplicable("the program compiles by itself, in regions of its own")
    notes: list[str] = []
    kind = "forward" if subject.order.quick else "forward+backward"
    target, call = subject.made("train")
    if kind != "forward":
        try:
            step_of(kind, target, call, target)()
        except (NoGradient, RuntimeError) as why:
            notes.append(f"forward only: {first_line(str(why))}")
            kind = "forward"
    blocks = repeated_blocks(target)
    warm_up(subject.device)
    rows: list[LatencyRow] = []
    if blocks:
        # The cheaper one first: it is there even if the whole takes all the time there is.
        names = Counter(type(block).__name__ for block in blocks)
        notes.append("blocks: " + ", ".join(f"{count} {name}" for name, count in sorted(names.items())))
        rows.append(_row(subject, kind, "regional", len(blocks)))
        subject.save(Latency(tuple(rows), tuple(notes)))
    else:
        notes.append("no block occurs twice: there is nothing to compile region by region")
    if rows and subject.seconds_left < 0:
        notes.append(f"the whole was not measured: the regions took all of {subject.order.budget:.0f} s")
    else:
        rows.insert(0, _row(subject, kind, "whole", 0))
    return Latency(tuple(rows), tuple(notes))


def repeated_blocks(target: Any) -> list[nn.Module]:
    """The outermost children of lists and sequences whose class occurs there more than once, and which hold layers."""
    found: list[nn.Module] = []

    def visit(module: nn.Module) -> None:
        children = list(module.children())
        kinds = Counter(type(child) for child in children)
        for child in children:
            listed = isinstance(module, (nn.ModuleList, nn.Sequential, nn.ModuleDict))
            if listed and kinds[type(child)] > 1 and any(True for _ in child.children()):
                found.append(child)
            else:
                visit(child)

    if isinstance(target, nn.Module):
        visit(target)
    return found


def _row(subject: Subject, kind: str, label: str, count: int) -> LatencyRow:
    with cold():
        counters.clear()
        target, call = subject.made("eval" if kind == "forward" else "train")
        if label == "whole":
            function = subject.compiled(target)
        else:
            for block in repeated_blocks(target):
                block.compile()
            function = target
        step = step_of(kind, function, call, target)
        sync(subject.device)
        first = seconds(step, subject.device)
        graphs = int(counters["stats"]["unique_graphs"])
        how = effort(subject.order.quick)
        short = replace(how, seconds=how.seconds / 3)
        steady = timings({label: step}, subject.device, short)[label]
    del target
    notes: tuple[str, ...] = ()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return LatencyRow(label, kind, first, steady, graphs, count, notes)
