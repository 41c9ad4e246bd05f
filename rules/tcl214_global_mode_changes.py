"""TCL214: global modes that change around a compiled call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, CompiledCall, Event, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Function
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.values import External, Instance, Object


class GlobalModeChanges(Rule):
    """Other dtypes, modes, frozen layers or numbers of threads between calls, or a reset of the compiler.

    Dynamo guards on the autocast state, grad mode, default dtype and number of threads, and on the dtype, mode and
    `requires_grad` of a module and its parameters; `torch.compiler.reset()` throws every program away.

    Bad::

        @torch.compile
        def g(x):
            return x.relu()

        def caller(x):
            torch.compiler.reset()
            return g(x)

    Good::

        @torch.compile
        def g(x):
            return x.relu()

        def caller(x):
            return g(x)

    Fix: one mode for all calls; set threads, dtypes and what is frozen once, at start-up.
    """

    code, name = "TCL214", "global-mode-changes"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "eager"
    calls = (
        "torch.compiler.reset",
        "torch._dynamo.reset",
        "torch.set_num_threads",
        "torch.set_default_dtype",
        "torch.nn.*",
    )

    def __init__(self) -> None:
        super().__init__()
        self._pending: dict[tuple[str, str], list[Event]] = {}
        self._modes: dict[object, dict[tuple[str, ...], tuple[CompiledCall, ast.With | None]]] = {}

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.enclosing is not None and _differs(event):
            key = (event.module.path, event.enclosing.qualname)
            self._pending.setdefault(key, []).append(event)
        return
        yield

    def _modes_of(self, event: CompiledCall) -> Iterator[Finding]:
        """The same callable without a gradient, in inference mode, under autocast: a program for each."""
        modes = event.ask.of_function(_Modes).modes.get(getattr(event.node, "lineno", 0), {})
        seen = self._modes.setdefault(event.callee.key, {})
        seen.setdefault(tuple(sorted(modes)), (event, next(iter(modes.values()), None)))
        if len(seen) <= variation.SETTLES:
            return
        for mode, (call, node) in seen.items():
            if node is not None and ("inference_mode" in str(mode) or "autocast" in str(mode)):
                yield self.finding(
                    call,
                    f"called in {len(seen)} different modes of gradient and autocast; each compiles again",
                    node=node.items[0].context_expr,
                    confidence=Confidence.HIGH,
                    help="use one of no_grad and inference_mode, and one autocast, for all calls",
                )

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        if event.enclosing is None:
            return
        # Told once; what is done again is pending again.
        for pending in self._pending.pop((event.module.path, event.enclosing.qualname), ()):
            assert isinstance(pending, Call)
            yield self.finding(
                pending,
                f"`{_short(pending)}` before a compiled call in the same function: {_often(pending)} compiles again",
                confidence=Confidence.HIGH,
                help="do it once, at start-up",
            )
        yield from self._modes_of(event)
        for node in event.ask.of_function(_Modes).autocasts.get(getattr(event.node, "lineno", 0), ()):
            yield self.finding(
                event,
                f"called under autocast with a dtype that varies (line {node.lineno}); each dtype compiles again",
                confidence=Confidence.HIGH,
                help="use one autocast dtype for all calls",
            )


_OF_A_MODULE = ("to", "requires_grad_", "train", "eval")


def _differs(event: Call) -> bool:
    """Whether a call does something else whenever its function is called."""
    node, function = event.node, event.enclosing
    if not isinstance(node, ast.Call) or function is None:
        return False
    if event.name.endswith(".reset"):
        return True
    if not event.name.startswith("torch.nn."):
        return bool(node.args) and not isinstance(node.args[0], (ast.Constant, ast.Attribute))
    if event.method not in _OF_A_MODULE or not isinstance(event.receiver, (Instance, Object)):
        return False
    mine = {argument.arg for argument in function.node.args.args}
    if event.method == "to":
        return bool(node.args) and _names(node.args[0]) <= mine and bool(_names(node.args[0])) and _a_dtype(event)
    # Some of the layers, as many as an argument says.
    return node.lineno in event.ask.of_function(_partial_loops)


def _partial_loops(function: Function) -> frozenset[int]:
    """The lines of loops over a slice whose bounds the function is given."""
    mine = {argument.arg for argument in function.node.args.args}
    lines: set[int] = set()
    for loop in ast.walk(function.node):
        if isinstance(loop, ast.For):
            if any(isinstance(part, ast.Slice) and _names(part) & mine for part in ast.walk(loop.iter)):
                lines.update(range(loop.lineno, (loop.end_lineno or 0) + 1))
    return frozenset(lines)


def _a_dtype(event: Call) -> bool:
    value = event.args[0] if event.args else None
    return isinstance(value, External) and value.name.startswith("torch.")


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _short(event: Call) -> str:
    return event.name if not event.name.startswith("torch.nn.") else f".{event.method}()"


def _often(event: Call) -> str:
    return "every call" if event.name.endswith((".reset", "set_num_threads")) else "each new value"


_MODES = ("no_grad", "enable_grad", "inference_mode", "autocast")


class _Modes:
    """The `with` blocks of a function that set a mode, by line."""

    def __init__(self, function: Function) -> None:
        self.modes: dict[int, dict[str, ast.With]] = {}
        """The grad modes and autocasts around a line, as they are written."""
        self.autocasts: dict[int, list[ast.With]] = {}
        """The autocasts around a line whose dtype varies."""
        for node in ast.walk(function.node):
            for item in node.items if isinstance(node, ast.With) else ():
                assert isinstance(node, ast.With)
                written = text(item.context_expr)
                if any(mode in written for mode in _MODES):
                    for line in range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1):
                        self.modes.setdefault(line, {})[written] = node
                if _varies(item.context_expr):
                    for line in range(node.lineno, (node.end_lineno or 0) + 1):
                        self.autocasts.setdefault(line, []).append(node)


def _varies(call: ast.expr) -> bool:
    """`autocast(dtype=dtype)`, as against `autocast(dtype=torch.bfloat16)`."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "autocast"):
        return False
    dtype = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    return dtype is not None and not isinstance(dtype, ast.Attribute)
