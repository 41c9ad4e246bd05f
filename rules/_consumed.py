"""Gradients that torch traces where it is told to (`trace_autograd_ops`), and what of them it still does not: a graph that is
used up and handed out, one that somebody else has made, a gradient for what is no leaf."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from tclint.events import Call
from tclint.sources.tree import nodes
from tclint.torch_facts import facts

_KEPT: Final = ("retain_graph", "create_graph")
_CUT: Final = frozenset(("detach", "grad")) | facts.methods("is known without the values")
"""What of a tensor does not hand out how it was computed."""


def untraced(event: Call) -> str | None:
    """What of a gradient is not traced, in words."""
    node, function = event.node, event.enclosing
    if not isinstance(node, ast.Call) or function is None or isinstance(function.node, ast.Lambda):
        return None
    output = _output(event, node)
    inputs = _inputs(event, node)
    if inputs is not None and not inputs:
        return "`backward` is given no inputs"
    computed = _computed(function.node, before=node)
    given = [each.id for each in inputs or () if isinstance(each, ast.Name)]
    if event.method == "backward" and any(name in computed for name in given):
        return "`backward` is asked for the gradient of what is no leaf"
    if output is None:
        return None
    made_of = _closure(computed, _read(output))
    if inputs and len(given) == len(inputs) and not set(given) & made_of:
        return "a gradient is asked of what was computed outside"
    if not any(_is_true(keyword) for keyword in node.keywords if keyword.arg in _KEPT):
        if _handed_out(function.node, node, made_of & computed.keys()):
            return "a gradient uses up how something was computed that is handed out"
    return None


def _output(event: Call, node: ast.Call) -> ast.expr | None:
    """What is differentiated: one tensor under a name, or an expression."""
    if event.method == "backward":
        return node.func.value if isinstance(node.func, ast.Attribute) else None
    named = next((keyword.value for keyword in node.keywords if keyword.arg == "outputs"), None)
    return node.args[0] if node.args else named


def _inputs(event: Call, node: ast.Call) -> list[ast.expr] | None:
    named = next((keyword.value for keyword in node.keywords if keyword.arg == "inputs"), None)
    if named is None and event.method == "grad" and len(node.args) > 1:
        named = node.args[1]
    if isinstance(named, (ast.List, ast.Tuple)):
        return list(named.elts)
    return [named] if isinstance(named, ast.Name) else None


def _is_true(keyword: ast.keyword) -> bool:
    return not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)


def _computed(function: ast.AST, before: ast.AST | None = None) -> dict[str, set[str]]:
    """The names that a function assigns, and the names that their values are computed from."""
    found: dict[str, set[str]] = {}
    for each in nodes(function):
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Attribute):
            continue  # `w = self.weight` computes nothing
        if isinstance(each, ast.Assign) and (before is None or each.lineno < getattr(before, "lineno", 0)):
            for target in each.targets:
                for part in nodes(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        found.setdefault(part.id, set()).update(_read(each.value))
    return found


def _read(value: ast.AST) -> set[str]:
    """The names whose computation an expression carries on."""
    return set(_carried(value))


def _carried(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and node.attr in _CUT:
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "grad":
        return  # a gradient carries nothing on
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _carried(child)


def _closure(computed: Mapping[str, set[str]], names: set[str]) -> set[str]:
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += computed.get(name, ())
    return found


def _handed_out(function: ast.AST, call: ast.Call, used_up: set[str]) -> bool:
    """Whether something is returned that carries on what was used up; the gradients themselves do not."""
    later: set[str] = set()
    for each in nodes(function):
        if isinstance(each, ast.Assign) and any(part is call for part in nodes(each.value)):
            later |= {part.id for target in each.targets for part in nodes(target) if isinstance(part, ast.Name)}
    carried = {name: read for name, read in _computed(function).items() if name not in later}
    for each in nodes(function):
        if isinstance(each, ast.Return) and each.value is not None and not any(p is call for p in nodes(each.value)):
            if _closure(carried, _read(each.value)) & used_up:
                return True
    return False
