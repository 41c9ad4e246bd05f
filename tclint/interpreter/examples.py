"""Example inputs that a file brings along: the strongest evidence of what a model is called with.

Two conventions are read: `get_init_inputs()` / `get_inputs()` beside a class `Model`, and `build()` / `calls()`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.interpreter import calls
from tclint.program import Class, Function, Module
from tclint.values import UNKNOWN, FunctionValue, Instance, Seq, Value

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter


class Examples:
    """Looks example inputs up by class."""

    def __init__(self, interp: Interpreter) -> None:
        self.interp = interp

    def arguments(self, cls: Class) -> tuple[Value, list[Value]] | None:
        """The instance and the arguments a file's `get_inputs` gives its `Model`."""
        if cls.name != "Model":
            return None
        inputs = self._items(cls, "get_inputs")
        if inputs is None:
            return None
        frame = self.interp.module_frame(cls.module)
        initial = self._items(cls, "get_init_inputs")
        receiver: Value = Instance(cls)
        if initial:
            self.interp.quiet += 1
            try:
                receiver = self.interp.construct(frame, ast.Pass(), cls, initial, {})
            finally:
                self.interp.quiet -= 1
        return receiver, inputs

    def drive(self, module: Module) -> None:
        """Play `build()` and `calls()`: what is built is called with each of the listed argument tuples."""
        build, listed = module.names.get("build"), module.names.get("calls")
        if not isinstance(build, Function) or not isinstance(listed, Function):
            return
        frame = self.interp.module_frame(module)
        self.interp.quiet += 1
        try:
            built = self.interp.call_function(frame, build.node, FunctionValue(build), [], {})
            rows = self.interp.call_function(frame, listed.node, FunctionValue(listed), [], {})
        finally:
            self.interp.quiet -= 1
        if not isinstance(rows, Seq):
            return
        items = rows.items if rows.items is not None else (rows.elem, rows.elem, rows.elem)
        for row in items:
            if isinstance(row, Seq) and row.items is not None:
                calls.call(frame, build.node, built, list(row.items), {})

    def _items(self, cls: Class, name: str) -> list[Value] | None:
        function = cls.module.names.get(name)
        if not isinstance(function, Function):
            return None
        self.interp.quiet += 1
        try:
            value = self.interp.call_function(
                self.interp.module_frame(cls.module), function.node, FunctionValue(function), [], {}
            )
        finally:
            self.interp.quiet -= 1
        if isinstance(value, Seq) and value.items is not None:
            return [v if v is not None else UNKNOWN for v in value.items]
        return None
