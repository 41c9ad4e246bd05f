"""Attributes of objects of the program: what constructors give them, and what eager code makes of them later."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.interpreter import execute, parameters
from tclint.interpreter.frame import Frame
from tclint.program import Function
from tclint.values import (
    PARAMETER,
    Const,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Value,
    join,
)

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
        if frame.constructing:
            attrs = self._memo.attributes.setdefault(instance.key, {})
            old = attrs.get(name)
            attrs[name] = value if old is None or replace else join(old, value)
        elif isinstance(value, Tensor):
            existing = self.of(instance).get(name)
            if isinstance(existing, Tensor) and existing.flags & PARAMETER and _from_outside(frame, instance):
                self._rebind(instance, name, value)
        elif value.holds_compiled():
            late = self._learned.late.setdefault((instance.cls.module.path, instance.cls.qualname), {})
            old = late.get(name)
            late[name] = value if old is None else join(old, value)
        elif _from_outside(frame, instance) and self._interp.classes.is_nn_module(instance.cls):
            self._rebind(instance, name, value)

    def _rebind(self, instance: Instance, name: str, value: Value) -> None:
        """Eager code binds an attribute of a module anew. Two values are two programs; what matters is a third."""
        key = (instance.cls.module.path, instance.cls.qualname, name)
        rebound = self._learned.rebound
        if isinstance(value, Tensor):
            if value.shape is not None:  # of another shape, perhaps; what is computed from the old one has its shape
                rebound.add(key)
        elif isinstance(value, Scalar):
            if value.type in ("int", "float", "number", "str"):
                rebound.add(key)
        elif isinstance(value, Seq) or (isinstance(value, Const) and not isinstance(value.value, (bool, type(None)))):
            seen = self._learned.bound.setdefault(key, set())
            seen.add(value.key)
            if len(seen) > 2:
                rebound.add(key)

    def store_setting(self, frame: Frame, instance: Instance, name: str, value: Value) -> None:
        """Eager code sets a number of a layer (`net.drop.p = p`) that belongs to a module."""
        if not isinstance(value, (Scalar, Const)) or not _from_outside(frame, instance):
            return
        if self._interp.classes.is_nn_module(instance.cls):
            self._rebind(instance, name, value)

    def store_layer(self, frame: Frame, instance: Instance, name: str, made: ast.Call) -> None:
        """Eager code puts another layer in the place of one. Of the same size it costs nothing."""
        if frame.constructing or not _from_outside(frame, instance) or frame.function is None:
            return
        given = {
            part.id for each in (*made.args, *made.keywords) for part in ast.walk(each) if isinstance(part, ast.Name)
        }
        if isinstance(self.of(instance).get(name), Object) and given & set(parameters.signature(frame.function).names):
            self._learned.rebound.add((instance.cls.module.path, instance.cls.qualname, name))


def _from_outside(frame: Frame, instance: Instance) -> bool:
    """Whether eager code changes an object: its own methods may run in a graph, unless others are seen to call them."""
    if frame.region is not None:
        return False
    if frame.cls is not instance.cls:
        return True
    caller = frame.parent
    return caller is not None and caller.region is None and caller.cls is not instance.cls
