"""Imports of a file: under which names, and where a new one goes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence

from tclint.program import Import, Module


def module_aliases(module: Module) -> dict[str, list[str]]:
    """By dotted name of a module that a file imports, what it is called there."""
    found: dict[str, list[str]] = {}
    for name, definition in module.names.items():
        if isinstance(definition, Import) and not definition.attribute:
            found.setdefault(definition.target, []).append(name)
    return found


def import_statement(body: Sequence[ast.stmt], module: str) -> tuple[int, str]:
    """The line before which a file imports a module best, and what to write there."""
    imports = [s for s in _leading(body) if isinstance(s, (ast.Import, ast.ImportFrom))]
    future = [s for s in imports if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    others = [s for s in imports if s not in future]
    if not others:
        after: list[ast.stmt] = [*future] or [s for s in body[:1] if _is_docstring(s)]
        line = (after[-1].end_lineno or 0) + 1 if after else (first_line(body[0]) if body else 1)
        gap = "\n" if after else ""
        return line, f"{gap}import {module}" + ("" if after else "\n")
    if module not in sys.stdlib_module_names:
        standard = [s for s in others if _top(s) in sys.stdlib_module_names]
        first = next((s for s in others if s not in standard), None)
        if first is not None:
            return first.lineno, f"import {module}"
        return (others[-1].end_lineno or 0) + 1, f"\nimport {module}"
    plain = [s for s in others if isinstance(s, ast.Import) and _top(s) in sys.stdlib_module_names]
    before = [s for s in plain if _top(s) < module]
    if before:
        return (before[-1].end_lineno or 0) + 1, f"import {module}"
    gap = "" if _top(others[0]) in sys.stdlib_module_names else "\n"
    return others[0].lineno, f"import {module}{gap}"


def after_imports(body: Sequence[ast.stmt]) -> int | None:
    """Which statement is the last of the imports at the top of a file; None where there are none."""
    found = [number for number, s in enumerate(_leading(body)) if isinstance(s, (ast.Import, ast.ImportFrom))]
    return found[-1] if found else None


def _leading(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements at the top of a file up to the first that is neither docstring nor import."""
    for statement in body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)) and not _is_docstring(statement):
            return
        yield statement


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _top(statement: ast.stmt) -> str:
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").partition(".")[0] if not statement.level else ""
    return statement.names[0].name.partition(".")[0] if isinstance(statement, ast.Import) else ""


def first_line(node: ast.stmt) -> int:
    """The line of a statement, or of its first decorator."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(each.lineno for each in decorators)])
