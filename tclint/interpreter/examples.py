"""Example inputs that a file brings along: the strongest evidence of what a model is called with.

One public convention of benchmark suites is read: `get_init_inputs()` gives the arguments of the constructor, `get_inputs()`
those of `forward`. They belong to the modules of the file whose signatures take that many.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.interpreter.parameters import signature
from tclint.program import Class, Function, Module
from tclint.values import FunctionValue, Instance, Seq, Value

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter


class Examples:
    """Looks example inputs up by class."""

    def __init__(self, interp: Interpreter) -> None:
        self.interp = interp

    def arguments(self, cls: Class) -> tuple[Value, list[Value]] | None:
        """The instance and the arguments that a file's `get_inputs` gives one of its modules."""
        if cls.module.named("get_inputs") is None:
            return None
        inputs = self._items(cls.module, "get_inputs")
        initial = self._items(cls.module, "get_init_inputs") or []
        forward, init = (self.interp.classes.find_method(cls, name) for name in ("forward", "__init__"))
        if inputs is None or not _takes(forward, len(inputs)) or not _takes(init, len(initial)):
            return None
        frame = self.interp.names.frame(cls.module)
        receiver: Value = Instance(cls)
        if initial:
            with self.interp.emitter.silence:
                receiver = self.interp.objects.construct(frame, ast.Pass(), cls, initial, {})
        return receiver, inputs

    def _items(self, module: Module, name: str) -> list[Value] | None:
        """What a function of the file without parameters returns, None where there is none or its length is unknown."""
        function = module.named(name)
        if not isinstance(function, Function) or function.node.args.args:
            return None
        with self.interp.emitter.silence:
            frame = self.interp.names.frame(module)
            value = self.interp.functions.call(frame, function.node, FunctionValue(function), [], {})
        return list(value.items) if isinstance(value, Seq) and value.items is not None else None


def _takes(method: Function | None, count: int) -> bool:
    """Whether a method can be called with so many arguments by position."""
    if method is None:
        return count == 0
    known = signature(method)
    needed = sum(default is None for _, default in known.nodes[1:])
    return needed <= count and (bool(known.vararg) or count <= len(known.nodes) - 1)
