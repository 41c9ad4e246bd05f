"""Graph breaks and recompiles of the target, as verify hears them."""

from __future__ import annotations

from dataclasses import replace

from tclint.diagnose.child.target import Subject
from tclint.verify.child import compiling
from tclint.verify.child.experiments import EagerFailed, run_breaks
from tclint.verify.child.repeated import recompile_runs
from tclint.verify.heard import Fault, Heard, Run


def measure_breaks(subject: Subject) -> Heard:
    compiling.adopt_sites()
    runs, faults = hear(subject)
    return Heard(runs=tuple(runs), faults=tuple(faults), device=subject.device)


def hear(subject: Subject) -> tuple[list[Run], list[Fault]]:
    """Training and inference for the breaks, the varying calls for the recompiles."""
    runs: list[Run] = []
    faults: list[Fault] = []
    for mode in ("train", "eval") if subject.example.wrap else ("",):
        try:
            run = run_breaks(subject.setup, subject.example, mode)
        except EagerFailed as failed:
            faults.append(replace(failed.fault, act=mode or "eager"))
            continue
        runs.append(replace(run, label=mode or "as it is"))
    runs.extend(recompile_runs(subject.example, subject.setup))
    return runs, faults
