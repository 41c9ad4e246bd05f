"""The program of a file itself: what runs under its `if __name__ == "__main__":`, with its own compile sites and calls."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from tclint.verify.child.compiling import uncompiled
from tclint.verify.child.inputs import Call, Example, NoInputs
from tclint.verify.child.load import dotted_name
from tclint.verify.child.replay import TooLong, within
from tclint.verify.job import PROGRAM, Candidate, Job
from tclint.verify.mains import is_program

SECONDS = 5
"""Of the processor, for the whole program in eager mode: an experiment runs it several times."""


def own_program(job: Job, candidate: Candidate, module: ModuleType) -> Example | None:
    """The calls of a program that compiles by itself vary as they vary in earnest: no guess is needed."""
    path = candidate.path
    if not is_program(Path(path)):
        if candidate.name == PROGRAM:
            raise NoInputs("it is no program: it has no `if __name__ == '__main__':`, or compiles nothing")
        return None
    run = _runner(path)
    try:
        with within(SECONDS), uncompiled():
            run()
    except TooLong as error:
        words = f"the program takes {error}: listen to it with `tclint verify -- python {_short(job, path)}`"
        raise NoInputs(words) from error
    except (Exception, SystemExit) as error:
        raise NoInputs(f"the program does not run as it is: {type(error).__name__}: {str(error)[:160]}") from error
    return Example(f"{_short(job, path)} as a program", lambda: run, lambda: [Call()], wrap=False, given=True)


def _short(job: Job, path: str) -> str:
    return os.path.relpath(path, job.root)


def _runner(path: str) -> Callable[[], None]:
    name, _ = dotted_name(Path(path))
    if "." in name:
        return partial(_run, path, lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))
    return partial(_run, path, lambda: runpy.run_path(path, run_name="__main__"))


def _run(path: str, start: Callable[[], dict[str, Any]]) -> None:
    before = sys.argv
    sys.argv = [path]
    try:
        start()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        sys.argv = before
