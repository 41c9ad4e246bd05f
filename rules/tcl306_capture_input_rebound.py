"""TCL306: the static input of a captured graph is rebound."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Final

from tclint.events import Event, ModuleEvent, Rebound, Stale
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._captures import (
    TRIGGERS,
    Capture,
    Scope,
    calls_of,
    captures,
    global_names,
    passed,
    replay_lines,
    scope_of,
)
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text


class CaptureInputRebound(Rule):
    """The name of a captured graph's input is bound to something new before `replay()`: the graph still reads the old one.

    A CUDA graph remembers addresses. `static_x = x` changes what the name means, not what the graph reads: the result is
    silently that of the old input. A Python number that the capture reads is written into the graph, and a parameter that
    is replaced (`layer.weight.data = w`) leaves the graph with the old one. Where only some rows of an input are written
    (`static_x[:n].copy_(x)`) and all rows of the output are read, the others are of an earlier batch.

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
        found = list(captures(event.node))
        for capture in found:
            after = capture.block.end_lineno or 0
            for function in scope_of(capture):
                replays = replay_lines(capture, function)
                first = after if function is capture.function else 0
                again = [c.block.lineno for c in found if c.graph == capture.graph and c is not capture]
                inputs = capture.inputs
                if isinstance(capture.function, ast.Module) and function is not capture.function:
                    own = global_names(function)
                    inputs = {name for name in inputs if name in own or not name.isidentifier()}
                yield from self._rebound(event, function, inputs, first, replays, again)
                if replays:
                    yield from self._stale_rows(event, function, capture, min(replays))
            for caller, call in calls_of(event.node, capture.function):
                given = passed(capture.function, call)
                inputs = {text(v) for n, v in given.items() if n in capture.inputs and isinstance(v, ast.Name)}
                replays = [
                    node.lineno
                    for node in ast.walk(caller)
                    if isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr == "replay"
                ]
                yield from self._rebound(event, caller, inputs, call.lineno, replays, [])

    def on_rebound(self, event: Rebound) -> Iterator[Finding]:
        """The same wherever it is bound: in a method, a helper, another file, as the walk has seen it."""
        node = event.node
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        said, to_do = _SAID[event.what]
        named = text(target) if target is not None else text(node.target) if isinstance(node, _TARGETED) else ""
        what = said.format(name=f"`{named}`" if named else "what is bound here", line=event.replay)
        value = text(node.value) if isinstance(node, ast.Assign) else "value"
        yield self.finding(
            event,
            what,
            node=node.target if isinstance(node, ast.For) else node,
            confidence=Confidence.HIGH,
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

    def _rebound(
        self, event: ModuleEvent, function: Scope, inputs: set[str], after: int, replays: list[int], again: list[int]
    ) -> Iterator[Finding]:
        """What is bound anew between the capture and a replay. `again` are the lines of later captures of the same graph."""
        numbers = inputs & _numbers(event.node) if replays else frozenset()
        for node in ast.walk(function):
            line = getattr(node, "lineno", 0)
            next_replay = min((r for r in replays if r >= line), default=0)
            if line <= after or not next_replay or any(line <= a <= next_replay for a in again):
                continue
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.For):
                targets = [node.target]
            elif isinstance(node, ast.AugAssign) and text(node.target) in numbers:
                targets = [node.target]  # a tensor would be changed in place
            for target in targets:
                what = _what(target, node, inputs, numbers)
                if what:
                    yield self._finding(event, target, node, what)

    def _finding(self, event: ModuleEvent, target: ast.expr, node: ast.AST, what: str) -> Finding:
        value = text(node.value) if isinstance(node, ast.Assign) else "value"
        return self.finding(
            event,
            f"`{text(target)}` is {what}; binding it to something new does not change what the graph reads",
            node=target if isinstance(node, ast.For) else node,
            confidence=Confidence.HIGH,
            help=f"{text(target)}.copy_({value})" if what == _INPUT else "keep it in a tensor that is written in place",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        node = node_at(event, finding.span, ast.Assign)
        if node is None or len(node.targets) != 1 or not isinstance(node.targets[0], (ast.Name, ast.Attribute)):
            return None
        if _INPUT not in finding.message:
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
    "carried": (
        "{name} is read and then bound within the capture: every replay starts from the tensor of the capture again",
        "copy the new state into the old tensor within the capture: {name}.copy_({value})",
    ),
    "dropped": (
        "the gradients are dropped before the replay at line {line}, which writes those it was captured with: the parameters "
        "hold none, and the optimizer does nothing",
        "zero_grad() before the capture only, or zero_grad(set_to_none=False)",
    ),
    "warmed": (
        "the warm-up changes what every replay goes on from (line {line}): the captured steps start from a state that was "
        "stepped already",
        "keep a copy before the warm-up, and copy it back after the capture",
    ),
}
"""What is said of a binding that the graph does not see, and what to do."""
_INPUT = "the captured graph's input"


_NUMBER = "a number that was written into the graph at capture"


def _what(target: ast.expr, node: ast.AST, inputs: set[str], numbers: Collection[str]) -> str:
    name = text(target)
    if name in numbers:
        return _NUMBER
    if name in inputs:
        return _INPUT
    if isinstance(target, ast.Attribute) and isinstance(node, ast.Assign):
        made = text(node.value.func) if isinstance(node.value, ast.Call) else ""
        if (target.attr == "data" or made.endswith("Parameter")) and not inputs.isdisjoint(_owners(name)):
            return "a tensor that the captured graph reads"
    return ""


def _owners(name: str) -> Iterator[str]:
    """`model` and `model.fc` of `model.fc.weight`; of `self.model.weight` what comes after `self`."""
    parts = name.split(".")
    for length in range(2 if parts[0] == "self" else 1, len(parts)):
        yield ".".join(parts[:length])


def _numbers(tree: ast.AST) -> frozenset[str]:
    """The names and attributes of a file that are bound to numbers."""
    return frozenset(
        text(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        if isinstance(node.value.value, (int, float))
        for target in node.targets
    )


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
