"""With what objects of the program's classes were made: what their attributes hold is found out from it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.interpreter import parameters
from tclint.interpreter.frame import Frame
from tclint.program import Class
from tclint.sources.tree import by_kind, nodes
from tclint.values import Const, Instance, Value, join

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_MOST: Final = 12
"""So many ways of one class are told apart."""
_WAYS: Final = 8
"""So many settings of the switches of one class are told apart."""
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
        elif self._learned.construction_count.get(instance.cls, 0) >= _MOST:
            return Instance(instance.cls)
        else:
            self._keep(instance, args, keywords)
        return instance

    def switched(
        self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value], open_ended: bool
    ) -> Instance:
        """An object that stands for what is built so, told apart by the flags, names and None that its constructor keeps.

        The first few ways of building it are; what is built in a way beyond them stands for all.
        """
        init = self._interp.classes.find_method(instance.cls, "__init__")
        kept = init.node_index(kept_as_given) if init is not None and init.cls is instance.cls else None
        if init is None or not kept or instance.key not in self._learned.constructions:
            return instance
        signature = parameters.signature(init)
        given: dict[str, Value] = {**dict(zip(signature.names[1:], args, strict=False)), **keywords}
        switches: dict[str, Any] = {}
        tested = self._tested(instance.cls)
        for attribute, name in kept.items():
            if attribute not in tested:
                continue
            value = given.get(name)
            if value is None and not open_ended:
                default = next((held for each, held in (*signature.nodes, *signature.kwonly) if each.arg == name), None)
                value = Const(default.value) if isinstance(default, ast.Constant) else None
            if isinstance(value, Const) and (value.value is None or type(value.value) in (bool, str)):
                switches[attribute] = value.value
        if not switches:
            return instance
        switched = instance.with_switches(switches)
        if switched.key in self._learned.constructions:
            self._join(switched, args, keywords)
            return switched
        if self._learned.construction_count.get(instance.key, 0) >= _WAYS:
            return instance
        self._keep(switched, args, keywords)
        return switched

    def left_open(self, frame: Frame, node: ast.AST, made: Value) -> Value:
        """What fields of an object hold that are not written where it is built, and may be given all the same."""
        if not isinstance(made, Instance) or made.fields is None:
            return made
        classes = self._interp.classes
        left = [name for name in classes.fields(made.cls) if name not in made.fields]
        with self._interp.emitter.silence:
            return made.with_held({name: classes.attribute(frame, node, made.cls, name) for name in left})

    def _tested(self, cls: Class) -> frozenset[str]:
        """The attributes that methods of a class ask for in a condition: what hangs on the others is no other code."""
        return frozenset().union(*(each.index(_tested_in) for each in self._interp.classes.mro(cls)))

    def _keep(self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        count = self._learned.construction_count
        of = instance.with_switches({}).key if instance.switches else instance.cls
        count[of] = count.get(of, 0) + 1
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


def _tested_in(cls: Class) -> frozenset[str]:
    """The same of one class: it is asked of all objects of the classes below."""
    methods = (method for method in cls.methods.values() if method.name != "__init__")
    return frozenset().union(*(method.node_index(asked_of) for method in methods))


def asked_of(method: ast.AST) -> frozenset[str]:
    """The attributes in the conditions of a method."""
    there = by_kind(method)
    conditions = [each.test for kind in (ast.If, ast.IfExp, ast.While) for each in there[kind]]
    inside = (part for each in (*conditions, *there[ast.BoolOp]) for part in nodes(each))
    return frozenset(part.attr for part in inside if isinstance(part, ast.Attribute))


def kept_as_given(constructor: ast.AST) -> Mapping[str, str]:
    """The attributes that a constructor gives a parameter as it is, and nothing else: `self.causal = causal`."""
    arguments = constructor.args if isinstance(constructor, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    if arguments is None or not arguments.args:
        return {}
    first = arguments.args[0].arg
    parameters = {each.arg for each in (*arguments.posonlyargs, *arguments.args[1:], *arguments.kwonlyargs)}
    there = by_kind(constructor)
    parameters -= {each.id for each in there[ast.Name] if isinstance(each.ctx, ast.Store)}
    bound = [
        each.attr
        for each in there[ast.Attribute]
        if isinstance(each.ctx, ast.Store) and isinstance(each.value, ast.Name) and each.value.id == first
    ]
    kept: dict[str, str] = {}
    for statement in (*there[ast.Assign], *there[ast.AnnAssign]):
        assert isinstance(statement, (ast.Assign, ast.AnnAssign))
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if (
                isinstance(target, ast.Attribute)
                and bound.count(target.attr) == 1
                and isinstance(statement.value, ast.Name)
                and statement.value.id in parameters
            ):
                kept[target.attr] = statement.value.id
    return kept
