"""TCL105: an op whose output shape depends on values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event
from tclint.fixes.places import Place
from tclint.fixes.recipes import display
from tclint.model.finding import Applicability, Effect, Finding, Fix, Severity
from tclint.rules._spared import switch_sizes
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import calls, facts
from tclint.values import Const, tensor_of

_NAMES: Final = tuple(
    name
    for id_ in ("GB0036", "GB0246")
    for name in calls.breaking_with(id_)
    if name.startswith(("torch.", "Tensor.", "numpy.", "ndarray."))
)

_SWITCH: Final = "capture_dynamic_output_shape_ops"


class DynamicShapeOp(Rule):
    """An op whose output shape depends on the tensor's values cannot be traced in default mode.

    `nonzero`, `torch.where(mask)` with one argument, `unique`, `masked_select`, `bincount`, `repeat_interleave` with a
    tensor of repeats, `one_hot` without `num_classes`: nobody knows how large the result is until the values are there, so
    Dynamo ends the graph.

    Bad::

        def f(x):
            rows = torch.nonzero(x.sum(-1) > 0)
            return x[rows[:, 0]]

    Good::

        def f(x):
            keep = (x.sum(-1, keepdim=True) > 0).to(x.dtype)
            return x * keep

    Fix: compute everywhere and select with `torch.where`; `repeat_interleave(..., output_size=n)`; `one_hot(x,
    num_classes)`; `torch.nonzero_static(x, size=n)`: the bound is known to you alone. `--unsafe-fixes` sets
    `capture_dynamic_output_shape_ops` in the file that compiles: the op stays in the graph with a size that only the graph
    knows, the host still waits for it, and the switch holds for the process.

    Versions: with `fullgraph=True`, torch 2.10 and later keep these ops in the graph; in default mode they break on all.
    """

    code, name = "TCL105", "dynamic-shape-op"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    graph_breaks = ("GB0036", "GB0246", "GB0037")
    calls = (*_NAMES, "torch.nn.CTCLoss.forward", "torch.nested.masked_select")
    owns = tuple(name for name in _NAMES if name.startswith(("Tensor.", "torch.linalg.", "torch.nn.functional.")))
    by_facts = True

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        if self.captured(event, _SWITCH) and not _is_bound_to_break(event):
            return
        about = tensor_of(event.receiver) if event.receiver is not None else None
        if about is None:
            about = next((t for a in event.args if (t := tensor_of(a)) is not None), None)
        help = "compute on all of it and select, torch.where(mask, a, b), or set capture_dynamic_output_shape_ops (it still waits)"
        if name.endswith(".where"):
            if len(event.args) + len(event.keywords) != 1 or about is None:
                return
        elif name.endswith("repeat_interleave"):
            first = 0 if name.startswith("Tensor.") else 1
            repeats = event.arg(first, "repeats")
            if len(event.args) == 1 and first == 1 and "repeats" not in event.keywords:
                repeats = event.args[0]
            about = tensor_of(repeats) if repeats is not None else None
            if about is None or "output_size" in event.keywords:
                return
            help = "pass output_size=, so that the shape is known"
        elif name.endswith("one_hot"):
            classes = event.arg(1, "num_classes")
            if classes is not None and not (isinstance(classes, Const) and classes.value == -1):
                return
            help = "pass num_classes"
        elif name.startswith("numpy.") and about is None:
            return
        else:
            verdict = self.verdict(event)
            if verdict is not None and verdict.breaks == "never":
                return
        yield self.finding(
            event,
            f"the shape of `{event.method}` depends on values; Dynamo breaks the graph here{whole_frame(event)}",
            about=about,
            help=help,
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        assert isinstance(event, Call)
        method = event.method
        if method == "bincount" and (counts := _counted(event)) is not None:
            return counts
        found = switch_sizes(event, _SWITCH) if not _is_bound_to_break(event) else None
        if found is not None and found.edits:
            return found
        if method == "repeat_interleave":
            return display("pass output_size=", "the sum of the repeats, as a Python number that the caller knows")
        if method == "one_hot":
            return display("pass num_classes", "the number of classes, as a constant")
        if method in ("nonzero", "argwhere"):
            return display("torch.nonzero_static(x, size=n)", "n is an upper bound; the rest is padding")
        if method == "where":
            return display("keep the mask and select with torch.where(mask, a, b)")
        return None


def _is_bound_to_break(event: Call) -> bool:
    """Whether the op breaks whatever is switched on; one that fills a given tensor has no shape to trace with."""
    return "out" in event.keywords or event.name in facts.named("has no shape to trace with")


def _counted(event: Call) -> Fix | None:
    """`one_hot(y, n).sum(0)` for `torch.bincount(y, minlength=n)`."""
    place = Place(event)
    node = place.node
    torch = place.importing("torch")
    if not isinstance(node, ast.Call) or torch is None or not event.name.startswith(("torch.", "Tensor.")):
        return None
    owner = [node.func.value] if event.name.startswith("Tensor.") and isinstance(node.func, ast.Attribute) else []
    values = [*owner, *node.args]
    if len(values) != 1 or [k.arg for k in node.keywords] != ["minlength"] or isinstance(values[0], ast.Starred):
        return None
    least = node.keywords[0].value
    if isinstance(least, ast.Constant) and not least.value:
        return None
    labels = f"{place.atom(values[0])}.long()"
    text = f"{torch[0]}.nn.functional.one_hot({labels}, {place.argument(least)}).sum(0)"
    note = "wrong where a value may be `minlength` or more: bincount grows with it, this is an error"
    return Fix("count classes of a known number", Applicability.UNSAFE, (*torch[1], place.replace(node, text)), note)
