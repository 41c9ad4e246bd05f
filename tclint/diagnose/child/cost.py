"""One copy of the program, measured: what the cost of a finding is the difference of."""

from __future__ import annotations

import linecache

import torch
import torch._dynamo
from torch._dynamo.utils import counters

from tclint.diagnose.breaks import said
from tclint.diagnose.child.breaks import hear
from tclint.diagnose.child.clock import effort, forward, timings, work_of
from tclint.diagnose.child.target import Subject
from tclint.diagnose.measurement import CostBreak, CostSample
from tclint.diagnose.shortening import first_line
from tclint.verify.child import compiling


def measure_cost(subject: Subject) -> CostSample:
    real = torch.compile
    compiling.adopt_sites()
    runs, failures = hear(subject)
    torch.compile = real
    places = sorted({(b.path, b.line, b.gb_id or b.kind) for run in runs for b in run.breaks})
    broken = tuple(CostBreak(path, linecache.getline(path, line).strip(), kind) for path, line, kind in places)
    compilations = sum(f.compiles for run in runs if run.experiment == "recompiles" for f in run.frames)
    torch._dynamo.reset()
    counters.clear()
    target, call = subject.made()
    step = forward(subject.compiled(target), call)
    step()
    graphs = int(counters["stats"]["unique_graphs"])
    took = timings({"step": step}, subject.device, effort(subject.order.quick))["step"]
    notes = [said(fault) for fault in failures]
    try:
        count: int | None = work_of(step, subject.device).launches
    except RuntimeError as error:
        count = None
        notes.append(f"launches cannot be told: {first_line(str(error))}")
    return CostSample(took, count, graphs, broken, compilations, tuple(notes))
