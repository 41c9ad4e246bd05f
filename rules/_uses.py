"""What is done to an object that is read by its name: looped over, counted, compared, handed to a builtin."""

from __future__ import annotations

import ast
from typing import Final

from tclint.events import Store, Use
from tclint.program import Function
from tclint.rules._scope import scope, stores
from tclint.sources.tree import Position, ancestors, holders, position
from tclint.torch_facts import facts
from tclint.values import External, tensor_of

_WALKS: Final = frozenset(facts.named("walks any iterable"))
_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_NOTHING: Final = ""
READ: Final = "read"
"""What is done to every object that is used at all."""


def of_use(event: Use) -> tuple[str, ast.AST]:
    """The operation, as the facts call it, and the node that does it; no name where none of them is done."""
    around = ancestors(scope(event), event.node)
    if not around:
        return _NOTHING, event.node
    parent, outer = around[-1], around[-2] if len(around) > 1 else around[-1]
    if isinstance(parent, ast.Starred):
        return "star" if isinstance(outer, ast.Call) else "walk", outer
    if isinstance(parent, ast.Tuple) and isinstance(outer, ast.BinOp) and _is_text(outer.left):
        return "%", outer
    if isinstance(parent, (ast.Tuple, ast.List)) and isinstance(outer, ast.Return):
        return "return" if event.at_entry else _NOTHING, event.node
    return _of_parent(event, event.node, parent), parent if isinstance(parent, ast.expr) else event.node


def is_held(event: Use) -> bool:
    """Whether the object was there before the region; a name that is changed in place alone still names what came in."""
    if isinstance(event.node, ast.Name) and isinstance(event.node.ctx, ast.Store):
        return event.node.id not in event.ask.of_function(_bound_anew)
    return event.ask.is_held(event.node) is True


def is_left_by(event: Use, run: object, broken: ast.AST) -> bool:
    """Whether a name holds what a call gave at which the graph broke, in the same run: the rest of the function is handed it."""
    name = event.node.id if isinstance(event.node, ast.Name) else ""
    return run is event.ask.this_run() and event.ask.of_function(_bound_once).get(name) == position(broken)


def _bound_once(function: Function) -> dict[str, Position]:
    """The names that one assignment alone binds, and where what they are bound to stands."""
    found: dict[str, list[Position]] = {}
    for each in holders(function.node):
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
            found.setdefault(each.targets[0].id, []).append(position(each.value))
    times = function.index(stores)
    return {name: places[0] for name, places in found.items() if len(places) == 1 == times[name]}


def _bound_anew(function: Function) -> frozenset[str]:
    """The names that a function gives another object, not by changing the one they have."""
    changed = {id(each.target) for each in ast.walk(function.node) if isinstance(each, ast.AugAssign)}
    names = (each for each in ast.walk(function.node) if isinstance(each, ast.Name))
    return frozenset(each.id for each in names if isinstance(each.ctx, ast.Store) and id(each) not in changed)


def _of_parent(event: Use, node: ast.AST, parent: ast.AST) -> str:
    """What the expression or statement around a name does to it."""
    if isinstance(parent, ast.Call):
        return _of_call(event, node, parent)
    if isinstance(parent, ast.Compare):
        return _of_comparison(node, parent)
    if isinstance(parent, ast.BinOp):
        return _of_operator(event, node, parent)
    if isinstance(parent, ast.Subscript):
        return _of_item(node, parent)
    if isinstance(parent, ast.UnaryOp):
        return "truth" if isinstance(parent.op, ast.Not) else type(parent.op).__name__
    if isinstance(parent, ast.FormattedValue):
        return "repr()" if parent.conversion == ord("r") else "f-string"
    if isinstance(parent, ast.Dict):
        spread = any(key is None and value is node for key, value in zip(parent.keys, parent.values, strict=True))
        return "spread" if spread else "key" if node in parent.keys else _NOTHING
    if isinstance(parent, ast.keyword):
        return _NOTHING if parent.arg else "spread"
    return _of_statement(event, node, parent)


def _of_statement(event: Use, node: ast.AST, parent: ast.AST) -> str:
    if isinstance(parent, ast.BoolOp) or getattr(parent, "test", None) is node:
        return "assert" if isinstance(parent, ast.Assert) else "truth"
    if getattr(parent, "iter", None) is node:
        return "loop"
    if isinstance(parent, _COMPREHENSIONS) and any(each.iter is node for each in parent.generators):
        return "loop"
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Tuple, ast.List)):
        return "unpack"
    if isinstance(parent, ast.AugAssign):
        return "in place"
    if isinstance(parent, ast.Return):
        return "return" if event.at_entry else _NOTHING
    return "match" if isinstance(parent, ast.Match) else "key" if isinstance(parent, ast.Set) else _NOTHING


def _of_call(event: Use, node: ast.AST, call: ast.Call) -> str:
    """A call of the object, or of a builtin, a function or a method that is given it."""
    if call.func is node:
        return "call"
    if any(each.arg is None and each.value is node for each in call.keywords):
        return "spread"
    function = event.ask.evaluate(call.func)
    if isinstance(function, External):
        name = function.name.removeprefix("builtins.")
        if name in ("max", "min"):
            return "extreme" if len(call.args) == 1 else _NOTHING
        if function.name in _WALKS:
            return "walk"
        return f"{name}()" if call.args[:1] == [node] else _NOTHING
    return f"{call.func.attr}()" if isinstance(call.func, ast.Attribute) and call.args[:1] == [node] else _NOTHING


def _of_comparison(node: ast.AST, compare: ast.Compare) -> str:
    sides = [compare.left, *compare.comparators]
    for place, operator in enumerate(compare.ops):
        if isinstance(operator, (ast.In, ast.NotIn)):
            if sides[place + 1] is node:
                return "In"
        elif node in sides[place : place + 2] and not isinstance(operator, (ast.Is, ast.IsNot)):
            return "Lt" if isinstance(operator, _ORDERS) else "Eq"
    return _NOTHING


def _of_operator(event: Use, node: ast.AST, operation: ast.BinOp) -> str:
    if isinstance(operation.op, ast.Mod) and _is_text(operation.left):
        return "%"
    other = operation.right if operation.left is node else operation.left
    met = tensor_of(event.ask.evaluate(other))
    return "operand of a tensor" if met is not None else type(operation.op).__name__


def _of_item(node: ast.AST, item: ast.Subscript) -> str:
    if item.value is not node:
        return _NOTHING
    if isinstance(item.ctx, ast.Load):
        return "slice" if isinstance(item.slice, ast.Slice) else "item"
    return "write of an item" if isinstance(item.ctx, ast.Store) else _NOTHING


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def writes_held(event: Store) -> bool:
    """Whether an item is written of what was there before the region."""
    targets = event.node.targets if isinstance(event.node, ast.Assign) else [getattr(event.node, "target", event.node)]
    return any(isinstance(each, ast.Subscript) and event.ask.is_held(each.value) is True for each in targets)
