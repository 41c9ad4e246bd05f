"""What verify's child heard, as rows of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tclint.diagnose.measurement import BreakRow, Breaks, FrameRow, RecompileRow
from tclint.diagnose.shortening import shortened
from tclint.verify.heard import Break, Fault, Heard, Run

Own = Callable[[str], bool]
"""Whether a file is the user's."""
NameAt = Callable[[str, int], "tuple[str, int] | None"]
"""The function at a line of a file: its qualified name and first line."""


def breaks_of(heard: Heard, own: Own, name_at: NameAt) -> Breaks:
    runs = heard.runs
    faults = [said(run.fault) for run in runs if run.fault is not None]
    faults += [f"{fault.act}: {said(fault)}" for fault in heard.faults]
    rows = _breaks(runs, own)
    return Breaks(
        rows,
        _recompiles(runs),
        _frames(runs, rows, name_at),
        tuple(dict.fromkeys(faults)),
        _covered(runs),
    )


def said(fault: Fault) -> str:
    return f"{fault.kind}: {shortened(fault.message)}"


def _breaks(runs: Sequence[Run], own: Own) -> tuple[BreakRow, ...]:
    found: dict[tuple[str, int, str, str], BreakRow] = {}
    for run in runs:
        if run.experiment != "breaks":
            continue
        for each in run.breaks:
            path, line = place_of(each, own)
            key = (path, line, each.gb_id, each.kind)
            known = found.get(key)
            if known is None:
                inside = "" if (path, line) == (each.path, each.line) else f"{each.path}:{each.line}"
                words = each.words[:2000]
                found[key] = BreakRow(path, line, each.kind, words, each.gb_id, inside, (run.label,))
            elif run.label not in known.modes:
                found[key] = replace(known, modes=(*known.modes, run.label))
    return tuple(sorted(found.values(), key=lambda row: (row.path, row.line, row.kind)))


def place_of(each: Break, own: Own) -> tuple[str, int]:
    """The user's line: where a library breaks, the line that called into it."""
    if not own(each.path):
        for step in reversed(each.stack):
            if own(step.path):
                return step.path, step.line
    return each.path, each.line


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


def _frames(runs: Sequence[Run], breaks: Sequence[BreakRow], name_at: NameAt) -> tuple[FrameRow, ...]:
    """By function: the programs that one run made of it, the one with more breaks, and the breaks that the report lists."""
    heard = [run for run in runs if run.experiment == "breaks"]
    if not heard:
        return ()
    run = max(heard, key=lambda each: (len(each.breaks), len(each.frames)))
    rows: dict[tuple[str, str], FrameRow] = {}
    for frame in run.frames:
        name, line = name_at(frame.path, frame.line) or (frame.name, frame.line)
        known = rows.get((frame.path, name), FrameRow(frame.path, line, name, 0, 0))
        rows[frame.path, name] = replace(known, programs=known.programs + frame.compiles)
    for each in breaks:
        name, line = name_at(each.path, each.line) or ("<module>", each.line)
        known = rows.get((each.path, name), FrameRow(each.path, line, name, 0, 0))
        rows[each.path, name] = replace(known, breaks=known.breaks + 1)
    return tuple(rows.values())


def _covered(runs: Sequence[Run]) -> Mapping[str, tuple[int, ...]]:
    lines: dict[str, set[int]] = {}
    for run in runs:
        for path, numbers in run.covered.items():
            lines.setdefault(path, set()).update(numbers)
    return {path: tuple(sorted(numbers)) for path, numbers in sorted(lines.items())}
