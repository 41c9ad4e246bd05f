"""What may be computed, left out or moved without anybody noticing."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from tclint.fixes.places import deeper_than, is_atom
from tclint.fixes.purity import has_effects, only_logs, pure
from tclint.values import UNKNOWN, Scalar, Seq, Tensor, Value


class NoPlace:
    """Nothing is known of what these expressions call."""

    class event:
        class ask:
            @staticmethod
            def evaluate(node: ast.expr) -> Value:
                return UNKNOWN


SIZE = Scalar("int", "size")


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    "text",
    [
        *("x", "1.5", "-x", "x + y * 2", "x.shape", "x[0]", "x[..., -1]", "x[1:]", "x > 0", "x.sum(dim=-1)", "(x, y)"),
        *("torch.where(m, x, y)", "x.to(torch.float32)", "x.float().mean()", "float('-inf')"),
    ],
)
def test_pure(text: str) -> None:
    assert pure(NoPlace(), expression(text))  # type: ignore[arg-type]


class Known:
    """A place where every expression is of one kind."""

    def __init__(self, value: Value) -> None:
        self.event = SimpleNamespace(ask=SimpleNamespace(evaluate=lambda node: value))


@pytest.mark.parametrize(
    ("text", "value", "is_pure"),
    [
        ("x[1:n]", SIZE, True),
        ("x[: y.shape[0]]", SIZE, True),
        ("x[1:n]", Tensor(), False),
        ("x[::n]", SIZE, False),
        ("x[n]", SIZE, True),
        ("x[n]", Tensor(), False),
        ("x.reshape(*y.shape)", Seq("size", None, SIZE), True),
        ("x.reshape(*y)", Tensor(), False),
    ],
)
def test_pure_where_the_kind_is_known(text: str, value: Value, is_pure: bool) -> None:
    """A bound that lies outside selects less; a number that Python knows is in range or not whichever way a tensor decides, and
    an element that a tensor names may be there only one way."""
    assert pure(Known(value), expression(text)) == is_pure  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "None",
            "'words'",
            "not x",
            "x in y",
            "x is y",
            "0 < x < 1",
            "x[i]",
            "f(x)",
            "x.add_(1)",
            "x.item()",
            "x.sum(*a)",
        ),
        *("x.sum(**k)", "[x for x in y]", "(yield x)", "lambda: x", "float(x)", "x if y else z", "x[1:n]"),
    ],
)
def test_not_known_to_be_pure(text: str) -> None:
    assert not pure(NoPlace(), expression(text))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ("f(x)", False),
        ("f(x.pop())", True),
        ("f(next(it))", True),
        ("f(y := x)", True),
        ("f(x.add_(1))", True),
        ("f(x.shape)", False),
    ],
)
def test_effects_of_arguments(text: str, effects: bool) -> None:
    assert has_effects(expression(text)) is effects


@pytest.mark.parametrize(
    ("text", "logs"),
    [
        ("print(x)", True),
        ("logger.warning('a %s', x)", True),
        ("self.log.info_once('a')", True),
        ("print(queue.pop())", False),
        ("send(x)", False),
        ("y = print(x)", False),
    ],
)
def test_statements_that_only_log(text: str, logs: bool) -> None:
    (statement,) = ast.parse(text).body
    assert only_logs(statement) is logs


@pytest.mark.parametrize(
    ("text", "atom"),
    [("x", True), ("x.y", True), ("f(x)", True), ("x[0]", True), ("x + y", False), ("-x", False), ("lambda: x", False)],
)
def test_what_needs_no_brackets(text: str, atom: bool) -> None:
    assert is_atom(expression(text)) is atom


def test_depth() -> None:
    deep = expression("-" * 50 + "x")
    assert deeper_than(20, deep)
    assert not deeper_than(200, deep)
