"""Manual CUDA-graph captures in a file, as the rules TCL306 to TCL310 see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tclint.fixes.places import FunctionNode
from tclint.sources.tree import text


@dataclass
class Capture:
    """One `with torch.cuda.graph(g):` block and what belongs to it."""

    function: FunctionNode
    cls: ast.ClassDef | None
    block: ast.With
    graph: str
    outputs: set[str] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)


def captures(tree: ast.Module) -> Iterator[Capture]:
    for cls, function in functions(tree):
        for node in ast.walk(function):
            if not isinstance(node, ast.With):
                continue
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and text(call.func) in ("torch.cuda.graph", "cuda.graph"):
                    graph = text(call.args[0]) if call.args else text(_keyword(call, "cuda_graph"))
                    yield _describe(Capture(function, cls, node, graph))


def functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, FunctionNode]]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield node, inner


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def _describe(capture: Capture) -> Capture:
    bound: set[str] = set()
    for node in ast.walk(capture.block):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for leaf in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                    bound.add(text(leaf))
        elif isinstance(node, ast.Call) and not text(node.func).startswith("torch.cuda.graph"):
            func = text(node.func)
            if not func.startswith("torch.") and "." not in func or func.startswith("self."):
                capture.called.add(func)
            for argument in node.args:
                if isinstance(argument, (ast.Name, ast.Attribute)):
                    capture.inputs.add(text(argument))
    capture.outputs = bound
    capture.inputs -= bound
    return capture


def scope_of(capture: Capture) -> list[FunctionNode]:
    """Where the graph may be replayed: its own function, and the methods of its class if it is kept on self."""
    if capture.graph.startswith("self.") and capture.cls is not None:
        return [n for n in capture.cls.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [capture.function]


def replay_lines(capture: Capture, function: FunctionNode) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and text(node.func) == f"{capture.graph}.replay"
    ]
