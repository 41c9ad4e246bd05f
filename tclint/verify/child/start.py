"""The process that imports torch and runs the user's code: one job in, one JSON answer out.

    python start.py --serve          jobs on standard input, one JSON line each; every job runs in a fork of its own
    python start.py JOB ANSWER       one job, in this process

Run by path, in the user's interpreter, where tclint itself need not be installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tclint.verify.heard import Heard
    from tclint.verify.job import Job


def adopt_tclint() -> None:
    """Make `tclint` importable without its parent folder, which may be a whole site-packages, on `sys.path`."""
    folder = Path(__file__).resolve().parents[2]
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or ".") != here]
    init = folder / "__init__.py"
    if init.is_file():
        spec = importlib.util.spec_from_file_location("tclint", init, submodule_search_locations=[str(folder)])
        if spec is None or spec.loader is None:
            raise ImportError(f"no loader for {init}")
        package = importlib.util.module_from_spec(spec)
        sys.modules["tclint"] = package
        spec.loader.exec_module(package)
    else:
        package = ModuleType("tclint")
        package.__path__ = [str(folder)]
        sys.modules["tclint"] = package


def answer(job: Job, save: Callable[[Heard], None] | None = None) -> Heard:
    """Everything that could be learned about the job's places; `save` is given what is known so far."""
    import torch

    from tclint.verify.child import compiling
    from tclint.verify.child.plan import carry_out
    from tclint.verify.forks import fork_count, watch_forks
    from tclint.verify.heard import Heard

    if job.device.startswith("cuda") and not torch.cuda.is_available():
        return Heard(torch=torch.__version__, device=job.device, trouble="torch sees no CUDA device here")
    if job.device.startswith("cuda"):
        # A file of tests may hide the GPUs when it is imported: which ones there are is decided before.
        torch.cuda.init()
    torch.set_num_threads(max(1, job.threads))
    real_modes = job.graphs or (job.device != "cpu" and any(place.effect == "cudagraph" for place in job.places))
    if not real_modes:
        compiling.adopt_sites()
    watch_forks()
    told: dict[str, Any] = {"torch": torch.__version__, "python": sys.version.split()[0], "device": job.device}
    heard = carry_out(job, None if save is None else lambda known: save(replace(known, **told)))
    if fork_count():
        words = f"the target forked its process ({fork_count()} times): what the copies did is unknown"
        heard = replace(heard, runs=(), trouble=words)
    return replace(heard, **told)


def write_answer(path: str, data: dict[str, Any]) -> None:
    """The answer appears whole or not at all."""
    from tclint.verify.forks import leave_if_copy

    leave_if_copy()
    partial = path + ".part"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump(data, file)
    os.replace(partial, path)


def run_one(job_path: str, answer_path: str) -> None:
    from tclint.model import codec
    from tclint.verify.job import Job

    with open(job_path, encoding="utf-8") as file:
        data = json.load(file)
    part = os.path.join(os.path.dirname(answer_path), "so_far.json")
    if "diagnostic" in data:
        from tclint.diagnose.child.diagnostic import measure

        write_answer(answer_path, measure(data, lambda so_far: write_answer(part, so_far)))
        return
    write_answer(
        answer_path,
        codec.encode(answer(codec.decode(Job, data), lambda known: write_answer(part, codec.encode(known)))),
    )


def main(arguments: list[str]) -> int:
    sys.dont_write_bytecode = True
    if arguments == ["--serve"]:
        from tclint.verify.child.serve import serve

        serve(run_one, __file__)
        return 0
    run_one(*arguments)
    return 0


if __name__ == "__main__":
    adopt_tclint()
    # The modules below import `tclint.verify.child.*`; run the one copy of this file that they would see.
    from tclint.verify.child.start import main as _main

    sys.exit(_main(sys.argv[1:]))
