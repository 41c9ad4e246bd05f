"""TCL309: host work inside a capture."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Final

from tclint.events import Branch, Call, Event, Format, ModuleEvent, Refusal, Refused, Store, Subscript
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Module
from tclint.rules._captures import TRIGGERS, captures
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.torch_facts import calls, facts
from tclint.values import ARRAY, DATA_SIZED, HOST, Const, Object, Tensor, Value, tensor_of
from tclint.values.casts import is_cast

_WAITS: Final = tuple(name for name in facts.named("waits for the device") if name.startswith(("Tensor.", "builtins.")))
_SYNCS: Final = frozenset(name.partition(".")[2] for name in _WAITS if name.startswith("Tensor."))
_BUILDS: Final = facts.named("copies from the host")
_CHANGES: Final = (*facts.named("draws a number on the host"), *facts.named("reads a clock"))
_CHECKS: Final = facts.named("checks its errors on the host")
_FORBIDDEN: Final = facts.named("is not allowed in a capture")
_COUNTS: Final = facts.named("counts its steps on the host")
_SIZED: Final = frozenset(calls.breaking_with("GB0036"))
_ASKS: Final = facts.named("asks on the host where error_if_nonfinite is True")
_VALIDATED: Final = facts.named("validates its parameters on the host")
_BEGINS: Final = "torch.cuda.CUDAGraph.capture_begin"
_ONCE: Final = " runs once, at capture, and never at replay"


class SyncInCapture(Rule):
    """Synchronisation, host tensors or Python side effects inside `with torch.cuda.graph(g):`.

    `.item()`, `.cpu()`, `torch.cuda.synchronize()`, a tensor in a string, a tensor built on or copied from the host fail during
    capture; so do `step()` of an optimizer that counts its steps on the host (`torch.optim.Adam` without `capturable=True`) or of
    a `GradScaler`, solvers that check their result (`torch.linalg.solve`; `solve_ex` does not), generators that the graph
    does not know, and `capture_begin()` on the default stream. What a module's hooks do is captured too. Work on a side stream
    has to be waited for before the capture ends. Python statements run once, at capture, and never at replay: a counter stays
    where it was, `random.random()` gives one number for ever.

    `make_graphed_callables` raises for a module with hooks or with parameters that its forward does not use, for samples that
    are no tensors, and under autocast with its cache; what it gives raises for other sizes than the sample's, and for keywords.

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
    triggers = TRIGGERS
    scope = "eager"
    calls = (
        *_WAITS,
        *_FORBIDDEN,
        *("Tensor.to", "Tensor.cuda"),
        *_SIZED,
        *_BUILDS,
        *_CHANGES,
        *_CHECKS,
        *(f"{name}.step" for name in _COUNTS),
        *("torch.*", "Tensor.*"),
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        if not event.capturing:
            if event.name == _BEGINS and event.ask.of_scope(_ends) and not _on_side_stream(event):
                yield self.finding(
                    event,
                    "`capture_begin()` on the default stream raises",
                    confidence=Confidence.HIGH,
                    help="capture within `with torch.cuda.stream(torch.cuda.Stream()):`, or use torch.cuda.graph(g)",
                )
            return
        what = _waits(event)
        if what:
            yield self._finding(event, event.node, what)

    def on_refused(self, event: Refused) -> Iterator[Finding]:
        if event.why in _REFUSED:
            said, to_do = _REFUSED[event.why]
            yield self.finding(event, said.format(about=event.about), confidence=Confidence.HIGH, help=to_do)

    def on_format(self, event: Format) -> Iterator[Finding]:
        if event.capturing and isinstance(event.value, Tensor):
            yield self._finding(event, event.node, "a tensor in a string waits for the device")

    def on_store(self, event: Store) -> Iterator[Finding]:
        if not event.augmented or not event.capturing or event.old is None or not event.old.python_type:
            return
        if _is_local(event) and not _in_block(event):
            return  # a local of a function that the capture calls: gone with its call, and nobody misses it
        if event.name in event.ask.of_file(_goes_back):
            return  # a depth: counted up and down again
        yield self._finding(event, event.node, f"`{text(event.node)}`", _ONCE)

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        if isinstance(event.test, Tensor) and event.capturing and not event.test.flags & (ARRAY | HOST):
            yield self._finding(event, event.node, f"`{event.keyword}` on a tensor waits for the device")

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        result = event.result
        if isinstance(event.receiver, Tensor) and isinstance(result, Tensor) and result.flags & DATA_SIZED:
            if not event.receiver.flags & DATA_SIZED and event.capturing:
                yield self._finding(event, event.node, "a boolean mask as index waits for the device")

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for capture in captures(event.node):
            for statement in capture.block.body:
                for node in ast.walk(statement):
                    what, then = _fault(node, capture.outputs)
                    if what:
                        yield self._finding(event, node, what, then)

    def _finding(self, event: Event, node: ast.AST, what: str, then: str = "") -> Finding:
        return self.finding(
            event,
            f"{what} inside a CUDA-graph capture{then}",
            node=node,
            # It raises as soon as it runs: in a program that works, a branch that leads to it is not taken.
            confidence=Confidence.LOW if event.doubtful else Confidence.HIGH,
            help="move it before the capture or after replay()",
        )


_REFUSED: Final[dict[Refusal, tuple[str, str]]] = {
    "hooks": (
        "`make_graphed_callables` raises: the module has hooks",
        "register them after make_graphed_callables, or remove them before",
    ),
    "autocast": (
        "`make_graphed_callables` raises under autocast, which keeps its casts from one call to the next",
        "torch.autocast(…, cache_enabled=False)",
    ),
    "numbers": ("`make_graphed_callables` raises: a sample is no tensor", "pass tensors, and bind numbers before"),
    "unused": (
        "`make_graphed_callables` raises: the forward does not use `{about}`, whose parameters need gradients",
        "allow_unused_input=True, or requires_grad_(False) for what is not used",
    ),
    "sizes": (
        "a graphed callable is called with {about}: a CUDA graph has one size",
        "pad the input to the size of the sample, or drop_last=True in the loader",
    ),
    "keywords": (
        "a graphed callable takes arguments by position only, and raises for `{about}=`",
        "pass them by position, in the order of the samples",
    ),
    "unjoined": (
        "work on a side stream that the capture does not wait for again: it raises when it ends (unjoined work)",
        "torch.cuda.current_stream().wait_stream(side) before the capture ends",
    ),
}
"""Why torch raises, and what to do."""


def _waits(event: Call) -> str:
    """Why a call of eager code cannot be captured; nothing where it can."""
    if event.name in ("Tensor.to", "Tensor.cuda"):
        if any(isinstance(a, Const) and a.value == "cpu" for a in event.args):
            return '`.to("cpu")` waits for the device'
        if is_cast(event.args, event.keywords):
            return ""
        asynchronous = event.keywords.get("non_blocking")
        if isinstance(event.receiver, Tensor) and event.receiver.flags & HOST and not _is_empty(event.receiver):
            if not (isinstance(asynchronous, Const) and asynchronous.value is True):
                return f"`.{event.method}()` copies a tensor of the host, and waits for it"
        return ""
    if event.name in _FORBIDDEN:
        return f"`{event.method}()` is not allowed"
    if event.name in _ASKS and _is(event.keywords.get("error_if_nonfinite"), True):
        return "`error_if_nonfinite=True` waits for the device"
    if event.name in _VALIDATED and not _is(event.keywords.get("validate_args"), False):
        on = not event.ask.of_file(_validates_nothing)
        return f"`{event.method}` looks at its parameters on the host (`validate_args=False` does not)" if on else ""
    if event.name in _CHECKS:
        return f"`{event.method}` reads on the host whether it has worked, and waits for the device"
    if event.name.removesuffix(".step") in _COUNTS:
        return _counts(event)
    if isinstance(event.keywords.get("generator"), Object) and not event.ask.of_file(_registers):
        return "a generator that the graph does not know (`graph.register_generator_state(generator)`) raises"
    if event.name.startswith(("random.", "numpy.random.", "time.")):
        return f"`{event.name}` runs once, at capture, and gives every replay the same number:"
    if event.name in _WAITS and event.name.startswith("Tensor.") and event.name not in _SIZED:
        if _on_host(event.receiver):
            return ""
        return f"`.{event.method}()` waits for the device"
    if event.name.startswith("builtins."):
        if event.name == "builtins.print":
            held = any(tensor_of(a) is not None for a in event.args)
            return "`print` of a tensor waits for the device" if held else ""
        asked = event.args and _is_tensor(event.args[0]) and not _on_host(event.args[0])
        return f"`{event.method}()` of a tensor waits for the device" if asked else ""
    if event.name in _BUILDS:
        return f"`{event.name}` copies from the host" if _fresh(event) and not _on_host(event.result) else ""
    if isinstance(event.result, Tensor) and event.result.flags & DATA_SIZED and not _inherits_size(event):
        return f"`{event.method}` has a result whose size depends on values: it waits for the device"
    return ""


def _on_host(value: Value | None) -> bool:
    """Whether a tensor is one of the host, which the capture does not see: `torch.tensor(x.shape).prod().item()`."""
    return isinstance(value, Tensor) and bool(value.flags & HOST)


def _is(value: Value | None, wanted: bool) -> bool:
    return isinstance(value, Const) and value.value is wanted


def _validates_nothing(module: Module) -> bool:
    return b"set_default_validate_args(False)" in module.data


def _registers(module: Module) -> bool:
    return b"register_generator_state" in module.data


def _is_local(event: Store) -> bool:
    """Whether what is counted is a variable of the function itself, or a list that it made."""
    target = event.node.target if isinstance(event.node, ast.AugAssign) else None
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return target.value.id in event.ask.of_scope(_bound)
    return isinstance(target, ast.Name)


def _bound(root: ast.AST) -> frozenset[str]:
    """The names that a function binds itself."""
    return frozenset(n.id for n in ast.walk(root) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _in_block(event: Event) -> bool:
    """Whether an event happens in the lines of a capture, not in a function that it calls."""
    line = getattr(event.node, "lineno", 0)
    return any(first <= line <= last for first, last in event.ask.of_file(_blocks))


def _blocks(module: Module) -> list[tuple[int, int]]:
    blocks = [capture.block for capture in captures(module.tree)]
    return [(block.lineno, block.end_lineno or block.lineno) for block in blocks]


def _goes_back(module: Module) -> frozenset[str]:
    """The attributes that a file counts up in one place and down in another."""
    up, down = (
        {
            node.target.attr
            for node in ast.walk(module.tree)
            if isinstance(node, ast.AugAssign) and isinstance(node.op, way) and isinstance(node.target, ast.Attribute)
        }
        for way in (ast.Add, ast.Sub)
    )
    return frozenset(up & down)


def _on_side_stream(event: Call) -> bool:
    """Whether a stream was chosen around: in the function itself, or by somebody who calls it."""
    line = getattr(event.node, "lineno", 0)
    if any(first <= line <= last for first, last in event.ask.of_scope(_stream_blocks)):
        return True
    return b"set_stream" in event.module.data or any("with" in caller.blocks for caller in event.ask.callers())


def _ends(root: ast.AST) -> bool:
    """Whether the capture ends where it begins: else the function is part of another, which chooses the stream."""
    return any(isinstance(node, ast.Attribute) and node.attr == "capture_end" for node in ast.walk(root))


def _stream_blocks(root: ast.AST) -> list[tuple[int, int]]:
    """The lines of `with torch.cuda.stream(…):` blocks."""
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(root)
        if isinstance(node, (ast.With, ast.AsyncWith))
        if any("stream" in text(item.context_expr).lower() for item in node.items)
    ]


def _counts(event: Call) -> str:
    """An optimizer that keeps its step count on the host, where it was not told otherwise."""
    made = event.receiver.origin.node if isinstance(event.receiver, Object) else None
    if not isinstance(made, ast.Call) or any(k.arg in ("capturable", None) for k in made.keywords):
        return ""
    return f"`{text(made.func)}` without capturable=True counts its steps on the host: `step()` raises"


def _is_tensor(value: Value) -> bool:
    return isinstance(value, Tensor)


def _is_empty(value: Tensor) -> bool:
    """`torch.Tensor()`: nothing to copy."""
    made = value.origin.node
    return isinstance(made, ast.Call) and text(made.func) in _BUILDS and not made.args and not made.keywords


def _fresh(event: Call) -> bool:
    return bool(event.args or event.keywords) and not (event.args and isinstance(event.args[0], Tensor))


def _fault(node: ast.AST, bound: Collection[str]) -> tuple[str, str]:
    """What the text of a capture alone tells, and what comes of it; `bound` are the names that the capture binds itself."""
    if not isinstance(node, ast.Call):
        return "", ""
    func = text(node.func)
    if func.endswith("synchronize"):
        return f"`{func}()` is not allowed", ""
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SYNCS and not node.args:
        return f"`.{node.func.attr}()` waits for the device", ""
    if func == "print" or func.endswith(".append") and func.removesuffix(".append") not in bound:
        return f"`{func}`", _ONCE
    return "", ""


def _inherits_size(event: Call) -> bool:
    """Whether it only goes on with a size that something before it has read: `x[mask].round()` waits at the mask."""
    given = (event.receiver, *event.args, *event.keywords.values())
    sized = any(
        (found := tensor_of(value)) is not None and found.flags & DATA_SIZED for value in given if value is not None
    )
    return sized and event.name not in _SIZED
