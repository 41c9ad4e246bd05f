"""Dynamo's policy: by hand where no torch is needed, and against torch itself on random sequences of calls."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Sequence

import pytest
from lintkit import ROOT

from tclint.timeline.guarded import UNKNOWN, Exact, Guarded, Items, Number, Table, Tensor, Varies
from tclint.timeline.policy import LIMIT, Policy, programs


def count(values: Sequence[Guarded], policy: Policy = Policy()) -> int:  # noqa: B008
    """The programs that calls with one argument cost."""
    return len(programs([{"x": value} for value in values], policy))


def sizes(*batches: int) -> list[Guarded]:
    return [Tensor((batch, 8)) for batch in batches]


def test_a_size_that_changes_costs_one_more_program() -> None:
    assert count(sizes(4, 4, 4)) == 1
    assert count(sizes(4, 5, 6, 7)) == 2
    assert count(sizes(4, 5, 6, 7), Policy(dynamic=True)) == 1
    assert count(sizes(4, 5, 6, 7), Policy(dynamic=False)) == 4


def test_sizes_0_and_1_have_programs_of_their_own() -> None:
    assert count(sizes(1, 4, 5)) == 2
    assert count(sizes(4, 5, 1, 0, 1, 0)) == 4
    assert count([Tensor((size, 8), unbacked=frozenset({0})) for size in (4, 1, 0, 7)]) == 1


def test_another_rank_after_another_layout_is_a_program_and_no_error() -> None:
    turned = Tensor((3, 3), strides=(1, 3))
    assert count([Tensor((3, 3), strides=(3, 1)), turned, Tensor((3, 3, 3), strides=(9, 3, 1)), turned]) == 3


def test_parameters_stay_static() -> None:
    assert count([Tensor((size, 8), static=True) for size in (2, 3, 4, 5)]) == 4


def test_numbers_become_dynamic_as_arguments_and_not_as_attributes() -> None:
    assert count([Number(n) for n in (1, 2, 3, 4)]) == 2
    assert count([Number(n, "cell") for n in (1, 2, 3, 4)]) == 2
    assert count([Number(n, "attribute") for n in (1, 2, 3, 4)]) == 4
    assert count([Number(n, "global") for n in (1, 2, 3, 4)]) == 4
    assert count([Number(n, "attribute") for n in (1, 2, 3, 4)], Policy(dynamic_attributes=True)) == 2
    assert count([Number(f, "attribute") for f in (0.1, 0.2, 0.3)]) == 2
    assert count([Number(f, burned=True) for f in (0.1, 0.2, 0.3)]) == 3


def test_what_is_exact_costs_a_program_for_each_value() -> None:
    assert count([Exact("a"), Exact("b"), Exact("a"), Exact("c")]) == 3
    assert count([Exact(None), Number(1), Exact(None), Number(2)]) == 3
    assert count([Items("list", (Exact(1),) * n) for n in (1, 2, 3)]) == 3
    assert (
        count([Table("dict", (("a", Exact(1)), ("b", Exact(2)))), Table("dict", (("b", Exact(2)), ("a", Exact(1))))])
        == 2
    )


def test_none_is_no_tuple() -> None:
    nothing = Exact(("c", "NoneType", None))
    assert count([nothing, Items("tuple", (Tensor((4, 8)),)), Items("tuple", (Tensor((5, 8)),))]) == 3


def test_flags_that_are_drawn_go_both_ways() -> None:
    flag = Varies("a random flag", "bool")
    assert count([flag] * 6) == 2
    assert count([Items("list", (flag,) * 4)] * 7) > 2


def test_settings_of_dynamo_decide() -> None:
    assert count(sizes(4, 5, 6, 7), Policy.of(None, {"not automatic_dynamic_shapes"})) == 4
    assert count(sizes(4, 5, 6, 7), Policy.of(None, {"not assume_static_by_default"})) == 1
    assert count([Number(n, "attribute") for n in (1, 2, 3)], Policy.of(None, {"allow_unspec_int_on_nn_module"})) == 2
    assert count([Number(n) for n in (1, 2, 3)], Policy.of(None, {"specialize_int"})) == 3


def test_unknown_differs_from_nothing() -> None:
    assert count([UNKNOWN, Number(1), UNKNOWN, UNKNOWN]) == 1
    assert count([Tensor(None), Tensor((3, 4)), Tensor((None, 4)), Tensor((7, None))]) == 1


def test_the_limit_ends_it_and_the_reason_is_told() -> None:
    told = programs([{"x": Number(n, "attribute"), "y": Exact("same")} for n in range(20)])
    assert len(told) == LIMIT
    assert told[0].because == ()
    assert all(program.because == ("x",) for program in told[1:])


@pytest.mark.dynamo
def test_torch_says_the_same() -> None:
    pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location("policy_benchmark", ROOT / "benchmarks" / "policy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    logging.disable(logging.WARNING)
    try:
        wrong = [answer for answer in module.answers(0, 25) if answer.torch != answer.policy]
    finally:
        logging.disable(logging.NOTSET)
    assert wrong == []
