"""What Dynamo and the tensors say of `main.py` in the current folder, for benchmarks/fix_models.py.

python _judge.py INTO compiled|eager     the breaks into INTO.json, outputs and gradients into INTO.pt
python _judge.py FOLDER same             whether eager.pt and after.pt of FOLDER agree
"""

from __future__ import annotations

import json
import logging
import os
import re
import runpy
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import torch
import torch._dynamo
from torch._dynamo.utils import counters

CLOSE = {"rtol": 1e-3, "atol": 1e-4}


class Heard(logging.Handler):
    """The places at which the graph broke, each with how often: the innermost line that is not torch's own."""

    def __init__(self) -> None:
        super().__init__()
        self.breaks: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        artifact = getattr(record, "metadata", {}).get("artifact") or {}
        if artifact.get("name") != "dynamo_graph_break_reason":
            return
        text = str(getattr(record, "payload", ""))
        stack = re.findall(r'File "([^"]+)", line (\d+), in ', text.rpartition("User code traceback:")[2])
        own = [f"{os.path.basename(path)}:{line}" for path, line in stack if "/torch/" not in path]
        self.breaks[own[-1] if own else "?:0"] += 1


def run(into: Path, eager: bool) -> None:
    sys.path.insert(0, os.getcwd())
    heard = Heard()
    trace = logging.getLogger("torch.__trace")
    trace.setLevel(logging.DEBUG)
    trace.propagate, trace.handlers = False, [heard]
    outputs: list[list[torch.Tensor]] = []
    models: list[torch.nn.Module] = []
    compile_it = torch.compile

    def watched(model: torch.nn.Module, **options: Any) -> Any:
        models.append(model)
        made = model if eager else compile_it(model, **options)

        def step(*args: Any, **kwargs: Any) -> Any:
            # Each call by itself: a fix may draw more numbers than the code it is for.
            torch.manual_seed(1)
            numpy.random.seed(1)
            given = made(*args, **kwargs)
            outputs.append([v.detach().float().clone() for v in given.values() if isinstance(v, torch.Tensor)])
            return given

        return step

    torch.compile = watched  # type: ignore[assignment]
    error = None
    try:
        runpy.run_path("main.py", run_name="__main__")
    except Exception as fault:
        error = f"{type(fault).__name__}: {str(fault)[:400]}"
    grads = {n: p.grad for m in models for n, p in m.named_parameters() if p.grad is not None}
    torch.save((outputs, grads), into.with_suffix(".pt"))
    seen = {"breaks": heard.breaks, "graphs": counters["stats"].get("unique_graphs"), "error": error}
    into.with_suffix(".json").write_text(json.dumps(seen), encoding="utf-8")


def same(folder: Path) -> str:
    """Outputs one by one, and gradients; a parameter without a gradient is one with zeros."""
    (first, old), (second, new) = torch.load(folder / "eager.pt"), torch.load(folder / "after.pt")
    if [len(call) for call in first] != [len(call) for call in second]:
        return f"differ: {[len(call) for call in first]} outputs, {[len(call) for call in second]} afterwards"
    pairs = [pair for calls in zip(first, second, strict=True) for pair in zip(*calls, strict=True)]
    for name in old.keys() | new.keys():
        zeros = torch.zeros_like(old[name] if name in old else new[name])
        pairs.append((old.get(name, zeros), new.get(name, zeros)))
    bad = [
        i for i, (a, b) in enumerate(pairs) if a.shape != b.shape or not torch.allclose(a, b, **CLOSE, equal_nan=True)
    ]
    return f"differ: {len(bad)} of {len(pairs)} tensors" if bad or not pairs else f"same: {len(pairs)} tensors"


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[2] == "same":
        print(same(Path(sys.argv[1])))
    else:
        run(Path(sys.argv[1]), sys.argv[2] == "eager")
