"""What a file sets in Dynamo's configuration: assignments, `config.patch`, environment variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.sources.tree import nodes, text

_VARIABLE: Final = "TORCHDYNAMO_"
_FLAGS: Final = {"True": "", "1": "", "False": "not ", "0": "not "}
"""What is written for a switch, and how it is told."""


def switched(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The settings that a file switches on, and as `not name` off: for good, and only while a block or a function runs."""
    aliases = names(tree)
    passing = {id(expression) for node in nodes(tree) for expression in _entered(node)}
    lasting: set[str] = set()
    limited: set[str] = set()
    for node in nodes(tree):
        for name, value, where in settings(node, aliases):
            if isinstance(value, ast.Constant) and str(value.value) in _FLAGS:
                (limited if id(where) in passing else lasting).add(f"{_FLAGS[str(value.value)]}{name}")
        lasting.update(_excused(node, aliases))
    return frozenset(lasting), frozenset(limited - lasting)


def _excused(node: ast.AST, aliases: set[str]) -> Iterator[str]:
    """`config.reorderable_logging_functions.add(print)`: a function at which Dynamo does not break, as `setting: function`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Attribute):
        held = node.func.value
        if node.func.attr == "add" and isinstance(held, ast.Attribute) and text(held.value) in aliases:
            yield f"{held.attr}: {text(node.args[0])}"


def _entered(node: ast.AST) -> Iterator[ast.expr]:
    """What a `with`, a decorator or a helper that returns it puts in force for as long as something runs."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            yield item.context_expr
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from node.decorator_list
    elif isinstance(node, ast.Return) and node.value is not None:
        yield node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "enter_context":
        yield from node.args


def names(tree: ast.Module) -> set[str]:
    """The names under which a file reaches torch._dynamo.config."""
    found = {"torch._dynamo.config", "_dynamo.config", "dynamo.config"}
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            found |= {a.asname for a in node.names if a.name == "torch._dynamo.config" and a.asname}
            found |= {f"{a.asname}.config" for a in node.names if a.name == "torch._dynamo" and a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module == "torch._dynamo":
            found |= {a.asname or a.name for a in node.names if a.name == "config"}
    return found


def settings(node: ast.AST, aliases: set[str]) -> Iterator[tuple[str, ast.expr, ast.AST]]:
    """What a node sets: the names, the values, and where."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and text(target.value) in aliases:
                yield target.attr, node.value, node
            elif isinstance(target, ast.Subscript) and text(target.value) in ("os.environ", "environ"):
                yield from _variable(target.slice, node.value, node)
    elif isinstance(node, ast.Call):
        called = text(node.func)
        if called in {f"{alias}.patch" for alias in aliases}:
            for keyword in node.keywords:
                if keyword.arg is not None:
                    yield keyword.arg, keyword.value, node
            if len(node.args) == 2 and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value), node.args[1], node
            elif node.args and isinstance(node.args[0], ast.Dict):
                for key, value in zip(node.args[0].keys, node.args[0].values, strict=True):
                    if isinstance(key, ast.Constant):
                        yield str(key.value), value, node
        elif called in ("os.environ.setdefault", "os.putenv") and len(node.args) == 2:
            yield from _variable(node.args[0], node.args[1], node)


def _variable(key: ast.expr, value: ast.expr, node: ast.AST) -> Iterator[tuple[str, ast.expr, ast.AST]]:
    if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.startswith(_VARIABLE):
        yield key.value.removeprefix(_VARIABLE).lower(), value, node
