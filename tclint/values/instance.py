"""An object of a class of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.timeline import guarded
from tclint.values.constant import NONE
from tclint.values.external import External
from tclint.values.function import FunctionValue
from tclint.values.library import MODELS
from tclint.values.method import Method
from tclint.values.types import TENSOR_TYPES
from tclint.values.union import first_containing, join
from tclint.values.value import OBJECT, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Class
    from tclint.timeline.guarded import Guarded
    from tclint.values.origin import Origin
    from tclint.values.region import CompileSite
    from tclint.values.tensor import Tensor

_OPERATOR_METHODS: Final = {
    "Add": "__add__",
    "Sub": "__sub__",
    "Mult": "__mul__",
    "Div": "__truediv__",
    "MatMult": "__matmul__",
}


AS_BUILT: Final = "as built"
"""Stands in a context before the switches that the constructor was given, and keeps."""


class Instance(Value):
    """An object of a class of the program. `context` tells constructions with different arguments apart.

    `identity` is the number of an object that eager code has made, which two names may share; 0 for any object of the kind.
    """

    __slots__ = ("_nesting", "cls", "context", "fields", "identity", "key")
    rank = OBJECT
    is_code = True

    def __init__(
        self,
        cls: Class,
        context: Any = None,
        fields: Mapping[str, Value] | None = None,
        nesting: int = 0,
        identity: int = 0,
    ) -> None:
        self._nesting = nesting
        self.identity = identity
        self.cls = cls
        self.context = context
        self.fields = fields  # constructor keywords of a dataclass-like class
        self.key: Any = ("o", cls.qualname, cls.module.name, cls.module.path, context)
        if fields:
            self.key = (*self.key, tuple((k, v.key) for k, v in fields.items()))

    def __repr__(self) -> str:
        return f"Instance({self.cls.qualname})"

    def nesting(self) -> int:
        return self._nesting

    @property
    def switches(self) -> Mapping[str, Any]:
        """What the constructor was given and keeps as it is, by the attributes: flags, names and None."""
        last = self.context[-1] if isinstance(self.context, tuple) and self.context else ()
        return dict(last[1:]) if isinstance(last, tuple) and last and last[0] == AS_BUILT else {}

    def with_switches(self, switches: Mapping[str, Any]) -> Instance:
        """The same, told apart from those that were built with other switches; without any, whichever those are."""
        parts = tuple(self.context) if isinstance(self.context, tuple) else ()
        if self.switches:
            parts = parts[:-1]
        context = (*parts, (AS_BUILT, *switches.items())) if switches else parts
        return Instance(self.cls, context, self.fields, self._nesting, self.identity)

    def identified(self, identity: int) -> Instance:
        """The same as an object of its own, or as any of its kind where the identity is 0."""
        return Instance(self.cls, self.context, self.fields, self._nesting, identity)

    def with_held(self, held: Mapping[str, Value]) -> Instance:
        """The same with what its attributes hold, beside what its fields are."""
        return Instance(self.cls, self.context, {**(self.fields or {}), **held}, self._nesting, self.identity)

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return frame.interp.objects.attribute(frame, node, self, name)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return frame.interp.objects.call(frame, node, self, args, keywords, open_ended)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        found = frame.interp.objects.attribute(frame, node, self, name)
        if found is UNKNOWN and frame.region is not None:
            frame.interp.objects.tell_method(frame, node, self, name)
        if type(found) is Method and found.receiver is self:
            return MODELS.modules.method_of_instance(frame, node, self, name, args, keywords)
        result = found.call(frame, node, args, keywords, open_ended)
        return frame.interp.classes.settled(frame, node, self, name, result)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        return frame.interp.objects.item(frame, node, self, index)

    def iterate(self, frame: Frame, node: ast.AST) -> Value:
        return frame.interp.objects.iterate(frame, node, self)

    def turns(self, frame: Frame, node: ast.AST, most: int, later: int) -> tuple[Sequence[Value], bool]:
        walked = frame.interp.objects.walked(frame, node, self) if frame.region is None else None
        return walked.turns(frame, node, most, later) if walked is not None else super().turns(frame, node, most, later)

    def known_items(self, frame: Frame) -> tuple[Value, ...] | None:
        return frame.interp.objects.tuple_fields(self)

    def unary(self, frame: Frame, node: ast.AST, operator: str) -> Value:
        frame.interp.emitter.operation(frame, node, operator, self, NONE)
        return UNKNOWN

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        """Its dunder method, if the program defines it."""
        frame.interp.emitter.operation(frame, node, operator, left, right)
        if left is self and operator in _OPERATOR_METHODS:
            found = frame.interp.objects.attribute(frame, node, self, _OPERATOR_METHODS[operator])
            if isinstance(found, FunctionValue):
                result = found.call(frame, node, [right], {})
                if not (isinstance(result, External) and result.name == "builtins.NotImplemented"):
                    return result
                frame.interp.emitter.feature(frame, node, "operator that is NotImplemented")
        return UNKNOWN

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value | None:
        frame.interp.emitter.operation(frame, node, operator, left, right)
        return None

    def is_none(self) -> bool | None:
        return False

    def is_a(self, wanted: Value) -> bool | None:
        if isinstance(wanted, External) and (
            wanted.name in TENSOR_TYPES or wanted.name in ("builtins.list", "builtins.tuple")
        ):
            return False
        return None

    def contains(self, flag: int, depth: int = 3) -> Tensor | None:
        return first_containing(self.fields.values(), flag, depth) if self.fields else None

    def owned(self, flags: int, site: CompileSite | None, origin: Origin) -> Value:
        if self.fields is None:
            return self
        fields = {k: v.owned(flags, site, origin) for k, v in self.fields.items()}
        return Instance(self.cls, self.context, fields, self._nesting, self.identity)

    def mapped(self, of: int, change: Callable[[Tensor], Tensor]) -> Value:
        if self.fields is None or self.contains(of) is None:
            return self
        fields = {k: v.mapped(of, change) for k, v in self.fields.items()}
        return Instance(self.cls, self.context, fields, self._nesting, self.identity)

    def with_fields(self, fields: Mapping[str, Value]) -> Value:
        if self.fields is None:
            return self
        return Instance(self.cls, self.context, {**self.fields, **fields}, self._nesting, self.identity)

    def guarded(self) -> Guarded:
        if self.fields is None:
            return guarded.UNKNOWN
        fields = tuple((name, value.guarded()) for name, value in sorted(self.fields.items()))
        # A field that is left to its default is there all the same.
        return guarded.Table(self.cls.qualname, fields, some=True)

    def join_alike(self, other: Instance) -> Value | None:
        if self.key == other.key:
            return self if self.identity == other.identity else self.identified(0)
        if self.fields and other.fields and self.cls is other.cls and self.fields.keys() == other.fields.keys():
            fields = {name: join(value, other.fields[name]) for name, value in self.fields.items()}
            return Instance(self.cls, self.context, fields, max(self._nesting, other._nesting))
        if self.cls is not other.cls:
            return None
        if self.switches or other.switches:
            mine, others = (each.with_switches({}).identified(0) for each in (self, other))
            return mine if mine.key == others.key else Instance(self.cls)
        return Instance(self.cls)

    def widen(self) -> Value:
        return Instance(self.cls)
