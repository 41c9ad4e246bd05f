"""The lines of a statement: Dynamo names one line of it, a finding another."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    """Qualified: `Model.forward`."""
    first: int
    """The line of the first decorator or of `def`."""
    line: int
    """The line of `def`."""
    last: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What a verdict needs to know of one source file."""

    heads: tuple[tuple[int, int], ...] = ()
    """Line ranges of simple statements and of the headers of compound ones."""
    functions: tuple[Function, ...] = ()
    classes: frozenset[str] = frozenset()
    conditional: tuple[tuple[int, int, int, int], ...] = ()
    """Expressions that may not run though their line does: behind `and`, in a branch, in a comprehension (lines and columns)."""

    def is_conditional(self, line: int, column: int) -> bool:
        """Whether what stands at a place (columns from 1) may be passed over by a run of its statement."""
        at = (line, column - 1)
        return any((first, left) <= at < (last, right) for first, left, last, right in self.conditional)

    def statement(self, line: int, end_line: int) -> range:
        """The span widened to the statements it touches."""
        for first, last in self.heads:
            if first <= line <= last:
                line = min(line, first)
                end_line = max(end_line, last)
        return range(line, end_line + 1)

    def function_at(self, line: int) -> Function | None:
        """The innermost function that holds a line."""
        around = [item for item in self.functions if item.first <= line <= item.last]
        return max(around, key=lambda item: item.first, default=None)


def _conditional(node: ast.AST) -> list[ast.expr]:
    """The parts of an expression that are not evaluated whenever it is."""
    match node:
        case ast.BoolOp(values=[_, *rest]) | ast.Compare(comparators=[_, *rest]):
            return rest
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Lambda(body=body):
            return [body]
        case ast.ListComp(elt=made) | ast.SetComp(elt=made) | ast.GeneratorExp(elt=made):
            return [made, *(test for loop in node.generators for test in loop.ifs)]
        case ast.DictComp(key=key, value=value):
            return [key, value, *(test for loop in node.generators for test in loop.ifs)]
        case ast.Assert(msg=message) if message is not None:
            return [message]
    return []


def outline_of(text: str) -> Outline:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return Outline()
    heads: list[tuple[int, int]] = []
    functions: list[Function] = []
    classes: set[str] = set()
    conditional: list[tuple[int, int, int, int]] = []
    lines = text.splitlines() if not text.isascii() else []

    def at(line: int, offset: int) -> int:
        """A column in characters: the parser counts bytes."""
        return len(lines[line - 1].encode()[:offset].decode()) if lines else offset

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            below = prefix
            for part in _conditional(child):
                last = part.end_lineno or part.lineno
                start, end = at(part.lineno, part.col_offset), at(last, part.end_col_offset or part.col_offset)
                conditional.append((part.lineno, start, last, end))
            if isinstance(child, ast.stmt):
                body = getattr(child, "body", None)
                last = body[0].lineno - 1 if isinstance(body, list) and body else child.end_lineno or child.lineno
                if isinstance(body, list) and body and body[0].lineno == child.lineno:
                    last = child.lineno
                if isinstance(child, ast.Match):
                    # Its cases hold the statements: a run of `match` runs one of them.
                    last = child.subject.end_lineno or child.lineno
                heads.append((child.lineno, max(child.lineno, last)))
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(item.lineno for item in child.decorator_list)])
                functions.append(Function(prefix + child.name, first, child.lineno, child.end_lineno or child.lineno))
                below = f"{prefix}{child.name}.<locals>."
            elif isinstance(child, ast.ClassDef):
                classes.add(prefix + child.name)
                below = f"{prefix}{child.name}."
            visit(child, below)

    visit(tree, "")
    return Outline(tuple(heads), tuple(functions), frozenset(classes), tuple(conditional))


@lru_cache(maxsize=512)
def _outline(path: str, stamp: int) -> Outline:
    try:
        return outline_of(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return Outline()


def outline(path: str) -> Outline:
    """The outline of a file; an empty one where it cannot be read or parsed."""
    try:
        stamp = Path(path).stat().st_mtime_ns
    except OSError:
        return Outline()
    return _outline(path, stamp)
