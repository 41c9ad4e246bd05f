"""TCL508: tensors built on the host in compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rules._numbers import on_device, square_root
from tclint.rules._scope import scope
from tclint.ruleset.rule import Rule
from tclint.sources.tree import ancestors, nodes, text
from tclint.torch_facts import facts
from tclint.values import HOST, Const, Scalar, Tensor

# What is read on the host at once belongs there, and what is sent to a device gets there.
_MOVES = (*facts.named("moves a tensor to a device"), *facts.named("keeps a tensor on the host"))


class HostTensorInRegion(Rule):
    """A tensor built without `device=` in compiled code lives on the CPU: a device error, or a copy at every step.

    `torch.arange(n)`, `torch.tensor([...])` and their kin take the default device. Next to CUDA tensors that is an
    error for most operations, and for an index or a 0-d scalar a transfer from the host in every call.

    Bad::

        def f(x):
            scale = torch.tensor([0.5, 2.0])
            return x.cuda() * scale

    Good::

        def f(x):
            scale = torch.tensor([0.5, 2.0], device=x.device)
            return x * scale

    Fix: `device=x.device`; a buffer made in `__init__`; `math.sqrt(n)` instead of `torch.sqrt(torch.tensor(n))`.
    `--unsafe-fixes` adds `device=`: wrong where the tensor is meant to stay on the CPU.

    A tensor that is moved (`.to(x.device)`), or read on the host (`.numpy()`), is not flagged. Where no CUDA device is in sight the confidence is low.
    In a region with CUDA graphs Inductor skips the graph for some of them: TCL304.
    """

    code, name = "TCL508", "host-tensor-in-region"
    effect, severity = Effect.SLOW, Severity.LOW
    calls = facts.named("makes a tensor on the default device")

    def __init__(self) -> None:
        super().__init__()
        self._moves: dict[tuple[str, int], frozenset[str]] = {}
        self._found: dict[tuple[str, int, int], Confidence | None] = {}

    def on_call(self, event: Call) -> Iterator[Finding]:
        result = event.result
        if event.cudagraphs or not isinstance(result, Tensor) or not result.flags & HOST or "device" in event.keywords:
            return
        if not isinstance(event.node, ast.Call) or any(k.arg is None for k in event.node.keywords):
            return
        if event.name == "torch.tensor" and any(isinstance(a, Tensor) for a in event.args):
            return
        place = (event.module.path, event.node.lineno, event.node.col_offset)
        if place not in self._found:
            # The same for every way of calling the function.
            self._found[place] = self._confidence(event, event.node)
        confidence = self._found[place]
        if confidence is None:
            return
        yield self.finding(
            event,
            f"`{event.name}` without `device=` builds its tensor on the CPU, in every call",
            confidence=confidence,
            help="add `device=x.device`, or make it a buffer in __init__",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if not isinstance(event, Call) or not event.name.startswith("torch.") or not event.args:
            return None
        scalar = event.name in ("torch.tensor", "torch.as_tensor") and isinstance(event.args[0], (Const, Scalar))
        if scalar and (found := square_root(event)) is not None:
            return found
        return on_device(event, scalar) if event.name != "torch.as_tensor" else None

    def _confidence(self, event: Call, node: ast.Call) -> Confidence | None:
        root = scope(event)
        if self._moved(event, root, node):
            return None
        return Confidence.MEDIUM if _uses_cuda(event) else Confidence.LOW

    def _moved(self, event: Call, root: ast.AST, node: ast.Call) -> bool:
        """Whether the tensor is sent to a device, or read on the host: at once, or later under its name."""
        chain = ancestors(root, node)
        names: set[str] = set()
        for outer in reversed(chain):
            if isinstance(outer, ast.Attribute) and outer.attr in _MOVES:
                return True
            if isinstance(outer, (ast.With, ast.AsyncWith)) and any(
                "device" in text(i.context_expr) for i in outer.items
            ):
                return True
            if isinstance(outer, ast.Assign):
                names = {text(t) for t in outer.targets}
                break
            if isinstance(outer, ast.stmt):
                break
        if not names:
            return False
        key = (event.module.path, getattr(root, "lineno", 0))
        moved = self._moves.get(key)
        if moved is None:
            found = (n for n in nodes(root) if type(n) is ast.Attribute and n.attr in _MOVES)
            moved = self._moves[key] = frozenset(text(n.value) for n in found)
        return not moved.isdisjoint(names)


def _uses_cuda(event: Call) -> bool:
    """Whether the function itself says that its tensors live on a CUDA device."""
    if b"cuda" not in event.module.data or b"set_default_device" in event.module.data:
        return False
    return event.ask.of_scope(_mentions_cuda)


def _mentions_cuda(root: ast.AST) -> bool:
    for node in nodes(root):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda"):
            return True
    return False
