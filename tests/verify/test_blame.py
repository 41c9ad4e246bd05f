"""Whose fault an error is: the arguments that the failing statement speaks of, and what its condition wants."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from tclint.verify.child.blame import blamed, compared_with, looked_into, looked_up
from tclint.verify.child.inputs import Call
from tclint.verify.child.nested import Described, call_of, parts_of
from tclint.verify.child.wishes import Wish, wishes
from tclint.verify.guess import TensorSpec


def raised(function: Callable[..., Any], **given: Any) -> Exception:
    try:
        function(**given)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def deeper(codes: torch.Tensor) -> int:
    batch, time, many = codes.shape
    return batch * time * many


def handed_on(first: torch.Tensor, second: torch.Tensor) -> int:
    return first.shape[0] + deeper(second)


def test_an_argument_is_blamed_under_the_name_that_it_was_passed_by() -> None:
    given = {"first": torch.ones(2, 3), "second": torch.ones(2, 3)}
    assert blamed(raised(handed_on, **given), given) == ["second", "first"]


def indexed(block: int, layers: Any) -> Any:
    return [block, layers[0]]


def test_only_the_failing_expression_counts() -> None:
    given = {"block": 2, "layers": 5}
    assert blamed(raised(indexed, **given), given) == ["layers"]


def listed(features: list[torch.Tensor]) -> torch.Tensor:
    first = features[0]
    return first @ first


def test_an_element_stands_for_its_list() -> None:
    features = [torch.ones(2, 3), torch.ones(2, 3)]
    assert blamed(raised(listed, features=features), {"features": features, "other": 3}) == ["features"]


TABLE = {"small": 1, "large": 2}


def chosen(size: str) -> int:
    return TABLE[size]


def test_the_keys_of_the_dict_in_which_one_was_not_found() -> None:
    assert looked_up(raised(chosen, size="middle")) == ["small", "large"]
    assert looked_up(raised(listed, features=[])) == []


def counted(codes: torch.Tensor, count: int) -> None:
    assert codes.shape[-1] == count and codes.dim() > 1  # noqa: PT018


def bounded(powers: int) -> None:
    if powers > 4:
        raise ValueError("too many")


def shared(rows: int, parts: int) -> None:
    if rows % parts:
        raise ValueError("not alike")


def worded(style: str) -> int:
    if style == "warm" or style in ("cold", "mild"):
        return 1
    raise ValueError(f"no style {style}")


def deep(batch: Any) -> Any:
    return batch.out["logits"][0]


def test_words_that_the_failing_function_knows() -> None:
    assert compared_with(raised(worded, style="hot"), "hot") == ["warm", "cold", "mild"]
    assert compared_with(raised(worded, style="hot"), "other") == []


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_what_is_asked_for_by_a_word_is_no_tensor() -> None:
    batch = SimpleNamespace(out=torch.ones(2, 3))
    found = looked_into(raised(deep, batch=batch), {"batch": batch, "batch.out": batch.out})
    assert list(found) == [("batch.out", "logits")]


def called(words: list[str]) -> None:
    assert words.pop() == "x"


def test_a_condition_says_what_there_was_and_what_it_wants() -> None:
    assert wishes(raised(counted, codes=torch.ones(3), count=6)) == [Wish(3, 6), Wish(6, 3), Wish(1, 2), Wish(1, 0)]
    assert wishes(raised(bounded, powers=9)) == [Wish(9, 4), Wish(4, 9)]
    assert wishes(raised(shared, rows=8, parts=3)) == [Wish(8, 9), Wish(3, 2)]


def test_nothing_is_asked_again_that_does_something() -> None:
    words = ["y", "z"]
    assert wishes(raised(called, words=words)) == []
    assert words == ["y"]


class Pair:
    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


def test_parts_are_made_into_what_holds_them() -> None:
    one = TensorSpec((1,))
    inputs = {"a": Described(Pair), "a.left": one, "a.right.deep[key]": one, "b[x]": 4, "*rest": (one,)}
    call: Call = call_of(inputs, "cpu")
    assert isinstance(call.kwargs["a"], Pair)
    assert call.kwargs["a"].right.deep["key"].shape == (1,)
    assert call.kwargs["b"] == {"x": 4}
    assert parts_of(inputs, call)["a.right.deep[key]"] is call.kwargs["a"].right.deep["key"]
