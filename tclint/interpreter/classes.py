"""Classes of the program: what they inherit, and what their bodies hold."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tclint.interpreter import enumerations, hints, overridden
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import loaded
from tclint.interpreter.state import Told
from tclint.program import Assignment, Class, Function, Touched
from tclint.sources.tree import bound_on_self, read_of_self
from tclint.torch_facts import facts
from tclint.values import (
    UNKNOWN,
    ClassValue,
    Const,
    External,
    FunctionValue,
    Instance,
    Method,
    NamedTupleClass,
    Object,
    Value,
    join_all,
)
from tclint.values.constant import is_none

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_NOT_MODULES: Final = ("builtins.", "torch.autograd.", "torch.utils.", "torch.optim.", "numpy.", "typing_extensions.")
"""Packages whose classes are no modules, whatever methods they are given."""
_OTHERS: Final = frozenset(facts.named("is a framework with layers of its own"))
_CALLED: Final = tuple(name.rpartition(".") for name in facts.named("is called by the forward of its class"))
_DEEP: Final = 32
"""Orders of more classes are found out by each interpreter: generated chains of thousands would be copied for each of their classes."""


class Classes:
    """Knows what classes inherit and which methods they have."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._knowledge = interp.knowledge
        self._mro = interp.knowledge.mro
        self._methods = interp.text.methods
        self._memo = interp.memo
        self._silence = interp.emitter.silence
        self._reading: set[Class] = set()
        """The classes whose bases are being evaluated. A class that inherits from itself has a base nobody knows."""

    @staticmethod
    def of(value: Value | None) -> Class | None:
        return value.cls if isinstance(value, ClassValue) else None

    def mro(self, cls: Class) -> list[Class]:
        """The classes of the program an attribute is looked up in, in order."""
        known = self._mro.get(cls)
        return known if known is not None else self._order(cls)

    def _order(self, cls: Class) -> list[Class]:
        text, touched = self._interp.text, self._interp.program.touched
        told = text.mro.get(cls)
        if told is not None:
            touched.update(told.read)
            self._mro[cls] = told.value
            return told.value
        order = self._linearised(cls)
        if len(order) <= _DEEP and order[0] is cls and all(ancestor in text.bases for ancestor in order):
            text.mro[cls] = Told(order, tuple({*order, *(part for each in order for part in text.bases[each].read)}))
        return order

    def _linearised(self, cls: Class) -> list[Class]:
        # Without recursion: generated code has chains of thousands.
        bases: dict[Class, list[Class]] = {}
        stack = [cls]
        while stack:
            current = stack[-1]
            if current not in bases:
                if current in self._mro:
                    stack.pop()
                    continue
                self._mro[current] = [current]  # what a class that inherits from itself sees of itself
                self._interp.program.touched.add(current)
                bases[current] = [base.cls for base in self.bases(current) if isinstance(base, ClassValue)]
                missing = [base for base in bases[current] if base not in self._mro]
                if missing:
                    stack.extend(reversed(missing))
                    continue
            stack.pop()
            order = {current: None}
            for base in bases[current]:
                for ancestor in self._mro[base]:
                    order.pop(ancestor, None)
                    order[ancestor] = None
            self._mro[current] = list(order)
        return self._mro[cls]

    def bases(self, cls: Class) -> list[Value]:
        """What a class inherits from."""
        known = self._knowledge.bases.get(cls)
        if known is not None:
            return known
        if cls in self._reading:
            return [UNKNOWN]
        told = self._interp.text.bases.get(cls)
        if told is not None:
            self._interp.program.touched.update(told.read)
            self._knowledge.bases[cls] = told.value
            return told.value
        self._reading.add(cls)
        try:
            with self._silence:
                frame = self._interp.names.frame(cls.module)
                # `Base[T]` is `Base` with its type variables filled in.
                bases = [base.value if isinstance(base, ast.Subscript) else base for base in cls.node.bases]
                values = [evaluate(frame, base) for base in bases if not isinstance(base, ast.Starred)]
                found = [self._known(option) for value in values for option in value.options]
        finally:
            self._reading.discard(cls)
        if UNKNOWN not in found:
            # What is unknown now may only be in the making.
            self._knowledge.bases[cls] = found
            self._tell(cls, bases, found)
        return found

    def _tell(self, cls: Class, bases: Sequence[ast.expr], found: list[Value]) -> None:
        """Keep for others what a class inherits from, where names say it that no statement computes: `Base`, `nn.Module`."""
        if self._interp.program.libraries is not None:
            return
        names = self._interp.text.names
        read: set[Touched] = {cls}
        for base in bases:
            first = base
            while isinstance(first, ast.Attribute):
                first = first.value
            told = names.get((cls.module, first.id)) if isinstance(first, ast.Name) else None
            if told is None or (first is not base and not isinstance(told.value, External)):
                return
            read.update(told.read)
        if all(isinstance(value, (ClassValue, External)) for value in found):
            self._interp.text.bases[cls] = Told(found, tuple(read))

    def _known(self, base: Value) -> Value:
        """A base outside the program, as the library defines it, where libraries are read."""
        installed = self._interp.names.installed(base.name) if isinstance(base, External) else None
        return installed if isinstance(installed, ClassValue) else base

    def external_base(self, cls: Class) -> str:
        """The dotted name of the first base outside the program, empty where there is none or it is unknown."""
        known = self._knowledge.external_base.get(cls)
        if known is None:
            told = self._interp.text.outside.get(cls)
            if told is not None:
                self._interp.program.touched.update(told.read)
                self._knowledge.external_base[cls] = told.value
                return told.value
            known = ""
            order = self.mro(cls)
            for ancestor in order:
                for base in self.bases(ancestor):
                    if isinstance(base, External) and base.name not in ("builtins.object", "abc.ABC"):
                        known = known or base.name
                        if base.name.startswith("torch.nn."):
                            known = base.name
                            break
            if self._reading.isdisjoint(order):
                self._knowledge.external_base[cls] = known
                whole = self._interp.text.mro.get(cls)
                if whole is not None and whole.value == order:
                    self._interp.text.outside[cls] = Told(known, whole.read)
        return known

    def entries(self, cls: Class) -> tuple[Function, ...]:
        """The methods that compiling an object of a class begins with: its forward, or what the forward of a library's base calls."""
        forward = self.find_method(cls, "forward")
        if forward is not None:
            return (forward,)
        base = self.external_base(cls)
        called = (self.find_method(cls, name) for owner, _, name in _CALLED if owner == base)
        return tuple(method for method in called if method is not None)

    def is_nn_module(self, cls: Class) -> bool:
        base = self.external_base(cls)
        if base.startswith("torch.nn.") or any(owner == base for owner, _, _ in _CALLED):
            return True
        if base.startswith(_NOT_MODULES) or base.partition(".")[0] in sys.stdlib_module_names:
            return False
        bases = [b for a in self.mro(cls) for b in self.bases(a)]
        if base and any(isinstance(b, External) and b.name.partition(".")[0] in _OTHERS for b in bases):
            return False
        if base.endswith(("LightningModule", ".Module")):
            return True
        unknown = UNKNOWN in bases
        # A base of another package, or one we cannot see, and a forward: a module in all likelihood. Its call gives what its
        # forward gives, and a coroutine is no tensor.
        forward = self.find_method(cls, "forward") if base or unknown else None
        return (
            forward is not None
            and not isinstance(forward.node, ast.AsyncFunctionDef)
            and not self._is_filled(cls, forward)
        )

    def _is_filled(self, cls: Class, forward: Function) -> bool:
        """Whether a class without a constructor has all that its forward uses from its other methods: a service, which is given
        a model when it is up. A module has what it is made of from a constructor, its own or that of its base."""
        if self.find_method(cls, "__init__") is not None:
            return False
        methods = [method for each in self.mro(cls) for method in each.methods.values()]
        asked = forward.node_index(read_of_self) - {method.name for method in methods}
        given = frozenset().union(*(each.node_index(bound_on_self) for each in methods if each is not forward))
        return bool(asked) and asked <= given

    def find_method(self, cls: Class, name: str) -> Function | None:
        told = self._methods.get((cls, name))
        if told is not None:
            self._interp.program.touched.update(told.read)
            return told.value
        order = self.mro(cls)
        found: Function | None = None
        for ancestor in order:
            found = ancestor.methods.get(name)
            if found is not None:
                break
        whole = self._interp.text.mro.get(cls)
        if whole is not None and whole.value == order:
            # What the order was read from says which classes were looked at.
            self._methods[cls, name] = Told(found, whole.read)
        return found

    settled = staticmethod(overridden.settled)

    def definition(self, cls: Class, name: str) -> Function | Assignment | None:
        """What the bodies of a class and of its bases bind a name to."""
        for ancestor in self.mro(cls):
            found = ancestor.methods.get(name) or ancestor.assignments.get(name)
            if found is not None:
                return found
        return None

    def is_context(self, cls: Class) -> bool:
        """Whether a class of the program says what happens at the two ends of a `with`."""
        return self.find_method(cls, "__enter__") is not None and self.find_method(cls, "__exit__") is not None

    def is_subclass(self, cls: Class, name: str) -> bool:
        """Whether a class inherits from one of this name."""
        order = self.mro(cls)
        if any(a.name == name for a in order) or self.external_base(cls).endswith("." + name):
            return True
        outside = (base.name for a in order for base in self.bases(a) if isinstance(base, External))
        return any(base.endswith("." + name) for base in outside)  # beside another one: `class Mode(str, Enum)`

    @staticmethod
    def method_kind(method: Function) -> str:
        """`property`, `static`, `class`, or empty for a plain method."""
        for decorator in method.decorators:
            node = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if name in ("property", "cached_property"):
                return "property"
            if name == "staticmethod":
                return "static"
            if name == "classmethod":
                return "class"
        return ""

    @staticmethod
    def is_cached(method: Function) -> bool:
        """Whether a property keeps what it gave the first time."""
        last = [d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "") for d in method.decorators]
        return "cached_property" in last

    def fields(self, cls: Class) -> list[str]:
        """The fields of a dataclass-like class, base classes first."""
        known = self._knowledge.field_names.get(cls)
        if known is None:
            names: dict[str, None] = {}
            for ancestor in reversed(self.mro(cls)):
                for base in self.bases(ancestor):
                    if isinstance(base, NamedTupleClass):  # `class Pair(namedtuple("Pair", "a b"))`
                        names |= dict.fromkeys(base.fields)
                for name, assigned in ancestor.assignments.items():
                    if assigned.annotated:
                        names[name] = None
            known = self._knowledge.field_names[cls] = list(names)
        return known

    def attribute(self, frame: Frame, node: ast.AST, cls: Class, name: str) -> Value:
        """The value of `Class.name`."""
        for ancestor in self.mro(cls):
            method = ancestor.methods.get(name)
            if method is not None and method.module.library:
                built = loaded.builder(frame, node, cls, name, self.mro(cls))
                if built is not None:
                    return built
            if method is not None:
                decorated = self._interp.functions.value(method)
                if self.method_kind(method) == "class":
                    if frame.region is not None and self._of_metaclass(cls, "__getattribute__"):
                        self._interp.emitter.feature(
                            frame, node, "method of a class whose metaclass has __getattribute__"
                        )
                    return decorated.bound_to(ClassValue(cls))
                if frame.region is not None and not method.decorators:
                    self._interp.emitter.feature(frame, node, f"function of a class below {self.external_base(cls)}")
                return decorated
            assigned = ancestor.assignments.get(name)
            if assigned is not None:
                if frame.region is not None:
                    self._interp.emitter.feature(frame, node, f"data of a class below {self.external_base(cls)}")
                held = self.assigned(ancestor, assigned, name, frame, node)
                if frame.region is not None and isinstance(held, Instance) and self.find_method(held.cls, "__get__"):
                    self._interp.emitter.feature(frame, node, "descriptor of a class")
                return held
        if frame.region is not None and self._of_metaclass(cls, name):
            self._interp.emitter.feature(frame, node, "attribute of a metaclass")
            return UNKNOWN
        if name == "__name__" or name == "__qualname__":
            return Const(cls.name if name == "__name__" else cls.qualname)
        base = self.external_base(cls)
        if base.startswith("enum."):
            self._interp.emitter.feature(frame, node, f"{name} of an enumeration")
        elif frame.region is not None and (name[:2] == "__" or name == "mro"):
            self._interp.emitter.feature(frame, node, f"{name} of a class")
        if name == "apply" and base.startswith("torch.autograd"):
            return Method(Object("torch.autograd.Function", frame.origin(node), "", ClassValue(cls)), "apply")
        return loaded.builder(frame, node, cls, name, self.mro(cls)) or (
            External(f"{base}.{name}") if base else UNKNOWN
        )

    def members(self, frame: Frame, node: ast.AST, cls: Class) -> list[Value]:
        """The members of an enumeration, nothing of any other class."""
        if not enumerations.is_enumeration(self._interp, cls):
            return []
        return [*enumerations.members(frame, node, cls)]

    def member(self, frame: Frame, node: ast.AST, cls: Class, name: Value) -> Value | None:
        """`Mode["FAST"]` of an enumeration."""
        found = enumerations.is_enumeration(self._interp, cls)
        return enumerations.by_name(frame, node, cls, name) if found else None

    def constant(self, cls: Class, assignment: Assignment) -> Value | None:
        """The number or text that a field has until an object is given another."""
        expression = getattr(cls.module.node(assignment.ordinal), "value", None)
        if (
            not isinstance(expression, ast.Constant)
            or assignment.path
            or enumerations.is_enumeration(self._interp, cls)
        ):
            return None
        if isinstance(expression.value, bool) or expression.value is None:
            return None  # a switch is there to be thrown
        return Const(expression.value)

    def _of_metaclass(self, cls: Class, name: str) -> bool:
        """Whether a class has an attribute from a metaclass of the program alone."""
        node = next((k.value for k in cls.node.keywords if k.arg == "metaclass"), None)
        if node is None:
            return False
        meta = self.of(evaluate(self._interp.names.frame(cls.module), node))
        found = (self.find_method(meta, each) for each in (name, "__getattr__")) if meta is not None else ()
        return any(method is not None for method in found)

    def _promised(self, cls: Class, assignment: Assignment, value: Value) -> Value:
        """What a field holds that is annotated with classes of the program: what it is set to is only its default.

        `net: Small | Large = Small()`; and where a library describes the field, `net: Small = Field(discriminator="name")`.
        """
        node = cls.module.node(assignment.ordinal)
        annotation = getattr(node, "annotation", None)
        if annotation is None or not (isinstance(value, Instance) or type(value) is Object):
            return value
        origin = self._interp.names.frame(cls.module).origin(node)
        promised = hints.evaluate(self._interp, cls.module, annotation, origin)
        if not all(isinstance(each, Instance) or is_none(each) for each in promised.options):
            return value
        if isinstance(value, Object):
            return promised
        others = [each for each in promised.options if isinstance(each, Instance)]
        if len(others) < 2 or all(each.cls is not value.cls for each in others):
            return value
        return join_all([value, *(each for each in others if each.cls is not value.cls)])

    def assigned(self, cls: Class, assignment: Assignment, name: str, frame: Frame, node: ast.AST) -> Value:
        """What an assignment in the body of a class gives those who read the attribute."""
        key = (cls.module.path, f"{cls.qualname}.{name}")
        value = self._memo.class_values.get(key)
        if value is None:
            if key in self._memo.evaluating:
                return UNKNOWN
            self._memo.evaluating.add(key)
            try:
                with self._silence:
                    value = self._interp.names.assigned(cls.module, assignment, generalise=False)
                    value = self._promised(cls, assignment, value) if assignment.annotated else value
            finally:
                self._memo.evaluating.discard(key)
            self._memo.class_values[key] = value
        if isinstance(value, FunctionValue) and value.bound is None:
            return value
        if enumerations.is_enumeration(self._interp, cls):
            return enumerations.member(frame, node, cls, name, value)
        return self._interp.objects.as_read(value, name, frame, node)
