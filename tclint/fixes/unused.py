"""Imports that nobody needs any more, now that a fix has taken away what they were for."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable

from tclint.fixes.apply import apply_edits
from tclint.model.finding import Edit, Span
from tclint.sources.text import encoding_of

Taken = Callable[[str], bool]
"""Whether another file takes a name from this one."""


def without_unused(path: str, before: bytes, after: bytes, *, others: bool, taken: Taken) -> bytes:
    """A file without the imports that were used before and are not now.

    `others`: also those of packages that are not Python's own. To import such a one may do something by itself.
    """
    if path.rpartition("/")[2] == "__init__.py":
        return after  # what it imports is for others
    text = after.decode(encoding_of(after))
    lines = text.splitlines()
    edits = []
    then, now = _names(before), _names(after)
    for statement in _imports(after):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        whole = lines[first - 1 : last]
        # A comment may be the reason for the import, and `;` puts two statements on a line.
        if any("#" in line or ";" in line for line in whole) or not _removable(statement, others):
            continue
        gone = [
            alias
            for alias in statement.names
            if _bound(alias) not in now and _bound(alias) in then and not taken(_bound(alias))
        ]
        if gone:
            kept = [alias for alias in statement.names if alias not in gone]
            alone = not kept and _blank(lines, first - 1) and _blank(lines, last + 1)
            end = last + 2 if alone and last < len(lines) else last + 1  # one empty line is enough
            edits.append(Edit(path, Span(first, 1, end, 1), _written(statement, kept, whole)))
    return apply_edits(after, edits) if edits else after


def _blank(lines: list[str], number: int) -> bool:
    return not 1 <= number <= len(lines) or not lines[number - 1].strip()


def imports_from(text: str, module: str, name: str) -> bool:
    """Whether a text may take a name from the module with this last part of its name."""
    if module not in text or name not in text:
        return False
    taken = rf"\b{re.escape(module)}\s+import\b[^\n(]*(?:\([^)]*)?\b{re.escape(name)}\b|\b{re.escape(module)}\.{re.escape(name)}\b"
    return re.search(taken, text) is not None


def _imports(data: bytes) -> list[ast.Import | ast.ImportFrom]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    return [s for s in tree.body if isinstance(s, (ast.Import, ast.ImportFrom))]


def _removable(statement: ast.Import | ast.ImportFrom, others: bool) -> bool:
    if isinstance(statement, ast.ImportFrom):
        if statement.module == "__future__" or any(alias.name == "*" for alias in statement.names):
            return False
        tops = {(statement.module or "").partition(".")[0]} if not statement.level else {""}
    else:
        tops = {alias.name.partition(".")[0] for alias in statement.names}
    return others or tops <= set(sys.stdlib_module_names)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _names(data: bytes | str) -> set[str]:
    """The names that a file speaks of; strings may be code too: an annotation, an entry of `__all__`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError):
            return set()  # prose
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != data:
            found |= _names(node.value.strip())
    return found


def _written(statement: ast.Import | ast.ImportFrom, kept: list[ast.alias], lines: list[str]) -> str:
    if not kept:
        return ""
    names = [f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in kept]
    if isinstance(statement, ast.Import):
        return f"import {', '.join(names)}\n"
    start = f"from {'.' * statement.level}{statement.module or ''} import "
    if len(lines) == 1:
        return f"{start}{', '.join(names)}\n"
    return f"{start}(\n" + "".join(f"    {name},\n" for name in names) + ")\n"
