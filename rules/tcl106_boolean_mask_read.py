"""TCL106: reading through a boolean mask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Event, Store, Subscript
from tclint.fixes.places import Place
from tclint.fixes.purity import pure
from tclint.model.finding import Applicability, Effect, Finding, Fix, Severity
from tclint.rules._masks import differs, fits, widened
from tclint.rules._spared import switch_sizes
from tclint.ruleset.rule import Rule, whole_frame
from tclint.sources.tree import same
from tclint.values import NAMED, USED, Tensor, Value, selectors_of, tensor_of

_SWITCH: Final = "capture_dynamic_output_shape_ops"


class BooleanMaskRead(Rule):
    """`x[mask]` as a value has as many rows as the mask has trues: its shape depends on the data.

    Dynamo ends the graph (the read goes through `nonzero`). `x[mask] += 1` reads as well as writes, and breaks too.
    `x[mask] = 0` does not break (see TCL302 for what assigning a tensor costs under CUDA graphs).

    Bad::

        def f(x, valid: torch.BoolTensor):
            return x[valid].mean()

    Good::

        def f(x, valid: torch.BoolTensor):
            return torch.where(valid, x, 0).sum() / valid.sum()

    Fix: compute for every element and select with `torch.where`, or multiply by the mask. `--unsafe-fixes` rewrites
    `x[mask].sum()`, `.mean()`, a loss of two masked tensors and `x[mask] += c`. Wrong where the mask has fewer
    dimensions than the tensor. Other reads stay, and `--unsafe-fixes` sets `capture_dynamic_output_shape_ops` in the file
    that compiles: the host still waits for the number of rows, and the switch holds for the process.

    Versions: with `fullgraph=True`, torch 2.10 and later keep the read in the graph; in default mode it breaks on all.
    """

    code, name = "TCL106", "boolean-mask-read"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    subjects = {"subscript": (Tensor,)}
    graph_breaks = ("GB0036",)

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        if isinstance(event.receiver, Tensor):
            yield from self._masked(event, event.index, "`x[mask]` has a shape that depends on values")

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target == "subscript" and event.augmented and isinstance(event.receiver, Tensor) and event.index:
            yield from self._masked(event, event.index, "`x[mask] += …` reads x[mask] first")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        here = self._on_the_line(event)
        return here or switch_sizes(event, _SWITCH)

    def _on_the_line(self, event: Event) -> Fix | None:
        place = Place(event)
        torch = place.importing("torch")
        if torch is None:
            return None
        assert isinstance(event, (Subscript, Store))
        receiver, mask = event.receiver, tensor_of(event.index) if event.index is not None else None
        if not isinstance(receiver, Tensor):
            return None
        if isinstance(event, Store) or isinstance(place.parent, ast.AugAssign):
            return _added(place, torch[0], mask, receiver)
        if (found := _stored(place, torch[0], mask, receiver)) is not None:
            return found
        node = place.node
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Tuple) or differs(mask, receiver):
            return None
        wide = place.argument(node.slice)
        if not fits(place, node.slice, node.value, mask, receiver):
            wide = widened(place, node.slice, node.value)
        made = (_reduced(place, node, torch[0], wide) or _loss(place, node, torch[0], wide)) if wide else None
        if made is None:
            return None
        empty = "0 where the `if` on it does not catch it" if _asked(place, node.slice) else "nan as before"
        note = f"no true in the mask gives {empty}, for a mean; where what it leaves out is nan or infinite, gradients become nan"
        return Fix("select with torch.where", Applicability.UNSAFE, (*torch[1], place.replace(*made)), note)

    def _masked(self, event: Event, index: Value, what: str) -> Iterator[Finding]:
        if self.captured(event, _SWITCH):
            return
        mask = next((t for p in selectors_of(index) if (t := tensor_of(p)) is not None and t.dtype == "b"), None)
        if mask is None or mask.ndim == 0:
            return
        if mask.conf == NAMED:
            # `y[y > 0]`: what is compared, and what the answer selects from, was nothing but an argument until here.
            mask = mask.with_(conf=USED)
        yield self.finding(
            event,
            f"{what}; Dynamo breaks the graph here{whole_frame(event)}",
            about=mask,
            help="use torch.where, or set capture_dynamic_output_shape_ops (it still waits)",
        )


_LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits")


def _count(place: Place, node: ast.Subscript, wide: str) -> str:
    """How many elements a mask selects: its trues, times what each stands for where it has fewer dimensions."""
    trues = f"{place.operand(node.slice)}.sum()"
    if _asked(place, node.slice):
        trues += ".clamp(min=1)"
    if wide == place.argument(node.slice):
        return trues
    return f"({trues} * ({place.source(node.value)}.numel() // {place.source(node.slice)}.numel()))"


def _asked(place: Place, mask: ast.expr) -> bool:
    """Whether an `if` of the function asks the mask: where it is empty nobody reads the mean, which must be finite all the
    same, as gradients go through it."""
    tests = [n.test for n in ast.walk(place.function) if isinstance(n, ast.If)] if place.function is not None else []
    return any(ast.dump(mask) == ast.dump(n) for test in tests for n in ast.walk(test) if isinstance(n, ast.expr))


def _reduced(place: Place, node: ast.Subscript, torch: str, wide: str) -> tuple[ast.AST, str] | None:
    """`x[mask].sum()` and `x[mask].mean()`."""
    if (
        len(place.chain) < 2
        or not isinstance(place.chain[-1], ast.Attribute)
        or not isinstance(place.chain[-2], ast.Call)
    ):
        return None
    method, call = place.chain[-1], place.chain[-2]
    if not same(call.func, method) or call.args or call.keywords or method.attr not in ("sum", "mean"):
        return None
    if not pure(place, node.slice):
        return None
    text = f"{torch}.where({wide}, {place.argument(node.value)}, 0).sum()"
    if method.attr == "mean":
        # A quotient binds less than what may stand around the call.
        text = f"({text} / {_count(place, node, wide)})"
        if isinstance(place.chain[-3], (ast.Assign, ast.Return)):
            text = text[1:-1]
    return call, text


def _loss(place: Place, node: ast.Subscript, torch: str, wide: str) -> tuple[ast.AST, str] | None:
    """`F.mse_loss(pred[mask], target[mask])`."""
    call = place.parent
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _LOSSES:
        return None
    if len(call.args) != 2 or call.keywords or not all(isinstance(a, ast.Subscript) for a in call.args):
        return None
    masks = {place.source(a.slice) for a in call.args if isinstance(a, ast.Subscript)}
    if len(masks) != 1 or not pure(place, node.slice):
        return None
    given, wanted = (place.source(a.value) for a in call.args if isinstance(a, ast.Subscript))
    if wide == place.argument(node.slice):
        # A target that is missing is nan, and `where` alone does not keep that out of the gradients.
        wanted = f"{torch}.where({wide}, {wanted}, 0)"
    each = f'{place.source(call.func)}({given}, {wanted}, reduction="none")'
    text = f"{torch}.where({wide}, {each}, 0).sum() / {_count(place, node, wide)}"
    return call, text if isinstance(place.chain[-2], (ast.Assign, ast.Return)) else f"({text})"


def _added(place: Place, torch: str, known: Tensor | None, receiver: Tensor) -> Fix | None:
    """`x[mask] += 1`."""
    node = place.statement
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Subscript):
        return None
    signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
    target, sign = node.target, signs.get(type(node.op))
    if sign is None or not isinstance(target.value, ast.Name) or isinstance(target.slice, ast.Tuple):
        return None
    if (
        not isinstance(node.value, ast.Constant)
        or not pure(place, target.slice)
        or place.importing("torch") != (torch, ())
    ):
        return None
    name, mask = target.value.id, place.argument(target.slice)
    if not fits(place, target.slice, target.value, known, receiver):
        mask = widened(place, target.slice, target.value)
    if not mask or differs(known, receiver):
        return None
    text = f"{name} = {torch}.where({mask}, {name} {sign} {place.source(node.value)}, {name})"
    note = "the tensor is no longer changed in place"
    return Fix("select with torch.where", Applicability.UNSAFE, (place.replace(node, text),), note)


def _stored(place: Place, torch: str, known: Tensor | None, receiver: Tensor) -> Fix | None:
    """`z = torch.where(mask, x * 2, z)` for `z[mask] = x[mask] * 2`."""
    node = place.statement
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if (
        not isinstance(target, ast.Subscript)
        or not isinstance(target.value, ast.Name)
        or not isinstance(node, ast.Assign)
    ):
        return None
    mask = target.slice
    if isinstance(mask, (ast.Tuple, ast.Slice)) or not pure(place, mask) or place.importing("torch") != (torch, ()):
        return None
    value = _unmasked(node.value, ast.dump(mask))
    read = place.node.value if isinstance(place.node, ast.Subscript) else mask
    if value is None or not pure(place, value) or not fits(place, mask, read, known, receiver):
        return None
    name = target.value.id
    text = f"{name} = {torch}.where({place.argument(mask)}, {ast.unparse(value)}, {name})"
    note = "both sides are computed, and the tensor is no longer changed in place"
    return Fix("select with torch.where", Applicability.UNSAFE, (place.replace(node, text),), note)


def _unmasked(node: ast.expr, mask: str) -> ast.expr | None:
    """An expression of `x[mask]` and numbers, element by element, without the masks."""
    if isinstance(node, ast.Constant):
        return node
    if isinstance(node, ast.Subscript):
        return (
            node.value if ast.dump(node.slice) == mask and isinstance(node.value, (ast.Name, ast.Attribute)) else None
        )
    if isinstance(node, ast.UnaryOp):
        inner = _unmasked(node.operand, mask)
        return ast.UnaryOp(node.op, inner) if inner is not None else None
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        left, right = _unmasked(node.left, mask), _unmasked(node.right, mask)
        return ast.BinOp(left, node.op, right) if left is not None and right is not None else None
    return None
