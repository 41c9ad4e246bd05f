"""TCL306: the static input of a captured graph is rebound."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Event, ModuleEvent, Rebound, Stale
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.program import Function
from tclint.rules._captures import (
    TRIGGERS,
    Capture,
    Scope,
    captures,
    replay_lines,
    scope_of,
)
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes, text
from tclint.torch_facts import facts


class CaptureInputRebound(Rule):
    """The name of a captured graph's input is bound to something new before `replay()`: the graph still reads the old one.

    A CUDA graph remembers addresses. `static_x = x` changes what the name means, not what the graph reads: the result is
    silently that of the old input. A Python number that the capture reads is written into the graph, a parameter that is
    replaced (`layer.weight.data = w`, `load_state_dict(…, assign=True)`) leaves the graph with the old one, and so does a module
    in the place of another, or `train()` after a capture under `eval()`. It is followed through methods, helpers and files.
    What is bound behind a branch of a function that neither captures nor replays, or on some object of which only the class is
    known, may not be bound at all: that is of low confidence.

    The same holds for what a step leaves to the next: a state that the capture binds (`h = cell(x, h)`) starts anew with every
    replay; a warm-up that changes the state in place has stepped it already; `zero_grad()` before a replay takes the
    gradients away that a captured backward pass writes. Where only some rows of an input are written
    (`static_x[:n].copy_(x)`) and all rows of the output are read, the others are of an earlier batch. Before the first replay
    an output holds nothing: a capture computes nothing.

    Bad::

        def run(model, static_x, batches):
            model(static_x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(static_x)
            for x in batches:
                static_x = x
                g.replay()

    Good::

        def run(model, static_x, batches):
            model(static_x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(static_x)
            for x in batches:
                static_x.copy_(x)
                g.replay()

    Fix: `static_x.copy_(x)`. `--fix` writes it. Wrong where the new tensor has another shape: then nothing short of a
    new capture helps.
    """

    code, name = "TCL306", "capture-input-rebound"
    effect, severity = Effect.SILENT, Severity.HIGH
    triggers = TRIGGERS
    scope = "eager"

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for capture in captures(event.node):
            for function in scope_of(capture):
                replays = replay_lines(capture, function)
                if replays:
                    yield from self._stale_rows(event, function, capture, min(replays))

    def on_rebound(self, event: Rebound) -> Iterator[Finding]:
        """The same wherever it is bound: in a method, a helper, another file, as the walk has seen it."""
        node = event.node
        if event.enclosing is not None and event.enclosing.index(_asks_for_captures):
            return  # it binds one thing within a capture and another outside: the replays are thought of
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        said, to_do = _SAID[event.what]
        named = text(target) if target is not None else text(node.target) if isinstance(node, _TARGETED) else ""
        what = said.format(name=f"`{named}`" if named else "what is bound here", line=event.replay)
        value = text(node.value) if isinstance(node, ast.Assign) else "value"
        yield self.finding(
            event,
            what,
            node=node.target if isinstance(node, ast.For) else node,
            confidence=Confidence.LOW if event.aside else Confidence.HIGH,
            help=to_do.format(name=named or "it", value=value),
        )

    def _stale_rows(self, event: ModuleEvent, function: Scope, capture: Capture, replay: int) -> Iterator[Finding]:
        """Some rows of an input are written, all rows of an output are read: the rest is of an earlier batch."""
        for node in ast.walk(function):
            target = _partly(node, capture.inputs)
            if target is None or any(_fills(other, text(target.value)) for other in ast.walk(function)):
                continue
            read = _read_whole(function, capture.outputs, replay)
            if read is not None:
                yield self.finding(
                    event,
                    f"only some rows of the captured graph's input `{text(target.value)}` are written, and all rows of "
                    f"`{text(read)}` are read (line {read.lineno}): the others are of an earlier batch",
                    node=node,
                    confidence=Confidence.MEDIUM,
                    help=f"read `{text(read)}[{text(target.slice)}]`, or write the rest of the input too",
                )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        node = node_at(event, finding.span, ast.Assign)
        if node is None or len(node.targets) != 1 or not isinstance(node.targets[0], (ast.Name, ast.Attribute)):
            return None
        if not isinstance(event, Rebound) or event.what != "input":
            return None
        place = Place(event, node)
        text = f"{place.source(node.targets[0])}.copy_({place.argument(node.value)})"
        return Fix("copy into the input", Applicability.SAFE, (place.replace(node, text),), "")


_TARGETED: Final = (ast.For, ast.AugAssign, ast.AnnAssign)
_SAID: Final[dict[Stale, tuple[str, str]]] = {
    "input": (
        "{name} is the captured graph's input; binding it to something new does not change what the graph reads",
        "{name}.copy_({value})",
    ),
    "parameter": (
        "{name} is a tensor that the captured graph reads; binding it to something new does not change what the graph reads",
        "write it in place: {name}.copy_({value}) under no_grad",
    ),
    "number": (
        "{name} is a number that was written into the graph at capture; binding it to something new does not change what "
        "the graph reads",
        "keep it in a tensor that is written in place",
    ),
    "module": (
        "{name} is a module that was captured; the graph goes on with the parameters of the old one",
        "capture a graph for each module, or copy the parameters into the captured one",
    ),
    "mode": (
        "the mode of a captured module is set; the graph goes on as it was captured (line {line})",
        "capture a graph for each mode, train() and eval()",
    ),
    "rate": (
        "the learning rate is changed after the capture of `step()`, which has written it into the graph as a number",
        "make the optimizer with lr=torch.tensor(…) and capturable=True, or leave step() out of the capture",
    ),
    "carried": (
        "{name} is read and then bound within the capture: every replay starts from the tensor of the capture again",
        "copy the new state into the old tensor within the capture: {name}.copy_({value})",
    ),
    "dropped": (
        "the gradients are dropped before the replay at line {line}, which writes those it was captured with: the parameters "
        "hold none, and the optimizer does nothing",
        "zero_grad() before the capture only, or zero_grad(set_to_none=False)",
    ),
    "empty": (
        "an output of the captured graph is read before its first replay (line {line}): a capture computes nothing",
        "replay() once after the capture",
    ),
    "warmed": (
        "the warm-up changes what every replay goes on from (line {line}): the captured steps start from a state that was "
        "stepped already",
        "keep a copy before the warm-up, and copy it back after the capture",
    ),
}
"""What is said of a binding that the graph does not see, and what to do."""


_ASKS: Final = facts.methods("asks whether a graph is being captured")


def _asks_for_captures(function: Function) -> bool:
    """Whether a function asks if it runs within a capture."""
    found = (node.func for node in nodes(function.node) if isinstance(node, ast.Call))
    return any(getattr(func, "attr", getattr(func, "id", "")) in _ASKS for func in found)


def _partly(node: ast.AST, inputs: set[str]) -> ast.Subscript | None:
    """`static_x[:n].copy_(x)`, `static_x[:n] = x` with an `n` that is not written out."""
    target: ast.AST | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "copy_":
        target = node.func.value
    if not isinstance(target, ast.Subscript) or text(target.value) not in inputs:
        return None
    first = target.slice.elts[0] if isinstance(target.slice, ast.Tuple) and target.slice.elts else target.slice
    if not isinstance(first, ast.Slice) or first.upper is None or isinstance(first.upper, ast.Constant):
        return None
    return target


def _fills(node: ast.AST, name: str) -> bool:
    """Whether all rows are written: `x.zero_()`, `x.fill_(0)`, `x.copy_(…)`, `x[n:] = 0`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        target: ast.expr = node.func.value
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
    else:
        return False
    if isinstance(target, ast.Subscript) and text(target.value) == name:
        first = target.slice.elts[0] if isinstance(target.slice, ast.Tuple) and target.slice.elts else target.slice
        return isinstance(first, ast.Slice) and first.upper is None
    return text(target) == name


def _read_whole(function: ast.AST, outputs: set[str], after: int) -> ast.expr | None:
    """Where an output is read after the replay, all of its rows."""
    parts = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Subscript)}
    for node in ast.walk(function):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load) and node.lineno >= after:
            if text(node) in outputs and id(node) not in parts:
                return node
    return None
