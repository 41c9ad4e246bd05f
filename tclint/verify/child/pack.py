"""What a script needs to make the same target and the same calls without tclint: written beside it, once."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch

from tclint.verify.child.experiments import Setup, fresh
from tclint.verify.child.inputs import Call, Example
from tclint.verify.heard import Run
from tclint.verify.job import Candidate, Job

INPUTS = "inputs.pt"
RECIPE = "recipe.json"
_CONVENTIONS = {"main(device)": "main"}


def write(
    job: Job, setup: Setup, candidate: Candidate, module: ModuleType, example: Example, calls: Sequence[Call] | None
) -> None:
    """The recipe; and, where no convention of the file itself makes them, the target and its calls as one file."""
    mode = _mode(job, example)
    kind = _CONVENTIONS.get(example.source, "")
    if not kind and example.source.endswith("get_inputs()") and calls is None:
        kind = "get_inputs"
    trouble = ""
    if not kind:
        kind = "file"
        try:
            target, own = fresh(setup, example, mode, None)
            made = [(call.args, dict(call.kwargs)) for call in (own if calls is None else calls)]
            torch.save({"target": target, "calls": made}, os.path.join(job.pack, INPUTS))
        except Exception as error:
            # A lambda, an open file, a class made inside a function: people have to write these lines themselves.
            trouble = f"the target cannot be written to a file: {type(error).__name__}: {str(error)[:200]}"
    recipe = {
        "kind": kind,
        "module": module.__name__,
        "path": candidate.path,
        "class": example.source.partition("(")[0] if kind == "get_inputs" else "",
        "mode": mode,
        "wrap": example.wrap,
        "trouble": trouble,
    }
    with open(os.path.join(job.pack, RECIPE), "w", encoding="utf-8") as file:
        json.dump(recipe, file)


def _mode(job: Job, example: Example) -> str:
    if not example.wrap:
        return ""
    return "train" if all(place.effect not in ("recompile", "cudagraph") for place in job.places) else "eval"


def worst(runs: Sequence[Run]) -> Run | None:
    """The sequence of calls that was compiled most often beyond what is right."""

    def excess(run: Run) -> Any:
        return max((frame.compiles for frame in run.frames), default=0) - run.expected

    return max(runs, key=excess, default=None)
