"""Attributes of objects of the program: what constructors give them, and what eager code makes of them later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.interpreter import execute, parameters
from tclint.interpreter.frame import Frame
from tclint.program import Function
from tclint.values import (
    STATIC_OUT,
    UNKNOWN,
    Instance,
    Value,
    join,
)
from tclint.values.graph import is_graph

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter


class InstanceAttributes:
    """Knows what the attributes of instances hold, and which of them change."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._memo = interp.memo
        self._learned = interp.learned
        self._silence = interp.emitter.silence

    def of(self, instance: Instance) -> dict[str, Value]:
        """The attributes `__init__` gives an instance, computed once for each way of constructing it.

        What is set under names that are not known stands under `*`.
        """
        known = self._memo.attributes.get(instance.key)
        if known is None:
            known = self._memo.attributes[instance.key] = {}
            init = self._interp.classes.find_method(instance.cls, "__init__")
            if init is not None:
                self._run_init(instance, init)
        return known

    def _run_init(self, instance: Instance, init: Function) -> None:
        instance = instance.identified(0)  # as any of its kind
        with self._silence:
            try:
                construction = self._learned.constructions.get(instance.key)
                if construction is not None:
                    env = parameters.bind(self._interp, init, [instance, *construction[0]], construction[1], False)
                else:
                    env = parameters.entry(self._interp, init, instance, constructor=True)
                frame = Frame(self._interp, init.module, init, env, None)
                frame.constructing = True
                execute.run_block(frame, init.node.body)  # type: ignore[arg-type]
            except Exception as error:
                self._interp.results.failed(init, error)

    def store(self, frame: Frame, instance: Instance, name: str, value: Value, replace: bool = False) -> None:
        """Remember that an attribute was stored; in a constructor it joins what was stored before, unless it replaces it."""
        if instance.identity and frame.region is None:
            replayed = value.contains(STATIC_OUT) is not None or is_graph(value)
            self._interp.heap.write(instance, name, UNKNOWN if replayed else value)
            if frame.constructing and not replayed:
                return  # what any of its kind holds is found out apart
        if frame.constructing or value.contains(STATIC_OUT) is not None or is_graph(value):
            attrs = self._memo.attributes.setdefault(instance.key, {})
            old = attrs.get(name)
            attrs[name] = value if old is None or replace or not frame.constructing else join(old, value)
        elif value.holds_compiled():
            late = self._learned.late.setdefault((instance.cls.module.path, instance.cls.qualname), {})
            old = late.get(name)
            late[name] = value if old is None else join(old, value)
