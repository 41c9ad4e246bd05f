"""Conditions on tensors: what a test asks, written as one boolean tensor."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from tclint.fixes.places import Place
from tclint.fixes.purity import has_effects
from tclint.fixes.uses import uses_in
from tclint.rules._messages import balanced
from tclint.sources.tree import ancestors, position, within

DRAWN: Final = "drawn"
"""Of a number that Python draws: Dynamo has it as a tensor in the graph, Python as a bool."""

# The tensors a file asks for their truth, by position, with what is known of their dtype.
Tests = Mapping[tuple[int, int, int, int], str]


def condition(place: Place, test: ast.expr, tests: Tests) -> str | None:
    """A test as one boolean tensor; None where Python values are part of it, or comments."""
    text = _condition(place, test, tests)
    return None if text is None or "#" in text else text


def _condition(place: Place, test: ast.expr, tests: Tests) -> str | None:
    known = tests.get(position(test))
    if known == DRAWN:
        torch = place.importing("torch")
        if torch is None or torch[1] or has_effects(test):
            return None
        return f"{torch[0]}.as_tensor({on_one_line(place.source(test))})"
    if known is not None:
        if isinstance(test, ast.Compare):
            return _comparison(place, test)
        if has_effects(test):
            return None
        return on_one_line(place.source(test) if known == "b" or _is_boolean(test) else f"{place.operand(test)} != 0")
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = condition(place, test.operand, tests)
        return f"~{bracketed(inner)}" if inner is not None else None
    if isinstance(test, ast.BoolOp):
        parts = [condition(place, value, tests) for value in test.values]
        if any(part is None for part in parts):
            return None
        sign = " & " if isinstance(test.op, ast.And) else " | "
        return sign.join(bracketed(part) for part in parts if part is not None)
    return None


def _comparison(place: Place, test: ast.Compare) -> str | None:
    plain = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
    if not all(isinstance(op, plain) for op in test.ops) or has_effects(test):
        return None
    if len(test.ops) == 1:
        return on_one_line(place.source(test))
    signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
    sides = [test.left, *test.comparators]
    parts = [
        f"({place.operand(a)} {signs[type(op)]} {place.operand(b)})"
        for a, op, b in zip(sides, test.ops, sides[1:], strict=False)
    ]
    return " & ".join(parts)


def split(place: Place, test: ast.expr, tests: Tests) -> tuple[str, str] | None:
    """`flag and t` as what Python knows and what only the tensor knows."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return None
    conditions = [condition(place, value, tests) for value in test.values]
    python = [place.source(v) for v, c in zip(test.values, conditions, strict=True) if c is None]
    tensors = [c for c in conditions if c is not None]
    plain = [v for v, c in zip(test.values, conditions, strict=True) if c is None]
    if not python or not tensors or any(within_any(v, tests) or has_effects(v) for v in plain):
        return None
    tensor = tensors[0] if len(tensors) == 1 else " & ".join(bracketed(t) for t in tensors)
    return " and ".join(python), tensor


def within_any(node: ast.AST, tests: Tests) -> bool:
    return any(position(n) in tests for n in ast.walk(node))


def _is_boolean(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("any", "all")


def bracketed(text: str) -> str:
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return f"({text})"
    atom = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    )
    return text if atom else f"({text})"


def negated(place: Place, test: ast.expr, text: str) -> str:
    """The contrary of a test that is written as one boolean tensor."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        sign = "!=" if isinstance(test.ops[0], ast.Eq) else "=="
        return on_one_line(f"{place.operand(test.left)} {sign} {place.operand(test.comparators[0])}")
    if text.startswith("~") and bracketed(text[1:]) == text[1:]:
        inner = text[1:]
        return inner[1:-1] if inner.startswith("(") and balanced(inner[1:-1]) else inner
    return f"~{bracketed(text)}"


def on_one_line(text: str) -> str:
    """An expression of several lines on one."""
    if '"""' in text or "'''" in text:
        return "#"  # a string of several lines: what holds this mark is not rebuilt
    return text if "\n" not in text else " ".join(line.strip() for line in text.split("\n"))


def truth_only(place: Place) -> bool:
    """Whether only tests and arithmetic use the value of the node, directly, under one local name or as what is returned."""
    parent = place.parent
    if parent is not None and _asks(parent, place.node):
        return True
    function = place.function
    if isinstance(parent, ast.Return):
        return _asked_by_caller(place)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        if function is None or len(uses_in(function).stores(name)) != 1:
            return False

        reads = list(uses_in(function).reads(name))
        return bool(reads) and all(above and _asks(above[-1], read) for read, above in reads)
    return False


def _asked_by_caller(place: Place) -> bool:
    """Whether the one value that a function returns is asked for its truth by the caller of this run."""
    function = place.function
    if function is None or sum(isinstance(n, ast.Return) for n in ast.walk(function)) != 1:
        return False
    for frame, call in place.event.ask.calls_here():
        chain = ancestors(frame.module.tree, call) if call is not None else []
        return call is not None and bool(chain) and _asks(chain[-1], call)
    return False


def _asks(parent: ast.AST, node: ast.AST) -> bool:
    if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return within(node, parent.test)
    return isinstance(parent, (ast.BoolOp, ast.BinOp)) or (
        isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    )


def handed(body: Sequence[ast.stmt]) -> ast.Call | None:
    """The call with one argument that a block is: `out.append(x)`."""
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    plain = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords
    return call if plain and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
