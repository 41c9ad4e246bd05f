"""TCL304: CPU tensors in a region with CUDA graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Return
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.values import HOST, INPUT, Const, Seq, Tensor


class CpuTensorInRegion(Rule):
    """A CPU tensor in a region compiled with CUDA graphs: the graphs are skipped ("cpu device").

    A CUDA graph holds device work only. An argument, a global or an attribute that stays on the CPU and is moved inside, a returned
    CPU tensor, `.cpu()` or a control-flow op that reads a predicate make Inductor skip or cut the graph.

    Bad::

        @torch.compile(mode="reduce-overhead")
        def f(x, scale):
            return x * scale.to(x.device)


        def step(x):
            return f(x, torch.linspace(0, 1, 8))

    Good::

        @torch.compile(mode="reduce-overhead")
        def f(x, scale):
            return x * scale  # a buffer on the device

    Fix: a buffer made in `__init__`, or move the tensor before the call.

    Constants are no hazard: Inductor puts `torch.tensor([0.5, 2.0]).to(x.device)` and a 0-d `torch.tensor(0.5)` on the
    device when it compiles (measured on 2.11, CUDA). In a capture by hand they are one: TCL309.
    """

    code, name = "TCL304", "cpu-tensor-in-region"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    calls = (
        *("torch.from_numpy", "Tensor.cpu", "Tensor.to", "Tensor.cuda"),
        *("torch.cond", "torch.ops.higher_order.cond", "torch.while_loop", "torch._higher_order_ops.while_loop"),
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        if not event.cudagraphs:
            return
        name = event.name
        if name == "torch.from_numpy":
            yield self._finding(event, f"`{name}` builds a tensor on the host")
        elif name.endswith((".cond", ".while_loop")):
            yield self._finding(event, f"`{event.method}` reads its predicate on the host and cuts the graph")
        elif name == "Tensor.cpu":
            yield self._finding(event, "`.cpu()` leaves the device")
        elif name in ("Tensor.to", "Tensor.cuda"):
            receiver = event.receiver
            if isinstance(receiver, Tensor) and receiver.flags & HOST and receiver.flags & INPUT:
                yield self._finding(event, f"the CPU argument `{receiver.base}` is moved to the device inside")
            elif isinstance(receiver, Tensor) and receiver.flags & HOST and _is_attribute(event.node):
                yield self._finding(event, "a CPU tensor kept as a plain attribute is moved to the device inside")
            elif isinstance(receiver, Tensor) and receiver.flags & HOST and _is_global(event):
                yield self._finding(
                    event, f"the global CPU tensor `{text(_receiver(event))}` is moved to the device inside"
                )
            elif _goes_to_cpu(event.args):
                yield self._finding(event, '`.to("cpu")` leaves the device')

    def on_return(self, event: Return) -> Iterator[Finding]:
        if not event.cudagraphs or not event.at_entry:
            return
        values = event.value.items if isinstance(event.value, Seq) and event.value.items is not None else (event.value,)
        hosts = [v for v in values if isinstance(v, Tensor) and v.flags & HOST]
        if hosts and len(values) > len(hosts):
            yield self._finding(event, "a tensor computed on the CPU is returned")

    def _finding(self, event: Call | Return, what: str) -> Finding:
        return self.finding(
            event,
            f"{what}; CUDA graphs are skipped or cut here",
            confidence=Confidence.HIGH,
            help="make it a buffer on the device, or move it before the call",
        )


def _receiver(event: Call) -> ast.expr | None:
    func = event.node.func if isinstance(event.node, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) else None


def _is_global(event: Call) -> bool:
    """Whether the tensor is one of the file's, or of the function around: then it is an input of the graph."""
    node = _receiver(event)
    if not isinstance(node, ast.Name) or event.ask.local(node.id) is not None:
        return False
    return event.ask.captures(node.id) or isinstance(event.ask.module_value(node.id), Tensor)


def _is_attribute(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Attribute)
    )


def _goes_to_cpu(args: object) -> bool:
    return isinstance(args, (list, tuple)) and any(isinstance(a, Const) and a.value == "cpu" for a in args)
