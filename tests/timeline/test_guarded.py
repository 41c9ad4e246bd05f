"""How a message tells what Dynamo holds against the next call."""

from __future__ import annotations

import pytest

from tclint.timeline.guarded import UNKNOWN, Exact, Guarded, Items, Number, Table, Tensor, Varies, text

LINEAR = Items("layer", (Exact("torch.nn.Linear", "'torch.nn.Linear'"), Number(24), UNKNOWN))


@pytest.mark.parametrize(
    ("guarded", "told"),
    [
        (Number(3), "3"),
        (Exact("key", "'cls'"), "'cls'"),
        (Varies("a random number"), "a random number"),
        (Tensor((4, None)), "4×?"),
        (Tensor(()), "a scalar"),
        (Items("list", (Number(1), Number(2))), "(1, 2)"),
        (Items("list", (Tensor((2,)),)), "1 item"),
        (Table("dict", (("a", Number(1)), ("b", UNKNOWN))), "{a, b}"),
        (LINEAR, "nn.Linear(24, …)"),
        (
            Items("layer", (Exact("torch.nn.Sequential", "'torch.nn.Sequential'"), LINEAR)),
            "nn.Sequential(nn.Linear(24, …))",
        ),
        (UNKNOWN, ""),
    ],
)
def test_a_value_as_a_message_shows_it(guarded: Guarded, told: str) -> None:
    assert text(guarded) == told
