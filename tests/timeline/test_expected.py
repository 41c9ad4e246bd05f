"""How many programs modes may cost before anything is said of them."""

from __future__ import annotations

import pytest

from tclint.timeline.expected import of_modes
from tclint.timeline.guarded import Exact, Guarded, Moment
from tclint.timeline.policy import Policy, programs

OFF = frozenset({"no_grad", "inference_mode"})
FLAGS = ("training", "evaluation")


def call(flag: str, grad: str = "gradients", **others: str) -> Moment:
    told: dict[str, Guarded] = {"Net.training": Exact(flag, flag), "grad": Exact(grad, grad)}
    return {**told, **{name: Exact(value, value) for name, value in others.items()}}


TRAINS, JUDGES = call("training"), call("evaluation", "no_grad")


@pytest.mark.parametrize(
    ("calls", "made", "hazard"),
    [
        ([TRAINS, JUDGES, TRAINS, JUDGES], 2, False),
        ([TRAINS, JUDGES, call("training", "no_grad")], 3, False),
        ([call(flag, grad) for flag in FLAGS for grad in ("gradients", "no_grad")], 4, False),
        # Frozen for the other's turn, as well as training and evaluation.
        ([call("training", requires_grad=on) for on in ("yes", "no")] + [call(*FLAGS[1:], "no_grad")], 3, False),
        ([TRAINS, JUDGES, call("evaluation", "inference_mode")], 3, True),
        ([call("training", autocast=how) for how in ("", "bfloat16", "float16")], 3, True),
        ([call(flag, autocast=how) for flag in FLAGS for how in ("", "bfloat16")], 4, True),
    ],
)
def test_what_is_needed_is_no_hazard(calls: list[Moment], made: int, hazard: bool) -> None:
    assert len(programs(calls, Policy())) == made
    assert (made > of_modes(calls, Policy(), OFF)) is hazard
