"""Numbers that eager code draws: another one every time."""

from __future__ import annotations

import ast

import pytest
from small_programs import interpreter, module

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.values import Scalar, Tensor


@pytest.mark.parametrize(("expression", "type_"), [("np.random.randint(1, 9)", "int"), ("np.random.randint(9)", "int")])
def test_a_number_that_numpy_draws_is_drawn(expression: str, type_: str) -> None:
    interp = interpreter(a="import numpy as np\n")
    drawn = evaluate(Frame(interp, module(interp), None, {}, None), ast.parse(expression, mode="eval").body)
    assert isinstance(drawn, Scalar)
    assert (drawn.type, drawn.source) == (type_, "random")


def test_several_are_an_array() -> None:
    interp = interpreter(a="import numpy as np\n")
    several = ast.parse("np.random.randint(1, 9, size=4)", mode="eval").body
    assert isinstance(evaluate(Frame(interp, module(interp), None, {}, None), several), Tensor)
