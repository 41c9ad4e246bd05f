"""Functions of the program: as their decorators leave them, and what calling them gives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint import events
from tclint.interpreter import (
    called_apart,
    constructors,
    exceptions,
    execute,
    fitting,
    hints,
    parameters,
    run_apart,
    wrappers,
)
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.expressions import passed_tests
from tclint.interpreter.expressions.calls import arguments
from tclint.interpreter.frame import ONCE, Env, Frame
from tclint.interpreter.models import torch_wrappers
from tclint.interpreter.modes import enter_mode
from tclint.interpreter.passed_over import passed_over
from tclint.interpreter.state import Remembered
from tclint.program import Class, Function
from tclint.torch_facts import facts
from tclint.values import (
    NONE,
    UNKNOWN,
    Compiled,
    Const,
    External,
    FunctionValue,
    Instance,
    Object,
    Origin,
    Partial,
    Region,
    Seq,
    Union,
    Value,
    join_all,
    widen,
)

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_CONSTANT: Final = frozenset(facts.named("takes the result of a function for a constant"))
_ELSEWHERE: Final = frozenset(facts.named("makes a program of another compiler"))
_OPAQUE: Final = frozenset({"disabled", "elsewhere", "in graph"})
_MAX_DEPTH: Final = 40
_MAX_EAGER_DEPTH: Final = 10
_MAX_INIT_DEPTH: Final = 2
_MAX_SETUP_DEPTH: Final = 4
_MAX_CONTEXTS: Final = 6
_MAX_EAGER_CONTEXTS: Final = 16
_MAX_STATES: Final = 48
"""States of objects for which a result is remembered."""


class Functions:
    """Decorates, calls and runs functions, and remembers what they gave."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._memo = interp.memo
        self._text = interp.text
        self._emitter = interp.emitter
        self._silence = interp.emitter.silence

    # -- as values ----------------------------------------------------------------------------------------------

    def value(self, function: Function) -> Value:
        """A module-level function or a method, as its decorators leave it."""
        values = self._memo.function_values
        known = values.get(function)
        if known is None:
            values[function] = FunctionValue(function)  # for a decorator that leads back here
            with self._interp.names.importing(function.module):
                known = self.decorate(self._interp.names.frame(function.module), function, FunctionValue(function))
            values[function] = known
        return known

    def is_disabled(self, value: Value) -> bool:
        """Whether Dynamo leaves the graph to call it: a function under `disable`, an object whose `forward` is one."""
        method = self._interp.classes.find_method(value.cls, "forward") if isinstance(value, Instance) else None
        value = self.value(method) if method is not None else value
        return isinstance(value, Object) and value.kind == "disabled"

    def decorate(self, frame: Frame, function: Function, value: Value) -> Value:
        """What the decorators of a function make of it."""
        for decorator in reversed(function.decorators):
            value = self._decorated(frame, decorator, value)
        return value

    def _decorated(self, frame: Frame, decorator: ast.expr, value: Value) -> Value:
        keywords: dict[str, Value] = {}
        with self._silence:
            func = evaluate(frame, decorator.func if isinstance(decorator, ast.Call) else decorator)
            if not (isinstance(func, External) and self._compiles(func)):
                return self._wrapped(frame, decorator, func, value)
            if isinstance(decorator, ast.Call):
                _, keywords, _ = arguments(frame, decorator)
        return self._compile(frame, decorator, func, value, keywords)

    def decorate_class(self, frame: Frame, cls: Class) -> None:
        """`@torch.compile` on a class compiles the call of each of its objects."""
        for decorator in cls.node.decorator_list:
            keywords: dict[str, Value] = {}
            with self._silence:
                func = evaluate(frame, decorator.func if isinstance(decorator, ast.Call) else decorator)
                if not (isinstance(func, External) and self._compiles(func)):
                    continue
                if isinstance(decorator, ast.Call):
                    _, keywords, _ = arguments(frame, decorator)
            self._compile(frame, decorator, func, Instance(cls), keywords)

    def _wrapped(self, frame: Frame, decorator: ast.expr, func: Value, value: Value) -> Value:
        """What a decorator that is no compile function makes of a function."""
        if isinstance(func, External):
            if func.name in torch_wrappers.DISABLE:
                return Object(func.name, frame.origin(decorator), "disabled", value)
            if func.name in torch_wrappers.IN_GRAPH:
                return torch_wrappers.in_graph(frame, decorator, func.name, value)
            if func.name == torch_wrappers.CUSTOM_OP:
                return torch_wrappers.custom_op(frame, decorator, value)
            if func.name == "contextlib.contextmanager":
                return Object(func.name, frame.origin(decorator), "", value)
            if func.name in _ELSEWHERE:
                return Object(func.name, frame.origin(decorator), "elsewhere")
            if isinstance(value, FunctionValue) and wrappers.is_another_language(frame, func, value.function):
                return UNKNOWN
            if func.name == "functools.partial" and isinstance(decorator, ast.Call) and decorator.args:
                inner = evaluate(frame, decorator.args[0])
                if isinstance(inner, External) and self._compiles(inner):
                    _, keywords, _ = arguments(frame, decorator)
                    return self._compile(frame, decorator, inner, value, keywords)
        elif isinstance(func, Partial) and isinstance(func.func, External) and self._compiles(func.func):
            return self._compile(frame, decorator, func.func, value, dict(func.keywords))
        elif isinstance(func, Union):
            ways = [self._wrapped(frame, decorator, option, value) for option in func.options]
            return next((way for way in ways if isinstance(way, Object) and way.kind in _OPAQUE), value)
        elif isinstance(func, FunctionValue):
            handed = wrappers.handed_to_torch(self._interp.names.frame(func.function.module), func.function)
            if handed is not None:
                name, taker = handed
                inside = self._interp.names.frame(func.function.module)
                if name == torch_wrappers.CUSTOM_OP:
                    return torch_wrappers.custom_op(inside, taker, value)
                kind = "disabled" if name in torch_wrappers.DISABLE else "in graph"
                return Object(name, inside.origin(taker), kind, value)
            if wrappers.compiles(func.function):
                made = evaluate(frame, decorator) if isinstance(decorator, ast.Call) else func
                made = made.call(frame, decorator, [value], {})
                if isinstance(made, (FunctionValue, Compiled)):
                    return made
            given: Mapping[str, Value] = {}
            if isinstance(decorator, ast.Call):
                args, keywords, open_ended = arguments(frame, decorator)
                given = parameters.bind(self._interp, func.function, args, keywords, open_ended)
            return wrappers.wrap(func, value, given)
        return value

    def _compiles(self, func: External) -> bool:
        return self._interp.compile_sites.is_compile_function(func.name)

    def _compile(
        self, frame: Frame, node: ast.AST, compiler: External, value: Value, keywords: Mapping[str, Value]
    ) -> Value:
        return self._interp.compile_sites.compile(frame, node, compiler.name, [value], keywords, decorator=True)

    @staticmethod
    def module_lambda(frame: Frame, node: ast.Lambda) -> Value:
        """A lambda that stands in no function."""
        return FunctionValue(Function(frame.module, "<lambda>", "<lambda>", None, node=node))

    # -- calls --------------------------------------------------------------------------------------------------

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        value: FunctionValue,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        """The value of a call; `open_ended` where more may be passed than is known."""
        function = value.function
        if value.bound is not None:
            args = [value.bound, *args]
        if frame.region is not None and not open_ended and "try" in frame.blocks and not function.decorators:
            if not fitting.fits(function, args, keywords) and exceptions.ends_type_errors(frame, node):
                exceptions.fails(frame, node, "call that does not fit its function")
        if fitting.given_twice(function, args, keywords):
            return UNKNOWN
        if function.cls is None and not open_ended:
            if fitting.left_out(function, args, keywords):
                return UNKNOWN
            if not function.decorators and fitting.too_many(function, args):
                return UNKNOWN
        self._emitter.emit(events.ProgramCall, frame, node, value, args, keywords)
        if frame.region is not None and function.decorators and self._is_run_while_tracing(function):
            return UNKNOWN
        if frame.depth >= (_MAX_DEPTH if frame.region is not None else _MAX_EAGER_DEPTH):
            return UNKNOWN
        if frame.constructing:
            if not self._constructs(frame, function):
                return UNKNOWN
            owner = value.bound
            if isinstance(owner, Instance) and function.cls is not None and function.cls is not owner.cls:
                shared = self._inherited_setup(frame, node, value, owner, args[1:], keywords, open_ended)
                if shared is not None:
                    return shared
        env = parameters.bind(self._interp, function, args, keywords, open_ended, frame.region is not None)
        return self.run(frame, node, value, env, frame.region)

    def _is_run_while_tracing(self, function: Function) -> bool:
        """Whether Dynamo calls a function itself, and goes on with what it returned."""
        known = self._memo.run_while_tracing.get(function)
        if known is None:
            with self._silence:
                frame = self._interp.names.frame(function.module)
                made = [evaluate(frame, each) for each in function.decorators if not isinstance(each, ast.Call)]
            known = any(isinstance(each, External) and each.name in _CONSTANT for each in made)
            self._memo.run_while_tracing[function] = known
        return known

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
        memo = self._memo
        key = (function, tuple(a.key for a in args), tuple((k, v.key) for k, v in keywords.items()), open_ended)
        stand_in = Instance(function.cls, ("inherited", function.qualname, *key[1:]))
        known = memo.shared_setup.get(key)
        if known is None:
            memo.attributes[stand_in.key] = {}
            memo.shared_setup[key] = UNKNOWN  # a constructor that leads back to itself
            env = parameters.bind(self._interp, function, [stand_in, *args], keywords, open_ended)
            known = self.run(frame, node, FunctionValue(function, stand_in, value.closure), env, None)
            memo.shared_setup[key] = known
        if isinstance(known, FunctionValue):
            return None  # it sees the object that it was made for
        for name, attribute in memo.attributes.get(stand_in.key, {}).items():
            self._interp.instance_attributes.store(frame, owner, name, attribute)
        return owner if isinstance(known, Instance) and known.key == stand_in.key else known

    def _overrides(self, cls: Class, function: Function) -> bool:
        """Whether a class defines anew what an inherited function reads of self: `wrap(self.update)`, `self.layer_class(8)`."""
        assert function.cls is not None
        order = self._interp.classes.mro(function.cls)
        # A constructor runs those of the bases.
        runs = (
            [c.methods[function.name] for c in order if function.name in c.methods]
            if function.name == "__init__"
            else [function]
        )
        known = self._text.self_calls
        names = frozenset().union(*(constructors.asked_of_self(run, known) for run in runs))
        find = self._interp.classes.definition
        return any(find(cls, n) is not find(function.cls, n) for n in names)

    def _constructs(self, frame: Frame, function: Function) -> bool:
        """Whether a call in a constructor can matter to the object: it sets attributes, or its value is used."""
        if function.name == "__init__":
            return True
        if frame.depth >= _MAX_INIT_DEPTH and not (
            constructors.sets_up(frame, function, _MAX_SETUP_DEPTH)
            or constructors.makes_a_part(frame, function, _MAX_INIT_DEPTH)
        ):
            return False
        function.read()
        known = self._text.sets_attributes.get(function)
        if known is None:
            known = self._text.sets_attributes[function] = constructors.matters(function)
        return known

    # -- runs ---------------------------------------------------------------------------------------------------

    def run(
        self, frame: Frame | None, node: ast.AST | None, value: FunctionValue, env: Env, region: Region | None
    ) -> Value:
        """Interpret a function in an environment of bound parameters, or remember what it gave."""
        function = value.function
        if region is not None and frame is not None:
            env = passed_tests.handed(frame, node, value, env)
        skipped = frame.skipped(node) if region is not None and frame is not None and node is not None else None
        if skipped is not None:
            env = {**env, ONCE: Const(skipped)}  # and so it is with what only the first call calls
        memo, graphs, recordings = self._memo, self._interp.graph_memory, self._interp.recordings
        region_key: Any = None
        if region is not None:
            region_key = (region.key, frame is not None and frame.grad is False, recordings.hooks.in_force(frame))
        elif frame is not None:
            past = (graphs.seen_by(value.closure), recordings.seen)
            under = [(mode.name, mode.arguments) for mode in frame.modes]
            region_key = ("eager", frame.grad, frame.capturing, graphs.paused, graphs.expecting, *past, *under)
        unseen = passed_over(frame, function, env) if region is not None and frame is not None else None
        identity = (function.module.path, function.qualname, function.ordinal, value.key, region_key, unseen)
        key: Any = (*identity, tuple([(n, v.key) for n, v in env.items()]))
        heap = self._interp.heap
        plain: Any = None
        objects: tuple[int, ...] = ()
        again = False
        if region is None:
            captured = value.closure if function.parent is not None else None
            names = sorted(function.free_names() & captured.keys()) if captured else ()
            held = [*env.values(), *(captured[n] for n in names)] if captured else env.values()
            told = tuple([captured[n].key for n in names]) if captured else ()
            key, objects = (*key, told), tuple([v.identity for v in held if v.identity])
            if objects and heap.building:
                key = (*key, objects)  # what a constructor's method stores is stored in this very object
            # What objects hold decides only where somebody asks: then a result counts for as long as they hold it.
            stateful = memo.stateful.get(key)
            plain = key
            if stateful is not None:
                key = next(
                    (each.key for each in stateful if each.objects == objects and heap.holds(frame, each.reads)), None
                )
        known = memo.results.get(key)
        # What was found on a way that may never be gone is found again on one that is.
        conditional = region is not None and frame is not None and frame.conditional
        surer = known is not None and not conditional and key in memo.under_conditions
        known = None if surer else known
        if known is not None:
            if region is None:
                self._interp.account.replay(key)
            elif not self._emitter.quiet:
                self._interp.results.again(region.site, key)
                if frame is not None and key in memo.breaks:
                    self._emitter.broke(frame, node, memo.breaks[key], value, env)
            if key in memo.effects:
                graphs.repeat(frame, memo.effects[key])
                if region is None and frame is not None and node is not None:
                    if any(effect.kind == "run" for effect in memo.effects[key]):
                        self._emitter.emit(events.Rerun, frame, node)
            if key in memo.deeds:
                self._interp.recordings.repeat(memo.deeds[key])
            return known if region is not None else known.fresh()
        if key is None:
            key = plain
            again = True
        if key in memo.running:
            return UNKNOWN
        happened = graphs.length
        done = self._interp.recordings.length
        begun = self._interp.account.length
        # A method that many classes inherit is another function for each of them.
        ways = (*identity, _receiving_class(function, env))
        count = memo.contexts.get(ways, 0)
        heap.reruns -= again
        heap.runs -= 1
        if again and heap.reruns < 0 or heap.runs < 0:
            return UNKNOWN
        if not again and not surer and count >= (_MAX_CONTEXTS if region is not None else _MAX_EAGER_CONTEXTS):
            env = {n: widen(v) for n, v in env.items()}
            key = (*identity, "wide", tuple((n, v.key) for n, v in env.items()))
            known = memo.results.get(key)
            if known is not None:
                if region is None:
                    self._interp.account.replay(key)
                elif not self._emitter.quiet:
                    self._interp.results.again(region.site, key)
                return known
            if key in memo.running or count >= 4 * _MAX_CONTEXTS:
                return UNKNOWN
        memo.contexts[ways] = count + (not again and not surer)
        if (
            region is None
            and frame is not None
            and frame.constructing
            and not objects
            and run_apart.stands_alone(frame, value.function)
        ):
            found = self._interp.apart.result(frame, value, env)  # type: ignore[union-attr]
            if found is not None:
                memo.results[key] = found
                return found
        memo.running.add(key)
        mark = heap.mark()
        counted = region is not None and region.site is not None and not self._emitter.quiet
        if counted:
            self._interp.results.begin()
        given = dict(env) if region is not None else {}
        inner = Frame(self._interp, function.module, function, env, region, frame, node, value.closure)
        inner.broken, inner.paths = unseen, passed_tests.roots(env, region)
        try:
            result = self.interpreted(inner, value)
        except Exception as error:
            self._interp.results.failed(function, error)
            result = UNKNOWN
        finally:
            memo.running.discard(key)
            if counted:
                self._interp.results.end(key)
        called_apart.left(inner)
        if region is None and (heap.mark() != mark or again):
            kept = memo.stateful.setdefault(plain, [])
            if heap.changed_since(mark) or result.identity or len(kept) >= _MAX_STATES:
                return result  # what it did to objects is done anew by the next call
            key = (plain, len(kept))
            kept.append(Remembered(key, objects, heap.reads_since(mark, frame)))
        memo.results[key] = result
        (memo.under_conditions.add if conditional else memo.under_conditions.discard)(key)
        if region is None:
            self._interp.account.keep(key, begun)
        elif inner.broken is not None and unseen is None:
            memo.breaks[key] = inner.broken
            if frame is not None:
                self._emitter.broke(frame, node, inner.broken, value, given)
        if graphs.length != happened:
            memo.effects[key] = graphs.since(happened)
        if self._interp.recordings.length != done:
            memo.deeds[key] = self._interp.recordings.since(done)
        return result

    def around(self, frame: Frame, node: ast.AST, made: Partial, body: Callable[[Value], None]) -> None:
        """Run a generator that is a context manager: up to its `yield`, where the body runs, and on to its end."""
        value = made.func
        assert isinstance(value, FunctionValue)
        key = ("around", value.key, id(node))
        if key in self._memo.running or frame.depth >= _MAX_EAGER_DEPTH:
            body(UNKNOWN)
            return
        args = made.args if value.bound is None else (value.bound, *made.args)
        env = parameters.bind(self._interp, value.function, args, made.keywords, False)
        ran = False

        def once(entered: Value) -> None:
            nonlocal ran
            if not ran:
                ran = True
                body(entered)

        inner = Frame(self._interp, value.function.module, value.function, env, None, frame, node, value.closure)
        inner.on_yield = once
        self._memo.running.add(key)
        try:
            execute.run_block(inner, value.function.node.body)  # type: ignore[arg-type]
        finally:
            self._memo.running.discard(key)
        once(UNKNOWN)

    def interpreted(self, frame: Frame, value: FunctionValue) -> Value:
        """What a function gives in a frame of its own."""
        function = value.function
        body = function.node
        caller, region = frame.parent, frame.region
        if region is None:
            frame.constructing = constructors.builds(function, caller)
        for decorator in function.decorators:
            enter_mode(frame, decorator, True)
        if region is not None and not self._emitter.quiet:
            told = parameters.told(function, frame.env)
            self._interp.results.reach_function(region.site, function, told)
        self._emitter.emit(events.Enter, frame, body)
        if isinstance(body, ast.Lambda):
            return evaluate(frame, body.body)
        runs = self._interp.graph_memory.runs
        execute.run_block(frame, body.body)
        if frame.yields:
            ready = self._interp.graph_memory.runs == runs
            if region is None and not frame.inexact:
                return Seq("generator", tuple(frame.yields)).at_hand(ready)
            return Seq("generator", None, join_all(frame.yields)).at_hand(ready)
        if not frame.dead:
            frame.returns.append(NONE)
        result = join_all(frame.returns) if frame.returns else UNKNOWN
        return self.promised(function) if result is UNKNOWN else result

    def promised(self, function: Function) -> Value:
        """What the annotation of a function says that it returns."""
        returns = getattr(function.node, "returns", None)  # a lambda has none
        origin = Origin(function.node.lineno, function.node, function.module.path)
        return hints.evaluate(self._interp, function.module, returns, origin)


def _receiving_class(function: Function, env: Env) -> Class | None:
    """The class of the object that a method is called on."""
    if function.cls is None or not env:
        return None
    receiver = next(iter(env.values()))
    return receiver.cls if isinstance(receiver, Instance) else None
