"""TCL407: a `try` or a time-out around the lazy `torch.compile` call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tclint.events import Compile, Event, ModuleEvent
from tclint.fixes.places import Place
from tclint.fixes.switches import switch_on
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rules._scope import callee, inside, result_name, scope, target_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import ancestors, nodes, text
from tclint.torch_facts import facts

_CATCH_ALL = ("Exception", "BaseException", "RuntimeError", "")
_PREPARES = facts.named("prepares a module")
_LAZY = re.compile(r"\blazy\b|\blazily\b|\bfirst\s+(?:call|invocation|forward|run|use)\b", re.IGNORECASE)
_FALLBACK = "suppress_errors"
_PRICE = (
    "a function that cannot be compiled runs eagerly and Dynamo warns once: for everything that the process compiles, so look "
    "at the log; what Python code raises itself is raised as before"
)


class TryAroundLazyCompile(Rule):
    """`torch.compile` compiles at the first call, so a `try` or a time-out around it alone sees no compile error.

    The call only wraps the function. What the compiler has to say (an unsupported construct under `fullgraph=True`,
    a backend that fails, minutes of autotuning) comes when the result is first called, outside the `try` or the
    time limit. What the `try` does catch is a wrong argument, such as `mode` together with `options`: the fallback
    hides that mistake.

    Bad::

        def f(x):
            return x * 2

        try:
            f = torch.compile(f, fullgraph=True)
        except Exception:
            print("falling back to eager")

    Good::

        def f(x):
            return x * 2

        eager = f
        try:
            f = torch.compile(f, fullgraph=True)
            f(torch.ones(2))
        except Exception:
            f = eager

    Fix: call the compiled function once with a sample inside the `try` or the time limit, or drop the `try`.

    Where the `try` is there to go on in eager mode, `torch._dynamo.config.suppress_errors` does what it means: a function that
    cannot be compiled runs eagerly, with a warning. Under `fullgraph=True` it does not.

    `except ImportError` and `except AttributeError`, for a torch without a compiler, are not flagged, nor is a `try` that imports
    what is compiled. Where the function's
    docstring, or a comment above the `try`, says that compilation is lazy, the confidence is low: its author knows.
    """

    code, name = "TCL407", "try-around-lazy-compile"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    scope = "eager"
    triggers = (b"torch.compile",)

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        node = event.node
        if "try" not in event.blocks or not isinstance(node, ast.Call):
            return
        if callee(node).rpartition(".")[2] != "compile":
            return  # a wrapper may call what it compiles
        root = scope(event)
        chain = ancestors(root, node)
        tries = [n for n in chain if isinstance(n, ast.Try) and inside(node, n.body)]
        if not tries or any(isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) for n in chain[1:]):
            return
        block = tries[-1]
        if _FALLBACK in event.begun.settings and _means_eager(event):
            return  # Dynamo does what it is there for
        if not _catches_all(block) or _is_called(block.body, node, _names(event, root)):
            return
        if _imports(block, target_of(event)):
            return
        yield self.finding(
            event,
            "this `try` never sees a compile error: torch.compile compiles at the first call, which is outside it",
            confidence=Confidence.LOW if _is_known_lazy(event, block) else Confidence.HIGH,
            help="call the result once with a sample inside the `try`",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """What the `try` is for, said to Dynamo, where it is there to go on in eager mode."""
        return switch_on(event, _FALLBACK, _PRICE) if isinstance(event, Compile) and _means_eager(event) else None

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        """Time limits: `signal.alarm` before and after, a future that only runs `torch.compile`."""
        if not any(word in event.module.data for word in (b"alarm(", b".submit(", b".apply_async(")):
            return
        for node in ast.walk(event.node):
            if isinstance(node, ast.Call) and _submits_compile(node):
                yield self._time_limit(event, node)
            for body in (getattr(node, "body", None), getattr(node, "finalbody", None)):
                if isinstance(body, list):
                    for call in _between_alarms(body):
                        yield self._time_limit(event, call)

    def _time_limit(self, event: ModuleEvent, node: ast.AST) -> Finding:
        return self.finding(
            event,
            "the time limit covers only the lazy `torch.compile` call; the compiler runs later, at the first call",
            node=node,
            confidence=Confidence.HIGH,
            help="put the first call of the compiled function under the limit",
        )


def _means_eager(event: Compile) -> bool:
    """Whether a `try` is there to go on in eager mode, where Dynamo can do that: its handlers neither raise nor compile."""
    tries = [n for n in ancestors(scope(event), event.node) if isinstance(n, ast.Try)]
    handled = [n for block in tries for handler in block.handlers for n in nodes(handler)]
    return event.begun.fullgraph in (None, False) and not any(
        isinstance(n, ast.Raise) or _is_torch_compile(n) for n in handled
    )


def _is_known_lazy(event: Compile, block: ast.Try) -> bool:
    """Whether the function's own text, or a comment above the `try`, says that nothing is compiled before the first call."""
    around = scope(event)
    told = (ast.get_docstring(around) or "") if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
    return _LAZY.search("\n".join([told, *Place(event).comments(block.lineno, block.lineno)])) is not None


def _catches_all(block: ast.Try) -> bool:
    for handler in block.handlers:
        kinds: Sequence[ast.expr | None] = handler.type.elts if isinstance(handler.type, ast.Tuple) else (handler.type,)
        for kind in kinds:
            name = text(kind)
            if name.rpartition(".")[2] in _CATCH_ALL or "dynamo" in name or "inductor" in name:
                return True
    return False


def _imports(block: ast.Try, target: ast.expr | None) -> bool:
    """Whether what is compiled is imported in the same `try`: the import is what may fail there."""
    imports = (
        node for statement in block.body for node in nodes(statement) if isinstance(node, (ast.Import, ast.ImportFrom))
    )
    names = {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}
    return text(target).partition(".")[0] in names


def _names(event: Compile, root: ast.AST) -> set[str]:
    """What the compiled thing is called after the call."""
    bound = result_name(root, event.node)
    if bound:
        return {bound}
    node = event.node
    return {text(target_of(event))} if isinstance(node, ast.Call) and not node.args else set()


def _is_called(body: Sequence[ast.stmt], compile_call: ast.Call, names: set[str]) -> bool:
    """Whether the compiled thing is called, or handed to something that may call it, in these statements."""
    for statement in body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or node.lineno < compile_call.lineno:
                continue
            if node.func is compile_call or text(node.func) == text(compile_call):
                return True  # torch.compile(f)(x)
            if text(node.func) in names:
                return True
            handed = any(text(a) in names for a in (*node.args, *(k.value for k in node.keywords)))
            if handed and callee(node).rpartition(".")[2] not in facts.named("does not run what it is given"):
                return True
            method = node.func if isinstance(node.func, ast.Attribute) else None
            if method is not None and text(method.value) in names and method.attr not in _PREPARES:
                return True
    return False


def _is_torch_compile(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and text(node) == "torch.compile"


def _submits_compile(node: ast.Call) -> bool:
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("submit", "apply_async"):
        return False
    return bool(node.args) and _is_torch_compile(node.args[0])


def _between_alarms(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Calls of torch.compile between `signal.alarm(n)` and `signal.alarm(0)`, the result not called in between."""
    armed = False
    pending: list[tuple[ast.Call, str]] = []
    for statement in body:
        if _alarm(statement) == "on":
            armed = True
            continue
        if armed and _alarm(statement) == "off":
            yield from (call for call, _ in pending)
            return
        if not armed:
            continue
        inner = statement.body if isinstance(statement, ast.Try) else [statement]
        for part in inner:
            for call, name in list(pending):
                if _is_called([part], call, {name}):
                    pending.remove((call, name))
            value = part.value if isinstance(part, (ast.Assign, ast.Return)) else None
            if isinstance(value, ast.Call) and _is_torch_compile(value.func):
                pending.append((value, text(part.targets[0]) if isinstance(part, ast.Assign) else ""))
        if isinstance(statement, ast.Try) and any(_alarm(s) == "off" for s in statement.finalbody):
            yield from (call for call, _ in pending)
            return


def _alarm(statement: ast.stmt) -> str:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or text(call.func) not in ("signal.alarm", "alarm") or not call.args:
        return ""
    given = call.args[0]
    return "off" if isinstance(given, ast.Constant) and given.value == 0 else "on"
