"""Which experiments a job calls for, on which example, until every place has been reached or nothing is left to try."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from types import ModuleType

import torch

from tclint.verify.child_experiments import (
    Bench,
    EagerFailed,
    fault_of,
    run_breaks,
    run_explain,
    run_recompiles,
)
from tclint.verify.child_inputs import Example, NoInputs, sources
from tclint.verify.child_load import load
from tclint.verify.cover import is_project
from tclint.verify.heard import Explain, Fault, Heard, Run
from tclint.verify.job import Candidate, Job, Place

EXAMPLES = 3
"""Most examples that are run for one job, once they work."""


_OWN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "")
"""tclint itself may lie under the root (an editable install): its frames are never the user's."""


@dataclass
class _Notes:
    runs: list[Run] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    explain: Explain | None = None
    hint: str = ""


def carry_out(job: Job) -> Heard:
    files = {place.path for place in job.places} | {candidate.path for candidate in job.candidates}
    bench = Bench(
        device=job.device,
        seed=job.seed,
        wanted=lambda path: path in files or (not path.startswith(_OWN) and is_project(path, job.root)),
        title=job.candidates[0].name,
    )
    notes = _Notes()
    for candidate in job.candidates:
        try:
            module = load(candidate.path, job.root)
        except (Exception, SystemExit) as error:
            notes.faults.append(fault_of("import", error, bench.wanted))
            notes.tried.append(f"{candidate.name}: its file cannot be imported")
            continue
        _candidate(job, candidate, module, bench, notes)
        if not _open_places(job.places, notes.runs):
            break
    return Heard(
        runs=tuple(notes.runs),
        faults=tuple(notes.faults),
        tried=tuple(dict.fromkeys(notes.tried)),
        hint=notes.hint,
        explain=notes.explain,
        sources=tuple(sorted(_imported(bench))),
        gpu=torch.cuda.get_device_name() if job.device.startswith("cuda") else "",
    )


def _candidate(job: Job, candidate: Candidate, module: ModuleType, bench: Bench, notes: _Notes) -> None:
    worked = 0
    for example in sources(job, candidate, module):
        if isinstance(example, NoInputs):
            notes.tried.append(f"{candidate.name}: {example}")
            notes.hint = str(example)
            continue
        try:
            _experiments(job, example, bench, notes)
        except EagerFailed as failed:
            notes.faults.append(failed.fault)
            notes.tried.append(f"{candidate.name}: {example.source}: {failed.fault.kind}: {failed.fault.message[:200]}")
            continue
        notes.tried.append(f"{candidate.name}: {example.source}: ran")
        worked += 1
        if worked == EXAMPLES or not _open_places(job.places, notes.runs):
            return


def _experiments(job: Job, example: Example, bench: Bench, notes: _Notes) -> None:
    """All experiments on one example. Raises EagerFailed where it never runs at all."""
    effects = {place.effect for place in job.places}
    modes = ("train", "eval") if example.wrap else ("",)
    if effects - {"recompile", "cudagraph"}:
        _modes(job, example, bench, notes, modes)
    if "recompile" in effects:
        notes.runs.append(run_recompiles(bench, example, f"{example.source}, in order", allowed=2))


def _modes(job: Job, example: Example, bench: Bench, notes: _Notes, modes: tuple[str, ...]) -> None:
    failure: EagerFailed | None = None
    ran = 0
    for mode in modes:
        if ran and not _open_places(job.places, notes.runs):
            break
        try:
            notes.runs.append(run_breaks(bench, example, mode))
        except EagerFailed as failed:
            failure = failed
            continue
        ran += 1
        if notes.explain is None:
            notes.explain = run_explain(bench, example, mode)
    if not ran and failure is not None:
        raise failure


def _open_places(places: tuple[Place, ...], runs: list[Run]) -> list[Place]:
    """Places that another mode or example could still tell something about."""

    def settled(place: Place) -> bool:
        span = range(place.line, place.end_line + 1)
        return any(
            item.path == place.path and item.line in span for run in runs for item in run.breaks
        )

    return [place for place in places if not settled(place)]


def _imported(bench: Bench) -> set[str]:
    """The user's files that the target drew in."""
    found = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and bench.wanted(path):
            found.add(path)
    return found
