"""TCL308: a capture without a warm-up."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from tclint.events import ModuleEvent
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._captures import TRIGGERS, Capture, Scope, calls_of, captures, passed
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.torch_facts import facts


class CaptureNoWarmup(Rule):
    """A CUDA graph is captured without running the callable before: libraries initialise inside the capture, and fail.

    cuBLAS and cuDNN create handles and workspaces at their first call, which a capture does not allow. Operations on
    tensors that need neither (`copy_`, `zero_`, arithmetic, reductions) are captured as they are.

    Bad::

        def run(model, x):
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)

    Good::

        def run(model, x):
            for _ in range(3):
                model(x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)

    Fix: three calls on a side stream before the capture.
    """

    code, name = "TCL308", "capture-no-warmup"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    triggers = TRIGGERS

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for capture in captures(event.node):
            before = _called_before(capture.function, capture.block.lineno)
            called = {n for n in capture.called if not _needs_no_handle(event.node, capture.cls, n)}
            handed = _handed_before(capture.function, capture.block.lineno)
            if not called or called & (before | handed) or any("warm" in name.lower() for name in before):
                continue
            if any(_warmed(scope, call, capture, called) for scope, call in calls_of(event.node, capture.function)):
                continue
            names = ", ".join(f"`{n}`" for n in sorted(called))
            yield self.finding(
                event,
                f"{names} is captured without a warm-up call before",
                node=capture.block.items[0].context_expr,
                confidence=Confidence.HIGH,
                help="call it a few times before the capture, on a side stream",
            )


def _called_before(scope: Scope, line: int) -> set[str]:
    return {text(node.func) for node in ast.walk(scope) if isinstance(node, ast.Call) and node.lineno < line}


def _handed_before(scope: Scope, line: int) -> set[str]:
    """What is passed to functions of the program before: those may run it."""
    return {
        text(argument)
        for node in ast.walk(scope)
        if isinstance(node, ast.Call) and node.lineno < line and not text(node.func).startswith("torch.")
        for argument in (*node.args, *(keyword.value for keyword in node.keywords))
        if isinstance(argument, (ast.Name, ast.Attribute))
    }


def _warmed(scope: Scope, call: ast.Call, capture: Capture, called: set[str]) -> bool:
    """Whether the caller of the function that captures has called what it hands over."""
    given = passed(capture.function, call)
    return bool({text(given[n]) for n in called if n in given} & _called_before(scope, call.lineno))


def _needs_no_handle(tree: ast.Module, cls: ast.ClassDef | None, name: str) -> bool:
    """Whether what is called is a builtin, a method of tensors, or a function of the file or a method of the class, that
    need no library handle."""
    owner, _, method = name.rpartition(".")
    if owner == "self" and cls is not None:
        return _is_arithmetic(cls, method)
    if name in vars(builtins) or owner and facts.at(facts.NEWEST).method("tensor", method) is not None:
        return _HANDLES.search(method) is None
    return _is_arithmetic(tree, name)


def _is_arithmetic(scope: ast.Module | ast.ClassDef, name: str) -> bool:
    """Whether a function that is defined there calls nothing but builtins and methods, and multiplies no matrices."""
    for node in scope.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            called = [n.func for statement in node.body for n in ast.walk(statement) if isinstance(n, ast.Call)]
            plain = all(
                f.id in vars(builtins)
                if isinstance(f, ast.Name)
                else isinstance(f, ast.Attribute) and _HANDLES.search(f.attr) is None and text(f.value) != "self"
                for f in called
            )
            return plain and not any(isinstance(n, ast.MatMult) for n in ast.walk(node))
    return False


_HANDLES = re.compile(r"mm|matmul|einsum|linear|conv|attention|norm|^dot$|^forward$|svd|eig|solve|fft|[A-Z]")
