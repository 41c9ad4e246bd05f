"""Entries: how a compiled region, or a function of eager code that nobody in sight calls, is begun."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from tclint.interpreter import parameters
from tclint.interpreter.frame import PROVIDED, Env, Frame, told_of_mode
from tclint.interpreter.models import hooks
from tclint.interpreter.state import Arguments
from tclint.program import Function
from tclint.values import (
    UNKNOWN,
    Compiled,
    CompileSite,
    Evidence,
    FunctionValue,
    Instance,
    Object,
    Origin,
    Region,
    Seq,
    Value,
    join_all,
)
from tclint.values.compiled import Code, code_of
from tclint.values.moments import Call
from tclint.values.provided import Provided, Proviso

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter


class Entries:
    """Enters functions with what is known of their arguments."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._closures = interp.learned.closures
        self._known: dict[Hashable, Evidence | None] = {}
        """By what is entered and how it is called, the evidence: sites that compile alike share it."""

    def with_arguments(self, function: Function, receiver: Value, args: Sequence[Value], region: Region) -> Value:
        """Interpret a method as the entry of a region with example arguments."""
        frame = Frame(self._interp, function.module, function, {}, region)
        names = parameters.signature(function).names[1:]
        entry = parameters.entry(self._interp, function, receiver, region=region, uncalled=region.site is None)
        marked = [
            (a if a is not UNKNOWN else entry.get(n, UNKNOWN)).as_input(
                n, Origin(function.node.lineno, None, function.module.path)
            )
            for a, n in zip(args, [*names, *(f"argument {i}" for i in range(len(args)))], strict=False)
        ]
        # What the examples leave to its default may be passed by others, flags apart.
        rest = {n: v for n, v in entry.items() if n in names[len(marked) :]}
        bound = self._interp.functions.value(function).bound_to(receiver)
        return bound.call(frame, function.node, marked, rest)

    def with_calls(
        self,
        function: Function,
        receiver: Value | None,
        site: CompileSite | None,
        target: Value,
        chosen: Proviso | None = None,
    ) -> Value:
        """Interpret the entry of a region with what eager code was seen to pass, or else with its signature.

        `chosen`: what must hold for the site to compile just this.
        """
        codes = self._codes(target, site)
        calls_seen = self._interp.learned.calls_seen
        seen: Sequence[Arguments] = [c for runs, how in codes for c in calls_seen.get(runs, {}).get(how, ())]
        # A function interpreted on its own passes on arguments nobody knows: no evidence where real calls are in sight.
        known = [c for c in seen if not any(v is UNKNOWN for v in (*c[0], *c[1].values()))]
        seen = known or seen
        # A function that was handed over is compiled as it is: what decorates the compiled callable is eager.
        itself = isinstance(target, FunctionValue)
        assuming = self._interp.options.dynamo.get(function.module.path, frozenset()) if site is None else frozenset()
        training = self._interp.compile_sites.ran_in.training(target, site)
        if not seen:
            region = Region(site, assuming=assuming, training=training)
            return self.by_signature(function, receiver, region, itself, chosen=chosen)
        if receiver is None and self._is_method(function, seen):
            assert function.cls is not None
            receiver = Instance(function.cls)
        bound = [receiver] if receiver is not None else []
        envs = [parameters.bind(self._interp, function, [*bound, *args], keywords, False) for args, keywords in seen]
        # Of what is only assumed to be compiled other calls may train.
        trains = site is None or self._interp.compile_sites.trains(codes)
        evidence = self._evidence(function, bound, site, codes)
        region = Region(site, evidence, assuming=assuming, training=training, gradients=trains)
        env: Env = dict(zip(parameters.signature(function).names, bound, strict=False))
        by_signature = parameters.entry(self._interp, function, receiver, region=region)
        for name in envs[0]:
            if name not in env:
                joined = join_all(e[name] for e in envs if name in e)
                if joined is UNKNOWN:
                    env[name] = by_signature.get(name, UNKNOWN)
                    continue
                env[name] = joined.as_input(name, Origin(function.node.lineno, None, function.module.path))
        decorated = self._uncompiled(function)
        if not itself and isinstance(decorated, FunctionValue) and decorated.function is not function:
            return self.by_signature(function, receiver, region, uncalled=False, chosen=chosen)
        return self._run(function, env, region, chosen)

    def around(self, function: Function, module: Instance, region: Region, result: Value) -> None:
        """The hooks of a module whose call is what is compiled: they run around its forward, and Dynamo traces them with it."""
        hooks.of_constructor(self._interp, module)
        if not self._interp.recordings.hooks:
            return
        frame = Frame(self._interp, function.module, function, {}, region)
        entry = parameters.entry(self._interp, function, module, region=region)
        given, keywords = hooks.before(frame, function.node, module, list(entry.values())[1:], {})
        hooks.after(frame, function.node, module, given, keywords, result)

    def _codes(self, target: Value, site: CompileSite | None) -> list[Code]:
        """What the calls that speak for an entry are counted by: those of its site, without one those of any.

        Where one of several things is compiled, nobody knows which of the calls are whose.
        """
        if site is not None:
            return [code_of(target, site)] if target.is_code else []
        return [(target.key, how) for how in self._interp.learned.calls_seen.get(target.key, ())]

    def _is_method(self, function: Function, seen: Sequence[Arguments]) -> bool:
        """Whether a compiled method (`@torch.compile` in a class) is called on its objects."""
        if not function.is_method or self._interp.classes.method_kind(function):
            return False
        return not any(args and isinstance(args[0], Instance) and args[0].cls is function.cls for args, _ in seen)

    def _evidence(
        self, function: Function, bound: Sequence[Value], site: CompileSite | None, codes: Sequence[Code]
    ) -> Evidence | None:
        """The walk through the program whose calls of a target cost most."""
        dynamic, settings = (site.dynamic, site.settings) if site is not None else (None, frozenset[str]())
        in_test = site is not None and site.test
        key = (function, tuple(value.key for value in bound), tuple(codes), dynamic, settings, in_test)
        if key not in self._known or not self._interp.account.settled:
            found = self._in_walks(function, bound, codes, in_test, dynamic, settings)
            self._known[key] = max(found, key=lambda each: each.weight, default=None)
        return self._known[key]

    def _in_walks(
        self,
        function: Function,
        bound: Sequence[Value],
        codes: Sequence[Code],
        in_test: bool,
        dynamic: object,
        settings: frozenset[str],
    ) -> Iterator[Evidence]:
        names = {*parameters.signature(function).names[len(bound) :], *parameters.variadic(function)}
        for code in codes:
            for walk in self._interp.account.walks(code, in_test):
                calls = (m for m in walk if isinstance(m, Call) and m.callee == code)
                envs = (parameters.bind(self._interp, function, [*bound, *c.args], c.keywords, False) for c in calls)
                rows = [{name: value for name, value in env.items() if name in names} for env in envs]
                yield Evidence(code, walk, rows, dynamic, settings)

    def by_signature(
        self,
        function: Function,
        receiver: Value | None,
        region: Region | None,
        itself: bool = False,
        uncalled: bool = True,
        chosen: Proviso | None = None,
    ) -> Value:
        """Interpret a function as the entry of a region (or of eager code) with what its signature says.

        `itself`: without its decorators. `uncalled`: no call of it is in sight.
        """
        decorated = self._uncompiled(function)
        if itself:
            decorated = UNKNOWN
        assumed = region is not None and region.site is None
        env = parameters.entry(self._interp, function, receiver, region=region, uncalled=uncalled and assumed)
        vararg = parameters.variadic(function)[0]
        for captured in (self._closures.get(function) or {}).values():
            if vararg and isinstance(captured, FunctionValue):
                # A wrapper takes anything; what it wraps says what that is.
                inner = parameters.entry(self._interp, captured.function, None, region=region)
                env[vararg] = Seq("tuple", tuple(inner.values()), UNKNOWN, "args")
                break
        if isinstance(decorated, Object) and decorated.kind == "disabled":
            if region is not None:
                return UNKNOWN
            decorated = decorated.args or UNKNOWN
        if isinstance(decorated, Object) and decorated.kind == "in graph":
            # That says what a call inside a graph is: the function that is compiled itself is traced.
            decorated = decorated.args or UNKNOWN
        if isinstance(decorated, FunctionValue) and decorated.function is not function:
            # A wrapper stands before the function: enter through it.
            frame = Frame(self._interp, function.module, function, _told(region, chosen), region)
            names = [n for n in env if n not in parameters.variadic(function)]
            positional = [env[n] for n in names[:1]] if receiver is not None else []
            rest = {n: env[n] for n in names[len(positional) :]}
            return decorated.call(frame, function.node, positional, rest, bool(parameters.variadic(function)[1]))
        return self._run(function, env, region, chosen)

    def _uncompiled(self, function: Function) -> Value:
        """A function as its decorators leave it, apart from compiling."""
        decorated = self._interp.functions.value(function)
        while isinstance(decorated, Compiled):
            decorated = decorated.target
        return decorated

    def _run(self, function: Function, env: Env, region: Region | None, chosen: Proviso | None) -> Value:
        value = FunctionValue(function, None, self._closures.get(function))
        return self._interp.functions.run(None, None, value, {**env, **_told(region, chosen)}, region)


def _told(region: Region | None, chosen: Proviso | None) -> Env:
    """What an environment has in which a region begins."""
    told = told_of_mode(region) if region is not None else {}
    return {**told, PROVIDED: Provided((chosen,))} if chosen is not None else told
