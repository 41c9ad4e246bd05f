"""Example inputs that a file brings along: the strongest evidence of what a model is called with.

Three conventions are read: `get_init_inputs()` / `get_inputs()` beside a class `Model`; `build()`, which gives a callable, with
`calls()`, which lists its argument tuples; and `programs()`, which lists pairs of a callable and its arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tclint.program import Class, Function, Module
from tclint.values import FunctionValue, Instance, Seq, Value

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
        frame = self.interp.names.frame(cls.module)
        initial = self._items(cls, "get_init_inputs")
        receiver: Value = Instance(cls)
        if initial:
            with self.interp.emitter.silence:
                receiver = self.interp.objects.construct(frame, ast.Pass(), cls, initial, {})
        return receiver, inputs

    def drive(self, module: Module) -> None:
        """Play the calls a file lists, so that what they pass is evidence."""
        frame = self.interp.names.frame(module)
        for target, args in self._listed(module):
            if isinstance(target, Instance) and self.interp.classes.is_nn_module(target.cls):
                self.interp.compile_sites.note_call(target, args, {})
            target.call(frame, ast.Pass(), args, {})

    def _listed(self, module: Module) -> Iterator[tuple[Value, list[Value]]]:
        programs = self._result(module, "programs")
        if isinstance(programs, Seq) and programs.items is not None:
            for pair in programs.items:
                if isinstance(pair, Seq) and pair.items is not None and len(pair.items) >= 2:
                    args = pair.items[1]
                    if isinstance(args, Seq) and args.items is not None:
                        yield pair.items[0], list(args.items)
        rows = self._result(module, "calls")
        built = self._result(module, "build") if rows is not None else None
        if isinstance(rows, Seq) and built is not None:
            # Where the list's length is unknown, three calls stand for all.
            for row in rows.items if rows.items is not None else (rows.elem, rows.elem, rows.elem):
                if isinstance(row, Seq) and row.items is not None:
                    yield built, list(row.items)

    def _result(self, module: Module, name: str) -> Value | None:
        """What a function of the file without parameters returns, None where there is none."""
        function = module.names.get(name)
        if not isinstance(function, Function) or function.node.args.args:
            return None
        with self.interp.emitter.silence:
            frame = self.interp.names.frame(module)
            return self.interp.functions.call(frame, function.node, FunctionValue(function), [], {})

    def _items(self, cls: Class, name: str) -> list[Value] | None:
        value = self._result(cls.module, name)
        if isinstance(value, Seq) and value.items is not None:
            return list(value.items)
        return None
