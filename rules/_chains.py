"""Statements of libcst that take the place of an `if`, with its comments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst


def with_else(outer: cst.If, depth: int, otherwise: cst.Else | None) -> cst.If:
    """An `if` chain whose `elif` number `depth` is replaced."""
    import libcst as cst

    if depth == 1:
        return outer.with_changes(orelse=otherwise)
    assert isinstance(outer.orelse, cst.If)
    return outer.with_changes(orelse=with_else(outer.orelse, depth - 1, otherwise))


def commented(old: cst.If, lines: Sequence[str], end: cst.SimpleStatementLine | None = None) -> list[cst.BaseStatement]:
    """New statements with the comments of the old ones: at the end of the line where there is one, above otherwise."""
    import libcst as cst

    comments = [*_comments(old), *(_comments(end) if end is not None else ())]
    statements: list[cst.BaseStatement] = [cst.parse_statement(line) for line in lines]
    first = statements[0]
    assert isinstance(first, (cst.SimpleStatementLine, cst.If, cst.With))
    if len(comments) == 1 and isinstance(first, cst.SimpleStatementLine):
        after = cst.TrailingWhitespace(whitespace=cst.SimpleWhitespace("  "), comment=comments[0])
        statements[0] = first.with_changes(trailing_whitespace=after)
    elif comments:
        statements[0] = first.with_changes(leading_lines=[cst.EmptyLine(comment=c) for c in comments])
    return statements


def _comments(node: cst.CSTNode) -> list[cst.Comment]:
    import libcst as cst

    found: list[cst.Comment] = []

    class Collect(cst.CSTVisitor):
        def visit_Comment(self, node: cst.Comment) -> None:
            found.append(node)

    node.visit(Collect())
    return found
