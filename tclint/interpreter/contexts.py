"""`with`: what is entered, the body inside it, and what is left again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import nullcontext
from typing import Final

from tclint import events
from tclint.interpreter import captures, exceptions, expressions, modes, stores, streams
from tclint.interpreter.execute import run_block
from tclint.interpreter.frame import Frame
from tclint.torch_facts import facts
from tclint.values import NONE, UNKNOWN, ClassValue, External, FunctionValue, Instance, Object, Partial, Value

_NOT_RESUMED: Final = frozenset(facts.named("is a context that Dynamo does not resume in"))


def run_with(frame: Frame, node: ast.With) -> None:
    _enter(frame, node, list(node.items))


def _enter(frame: Frame, node: ast.With, left: list[ast.withitem]) -> None:
    """Enter the contexts that are left, those of the program by running them, then the body."""
    own = next((item for item in left if frame.region is None and _is_own(frame, item.context_expr)), None)
    if own is None:
        _run(frame, node, left)
        return
    place = left.index(own)
    if place:
        _run(frame, node, left[:place], lambda: _enter(frame, node, left[place:]))
        return
    context = expressions.evaluate(frame, own.context_expr)

    def body(entered: Value) -> None:
        if own.optional_vars is not None:
            stores.store(frame, own.optional_vars, entered, node, quiet=True)
        frame.blocks.append("with")
        _enter(frame, node, left[1:])
        frame.blocks.pop()

    frame.interp.emitter.emit(events.With, frame, own.context_expr, context)
    if isinstance(context, Instance):
        body(context.call_method(frame, own.context_expr, "__enter__", [], {}))
        context.call_method(frame, own.context_expr, "__exit__", [NONE, NONE, NONE], {})
    elif isinstance(context, Object) and isinstance(context.args, Partial):
        frame.interp.functions.around(frame, own.context_expr, context.args, body)
    else:
        body(UNKNOWN)


def _is_own(frame: Frame, context: ast.expr) -> bool:
    """Whether a context manager is the program's own: a generator, or a class with `__enter__` and `__exit__`."""
    made = _maker(frame, context)
    if isinstance(made, (Instance, ClassValue)):
        return frame.interp.classes.is_context(made.cls)
    return (
        isinstance(made, Object) and made.name == "contextlib.contextmanager" and isinstance(made.args, FunctionValue)
    )


def _maker(frame: Frame, context: ast.expr) -> Value:
    """What is called to make a context, or the context that is entered as it is."""
    with frame.interp.emitter.silence:
        return expressions.evaluate(frame, context.func if isinstance(context, ast.Call) else context)


def _is_not_resumed(frame: Frame, context: ast.expr) -> bool:
    """Whether Dynamo enters a context of a library, but leaves the whole function to eager mode where the graph breaks in it."""
    if frame.region is None or not isinstance(context, ast.Call):
        return False
    made = _maker(frame, context)
    return isinstance(made, External) and made.name in _NOT_RESUMED


def _run(frame: Frame, node: ast.With, items: list[ast.withitem], body: Callable[[], None] | None = None) -> None:
    own: list[Instance] = []
    held = 0
    made: list[Value] = []
    for item in items:
        context = expressions.evaluate(frame, item.context_expr)
        made.append(context)
        frame.interp.emitter.emit(events.With, frame, item.context_expr, context)
        bound = context
        held += isinstance(context, Object) and isinstance(context.args, (FunctionValue, Partial))
        held += _is_not_resumed(frame, item.context_expr)
        if isinstance(context, Instance) and frame.interp.classes.is_context(context.cls):
            held += 1
            bound = context.call_method(frame, node, "__enter__", [], {})
            own.append(context)
        if item.optional_vars is not None:
            stores.store(frame, item.optional_vars, bound, node, quiet=True)
    grad, entered = frame.grad, frame.modes
    for item, value in zip(items, made, strict=True):
        modes.enter_mode(frame, item.context_expr, value=value)
    graphs = [captures.captured_graph(frame, item.context_expr) for item in items]
    before, capturing = dict(frame.env), frame.capturing
    for graph in graphs:
        if graph is not None:
            captures.start(frame, graph, node)
    frame.capturing = capturing or any(g is not None for g in graphs)
    for item in items:
        streams.enter(frame, item.context_expr, item.context_expr)
    expecting = any(modes.expects_an_exception(frame, item.context_expr) for item in items)
    eager = expecting or any(modes.runs_eagerly(frame, item.context_expr) for item in items)
    frame.interp.graph_memory.paused += eager
    frame.interp.graph_memory.expecting += expecting
    swallows = frame.region is not None and any(exceptions.swallows(frame, each) for each in own)
    blocks = ["try", "with"] if swallows else ["with"]
    frame.blocks += blocks
    frame.held += held
    returned = len(frame.returns)
    with frame.interp.emitter.silence if expecting else nullcontext():
        if body is not None:
            body()
        else:
            run_block(frame, node.body)
    frame.held -= held
    del frame.blocks[-len(blocks) :]
    raised = frame.region is not None and own and _ends_in_raise(node) and frame.dead and len(frame.returns) == returned
    if raised and not frame.maybe and (swallows or exceptions.caught(frame)):
        told = "swallows an exception" if swallows else "an exception leaves"
        frame.interp.emitter.feature(frame, items[0].context_expr, f"with that {told}")
        frame.dead = not swallows
    frame.interp.graph_memory.paused -= eager
    frame.interp.graph_memory.expecting -= expecting
    frame.capturing = capturing
    for graph in graphs:
        if graph is not None:
            captures.finish(frame, graph, before, node)
    for entered_last in reversed(own):
        entered_last.call_method(frame, node, "__exit__", [NONE, NONE, NONE], {})
    frame.grad, frame.modes = grad, entered


def _ends_in_raise(node: ast.With) -> bool:
    return isinstance(node.body[-1], ast.Raise)
