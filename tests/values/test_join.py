"""Joining and widening: laws that hold for all values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from value_samples import SAMPLES

from tclint.values import (
    BOOL,
    CONSTANT,
    DATA_SIZED,
    FLOAT,
    INT,
    NONE,
    RAW,
    SIZE,
    STR,
    UNKNOWN,
    USED,
    Const,
    Dict,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join,
    join_all,
)

FLAT = st.sampled_from([s for s in SAMPLES if s.depth == 0])


def _containers(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    items = st.lists(inner, max_size=3)
    return st.one_of(
        st.builds(lambda kind, parts: Seq(kind, tuple(parts)), st.sampled_from(["list", "tuple"]), items),
        st.builds(lambda elem, length: Seq("list", None, elem, length), inner, st.sampled_from(["", "size"])),
        st.builds(lambda parts, rest: Dict(dict(zip("abc", parts, strict=False)), rest), items, st.none() | inner),
        st.builds(join_all, items),
    )


VALUES = st.recursive(FLAT, _containers, max_leaves=8)


def described(value: Value) -> set[object]:
    """What a value may be, without what depends on the order in which it was joined."""
    return {(type(o), o.python_type) for o in value.options}


@given(VALUES)
def test_a_value_joined_with_itself_is_itself(value: Value) -> None:
    assert join(value, value) is value


@given(VALUES, VALUES)
def test_the_order_does_not_matter(a: Value, b: Value) -> None:
    assert described(join(a, b)) == described(join(b, a))
    assert join(a, b).may_be_none() == join(b, a).may_be_none()


@given(VALUES, VALUES)
def test_none_is_never_lost(a: Value, b: Value) -> None:
    joined = join(a, b)
    assert joined is UNKNOWN or joined.may_be_none() == (a.may_be_none() or b.may_be_none())


@given(VALUES, VALUES)
def test_what_is_certain_of_a_join_is_certain_of_both(a: Value, b: Value) -> None:
    joined = join(a, b)
    if joined.truth() is not None:
        assert {a.truth(), b.truth()} == {joined.truth()}


@given(st.lists(VALUES, min_size=1, max_size=12))
def test_a_join_stays_small(values: list[Value]) -> None:
    joined = join_all(values)
    assert len(joined.options) <= 8
    assert joined.depth <= 5


@given(VALUES, VALUES)
def test_joining_again_adds_nothing(a: Value, b: Value) -> None:
    joined = join(a, b)
    if joined is not UNKNOWN:
        assert described(join(joined, b)) == described(joined)


@given(VALUES)
def test_widening_ends(value: Value) -> None:
    wide = value.widen()
    assert wide.widen().key == wide.key


@given(VALUES, st.sampled_from([NONE, INT, Tensor()]))
def test_nesting_is_bounded(value: Value, other: Value) -> None:
    for _ in range(12):
        value = Seq("tuple", (value, other))
        assert value.depth <= 5


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        (Const(1), Const(2), INT),
        (Const(1), Const(1.5), Scalar("number")),
        (Const(1), NONE, Union((Const(1), NONE))),
        (Const("a"), STR, STR),
        (SIZE, Const(3), SIZE),
        (INT, FLOAT, Scalar("number")),
        (INT, SIZE, SIZE),
        (INT, STR, Union((INT, STR))),
        (BOOL, Const(True), BOOL),
        (Seq("list", (INT,)), Seq("list", (STR,)), Seq("list", (Union((INT, STR)),))),
        (Seq("list", ()), Seq("list", (STR, STR)), Seq("list", None, STR)),
        (Seq("list", (INT,)), Seq("tuple", (INT, INT)), Seq("list", None, INT)),
        (Dict({"a": INT}), Dict({"a": STR, "b": INT}), Dict({"a": Union((INT, STR)), "b": INT})),
        (Union((INT, NONE)), Const(4), Union((INT, NONE))),
    ],
)
def test_joins(a: Value, b: Value, joined: Value) -> None:
    assert join(a, b).key == joined.key


def test_tensors_join_to_what_both_are() -> None:
    a = Tensor(dtype="f", ndim=2, flags=RAW | CONSTANT | DATA_SIZED, base="x", shape=(2, 3), marks=frozenset({0, 1}))
    b = Tensor(USED, dtype="f", ndim=1, flags=CONSTANT, shape=(4, 3), marks=frozenset({1}))
    joined = join(a, b)
    assert isinstance(joined, Tensor)
    assert (joined.conf, joined.dtype, joined.ndim, joined.base) == (USED, "f", -1, "x")
    assert joined.flags == CONSTANT | DATA_SIZED
    assert joined.shape == frozenset({(2, 3), (4, 3)})
    assert joined.marks == frozenset({1})


def test_a_union_of_too_many_is_unknown() -> None:
    distinct = [NONE, INT, STR, Tensor(), Seq("list", ()), Dict({}), *[s for s in SAMPLES if s.is_definition]]
    assert join_all(distinct[:8]) is not UNKNOWN
    assert join_all(distinct[:9]) is UNKNOWN


def test_widening_forgets_values_and_keeps_kinds() -> None:
    assert Const(3).widen().key == INT.key
    assert NONE.widen() is NONE
    assert Seq("tuple", (Const(1), Const("a"))).widen().key == Seq("tuple", None, Union((INT, STR))).key
    wide = Tensor(dtype="b", ndim=2, flags=DATA_SIZED).widen()
    assert isinstance(wide, Tensor)
    assert (wide.conf, wide.dtype, wide.ndim, wide.flags) == (USED, "b", -1, 0)
