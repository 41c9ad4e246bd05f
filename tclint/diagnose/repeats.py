"""The same measured in several processes, one after another: noise only ever adds, so the fastest counts.

One process says nothing about the next: a neighbour on a shared host stays for seconds or minutes. Where two processes
have come to the same times, both have seen the host undisturbed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tclint.diagnose.measurement import Speed, SpeedRow, Timing
from tclint.diagnose.verdict import GAIN

SAME = 0.02
"""How far apart the two fastest processes may be."""


def agree(results: Sequence[Speed]) -> bool:
    """Whether every time has been measured twice."""
    rows = [row for result in results for row in result.rows]
    for kind in {row.kind for row in rows}:
        own = [row for row in rows if row.kind == kind]
        for timings in ([row.eager for row in own], [row.compiled for row in own]):
            fastest = sorted(timings, key=lambda each: each.median_ms)[:2]
            if len(fastest) < 2 or _apart(fastest) > SAME:
                return False
    return True


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
