"""TCL309: host work inside a capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Branch, Call, Event, ModuleEvent, Subscript
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._captures import TRIGGERS, captures
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.torch_facts import calls, facts
from tclint.values import DATA_SIZED, Const, Tensor, Value, tensor_of

_WAITS: Final = tuple(name for name in facts.named("waits for the device") if name.startswith(("Tensor.", "builtins.")))
_SYNCS: Final = frozenset(name.partition(".")[2] for name in _WAITS if name.startswith("Tensor."))
_BUILDS: Final = facts.named("copies from the host")
_SIZED: Final = frozenset(calls.breaking_with("GB0036"))


class SyncInCapture(Rule):
    """Synchronisation, host tensors or Python side effects inside `with torch.cuda.graph(g):`.

    `.item()`, `.cpu()`, `torch.cuda.synchronize()`, a tensor built on the host fail during capture. Python statements run
    once, at capture, and never at replay: a counter stays where it was.

    Bad::

        def run(model, x):
            model(x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)
                peak = y.max().item()

    Good::

        def run(model, x):
            model(x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)
                peak = y.max()
            g.replay()
            return peak.item()

    Fix: move it before the capture or after `replay()`.
    """

    code, name = "TCL309", "sync-in-capture"
    effect, severity = Effect.CUDAGRAPH, Severity.HIGH
    triggers = TRIGGERS
    scope = "eager"
    calls = (
        *_WAITS,
        *("Tensor.to", "Tensor.cuda"),
        *_SIZED,
        *_BUILDS,
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        what = _waits(event)
        if what and event.capturing:
            yield self._finding(event, event.node, what)

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        if isinstance(event.test, Tensor) and event.capturing:
            yield self._finding(event, event.node, f"`{event.keyword}` on a tensor waits for the device")

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        result = event.result
        if isinstance(event.receiver, Tensor) and isinstance(result, Tensor) and result.flags & DATA_SIZED:
            if not event.receiver.flags & DATA_SIZED and event.capturing:
                yield self._finding(event, event.node, "a boolean mask as index waits for the device")

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for capture in captures(event.node):
            for statement in capture.block.body:
                for node in ast.walk(statement):
                    what = _fault(node)
                    if what:
                        yield self._finding(event, node, what)

    def _finding(self, event: Event, node: ast.AST, what: str) -> Finding:
        return self.finding(
            event,
            f"{what} inside a CUDA-graph capture",
            node=node,
            confidence=Confidence.HIGH,
            help="move it before the capture or after replay()",
        )


def _waits(event: Call) -> str:
    """Why a call of eager code cannot be captured; nothing where it can."""
    if event.name in ("Tensor.to", "Tensor.cuda"):
        if any(isinstance(a, Const) and a.value == "cpu" for a in event.args):
            return '`.to("cpu")` waits for the device'
        return ""
    if event.name.startswith("Tensor.") and event.name not in _SIZED:
        return f"`.{event.method}()` waits for the device"
    if event.name.startswith("builtins."):
        if event.name == "builtins.print":
            held = any(tensor_of(a) is not None for a in event.args)
            return "`print` of a tensor waits for the device" if held else ""
        return (
            f"`{event.method}()` of a tensor waits for the device" if event.args and _is_tensor(event.args[0]) else ""
        )
    if event.name in _BUILDS:
        return f"`{event.name}` copies from the host" if _fresh(event) else ""
    if isinstance(event.result, Tensor) and event.result.flags & DATA_SIZED:
        return f"`{event.method}` has a result whose size depends on values: it waits for the device"
    return ""


def _is_tensor(value: Value) -> bool:
    return isinstance(value, Tensor)


def _fresh(event: Call) -> bool:
    return not (event.args and isinstance(event.args[0], Tensor))


def _fault(node: ast.AST) -> str:
    if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant):
        return f"`{text(node)}` runs once, at capture, and never at replay:"
    if not isinstance(node, ast.Call):
        return ""
    func = text(node.func)
    if func.endswith("synchronize"):
        return f"`{func}()` is not allowed"
    if func in _BUILDS and not any(k.arg == "device" for k in node.keywords):
        return f"`{func}` builds a tensor on the host"
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SYNCS and not node.args:
        return f"`.{node.func.attr}()` waits for the device"
    if func == "print" or func.endswith(".append"):
        return f"`{func}` runs once, at capture, and never at replay:"
    return ""
