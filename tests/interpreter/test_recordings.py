"""What captures by hand hold, deed by deed."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tclint.interpreter.frame import Frame
from tclint.interpreter.functions import Functions
from tclint.interpreter.recorded import Deed
from tclint.interpreter.recordings import Recordings
from tclint.model.settings import Settings
from tclint.program import Program
from tclint.run.parts import PartRunner
from tclint.values import UNKNOWN, FunctionValue, Value


def test_a_capture_that_is_begun_in_both_arms_of_an_if_is_one() -> None:
    """Lost once, it is gone: what runs after that is in no capture."""
    recordings = Recordings()
    frame = cast(Any, SimpleNamespace(region=None))
    recordings.repeat([Deed(kind, "g", UNKNOWN, frame, ast.Pass()) for kind in ("capture", "capture", "lose", "run")])
    assert recordings.seen == (1, 0, 0, 0, False)


LOOP = """
import torch

def helper(x):
    return x + 1

def bench(x, graph):
    with torch.cuda.graph(graph):
        y = helper(x)
    graph.replay()
    return y

def main():
    x = torch.ones(2, device="cuda")
    for size in range(10):
        bench(x, torch.cuda.CUDAGraph())
"""


def test_a_loop_that_captures_does_not_interpret_all_it_calls_in_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreted: list[str] = []
    original = Functions.interpreted

    def listen(self: Functions, frame: Frame, value: FunctionValue) -> Value:
        interpreted.append(value.function.name)
        return original(self, frame, value)

    monkeypatch.setattr(Functions, "interpreted", listen)
    program = Program.build([("m.py", "/p/m.py", LOOP.encode(), True)])
    runner = PartRunner(program, Settings(), (), ())
    runner.find_sites(program.modules)
    assert "helper" in interpreted
    assert max(interpreted.count("bench"), interpreted.count("helper")) <= 4
