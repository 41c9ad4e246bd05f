"""What a function does in its first call and skips in every later one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.sources.tree import Position, nodes, position


def only_once(root: ast.AST) -> frozenset[Position]:
    """The stores and calls that a later call skips: under an `if` that what it does itself closes, or after a `return` that it
    opens (`if not self.ready: …; self.ready = True`, `if key in self.seen: return`)."""
    found: set[Position] = set()
    for node in nodes(root):
        for field in ("body", "orelse"):
            found_there = getattr(node, field, None)
            block: list[ast.stmt] = found_there if isinstance(found_there, list) else []
            for index, statement in enumerate(block):
                if not isinstance(statement, ast.If):
                    continue
                guarded = [(statement.body, True), (statement.orelse, False)]
                if isinstance(statement.body[-1], ast.Return):
                    guarded.append((block[index + 1 :], False))
                for body, taken in guarded:
                    if any(_closes(test, truth, body) for test, truth in _asked(statement.test, taken)):
                        inner = (part for each in body for part in nodes(each))
                        found.update(position(part) for part in inner if isinstance(part, _CHANGES))
    return frozenset(found)


_CHANGES = (ast.Call, ast.Assign, ast.AnnAssign, ast.AugAssign)


def _asked(test: ast.expr, truth: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What must all hold, or not hold, for a test to come out so."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked(test.operand, not truth)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is truth:
        for part in test.values:
            yield from _asked(part, truth)
    else:
        yield test, truth


def _closes(test: ast.expr, truth: bool, body: list[ast.stmt]) -> bool:
    """Whether a test that came out so comes out otherwise once these statements have run."""
    if isinstance(test, ast.Attribute):
        return any(isinstance(v, ast.Constant) and bool(v.value) is not truth for v in _bound(test.attr, body))
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(operator, (ast.In, ast.NotIn)):
        return isinstance(operator, ast.NotIn) is truth and isinstance(right, ast.Attribute)  # a cache
    if not isinstance(left, ast.Attribute) or not isinstance(right, ast.Constant):
        return False
    if isinstance(operator, (ast.Is, ast.Eq)) is not truth:
        return False
    if isinstance(operator, (ast.Is, ast.IsNot)) and right.value is not None:
        return False
    bound = _bound(left.attr, body)
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        return any(v is None or isinstance(v, ast.Constant) and v.value != right.value for v in bound)
    if isinstance(operator, (ast.Is, ast.IsNot)):
        return any(v is None or not (isinstance(v, ast.Constant) and v.value is None) for v in bound)
    return False


def _bound(attribute: str, body: list[ast.stmt]) -> list[ast.expr | None]:
    """What these statements bind an attribute to in any case; None where they add to it."""
    found: list[ast.expr | None] = []
    for statement in body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Attribute):
            if statement.target.attr == attribute and isinstance(statement.value, ast.Constant):
                found.append(None)
        elif isinstance(statement, ast.Assign):
            if any(isinstance(t, ast.Attribute) and t.attr == attribute for t in statement.targets):
                found.append(statement.value)
    return found
