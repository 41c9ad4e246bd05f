"""What verify's child heard, as rows of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tclint.diagnose.measurement import BreakRow, Breaks, FrameRow, RecompileRow
from tclint.verify.heard import Fault, Heard, Run


def breaks_of(heard: Heard) -> Breaks:
    runs = heard.runs
    faults = [said(run.fault) for run in runs if run.fault is not None]
    faults += [f"{fault.act}: {said(fault)}" for fault in heard.faults]
    return Breaks(_breaks(runs), _recompiles(runs), _frames(runs), tuple(dict.fromkeys(faults)), _covered(runs))


def said(fault: Fault) -> str:
    return f"{fault.kind}: {' '.join(fault.message.split())[:300]}"


def _breaks(runs: Sequence[Run]) -> tuple[BreakRow, ...]:
    found: dict[tuple[str, int, str, str], BreakRow] = {}
    for run in runs:
        if run.experiment != "breaks":
            continue
        for each in run.breaks:
            key = (each.path, each.line, each.gb_id, each.kind)
            known = found.get(key)
            if known is None:
                found[key] = BreakRow(
                    each.path, each.line, each.kind, each.words[:2000], each.gb_id, each.frame, (run.label,)
                )
            elif run.label not in known.modes:
                found[key] = replace(known, modes=(*known.modes, run.label))
    return tuple(sorted(found.values(), key=lambda row: (row.path, row.line, row.kind)))


def _recompiles(runs: Sequence[Run]) -> tuple[RecompileRow, ...]:
    """The worst sweep of every function that is compiled more often than it needs to be."""
    found: dict[tuple[str, int, str], RecompileRow] = {}
    for run in runs:
        if run.experiment != "recompiles":
            continue
        for frame in run.frames:
            if frame.compiles <= run.expected and not frame.limit:
                continue
            key = (frame.path, frame.line, frame.name)
            row = RecompileRow(*key, frame.compiles, run.expected, run.label, frame.reasons[:8], frame.limit[:300])
            if key not in found or found[key].compiles < row.compiles:
                found[key] = row
    return tuple(sorted(found.values(), key=lambda row: (row.path, row.line)))


def _frames(runs: Sequence[Run]) -> tuple[FrameRow, ...]:
    """What one training or inference run compiled: the mode with more breaks."""
    heard = [run for run in runs if run.experiment == "breaks"]
    if not heard:
        return ()
    run = max(heard, key=lambda each: (len(each.breaks), len(each.frames)))
    broken: dict[str, int] = {}
    for each in run.breaks:
        broken[each.frame] = broken.get(each.frame, 0) + 1
    rows = [
        FrameRow(frame.path, frame.line, frame.name, frame.compiles, broken.pop(frame.name, 0)) for frame in run.frames
    ]
    return tuple(rows)


def _covered(runs: Sequence[Run]) -> Mapping[str, tuple[int, ...]]:
    lines: dict[str, set[int]] = {}
    for run in runs:
        for path, numbers in run.covered.items():
            lines.setdefault(path, set()).update(numbers)
    return {path: tuple(sorted(numbers)) for path, numbers in sorted(lines.items())}
