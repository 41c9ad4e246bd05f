"""What the facts call a value, and where a value comes from."""

from __future__ import annotations

import ast

import pytest

from tclint.values import ARRAY, INT, NONE, NOWHERE, PARAMETER, STR, UNKNOWN, Const, Dict, Origin, Seq, Tensor, Value
from tclint.values.kinds import kind_of
from tclint.values.place import path_of
from tclint.values.region import uses_cudagraphs


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Tensor(), "tensor"),
        (Tensor(flags=PARAMETER), "parameter"),
        (Tensor(flags=ARRAY), "ndarray"),
        (INT, "int"),
        (STR, "str"),
        (Const(True), "bool"),
        (Const(1.5), "float"),
        (NONE, "none"),
        (Dict({}), "dict"),
        (Seq("tuple", (INT, STR)), "tuple"),
        (Seq("list", (Tensor(),)), "list"),
    ],
    ids=repr,
)
def test_kinds(value: Value, name: str) -> None:
    kind = kind_of(value)
    assert kind is not None
    assert kind.name == name


def test_what_is_not_known_has_no_kind() -> None:
    assert kind_of(UNKNOWN) is None


@pytest.mark.parametrize(
    ("text", "path"),
    [("x", "x"), ("self.a", "self.a"), ("a.b.c", None), ("f(x)", None), ("x[0]", None), ("f().a", None)],
)
def test_the_path_of_an_expression(text: str, path: str | None) -> None:
    assert path_of(ast.parse(text, mode="eval").body) == path


def test_an_origin_quotes_its_text() -> None:
    node = ast.parse("x = a + b").body[0]
    assert isinstance(node, ast.Assign)
    assert Origin(1, node.value).text() == "a + b"
    assert NOWHERE.text() == ""


@pytest.mark.parametrize(
    ("mode", "backend", "options", "uses"),
    [
        ("reduce-overhead", None, None, True),
        ("max-autotune", None, None, True),
        ("max-autotune-no-cudagraphs", None, None, False),
        ("default", None, None, False),
        (None, "cudagraphs", None, True),
        (None, "eager", None, False),
        ("reduce-overhead", "eager", None, False),
        (None, None, {"triton.cudagraphs": True}, True),
        (None, None, {"triton.cudagraphs": False}, False),
    ],
)
def test_which_sites_use_cuda_graphs(mode: str, backend: str, options: dict[str, bool], uses: bool) -> None:
    assert uses_cudagraphs(mode, backend, options) is uses
