"""Every kind of value answers every operation, and says what is true of it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from value_samples import BOX, DOUBLE, PROGRAM, SAMPLES, SITE, kinds

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.timeline.guarded import Guarded
from tclint.values import (
    BOOL,
    INPUT,
    INT,
    NONE,
    NOWHERE,
    OWNED,
    RAW,
    SIZE,
    STR,
    TRUE,
    UNKNOWN,
    ClassValue,
    Compiled,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Method,
    Object,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
)
from tclint.values.library import Models
from tclint.values.operators import binary

NODE = ast.parse("target.method(1)", mode="eval").body
VALUE = Value | None
TRUTH = bool | None

# How each operation is asked, and what kind of answer it gives.
OPERATIONS: dict[str, tuple[Callable[[Value, Frame], Any], Any]] = {
    "options": (lambda v, f: v.options, tuple),
    "python_type": (lambda v, f: v.python_type, str),
    "nesting": (lambda v, f: v.nesting(), int),
    "length_source": (lambda v, f: v.length_source, str),
    "attribute": (lambda v, f: [v.attribute(f, NODE, n, q) for n in NAMES for q in (False, True)], list),
    "call": (lambda v, f: v.call(f, NODE, [Tensor()], {"key": INT}), Value),
    "call_method": (lambda v, f: [v.call_method(f, NODE, n, [Const(1)], {}) for n in NAMES], list),
    "item": (lambda v, f: [v.item(f, NODE, i) for i in SAMPLES], list),
    "with_item": (lambda v, f: [v.with_item(i, Tensor()) for i in SAMPLES], list),
    "iterate": (lambda v, f: v.iterate(f, NODE), Value),
    "turns": (lambda v, f: v.turns(f, NODE, 8, 3), tuple),
    "overwritten": (lambda v, f: [v.overwritten(), v.overwritten("graph")], list),
    "taken": (lambda v, f: v.taken(), Value),
    "released": (lambda v, f: v.released(), Value),
    "mapped": (lambda v, f: v.mapped(1, lambda tensor: tensor), Value),
    "sized": (lambda v, f: [v.sized(w) for w in SAMPLES], list),
    "held_items": (lambda v, f: v.held_items(), tuple),
    "holding_items": (lambda v, f: v.holding_items(v.held_items()), Value),
    "fresh": (lambda v, f: v.fresh(), Value),
    "guarded": (lambda v, f: v.guarded(), Guarded),
    "known_items": (lambda v, f: v.known_items(f), tuple | None),
    "known_length": (lambda v, f: v.known_length(), int | None),
    "equals": (lambda v, f: v.equals(v), TRUTH),
    "has": (lambda v, f: v.has(Const("a")), TRUTH),
    "unary": (lambda v, f: [v.unary(f, NODE, o) for o in ("USub", "UAdd", "Invert", "Abs")], list),
    "operate": (
        lambda v, f: [binary(f, NODE, o, *p) for o in OPERATORS for w in SAMPLES for p in ((v, w), (w, v))],
        list,
    ),
    "compare": (lambda v, f: v.compare(f, NODE, "Lt", v, v), VALUE),
    "truth": (lambda v, f: v.truth(), TRUTH),
    "is_none": (lambda v, f: v.is_none(), TRUTH),
    "may_be_none": (lambda v, f: v.may_be_none(), bool),
    "without_none": (lambda v, f: v.without_none(), Value),
    "types": (lambda v, f: v.types(), tuple),
    "is_a": (lambda v, f: v.is_a(External("torch.Tensor")), TRUTH),
    "instance_of": (lambda v, f: v.instance_of(Seq("tuple", (External("builtins.int"), ClassValue(BOX.cls)))), TRUTH),
    "narrow": (lambda v, f: v.narrow(External("torch.Tensor")), VALUE),
    "contains": (lambda v, f: v.contains(OWNED), Tensor | None),
    "holds_compiled": (lambda v, f: v.holds_compiled(), bool),
    "decides_code": (lambda v, f: v.decides_code(), bool),
    "bound_to": (lambda v, f: v.bound_to(BOX), Value),
    "owned": (lambda v, f: v.owned(OWNED, SITE, NOWHERE), Value),
    "with_fields": (lambda v, f: v.with_fields({"mode": Const(1)}), Value),
    "as_input": (lambda v, f: v.as_input("x", NOWHERE), Value),
    "join_alike": (lambda v, f: v.join_alike(v), VALUE),
    "widen": (lambda v, f: v.widen(), Value),
}
NAMES = ("shape", "append", "get", "forward", "item", "values", "training", "__name__", "missing")
OPERATORS = ("Add", "Sub", "Mult", "Div", "Mod", "Pow", "BitOr", "BitAnd", "MatMult")


def test_every_kind_has_a_sample() -> None:
    assert set(kinds()) == {type(sample) for sample in SAMPLES}


def test_every_operation_is_asked() -> None:
    operations = {
        name
        for name, member in vars(Value).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }
    assert operations == set(OPERATIONS)


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: kind.__name__)
def test_every_kind_answers_every_operation(kind: type[Value]) -> None:
    for operation, (ask, answers) in OPERATIONS.items():
        for value in SAMPLES:
            if type(value) is kind:
                before = value.key
                answer = ask(value, PROGRAM.frame())
                assert isinstance(answer, answers), (operation, value)
                if isinstance(answer, list):
                    assert all(isinstance(each, Value) for each in answer), (operation, value)
                assert value.key == before, f"{operation}: a value never changes"


@pytest.mark.parametrize("value", SAMPLES, ids=repr)
def test_values_are_small_and_closed(value: Value) -> None:
    assert not hasattr(value, "__dict__")
    hash(value.key)


def test_a_missing_model_is_named() -> None:
    with pytest.raises(AttributeError, match="no model answers for tensors"):
        _ = Models().tensors


# --- Python -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def frame() -> Frame:
    PROGRAM.renew()
    return PROGRAM.frame()


def test_unknown_stays_unknown(frame: Frame) -> None:
    for answer in (
        UNKNOWN.attribute(frame, NODE, "anything"),
        UNKNOWN.call(frame, NODE, [], {}),
        UNKNOWN.call_method(frame, NODE, "anything", [], {}),
        UNKNOWN.item(frame, NODE, Const(0)),
        UNKNOWN.iterate(frame, NODE),
        binary(frame, NODE, "Add", UNKNOWN, Const(1)),
        UNKNOWN.widen(),
    ):
        assert answer is UNKNOWN


def test_what_only_tensors_have_makes_one_of_the_unknown(frame: Frame) -> None:
    assert UNKNOWN.attribute(frame, NODE, "shape").key == Seq("size", None, SIZE).key
    assert isinstance(UNKNOWN.call_method(frame, NODE, "masked_fill", [], {}), Tensor)


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("Add", Const(2), Const(3), Const(5)),
        ("Div", Const(1), Const(0), UNKNOWN),
        ("Mult", Const("ab"), Const(10**9), STR),
        ("Pow", Const(2), Const(10**6), INT),
        ("Add", SIZE, Const(1), Scalar("int", "size")),
        ("Div", SIZE, Const(2), Scalar("float", "size")),
        ("Add", INT, Scalar("float", "data"), Scalar("float", "data")),
        ("Mult", Scalar("int", "arg", ref=("n", -1)), Const(2), Scalar("int", "arg", ref=("n", -2))),
        ("Mod", Const("%s"), UNKNOWN, STR),
        ("BitOr", UNKNOWN, TRUE, TRUE),
        ("BitAnd", BOX, Const(False), Const(False)),
        ("BitOr", TRUE, Const(4), Const(5)),
        ("Add", Seq("list", (INT,)), Seq("list", (STR,)), Seq("list", (INT, STR))),
        ("Mult", Seq("list", (INT,)), Const(3), Seq("list", (INT, INT, INT))),
        ("Mult", Seq("list", (INT,)), SIZE, Seq("list", None, INT, "size")),
        ("BitOr", Dict({"a": INT}), Dict({"b": STR}), Dict({"a": INT, "b": STR})),
        ("Add", BOX, STR, STR),
        ("Add", STR, BOX, UNKNOWN),
        ("Add", Union((STR, NONE)), INT, UNKNOWN),
    ],
)
def test_arithmetic(frame: Frame, operator: str, left: Value, right: Value, result: Value) -> None:
    assert binary(frame, NODE, operator, left, right).key == result.key


def test_an_operation_with_an_object_is_told(frame: Frame) -> None:
    binary(frame, NODE, "Sub", Const(1), Object("decimal.Decimal"))
    (told,) = PROGRAM.told(events.Operation)
    assert (told.operator, told.left.key) == ("Sub", Const(1).key)


def test_a_tensor_decides_on_either_side(frame: Frame) -> None:
    for left, right in ((Tensor(dtype="i"), Const(1.5)), (Const(1.5), Tensor(dtype="i"))):
        result = binary(frame, NODE, "Mult", left, right)
        assert isinstance(result, Tensor)
        assert result.dtype == "f"
    maybe = binary(frame, NODE, "Add", Union((Tensor(dtype="f"), NONE)), Const(1))
    assert isinstance(maybe, Tensor)


@pytest.mark.parametrize(
    ("value", "index", "result"),
    [
        (Seq("tuple", (INT, STR)), Const(-1), STR),
        (Seq("tuple", (INT, STR)), Const(5), UNKNOWN),
        (Seq("tuple", (INT, STR, INT)), Seq("slice", (Const(1), NONE, NONE)), Seq("tuple", (STR, INT))),
        (Seq("size", None, SIZE, "x"), Const(1), Scalar("int", "size", ref=("x", 1))),
        (
            Seq("size", None, SIZE, "x"),
            Seq("slice", (Const(-1), NONE, NONE)),
            Seq("size", (Scalar("int", "size", ref=("x", -1)),)),
        ),
        (Seq("tuple", None, INT, "args"), Scalar("int"), UNKNOWN),
        (Dict({"a": INT}), Const("a"), INT),
        (Dict({"a": INT}), Const("b"), UNKNOWN),
        (Dict({External("torch.bool").key: INT}), External("torch.bool"), INT),
        (Dict({"a": INT}, STR), UNKNOWN, Union((INT, STR))),
        (Const("text"), INT, STR),
        (External("builtins.list"), External("builtins.int"), External("builtins.list")),
        (BOX, Const(7), Const(7)),
        (Instance(PROGRAM.cls("Pair"), "fields", {"first": INT, "second": STR}), Const(1), STR),
        (Union((Seq("list", (INT,)), NONE)), Const(0), INT),
    ],
)
def test_items(frame: Frame, value: Value, index: Value, result: Value) -> None:
    assert value.item(frame, NODE, index).key == result.key


def test_a_slice_of_a_sequential_is_one(frame: Frame) -> None:
    modules = Object("torch.nn.Sequential", args=Seq("list", (DOUBLE, BOX)))
    head = modules.item(frame, NODE, Seq("slice", (NONE, Const(1), NONE)))
    assert isinstance(head, Object)
    assert head.key == Object("torch.nn.Sequential", args=Seq("list", (DOUBLE,))).key
    assert modules.item(frame, NODE, Const(1)).key == BOX.key


@pytest.mark.parametrize(
    ("value", "element"),
    [
        (Seq("list", (INT, STR)), Union((INT, STR))),
        (Seq("list", ()), UNKNOWN),
        (Dict({"a": INT, "b": INT}), Scalar("str", among=("a", "b"))),
        (Object("torch.nn.ModuleList", args=Seq("list", None, BOX)), BOX),
        (BOX, INT),
        (Union((Seq("list", None, INT), NONE)), INT),
        (Const(3), UNKNOWN),
    ],
)
def test_iterating(frame: Frame, value: Value, element: Value) -> None:
    assert value.iterate(frame, NODE).key == element.key


def test_methods_that_change_a_list_put_it_back(frame: Frame) -> None:
    node = ast.parse("xs.append(1)", mode="eval").body
    frame.env["xs"] = Seq("list", (STR,))
    assert frame.env["xs"].call_method(frame, node, "append", [INT], {}) is NONE
    assert frame.env["xs"].key == Seq("list", (STR, INT)).key
    assert frame.env["xs"].call_method(frame, node, "pop", [], {}).key == INT.key
    assert frame.env["xs"].key == Seq("list", (STR,)).key


def test_a_partial_gives_its_arguments_first(frame: Frame) -> None:
    result = Partial(External("builtins.max"), (Const(1),), {}).call(frame, NODE, [Const(2)], {})
    assert result.key == INT.key


def test_a_method_is_called_on_its_receiver(frame: Frame) -> None:
    assert Method(Const("text"), "startswith").call(frame, NODE, [Const("te")], {}).key == TRUE.key


# --- what is known ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        (Const(0), False),
        (Const("a"), True),
        (NONE, False),
        (DOUBLE, True),
        (ClassValue(BOX.cls), True),
        (Seq("tuple", ()), False),
        (Seq("tuple", (INT,)), True),
        (Seq("list", ()), None),
        (Tensor(), None),
        (BOX, None),
        (UNKNOWN, None),
        (Union((TRUE, NONE)), None),
    ],
)
def test_truth(value: Value, truth: bool | None) -> None:
    assert value.truth() is truth


@pytest.mark.parametrize(
    ("value", "wanted", "answer"),
    [
        (Tensor(), External("torch.Tensor"), True),
        (Tensor(1), External("torch.Tensor"), None),
        (Tensor(), External("builtins.list"), False),
        (Tensor(), ClassValue(BOX.cls), False),
        (Const(True), External("builtins.int"), True),
        (Const(1), External("torch.Tensor"), False),
        (NONE, External("builtins.int"), False),
        (STR, External("builtins.str"), True),
        (Seq("list", ()), Seq("tuple", (External("builtins.tuple"), External("builtins.list"))), True),
        (Seq("generator", None), External("builtins.list"), None),
        (Dict({}), External("collections.abc.Mapping"), True),
        (BOX, External("torch.Tensor"), False),
        (Union((Tensor(), NONE)), External("torch.Tensor"), None),
        (Union((INT, Const(2))), External("builtins.int"), True),
        (UNKNOWN, External("builtins.int"), None),
    ],
)
def test_isinstance(value: Value, wanted: Value, answer: bool | None) -> None:
    assert value.instance_of(wanted) is answer


def test_none_is_taken_out() -> None:
    tensor = Tensor()
    assert Union((tensor, NONE)).without_none() is tensor
    assert Union((tensor, NONE)).may_be_none()
    assert Union((INT, STR, NONE)).without_none().key == Union((INT, STR)).key
    assert not Union((INT, STR)).may_be_none()
    assert NONE.may_be_none()
    assert NONE.without_none() is NONE


def test_narrowing() -> None:
    tensor = External("torch.Tensor")
    assert Union((Tensor(), INT)).narrow(tensor).key == Tensor().key  # type: ignore[union-attr]
    assert UNKNOWN.narrow(tensor) is None
    assert BOX.narrow(tensor) is BOX


def test_tensors_are_found_inside(frame: Frame) -> None:
    owned = Tensor(flags=OWNED)
    pair = Instance(PROGRAM.cls("Pair"), "fields", {"first": owned})
    for value in (owned, Seq("list", (INT, owned)), Dict({"a": owned}), Dict({}, owned), Union((NONE, owned)), pair):
        assert value.contains(OWNED) is owned
        assert value.contains(INPUT) is None
    deep: Value = owned
    for _ in range(3):
        deep = Seq("list", (deep,))
    assert deep.contains(OWNED) is owned
    assert deep.contains(OWNED, 2) is None


def test_what_a_compiled_call_hands_out() -> None:
    fresh = Seq("tuple", (Tensor(dtype="f"), Tensor(flags=INPUT))).owned(OWNED, SITE, NOWHERE)
    assert isinstance(fresh, Seq)
    assert fresh.items is not None
    made, passed = fresh.items
    assert isinstance(made, Tensor)
    assert isinstance(passed, Tensor)
    assert made.flags == OWNED
    assert made.site is SITE
    assert passed.flags == 0
    assert passed.site is None


def test_an_argument_of_a_compiled_callable_knows_its_name() -> None:
    tensor = Tensor(flags=OWNED, site=SITE).as_input("x", NOWHERE)
    assert isinstance(tensor, Tensor)
    assert (tensor.flags, tensor.base, tensor.site) == (INPUT | RAW, "x", None)
    assert Const(3).as_input("n", NOWHERE).key == Scalar("int", "arg", ref=("n", -1)).key
    assert TRUE.as_input("flag", NOWHERE) is TRUE
    assert (
        Seq("list", None, INT).as_input("xs", NOWHERE).key
        == Seq("list", None, Scalar("int", "arg", ref=("xs", -1)), "arg").key
    )


def test_binding_reaches_through_wrappers() -> None:
    for wrapped in (
        Compiled(DOUBLE, SITE),
        Partial(DOUBLE, (), {}),
        Object("torch.compiler.disable", kind="disabled", args=DOUBLE),
    ):
        bound = wrapped.bound_to(BOX)
        inner = bound.target if isinstance(bound, Compiled) else bound.func if isinstance(bound, Partial) else None
        inner = bound.args if isinstance(bound, Object) else inner
        assert isinstance(inner, FunctionValue)
        assert inner.bound is BOX
    assert BOOL.bound_to(BOX) is BOOL


def test_compiled_code_is_found_inside() -> None:
    compiled = Compiled(DOUBLE, SITE)
    for value in (compiled, Seq("list", (INT, compiled)), Dict({}, compiled), Union((NONE, compiled))):
        assert value.holds_compiled()
    assert Object("torch.nn.ModuleList", args=Seq("list", None, compiled)).holds_compiled()
    assert not DOUBLE.holds_compiled()


def test_what_decides_code() -> None:
    for value in (
        DOUBLE,
        BOX,
        External("torch.relu"),
        Object("torch.nn.ReLU"),
        Object("tokenizer"),
        Seq("list", (BOX,)),
    ):
        assert value.decides_code()
    for value in (INT, Tensor(), Object("logging.Logger"), Seq("list", (INT,)), UNKNOWN):
        assert not value.decides_code()
