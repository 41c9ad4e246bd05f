"""The interpreter: names to values across the program, calls with memory, objects and their attributes."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint import events
from tclint.interpreter import calls, hints, parameters, sites, statements, wrappers
from tclint.interpreter.expressions import element_of, evaluate
from tclint.interpreter.frame import Env, Frame
from tclint.program import Assignment, Class, Definition, Function, Import, Module, Program
from tclint.sources.tree import nodes
from tclint.values import (
    BOOL,
    CALLABLES,
    ENUM,
    FALSE,
    NONE,
    OWNED,
    PARAMETER,
    STR,
    UNKNOWN,
    ClassValue,
    Compiled,
    CompileSite,
    Const,
    Dict,
    Evidence,
    External,
    FunctionValue,
    Instance,
    Method,
    ModuleValue,
    Object,
    Origin,
    Partial,
    Region,
    Scalar,
    Seq,
    Super,
    Tensor,
    Union,
    Value,
    join,
    join_all,
    scalar_type,
    widen,
)

if TYPE_CHECKING:
    from tclint.events.dispatch import Dispatcher

_MAX_DEPTH: Final = 40
_MAX_EAGER_DEPTH: Final = 10
_MAX_INIT_DEPTH: Final = 2
_MAX_CONTEXTS: Final = 6
_MAX_EAGER_CONTEXTS: Final = 16
_MAX_CONSTRUCTIONS: Final = 12

# Other names under which torch's modules are reached.
_ALIASES: Final = {
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch.functional": "torch",
    "torch.nn.init": "torch.nn.init",
    "np": "numpy",
}


# Names whose value every run knows.
_CONSTANTS: Final[Mapping[str, Value]] = {"typing.TYPE_CHECKING": FALSE, "typing_extensions.TYPE_CHECKING": FALSE}


class Options:
    """What the configuration tells the interpreter."""

    __slots__ = ("compile_functions", "cudagraph_callables", "tokenizers")

    def __init__(
        self,
        compile_functions: Sequence[str] = (),
        cudagraph_callables: Sequence[str] = (),
        tokenizers: Sequence[str] = ("*tokenizer*",),
    ) -> None:
        self.compile_functions = tuple(compile_functions)
        self.cudagraph_callables = tuple(cudagraph_callables)
        self.tokenizers = tuple(tokenizers)


class Interpreter:
    """Interprets functions of a program abstractly and hands events to a dispatcher."""

    def __init__(self, program: Program, options: Options, dispatcher: Dispatcher) -> None:
        self.program = program
        self.options = options
        self.dispatcher = dispatcher
        self.quiet = 0
        self.sites: dict[tuple[str, ...] | tuple[Any, ...], CompileSite] = {}
        self.targets: list[tuple[Value, CompileSite]] = []
        self.calls_seen: dict[Any, list[tuple[tuple[Value, ...], dict[str, Value]]]] = {}
        self.reach: dict[tuple[str, int], set[tuple[str, str, int]]] = {}
        self.graph_runs = 0
        self._graphing: set[Any] = set()
        self.closures: dict[Function, Mapping[str, Value] | None] = {}
        self.callees: dict[Any, Value] = {}
        self.compiled_instances: dict[Any, CompileSite] = {}
        self.rebound: set[tuple[str, str, str]] = set()
        self._bound: dict[tuple[str, str, str], set[Any]] = {}
        """What eager code was seen to bind to an attribute, where it is no tensor."""
        self.reached: set[tuple[str, str, int]] = set()
        self.late: dict[tuple[str, str], dict[str, Value]] = {}
        self.errors: list[tuple[Function, BaseException]] = []
        self._memo: dict[Any, Value] = {}
        self._contexts: dict[Any, int] = {}
        self._running: set[Any] = set()
        self._sets_attributes: dict[Function, bool] = {}
        self._shared: dict[Any, Value] = {}
        self._self_calls: dict[Function, frozenset[str]] = {}
        self._attrs: dict[Any, dict[str, Value]] = {}
        self._constructions: dict[Any, tuple[Sequence[Value], Mapping[str, Value]]] = {}
        self._construction_count: dict[Class, int] = {}
        self._function_values: dict[Function, Value] = {}
        self._mro: dict[Class, list[Class]] = {}
        self._bases: dict[Class, list[Value]] = {}
        self._class_values: dict[tuple[str, str], Value] = {}
        self._field_names: dict[Class, list[str]] = {}
        self._external_base: dict[Class, str] = {}
        self._evaluating: set[tuple[str, str]] = set()
        self._externals: dict[str, External] = {}
        self._compile_names: dict[str, bool] = {}
        self._tokenizer = re.compile("|".join(fnmatch.translate(p) for p in self.options.tokenizers) or r"(?!)")
        self._module_frames: dict[str, Frame] = {}
        patterns = self.options.cudagraph_callables
        self.configured: re.Pattern[str] | None = None
        if patterns:
            self.configured = re.compile("|".join(fnmatch.translate(p) for p in patterns))

    def forget_calls(self) -> None:
        """Forget what calls gave, so that a second pass sees what the first one learned."""
        self._memo.clear()
        self._contexts.clear()
        self._attrs.clear()
        self._shared.clear()
        self._class_values.clear()
        self._function_values.clear()
        for module in self.program.modules:
            module.reader = None

    def fresh(self, dispatcher: Dispatcher) -> Interpreter:
        """An interpreter that knows the compile sites and calls this one saw, and nothing that it concluded."""
        new = Interpreter(self.program, self.options, dispatcher)
        new.sites = dict(self.sites)
        new.targets = list(self.targets)
        new.calls_seen = {key: list(calls) for key, calls in self.calls_seen.items()}
        new.closures = dict(self.closures)
        new.callees = dict(self.callees)
        new.compiled_instances = dict(self.compiled_instances)
        new.rebound = set(self.rebound)
        new._bound = {key: set(values) for key, values in self._bound.items()}
        new.late = {key: dict(values) for key, values in self.late.items()}
        new._constructions = dict(self._constructions)
        new._construction_count = dict(self._construction_count)
        # Pure functions of the text: nothing to forget.
        new._sets_attributes = self._sets_attributes
        new._self_calls = self._self_calls
        new._compile_names = self._compile_names
        return new

    def constructions(self) -> Iterable[tuple[Any, tuple[Sequence[Value], Mapping[str, Value]]]]:
        """How instances were built, by their keys."""
        return self._constructions.items()

    def close(self) -> None:
        """Let go of everything: an interpreter and its frames hold each other."""
        self._module_frames.clear()
        self._memo.clear()
        self._attrs.clear()
        self._constructions.clear()
        self._function_values.clear()

    # -- events -------------------------------------------------------------------------------------------------

    def emit(self, kind: type[events.Event], frame: Frame, node: ast.AST, *details: Any) -> None:
        if self.quiet or not frame.module.report:
            return
        handlers = self.dispatcher.handlers(kind, frame.region, type(details[0]) if kind.subject else None)
        if handlers:
            self.dispatcher.dispatch(handlers, kind(frame, node, *details))

    def emit_branch(self, frame: Frame, node: ast.AST, value: Value, keyword: str) -> None:
        kind = type(value)
        if kind is Instance:
            for name in ("__bool__", "__len__"):
                method = self.find_method(value.cls, name)  # type: ignore[attr-defined]
                if method is not None:
                    calls.call(frame, node, bind_receiver(self.function_value(method), value), [], {})
                    break
        if kind is Tensor or kind is Scalar or kind is Union or kind is Instance or kind is Object or kind is Seq:
            self.emit(events.Branch, frame, node, value, keyword)

    def emit_call(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        receiver: Value | None,
        result: Value,
    ) -> None:
        if self.quiet or not frame.module.report:
            return
        handlers = self.dispatcher.call_handlers(name, frame.region)
        if handlers:
            self.dispatcher.dispatch(handlers, events.Call(frame, node, name, args, keywords, receiver, result))

    def evaluate_silently(self, frame: Frame, node: ast.expr) -> Value:
        """The value of an expression; no rule hears of what happens in it."""
        self.quiet += 1
        try:
            return evaluate(frame, node)
        finally:
            self.quiet -= 1

    # -- names --------------------------------------------------------------------------------------------------

    def module_frame(self, module: Module) -> Frame:
        frame = self._module_frames.get(module.path)
        if frame is None:
            frame = self._module_frames[module.path] = Frame(self, module, None, {}, None)
        return frame

    def module_value(self, module: Module, name: str) -> Value | None:
        """The value of a module-level name, or None where the module has none."""
        self.program.touched.add(module)
        if module.reader is not self:
            module.reader = self
            module.values = dict(module.constants)
        found = module.values.get(name)
        if found is not None:
            return found  # type: ignore[return-value]
        definition = module.names.get(name)
        if definition is None:
            for star in module.stars:
                target = self.program.find(module, star)
                if target is not None and target is not module:
                    value = self.module_value(target, name)
                    if value is not None:
                        return value
            return STR if name in ("__name__", "__file__") else None
        key = (module.path, name)
        if key in self._evaluating:
            return UNKNOWN
        self._evaluating.add(key)
        self.quiet += 1
        try:
            value = self._define(module, name, definition)
        finally:
            self.quiet -= 1
            self._evaluating.discard(key)
        if type(definition) is Assignment and _closed(module, definition):
            module.constants[name] = value
        module.values[name] = value
        return value

    def _define(self, module: Module, name: str, definition: Definition) -> Value:
        if isinstance(definition, Import):
            if definition.attribute:
                return self.imported(module, definition.target, definition.attribute)
            found = self.program.find(module, definition.target)
            return ModuleValue(found) if found is not None else External(definition.target)
        if isinstance(definition, Function):
            return self.function_value(definition)
        if isinstance(definition, Class):
            return ClassValue(definition)
        return self._assigned(module, definition, generalise=module.rebinds(name))

    def _assigned(self, module: Module, definition: Assignment, generalise: bool) -> Value:
        statement = module.node(definition.ordinal)
        expression = getattr(statement, "value", None)
        annotation = getattr(statement, "annotation", None)
        if expression is None:
            return hints.evaluate(self, module, annotation, self.module_frame(module).origin(statement))
        value = evaluate(self.module_frame(module), expression)
        for index in definition.path:
            value = (
                value.items[index] if isinstance(value, Seq) and value.items and index < len(value.items) else UNKNOWN
            )
        if value is UNKNOWN and annotation is not None:
            value = hints.evaluate(self, module, annotation, self.module_frame(module).origin(statement))
        if generalise and isinstance(value, Const) and value.value is not None:
            return Scalar(scalar_type(value.value), "global", self.module_frame(module).origin(statement))
        return value

    def imported(self, module: Module, target: str, name: str) -> Value:
        """The value of `from target import name` in `module`."""
        found = self.program.find(module, target)
        if found is not None and found is not module:
            value = self.module_value(found, name)
            if value is not None:
                return value
        sub = self.program.find(module, f"{target}.{name}")
        if sub is not None:
            return ModuleValue(sub)
        if found is not None:
            return UNKNOWN
        dotted = f"{target}.{name}"
        return _CONSTANTS.get(dotted) or External(_ALIASES.get(dotted, dotted))

    def external_attribute(self, value: External, name: str) -> Value:
        dotted = f"{value.name}.{name}"
        if dotted in _CONSTANTS:
            return _CONSTANTS[dotted]
        if value.name.startswith("torch.") and value.name.endswith("()"):
            return UNKNOWN
        found = self._externals.get(dotted)
        if found is None:
            found = self._externals[dotted] = External(_ALIASES.get(dotted, dotted))
        return found

    def module_attribute(self, module: Module, name: str) -> Value:
        value = self.module_value(module, name)
        if value is not None:
            return value
        if module.is_package:
            sub = self.program.by_place.get(f"{module.directory}/{name}")
            if sub is not None:
                return ModuleValue(sub)
        return UNKNOWN

    def class_of(self, value: Value | None) -> Class | None:
        return value.cls if isinstance(value, ClassValue) else None

    # -- functions ----------------------------------------------------------------------------------------------

    def function_value(self, function: Function) -> Value:
        """A module-level function or a method, as its decorators leave it."""
        known = self._function_values.get(function)
        if known is None:
            self._function_values[function] = FunctionValue(function)
            known = self.decorate(self.module_frame(function.module), function, FunctionValue(function))
            self._function_values[function] = known
        return known

    def decorate(self, frame: Frame, function: Function, value: Value) -> Value:
        for decorator in reversed(function.decorators):
            value = self._decorated(frame, decorator, value)
        return value

    def _decorated(self, frame: Frame, decorator: ast.expr, value: Value) -> Value:
        self.quiet += 1
        try:
            func = evaluate(frame, decorator.func if isinstance(decorator, ast.Call) else decorator)
            if isinstance(func, External):
                if self.is_compile_function(func.name):
                    args: list[Value] = [value]
                    keywords: dict[str, Value] = {}
                    if isinstance(decorator, ast.Call):
                        _, keywords, _ = calls.arguments(frame, decorator)
                    self.quiet -= 1
                    try:
                        return self.compile_call(frame, decorator, func.name, args, keywords, decorator=True)
                    finally:
                        self.quiet += 1
                if func.name in calls._DISABLE:
                    return Object(func.name, frame.origin(decorator), "disabled", value)
                if func.name == "contextlib.contextmanager":
                    return Object(func.name, frame.origin(decorator), "", value)
                if func.name == "functools.partial" and isinstance(decorator, ast.Call) and decorator.args:
                    inner = evaluate(frame, decorator.args[0])
                    if isinstance(inner, External) and self.is_compile_function(inner.name):
                        _, keywords, _ = calls.arguments(frame, decorator)
                        return self.compile_call(frame, decorator, inner.name, [value], keywords, decorator=True)
                return value
            if (
                isinstance(func, Partial)
                and isinstance(func.func, External)
                and self.is_compile_function(func.func.name)
            ):
                return self.compile_call(frame, decorator, func.func.name, [value], dict(func.keywords), decorator=True)
            if isinstance(func, FunctionValue):
                return wrappers.wrap(self, func, value)
        finally:
            self.quiet -= 1
        return value

    def module_lambda(self, frame: Frame, node: ast.Lambda) -> Value:
        place = Function(frame.module, "<lambda>", "<lambda>", None, node=node)
        return FunctionValue(place)

    def call_function(
        self,
        frame: Frame,
        node: ast.AST,
        value: FunctionValue,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        function = value.function
        if value.bound is not None:
            args = [value.bound, *args]
        if parameters.given_twice(function, args, keywords):
            return UNKNOWN
        self.emit(events.ProgramCall, frame, node, value, args, keywords)
        limit = _MAX_DEPTH if frame.region is not None else _MAX_EAGER_DEPTH
        if frame.depth >= limit:
            return UNKNOWN
        if frame.constructing:
            if not self._constructs(frame, node, function):
                return UNKNOWN
            owner = value.bound
            if isinstance(owner, Instance) and function.cls is not None and function.cls is not owner.cls:
                shared = self._inherited_setup(frame, node, value, owner, args[1:], keywords, open_ended)
                if shared is not None:
                    return shared
        return self.run(frame, node, value, parameters.bind(self, function, args, keywords, open_ended), frame.region)

    def _inherited_setup(
        self,
        frame: Frame,
        node: ast.AST,
        value: FunctionValue,
        owner: Instance,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool,
    ) -> Value | None:
        """An inherited constructor (or set-up method) run once for all classes that inherit it unchanged."""
        function = value.function
        assert function.cls is not None
        if self._overrides(owner.cls, function):
            return None
        key = (function, tuple(a.key for a in args), tuple((k, v.key) for k, v in keywords.items()), open_ended)
        stand_in = Instance(function.cls, ("inherited", function.qualname, *key[1:]))
        known = self._shared.get(key)
        if known is None:
            self._attrs[stand_in.key] = {}
            self._shared[key] = UNKNOWN  # a constructor that leads back to itself
            env = parameters.bind(self, function, [stand_in, *args], keywords, open_ended)
            known = self.run(frame, node, FunctionValue(function, stand_in, value.closure), env, None)
            self._shared[key] = known
        for name, attribute in self._attrs.get(stand_in.key, {}).items():
            self.note_attribute(frame, owner, name, attribute)
        return owner if isinstance(known, Instance) and known.key == stand_in.key else known

    def _overrides(self, cls: Class, function: Function) -> bool:
        """Whether a class overrides one of the methods that an inherited function calls on self."""
        names = self._self_calls.get(function)
        if names is None:
            node = function.node
            first = node.args.args[0].arg if node.args.args else "self"
            names = self._self_calls[function] = frozenset(
                n.func.attr
                for n in nodes(node)
                if isinstance(n, ast.Call)
                and isinstance(n.func, ast.Attribute)
                and isinstance(n.func.value, ast.Name)
                and n.func.value.id == first
            )
        assert function.cls is not None
        return any(self.find_method(cls, n) is not self.find_method(function.cls, n) for n in names)

    def _constructs(self, frame: Frame, node: ast.AST, function: Function) -> bool:
        """Whether a call in a constructor can matter to the object: it sets attributes, or its value is used."""
        if function.name == "__init__":
            return True
        if frame.depth >= _MAX_INIT_DEPTH:
            return False
        known = self._sets_attributes.get(function)
        if known is None:
            known = self._sets_attributes[function] = any(
                (type(n) is ast.Attribute and type(n.ctx) is ast.Store)
                or (type(n) is ast.Return and n.value is not None)
                for n in nodes(function.node)
            )
        return known

    def run(
        self, frame: Frame | None, node: ast.AST | None, value: FunctionValue, env: Env, region: Region | None
    ) -> Value:
        """Interpret a function in an environment of bound parameters, or remember what it gave."""
        function = value.function
        region_key = region.key if region is not None else None
        if region is None and frame is not None:
            region_key = ("eager", frame.grad)
        identity = (function.module.path, function.qualname, function.ordinal, value.key, region_key)
        key: Any = (*identity, tuple([(n, v.key) for n, v in env.items()]))
        known = self._memo.get(key)
        if known is not None:
            if key in self._graphing:
                sites.make_stale(frame)
                self.graph_runs += 1
            return known
        if key in self._running:
            return UNKNOWN
        runs = self.graph_runs
        count = self._contexts.get(identity, 0)
        if count >= (_MAX_CONTEXTS if region is not None else _MAX_EAGER_CONTEXTS):
            env = {n: widen(v) for n, v in env.items()}
            key = (*identity, "wide", tuple((n, v.key) for n, v in env.items()))
            known = self._memo.get(key)
            if known is not None:
                return known
            if key in self._running or count >= 4 * _MAX_CONTEXTS:
                return UNKNOWN
        self._contexts[identity] = count + 1
        self._running.add(key)
        try:
            result = self._interpret(frame, node, value, env, region)
        except Exception as error:
            # One function that we cannot handle costs one diagnostic, not the run.
            if os.environ.get("TCLINT_DEBUG") and not isinstance(error, RecursionError):
                raise
            self.errors.append((function, error))
            result = UNKNOWN
        finally:
            self._running.discard(key)
        self._memo[key] = result
        if self.graph_runs != runs:
            self._graphing.add(key)
        return result

    def _interpret(
        self, caller: Frame | None, node: ast.AST | None, value: FunctionValue, env: Env, region: Region | None
    ) -> Value:
        function = value.function
        body = function.node
        frame = Frame(self, function.module, function, env, region, caller, node, value.closure)
        if region is None and (function.name == "__init__" or (caller is not None and caller.constructing)):
            frame.constructing = True
        if region is None:
            for decorator in function.decorators:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if isinstance(called, ast.Attribute) and called.attr in ("no_grad", "inference_mode"):
                    frame.grad = False
        if region is not None and not self.quiet:
            place = (function.module.path, function.qualname, body.lineno)
            self.reached.add(place)
            if region.site is not None:
                self.reach.setdefault((region.site.path, region.site.line), set()).add(place)
        self.emit(events.Enter, frame, body)
        if isinstance(body, ast.Lambda):
            frame.in_lambda = True
            return evaluate(frame, body.body)
        statements.run_block(frame, body.body)
        if frame.yields:
            return Seq("generator", None, join_all(frame.yields))
        if not frame.dead:
            frame.returns.append(NONE)
        result = join_all(frame.returns) if frame.returns else UNKNOWN
        if result is UNKNOWN and body.returns is not None:
            result = hints.evaluate(self, function.module, body.returns, frame.origin(body))
        return result

    # -- classes ------------------------------------------------------------------------------------------------

    def mro(self, cls: Class) -> list[Class]:
        """The classes of the program an attribute is looked up in, in order."""
        known = self._mro.get(cls)
        if known is None:
            self._mro[cls] = [cls]  # a class that inherits from itself must not hang us
            self.program.touched.add(cls.module)
            order = [cls]
            for base in self.bases(cls):
                if isinstance(base, ClassValue):
                    for ancestor in self.mro(base.cls):
                        if ancestor in order:
                            order.remove(ancestor)
                        order.append(ancestor)
            known = self._mro[cls] = order
        return known

    def bases(self, cls: Class) -> list[Value]:
        known = self._bases.get(cls)
        if known is not None:
            return known
        self.quiet += 1
        try:
            frame = self.module_frame(cls.module)
            found = [evaluate(frame, base) for base in cls.node.bases if not isinstance(base, ast.Starred)]
        finally:
            self.quiet -= 1
        if UNKNOWN not in found:
            # What is unknown now may only be in the making.
            self._bases[cls] = found
        return found

    def external_base(self, cls: Class) -> str:
        """The dotted name of the first base outside the program, empty where there is none or it is unknown."""
        known = self._external_base.get(cls)
        if known is None:
            known = ""
            for ancestor in self.mro(cls):
                for base in self.bases(ancestor):
                    if isinstance(base, External) and base.name not in ("builtins.object", "abc.ABC"):
                        known = known or base.name
                        if base.name.startswith("torch.nn."):
                            known = base.name
                            break
            self._external_base[cls] = known
        return known

    def is_nn_module(self, cls: Class) -> bool:
        base = self.external_base(cls)
        if base.startswith("torch.nn.") or base.endswith(("LightningModule", ".Module")):
            return True
        if base.startswith("torch.autograd"):
            return False
        unknown = any(b is UNKNOWN for a in self.mro(cls) for b in self.bases(a))
        # A base we cannot see, and a forward: a module in all likelihood.
        return (bool(base) or unknown) and self.find_method(cls, "forward") is not None and base not in _NOT_MODULES

    def find_method(self, cls: Class, name: str) -> Function | None:
        for ancestor in self.mro(cls):
            found = ancestor.methods.get(name)
            if found is not None:
                return found
        return None

    def subclass_of(self, cls: Class, name: str) -> bool:
        return any(a.name == name for a in self.mro(cls)) or self.external_base(cls).endswith("." + name)

    def construct(
        self,
        frame: Frame,
        node: ast.AST,
        cls: Class,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        """The value of `Class(*args, **keywords)`."""
        self.emit(events.ProgramCall, frame, node, ClassValue(cls), args, keywords)
        if self.find_method(cls, "__init__") is None:
            fields = self._fields(cls)
            if fields:
                given = dict(zip(fields, args, strict=False))
                given.update({k: v for k, v in keywords.items() if k in fields})
                return Instance(cls, "fields", given)
            if self.subclass_of(cls, "Enum"):
                return UNKNOWN
        base = self.external_base(cls)
        if base.endswith(("Tokenizer", "TokenizerFast", "TokenizerBase")):
            return Object("tokenizer", frame.origin(node))
        if base == "torch.Tensor":
            return Tensor(origin=frame.origin(node))
        context: list[Any] = []
        for i, value in enumerate(args):
            if _decides_code(value):
                context.append((i, value.key))
        for name, value in keywords.items():
            if _decides_code(value):
                context.append((name, value.key))
        instance = Instance(cls, tuple(context))
        if instance.key not in self._constructions:
            count = self._construction_count.get(cls, 0)
            if count >= _MAX_CONSTRUCTIONS:
                return Instance(cls)
            self._construction_count[cls] = count + 1
            self._constructions[instance.key] = (list(args), dict(keywords))
        else:
            self._join_construction(instance, args, keywords)
        return instance

    def _join_construction(self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        """Instances built alike but for numbers share one description, in which those numbers are unknown."""
        old_args, old_keywords = self._constructions[instance.key]
        if len(old_args) != len(args) or instance.key in self._attrs:
            return
        joined = [join(a, b) for a, b in zip(old_args, args, strict=True)]
        merged = {k: join(v, keywords[k]) if k in keywords else v for k, v in old_keywords.items()}
        self._constructions[instance.key] = (joined, merged)

    def _fields(self, cls: Class) -> list[str]:
        """The fields of a dataclass-like class, base classes first."""
        known = self._field_names.get(cls)
        if known is None:
            names: dict[str, None] = {}
            for ancestor in reversed(self.mro(cls)):
                for name, assigned in ancestor.assignments.items():
                    if assigned.annotated:
                        names[name] = None
            known = self._field_names[cls] = list(names)
        return known

    def attributes(self, instance: Instance) -> dict[str, Value]:
        """The attributes `__init__` gives an instance, computed once for each way of constructing it."""
        known = self._attrs.get(instance.key)
        if known is None:
            known = self._attrs[instance.key] = {}
            init = self.find_method(instance.cls, "__init__")
            if init is not None:
                self._run_init(instance, init)
        return known

    def _run_init(self, instance: Instance, init: Function) -> None:
        construction = self._constructions.get(instance.key)
        if construction is not None:
            env = parameters.bind(self, init, [instance, *construction[0]], construction[1], False)
        else:
            env = parameters.entry(self, init, instance, constructor=True)
        self.quiet += 1
        try:
            frame = Frame(self, init.module, init, env, None)
            frame.constructing = True
            statements.run_block(frame, init.node.body)  # type: ignore[arg-type]
        except Exception as error:
            if os.environ.get("TCLINT_DEBUG") and not isinstance(error, RecursionError):
                raise
            self.errors.append((init, error))
        finally:
            self.quiet -= 1

    def note_attribute(self, frame: Frame, instance: Instance, name: str, value: Value, replace: bool = False) -> None:
        """Remember that an attribute was stored."""
        if frame.constructing:
            attrs = self._attrs.setdefault(instance.key, {})
            old = attrs.get(name)
            attrs[name] = value if old is None or replace else join(old, value)
        elif isinstance(value, Tensor):
            existing = self.attributes(instance).get(name)
            if isinstance(existing, Tensor) and existing.flags & PARAMETER and _from_outside(frame, instance):
                self._note_rebound(instance, name, value)
        elif _holds_compiled(value):
            late = self.late.setdefault((instance.cls.module.path, instance.cls.qualname), {})
            old = late.get(name)
            late[name] = value if old is None else join(old, value)
        elif _from_outside(frame, instance) and self.is_nn_module(instance.cls):
            self._note_rebound(instance, name, value)

    def _note_rebound(self, instance: Instance, name: str, value: Value) -> None:
        """Eager code binds an attribute of a module anew. Two values are two programs; what matters is a third."""
        key = (instance.cls.module.path, instance.cls.qualname, name)
        if isinstance(value, Tensor):
            if value.shape is not None:  # of another shape, perhaps; what is computed from the old one has its shape
                self.rebound.add(key)
        elif isinstance(value, Scalar):
            if value.type in ("int", "float", "number", "str"):
                self.rebound.add(key)
        elif isinstance(value, Seq) or (isinstance(value, Const) and not isinstance(value.value, (bool, type(None)))):
            seen = self._bound.setdefault(key, set())
            seen.add(value.key)
            if len(seen) > 2:
                self.rebound.add(key)

    def note_setting(self, frame: Frame, instance: Instance, name: str, value: Value) -> None:
        """Eager code sets a number of a layer that belongs to a module."""
        if _from_outside(frame, instance) and self.is_nn_module(instance.cls) and isinstance(value, (Scalar, Const)):
            self._note_rebound(instance, name, value)

    def note_replaced(self, frame: Frame, instance: Instance, name: str, made: ast.Call) -> None:
        """Eager code puts another layer in the place of one. Of the same size it costs nothing."""
        if frame.constructing or not _from_outside(frame, instance) or frame.function is None:
            return
        given = {
            part.id for each in (*made.args, *made.keywords) for part in ast.walk(each) if isinstance(part, ast.Name)
        }
        if isinstance(self.attributes(instance).get(name), Object) and given & set(
            parameters.signature(frame.function).names
        ):
            self.rebound.add((instance.cls.module.path, instance.cls.qualname, name))

    def instance_attribute(self, frame: Frame, node: ast.AST, instance: Instance, name: str) -> Value:
        """The value of `instance.name`."""
        if instance.fields is not None and name in instance.fields:
            return instance.fields[name]
        cls = instance.cls
        if self.late:
            for ancestor in self.mro(cls):
                stored = self.late.get((ancestor.module.path, ancestor.qualname))
                if stored is not None and name in stored:
                    return stored[name]
        value = self.attributes(instance).get(name)
        if value is not None:
            if frame.region is not None and self._worth_telling(frame, instance, name, value):
                self.emit(events.Attribute, frame, node, instance, name)
            return self._attribute_value(value, name, frame, node)
        for ancestor in self.mro(cls):
            method = ancestor.methods.get(name)
            if method is not None:
                return self._method(frame, node, instance, method)
            assigned = ancestor.assignments.get(name)
            if assigned is not None:
                return self._class_level(ancestor, assigned, name, frame, node)
        if name == "training":
            return BOOL
        if name in calls._MODULE_METHODS:
            return Method(instance, name)
        if name in ("__dict__",):
            return Dict({}, UNKNOWN)
        dynamic = self.attributes(instance).get("*")
        if dynamic is not None and "*" not in name and self.find_method(cls, "__getattr__") is None:
            return dynamic
        return self._by_name(UNKNOWN, name, frame, node)

    def _worth_telling(self, frame: Frame, instance: Instance, name: str, value: Value) -> bool:
        """An attribute whose reading can cost recompiles: rebound by eager code, or different for each compiled layer."""
        if (instance.cls.module.path, instance.cls.qualname, name) in self.rebound:
            return True
        site = frame.region.site if frame.region is not None else None
        return site is not None and (site.many or site.decorator) and isinstance(value, (Scalar, Object))

    def _attribute_value(self, value: Value, name: str, frame: Frame, node: ast.AST) -> Value:
        """An attribute as code elsewhere sees it: constants may have been changed by then."""
        if isinstance(value, Const):
            if value.value is None:
                return Union((NONE, UNKNOWN))
            kind = scalar_type(value.value)
            return Scalar(kind, "attr", frame.origin(node)) if kind != "other" else UNKNOWN
        if isinstance(value, Scalar):
            return Scalar(value.type, "attr", frame.origin(node))
        return self._by_name(value, name, frame, node)

    def _by_name(self, value: Value, name: str, frame: Frame, node: ast.AST) -> Value:
        if value is UNKNOWN and self._tokenizer.match(name):
            return Object("tokenizer", frame.origin(node))
        return value

    def _class_level(self, cls: Class, assigned: Assignment, name: str, frame: Frame, node: ast.AST) -> Value:
        key = (cls.module.path, f"{cls.qualname}.{name}")
        value = self._class_values.get(key)
        if value is None:
            if key in self._evaluating:
                return UNKNOWN
            self._evaluating.add(key)
            self.quiet += 1
            try:
                value = self._assigned(cls.module, assigned, generalise=False)
            finally:
                self.quiet -= 1
                self._evaluating.discard(key)
            self._class_values[key] = value
        if isinstance(value, FunctionValue) and value.bound is None:
            return value
        if isinstance(value, Const) and self.subclass_of(cls, "Enum"):
            return Object(ENUM, frame.origin(node), f"{cls.qualname}.{name}")
        return self._attribute_value(value, name, frame, node)

    def _method(self, frame: Frame, node: ast.AST, instance: Instance, method: Function) -> Value:
        kind = self.method_kind(method)
        if kind == "property":
            value = FunctionValue(method, instance)
            return self.call_function(frame, node, value, [], {})
        decorated = self.function_value(method)
        if kind == "static":
            return decorated
        receiver: Value = ClassValue(instance.cls) if kind == "class" else instance
        return bind_receiver(decorated, receiver)

    def method_kind(self, method: Function) -> str:
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

    def class_attribute(self, frame: Frame, node: ast.AST, cls: Class, name: str) -> Value:
        """The value of `Class.name`."""
        for ancestor in self.mro(cls):
            method = ancestor.methods.get(name)
            if method is not None:
                decorated = self.function_value(method)
                if self.method_kind(method) == "class":
                    return bind_receiver(decorated, ClassValue(cls))
                return decorated
            assigned = ancestor.assignments.get(name)
            if assigned is not None:
                return self._class_level(ancestor, assigned, name, frame, node)
        if name == "apply" and self.external_base(cls).startswith("torch.autograd"):
            return Method(Object("torch.autograd.Function", frame.origin(node), "", ClassValue(cls)), "apply")
        base = self.external_base(cls)
        return External(f"{base}.{name}") if base else UNKNOWN

    def super_attribute(self, frame: Frame, value: Super, name: str) -> Value:
        instance = value.instance
        cls = instance.cls if isinstance(instance, (Instance, ClassValue)) else None
        if cls is None:
            return UNKNOWN
        order = self.mro(cls)
        start = order.index(value.after) + 1 if value.after in order else 1
        for ancestor in order[start:]:
            method = ancestor.methods.get(name)
            if method is not None:
                return bind_receiver(self.function_value(method), instance)
        return UNKNOWN

    def call_instance(
        self,
        frame: Frame,
        node: ast.AST,
        instance: Instance,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        if frame.region is None and instance.key in self.compiled_instances:
            return self.call_compiled(
                frame, node, Compiled(instance, self.compiled_instances[instance.key]), args, keywords, open_ended
            )
        for name in ("__call__", "forward"):
            method = self.find_method(instance.cls, name)
            if method is not None:
                bound = bind_receiver(self.function_value(method), instance)
                return calls.call(frame, node, bound, args, keywords, open_ended)
        base = self.external_base(instance.cls)
        if base.startswith("torch.nn."):
            from tclint.interpreter.models import torch_functions

            if base == "torch.nn.Sequential":
                return UNKNOWN
            return torch_functions.module_call(frame, node, base, args, keywords, Object(base))
        return UNKNOWN

    def tuple_fields(self, instance: Instance) -> tuple[Value, ...] | None:
        if instance.fields is None:
            return None
        return tuple(v for v in instance.fields.values() if not (isinstance(v, Const) and v.value is None))

    def instance_item(self, frame: Frame, node: ast.AST, instance: Instance, index: Value) -> Value:
        """`instance[index]`: a field of a tuple-like class, or its `__getitem__`."""
        if instance.fields is not None:
            fields = self.tuple_fields(instance) or ()
            if isinstance(index, Const) and isinstance(index.value, int) and -len(fields) <= index.value < len(fields):
                return fields[index.value]
            if isinstance(index, Const) and index.value in instance.fields:
                return instance.fields[index.value]
            return UNKNOWN
        method = self.find_method(instance.cls, "__getitem__")
        if method is not None:
            bound = bind_receiver(self.function_value(method), instance)
            return calls.call(frame, node, bound, [index], {})
        return UNKNOWN

    def iterate_instance(self, frame: Frame, node: ast.AST, instance: Instance) -> Value:
        method = self.find_method(instance.cls, "__iter__")
        if method is not None:
            result = calls.call(frame, node, bind_receiver(self.function_value(method), instance), [], {})
            if isinstance(result, (Seq, Object, Dict, Tensor)):
                return element_of(frame, result, node)
        return UNKNOWN

    def dynamic_attribute(self, instance: Instance) -> Value:
        attrs = self.attributes(instance)
        return attrs.get("*", UNKNOWN)

    def instance_isinstance(self, instance: Instance, wanted: Value) -> bool | None:
        names = {a.name for a in self.mro(instance.cls)}
        classes = set(self.mro(instance.cls))
        options = wanted.items if isinstance(wanted, Seq) and wanted.items is not None else (wanted,)
        for option in options:
            if isinstance(option, ClassValue) and option.cls in classes:
                return True
            if isinstance(option, External):
                if option.name.rpartition(".")[2] in names or option.name == self.external_base(instance.cls):
                    return True
        if all(isinstance(o, External) and o.name in _NEVER_INSTANCES for o in options):
            return False
        return None

    # -- compile sites ------------------------------------------------------------------------------------------

    def is_compile_function(self, name: str) -> bool:
        known = self._compile_names.get(name)
        if known is None:
            known = name in sites.COMPILERS or any(
                fnmatch.fnmatch(name, p) or fnmatch.fnmatch(name, "*." + p) for p in self.options.compile_functions
            )
            self._compile_names[name] = known
        return known

    def compile_call(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        decorator: bool = False,
    ) -> Value:
        return sites.compile_call(self, frame, node, name, args, keywords, decorator)

    def call_compiled(
        self,
        frame: Frame,
        node: ast.AST,
        value: Compiled,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return sites.call_compiled(self, frame, node, value, args, keywords, open_ended)

    def configured_callable(self, frame: Frame, node: ast.Attribute) -> Value | None:
        """A callable that the configuration says is compiled with CUDA graphs, by its dotted source text."""
        assert self.configured is not None
        name = ast.unparse(node)
        if not self.configured.match(name):
            return None
        value = evaluate(frame, node)
        if isinstance(value, Compiled):
            return value
        site = CompileSite("[tool.tclint.cudagraph] callables", 0, name, cudagraphs=True)
        return Compiled(value, site)

    def note_call(self, target: Value, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        """Remember how eager code calls a compiled callable: evidence for what its arguments are and how they vary."""
        self.callees[target.key] = target
        seen = self.calls_seen.setdefault(target.key, [])
        if len(seen) < 64:
            seen.append((tuple(args), dict(keywords)))

    def own(self, value: Value, frame: Frame, node: ast.AST) -> Value:
        """The output of a graphed callable: the next call overwrites it."""
        sites.make_stale(frame)
        self.graph_runs += 1
        return sites.own(value, OWNED, None, frame.origin(node))

    # -- entries ------------------------------------------------------------------------------------------------

    def enter_with(self, function: Function, receiver: Value, args: Sequence[Value], region: Region) -> Value:
        """Interpret a function as the entry of a region with example arguments."""
        frame = Frame(self, function.module, function, {}, region)
        names = parameters.signature(function).names[1:]
        entry = parameters.entry(self, function, receiver, region=region)
        marked = [
            parameters.as_input(a if a is not UNKNOWN else entry.get(n, UNKNOWN), n, Origin(function.node.lineno, None))
            for a, n in zip(args, [*names, *(f"argument {i}" for i in range(len(args)))], strict=False)
        ]
        # What the examples leave to its default may be passed by others.
        rest = {n: v for n, v in entry.items() if n in names[len(marked) :]}
        return calls.call(frame, function.node, bind_receiver(self.function_value(function), receiver), marked, rest)

    def enter_known(
        self,
        function: Function,
        receiver: Value | None,
        site: CompileSite | None,
        seen: Sequence[tuple[tuple[Value, ...], dict[str, Value]]],
    ) -> Value:
        """Interpret the entry of a region with what eager code was seen to pass, or else with its signature."""
        # A function interpreted on its own passes on arguments nobody knows: no evidence where real calls are in sight.
        known = [c for c in seen if not any(v is UNKNOWN for v in (*c[0], *c[1].values()))]
        seen = known or seen
        if not seen:
            return self.enter_root(function, receiver, Region(site))
        bound = [receiver] if receiver is not None else []
        envs = [parameters.bind(self, function, [*bound, *args], keywords, False) for args, keywords in seen]
        names = parameters.signature(function).names[len(bound) :]
        variadic = [n for n in parameters.variadic(function) if n]
        evidence = Evidence({n: tuple(e[n] for e in envs if n in e) for n in (*names, *variadic)})
        region = Region(site, evidence)
        env: Env = dict(zip(parameters.signature(function).names, bound, strict=False))
        by_signature = parameters.entry(self, function, receiver, region=region)
        for name in envs[0]:
            if name not in env:
                joined = join_all(e[name] for e in envs if name in e)
                if joined is UNKNOWN:
                    env[name] = by_signature.get(name, UNKNOWN)
                    continue
                env[name] = parameters.as_input(joined, name, Origin(function.node.lineno, None))
        decorated = self.function_value(function)
        while isinstance(decorated, Compiled):
            decorated = decorated.target
        if isinstance(decorated, FunctionValue) and decorated.function is not function:
            return self.enter_root(function, receiver, region)
        closure = self.closures.get(function)
        return self.run(None, None, FunctionValue(function, None, closure), env, region)

    def enter_root(self, function: Function, receiver: Value | None, region: Region | None) -> Value:
        """Interpret a function as the entry of a region (or of eager code) with what its signature says."""
        decorated = self.function_value(function)
        env = parameters.entry(self, function, receiver, region=region)
        vararg = parameters.variadic(function)[0]
        for captured in (self.closures.get(function) or {}).values():
            if vararg and isinstance(captured, FunctionValue):
                # A wrapper takes anything; what it wraps says what that is.
                inner = parameters.entry(self, captured.function, None, region=region)
                env[vararg] = Seq("tuple", tuple(inner.values()), UNKNOWN, "args")
                break
        while isinstance(decorated, Compiled):
            decorated = decorated.target
        if isinstance(decorated, Object) and decorated.kind == "disabled":
            if region is not None:
                return UNKNOWN
            decorated = decorated.args or UNKNOWN
        if isinstance(decorated, FunctionValue) and decorated.function is not function:
            # A wrapper stands before the function: enter through it.
            frame = Frame(self, function.module, function, {}, region)
            names = [n for n in env if n not in parameters.variadic(function)]
            positional = [env[n] for n in names[:1]] if receiver is not None else []
            rest = {n: env[n] for n in names[len(positional) :]}
            return calls.call(frame, function.node, decorated, positional, rest, bool(parameters.variadic(function)[1]))
        return self.run(None, None, FunctionValue(function, None, self.closures.get(function)), env, region)


_NOT_MODULES: Final = frozenset(
    {"builtins.object", "torch.autograd.Function", "torch.autograd.function.Function", "typing.Protocol", "enum.Enum"}
    | {"abc.ABC", "torch.utils.data.Dataset", "torch.optim.Optimizer"}
)
_NEVER_INSTANCES: Final = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.str", "builtins.int", "builtins.float", "builtins.dict"}
    | {"builtins.bool", "torch.Tensor", "numpy.ndarray"}
)


def bind_receiver(value: Value, receiver: Value) -> Value:
    """A method taken from a class, bound to an object."""
    if isinstance(value, FunctionValue):
        return FunctionValue(value.function, receiver, value.closure)
    if isinstance(value, Compiled):
        return Compiled(bind_receiver(value.target, receiver), value.site)
    if isinstance(value, Object) and value.args is not None:
        return Object(value.name, value.origin, value.kind, bind_receiver(value.args, receiver))
    if isinstance(value, Partial):
        return Partial(bind_receiver(value.func, receiver), value.args, value.keywords)
    return value


def _decides_code(value: Value) -> bool:
    """Whether a constructor argument decides which code runs later."""
    if isinstance(value, CALLABLES):
        return True
    if isinstance(value, Object):
        return value.name.startswith("torch.nn.") or value.kind == "disabled" or value.name == "tokenizer"
    if isinstance(value, Seq) and value.items is not None:
        return any(_decides_code(v) for v in value.items)
    return isinstance(value, Union) and any(_decides_code(o) for o in value.options)


def _from_outside(frame: Frame, instance: Instance) -> bool:
    """Whether eager code changes an object: its own methods may run in a graph, unless others are seen to call them."""
    if frame.region is not None:
        return False
    if frame.cls is not instance.cls:
        return True
    caller = frame.parent
    return caller is not None and caller.region is None and caller.cls is not instance.cls


def _holds_compiled(value: Value) -> bool:
    if isinstance(value, Compiled):
        return True
    if isinstance(value, Object) and value.args is not None:
        return _holds_compiled(value.args)
    if isinstance(value, Seq):
        return any(_holds_compiled(v) for v in (value.items if value.items is not None else (value.elem,)))
    if isinstance(value, Dict):
        return any(_holds_compiled(v) for v in value.items.values()) or (
            value.elem is not None and _holds_compiled(value.elem)
        )
    if isinstance(value, Union):
        return any(_holds_compiled(o) for o in value.options)
    return False


_CONTAINERS: Final = frozenset({"OrderedDict", "dict", "frozenset", "set", "tuple", "list"})
_LITERALS: Final = frozenset({ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Call, ast.UnaryOp})


def _closed(module: Module, definition: Assignment) -> bool:
    """Whether an assignment says it all by itself: literals, and the usual containers around them."""
    value = getattr(module.node(definition.ordinal), "value", None)
    if value is None or b"global " in module.data or _CONTAINERS & module.names.keys() - {"OrderedDict"}:
        return False
    return all(type(n) in _LITERALS or (type(n) is ast.Name and n.id in _CONTAINERS) for n in nodes(value))


def functions_of(module: Module) -> Iterator[Function]:
    """Every function and method of a module, in source order."""
    module.names  # noqa: B018  reading the names indexes the file
    yield from module.functions


__all__ = ["OWNED", "PARAMETER", "Interpreter", "Options", "bind_receiver", "functions_of"]
