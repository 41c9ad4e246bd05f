"""TCL309: host work inside a capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import ModuleEvent
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._captures import captures
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text

_SYNCS = frozenset({"item", "tolist", "cpu", "numpy", "nonzero"})
_BUILDS = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.Tensor"})


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
    triggers = (b"cuda.graph(",)

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for capture in captures(event.node):
            for statement in capture.block.body:
                for node in ast.walk(statement):
                    what = _fault(node)
                    if what:
                        yield self.finding(
                            event,
                            f"{what} inside a CUDA-graph capture",
                            node=node,
                            confidence=Confidence.HIGH,
                            help="move it before the capture or after replay()",
                        )


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
