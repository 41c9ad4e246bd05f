"""The constant part of an exception's or an assertion's text."""

from __future__ import annotations

import ast
from typing import Final

_OPEN: Final = " :,;=([{'\"`"
"""What does not end a sentence."""


def balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return False
    return depth == 0


def message_of(exception: ast.expr | None) -> str:
    """The constant part of an exception's text."""
    if not isinstance(exception, ast.Call) or not exception.args:
        return ""
    return constant_text(exception.args[0])


def constant_text(node: ast.expr) -> str:
    """What is always the same in a string expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = [str(v.value) if isinstance(v, ast.Constant) else "…" for v in node.values]
        text = "".join(parts)
        head, words = _head(text, "…"), " ".join(text.replace("…", " ").split())
        if not head:
            return words
        # `f"expected {n} rows"`, `f"must be in [0, {n})"`: where most of it stands behind the first value, or a bracket that
        # opens before it would end the sentence too early, the place of each value is kept.
        ends = 2 * len(head) >= len(words) and head == text.partition("…")[0].rstrip(_OPEN)
        return head if ends else " ".join(text.replace("…", "...").split())
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.Add)):
        return _head(constant_text(node.left), "%")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _head(constant_text(node.func.value), "{")
    if isinstance(node, ast.Tuple) and node.elts:
        return constant_text(node.elts[0])
    return ""


def has_values(exception: ast.expr | None) -> bool:
    """Whether an exception's text has values in it that are not known beforehand."""
    text = exception.args[0] if isinstance(exception, ast.Call) and exception.args else None
    return text is not None and not isinstance(text, ast.Constant)


def _head(text: str, mark: str) -> str:
    """What stands before the first value, without brackets and quotes that would close after it."""
    head = text.partition(mark)[0].rstrip(_OPEN)
    while not balanced(head):
        cut = max(head.rfind(bracket) for bracket in "([{")
        if cut < 0:
            break
        head = head[:cut].rstrip(_OPEN)
    return head
