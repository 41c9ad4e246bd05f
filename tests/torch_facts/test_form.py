"""The words of the table are read as they were meant."""

from __future__ import annotations

from tclint.torch_facts.form import parse
from tclint.torch_facts.kind import Kind, split


def test_a_tensor_has_dtype_and_rank() -> None:
    assert Kind.of("Tf2") == Kind("tensor", "f", 2)
    assert Kind.of("Nd1") == Kind("ndarray", "d", 1)
    assert Kind.of("Sd") == Kind("scalar", "d")
    assert Kind.of("Pf2").is_tensor


def test_containers_hold_kinds() -> None:
    assert Kind.of("list[int*]") == Kind("list", members=(Kind("int"),), alike=True)
    assert Kind.of("tuple[Tf3,tuple[Tf3*]]").members[1].alike
    assert Kind.of("tuple[Tf2,Ti2]").holds_tensors
    assert Kind.of("object:re.Pattern").type_name == "re.Pattern"


def test_words_that_begin_like_a_tensor_are_not_one() -> None:
    assert Kind.of("size") == Kind("size")
    assert Kind.of("set") == Kind("set")


def test_split_respects_brackets() -> None:
    assert split("Tf2,tuple[int,int],dim=int") == ["Tf2", "tuple[int,int]", "dim=int"]
    assert split("") == []


def test_a_form_of_a_function() -> None:
    form = parse("Tf2,int,keepdim=bool>Tf1 a:0", False)
    assert [argument.label for argument in form.arguments] == ["0", "1", "keepdim"]
    assert form.outcome == "traced"
    assert form.aliases == ("0",)


def test_a_form_of_a_method_has_a_receiver() -> None:
    form = parse("Tf0>float !GB0124 F r", True)
    assert form.arguments[0].label == "self"
    assert form.breaks
    assert form.reason == "GB0124"
    assert form.fullgraph_accepts
    assert form.reads_values


def test_a_form_without_arguments() -> None:
    assert parse(">int", False).arguments == ()
    assert parse(">float ^AssertionError", False).reason == "AssertionError"


def test_joining_keeps_what_is_common() -> None:
    assert Kind.of("Tf2").joined(Kind.of("Tf1")) == Kind("tensor", "f")
    assert Kind.of("Tf2").joined(Kind.of("Ti2")) == Kind("tensor", None, 2)
    assert Kind.of("Tf2").joined(Kind.of("int")) is None
