"""Names of modules: what a module-level name means, across imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tclint.interpreter import alternatives, hints, registries
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.interpreter.state import Told
from tclint.program import Assignment, Class, Definition, Function, Import, Module
from tclint.sources.text import lines_of
from tclint.sources.tree import nodes
from tclint.torch_facts import array_api, facts, releases
from tclint.values import (
    FALSE,
    STR,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    ModuleValue,
    Object,
    Scalar,
    Seq,
    Value,
    join_all,
    scalar_type,
)

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

# Other names under which modules and functions of torch are reached.
_ALIASES: Final = {"torch.functional": "torch", "torchvision._is_tracing": "torch._C._get_tracing_state"}
_MODULES: Final = "torch.nn.modules."
# What every run knows wherever it is linted: torch is asked on Linux, and what is only for other systems is not told.
_CONSTANTS: Final[Mapping[str, Value]] = {
    "typing.TYPE_CHECKING": FALSE,
    "typing_extensions.TYPE_CHECKING": FALSE,
    f"{array_api.TORCH}.__name__": Const(array_api.TORCH),
    "os.name": Const("posix"),
    "sys.platform": Const("linux"),
}


class Names:
    """Looks module-level names up."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._program = interp.program
        self._knowledge = interp.knowledge
        self._text = interp.text
        self._memo = interp.memo
        self._globals = interp.memo.globals
        self._silence = interp.emitter.silence
        self._importing: Module | None = None
        """The file whose top level runs."""
        self._absent: set[tuple[Module, str]] = set()
        """Names that a file was asked for and does not have."""

    def frame(self, module: Module) -> Frame:
        """The frame of a file's top level."""
        frame = self._knowledge.frames.get(module.path)
        if frame is None:
            frame = self._knowledge.frames[module.path] = Frame(self._interp, module, None, {}, None)
        return frame

    def value(self, module: Module, name: str) -> Value | None:
        """The value of a module-level name, or None where the module has none."""
        self._program.touched.add(module.asked[name])
        known = self._globals.get(module)
        if known is not None:
            found = known.get(name)
            if found is not None:
                return found  # type: ignore[return-value]
        # Half of what is asked for are builtins: that a file has no such name is looked up once.
        if (module, name) in self._absent:
            return None
        value = self._look_up(module, name)
        if value is None and not self._stars(module):
            self._absent.add((module, name))
        return value

    def _values(self, module: Module) -> dict[str, object]:
        """The values of a module's names that are known so far. Whoever takes one of them says so (`Module.asked`)."""
        known = self._globals.get(module)
        if known is None:
            known = self._globals[module] = dict(module.constants)
        return known

    def _look_up(self, module: Module, name: str) -> Value | None:
        """Follow a name to where it is defined. What no statement computes is found out once for all interpreters."""
        known = self._text.names.get((module, name))
        if known is None:
            program = self._program
            outer, program.touched = program.touched, set()  # as `unwatched` does, for thousands of names
            try:
                value, told = self._follow(module, name)
            finally:
                touched = program.touched
                program.touched = outer
                outer |= touched
            if told:
                self._text.names[module, name] = Told(value, tuple(touched))
            return value
        self._program.touched.update(known.read)
        if known.value is not None:
            self._values(module)[name] = known.value
        return known.value

    def _follow(self, module: Module, name: str) -> tuple[Value | None, bool]:
        """Follow a name through the imports that hand it on, one after the other, to where it is defined.

        With it, whether definitions alone say it: then it is the same for everybody who reads the same.
        """
        trail: list[tuple[Module, str, Import]] = []
        evaluating = self._memo.evaluating
        value: Value | None
        told = True
        try:
            while True:
                definition = module.named(name)
                value = self._values(module).get(name)  # type: ignore[assignment]
                if value is not None:
                    known = self._text.names.get((module, name))
                    told = told and known is not None
                    if known is not None:
                        self._program.touched.update(known.read)
                    break
                if definition is None:
                    stars = self._stars(module)
                    owner = self._star(module, name)
                    told = told and not stars
                    if owner is None:
                        value = STR if name in ("__name__", "__file__") else None
                        break
                    module = owner
                    continue
                if (module.path, name) in evaluating:
                    value, told = UNKNOWN, False
                    break
                if type(definition) is Import and definition.attribute:
                    trail.append((module, name, definition))
                    evaluating.add((module.path, name))
                    found = self._program.find(module, definition.target)
                    if found is None or found is module:
                        value = None
                        break
                    module, name = found, definition.attribute
                    continue
                value = self._defined(module, name, definition)
                told = told and (
                    type(definition) is Import
                    or type(definition) is Class
                    or (
                        type(definition) is Function
                        and not definition.decorators
                        and name not in module.index(_handed_on)
                    )
                    or name in module.constants
                )
                break
        finally:
            for importer, alias, _ in trail:
                evaluating.discard((importer.path, alias))
        for importer, alias, through in reversed(trail):
            if value is None:
                value = self._not_in_module(importer, through.target, through.attribute)
            self._values(importer)[alias] = value
        return value, told

    def _star(self, module: Module, name: str) -> Module | None:
        """The module from which `import *` gets a name."""
        for target in self._stars(module):
            if target.named(name) is not None:
                return target
        return None

    def _stars(self, module: Module) -> tuple[Module, ...]:
        """Every module that star imports lead to, in the order in which names are looked up; each once."""
        known = self._text.stars.get(module)
        if known is None:
            found: dict[Module, None] = {}
            stack = [module]
            while stack:
                current = stack.pop()
                if current not in found:
                    found[current] = None
                    stack.extend(target for target in reversed(self._direct_stars(current)) if target not in found)
            del found[module]
            known = self._text.stars[module] = tuple(found)
        return known

    def _direct_stars(self, module: Module) -> tuple[Module, ...]:
        known = self._text.direct_stars.get(module)
        if known is None:
            targets = dict.fromkeys(self._program.find(module, star) for star in module.stars)
            known = self._text.direct_stars[module] = tuple(target for target in targets if target is not None)
        return known

    def _defined(self, module: Module, name: str, definition: Definition) -> Value:
        key = (module.path, name)
        self._memo.evaluating.add(key)
        account = self._interp.account
        account.paused += 1  # somebody asks what a name is: nothing happens
        try:
            with self._silence:
                value = self._definition(module, name, definition)
        finally:
            account.paused -= 1
            self._memo.evaluating.discard(key)
        if (
            type(definition) is Assignment
            and _closed(module, definition)
            and not (isinstance(value, Dict) and registries.is_filled(module, name))
        ):
            module.constants[name] = value
        self._values(module)[name] = value
        return value

    def _definition(self, module: Module, name: str, definition: Definition) -> Value:
        if isinstance(definition, Import):
            found = self._program.find(module, definition.target)
            return ModuleValue(found) if found is not None else External(definition.target)
        if isinstance(definition, Function):
            return self._bound_anew(module, name, self._interp.functions.value(definition))
        if isinstance(definition, Class):
            return ClassValue(definition)
        bound = alternatives.possible(self.frame(module), definition) if definition.others else [definition]
        generalise = module.rebinds(name)
        value = join_all([self.assigned(module, each, generalise) for each in bound])
        return registries.filled(self._interp, module, name, value) if isinstance(value, Dict) else value

    def _bound_anew(self, module: Module, name: str, function: Value) -> Value:
        """What a function's name stands for where the file hands it on: `f = torch.compiler.disable(f)` is a decorator, too.

        So is `allow_in_graph(f)` as a statement: torch remembers the function itself.
        """
        call = module.index(_handed_on).get(name)
        if call is None:
            return function
        self._values(module)[name] = function  # what the call is given
        made = evaluate(self.frame(module), call)
        # A compile site binds the name by itself; what is not known says nothing.
        return made if isinstance(made, Object) else function

    def assigned(self, module: Module, definition: Assignment, generalise: bool) -> Value:
        """What an assignment at the top level of a module or class binds; `generalise` where it is not the only one."""
        statement = module.node(definition.ordinal)
        expression = getattr(statement, "value", None)
        annotation = getattr(statement, "annotation", None)
        frame = self.frame(module)
        if expression is None:
            return hints.evaluate(self._interp, module, annotation, frame.origin(statement))
        value = evaluate(frame, expression)
        for index in definition.path:
            value = (
                value.items[index] if isinstance(value, Seq) and value.items and index < len(value.items) else UNKNOWN
            )
        if value is UNKNOWN and annotation is not None:
            value = hints.evaluate(self._interp, module, annotation, frame.origin(statement))
        if generalise and isinstance(value, Const) and value.value is not None:
            return Scalar(scalar_type(value.value), "global", frame.origin(statement))
        return value

    @contextmanager
    def importing(self, module: Module) -> Iterator[None]:
        """Around what runs while a file is imported: what functions bind later to its names is not there yet."""
        outer, self._importing = self._importing, module
        try:
            yield
        finally:
            self._importing = outer

    def at_import(self, module: Module, name: str, value: Value) -> Value:
        """What a name of a file is, of which `value` is all that is known; while that is imported, a switch is what it says there."""
        if self._importing is None or not (isinstance(value, Scalar) and value.source == "global"):
            return value
        definition = module.named(name)
        if not isinstance(definition, Assignment) or definition.others:
            return value
        said = self.assigned(module, definition, generalise=False)
        return said if isinstance(said, Const) and isinstance(said.value, bool) else value

    def imported(self, module: Module, target: str, name: str) -> Value:
        """The value of `from target import name` in `module`."""
        found = self._program.find(module, target)
        if found is not None and found is not module:
            value = self.value(found, name)
            if value is not None:
                return value
        return self._not_in_module(module, target, name)

    def _not_in_module(self, module: Module, target: str, name: str) -> Value:
        """`from target import name`, where the module defines no such name: a submodule, or something outside."""
        sub = self._program.find(module, f"{target}.{name}")
        if sub is not None:
            return ModuleValue(sub)
        if self._program.find(module, target) is not None:
            return UNKNOWN
        dotted = f"{target}.{name}"
        return self._constant(dotted) or External(_known_as(dotted))

    def _constant(self, dotted: str) -> Value | None:
        """What every run knows of a name outside the program, or every run with this release of torch."""
        if dotted in releases.VERSION_NAMES:
            return Const(releases.VersionText(f"{self._interp.options.release}.0"))
        return _CONSTANTS.get(dotted)

    def external_attribute(self, value: External, name: str) -> Value:
        """An attribute of something outside the program."""
        dotted = f"{value.name}.{name}"
        constant = self._constant(dotted)
        if constant is not None:
            return constant
        if value.name.startswith("torch.") and value.name.endswith("()"):
            return UNKNOWN
        found = self._text.externals.get(dotted)
        if found is None:
            found = self._text.externals[dotted] = External(_known_as(dotted))
        return found

    def installed(self, dotted: str) -> Value | None:
        """What a dotted name outside the program stands for in the libraries that are read; None where they do not say."""
        if self._program.libraries is None:
            return None
        known = self._knowledge.installed
        if dotted not in known:
            known[dotted] = None  # for a library that leads back here
            known[dotted] = self._in_library(dotted)
        return known[dotted]

    def _in_library(self, dotted: str) -> Value | None:
        parts = dotted.split(".")
        for end in range(len(parts) - 1, 0, -1):
            module = self._program.installed(".".join(parts[:end]))
            if module is None:
                continue
            value: Value | None = self.value(module, parts[end])
            for name in parts[end + 1 :]:
                frame = self.frame(module)
                value = value.attribute(frame, module.tree, name, quiet=True) if isinstance(value, ClassValue) else None
            return value if isinstance(value, (ClassValue, FunctionValue)) else None
        return None

    def attribute(self, module: Module, name: str) -> Value:
        """`module.name`: a name, or a submodule."""
        value = self.value(module, name)
        if value is not None:
            return value
        if module.is_package:
            sub = self._program.by_place.get(f"{module.directory}/{name}")
            if sub is None and module.library:
                sub = self._program.installed(f"{module.name}.{name}")
            if sub is not None:
                return ModuleValue(sub)
        return UNKNOWN


_HANDED_ON: Final = re.compile(rb"\n(\w+)\b[ \t]*=[ \t]*[\w.]+\(\s*\1\b")
_TELLS: Final = {n.rpartition(".")[2] for n in facts.named("puts a function into the graph as it is")}
_TOLD: Final = re.compile(rf"\n(?:[\w.]+\.)?(?:{'|'.join(sorted(_TELLS))})\(".encode())


def _handed_on(module: Module) -> Mapping[str, ast.Call]:
    """By name, the call at the top level that is given a name's value and binds the name to what it makes of it.

    Or that tells torch about it, which torch remembers by the function itself.
    """
    lines = lines_of(module.data)
    if _HANDED_ON.search(lines) is None and _TOLD.search(lines) is None:
        return {}
    found: dict[str, ast.Call] = {}
    for statement in module.tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.args:
            told, given = statement.value, statement.value.args[0]
            last = told.func.attr if isinstance(told.func, ast.Attribute) else getattr(told.func, "id", "")
            if isinstance(given, ast.Name) and last in _TELLS:
                found[given.id] = told
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        call = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and isinstance(call, ast.Call) and call.args:
            given = call.args[0]
            if isinstance(given, ast.Name) and given.id == target.id:
                found[target.id] = call
    return found


_CONTAINERS: Final = frozenset({"OrderedDict", "dict", "frozenset", "set", "tuple", "list"})
_LITERALS: Final = frozenset({ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Call, ast.UnaryOp})


def _closed(module: Module, definition: Assignment) -> bool:
    """Whether an assignment says it all by itself: literals, and the usual containers around them."""
    value = getattr(module.node(definition.ordinal), "value", None)
    if value is None or definition.others or module.index(_says_global):
        return False
    if any(module.named(name) is not None for name in _CONTAINERS - {"OrderedDict"}):
        return False
    return all(type(n) in _LITERALS or (type(n) is ast.Name and n.id in _CONTAINERS) for n in nodes(value))


def _says_global(module: Module) -> bool:
    return b"global " in module.data


def _known_as(dotted: str) -> str:
    """The name by which the facts know it: torch's modules, and classes of libraries, are also reached where they are defined."""
    last = dotted.rpartition(".")[2]
    if dotted.startswith(_MODULES) and last[:1].isupper():
        return f"torch.nn.{last}"
    return _ALIASES.get(dotted) or array_api.torch_name(dotted) or facts.shown(dotted)
