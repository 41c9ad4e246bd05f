"""The classes below one, and what they compile by a method that they have from it: `self.compile()` in a base class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tclint.interpreter import builders, constructors
from tclint.interpreter.frame import Frame
from tclint.program import Assignment, Class, Function, Module, looking_up
from tclint.sources import roles
from tclint.sources.text import lines_of
from tclint.sources.tree import bound_on_self, nodes
from tclint.values import ClassValue, Compiled, External, FunctionValue, Instance, Seq, Union, Value, join_all

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_NEVER: Final = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.str", "builtins.int", "builtins.float", "builtins.dict"}
    | {"builtins.bool", "torch.Tensor", "numpy.ndarray"}
)
"""Of what no object of a class of the program is an instance, unless it is below it."""


MOST: Final = 32
"""Of more classes below a base nobody says which it is."""
_HEADER: Final = re.compile(rb"\nclass[ \t]+(\w+)[^\n(:]*\(([^):]*)")
_WORD: Final = re.compile(rb"\w+")


def _headers(module: Module) -> Mapping[str, tuple[str, ...]]:
    """By the words among the bases of the classes of a file, the names of these. Asked for each class that somebody may be below."""
    found: dict[bytes, dict[str, None]] = {}
    for name, bases in _HEADER.findall(lines_of(module.data)):
        for word in _WORD.findall(bases):
            found.setdefault(word, {})[name.decode()] = None
    return {word.decode(): tuple(names) for word, names in found.items()}


@looking_up(_headers)
def _naming(module: Module, name: str) -> tuple[str, ...]:
    """The classes of a file that name one among their bases."""
    return module.index(_headers).get(name, ())


def below(interp: Interpreter, cls: Class) -> Iterator[Class]:
    """The classes of the program below one."""
    yield from _below(interp, cls, {})


def of_kind(interp: Interpreter, cls: Class) -> Iterator[Class]:
    """A class and those below it; without itself where it leaves open what the objects of all of them do when they are called."""
    forward = interp.classes.find_method(cls, "forward")
    if forward is None or not forward.is_left_open:
        yield cls
    yield from below(interp, cls)


def apart(interp: Interpreter, one: Class, other: Class) -> bool:
    """Whether no class of the program is below both of two classes of modules, so that no object is of both."""
    classes = interp.classes
    if not (classes.is_nn_module(one) and classes.is_nn_module(other)):
        return False
    if one in classes.mro(other) or other in classes.mro(one):
        return False
    return not any(other in classes.mro(heir) for heir in below(interp, one))


def is_one(interp: Interpreter, cls: Class, wanted: Value) -> bool | None:
    """Whether the objects of a class are instances of what stands in an `isinstance`, None where it cannot be told."""
    order = interp.classes.mro(cls)
    names = {a.name for a in order}
    options = wanted.items if isinstance(wanted, Seq) and wanted.items is not None else (wanted,)
    for option in options:
        if isinstance(option, ClassValue) and option.cls in order:
            return True
        if isinstance(option, External):
            base = interp.classes.external_base(cls)
            if option.name.rpartition(".")[2] in names or option.name == base:
                return True
    never = [
        apart(interp, cls, o.cls) if isinstance(o, ClassValue) else isinstance(o, External) and o.name in _NEVER
        for o in options
    ]
    return False if all(never) else None


def _below(interp: Interpreter, cls: Class, seen: dict[Class, None]) -> Iterator[Class]:
    program = cls.module.program
    for path, names in program.answers(_naming, cls.name).items():
        for name in names:
            heir = program.by_path[path].named(name)
            if isinstance(heir, Class) and heir not in seen and cls in interp.classes.mro(heir)[1:]:
                seen[heir] = None
                yield heir
                yield from _below(interp, heir, seen)


def compiled_with(frame: Frame, target: Value) -> tuple[bool, list[Value]]:
    """What a class compiles of itself, for the classes below it; and whether they are all that is compiled there.

    They are where the class leaves open what they define. A class that has its own is compiled, and so are those that
    some code builds.
    """
    function = frame.function
    itself = target.bound if isinstance(target, FunctionValue) else target
    if not isinstance(itself, Instance):
        return False, []
    if function is None or not function.is_method or not _is_any(frame, itself):
        return _of_a_base(frame, target, itself)
    classes = frame.interp.classes
    name = target.function.name if isinstance(target, FunctionValue) else "forward"
    own = classes.find_method(itself.cls, name)
    if isinstance(target, FunctionValue) and own is not target.function:
        return False, []
    is_open = own is None or own.is_left_open
    found: list[Value] = []
    for heir in below(frame.interp, itself.cls):
        method = classes.find_method(heir, name)
        if method is None or method is own or method.is_left_open or not _has(frame.interp, heir, function):
            continue
        if roles.is_test(heir.module.path) or not is_open and not builders.is_built(heir):
            continue
        if frame.maybe and _decides(frame.interp, heir, itself.cls, function):
            continue  # it says by itself whether it comes to that
        made = Instance(heir)
        found.append(frame.interp.functions.value(method).bound_to(made) if isinstance(target, FunctionValue) else made)
    return is_open and bool(found), found


def _of_a_base(frame: Frame, target: Value, itself: Instance) -> tuple[bool, list[Value]]:
    """What is compiled of an object that is only known by a base that leaves the method open: `def speed_up(model: Base)`."""
    classes = frame.interp.classes
    name = target.function.name if isinstance(target, FunctionValue) else "forward"
    own = classes.find_method(itself.cls, name)
    if own is None or not own.is_left_open or itself.context is not None or itself.fields:
        return False, []
    found: dict[Function, Value] = {}
    for heir in below(frame.interp, itself.cls):
        method = classes.find_method(heir, name)
        if method is not None and not method.is_left_open and not roles.is_test(heir.module.path):
            made = Instance(heir)
            found[method] = (
                frame.interp.functions.value(method).bound_to(made) if isinstance(target, FunctionValue) else made
            )
    return (True, [*found.values()]) if 0 < len(found) <= MOST else (False, [])


def of_heir(interp: Interpreter, instance: Instance, name: str, stored: Value) -> Value | None:
    """What a base has stored in an attribute of its objects, for an object of a class below it: of a method of its own that is compiled
    (`self.update = torch.compile(self.update)`) it is the one that this class has. None where the class says by itself whether
    it comes to that."""
    if isinstance(stored, Union):
        options = [mine for each in stored.options if (mine := of_heir(interp, instance, name, each)) is not None]
        return join_all(options) if len(options) == len(stored.options) else None
    if isinstance(stored, Compiled):
        target = of_heir(interp, instance, name, stored.target)
        return stored if target is stored.target else target and Compiled(target, stored.site)
    if not isinstance(stored, FunctionValue) or not isinstance(stored.bound, Instance):
        return stored
    base, method = stored.bound.cls, stored.function.name
    order = interp.classes.mro(instance.cls)
    if base is instance.cls or base not in order:
        return stored
    own = interp.classes.find_method(instance.cls, method)
    if own is None or own is interp.classes.find_method(base, method):
        return stored
    setters = (each for cls in order for each in cls.methods.values() if name in each.node_index(bound_on_self))
    if not any(_has(interp, instance.cls, each) and not _decides(interp, instance.cls, base, each) for each in setters):
        return None
    made = interp.functions.value(own).bound_to(instance)
    return made.target if isinstance(made, Compiled) else made


def _is_any(frame: Frame, itself: Instance) -> bool:
    """Whether an object is any of the class whose method runs."""
    return itself.cls is frame.cls and itself.context is None and not itself.identity and not itself.fields


def _decides(interp: Interpreter, heir: Class, base: Class, function: Function) -> bool:
    """Whether a class below one says what a test hangs on that the method of the base asks: by a constructor of its own, or by what
    it defines anew of what that method and the constructor read of their object."""
    classes, known = interp.classes, interp.text.self_calls
    constructor = classes.find_method(base, "__init__")
    if classes.find_method(heir, "__init__") is not constructor:
        return True
    asked = constructors.asked_of_self(function, known)
    asked |= constructors.asked_of_self(constructor, known) if constructor is not None else frozenset()
    defined = ((classes.definition(heir, name), classes.definition(base, name)) for name in asked)
    return any(mine is not theirs and isinstance(mine, Assignment) for mine, theirs in defined)


def _has(interp: Interpreter, heir: Class, function: Function) -> bool:
    """Whether a class has a method of a base, or calls it in its own."""
    method = interp.classes.find_method(heir, function.name)
    return method is function or (method is not None and function.name in method.index(_called))


def _called(function: Function) -> frozenset[str]:
    """The names of the methods that a function calls."""
    calls = (node.func for node in nodes(function.node) if isinstance(node, ast.Call))
    return frozenset(func.attr for func in calls if isinstance(func, ast.Attribute))
