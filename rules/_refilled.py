"""Queues that are filled only when they are empty: `if not self.queue: self.queue.extend(outputs)`, `return self.queue.popleft()`.

What such a queue holds has all been taken before the graph runs again.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.events import Call
from tclint.sources.tree import by_kind
from tclint.torch_facts import facts

_TAKES: Final = facts.named("takes out of a container")


def is_refilled(event: Call) -> bool:
    """Whether a call puts something into a queue that is empty there, and out of which the same function takes."""
    node = event.node
    if event.enclosing is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    held = ast.unparse(node.func.value)
    return any(first <= node.lineno <= last for first, last in event.ask.of_scope(_where_empty).get(held, ()))


def _where_empty(root: ast.AST) -> dict[str, list[tuple[int, int]]]:
    """The lines of a function where a container is empty, by its text: of those out of which the function takes what it returns."""
    kinds = by_kind(root)
    taken = {
        ast.unparse(call.func.value)
        for call in kinds[ast.Call]
        if isinstance(call.func, ast.Attribute) and call.func.attr in _TAKES
    }
    found: dict[str, list[tuple[int, int]]] = {}
    for node in kinds[ast.If]:
        held = _asked_for_empty(node.test)
        if held in taken:
            found.setdefault(held, []).append((node.body[0].lineno, node.body[-1].end_lineno or 0))
    return found


def _asked_for_empty(test: ast.expr) -> str:
    """The container that `not queue` and `len(queue) == 0` ask."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.unparse(_counted(test.operand) or test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.LtE)):
        counted, other = _counted(test.left), test.comparators[0]
        if counted is not None and isinstance(other, ast.Constant) and other.value == 0:
            return ast.unparse(counted)
    return ""


def _counted(node: ast.expr) -> ast.expr | None:
    """`queue` in `len(queue)`."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
    return node.args[0] if named and len(node.args) == 1 else None  # type: ignore[attr-defined]
