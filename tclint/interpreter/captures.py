"""Graphs captured by hand: `with torch.cuda.graph(g):` makes tensors that every `g.replay()` writes anew."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Env, Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import NONE, STATIC_OUT, UNKNOWN, External, Instance, Object, Tensor, Value
from tclint.values.graph import CUDA_GRAPH as _GRAPH

_CAPTURES: Final = frozenset({"torch.cuda.graph", "torch.cuda.graphs.graph"})


def captured_graph(frame: Frame, node: ast.expr) -> Object | None:
    """The graph that `torch.cuda.graph(g)` captures into, None for other context managers."""
    if frame.region is not None or not isinstance(node, ast.Call):
        return None
    with frame.interp.emitter.silence:
        called = evaluate(frame, node.func)
        if not isinstance(called, External) or called.name not in _CAPTURES:
            return None
        given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "cuda_graph"), None)
        graph = evaluate(frame, given) if given is not None else None
    return graph if isinstance(graph, Object) and graph.name == _GRAPH else None


def start(frame: Frame, graph: Object, node: ast.AST) -> None:
    """A capture begins."""
    frame.interp.recordings.do("capture", graph.origin, frame, node)


def finish(frame: Frame, graph: Object, before: Env, node: ast.AST) -> None:
    """The capture ends: what it bound to names lives in the graph's memory from here on."""
    frame.interp.recordings.do("end", graph.origin, frame, node)
    for name, value in frame.env.items():
        if before.get(name) is not value:
            made = Tensor(origin=graph.origin) if value is UNKNOWN else value
            held = frame.env[name] = made.owned(STATIC_OUT, graph.origin, graph.origin)  # type: ignore[arg-type]
            base, _, attribute = name.partition(".")
            owner = frame.env.get(base)
            if attribute and isinstance(owner, Instance):
                frame.interp.instance_attributes.store(frame, owner, attribute, held, replace=True)


def _graph_method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    if frame.region is not None:
        return None
    if name == "capture_begin":
        frame.interp.emitter.call(frame, node, f"{_GRAPH}.{name}", args, keywords, receiver, NONE)
        frame.capturing = True
        start(frame, receiver, node)
        frame.interp.graph_memory.captures[receiver.origin] = dict(frame.env)
        return NONE
    if name == "capture_end":
        frame.capturing = False
        finish(frame, receiver, frame.interp.graph_memory.captures.pop(receiver.origin, dict(frame.env)), node)
        return NONE
    if name == "reset":
        frame.interp.recordings.forget(frame, receiver, node)
        return NONE
    if name != "replay":
        return None
    frame.interp.graph_memory.run(frame, receiver.origin)
    frame.interp.recordings.do("replay", receiver.origin, frame, node)
    frame.interp.emitter.call(frame, node, f"{_GRAPH}.replay", args, keywords, receiver, NONE)
    return NONE


objects.register(_GRAPH, method=_graph_method)
