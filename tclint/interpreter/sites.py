"""Compile sites as values: what `torch.compile(…)` gives, and what calling it means."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tclint import events
from tclint.interpreter import heirs, namings, switched_off
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame, told_of_mode
from tclint.interpreter.gradients import keeps_apart, needs_gradients
from tclint.interpreter.ran_in import RanIn
from tclint.program import Function, Module, mentioning
from tclint.sources import roles
from tclint.sources.tree import Position, nodes, position
from tclint.torch_facts import facts
from tclint.torch_facts.callers import MODULE_COMPILE
from tclint.values import (
    HOST,
    NOWHERE,
    OWN_BACKEND,
    OWNED,
    PENDING,
    PROVEN,
    UNKNOWN,
    ClassValue,
    Compiled,
    CompileSite,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Method,
    Object,
    Partial,
    Region,
    Seq,
    Tensor,
    Union,
    Value,
    uses_cudagraphs,
)
from tclint.values.compiled import Code
from tclint.values.object import is_some_module
from tclint.values.region import DROPPED

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

COMPILERS: Final = frozenset({"torch.compile", "torch._dynamo.optimize", "torch.nn.Module.compile"})
_SCRIPTS: Final = frozenset(facts.named("is run by TorchScript"))
_MAX_CALLS_SEEN: Final = 64


def _plain(value: Value | None) -> Any:
    """A compile argument as a Python constant: None where absent, "?" where it cannot be read."""
    if value is None:
        return None
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Union):
        plain = [o.value for o in value.options if isinstance(o, Const)]
        strings = [p for p in plain if isinstance(p, str)]
        return strings[0] if strings else "?"
    return "?"


_MODES: Final = frozenset(facts.named("is a mode of torch.compile"))
_OF_MODES: Final = (None, "inductor")
"""The backends that have modes; the others take any."""
_REFUSED: Final = "nothing: torch.compile refuses these arguments"
_DISABLED: Final = "nothing: `disable=True` gives back what it was given"
_EXPECTED: Final = "nothing: an exception is expected there"
_NOT_CALLED: Final = "nothing: of a class torch.compile compiles `__call__`, and this one has none"
_COMPILE: Final = "torch.compile"
_CHECKED: Final = (_COMPILE, "torch.nn.Module.compile")
"""What looks at mode and options where it is called."""


class CompileSites:
    """Knows what compiles, and answers for what is compiled."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._learned = interp.learned
        self._emitter = interp.emitter
        self._graphed: dict[tuple[ast.AST | None, Value | None], CompileSite] = {}
        """By the call that made them and what they run, the sites of graphed callables."""
        self._trained: set[Code] = set()
        """What is called where a backward pass may follow."""
        self.ran_in = RanIn(interp)
        patterns = interp.options.cudagraph_callables
        self.configured = re.compile("|".join(fnmatch.translate(p) for p in patterns)) if patterns else None
        """Matches the callables that the configuration names, by their dotted source text."""

    @cached_property
    def _known(self) -> set[tuple[Any, int]]:
        return {(target.key, id(site)) for target, site in self._learned.targets}

    def is_compile_function(self, name: str) -> bool:
        names = self._interp.text.compile_names
        known = names.get(name)
        if known is None:
            known = names[name] = name in COMPILERS or any(
                fnmatch.fnmatch(name, p) or fnmatch.fnmatch(name, "*." + p)
                for p in self._interp.options.compile_functions
            )
        return known

    @staticmethod
    def is_of_a_module(frame: Frame, node: ast.AST, keywords: Mapping[str, Value]) -> bool:
        """Whether `x.compile()` can only be a module's: what else compiles takes other arguments, or gives something back.

        Without arguments that takes an attribute in a file that works with torch, and a program that has no such method of its
        own: `self.pipe.transformer.compile()`.
        """
        if keywords:
            return MODULE_COMPILE.issuperset(keywords)
        held = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.value
        if (
            not isinstance(held, ast.Attribute)
            or not _is_dropped(frame, node)
            or not frame.module.index(_imports_torch)
        ):
            return False
        return not frame.module.program.answers(_defines, "compile")

    def compile(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        decorator: bool = False,
    ) -> Value:
        """`torch.compile(target, …)`; without a target it is a decorator to be applied later."""
        if not args and "model" not in keywords:
            return Partial(External(name), (), dict(keywords))
        target = args[0] if args else keywords["model"]
        if isinstance(target, Method) and isinstance(target.receiver, Compiled):
            target = target.receiver.target.attribute(frame, node, target.name)
        if frame.region is not None and frame.region.site is None:
            self._interp.results.calls_compiled = True
        while isinstance(target, Compiled):
            target = target.target
        uncalled = decorator and isinstance(target, Instance) and self._is_never_called(target)
        site = self._site(frame, node, name, keywords, decorator, _NOT_CALLED if uncalled else "")
        self._emitter.emit(events.Compile, frame, node, args[0] if args else target, keywords, len(args), site)
        if site.idle:
            return target  # whoever goes on after that goes on with what was given
        self._interp.account.compiled(frame, node)
        if frame.parent is not None and frame.function is not None and not roles.tries(frame.parent.module.path):
            handed = self._interp.results.handed.setdefault((site.path, site.line), {})
            by = frame.parent.function
            caller = by.qualname if by is not None else frame.parent.module.path
            handed[caller] = handed.get(caller, True) and all(
                each is UNKNOWN or is_some_module(each) for each in target.options
            )
        instead, others = heirs.compiled_with(frame, target)
        for each in others if instead else (target, *others):
            known = (each.key, id(site))
            if known not in self._known:
                self._known.add(known)
                self._learned.targets.append((each, site))
        return Compiled(target, site)

    def _is_never_called(self, target: Instance) -> bool:
        """Whether a class that is decorated has no call that could be compiled: of an autograd function `apply` stays eager."""
        classes = self._interp.classes
        base = classes.external_base(target.cls)
        known = not base and all(isinstance(b, (External, ClassValue)) for b in classes.bases(target.cls))
        return (known or base.startswith("torch.autograd.")) and classes.find_method(target.cls, "__call__") is None

    def _site(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        keywords: Mapping[str, Value],
        decorator: bool,
        idle: str,
    ) -> CompileSite:
        options_value = keywords.get("options")
        options: dict[str, Any] | None = None
        if isinstance(options_value, Dict):
            options = {str(k): _plain(v) for k, v in options_value.items.items()}
        mode, backend, dynamic = (_plain(keywords.get(name)) for name in ("mode", "backend", "dynamic"))
        if isinstance(keywords.get("backend"), (FunctionValue, Partial)):
            backend = OWN_BACKEND
        if mode == "?" and isinstance(node, ast.Call):
            given = _keyword(node, "mode")
            told = self._interp.objects.constant_attribute(frame, given)
            if told is None and isinstance(given, ast.Attribute):
                told = frame.module.index(_option_defaults).get(given.attr)
            mode = told or _left_out(given) or mode
        if mode is None and isinstance(node, ast.Call) and _hands_on(frame, node):
            mode = "?"
        if self._interp.graph_memory.expecting:
            idle = _EXPECTED
        idle = DROPPED if name == _COMPILE and not decorator and _is_dropped(frame, node) else idle
        if name in _CHECKED and _plain(keywords.get("disable")) is True:
            idle = _DISABLED
        if name in _CHECKED and isinstance(mode, str) and mode != "?":
            unknown = mode not in _MODES and backend in _OF_MODES
            if unknown or options is not None and isinstance(node, ast.Call) and _keyword(node, "options"):
                idle = _REFUSED
            # Where both come, torch raises: what runs has the mode alone, as a `**settings` without options gives it.
            options = None
        line = getattr(node, "lineno", 0)
        path = frame.module.path
        # A wrapper (`safe_compile(model, mode=…)`) is one line that compiles in several ways.
        key = (path, line, str(mode), str(backend), str(options), str(dynamic), idle)
        site = self._learned.sites.get(key)
        if site is None:
            site = self._learned.sites[key] = CompileSite(
                path,
                line,
                _text(node),
                mode,
                backend,
                dynamic,
                _plain(keywords.get("fullgraph")),
                options,
                not idle and uses_cudagraphs(mode, backend, options, frame.module.index(_turns_on)),
                decorator,
                any(b in ("for", "while") for b in frame.blocks),
                settings=self._interp.options.dynamo.get(path, frozenset()),
                own=frame.cls is not None and self._interp.classes.is_nn_module(frame.cls),
                test=roles.tries(path),
                uncalled=self._uncalled(frame),
                conditions=() if idle else switched_off.unset(frame, node),
                idle=idle,
            )
        return site

    def _uncalled(self, frame: Frame) -> str:
        """The method around a place, where nobody calls it."""
        function = frame.function
        while function is not None and function.parent is not None:
            function = function.parent
        return function.qualname if function is not None and namings.is_uncalled(self._interp, function) else ""

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        value: Compiled,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        """A call of a compiled callable: inside a region it is inlined, from eager code it crosses into its own region."""
        if frame.region is not None:
            if frame.region.site is None and isinstance(value.target, (FunctionValue, Instance)):
                self._interp.results.calls_compiled = True
            return value.target.call(frame, node, args, keywords, open_ended)
        if self._interp.graph_memory.paused or _is_scripted(frame):
            return value.target.call(frame, node, args, keywords, open_ended)
        self.note_call(value.target, value.code, args, keywords)
        trains = frame.grad is not False and needs_gradients(frame, value.target, (*args, *keywords.values()))
        if trains:
            self._trained.add(value.code)
        self._interp.account.call(frame, node, value.code, args, keywords, value.target)
        region = Region(value.site, training=self.ran_in.training(value.target, value.site), gradients=trains)
        inside = Frame(self._interp, frame.module, frame.function, told_of_mode(region), region, None, node)
        names = [f"argument {i}" for i in range(len(args))]
        inner_args = [a.as_input(n, NOWHERE) for a, n in zip(args, names, strict=True)]
        inner_keywords = {k: v.as_input(k, NOWHERE) for k, v in keywords.items()}
        before, happened = self._interp.heap.state(), self._interp.graph_memory.length
        with self._interp.recordings.hooks.compiling(value.target):
            result = value.target.call(inside, node, inner_args, inner_keywords, open_ended)
        if result is UNKNOWN:
            result = Tensor(PROVEN, "", -1, 0, frame.origin(node))
        flags, overwrites = 0, False
        if value.site.cudagraphs and not _on_host(frame, value, args):
            flags = OWNED
            overwrites = self._interp.graph_memory.run(frame)
            if frame.grad is True and trains:
                flags |= PENDING
                if not self._keeps_apart(value):
                    self._interp.graph_memory.trains(value.site)
        outcome = result.owned(flags, value.site, frame.origin(node))
        if not open_ended and not frame.capturing and any(_is_told(each) for each in (*args, *keywords.values())):
            self._interp.heap.restore(before)
            outcome = outcome.sized(self._as_eager(frame, node, value, args, keywords))
        self._interp.graph_memory.give(happened, flags, value.site, frame.origin(node))
        self._emitter.emit(events.CompiledCall, frame, node, value, args, keywords, outcome, overwrites)
        return outcome

    def trains(self, codes: Iterable[Code]) -> bool:
        """Whether a backward pass may follow some of the calls in sight."""
        return not self._trained.isdisjoint(codes)

    def _keeps_apart(self, value: Compiled) -> bool:
        """Whether the gradients of what is called lie in memory of their own.

        A function that is walked by itself compiles some module; where a caller in sight hands it one, that one speaks.
        """
        known = [value.target]
        if is_some_module(value.target):
            given = (target for target, site in self._learned.targets if site is value.site)
            known = [target for target in given if not is_some_module(target)] or known
        return all(map(keeps_apart, known))

    def _as_eager(
        self, frame: Frame, node: ast.AST, value: Compiled, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        """What the same call gives, and does to what it is given, when nothing is compiled: of eager code more is known."""
        interp = self._interp
        interp.graph_memory.paused += 1
        interp.account.paused += 1
        try:
            with self._emitter.silence:
                return value.target.call(frame, node, args, keywords)
        finally:
            interp.account.paused -= 1
            interp.graph_memory.paused -= 1

    def note_call(self, target: Value, code: Code, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        """Remember how eager code calls a compiled callable: evidence for what its arguments are and how they vary."""
        runs, cache = code
        self._learned.callees[runs] = target
        seen = self._learned.calls_seen.setdefault(runs, {}).setdefault(cache, [])
        if len(seen) < _MAX_CALLS_SEEN:
            seen.append((tuple(args), dict(keywords)))

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

    def own(self, value: Value, frame: Frame, node: ast.AST, graphed: Object) -> Value:
        """The output of a graphed callable: its next call overwrites it, and no other."""
        made = (graphed.origin.node, graphed.args)
        site = self._graphed.get(made)
        if site is None:
            line = graphed.origin.line
            self._interp.program.names_lines([graphed.origin.path], elsewhere=True)
            site = CompileSite(frame.module.path, line, graphed.name, cudagraphs=True, alone=True)
            self._graphed[made] = site
        self._interp.graph_memory.run(frame, site)
        return value.owned(OWNED, site, frame.origin(node))


def _option_defaults(module: Module) -> dict[str, str]:
    """The texts that options of a command line have by default: `parser.add_argument("--mode", default="default")`."""
    found: dict[str, str] = {}
    for node in nodes(module.tree) if b"add_argument" in module.data else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            default = _keyword(node, "default")
            if isinstance(default, ast.Constant) and isinstance(default.value, str):
                found.update({name.lstrip("-").replace("-", "_"): default.value for name in names})
    return found


_DEFAULTS: Final = (b"set_default_device", b"set_default_tensor_type", b"with torch.device(")
_MOVES: Final = (b".to(", b".cuda(")


def _on_host(frame: Frame, value: Compiled, args: Sequence[Value]) -> bool:
    """Whether a callable surely runs on the CPU: all tensors it gets were made there, and nothing moves them."""
    given = [part for arg in args for part in (arg.known_items(frame) or (arg,))]
    if not any(isinstance(value, Tensor) for value in given):
        return False
    if not all(value.flags & HOST if isinstance(value, Tensor) else isinstance(value, Const) for value in given):
        return False
    if any(word in frame.module.data for word in _DEFAULTS):
        return False
    target = value.target
    if isinstance(target, Instance):
        return not any(word in target.cls.module.data for word in _MOVES)
    if isinstance(target, FunctionValue):
        return not any(word in target.function.module.data for word in _MOVES)
    return True


def _is_told(value: Value) -> bool:
    """Whether so much is known of an argument that it is worth asking what comes out: sizes, or what a container holds."""
    if isinstance(value, Tensor):
        return isinstance(value.shape, tuple) and None not in value.shape
    return isinstance(value, (Seq, Dict)) and any(map(_is_told, value.held_items())) or value.key == _EMPTY


_EMPTY: Final = Seq("list", ()).key


def _left_out(given: ast.expr | None) -> str | None:
    """The text that `options.get("mode", "reduce-overhead")` gives where nobody says otherwise."""
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute) or given.func.attr != "get":
        return None
    default = given.args[1] if len(given.args) == 2 else None
    return default.value if isinstance(default, ast.Constant) and isinstance(default.value, str) else None


def _hands_on(frame: Frame, node: ast.Call) -> bool:
    """Whether a call hands on `**options` of which it is not known what all is in them."""
    with frame.interp.emitter.silence:
        spread = [evaluate(frame, each.value) for each in node.keywords if each.arg is None]
    return any(not isinstance(value, Dict) or value.elem is not None for value in spread)


def _is_scripted(frame: Frame) -> bool:
    """Whether TorchScript runs what calls a compiled function: it scripts the source of that, and enters no wrapper."""
    current: Frame | None = frame
    while current is not None:
        for decorator in current.function.decorators if current.function is not None else ():
            if not isinstance(decorator, ast.Call):
                made = frame.interp.evaluate_silently(current, decorator)
                if isinstance(made, External) and made.name in _SCRIPTS:
                    return True
        current = current.parent
    return False


def _keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in node.keywords if k.arg == name), None)


_TURNED_ON: Final = re.compile(
    rb"""^[^#\n]*(triton\.cudagraphs\s*=\s*True|\.patch\([^#\n]*triton\.cudagraphs["']\s*[:,]\s*True"""
    rb"""|TORCHINDUCTOR_CUDAGRAPHS["']\]?\s*[=,]\s*["']1)""",
    re.MULTILINE,
)


def _is_dropped(frame: Frame, node: ast.AST) -> bool:
    """Whether a call stands for itself. What `torch.compile(model)` returns is compiled; `model` stays as it is."""
    if not isinstance(node, ast.Call):
        return False
    function = frame.function
    if function is not None and function.node.lineno <= node.lineno <= (function.node.end_lineno or 0):
        return position(node) in function.index(_dropped_within)  # what stands elsewhere in the file is nothing to it
    return position(node) in frame.module.index(_dropped)


_TORCH: Final = re.compile(rb"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)


@mentioning(0)
def _defines(module: Module, name: str) -> bool:
    """Whether a class of a file may have a method of that name."""
    return re.search(rb"\n[ \t]+(?:async[ \t]+)?def[ \t]+" + name.encode() + rb"\b", module.data) is not None


def _imports_torch(module: Module) -> bool:
    return _TORCH.search(module.data) is not None


def _dropped(module: Module) -> frozenset[Position]:
    """The calls of a file whose result nobody takes."""
    return _dropped_below(module.tree)


def _dropped_within(function: Function) -> frozenset[Position]:
    """The same of a function."""
    return _dropped_below(function.node)


def _dropped_below(root: ast.AST) -> frozenset[Position]:
    statements = (node for node in nodes(root) if isinstance(node, ast.Expr))
    return frozenset(position(each.value) for each in statements if isinstance(each.value, ast.Call))


def _turns_on(module: Module) -> bool:
    """Whether a file turns CUDA graphs on for every compilation: `torch._inductor.config.triton.cudagraphs = True`."""
    data = module.data
    return (b"cudagraphs" in data or b"CUDAGRAPHS" in data) and _TURNED_ON.search(data) is not None


def _text(node: ast.AST) -> str:
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "torch.compile"
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "…"
