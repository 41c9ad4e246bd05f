"""The statement at a place of a file, and the least of the program that it needs: read from the source, nothing is run."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from tclint.verify import usage


@dataclass(frozen=True, slots=True)
class Placed:
    """What a finding marks, with the functions around it."""

    path: str
    scopes: tuple[usage.Scope, ...]
    statement: ast.stmt
    marked: ast.expr | None
    """The expression that begins where the mark does: the largest one on these lines."""


def placed_at(path: str, line: int, end_line: int, column: int) -> Placed | None:
    """The innermost statement that begins and ends around these lines. Columns count from 1, in characters."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    scopes: list[usage.Scope] = [tree]
    statement: ast.stmt | None = None
    waiting: list[ast.AST] = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)) and _holds(child, line, end_line):
                statement = child if isinstance(child, ast.stmt) else statement
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    scopes.append(child)
                waiting = [child]
                break
    if statement is None or isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return None
    lines = text.splitlines()
    at = len(lines[line - 1][: column - 1].encode()) if 0 < line <= len(lines) else 0
    marked = [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.expr) and (node.lineno, node.col_offset) == (line, at) and _holds_end(node, end_line)
    ]
    return Placed(path, tuple(scopes), statement, marked[0] if marked else None)


def needed_by(placed: Placed, wanted: ast.AST) -> usage.Slice:
    """What binds the names that a piece of a statement reads. What only sets something up on an object is left out where it
    asks for more of the program than is there already."""
    return usage.slice_at(placed.scopes, [wanted], placed.statement.lineno, placed.statement.lineno, narrow=True)


def _holds(node: ast.stmt | ast.excepthandler | ast.match_case, line: int, end_line: int) -> bool:
    if isinstance(node, ast.match_case):
        return node.body[0].lineno <= line and end_line <= (node.body[-1].end_lineno or 0)
    return node.lineno <= line and end_line <= (node.end_lineno or node.lineno)


def _holds_end(node: ast.expr, end_line: int) -> bool:
    return (node.end_lineno or node.lineno) <= end_line
