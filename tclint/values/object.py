"""An object of a class outside the program."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tclint.timeline import guarded
from tclint.values.class_value import ClassValue
from tclint.values.compiled import Compiled
from tclint.values.constant import NONE, Const
from tclint.values.library import MODELS
from tclint.values.operators import asked
from tclint.values.origin import NOWHERE, Origin
from tclint.values.sequence import Seq
from tclint.values.value import MAX_NESTING, OBJECT, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.timeline.guarded import Guarded

ENUM: Final = "enum.Enum"
"""The name of an `Object` that is a member of an enumeration; its `kind` says which."""

CAUGHT: Final = "exception"
"""The kind of an `Object` that is an exception which a handler caught."""
MADE: Final = "made exception"
"""The kind of one that was made and not raised."""
TRACEBACK: Final = "types.TracebackType"

NAMESPACES: Final = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
"""Objects that are their fields and nothing else: `args` is a dict of them."""


class Object(Value):
    """An instance of a class outside the program: `logging.Logger`, `torch.nn.Linear`, a tokenizer."""

    __slots__ = ("_nesting", "args", "key", "kind", "made", "name", "origin")
    rank = OBJECT
    is_outside = True

    def __init__(
        self,
        name: str,
        origin: Origin = NOWHERE,
        kind: str = "",
        args: Value | None = None,
        made: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.origin = origin
        self.kind = kind
        self._nesting = 0
        if args is not None:
            self._nesting = args.nesting() + 1
            if self._nesting > MAX_NESTING:
                args, self._nesting = None, 0
        self.args = args  # the elements of a module container; the wrapped thing of a wrapper
        self.made = made  # what a module of torch was made with, as far as sizes depend on it; no part of its key
        self.key = ("x", name, kind, args.key if args is not None else None)

    def __repr__(self) -> str:
        return f"Object({self.name})"

    @property
    def maker(self) -> str:  # type: ignore[override]
        return self.name

    def nesting(self) -> int:
        return self._nesting

    def with_args(self, args: Value) -> Object:
        """The same object with other elements."""
        return Object(self.name, self.origin, self.kind, args, self.made)

    def join_alike(self, other: Object) -> Value | None:
        if self.key != other.key:
            return None
        return self if self.made == other.made else Object(self.name, self.origin, self.kind, self.args)

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return MODELS.objects.attribute(frame, node, self, name, quiet)

    def guarded(self) -> Guarded:
        if self.name in NAMESPACES and self.args is not None:
            fields = self.args.guarded()
            return replace(fields, kind=self.name) if isinstance(fields, guarded.Table) else guarded.UNKNOWN
        return guarded.Exact(self.key, self.kind) if self.name == ENUM else guarded.UNKNOWN

    def with_fields(self, fields: Mapping[str, Value]) -> Value:
        if self.name not in NAMESPACES or self.args is None:
            return self
        args = self.args
        for name, value in fields.items():
            args = args.with_item(Const(name), value)
        return self.with_args(args)

    def as_input(self, name: str, origin: Origin) -> Value:
        return self.with_args(self.args.as_input(name, origin)) if self.name in NAMESPACES and self.args else self

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return MODELS.objects.call(frame, node, self, args, keywords, open_ended)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return MODELS.objects.method(frame, node, self, name, args, keywords, open_ended)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        result = MODELS.objects.item(frame, node, self, index)
        asked(frame, node, self, self.name, "getitem", index)
        return result

    def with_item(self, index: Value, value: Value) -> Value:
        if self.args is None:
            return self
        if isinstance(self.args, Seq) and isinstance(value, Compiled):
            return self.with_args(Seq("list", None, value))
        return self.with_args(self.args.with_item(index, value))

    def iterate(self, frame: Frame, node: ast.AST) -> Value:
        return self.args.iterate(frame, node) if self.args is not None else UNKNOWN

    def turns(self, frame: Frame, node: ast.AST, most: int, later: int) -> tuple[Sequence[Value], bool]:
        if self.args is None or frame.region is not None:
            return super().turns(frame, node, most, later)
        items, exact = self.args.turns(frame, node, most, later)
        known = self.args.known_items(frame)
        if known is None or exact or len(known) <= most:
            return items, exact
        return [*items[:-1], known[-1]], True  # the last one may be another: a batch that is not full

    def unary(self, frame: Frame, node: ast.AST, operator: str) -> Value:
        frame.interp.emitter.operation(frame, node, operator, self, NONE)
        asked(frame, node, self, self.name, operator)
        return UNKNOWN

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        frame.interp.emitter.operation(frame, node, operator, left, right)
        made = asked(frame, node, self, self.name, operator, right) if left is self else ""
        return Object(made, frame.origin(node)) if made else UNKNOWN

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value | None:
        frame.interp.emitter.operation(frame, node, operator, left, right)
        if left is self:
            asked(frame, node, self, self.name, operator, right)
        return None

    def is_none(self) -> bool | None:
        return False

    def is_a(self, wanted: Value) -> bool | None:
        # What a call of torch's own class made is no object of a class of the program.
        made = isinstance(self.origin.node, ast.Call) and self.name.startswith("torch.nn.") and not is_some_module(self)
        return False if made and isinstance(wanted, ClassValue) else super().is_a(wanted)

    def holds_compiled(self) -> bool:
        return self.args is not None and self.args.holds_compiled()

    def decides_code(self) -> bool:
        return self.kind == "disabled" or MODELS.objects.decides_code(self.name)

    def bound_to(self, receiver: Value) -> Value:
        return self.with_args(self.args.bound_to(receiver)) if self.args is not None else self


def is_some_module(target: Value) -> bool:
    """Whether all that is known of a target is that it is a module, whichever."""
    return any(isinstance(option, Object) and option.name == "torch.nn.Module" for option in target.options)
