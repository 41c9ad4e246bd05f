"""A function of the program."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tclint.timeline import guarded
from tclint.values.constant import Const
from tclint.values.external import External
from tclint.values.scalar import STR
from tclint.values.value import MAX_NESTING, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Function
    from tclint.timeline.guarded import Guarded


class FunctionValue(Value):
    """A function of the program, perhaps bound to a receiver, perhaps closing over an environment."""

    __slots__ = ("_nesting", "bound", "closure", "function", "key")
    is_definition = True
    is_code = True

    def __init__(
        self, function: Function, bound: Value | None = None, closure: Mapping[str, Value] | None = None
    ) -> None:
        self.function = function
        self.bound = bound
        self.closure = closure
        self._nesting = 0
        key: Any = ("f", function.qualname, function.module.name, function.module.path, function.mark)
        if bound is not None:
            key = (*key, bound.key)
        if closure is not None:
            # A closure is told apart by the callables it captured: they decide which code runs.
            captured = [(n, closure[n]) for n in sorted(function.free_names() & closure.keys()) if closure[n].is_code]
            inner = max([value.nesting() for _, value in captured], default=0)
            self._nesting = inner + 1
            deep = inner >= MAX_NESTING
            key = (*key, "deep" if deep else tuple([(name, value.key) for name, value in captured]))
        self.key = key

    @property
    def is_made_here(self) -> bool:
        """Whether another function makes it, each time it runs."""
        return self.closure is not None and self.function.parent is not None

    def __repr__(self) -> str:
        return f"Function({self.function.qualname})"

    def nesting(self) -> int:
        return self._nesting

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        if not quiet and frame.region is not None:
            owner = "a function" if self.bound is None else "a method"
            frame.interp.emitter.feature(frame, node, f"{name if name[:2] == '__' else 'an attribute'} of {owner}")
            if name == "__get__" and self.is_made_here:
                frame.interp.emitter.feature(frame, node, f"{name} of a function that is made here")
        if name == "__name__" and not self.function.decorators:
            return Const(self.function.name)  # how programs tell the functions of a choice apart
        return STR if name in ("__name__", "__qualname__", "__doc__") else UNKNOWN

    def guarded(self) -> Guarded:
        return guarded.Exact(self.key, self.function.name)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return frame.interp.functions.call(frame, node, self, args, keywords, open_ended)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return self.attribute(frame, node, name).call(frame, node, args, keywords, open_ended)

    def truth(self) -> bool | None:
        return True

    def is_none(self) -> bool | None:
        return False

    def is_a(self, wanted: Value) -> bool | None:
        name = wanted.name if isinstance(wanted, External) else ""
        # A function is an instance of no class of torch, and of `object` alone among the builtins.
        return name == "builtins.object" if name.startswith(("torch.", "builtins.")) else None

    def bound_to(self, receiver: Value) -> Value:
        return FunctionValue(self.function, receiver, self.closure)
