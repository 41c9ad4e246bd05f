"""Warm steps against warm steps: eager and compiled, with and without guards, Inductor's options one by one."""

from __future__ import annotations

import ast
import difflib
from dataclasses import replace
from typing import Any

import torch
import torch._inductor.config

from tclint.diagnose.child.caches import cold
from tclint.diagnose.child.clock import (
    NoGradient,
    Step,
    allocated,
    effort,
    forward,
    parameters_of,
    peak_mb,
    seconds,
    timings,
    training,
    work_of,
)
from tclint.diagnose.child.target import NotApplicable, Subject
from tclint.diagnose.measurement import Ablate, AblateRow, Guards, Speed, SpeedRow
from tclint.diagnose.plan import FORWARD, STEPS
from tclint.diagnose.shortening import first_line, shortened


def measure_speed(subject: Subject) -> Speed:
    rows: list[SpeedRow] = []
    steps: list[dict[str, Step]] = []
    notes: list[str] = []
    what = "kernel launches" if subject.device.startswith("cuda") else "operators dispatched"
    for kind in (subject.order.part,) if subject.order.part else STEPS:
        if rows and subject.seconds_left < 0:
            notes.append(f"{kind} was not measured: the first took all of {subject.order.budget:.0f} s")
            break
        try:
            row, own = _row(subject, kind)
        except NoGradient as why:
            notes.append(str(why))
            continue
        rows.append(row)
        steps.append(own)
        subject.save(Speed(tuple(rows), what, tuple(notes)))
        if kind == FORWARD:
            # Before the backward pass is compiled: then the function would have two programs, and guards to tell them apart.
            subject.share(own["eager"], own["compiled"])
    if subject.order.again:
        return Speed(tuple(rows), what)
    # Last of all: a profiler that was on once may slow down every launch after it.
    with subject.turn.measuring():
        rows = [_counted(row, own, subject.device) for row, own in zip(rows, steps, strict=True)]
    return Speed(tuple(rows), what, tuple(notes))


def step_of(kind: str, function: Any, call: Any, target: Any) -> Step:
    return forward(function, call) if kind == FORWARD else training(function, call, parameters_of(target))


def _row(subject: Subject, kind: str) -> tuple[SpeedRow, dict[str, Step]]:
    before = allocated(subject.device)
    target, call = subject.made("eval" if kind == FORWARD else "train")
    eager = step_of(kind, subject.eager(target), call, target)
    compiled = step_of(kind, subject.compiled(target), call, target)
    with subject.turn.compiling():
        eager()
        first = seconds(compiled, subject.device)
    steps = {"eager": eager, "compiled": compiled}
    with subject.turn.measuring():
        took = timings(steps, subject.device, effort(subject.order.quick))
    row = SpeedRow(kind, took["eager"], took["compiled"], first)
    if subject.order.again:
        return row, steps
    notes: list[str] = []
    peaks: dict[str, Any] = {}
    for name, step in steps.items():
        try:
            peaks[f"{name}_peak_mb"] = peak_mb(step, subject.device, before)
        except RuntimeError as error:
            notes.append(f"the peak memory of {name} cannot be told: {first_line(str(error))}")
    return replace(row, notes=tuple(notes), **peaks), steps


def _counted(row: SpeedRow, steps: dict[str, Step], device: str) -> SpeedRow:
    try:
        eager, compiled = (work_of(steps[name], device) for name in ("eager", "compiled"))
    except RuntimeError as error:
        # The profiler is not everywhere (no CUPTI in a container): the times stand without it.
        return replace(row, notes=(*row.notes, f"launches cannot be told: {first_line(str(error))}"))
    return replace(
        row,
        eager_launches=eager.launches,
        compiled_launches=compiled.launches,
        eager_gpu_ms=eager.gpu_ms,
        compiled_gpu_ms=compiled.gpu_ms,
    )


def measure_guards(subject: Subject) -> Guards:
    target, call = subject.made()
    step = forward(subject.compiled(target), call)
    for _ in range(5):
        # The stance trusts that whatever will be needed has been compiled.
        step()
    return guards_of(subject, step)


def guards_of(subject: Subject, step: Step) -> Guards:
    """What the guards of a warm compiled step cost."""
    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None:
        raise NotApplicable("this torch has no torch.compiler.set_stance")
    try:
        took = timings(
            {"baseline": step, "skipped": step},
            subject.device,
            effort(subject.order.quick),
            {"skipped": lambda: set_stance(skip_guard_eval_unsafe=True)},
        )
    except RuntimeError as error:
        if "skip_guard_eval_unsafe" not in str(error):
            raise
        # Several programs of one function, told apart by guards that the stance leaves out.
        raise NotApplicable(f"torch refuses the stance: {shortened(str(error))}") from error
    return Guards(took["baseline"], took["skipped"])


def measure_ablate(subject: Subject) -> Ablate:
    if not subject.example.wrap:
        raise NotApplicable("the program compiles by itself, with options of its own")
    option, _, text = subject.order.part.partition("=")
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = text
    known = torch._inductor.config.get_config_copy()
    if option not in known:
        close = difflib.get_close_matches(option, list(known), n=1)
        raise NotApplicable(f"Inductor has no option {option!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
    target, call = subject.made()
    other, other_call = subject.made()
    default = forward(subject.compiled(target), call)
    # The type of the value is checked by torch.compile, in its own words.
    changed = forward(torch.compile(other, options={option: value}), other_call)
    with cold():
        default()
        first = seconds(changed, subject.device)
        took = timings({"default": default, "changed": changed}, subject.device, effort(subject.order.quick))
    return Ablate((AblateRow(option, repr(value), first, took["default"], took["changed"]),))
