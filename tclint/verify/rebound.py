"""Compile sites that bind a function of their file anew, `step = torch.compile(step, …)`: read from the source, nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Rebinding:
    """A function at the top of a file that the program replaces by its compiled self before it calls it."""

    path: str
    name: str
    arguments: tuple[tuple[str, str], ...] = ()
    """Of `torch.compile`: names, and their values as Python literals."""


@lru_cache(maxsize=64)
def rebindings(path: str) -> tuple[Rebinding, ...]:
    """Those of a file, each name once. A site whose arguments cannot be read is left out: it would compile another way."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: dict[str, Rebinding] = {}
    for name, call in _sites(tree):
        arguments = _literals(call)
        if name in functions and arguments is not None:
            found.setdefault(name, Rebinding(path, name, arguments))
    return tuple(found.values())


def _sites(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """In functions that say `global`: those at the top of the file have run when it is imported."""
    for scope in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        outer = {name for node in ast.walk(scope) if isinstance(node, ast.Global) for name in node.names}
        for node in ast.walk(scope) if outer else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if name in outer:
                    if _compiles(call, name):
                        yield name, call


def _compiles(call: ast.Call, name: str) -> bool:
    """`torch.compile(name, …)`, or `compile(name, …)` under any prefix."""
    function = call.func
    called = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    return called == "compile" and [getattr(one, "id", "") for one in call.args] == [name]


def _literals(call: ast.Call) -> tuple[tuple[str, str], ...] | None:
    found = []
    for keyword in call.keywords:
        try:
            ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        if keyword.arg is None:
            return None
        found.append((keyword.arg, ast.unparse(keyword.value)))
    return tuple(found)
