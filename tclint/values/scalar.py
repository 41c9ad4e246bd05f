"""A Python scalar of unknown value."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from tclint.timeline import guarded
from tclint.values.external import External
from tclint.values.library import MODELS
from tclint.values.method import Method
from tclint.values.origin import NOWHERE, Origin
from tclint.values.types import is_of
from tclint.values.value import NUMBER, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.timeline.guarded import Guarded

NUMBERS: Final = frozenset({"int", "float", "bool", "number"})
# A source that matters more than others: what is computed from it comes from it.
_STRONG: Final = ("random", "drawn", "size", "data")
ADDRESSES: Final = frozenset({"pointer", "id"})
"""Sources of numbers that stand for a place in memory."""
ENVIRONMENT: Final = "environment"
ITSELF: Final = -1
"""Of an argument: it is what was passed."""
COMPUTED: Final = -2
"""Of an argument: it varies with it."""
"""The source of what somebody may have set in place of a default."""


_FEW: Final = 4
"""So many values of a scalar are told apart."""
_VARYING: Final = {
    "random": "a random number",
    "counted": "counted up",
    "distinct": "another number in each turn",
    "read": "read out of a tensor",
}
"""Sources of numbers that are others from call to call, as a message tells it."""
RUNTIME: Final = frozenset({*_STRONG, *_VARYING})
"""Sources of what each call brings anew."""


class Scalar(Value):
    """A Python scalar of unknown value. `source` says where its value comes from:

    `size` from a tensor's shape, `data` out of a tensor, `arg` an argument of the compiled callable, `attr` an attribute
    of a module, `global` a module-level name, `counted` and `distinct` another number in each turn of a loop, `random` in
    each call, `drawn` by Python's `random` inside the graph, where Dynamo holds it as a tensor, `environment` a variable of the process that may be set, or nothing.
    """

    __slots__ = ("among", "key", "origin", "ref", "source", "type")
    rank = NUMBER

    def __init__(
        self,
        type: str,
        source: str = "",
        origin: Origin = NOWHERE,
        ref: tuple[str, int] | None = None,
        among: tuple[Any, ...] = (),
    ) -> None:
        self.type = type
        self.source = source
        self.origin = origin
        self.ref = ref  # the root parameter it comes from; for a size also the dimension, else ITSELF or COMPUTED
        self.among = among  # the few values that it can be, where they are known
        self.key = ("s", type, source, ref, among) if among else ("s", type, source, ref)

    def __repr__(self) -> str:
        return f"Scalar({self.type},{self.source})"

    @property
    def python_type(self) -> str:
        return self.type

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return Method(self, name)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        result = MODELS.texts.call_method(frame, node, self, name, args, keywords)
        if self.source == ENVIRONMENT and isinstance(result, Scalar):
            return Scalar(result.type, ENVIRONMENT, self.origin)  # `.lower()` of what is set comes from there too
        return result

    def unary(self, frame: Frame, node: ast.AST, operator: str) -> Value:
        if operator != "Abs" and is_drawn(self):
            return computed_with(frame, node, self, "arithmetic with a drawn number", self.type)
        return Scalar(self.type, self.source, self.origin, computed(self.ref))

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        if left.rank == NUMBER == right.rank:
            return number_arithmetic(frame, node, operator, left, right)
        return UNKNOWN

    def truth(self) -> bool | None:
        truths = {bool(each) for each in self.among}
        return truths.pop() if len(truths) == 1 else None

    def is_none(self) -> bool | None:
        return False

    def is_a(self, wanted: Value) -> bool | None:
        if self.type not in ("int", "float", "bool", "str"):
            return None
        return is_of(self.type, wanted.name) if isinstance(wanted, External) else None

    def guarded(self) -> Guarded:
        why = _VARYING.get(self.source)
        if self.type == "bool":
            return guarded.Varies("a random flag", "bool") if self.source == "random" else guarded.UNKNOWN
        return guarded.Varies(why, "int" if self.type == "int" else "float") if why else guarded.UNKNOWN

    def as_input(self, name: str, origin: Origin) -> Value:
        return Scalar(self.type, "arg", origin, (name, ITSELF), self.among)

    @property
    def argument(self) -> str:
        """The parameter of the compiled callable that this is, as it was passed; empty where it is none."""
        return self.ref[0] if self.source == "arg" and self.ref is not None and self.ref[1] == ITSELF else ""

    def join_alike(self, other: Scalar) -> Value | None:
        if self.key == other.key:
            return self
        source = self.source if self.source == other.source else (self.source or other.source)
        if source == "read" and "data" in (self.source, other.source):
            source = "data"  # on one of the ways the graph still keeps it
        if self.type == other.type:
            ref = self.ref or other.ref
            origin = self.origin if self.source else other.origin
            return Scalar(self.type, source, origin, computed(ref), few(self.among, other.among))
        if self.type in NUMBERS and other.type in NUMBERS:
            return Scalar("number", source, self.origin)
        return None

    def join_constant(self, value: Any) -> Value | None:
        """One value that covers it and a constant."""
        other = scalar_type(value)
        if self.type == other:
            among = few(self.among, (value,))
            if not self.argument and among == self.among:
                return self
            return Scalar(self.type, self.source, self.origin, computed(self.ref), among)
        if self.type in NUMBERS and other in NUMBERS:
            return Scalar("number", self.source, self.origin)
        return None


def computed(ref: tuple[str, int] | None) -> tuple[str, int] | None:
    """Where something comes from that is computed of it; a size computed from a size keeps its dimension."""
    return (ref[0], COMPUTED) if ref is not None and ref[1] == ITSELF else ref


def few(some: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of two scalars, where both have only a few."""
    both = tuple(dict.fromkeys((*some, *others))) if some and others else ()
    return both if len(both) <= _FEW else ()


SIZE: Final = Scalar("int", "size")
INT: Final = Scalar("int")
FLOAT: Final = Scalar("float")
BOOL: Final = Scalar("bool")
STR: Final = Scalar("str")
SCALARS: Final = {each.python_type: each for each in (INT, FLOAT, BOOL, STR)}
"""By the names of their types."""
COUNTED: Final = Scalar("int", "counted")


def scalar_type(value: Any) -> str:
    """The name of a Python constant's type as scalars have it."""
    name = "str" if isinstance(value, str) else type(value).__name__
    return name if name in ("int", "float", "bool", "str") else "other"


def number_arithmetic(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """`left operator right` for constants and scalars, not both of them constants."""
    type_a, type_b = left.python_type, right.python_type
    source_a, source_b = left.source, right.source
    if not ADDRESSES.isdisjoint((source_a, source_b)):
        frame.interp.emitter.operation(frame, node, operator, left, right)
        return INT
    if (source_a == "drawn" or source_b == "drawn") and type_a != "str" != type_b:
        for side in (left, right):
            if is_drawn(side):
                kind = "float" if operator == "Div" or "float" in (type_a, type_b) else side.python_type
                return computed_with(frame, node, side, "arithmetic with a drawn number", kind)
    source = source_a if source_a in _STRONG else source_b if source_b in _STRONG else source_a or source_b
    if {source_a, source_b} == {"size", "arg"} and "float" in (type_a, type_b):
        source = "arg"  # `x.shape[1] * ratio`: a size may become a symbol, and the float decides
    if source == "counted" and operator not in ("Add", "Sub", "Mult", "Div"):
        source = ""  # `i % 2` is no other number in each turn
    if type_a == "str" or type_b == "str":
        return STR
    if isinstance(left, Scalar) and left.source:
        origin = left.origin
    else:
        origin = right.origin if isinstance(right, Scalar) else frame.origin(node)
    # An argument that varies makes what is computed from it vary; a size computed from a size is another size.
    ref = None
    if source == "arg":
        ref = computed(left.ref if left.ref is not None and source_a == "arg" else right.ref or left.ref)
    if operator == "Div":
        return Scalar("float", source, origin, ref)
    if operator == "Pow" or type_a == "float" or type_b == "float":
        return Scalar("float" if type_a == "float" or type_b == "float" else "int", source, origin, ref)
    if type_a in ("int", "bool") and type_b in ("int", "bool"):
        return Scalar("int", source, origin, ref)
    return Scalar("number", source, origin, ref)


def is_drawn(value: Value) -> TypeGuard[Scalar]:
    """Whether Dynamo draws this number inside the graph, as a tensor: what Python computes with it is not traced."""
    return isinstance(value, Scalar) and value.source == "drawn"


def computed_with(frame: Frame, node: ast.AST, drawn: Scalar, feature: str, kind: str) -> Scalar:
    """What comes out where a drawn number is used as a feature of the language says: after the break, a plain number."""
    frame.interp.emitter.feature(frame, node, feature)
    return Scalar(kind, "", drawn.origin)


def is_text_of_tensor(value: Value) -> bool:
    """Whether this is a text with a tensor in it."""
    return type(value) is Scalar and value.type == "str" and value.source == "tensor"
