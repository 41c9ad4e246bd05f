"""An attribute that a finding says changes: as the target itself changes it, or between calls where it does not."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from tclint.verify.child import repeated
from tclint.verify.child.experiments import Setup
from tclint.verify.child.inputs import Call, Example
from tclint.verify.heard import Run

pytestmark = pytest.mark.dynamo


class Once(torch.nn.Module):
    """Sets up in its first call."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.ready:
            self.ready += 1
        return x + self.ready


class Counter(Once):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.ready += 1
        return x + self.ready


class Read(Once):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.ready


def run_of(cls: type) -> Run:
    setup = Setup(device="cpu", seed=0, wanted=lambda path: path == __file__, title="test")
    example = Example("test", cls, lambda: [Call((torch.ones(2, 3),))])
    return list(repeated.recompile_runs(example, setup, names=["self.ready"]))[-1]


@pytest.mark.parametrize(
    ("cls", "label", "too_often"),
    [
        (Once, "self.ready as the calls change it", False),
        (Counter, "self.ready as the calls change it", True),
        (Read, "self.ready changed between calls", True),
    ],
)
def test_what_the_target_does_once_is_no_counter(cls: type, label: str, too_often: bool) -> None:
    run = run_of(cls)
    assert run.label == label
    assert (max(frame.compiles for frame in run.frames) > run.expected) is too_often
