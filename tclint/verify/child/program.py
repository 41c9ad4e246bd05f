"""The program of a file itself, with its own compile sites and calls: its main block, or what it does at module level."""

from __future__ import annotations

import io
import os
import re
import runpy
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from tclint.verify.child.compiling import uncompiled
from tclint.verify.child.experiments import seeded
from tclint.verify.child.inputs import Call, Example, NoInputs
from tclint.verify.child.limits import TooLong, within
from tclint.verify.child.load import dotted_name
from tclint.verify.job import PROGRAM, Candidate, Job
from tclint.verify.mains import is_program

SECONDS = 5
"""Of the processor, for the whole program in eager mode: an experiment runs it several times."""

Told = dict[str, float]
"""Values of a program by where they stand."""


def own_program(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    """The calls of a program that compiles by itself vary as they vary in earnest: no guess is needed."""
    path = candidate.path
    if not is_program(Path(path)):
        if candidate.name == PROGRAM:
            raise NoInputs(
                "it is no program: it compiles nothing, or calls nothing of it in a main block or at module level"
            )
        return None
    run = _runner(path)
    lasting: frozenset[str] = frozenset()
    try:
        with within(SECONDS), uncompiled():
            seeded(job.seed)
            first = run()
        if job.graphs:
            with within(SECONDS), uncompiled():
                seeded(job.seed)
                lasting = _lasting(first, run())
    except TooLong as error:
        words = f"the program takes {error}: listen to it with `tclint verify -- python {_short(job, path)}`"
        raise NoInputs(words) from error
    except (Exception, SystemExit) as error:
        raise NoInputs(f"the program does not run as it is: {type(error).__name__}: {str(error)[:160]}") from error

    def told() -> Told:
        return {name: value for name, value in run().items() if name in lasting}

    return Example(f"{_short(job, path)} as a program", lambda: told, lambda: [Call()], wrap=False, given=True)


def _short(job: Job, path: str) -> str:
    return os.path.relpath(path, job.root)


def _runner(path: str) -> Callable[[], Told]:
    name, _ = dotted_name(Path(path))
    if "." in name:
        return partial(_run, path, lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))
    return partial(_run, path, lambda: runpy.run_path(path, run_name="__main__"))


def _run(path: str, start: Callable[[], dict[str, Any]]) -> Told:
    """The numbers that the program prints: what it has read itself. A tensor that it keeps and never reads harms nobody."""
    before, out = sys.argv, sys.stdout
    sys.argv = [path]
    sys.stdout = printed = io.StringIO()
    try:
        start()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        sys.argv, sys.stdout = before, out
        out.write(printed.getvalue())
    return {f"number {n} of what it prints": x for n, x in enumerate(_numbers(printed.getvalue()), 1)}


_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?![\w.])")
DIGITS = 4
"""Of a printed number that is compared: what a clock says is not twice the same to so many."""


def _numbers(text: str) -> list[float]:
    told = (found[0] for found in _NUMBER.finditer(text))
    return [float(word) for word in told if len(re.sub(r"e.*|\D", "", word).lstrip("0")) >= DIGITS]


def _lasting(first: Told, second: Told) -> frozenset[str]:
    """What two runs in eager mode agree on to the last digit: the rest is chance, or a clock."""
    same = {name for name, value in first.items() if second.get(name) == value}
    return frozenset(same) if len(first) == len(second) else frozenset()
