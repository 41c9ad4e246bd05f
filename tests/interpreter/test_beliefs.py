"""What is believed to be a tensor without proof, and what the rest of the program says against it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from small_programs import cls, function, interpreter, module

from tclint.api import lint
from tclint.interpreter import fitting, parameters
from tclint.interpreter.expressions.comparisons import compare
from tclint.values import (
    BOOL,
    NAMED,
    NONE,
    PROVEN,
    UNKNOWN,
    USED,
    Const,
    Instance,
    Origin,
    Region,
    Seq,
    Tensor,
    Union,
    Value,
)
from tclint.values.flags import BY_NAME

FORWARD = """
    import torch
    from torch import nn
    class Net(nn.Module):
        def forward(self, x, y, mask, scores, weights):
            if y == 0 or not mask:
                return x
            if scores.max() > 0 and x.dim() == weights:
                return x
            weights = weights.sum()
            return x, y, mask, scores, weights
"""

CALLED = """
    from typing import Literal, Optional
    import torch
    def f(name: Optional[str], size: int, how: Literal["a", "b"], x: torch.Tensor, scale: float | torch.Tensor, y=1):
        return x
    def g(x, size, *, last):
        return size
"""


def believed(value: Value) -> int:
    return value.conf if isinstance(value, Tensor) else 0


def test_a_name_is_no_evidence_where_its_value_is_asked_for_as_it_is() -> None:
    interp = interpreter(a=FORWARD)
    env = parameters.entry(interp, function(interp, "Net.forward"), Instance(cls(interp, "Net")), Region(None))
    found = {name: believed(value) for name, value in env.items()}
    assert (found["y"], found["mask"]) == (NAMED, NAMED)
    assert found["scores"] == USED  # a method is called on it
    assert found["x"] == USED
    assert found["weights"] == USED  # it is another value by then


def test_who_is_given_an_argument_knows_better_than_its_name() -> None:
    interp = interpreter(a=FORWARD)
    named, used = Tensor(USED, flags=BY_NAME), Tensor(USED)
    forward, net = function(interp, "Net.forward"), Instance(cls(interp, "Net"))
    env = parameters.bind(interp, forward, [net, named, named, used, named, named], {}, False)
    assert [believed(env[name]) for name in ("x", "y", "mask", "scores", "weights")] == [USED, NAMED, USED, USED, USED]


@pytest.mark.parametrize(
    ("place", "given", "kind"),
    [
        (0, Union((Tensor(USED), UNKNOWN)), "str"),
        (0, Tensor(PROVEN), "str"),
        (1, Tensor(USED), "int"),
        (1, Union((Tensor(PROVEN), UNKNOWN)), "int"),
        (2, Tensor(USED), "str"),
    ],
)
def test_an_annotation_of_plain_python_outweighs_what_a_caller_believes(place: int, given: Value, kind: str) -> None:
    interp = interpreter(a=CALLED)
    args: list[Value] = [UNKNOWN] * 5
    args[place] = given
    env = parameters.bind(interp, function(interp, "f"), args, {}, False)
    value = env[("name", "size", "how")[place]]
    assert kind in {option.python_type for option in value.options}
    assert not any(isinstance(option, Tensor) for option in value.options)


def test_what_torch_made_stays_a_tensor_where_a_number_is_annotated() -> None:
    interp = interpreter(a=CALLED)
    made, either = Tensor(PROVEN, "i", 0), Tensor(USED)
    env = parameters.bind(interp, function(interp, "f"), [UNKNOWN, made, UNKNOWN, UNKNOWN, either], {}, False)
    assert env["size"] is made
    assert env["scale"] is either


def test_a_list_for_a_tensor_is_neither() -> None:
    interp = interpreter(a=CALLED)
    given = Seq("list", (Const(1), Const(2)))
    env = parameters.bind(interp, function(interp, "f"), [NONE, Const(1), Const("a"), given, given], {}, False)
    assert env["x"] is UNKNOWN
    assert env["scale"] is given
    tensor = Tensor(USED)
    either = Union((tensor, given))
    env = parameters.bind(interp, function(interp, "f"), [NONE, Const(1), Const("a"), either, either], {}, False)
    assert env["x"] is tensor
    assert env["scale"] is either


def test_a_call_that_leaves_something_out_means_another_function() -> None:
    interp = interpreter(a=CALLED)
    g = function(interp, "g")
    assert fitting.left_out(g, [Tensor()], {"last": NONE})
    assert fitting.left_out(g, [Tensor(), Const(1)], {})
    assert not fitting.left_out(g, [Tensor()], {"size": Const(1), "last": NONE})
    assert not fitting.left_out(g, [Seq("star", None, UNKNOWN)], {})
    assert not fitting.left_out(function(interp, "f"), [UNKNOWN] * 5, {})


@pytest.mark.parametrize("word", [NONE, Const("auto")])
def test_no_tensor_equals_none_or_a_word(word: Value) -> None:
    interp = interpreter(a=CALLED)
    frame = interp.names.frame(module(interp))
    doubtful = Union((Tensor(PROVEN), UNKNOWN))
    assert compare(frame, ast.parse("0").body[0], "Eq", doubtful, word) is BOOL
    assert compare(frame, ast.parse("0").body[0], "NotEq", word, doubtful) is BOOL


def test_a_flag_is_no_tensor_where_a_wrapper_hands_over_whatever_it_got() -> None:
    interp = interpreter(a="def f(x, several: bool, *, last: int = 0):\n    return several\n")
    proven = Tensor(PROVEN)
    f = function(interp, "f")
    assert believed(parameters.bind(interp, f, [proven, proven], {"last": proven}, False)["several"]) == PROVEN
    env = parameters.bind(interp, f, [proven, proven], {"last": proven}, True)
    assert (believed(env["x"]), env["several"].python_type, env["last"].python_type) == (PROVEN, "bool", "int")


OUT_OF_A_DICT = """
    from typing import Dict, Optional
    import torch
    def f(longest: int, x: torch.Tensor):
        return longest
    def g(packed: Optional[Dict[str, torch.Tensor]], x: torch.Tensor):
        return f(packed["longest"], packed["x"]), f(x, x)
"""


def test_who_says_int_knows_better_than_the_annotation_of_a_whole_dict() -> None:
    interp = interpreter(a=OUT_OF_A_DICT)
    env = parameters.entry(interp, function(interp, "g"), None, Region(None))
    one = Tensor(PROVEN, origin=Origin(6, function(interp, "g").node.args.args[0]))
    assert believed(env["x"]) == PROVEN
    called = parameters.bind(interp, function(interp, "f"), [one, one], {}, False)
    assert (believed(called["longest"]), believed(called["x"])) == (0, PROVEN)
    itself = parameters.bind(interp, function(interp, "f"), [env["x"], env["x"]], {}, False)
    assert believed(itself["longest"]) == PROVEN


ASKED = """\
from torch import nn


class Net(nn.Module):
    def extend(self, x, dim):
        if isinstance(dim, int):
            axes = list(range(-dim, 0))
        else:
            axes = list(dim)
        return x.sum(axes)

    def forward(self, x, dim):
        return self.extend(x, dim)
"""


def test_what_is_asked_for_a_number_is_no_surer_a_tensor(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(ASKED)
    assert not lint(["m.py"], cwd=str(tmp_path), isolated=True).findings


def test_what_has_elements_and_lies_on_a_device_is_a_tensor() -> None:
    interp = interpreter(
        a="""
    import torch
    def positions(ends, model, rows):
        start = torch.zeros(ends[-1], device=ends.device)
        return start + torch.ones(2, device=model.device) + len(rows[1:]) + model["size"]
    """
    )
    known = function(interp, "positions")
    assert parameters.used_as_tensor(known, parameters.signature(known)) == {"ends"}
