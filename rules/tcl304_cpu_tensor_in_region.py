"""TCL304: CPU tensors in a region with CUDA graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event, Return
from tclint.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rule import Rule
from tclint.rules._numbers import on_device, square_root
from tclint.values import CONSTANT, HOST, INPUT, Const, Scalar, Seq, Tensor


class CpuTensorInRegion(Rule):
    """A CPU tensor in a region compiled with CUDA graphs: the graphs are skipped ("cpu device").

    A CUDA graph holds device work only. An argument that stays on the CPU and is moved inside, `torch.tensor([...]).to(dev)`,
    a returned CPU tensor, `.cpu()` or a control-flow op that reads a predicate make Inductor skip or cut the graph.

    Bad::

        @torch.compile(mode="reduce-overhead")
        def f(x):
            return x * torch.tensor([0.5, 2.0]).to(x.device)

    Good::

        @torch.compile(mode="reduce-overhead")
        def f(x, scale):
            return x * scale  # a buffer on the device

    Fix: a buffer made in `__init__`, `torch.full((), s, device=x.device)`, or move the tensor before the call. `--fix`
    does so for a scalar that is sent to the device at once, `--unsafe-fixes` for one that is not.
    """

    code, name = "TCL304", "cpu-tensor-in-region"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    calls = (
        *("torch.tensor", "torch.as_tensor", "torch.from_numpy", "Tensor.cpu", "Tensor.to", "Tensor.cuda"),
        *("torch.cond", "torch.ops.higher_order.cond", "torch.while_loop", "torch._higher_order_ops.while_loop"),
        "Tensor.item",
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        if not event.cudagraphs:
            return
        name = event.name
        if name in ("torch.tensor", "torch.as_tensor", "torch.from_numpy"):
            data = event.args[0] if event.args else None
            if isinstance(data, Tensor) or (isinstance(data, Seq) and isinstance(data.element(), Tensor)):
                return
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
            elif _goes_to_cpu(event.args):
                yield self._finding(event, '`.to("cpu")` leaves the device')
        elif name == "Tensor.item" and _captures_scalars(event):
            yield self._finding(event, "`.item()` is kept in the graph (capture_scalar_outputs) and reads the device")

    def on_return(self, event: Return) -> Iterator[Finding]:
        if not event.cudagraphs or event.frame.parent is not None:
            return
        values = event.value.items if isinstance(event.value, Seq) and event.value.items is not None else (event.value,)
        # One built from constants inside was reported where it was built.
        hosts = [v for v in values if isinstance(v, Tensor) and v.flags & HOST and not v.flags & CONSTANT]
        if hosts and len(values) > len(hosts):
            yield self._finding(event, "a tensor computed on the CPU is returned")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if not isinstance(event, Call) or not event.name.startswith("torch.") or not event.args:
            return None
        scalar = event.name in ("torch.tensor", "torch.as_tensor") and isinstance(event.args[0], (Const, Scalar))
        if scalar and (found := square_root(event)) is not None:
            return found
        return on_device(event, scalar) if scalar else None

    def _finding(self, event: Call | Return, what: str) -> Finding:
        return self.finding(
            event,
            f"{what}; CUDA graphs are skipped or cut here",
            confidence=Confidence.HIGH,
            help="make it a buffer on the device, or move it before the call",
        )


def _is_attribute(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Attribute)
    )


def _goes_to_cpu(args: object) -> bool:
    return isinstance(args, (list, tuple)) and any(isinstance(a, Const) and a.value == "cpu" for a in args)


def _captures_scalars(event: Call) -> bool:
    return b"capture_scalar_outputs = True" in event.module.data
