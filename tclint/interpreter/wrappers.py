"""Decorators of the program that wrap: the inner function they return, found by the shape of their source."""

from __future__ import annotations

import ast

from tclint.program import Function
from tclint.values import FunctionValue, Value


def wrap(decorator: FunctionValue, value: Value) -> Value:
    """What `@decorator` (or `@decorator(…)`) makes of a function: its wrapper closing over it, or the function itself."""
    found = _wrapper(decorator.function)
    if found is None:
        return value
    wrapper, captured = found
    return FunctionValue(wrapper, None, {captured: value})


def _wrapper(decorator: Function) -> tuple[Function, str] | None:
    """The innermost returned function that calls a parameter of a function around it, and that parameter's name."""
    node = decorator.node
    if isinstance(node, ast.Lambda):
        return None
    return _search(decorator, node, set())


def _search(
    function: Function, node: ast.FunctionDef | ast.AsyncFunctionDef, outer: set[str]
) -> tuple[Function, str] | None:
    names = outer | {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    for statement in node.body:
        for inner in _definitions(statement):
            nested = function.nested(inner, inner.name)
            deeper = _search(nested, inner, names)
            if deeper is not None:
                return deeper
            if not _returned(node, inner.name):
                continue
            own = {a.arg for a in (*inner.args.posonlyargs, *inner.args.args, *inner.args.kwonlyargs)}
            for called in ast.walk(inner):
                if isinstance(called, ast.Call) and isinstance(called.func, ast.Name):
                    if called.func.id in names - own:
                        return nested, called.func.id
    return None


def _definitions(statement: ast.stmt) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [statement]
    if isinstance(statement, (ast.If, ast.With, ast.Try)):
        return [d for inner in statement.body for d in _definitions(inner)]
    return []


def _returned(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    return any(
        isinstance(r, ast.Return)
        and r.value is not None
        and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(r.value))
        for r in ast.walk(node)
    )
