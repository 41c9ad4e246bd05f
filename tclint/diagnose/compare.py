"""Two diagnoses side by side: what got worse, by how much, and whether that is above the threshold."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass

from tclint.diagnose import figures
from tclint.diagnose.measurement import Diagnosis, Timing
from tclint.diagnose.verdict import headline
from tclint.model import codec
from tclint.model.errors import UserError

SAME_HOST = 0.01
"""A share of a step that a slower host is not blamed for."""
LATENCY = 4.0
"""Compile times vary more than warm steps do: their threshold is this many times as wide."""


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    value: float
    kind: str
    """time, latency, memory, count (where one more is one too many), context (never a regression)"""
    spread: float = 0.0
    host: float = 0.0
    """What of a time is the host's: there the GPU waits."""
    launch_us: float | None = None
    """How fast that host was."""

    @property
    def text(self) -> str:
        if self.kind == "count":
            return f"{self.value:g}"
        if self.kind == "memory":
            return figures.mb(self.value)
        if self.kind == "latency":
            return figures.seconds(self.value)
        return figures.ms(self.value)


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    before: str
    after: str
    change: str
    verdict: str
    """worse, better, same, only in A, only in B"""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    threshold: float

    @property
    def regressions(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict == "worse")


def metrics_of(diagnosis: Diagnosis) -> Iterator[Metric]:
    def timed(name: str, timing: Timing, kind: str = "time", gpu_ms: float | None = None) -> Metric:
        waiting = max(0.0, timing.median_ms - gpu_ms) if gpu_ms is not None else 0.0
        return Metric(name, timing.median_ms, kind, timing.spread_ms, waiting, timing.launch_us)

    if diagnosis.breaks is not None:
        yield Metric("graph breaks", len(diagnosis.breaks.breaks), "count")
        yield Metric("functions that recompile", len(diagnosis.breaks.recompiles), "count")
    for row in diagnosis.speed.rows if diagnosis.speed is not None else ():
        yield timed(f"{row.kind}, eager", row.eager, "context")
        yield timed(f"{row.kind}, compiled", row.compiled, gpu_ms=row.compiled_gpu_ms)
        if row.compiled_gpu_ms is not None:
            yield Metric(f"{row.kind}, compiled, the GPU works", row.compiled_gpu_ms, "time")
        if row.compiled_peak_mb is not None:
            yield Metric(f"{row.kind}, compiled, peak memory", row.compiled_peak_mb, "memory")
        if row.compiled_launches is not None and diagnosis.speed is not None:
            yield Metric(f"{row.kind}, compiled, {diagnosis.speed.launches}", row.compiled_launches, "count")
    for shape in diagnosis.shapes.rows if diagnosis.shapes is not None else ():
        yield Metric(f"compilations, {figures.shape_label(shape)}", shape.compilations, "count")
    for late in diagnosis.latency.rows if diagnosis.latency is not None else ():
        yield Metric(f"first step, {late.label}, {late.kind}", late.first_s, "latency")
    for mode in diagnosis.modes.rows if diagnosis.modes is not None else ():
        yield timed(f"mode {mode.mode}", mode.compiled, gpu_ms=mode.gpu_ms)
    if diagnosis.modes is not None and diagnosis.modes.rows:
        yield Metric("CUDA-graph skips", sum(len(mode.skips) for mode in diagnosis.modes.rows), "count")
    for option in diagnosis.ablate.rows if diagnosis.ablate is not None else ():
        yield timed(f"{option.option}={option.value}", option.changed)
    if diagnosis.numerics is not None:
        wrong = sum(row.verdict == "differs" for row in diagnosis.numerics.rows)
        yield Metric("values that differ from eager", wrong, "count")


def compared(before: Diagnosis, after: Diagnosis, threshold: float) -> Comparison:
    first = {metric.name: metric for metric in metrics_of(before)}
    second = {metric.name: metric for metric in metrics_of(after)}
    if not first.keys() & second.keys():
        raise UserError("the two results have no measurement in common: run both with the same diagnostics")
    rows = [_row(first.get(name), second.get(name), threshold) for name in dict.fromkeys([*first, *second])]
    notes = [f"verdict: {headline(before)} → {headline(after)}"]
    for what in ("target", "device", "gpu", "torch", "quick", "inputs"):
        mine, theirs = getattr(before, what), getattr(after, what)
        if mine != theirs:
            notes.append(f"{what} differs: {mine or 'none'} → {theirs or 'none'}")
    return Comparison(tuple(rows), tuple(notes), threshold)


def _row(before: Metric | None, after: Metric | None, threshold: float) -> Row:
    if before is None or after is None:
        known = before or after
        assert known is not None
        verdict = "only in A" if after is None else "only in B"
        return Row(known.name, before.text if before else "–", after.text if after else "–", "", verdict)
    difference, why = _difference(before, after)
    if before.kind == "count":
        verdict = "worse" if difference > 0 else "better" if difference < 0 else "same"
        return Row(before.name, before.text, after.text, f"{difference:+g}" if difference else "", verdict)
    share = difference / before.value if before.value else (0.0 if not difference else float("inf"))
    limit = threshold * (LATENCY if before.kind == "latency" else 1)
    verdict = "worse" if share > limit else "better" if share < -limit else "same"
    note = "within the spread" if verdict != "same" and abs(difference) < (before.spread + after.spread) / 2 else ""
    note = "; ".join(filter(None, (note, why)))
    if before.kind == "context" and verdict != "same":
        verdict, note = "same", "eager: for comparison"
    return Row(before.name, before.text, after.text, f"{share:+.1%}", verdict, note)


def _difference(before: Metric, after: Metric) -> tuple[float, str]:
    """What has changed, and why that is less than was measured.

    A small model's step is launches, and on a shared machine these take a tenth more or less from minute to minute. So
    what counts has changed as measured and against the pace of the host, and the smaller of both.
    """
    measured = after.value - before.value
    if before.launch_us is None or after.launch_us is None or not measured:
        return measured, ""
    left = measured - after.host * (1 - before.launch_us / after.launch_us)
    kept = 0.0 if left * measured < 0 else min(left, measured, key=abs)
    if abs(measured - kept) < SAME_HOST * before.value:
        return measured, ""
    said = f"{measured / before.value:+.1%} as measured, but a launch took"
    return kept, f"{said} {after.launch_us:.1f} µs on the host instead of {before.launch_us:.1f}"


_COLUMNS = ("Measured", "A", "B", "Change", "")


def text(comparison: Comparison, width: int, colour: bool) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(_COLUMNS):
        table.add_column(column, justify="right" if number in (1, 2, 3) else "left", overflow="fold")
    styles = {"worse": "bold red", "better": "green"}
    for row in comparison.rows:
        said = f"{row.verdict} ({row.note})" if row.note else row.verdict
        table.add_row(row.name, row.before, row.after, row.change, Text(said, style=styles.get(row.verdict, "dim")))
    console.print(table)
    for note in comparison.notes:
        console.print(Text(note))
    console.print(Text(_summary(comparison)))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def markdown(comparison: Comparison) -> str:
    lines = ["| Measured | A | B | Change | |", "| --- | ---: | ---: | ---: | --- |"]
    for row in comparison.rows:
        said = f"{row.verdict} ({row.note})" if row.note else row.verdict
        said = f"**{said}**" if row.verdict == "worse" else said
        lines.append(f"| {row.name} | {row.before} | {row.after} | {row.change} | {said} |".replace("<", "&lt;"))
    lines += ["", *(f"- {note}" for note in comparison.notes), "", _summary(comparison)]
    return "\n".join(lines) + "\n"


def json_text(comparison: Comparison) -> str:
    data = {"schema": "tclint-compare/1", **codec.encode(comparison), "regressions": len(comparison.regressions)}
    return json.dumps(data, indent=1) + "\n"


def _summary(comparison: Comparison) -> str:
    number = len(comparison.regressions)
    limit = f"{comparison.threshold:.1%}".replace(".0%", "%")
    if not number:
        return f"no regression above {limit}"
    return f"{number} regression{'s' if number > 1 else ''} above {limit}: {', '.join(r.name for r in comparison.regressions)}"
