"""The user's own program, run as it is and listened to: `tclint diagnose -- python train.py`."""

from __future__ import annotations

import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tclint import __version__
from tclint.diagnose import linting
from tclint.diagnose.breaks import breaks_of
from tclint.diagnose.measurement import SCHEMA, Diagnosis, SlowStep, State, Steps, Timing
from tclint.model.settings import Settings
from tclint.verify.cover import is_project
from tclint.verify.heard import with_paths
from tclint.verify.options import VerifyOptions
from tclint.verify.recording import record, renamer
from tclint.verify.spans import outline
from tclint.verify.targets import absolute

FEWEST = 4
"""Steps of which the later half says what a warm one takes."""
SLOW = 3.0
"""A step that takes so many times as long as a warm one has done something else."""
SHOWN = 8


def diagnose_program(
    command: Sequence[str], options: VerifyOptions, settings: Settings, steps: int, cwd: str
) -> Diagnosis:
    """What Dynamo did in a run of the program, and how long its steps took."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tclint-record-") as folder:
        heard, code = record(command, Path(folder), options, steps, timed=True)
        taken = _steps_of(Path(folder, "trace"), f"the program ended with status {code}" if code else "")
    heard = with_paths(heard, renamer(set(), cwd))

    def own(path: str) -> bool:
        return is_project(absolute(path, cwd), cwd)

    def name_at(path: str, line: int) -> tuple[str, int] | None:
        found = outline(absolute(path, cwd)).function_at(line)
        return (found.name, found.line) if found is not None else None

    breaks = breaks_of(heard, own, name_at)
    touched = {path for path in breaks.covered if own(path)}
    touched |= {row.path for row in breaks.breaks if own(row.path)}
    touched |= {row.path for row in breaks.recompiles if own(row.path)}
    linted = linting.lint({absolute(path, cwd) for path in touched}, settings, cwd)
    states = [
        State(
            "steps", "done" if taken is not None else "not applicable", "" if taken else "no optimizer step, no call"
        ),
        State("breaks", "done" if not heard.trouble else "failed", heard.trouble),
    ]
    return Diagnosis(
        SCHEMA,
        " ".join(command),
        options.device,
        torch=heard.torch,
        tclint=__version__,
        inputs="the program's own",
        seconds=time.monotonic() - began,
        states=tuple(states),
        findings=linting.rows_of(linted.findings, heard, cwd),
        steps=taken,
        breaks=linting.explained(breaks, linted.findings, cwd),
    )


def _steps_of(folder: Path, ended: str) -> Steps | None:
    """The steps of the process that made the most: a launcher and its data loaders make none."""
    found = [taken for path in sorted(folder.glob("steps_*.json")) if (taken := _read(path)) is not None]
    best = max(found, key=lambda steps: steps.count, default=None)
    return replace(best, ended=ended) if best is not None else None


def _read(path: Path) -> Steps | None:
    told = json.loads(path.read_text(encoding="utf-8"))
    unit, ends = (
        ("optimizer steps", told["optimizer"]) if told["optimizer"] else ("calls of what is compiled", told["calls"])
    )
    return steps_from(unit, ends, told["peak_mb"]) if ends else None


def steps_from(unit: str, ends: Sequence[float], peak_mb: float | None) -> Steps:
    """From the seconds at which steps ended, counted from the start of the program."""
    took = [(later - earlier) * 1e3 for earlier, later in itertools.pairwise(ends)]
    if len(ends) < FEWEST:
        return Steps(unit, len(ends), ends[0], peak_mb=peak_mb)
    half = took[len(took) // 2 :]
    middle = statistics.median(half)
    low, _, high = statistics.quantiles(half, n=4) if len(half) > 1 else (middle, middle, middle)
    slow = [SlowStep(number, ms) for number, ms in enumerate(took, 2) if ms > SLOW * middle]
    warm = Timing(middle, high - low, len(half), 1)
    return Steps(unit, len(ends), ends[0], warm, tuple(slow[:SHOWN]), peak_mb)
