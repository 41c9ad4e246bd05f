"""Expressions: the value of each, and what the rules are told."""

from __future__ import annotations

import ast

import pytest
from interpreted import function_of, value_of

from tclint import events
from tclint.interpreter import evaluate as table
from tclint.values import (
    BOOL,
    FALSE,
    INT,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    External,
    FunctionValue,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
)


def tensor(value: Value) -> Tensor:
    assert isinstance(value, Tensor), value
    return value


def size(dim: int) -> Scalar:
    return Scalar("int", "size", ref=("x", dim))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1", Const(1)),
        ("...", External("builtins.Ellipsis")),
        ("(1, 'a')", Seq("tuple", (Const(1), Const("a")))),
        ("[1, *(2, 3)]", Seq("list", (Const(1), Const(2), Const(3)))),
        ("[1, *u]", Seq("list", None, Union((Const(1), UNKNOWN)))),
        ("{'a': 1, **{'b': 2}}", Dict({"a": Const(1), "b": Const(2)})),
        ("{'a': 1, **u}", Dict({"a": Const(1)}, UNKNOWN)),
        ("1 + 2 * 3", Const(7)),
        ("-5", Const(-5)),
        ("~6", Const(-7)),
        ("not 0", TRUE),
        ("not u", BOOL),
        ("missing", UNKNOWN),
        ("len", External("builtins.len")),
        ("torch.float16", External("torch.float16")),
        ("'%d items' % n", STR),
        ("f'{u}'", STR),
        ("f'{s}'", Scalar("str", "arg")),
        ("f'{x}'", Scalar("str", "tensor")),
        ("(lambda: 4)()", Const(4)),
        ("(y := 3) + y", Const(6)),
        ("[i * 2 for i in (1, 2)]", Seq("list", (Const(2), Const(4)))),
        ("{k: 1 for k in ('a', 'b')}", Dict({"a": Const(1), "b": Const(1)})),
        ("[i for i in range(n)]", Seq("list", None, INT, "arg")),
        (
            "[(a, b) for a in (1, 2) for b in (3,)]",
            Seq("list", (Seq("tuple", (Const(1), Const(3))), Seq("tuple", (Const(2), Const(3))))),
        ),
        ("(i for i in (1,))", Seq("generator", (Const(1),))),
        ("1 if 1 < 2 else 's'", Const(1)),
        ("1 if flag else 's'", Union((Const(1), Const("s")))),
        ("0 or 's'", Const("s")),
        ("n or 's'", Union((Scalar("int", "arg", ref=("n", -1)), Const("s")))),
        ("None and u", NONE),
        ("(1, 2, 3)[1:]", Seq("tuple", (Const(2), Const(3)))),
        ("x.shape[0]", size(0)),
        ("x.shape[-2:]", Seq("size", (size(-2), size(-1)))),
        ("list[int]", External("builtins.list")),
    ],
)
def test_values(expression: str, value: Value) -> None:
    assert value_of(expression).key == value.key


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 < 2", TRUE),
        ("1 == 'a'", FALSE),
        ("x is None", FALSE),
        ("maybe is None", BOOL),
        ("None is not None", FALSE),
        ("u is None", BOOL),
        ("'a' in ('a', 'b')", TRUE),
        ("1 in (True, 2)", FALSE),
        ("'a' not in {'a': 1}", FALSE),
        ("'a' in u", BOOL),
        ("x == None", FALSE),
        ("x != 'left'", TRUE),
        ("x.shape[0] > 2", Scalar("bool", "size", ref=("x", 0))),
        ("x.sum().item() > 2", Scalar("bool", "data")),
        ("n == u", Scalar("bool", "arg", ref=("n", -2))),
    ],
)
def test_comparisons(expression: str, value: Value) -> None:
    assert value_of(expression).key == value.key


@pytest.mark.parametrize("expression", ["x > 0", "0 < x", "x == x", "x.sum() >= n"])
def test_comparing_tensors_gives_a_tensor_of_bools(expression: str) -> None:
    assert tensor(value_of(expression)).dtype == "b"


def test_a_chain_of_comparisons_asks_for_the_truth_of_each() -> None:
    program = function_of("0 < x.sum() < 3")
    program.returned()
    assert [e.keyword for e in program.told(events.Branch)] == ["comparison chain"]


@pytest.mark.parametrize(
    ("setup", "expression", "value"),
    [
        ("if maybe is None:\n    maybe = x", "maybe is None", FALSE),
        ("if u is None:\n    return 1", "u", Union((Const(1), UNKNOWN))),
        ("if not isinstance(u, int):\n    return 2", "u", INT),
        ("y = 1 if flag else None\nif y:\n    return y", "y", Union((Const(1), NONE))),
        ("assert isinstance(u, dict)", "u", Dict({}, UNKNOWN)),
        ("while True:\n    y = 3\n    break", "y", Const(3)),
    ],
)
def test_conditions_refine_what_they_test(setup: str, expression: str, value: Value) -> None:
    assert value_of(expression, setup).key == value.key


def test_isinstance_splits_a_union() -> None:
    setup = "y = x if flag else [1]\nif isinstance(y, torch.Tensor):\n    z = 'tensor'\nelse:\n    z = y"
    assert value_of("z", setup).key == Union((Const("tensor"), Seq("list", (Const(1),)))).key


def test_a_subscript_is_told_for_each_thing_that_the_receiver_may_be() -> None:
    program = function_of("y[0]", "y = [1] if flag else {0: 's'}")
    assert program.returned().key == Union((Const(1), Const("s"))).key
    assert sorted(type(e.receiver).__name__ for e in program.told(events.Subscript)) == ["Dict", "Seq"]


def test_a_walrus_in_a_comprehension_binds_outside() -> None:
    assert value_of("y", "[y := i for i in (1, 2)]").key == Const(2).key


def test_a_generator_function_gives_what_it_yields() -> None:
    before = "def numbers():\n    yield 1\n    yield from (2, 'a')\n"
    assert value_of("numbers()", before=before).key == Seq("generator", None, Union((INT, Const("a")))).key


def test_arguments_are_spread() -> None:
    before = "def g(a, b, *, c=0):\n    return (a, b, c)\n"
    assert value_of("g(*(1, 2), **{'c': 3})", before=before).key == Seq("tuple", (Const(1), Const(2), Const(3))).key


def test_super_finds_the_next_class() -> None:
    before = """
    class A:
        def name(self):
            return "a"

    class B(A):
        def name(self):
            return super().name() + "b"
    """
    assert value_of("B().name()", before=before).key == Const("ab").key


def test_a_lambda_keeps_its_surroundings() -> None:
    made = value_of("lambda: y", "y = 2")
    assert isinstance(made, FunctionValue)
    assert made.closure is not None
    assert made.closure["y"].key == Const(2).key


def test_a_long_chain_of_operators_needs_no_recursion() -> None:
    assert value_of(" + ".join(["1"] * 800)).key == Const(800).key


def test_every_kind_of_expression_has_a_handler() -> None:
    kinds = {kind for kind in ast.expr.__subclasses__() if kind.__module__ == "ast" and not kind.__subclasses__()}
    # Python's own leftovers, and a part of a format string that is read with the string.
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "TypeVar", "TemplateStr", "Interpolation"}
    missing = {kind.__name__ for kind in kinds if kind not in table._HANDLERS} - old - {"FormattedValue"}
    assert missing == set()


def test_a_node_of_an_unknown_kind_is_unknown() -> None:
    class New(ast.expr):
        pass

    assert table.evaluate(function_of("1").frame(), New()) is UNKNOWN
