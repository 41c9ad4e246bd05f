"""The same measured in several processes, at several times of a run: noise only ever adds, so the fastest counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tclint.diagnose.measurement import Speed, SpeedRow, Timing
from tclint.diagnose.verdict import GAIN


def pooled(results: Sequence[Speed]) -> Speed:
    """The first result, which has everything, with the times of whichever process had the quietest host."""
    first = results[0]
    rows = [row for result in results for row in result.rows]
    return replace(first, rows=tuple(_together([row for row in rows if row.kind == own.kind]) for own in first.rows))


def _together(rows: Sequence[SpeedRow]) -> SpeedRow:
    eager, compiled = [row.eager for row in rows], [row.compiled for row in rows]
    apart = max(_apart(eager), _apart(compiled))
    notes = list(rows[0].notes)
    if apart > GAIN:
        notes.append(
            f"{rows[0].kind}: {len(rows)} processes differ by {apart:.0%}: something else uses this host. the fastest counts"
        )
    return replace(rows[0], eager=_fastest(eager), compiled=_fastest(compiled), processes=len(rows), notes=tuple(notes))


def _apart(timings: Sequence[Timing]) -> float:
    medians = [each.median_ms for each in timings]
    return max(medians) / min(medians) - 1


def _fastest(timings: Sequence[Timing]) -> Timing:
    best, *others = sorted(timings, key=lambda each: each.median_ms)
    spread = max(best.spread_ms, others[0].median_ms - best.median_ms) if others else best.spread_ms
    disturbed = best.disturbed + sum(each.blocks + each.disturbed for each in others)
    return replace(best, spread_ms=spread, disturbed=disturbed)
