"""TCL304: CPU tensors in a region with CUDA graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from tclint.events import Call, CompiledCall, Event, Return, Subscript
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.program import Module
from tclint.rules._buffers import tensor_buffer
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes, text
from tclint.torch_facts import calls
from tclint.values import (
    ARRAY,
    CONSTANT,
    DATA_SIZED,
    HOST,
    INPUT,
    PROVEN,
    Const,
    FunctionValue,
    Instance,
    Object,
    Seq,
    Tensor,
    Value,
    contains,
)
from tclint.values.casts import is_cast

_SIZED: Final = frozenset(calls.breaking_with("GB0036"))
_CUSTOM_OP: Final = "torch.library.custom_op.__call__"


class CpuTensorInRegion(Rule):
    """A CPU tensor in a region compiled with CUDA graphs: the graphs are skipped ("cpu device").

    A CUDA graph holds device work only. An argument, a global or an attribute that stays on the CPU and is moved inside, a returned
    CPU tensor, `.cpu()` or a control-flow op that reads a predicate make Inductor skip or cut the graph. So do ops that the
    host has to wait for, where Dynamo keeps them in the graph (`capture_dynamic_output_shape_ops`, `capture_scalar_outputs`,
    `fullgraph=True` since 2.10), and custom ops that are tagged `cudagraph_unsafe`. A CPU tensor that is passed beside
    tensors of the device is told at the call.

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

    Fix: a buffer made in `__init__`, or move the tensor before the call. `--fix --unsafe-fixes` registers an attribute that only
    `__init__` sets.

    Constants are no hazard: Inductor puts `torch.tensor([0.5, 2.0]).to(x.device)` and a 0-d `torch.tensor(0.5)` on the
    device when it compiles (measured on 2.11, CUDA). In a capture by hand they are one: TCL309.
    """

    code, name = "TCL304", "cpu-tensor-in-region"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    scope = "any"
    calls = (
        *("torch.from_numpy", "Tensor.cpu", "Tensor.to", "Tensor.cuda", _CUSTOM_OP, "Tensor.item", "Tensor.tolist"),
        *_SIZED,
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
            if is_cast(event.args, event.keywords):
                return
            receiver = event.receiver
            if isinstance(receiver, Tensor) and receiver.flags & HOST and receiver.flags & INPUT:
                yield self._finding(event, f"the CPU argument `{receiver.base}` is moved to the device inside")
            elif _is_kept_on_host(event):
                yield self._finding(event, "a CPU tensor kept as a plain attribute is moved to the device inside")
            elif isinstance(receiver, Tensor) and receiver.flags & HOST and _is_global(event):
                yield self._finding(
                    event, f"the global CPU tensor `{text(_receiver(event))}` is moved to the device inside"
                )
            elif _goes_to_cpu(event.args):
                yield self._finding(event, '`.to("cpu")` leaves the device')
        elif name == _CUSTOM_OP:
            if isinstance(event.receiver, Object) and event.receiver.kind == "unsafe custom op":
                yield self._finding(event, "this custom op is tagged `cudagraph_unsafe`")
        elif name in ("Tensor.item", "Tensor.tolist"):
            if self.captured(event, "capture_scalar_outputs") and _on_device(event.receiver):
                yield self._finding(
                    event, f"`.{event.method}()` is kept in the graph, and the host waits for its number"
                )
        elif contains(event.result, DATA_SIZED) and self.captured(event, "capture_dynamic_output_shape_ops"):
            yield self._finding(
                event, f"`{event.method}` is kept in the graph, and the host waits for the size of its result"
            )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """An attribute that is moved in every call is a buffer."""
        if not isinstance(event, Call) or not _is_kept_on_host(event):
            return None
        place = _receiver(event)
        return tensor_buffer(event, place) if isinstance(place, ast.Attribute) else None

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        if not event.cudagraphs or not isinstance(event.receiver, Tensor) or event.receiver.flags & DATA_SIZED:
            return
        if isinstance(event.result, Tensor) and event.result.flags & DATA_SIZED:
            if self.captured(event, "capture_dynamic_output_shape_ops"):
                yield self._finding(
                    event, "a boolean mask as index is kept in the graph, and the host waits for the size"
                )

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        """CPU tensors that are passed beside tensors of the device."""
        if not event.callee.site.cudagraphs or not isinstance(event.node, ast.Call):
            return
        if not any(_placed(value) for value in (*event.args, *event.keywords.values())):
            return
        passed = (
            *zip(event.node.args, event.args, strict=False),
            *(
                (k.value, event.keywords[k.arg])
                for k in event.node.keywords
                if k.arg is not None and k.arg in event.keywords
            ),
        )
        for node, value in passed:
            if _host(_whole(event, value)) and not event.ask.of_files(_chooses_device) and not _moved(event, value):
                what = f"the CPU tensor `{text(node)}` is passed beside tensors of the device"
                yield self._finding(event, what, node)
                return

    def on_return(self, event: Return) -> Iterator[Finding]:
        if not event.cudagraphs or not event.at_entry:
            return
        values = event.value.items if isinstance(event.value, Seq) and event.value.items is not None else (event.value,)
        hosts = [v for v in values if isinstance(v, Tensor) and v.flags & HOST]
        if hosts and len(values) > len(hosts):
            yield self._finding(event, "a tensor computed on the CPU is returned")

    def _finding(self, event: Event, what: str, node: ast.AST | None = None) -> Finding:
        return self.finding(
            event,
            f"{what}; CUDA graphs are skipped or cut here",
            node=node,
            confidence=Confidence.HIGH,
            help="make it a buffer on the device, or move it before the call",
        )


def _chooses_device(module: Module) -> bool:
    """Whether a file chooses a device for tensors that name none."""
    words = (b"set_default_device", b"set_default_tensor_type", b"with torch.device(", b"DeviceContext")
    return any(word in module.data for word in words)


def _whole(event: CompiledCall, value: Value) -> Value:
    """The tensor of which a value is a row, where a loop or an index takes it from a name: `for ratio in ratios`."""
    made = value.origin.node if isinstance(value, Tensor) and value.flags & HOST else None
    if isinstance(made, (ast.For, ast.comprehension)):
        made = made.iter
    while isinstance(made, ast.Subscript):
        made = made.value
    if isinstance(made, ast.Name):
        return event.ask.local(made.id) or value
    return value.with_(origin=value.origin._replace(node=made)) if isinstance(value, Tensor) and made else value


def _host(value: Value) -> bool:
    """A tensor that was surely made on the CPU, whose size and place are all written where it is made."""
    if not isinstance(value, Tensor) or value.conf < PROVEN or not value.flags & HOST or value.flags & ARRAY:
        return False
    made = value.origin.node
    if not isinstance(made, (ast.Call, ast.Compare, ast.BinOp)):
        return False
    return all(k.arg is not None for n in ast.walk(made) if isinstance(n, ast.Call) for k in n.keywords)


def _placed(value: Value) -> bool:
    """A tensor that was made for a device, which is not the CPU: `torch.randn(3, device=device)`, `x.cuda()`."""
    if not isinstance(value, Tensor) or value.flags & HOST or not isinstance(value.origin.node, ast.Call):
        return False
    made = value.origin.node
    chosen = [k.value for k in made.keywords if k.arg == "device"]
    if isinstance(made.func, ast.Attribute) and made.func.attr in ("to", "cuda"):
        return made.func.attr == "cuda" or not _names_cpu([*made.args, *chosen])
    return bool(chosen) and not _names_cpu(chosen)


def _names_cpu(given: Sequence[ast.expr]) -> bool:
    return any(isinstance(n, ast.Constant) and n.value in ("cpu", None) for n in given)


def _on_device(value: Value | None) -> bool:
    return isinstance(value, Tensor) and not value.flags & (HOST | CONSTANT)


def _moved(event: CompiledCall, value: Value) -> bool:
    """Whether the compiled function moves the tensor as its first thing: that is told where it does."""
    target = event.callee.target
    if isinstance(target, Instance):
        function = event.ask.method(target.cls, "forward")
    else:
        function = target.function if isinstance(target, FunctionValue) else None
    if function is None:
        return False
    given = [*([target] if isinstance(target, Instance) else []), *event.args]
    names = [a.arg for a in (*function.node.args.posonlyargs, *function.node.args.args)]
    named = {**dict(zip(names, given, strict=False)), **event.keywords}
    moved = function.node_index(_moved_names)
    return any(name in moved for name, each in named.items() if each is value)


def _moved_names(root: ast.AST) -> frozenset[str]:
    """The names whose tensors a function moves: `x.to(device)`, `x.cuda()`."""
    return frozenset(
        node.func.value.id
        for node in nodes(root)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("to", "cuda")
        and isinstance(node.func.value, ast.Name)
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


def _is_kept_on_host(event: Call) -> bool:
    """`self.table.to(x.device)`, with a table that is no buffer."""
    receiver = event.receiver
    on_host = isinstance(receiver, Tensor) and bool(receiver.flags & HOST) and not receiver.flags & INPUT
    return on_host and event.name in ("Tensor.to", "Tensor.cuda") and _is_attribute(event.node)


def _is_attribute(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Attribute)
    )


def _goes_to_cpu(args: object) -> bool:
    return isinstance(args, (list, tuple)) and any(isinstance(a, Const) and a.value == "cpu" for a in args)
