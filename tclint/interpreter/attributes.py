"""Attributes of objects of the program: what constructors give them, and what eager code makes of them later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tclint.interpreter import execute, parameters, registries
from tclint.interpreter.frame import Env, Frame
from tclint.program import Class, Function
from tclint.sources.tree import bound_on_self
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

_MOST_SETTERS: Final = 6
"""Methods that are asked what they give one attribute."""


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
            apart = self._interp.apart
            known = apart.attributes(self._interp, instance) if apart is not None else None
            if known is None:
                return self.built(instance)
            self._memo.attributes[instance.key] = known
        return known

    def built(self, instance: Instance) -> dict[str, Value]:
        """The same, found out here."""
        known = self._memo.attributes[instance.key] = {}
        init = self._interp.classes.find_method(instance.cls, "__init__")
        if init is not None:
            self._run_init(instance, init)
        registries.fill(self._interp, instance, known)
        return known

    def later(self, instance: Instance, name: str) -> Value | None:
        """What methods give an attribute that the constructor leaves out: `setup`, `reset`, `build`.

        None where no method does, or where nobody knows what one of them gives.
        """
        key = (instance.key, name)
        if key not in self._memo.later:
            self._memo.later[key] = None  # for a method that reads what it sets
            found: Value | None = None
            for setter in self._setters(instance, name):
                given = self._given(instance, setter, name)
                found = given if found is None else join(found, given)
                if any(option is UNKNOWN for option in found.options):
                    found = None
                    break
            self._memo.later[key] = found
        return self._memo.later[key]

    def _setters(self, instance: Instance, name: str) -> list[Function]:
        """The methods that bind an attribute on their receiver; none where there are too many to look at."""
        found = [
            method
            for ancestor in self._interp.classes.mro(instance.cls)
            for method in ancestor.methods.values()
            if name in method.node_index(bound_on_self)
        ]
        return found if len(found) <= _MOST_SETTERS else []

    def _given(self, instance: Instance, setter: Function, name: str) -> Value:
        """What one method gives an attribute, called with what its signature says."""
        stand_in = Instance(instance.cls, ("later", setter.qualname, name, instance.key))
        held = self._memo.attributes[stand_in.key] = dict(self.of(instance))
        with self._silence:
            try:
                self._run(setter, parameters.entry(self._interp, setter, stand_in))
            except Exception as error:
                self._interp.results.failed(setter, error)
        return held.get(name, UNKNOWN)

    def _run_init(self, instance: Instance, init: Function) -> None:
        instance = instance.identified(0)  # as any of its kind
        construction = self._learned.constructions.get(instance.key)
        with self._silence:
            try:
                if construction is not None:
                    env = parameters.bind(self._interp, init, [instance, *construction[0]], construction[1], False)
                else:
                    env = parameters.entry(self._interp, init, instance, constructor=True)
                self._run(init, env)
            except Exception as error:
                self._interp.results.failed(init, error)

    def _run(self, method: Function, env: Env) -> None:
        """Interpret a method for what it stores."""
        frame = Frame(self._interp, method.module, method, env, None)
        frame.constructing = True
        with self._interp.recordings.apart():
            execute.run_block(frame, method.node.body)  # type: ignore[arg-type]

    def store(
        self,
        frame: Frame,
        instance: Instance,
        name: str,
        value: Value,
        replace: bool = False,
        holder: Class | None = None,
    ) -> None:
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
            path, qualname = instance.cls.module.path, instance.cls.qualname
            if self._learned.late_within.setdefault((path, qualname, name), holder) is not holder:
                self._learned.late_within[path, qualname, name] = None
            late = self._learned.late.setdefault((path, qualname), {})
            old = late.get(name)
            late[name] = value if old is None else join(old, value)
