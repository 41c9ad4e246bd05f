"""Numbers and rows as people read them: what the text, Markdown and HTML reports share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tclint.diagnose.measurement import BreakRow, Diagnosis, LatencyRow, Modes, ShapeRow, SpeedRow, Timing
from tclint.diagnose.verdict import gain_of, verdict_of

SEVERITIES = ("high", "medium", "low")
CATEGORIES = {
    "graph-break": "Graph breaks",
    "recompile": "Recompiles",
    "cudagraph": "CUDA graphs",
    "error": "Errors",
    "silent": "Silent",
    "slow": "Slow",
}
UNRATED = "no rule"
WAITING = 0.5
"""A step of which the GPU works less than this share is the host's."""


@dataclass(frozen=True, slots=True)
class Section:
    """One table of the report."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    """Columns that hold numbers: they stand right-aligned."""
    notes: tuple[str, ...] = ()


def ms(value: float | None) -> str:
    if value is None:
        return "–"
    if not value:
        return "0"
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    if value >= 100:
        return f"{value:.0f} ms"
    if value >= 1:
        return f"{value:.2f} ms"
    return f"{value * 1000:.1f} µs"


def timing(value: Timing | None) -> str:
    return "–" if value is None else f"{ms(value.median_ms)} ± {ms(value.spread_ms / 2)}"


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def mb(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value / 1024:.2f} GB" if value >= 1024 else f"{value:.1f} MB" if value >= 1 else f"{value * 1024:.0f} KB"


def count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def ratio(eager: Timing, compiled: Timing) -> str:
    return f"{eager.median_ms / compiled.median_ms:.2f}×" if compiled.median_ms else "–"


def busy(timing: Timing, gpu_ms: float | None) -> str:
    """The share of a step during which the GPU works."""
    return "–" if gpu_ms is None or not timing.median_ms else f"{min(1.0, gpu_ms / timing.median_ms):.0%}"


def parameters(value: int) -> str:
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return str(value)


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1e}"


def severity_table(diagnosis: Diagnosis) -> Section:
    """Severity by category, of what the target's calls reached or Dynamo complained of."""
    table: dict[str, dict[str, int]] = {}

    def add(effect: str, severity: str) -> None:
        row = table.setdefault(effect, dict.fromkeys((*SEVERITIES, UNRATED), 0))
        row[severity] += 1

    for finding in diagnosis.findings:
        if finding.reached or finding.heard:
            add(finding.effect, finding.severity)
    if diagnosis.breaks is not None:
        for each in diagnosis.breaks.breaks:
            if not each.rule:
                add("graph-break", UNRATED)
        for frame in diagnosis.breaks.recompiles:
            if not frame.rule and not any(f.effect == "recompile" and f.heard for f in diagnosis.findings):
                add("recompile", UNRATED)
    rows = [
        (title, *(str(table.get(effect, {}).get(s, 0)) for s in (*SEVERITIES, UNRATED)), str(_sum(table, effect)))
        for effect, title in CATEGORIES.items()
        if effect in table or effect in ("graph-break", "recompile", "cudagraph")
    ]
    totals = [sum(row[s] for row in table.values()) for s in (*SEVERITIES, UNRATED)]
    rows.append(("Total", *map(str, totals), str(sum(totals))))
    return Section(
        "summary", "Findings by severity", ("Category", "High", "Medium", "Low", "No rule", "Total"),
        tuple(rows), (1, 2, 3, 4, 5),
    )  # fmt: skip


def _sum(table: dict[str, dict[str, int]], effect: str) -> int:
    return sum(table.get(effect, {}).values())


def sections(diagnosis: Diagnosis) -> list[Section]:
    """Every table that there is something to say in, in the order of the diagnostics."""
    makers = (_steps, _breaks, _recompiles, _cost, _speed, _modes, _guards, _numerics, _latency, _shapes, _ablate)
    return [section for make in makers if (section := make(diagnosis)) is not None]


def _steps(diagnosis: Diagnosis) -> Section | None:
    steps = diagnosis.steps
    if steps is None:
        return None
    row = (f"{steps.count} {steps.unit}", seconds(steps.first_s), timing(steps.warm), mb(steps.peak_mb))
    notes = [f"step {each.number} took {ms(each.ms)}: see what was compiled again" for each in steps.slow]
    if steps.warm is None:
        notes.append("too few steps to tell a warm one: let it run longer, or give a larger --steps")
    if steps.ended:
        notes.append(steps.ended)
    columns = ("Steps", "Until the first ended", "A warm one", "Peak GPU memory")
    return Section("steps", "The program's own steps", columns, (row,), (1, 2, 3), tuple(notes))


def _breaks(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.breaks is None:
        return None
    rows = [
        (
            f"{row.path}:{row.line}",
            " ".join(filter(None, (row.rule, row.rule_name))) or UNRATED,
            _why(row),
            row.fix or row.help or "–",
        )
        for row in diagnosis.breaks.breaks
    ]
    notes = (*(f"error: {fault}" for fault in diagnosis.breaks.faults), *(() if rows else ("no graph break",)))
    return Section("breaks", "Graph breaks", ("Line", "Rule", "Why", "Fix"), tuple(rows), notes=notes)


def _why(row: BreakRow) -> str:
    gb_id = f" ({row.gb_id})" if row.gb_id else ""
    inside = f", in {'/'.join(row.inside.split('/')[-2:])}" if row.inside else ""
    return f"{row.kind}{gb_id}{inside}"


def _recompiles(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.breaks is None:
        return None
    rows = [
        (
            f"{row.path}:{row.line} {row.name}",
            " ".join(filter(None, (row.rule, row.rule_name))) or UNRATED,
            f"{row.compiles} ({row.expected} are normal)",
            row.sweep,
            row.limit or (row.reasons[-1] if row.reasons else "–"),
            row.fix or row.help or "–",
        )
        for row in diagnosis.breaks.recompiles
    ]
    notes = () if rows else ("no function is compiled more often than it needs to be",)
    columns = ("Function", "Rule", "Programs", "Calls", "Guard that failed", "Fix")
    return Section("recompiles", "Recompiles", columns, tuple(rows), notes=notes)


def _cost(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.cost is None:
        return None
    rows = [
        (
            f"{row.path}:{row.line}",
            f"{row.rule} {row.rule_name}".strip(),
            "–" if row.saved_ms is None else f"{_signed(row.saved_ms)} ± {ms(row.noise_ms)}",
            "–" if row.launches is None else f"{row.launches:+d}",
            "–" if row.graphs is None else f"{row.graphs:+d}",
            "–" if row.compilations is None else f"{row.compilations:+d}",
            f"{row.status}: {row.words}" if row.words else row.status,
        )
        for row in diagnosis.cost.rows
    ]
    what = diagnosis.speed.launches if diagnosis.speed is not None else "launches"
    columns = ("Line", "Rule", "Costs per step", what.capitalize(), "Graphs", "Programs", "How it is known")
    return Section("cost", "What each finding costs", columns, tuple(rows), (2, 3, 4, 5), diagnosis.cost.notes)


def _signed(value: float) -> str:
    return f"−{ms(-value)}" if value < 0 else ms(value)


def _speed(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.speed is None:
        return None
    rows = []
    notes = list(diagnosis.speed.notes)
    on_gpu = any(row.compiled_gpu_ms is not None for row in diagnosis.speed.rows)
    for row in diagnosis.speed.rows:
        verdict = verdict_of(row)
        share = f"{busy(row.eager, row.eager_gpu_ms)} → {busy(row.compiled, row.compiled_gpu_ms)}"
        rows.append(
            (
                row.kind,
                timing(row.eager),
                timing(row.compiled),
                ratio(row.eager, row.compiled),
                f"{mb(row.eager_peak_mb)} → {mb(row.compiled_peak_mb)}",
                f"{count(row.eager_launches)} → {count(row.compiled_launches)}",
                *((share,) if on_gpu else ()),
                verdict.word,
            )
        )
        notes += [f"{row.kind}: {verdict.words}", *_waiting(row), *row.notes]
    if diagnosis.quick:
        notes.append(
            "--quick measures in one process: the next run may differ by more than the ±; without it several are compared"
        )
    measured = ("Eager", "Compiled", "Speed-up", "Peak memory", diagnosis.speed.launches.capitalize())
    columns = ("Step", *measured, *(("GPU busy",) if on_gpu else ()), "Verdict")
    right = tuple(range(1, len(columns) - 1))
    return Section("speed", "Eager against compiled, warm", columns, tuple(rows), right, tuple(notes))


def _waiting(row: SpeedRow) -> Iterator[str]:
    """Said of a compiled step that is mostly launches."""
    if row.compiled_gpu_ms is not None and row.compiled_gpu_ms < WAITING * row.compiled.median_ms:
        launch = row.compiled.launch_us
        pace = f", where an empty launch takes {launch:.1f} µs" if launch is not None else ""
        yield (
            f"{row.kind}: compiled, the GPU works {ms(row.compiled_gpu_ms)} of {ms(row.compiled.median_ms)}; the rest of the "
            f'step it waits for the host{pace}. use a larger batch, or mode="reduce-overhead", which launches all at once'
        )


def _shapes(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.shapes is None:
        return None
    rows = []
    notes = list(diagnosis.shapes.notes)
    for row in diagnosis.shapes.rows:
        rows.append(
            (
                row.axis,
                "mark_dynamic" if row.marked else "no",
                " ".join(f"{step.shape}:{step.compilations}" for step in row.steps),
                str(row.compilations),
                ms(row.lost_ms),
                guard_of(row),
                row.backend,
            )
        )
        notes += [f"{shape_label(row)}: {note}" for note in row.notes]
    columns = (
        "Varies",
        "Marked",
        "Compilations by size",
        "All",
        "Lost after the first",
        "Guard that failed",
        "Backend",
    )
    return Section("shapes", "Varying shapes", columns, tuple(rows), (3, 4), tuple(notes))


def shape_label(row: ShapeRow) -> str:
    return f"{row.axis}, {'marked' if row.marked else 'not marked'}"


def guard_of(row: ShapeRow) -> str:
    return next((guard for step in row.steps for guard in step.guards), "–")


def _latency(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.latency is None:
        return None
    rows = [
        (latency_label(row), row.kind, seconds(row.first_s), timing(row.steady), count(row.graphs))
        for row in diagnosis.latency.rows
    ]
    notes = list(diagnosis.latency.notes)
    by_label = {row.label: row for row in diagnosis.latency.rows}
    if len(by_label) == 2 and by_label["regional"].first_s:
        times = by_label["whole"].first_s / by_label["regional"].first_s
        notes.insert(0, f"the first step is {times:.1f}× as fast compiled block by block, caches off")
    columns = ("Compiled", "Step", "First step", "Warm step", "Graphs")
    return Section("latency", "Compile latency", columns, tuple(rows), (2, 3, 4), tuple(notes))


def latency_label(row: LatencyRow) -> str:
    return f"{row.label} ({row.blocks} blocks)" if row.blocks else row.label


def eager_of(modes: Modes) -> Timing:
    """One for all modes, whose children each measured it: the fastest, since noise only adds."""
    return min((row.eager for row in modes.rows), key=lambda each: each.median_ms)


def _modes(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.modes is None:
        return None
    rows = []
    notes: list[str] = list(dict.fromkeys(diagnosis.modes.notes))
    on_gpu = any(row.gpu_ms is not None for row in diagnosis.modes.rows)
    for row in diagnosis.modes.rows:
        graphs = []
        if row.recordings:
            graphs.append(f"{row.recordings} recorded")
        if row.partitions > 1:
            graphs.append(f"{row.partitions} partitions")
        graphs += [f"skipped: {skip}" for skip in row.skips]
        rows.append(
            (
                row.mode,
                seconds(row.first_s),
                timing(row.compiled),
                ratio(eager_of(diagnosis.modes), row.compiled),
                mb(row.peak_mb),
                *((busy(row.compiled, row.gpu_ms),) if on_gpu else ()),
                "; ".join(graphs) or "–",
            )
        )
        notes += [f"{row.mode}: {note}" for note in row.notes]
    reentry = diagnosis.modes.reentry
    if reentry is not None:
        said = f" ({reentry.words})" if reentry.words else ""
        notes.append(
            f"re-entry, called twice before reading: the first output is {reentry.kept}{said}; "
            f"through tclint.cudagraph.run_cloned it is {reentry.cloned}"
        )
    measured = ("First step", "Warm step", "Speed-up", "Peak memory", *(("GPU busy",) if on_gpu else ()))
    columns = ("Mode", *measured, "CUDA graphs")
    return Section("modes", "Modes", columns, tuple(rows), tuple(range(1, len(columns) - 1)), tuple(notes))


def _guards(diagnosis: Diagnosis) -> Section | None:
    guards = diagnosis.guards
    if guards is None:
        return None
    saved = guards.baseline.median_ms - guards.skipped.median_ms
    share = gain_of(guards.baseline, guards.skipped)
    rows = (
        ("every guard, every call", timing(guards.baseline), ""),
        ("skip_guard_eval_unsafe", timing(guards.skipped), f"{_signed(saved)} ({share:.1%}) saved"),
    )
    return Section("guards", "Guard overhead", ("Stance", "Warm step", ""), rows, (1,), guards.notes)


def _ablate(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.ablate is None:
        return None
    rows = tuple(
        (
            f"{row.option}={row.value}",
            timing(row.default),
            timing(row.changed),
            f"{gain_of(row.default, row.changed):+.1%}",
            seconds(row.first_s),
        )
        for row in diagnosis.ablate.rows
    )
    columns = ("Option", "Default", "With it", "Saves", "First step")
    return Section("ablate", "Inductor options", columns, rows, (1, 2, 3, 4), diagnosis.ablate.notes)


def _numerics(diagnosis: Diagnosis) -> Section | None:
    if diagnosis.numerics is None:
        return None
    rows = tuple(
        (
            row.dtype,
            row.what,
            row.verdict + (f": {row.words}" if row.words else ""),
            number(row.max_abs),
            number(row.eager_error),
            number(row.compiled_error),
        )
        for row in diagnosis.numerics.rows
    )
    columns = ("Dtype", "Of", "Verdict", "Largest difference", "Eager error", "Compiled error")
    return Section("numerics", "Numerics", columns, rows, (3, 4, 5), diagnosis.numerics.notes)


_PART_OF = {"recompiles": "breaks"}


def settled(diagnosis: Diagnosis, section: str) -> bool:
    """Whether a table will not grow any more, though the run goes on."""
    name = _PART_OF.get(section, section)
    return not diagnosis.unfinished or all(
        diagnosis.unfinished not in s.words for s in diagnosis.states if s.name == name
    )


def states(diagnosis: Diagnosis) -> list[str]:
    """What was not measured, or only in part, and why."""
    return [
        f"{state.name}: {state.status if state.status != 'done' else 'in part'}"
        + (f" – {state.words}" if state.words else "")
        for state in diagnosis.states
        if state.status not in ("done",) and not (state.status == "left out" and not state.words) or state.words
    ]


def circumstances(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    where = diagnosis.gpu or diagnosis.device
    found: Sequence[tuple[str, str]] = (
        ("device", f"{diagnosis.device} ({diagnosis.gpu})" if diagnosis.gpu else where),
        ("torch", diagnosis.torch),
        ("python", diagnosis.python),
        ("tclint", diagnosis.tclint),
        ("inputs", diagnosis.inputs),
        ("parameters", parameters(diagnosis.parameters) if diagnosis.parameters else ""),
        ("took", seconds(diagnosis.seconds) + (" (--quick)" if diagnosis.quick else "") if diagnosis.seconds else ""),
        ("unfinished", diagnosis.unfinished),
    )
    return [(name, value) for name, value in found if value]
