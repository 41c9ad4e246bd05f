"""What doubles with every step, or grows with the square of a chain, is bounded."""

from __future__ import annotations

import pytest
from interpreted import Interpreted
from lintkit import within
from small_programs import given, interpreter, value

from tclint import events
from tclint.values import STR, Const, Tensor

STEPS = 60
"""Far more than could be done if each doubled the work."""
HEAD = "import torch\nfrom functools import partial\nfrom torch import nn\n"


@pytest.mark.parametrize("text", ["'ab'", "b'ab'"])
def test_texts_that_are_added_to_themselves(text: str) -> None:
    interp = interpreter(a=f"def f():\n    y = {text}\n" + "    y = y + y\n" * STEPS + "    return y\n")
    with within(20):
        found = given(interp, "f")
    assert not isinstance(found, Const)
    assert interp.results.failures == []


def test_texts_of_a_usual_length_are_known() -> None:
    interp = interpreter(a="y = 'a' * 1000 + 'b'\nz = 'x' + ('y' * 70_000)\n")
    known = value(interp, "y")
    assert isinstance(known, Const)
    assert len(known.value) == 1001
    assert value(interp, "z") is STR


DOUBLING = {
    "closures": ("def compose(f, g):\n    return lambda x: f(g(x))\n", "lambda x: x", "compose(m, m)"),
    "partials": ("def first(f, *rest):\n    return f\n", "first", "partial(m, m)"),
    "partials with names": ("def first(f=None, g=None):\n    return f\n", "first", "partial(first, f=m, g=m)"),
    "layers": ("", "nn.Linear(1, 1)", "nn.Sequential(m, m)"),
    "lists of layers": ("", "nn.Linear(1, 1)", "nn.ModuleList([m, m])"),
    "compiled": ("", "nn.Linear(1, 1)", "torch.compile(nn.Sequential(m, m))"),
    "objects": (
        "class A:\n    def __init__(self, a, b):\n        self.a = a\n    def __call__(self, x):\n        return self.a(x)\n"
        + "class B(A): ...\nclass C(A): ...\nclass D(A): ...\n",
        "len",
        "D(C(B(A(m, m), A(m, m)), m), m)",
    ),
    "data classes": ("class A:\n    a: object\n    b: object\n", "1", "A(m, m)"),
    "tuples": ("", "1", "(m, m)"),
    "dicts": ("", "1", "{'a': m, 'b': m}"),
}


@pytest.mark.parametrize("name", DOUBLING)
def test_what_holds_itself_twice(name: str) -> None:
    before, first, step = DOUBLING[name]
    body = f"    m = {first}\n" + f"    m = {step}\n" * STEPS
    interp = interpreter(a=f"{HEAD}{before}def f(x: torch.Tensor):\n{body}    m(x)\n    return 'end'\n")
    with within(20):
        found = given(interp, "f")
    assert isinstance(found, Const)
    assert found.value == "end"
    assert interp.results.failures == []


def test_what_nests_a_little_is_known_in_full() -> None:
    before, first, step = DOUBLING["closures"]
    interp = interpreter(
        a=f"{HEAD}{before}def f(x: torch.Tensor):\n    m = {first}\n" + f"    m = {step}\n" * 5 + "    return m(x)\n"
    )
    assert isinstance(given(interp, "f"), Tensor)
    layers = interpreter(
        a=f"{HEAD}def f(x: torch.Tensor):\n    m = nn.Linear(1, 1)\n"
        + "    m = nn.Sequential(m)\n" * 7
        + "    return m(x)\n"
    )
    assert isinstance(given(layers, "f"), Tensor)


def test_a_chain_of_comparisons_branches_once_for_links_that_are_alike() -> None:
    program = Interpreted("def f(x: torch.Tensor):\n    return " + " < ".join(["x.sum()"] * 1000) + "\n")
    with within(20):
        program.returned()
    (branch,) = program.told(events.Branch)
    assert branch.keyword == "comparison chain"


def test_links_of_different_kinds_are_all_told() -> None:
    program = Interpreted("def f(x: torch.Tensor, n: int):\n    return 0 < n < x.shape[0] < x.sum() < 3\n")
    program.returned()
    assert [type(event.test).__name__ for event in program.told(events.Branch)] == ["Scalar", "Scalar", "Tensor"]


@pytest.mark.parametrize("operator", ["and", "or"])
def test_long_chains_of_conditions(operator: str) -> None:
    test = f" {operator} ".join(["x.sum() > 0"] * 2000)
    program = Interpreted(f"def f(x: torch.Tensor):\n    if {test}:\n        return 1\n    return x and ({test})\n")
    with within(20):
        program.returned()
    assert len(program.told(events.Branch)) == 2000 + 2000
