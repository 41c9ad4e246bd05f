"""Manual CUDA-graph captures in a file, as the rules TCL306 to TCL310 see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tclint.fixes.places import FunctionNode
from tclint.sources.tree import holders, text

Scope = FunctionNode | ast.Module
TRIGGERS = (b"cuda.graph(", b"CUDAGraph")
"""What a file that captures graphs by hand has in it."""


@dataclass
class Capture:
    """One `with torch.cuda.graph(g):` block and what belongs to it."""

    function: Scope
    cls: ast.ClassDef | None
    block: ast.With
    graph: str
    outputs: set[str] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)
    """Names and attributes that the block reads: tensors, and numbers that are written into the graph."""
    called: set[str] = field(default_factory=set)


def captures(tree: ast.Module) -> Iterator[Capture]:
    names = _capture_names(tree)
    for cls, function in scopes(tree):
        if not any(isinstance(node, ast.With) for node in holders(function)):
            continue  # most functions: a block is a statement, and those are soon gone through
        for node in _own_nodes(function):
            if not isinstance(node, ast.With):
                continue
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and text(call.func) in names:
                    graph = text(call.args[0]) if call.args else text(_keyword(call, "cuda_graph"))
                    yield _describe(Capture(function, cls, node, graph))


def _capture_names(tree: ast.Module) -> set[str]:
    """The names under which a file knows `torch.cuda.graph`."""
    names = {"torch.cuda.graph", "cuda.graph"}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "torch.cuda":
            names.update(a.asname or a.name for a in node.names if a.name == "graph")
        elif isinstance(node, ast.Import):
            names.update(f"{a.asname}.graph" for a in node.names if a.name == "torch.cuda" and a.asname)
    return names


def scopes(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, Scope]]:
    """The top level of a file, its functions and the methods of its classes."""
    yield None, tree
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield node, inner


def _own_nodes(scope: Scope) -> Iterator[ast.AST]:
    """The nodes of a scope; of a file those that stand in no function or class."""
    if not isinstance(scope, ast.Module):
        yield from ast.walk(scope)
        return
    for statement in scope.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from ast.walk(statement)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def _describe(capture: Capture) -> Capture:
    bound: set[str] = set()
    read: set[str] = set()
    for statement in capture.block.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for leaf in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                        bound.add(text(leaf))
            elif isinstance(node, ast.Call):
                func = text(node.func)
                if not func.startswith("torch.") and "." not in func or func.startswith("self."):
                    capture.called.add(func)
            if (
                isinstance(node, (ast.Name, ast.Attribute))
                and isinstance(node.ctx, ast.Load)
                or isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Load)
                and _is_key(node.slice)
            ):
                read.add(text(node))
    capture.outputs = bound
    capture.inputs = read - bound
    return capture


def _is_key(node: ast.expr) -> bool:
    """`x["key"]`: x is a dict, and binding the key anew does not write into what it held."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def scope_of(capture: Capture) -> list[Scope]:
    """Where the graph may be replayed: its own function, the methods of its class if it is kept on self, or the functions
    of the file if it is a global."""
    if capture.graph.startswith("self.") and capture.cls is not None:
        return [n for n in capture.cls.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if isinstance(capture.function, ast.Module):
        functions = [n for n in capture.function.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        return [capture.function, *functions]
    return [capture.function]


def global_names(function: Scope) -> set[str]:
    """The names of the file that a function binds."""
    return {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}


def replay_lines(capture: Capture, function: Scope) -> list[int]:
    return [
        node.lineno
        for node in _own_nodes(function)
        if isinstance(node, ast.Call) and text(node.func) == f"{capture.graph}.replay"
    ]
