"""Decorators of the program that wrap: the inner function they return, found by the shape of their source."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import torch_wrappers
from tclint.program import Function
from tclint.sources.tree import nodes
from tclint.values import External, FunctionValue, Value

_PYTHON = frozenset({"torch", "numpy", *sys.stdlib_module_names})
"""Packages whose decorators leave Python what it is, or of which the tables know what they do."""
_TAKERS = torch_wrappers.DISABLE | torch_wrappers.IN_GRAPH | {torch_wrappers.CUSTOM_OP}
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _TAKERS)


def wrap(decorator: FunctionValue, value: Value, given: Mapping[str, Value]) -> Value:
    """What `@decorator` (or `@decorator(…)`) makes of a function: its wrapper closing over it, or the function itself.

    `given` are the arguments in `@decorator(…)`, by their names: the wrapper closes over them too.
    """
    found = _wrapper(decorator.function)
    if found is None:
        return value
    wrapper, captured = found
    return FunctionValue(wrapper, None, {**given, captured: value})


def compiles(decorator: Function) -> bool:
    """Whether a decorator of the program hands what it decorates to a compile function itself."""
    return any(
        isinstance(n, ast.Call)
        and (n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", "")) == "compile"
        for n in nodes(decorator.node)
    )


def handed_to_torch(frame: Frame, decorator: Function) -> tuple[str, ast.expr] | None:
    """The function that keeps Dynamo out of what it is given, to which a decorator of the program hands what it decorates.

    Or the wrapper around it. On one way at least: it is written for that, and another way is for releases, and tools, that
    know no Dynamo.
    """
    inside = list(ast.walk(decorator.node))
    given = {n.arg for n in inside if isinstance(n, ast.arg)}
    wrapper = _wrapper(decorator)
    if wrapper is not None:
        given.add(wrapper[0].name)
    for node in (taker for n in inside if (taker := _hands_to(n, given)) is not None):
        func = node.func if isinstance(node, ast.Call) else node
        if isinstance(func, ast.Attribute) and func.attr in _LAST_NAMES:
            named = evaluate(frame, func)
            if isinstance(named, External) and named.name in _TAKERS:
                return named.name, node
    return None


def is_another_language(frame: Frame, decorator: External, function: Function) -> bool:
    """Whether what a foreign decorator decorates is a program in that package's own language, which only looks like Python.

    Its parameters are of that package's types, what it does it does with that package, and it touches nothing of torch. The
    package reads the source, or runs it once on values of its own: Dynamo never sees the body with the tensors of the call.
    """
    package = decorator.name.partition(".")[0]
    node = function.node
    if function.cls is not None or isinstance(node, ast.Lambda) or package in _PYTHON:
        return False
    parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    if package not in _packages(frame, _names_in(*(p.annotation for p in parameters if p.annotation is not None))):
        return False
    used = _packages(frame, function.node_index(_named_by_calls))
    return package in used and "torch" not in used


def _named_by_calls(node: ast.AST) -> tuple[str, ...]:
    """The names in what a function calls, those of its decorators left out: asked wherever it is named."""
    body = node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    called = (n.func for statement in body for n in nodes(statement) if isinstance(n, ast.Call))
    return _names_in(*called)


def _names_in(*expressions: ast.expr) -> tuple[str, ...]:
    """The names in some expressions, each once."""
    found = (n.id for each in expressions for n in nodes(each) if isinstance(n, ast.Name))
    return tuple(dict.fromkeys(found))


def _packages(frame: Frame, names: Iterable[str]) -> set[str]:
    """The packages that names come from, those that are not the program's."""
    values = [frame.interp.names.value(frame.module, name) for name in names]
    return {value.name.partition(".")[0] for value in values if isinstance(value, External)}


def _hands_to(node: ast.AST, given: set[str]) -> ast.expr | None:
    """`g(f)`, `g("name", f)`, where `f` is a parameter, `g` in `return g`, and in `lambda: g`: what a decorator is decided by."""
    if isinstance(node, ast.Call) and any(isinstance(each, ast.Name) and each.id in given for each in node.args):
        return node
    if isinstance(node, ast.Lambda):
        return node.body
    return node.value if isinstance(node, ast.Return) else None


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
            inside = list(ast.walk(inner))
            called = [n.func.id for n in inside if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
            captured = [name for name in called if name in names - own]
            if not captured:
                continue
            # Of several the one that the wrapper is made around: `f = func`, `f = dec(func)` below `@decorator(dec)`.
            direct = [a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in own]
            read = {n.id for n in inside if isinstance(n, ast.Name)}
            nearest = [name for name in captured if name in direct] or [name for name in direct if name in read]
            return nested, (nearest or captured)[0]
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
