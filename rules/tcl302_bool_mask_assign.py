"""TCL302: assigning a tensor through a boolean mask."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event, Store
from tclint.fixes.places import Place
from tclint.fixes.recipes import display
from tclint.model.finding import Applicability, Effect, Finding, Fix, Severity
from tclint.rules._masks import widened
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes
from tclint.values import DATA_SIZED, NO_GRADIENT, PARAMETER, Seq, Tensor, contains, parts_of, tensor_of


class BoolMaskAssign(Rule):
    """`x[mask] = tensor` goes through `nonzero`: it cuts a CUDA graph in three, and in training falls back to eager.

    Dynamo itself does not break on it (a scalar value costs nothing at all). Inductor lowers it to `nonzero` plus a scatter:
    under `reduce-overhead` the graph is cut into three partitions; where the value needs a gradient, torch 2.13 cannot compile
    it (`aten.nonzero`): the function runs eagerly. With `fullgraph=True` (since 2.10) or
    `capture_dynamic_output_shape_ops`, and without gradients (`torch.no_grad`, integers, tensors that need none, within an
    autograd function), it is one graph: where no CUDA graph is recorded, nothing is said.

    Bad::

        def f(x, ids, image):
            mask = ids == 7
            x[mask] = image
            return x.sum()

    Good::

        def f(x, ids, image):
            mask = (ids == 7).unsqueeze(-1)
            return x.masked_scatter(mask, image).sum()

    Fix: `masked_fill` for a scalar; `masked_scatter`, or cumsum + gather + `torch.where`, for a tensor. The gather form
    loses the check that there are as many values as trues in the mask. `--unsafe-fixes` writes `masked_scatter_`: wrong
    where the value is broadcast; and `torch.where` where it surely is, as a parameter is.
    """

    code, name = "TCL302", "bool-mask-assign"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    graph_breaks = ("GB0219",)

    calls = ("Tensor.index_put_", "Tensor.index_put", "torch.index_put")

    def on_call(self, event: Call) -> Iterator[Finding]:
        """`x.index_put_((mask,), values)` is the same store in other words."""
        first = 1 if event.name.startswith("torch.") else 0
        indices, value = event.arg(first, "indices"), event.arg(first + 1, "values")
        if not isinstance(indices, Seq) or value is None:
            return
        parts = indices.items if indices.items is not None else (indices.elem,)
        mask = next((t for p in parts if (t := tensor_of(p)) is not None and t.dtype == "b"), None)
        stored = tensor_of(value)
        if mask is not None and stored is not None and stored.ndim != 0:
            yield from self._findings(event, mask, stored, "`index_put` with a boolean mask")

    def on_store(self, event: Store) -> Iterator[Finding]:
        if (
            event.target != "subscript"
            or event.augmented
            or not isinstance(event.receiver, Tensor)
            or event.index is None
        ):
            return
        mask = next((t for p in parts_of(event.index) if (t := tensor_of(p)) is not None and t.dtype == "b"), None)
        value = tensor_of(event.value)
        if mask is None or mask.ndim == 0 or value is None or value.ndim == 0:
            return
        yield from self._findings(event, mask, value, "`x[mask] = tensor` on a boolean mask")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        form = display("masked_scatter with a mask of the tensor's shape", "it loses the check that the counts agree")
        node = event.node
        if not isinstance(event, Store) or not isinstance(node, ast.Assign) or len(node.targets) != 1:
            return form
        target, receiver = node.targets[0], event.receiver
        mask = tensor_of(event.index) if event.index is not None else None
        if not isinstance(target, ast.Subscript) or mask is None or not isinstance(receiver, Tensor):
            return form
        place = Place(event)
        if isinstance(target.slice, ast.Tuple):
            return form
        missing = receiver.ndim - mask.ndim
        if -1 not in (receiver.ndim, mask.ndim):
            if missing not in (0, 1):
                return form
            where = place.argument(target.slice) if not missing else f"{place.atom(target.slice)}.unsqueeze(-1)"
        else:
            where = widened(place, target.slice, target.value)
            if not where:
                return form
        if _is_broadcast(event, node.value, receiver, mask):
            return _selected(place, node, target, where) or form
        # Also where it is the index of something that nobody knows: `cache[slots[mask]]`.
        reads = [part for part in ast.walk(node.value) if isinstance(part, (ast.Subscript, ast.Call))]
        cut = any(contains(event.ask.evaluate(part), DATA_SIZED) for part in reads)
        if cut and not self.captured(event, "capture_dynamic_output_shape_ops"):
            # A break among the arguments leaves the method on the stack, which Dynamo cannot go on with: a second break.
            return form
        text = f"{place.atom(target.value)}.masked_scatter_({where}, {place.argument(node.value)})"
        note = (
            "wrong where the value is broadcast; fewer values than trues in the mask is no longer an error everywhere"
        )
        return Fix("use masked_scatter_", Applicability.UNSAFE, (place.replace(node, text),), note)

    def _findings(self, event: Store | Call, mask: Tensor, stored: Tensor, subject: str) -> Iterator[Finding]:
        if event.cudagraphs:
            what = "the CUDA graph is cut into three partitions"
        elif event.grad is False or stored.dtype in ("i", "b") or stored.flags & NO_GRADIENT and not _is_written(event):
            return
        elif self.captured(event, "capture_dynamic_output_shape_ops"):
            return  # the size of what the mask picks is known to the graph by a name: asked, with and without gradients
        else:
            what = (
                "it goes through nonzero in Inductor, cuts a CUDA graph in three, and in training falls back to eager"
            )
        yield self.finding(
            event,
            f"{subject}: {what}",
            about=mask,
            help="use masked_scatter, or cumsum + gather + torch.where",
        )


def _is_written(event: Store | Call) -> bool:
    """Whether what is stored has a name that is written in place: what is written into it may have a gradient."""
    value = getattr(event.node, "value", None)
    return isinstance(value, ast.Name) and value.id in event.ask.of_scope(_written)


def _written(root: ast.AST) -> frozenset[str]:
    """The names of a function whose tensors it writes: `rows[:2] = x`, `rows.copy_(x)`, `rows += x`."""
    found: set[str] = set()
    for node in nodes(root):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.update(n.id for n in [node.value] if isinstance(n, ast.Name))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            found.update(n.id for n in [node.func.value] if isinstance(n, ast.Name))
    return frozenset(found)


def _is_broadcast(event: Store, node: ast.expr, receiver: Tensor, mask: Tensor) -> bool:
    """Whether every true of the mask gets the same value: one without a dimension for them, or a parameter, whose size no mask
    decides.
    """
    value = tensor_of(event.value)
    if value is not None and -1 not in (value.ndim, receiver.ndim, mask.ndim):
        return value.ndim <= receiver.ndim - mask.ndim
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value  # what a method makes of it
    held = event.ask.evaluate(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    return isinstance(held, Tensor) and bool(held.flags & PARAMETER)


def _selected(place: Place, node: ast.Assign, target: ast.Subscript, where: str) -> Fix | None:
    """`x = torch.where(mask, value, x)`."""
    torch = place.importing("torch")
    if torch is None or not isinstance(target.value, ast.Name):
        return None
    name = target.value.id
    text = f"{name} = {torch[0]}.where({where}, {place.argument(node.value)}, {name})"
    note = "the tensor is no longer changed in place; wrong where the value has another dtype, which the tensor would then take"
    return Fix("select with torch.where", Applicability.UNSAFE, (*torch[1], place.replace(node, text)), note)
