"""Eager code around a function that the program replaces by its compiled self."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from verify_helpers import finding_at

from tclint.model.finding import Effect
from tclint.verify import Outcome, VerifyOptions, verify

Project = Callable[[str, str], Path]

STEPS = """
    import torch

    def step(x, count: int):
        return x * count

    def run(x: torch.Tensor):
        for count in range(6):
            x = step(x, count)   # varies
        return x

    def same(x: torch.Tensor):
        for _ in range(6):
            x = step(x, 2)   # does not
        return x

    def main():
        global step
        step = torch.compile(step, dynamic=False)
        return run(torch.ones(2))
"""


@pytest.mark.dynamo
@pytest.mark.slow
def test_the_site_compiles_and_the_code_around_it_stays_eager(
    project: Project, tmp_path: Path, torch_python: str
) -> None:
    path = project("steps.py", STEPS)
    options = VerifyOptions(python=torch_python, root=str(tmp_path), timeout=200, keep=True)
    message = "`step` gets the integer `count`"
    findings = [
        replace(finding_at(path, text, Effect.RECOMPILE), message=message, eager=True, function=name)
        for text, name in (("# varies", "run"), ("# does not", "same"))
    ]
    varies, constant = verify(findings, options).verdicts
    assert varies.outcome is Outcome.CONFIRMED, varies.words
    assert "count" in varies.words
    assert varies.inputs.endswith("with step compiled")
    assert constant.outcome is not Outcome.CONFIRMED, constant.words
