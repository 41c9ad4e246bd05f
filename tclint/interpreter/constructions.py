"""With what objects of the program's classes were made: what their attributes hold is found out from it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.interpreter import parameters
from tclint.interpreter.frame import Frame
from tclint.program import Class
from tclint.values import Const, Instance, Value, join

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_MOST: Final = 12
"""So many ways of one class are told apart."""
COUNTED_TURNS: Final = ("0", "1", "2")
"""What stands for the numbers of a loop whose length nobody knows."""


class Constructions:
    """Knows of each object how it was built."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._learned = interp.learned
        self._memo = interp.memo
        self.constructed: dict[Any, Instance] = {}
        """The objects of which this interpreter learned how they are built, by their keys."""

    def of(self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value]) -> Instance:
        """The object that stands for what is built so: where there are too many, some object of its class."""
        if instance.key in self._learned.constructions:
            self._join(instance, args, keywords)
            return instance
        if self._learned.construction_count.get(instance.cls, 0) >= _MOST:
            return Instance(instance.cls)
        self._keep(instance, args, keywords)
        return instance

    def _keep(self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        count = self._learned.construction_count
        count[instance.cls] = count.get(instance.cls, 0) + 1
        self._learned.constructions[instance.key] = (list(args), dict(keywords))
        self.constructed[instance.key] = instance

    def elsewhere(self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        """Know of an object that was built where it was found out what a constructor gives."""
        if instance.key in self._learned.constructions:
            self._join(instance, args, keywords)
        else:
            self._keep(instance, args, keywords)

    def made(
        self, frame: Frame, node: ast.AST, cls: Class, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> None:
        """Remember the numbers and names that one function makes objects of a class with: they share their code."""
        init = self._interp.classes.find_method(cls, "__init__")
        if init is None or frame.region is not None:
            return
        names = parameters.signature(init).names[1:]
        for name, value in (*zip(names, args, strict=False), *keywords.items()):
            maker = (frame.module.path, frame.function.qualname if frame.function is not None else "")
            told: tuple[object, ...] = ()
            if isinstance(value, Const) and type(value.value) in (int, float, str):
                told = (value.value,)
            elif value.source == "counted":
                told = COUNTED_TURNS
            if told:
                made = self._learned.made_with.setdefault((cls.module.path, cls.qualname, name), {})
                known = made.setdefault(maker, {})
                for each in told:
                    self.note(known, each, f"{frame.module.path}:{getattr(node, 'lineno', 0)}")

    @staticmethod
    def note(known: dict[Any, str], value: object, place: str) -> None:
        """Remember a number or a name that objects were made with, and where."""
        if len(known) < _MOST:
            known.setdefault(value, place)

    def _join(self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        """Instances built alike but for numbers share one description, in which those numbers are unknown."""
        old_args, old_keywords = self._learned.constructions[instance.key]
        if len(old_args) != len(args) or instance.key in self._memo.attributes:
            return
        joined = [join(a, b) for a, b in zip(old_args, args, strict=True)]
        merged = {k: join(v, keywords[k]) if k in keywords else v for k, v in old_keywords.items()}
        self._learned.constructions[instance.key] = (joined, merged)
        self.constructed[instance.key] = instance
