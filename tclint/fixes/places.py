"""Where an event stands in its file, and the edits that change what stands there.

Everything here works on slices. An expression is replaced through its own span; a statement that has to be rebuilt is
parsed by libcst alone, with the lines around it left out. libcst is imported when the first statement is rebuilt.
"""

from __future__ import annotations

import ast
import functools
import keyword
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.fixes.imports import first_line, import_statement, module_aliases
from tclint.fixes.uses import uses_in
from tclint.model.finding import Edit, Span
from tclint.sources.text import decode
from tclint.sources.tree import ancestors, blocks, index_in

if TYPE_CHECKING:
    import libcst as cst

    from tclint.events import Event

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
_OF_COMPILER: Final = re.compile(r"compil|dynamo|graph|eager|limit", re.IGNORECASE)
_WORD: Final = re.compile(r"(?:^|(?<=\s))[A-Za-z][a-z'-]*(?=[\s,;:)]|\.\s|\.?$)")
_SENTENCE: Final = 6
"""Words of prose that make a reason."""
_DEEPEST: Final = 100
"""How deep a statement may nest for libcst to be asked: its parser ends the process where the stack does."""


@functools.lru_cache(maxsize=4)  # fixes come file by file, some look at a second one
def lines_of(path: str, data: bytes) -> list[str]:
    text = decode(path, data)
    return _NEWLINE.split(text) if "\r" in text else text.split("\n")


def inserted(path: str, lines: Sequence[str], line: int, text: str) -> Edit:
    """A whole new line before `line`; one beyond the last line goes to the end of the file."""
    if line > len(lines):
        last = len(lines)
        end = len(lines[-1]) + 1
        return Edit(path, Span(last, end, last, end), f"\n{text}")
    return Edit(path, Span(line, 1, line, 1), f"{text}\n")


class Place:
    """A node of a file and what stands around it."""

    def __init__(self, event: Event, node: ast.AST | None = None) -> None:
        self.event = event
        self.module = event.module
        self.path = event.module.path
        self.node: Any = node if node is not None else event.node
        self.chain = ancestors(self.module.tree, self.node)
        """What encloses the node, outermost first."""
        self.lines = lines_of(self.path, self.module.data)

    # -- around the node --------------------------------------------------------------------------------------

    @property
    def parent(self) -> ast.AST | None:
        return self.chain[-1] if self.chain else None

    @property
    def statement(self) -> ast.stmt | None:
        if isinstance(self.node, ast.stmt):
            return self.node
        return next((n for n in reversed(self.chain) if isinstance(n, ast.stmt)), None)

    @property
    def function(self) -> FunctionNode | None:
        """The innermost `def` around the node; None at the top level and inside a lambda or a comprehension's own scope."""
        for node in reversed(self.chain):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
            if isinstance(node, ast.Lambda):
                return None
        return None

    @property
    def cls(self) -> ast.ClassDef | None:
        """The class whose method the node stands in."""
        function = self.function
        for outer, inner in zip(reversed(self.chain[:-1]), reversed(self.chain), strict=False):
            if inner is function and isinstance(outer, ast.ClassDef):
                return outer
        return None

    def block(self, statement: ast.stmt) -> list[ast.stmt] | None:
        """The statements that `statement` is one of."""
        found = self.index(statement)
        return found[0] if found is not None else None

    def index(self, statement: ast.stmt) -> tuple[list[ast.stmt], int] | None:
        """The same, and which of them it is."""
        for node in (self.module.tree, *self.chain):
            for block in blocks(node):
                number = index_in(block, statement)
                if number is not None:
                    return block, number
        return None

    # -- text -------------------------------------------------------------------------------------------------

    def column(self, line: int, offset: int) -> int:
        """The column, in characters from 1, of a UTF-8 offset."""
        return len(self.lines[line - 1].encode()[:offset].decode("utf-8", "replace")) + 1

    def span(self, node: ast.AST) -> Span:
        line, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        return Span(line, self.column(line, node.col_offset), end, self.column(end, node.end_col_offset))  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        span = self.span(node)
        lines = self.lines[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "\n".join(lines)

    def atom(self, node: ast.AST) -> str:
        """The source of an expression, fit to stand before a dot."""
        return self.source(node) if is_atom(node) else f"({self.source(node)})"

    def operand(self, node: ast.AST) -> str:
        """The source of an expression, fit to stand next to `&`, `*` or `~`."""
        plain = is_atom(node) or isinstance(node, ast.Constant)
        return self.source(node) if plain else f"({self.source(node)})"

    def argument(self, node: ast.AST) -> str:
        loose = isinstance(node, (ast.NamedExpr, ast.GeneratorExp, ast.Starred, ast.Yield, ast.YieldFrom, ast.Lambda))
        bare = isinstance(node, ast.Tuple) and not self.source(node).startswith("(")
        return f"({self.source(node)})" if loose or bare else self.source(node)

    def indent(self, statement: ast.stmt) -> str:
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def owns_its_lines(self, statement: ast.stmt) -> bool:
        """Whether nothing else stands on the statement's first and last line (`a; b`, `if x: y`, `\\` continuations)."""
        span = self.span(statement)
        before, after = (
            self.lines[span.line - 1][: span.column - 1],
            self.lines[span.end_line - 1][span.end_column - 1 :],
        )
        rest = after.strip()
        return not before.strip() and (not rest or rest.startswith("#"))

    def comments(self, first: int, last: int) -> list[str]:
        """The comments right above some lines, and at their ends."""
        above = first - 1
        while above > 0 and self.lines[above - 1].lstrip().startswith("#"):
            above -= 1
        return [*self.lines[above : first - 1], *(line.partition("#")[2] for line in self.lines[first - 1 : last])]

    def is_explained(self, first: int, last: int) -> bool:
        """Whether a comment right above some lines, or at their end, speaks of the compiler: it gives the reason."""
        return any(_OF_COMPILER.search(comment) for comment in self.comments(first, last))

    def is_reasoned(self, first: int, last: int) -> bool:
        """Whether such a comment says why in a sentence: a word or two, or code that was put aside, is none."""
        written = " ".join(each.strip(" \t#") for each in self.comments(first, last))
        return self.is_explained(first, last) and len(_WORD.findall(written)) >= _SENTENCE

    # -- edits ------------------------------------------------------------------------------------------------

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Another text for a node, and for the brackets around it where the text needs none."""
        span = self.span(node)
        while isinstance(node, ast.expr) and _parsed_atom(text) and (wider := self._with_brackets(span)) is not None:
            span = wider
        return Edit(self.path, span, text)

    def _with_brackets(self, span: Span) -> Span | None:
        """The span with the brackets right around it, unless they are those of a call."""
        before, after = (
            self.lines[span.line - 1][: span.column - 1],
            self.lines[span.end_line - 1][span.end_column - 1 :],
        )
        if not before.endswith("(") or not after.startswith(")"):
            return None
        ahead = before[:-1].rstrip()
        word = re.search(r"\w+$", ahead)
        if ahead.endswith((")", "]", "}", '"', "'")) or (word is not None and not keyword.iskeyword(word[0])):
            return None
        if word is not None and len(ahead) == len(before) - 1:
            return None  # `return(x)`: the brackets keep the words apart
        return Span(span.line, span.column - 1, span.end_line, span.end_column + 1)

    def insert_after(self, node: ast.AST, text: str) -> Edit:
        span = self.span(node)
        return Edit(self.path, Span(span.end_line, span.end_column, span.end_line, span.end_column), text)

    def append(self, node: ast.AST, text: str) -> Edit:
        """`.clone()` behind an expression, in brackets where it needs them."""
        return self.insert_after(node, text) if is_atom(node) else self.replace(node, f"({self.source(node)}){text}")

    def insert_line(self, line: int, text: str) -> Edit:
        return inserted(self.path, self.lines, line, text)

    def remove(self, statement: ast.stmt) -> Edit | None:
        """A statement and its line; `pass` where nothing else is left in its block."""
        found = self.index(statement)
        if found is None or not self.owns_its_lines(statement):
            return None
        block, _ = found
        if len(block) == 1:
            return self.replace(statement, "pass")
        after = (statement.end_lineno or statement.lineno) + 1
        if self._is_empty(statement.lineno - 1) and self._is_empty(after) and after < len(self.lines):
            after += 1  # one empty line is enough
        return Edit(self.path, Span(statement.lineno, 1, after, 1), "")

    def _is_empty(self, line: int) -> bool:
        return 1 <= line <= len(self.lines) and not self.lines[line - 1].strip()

    def remove_definition(self, node: FunctionNode) -> Edit | None:
        """A function with its decorators and the empty lines above it; None where its block would be left empty."""
        found = self.index(node)
        if found is None or len(found[0]) == 1 or not self.owns_its_lines(node):
            return None
        first = first_line(node)
        if first > 1 and self.lines[first - 2].lstrip().startswith("#"):
            return None  # a comment that speaks of it
        while first > 1 and not self.lines[first - 2].strip():
            first -= 1
        return Edit(self.path, Span(first, 1, (node.end_lineno or node.lineno) + 1, 1), "")

    # -- names ------------------------------------------------------------------------------------------------

    def importing(self, module: str) -> tuple[str, tuple[Edit, ...]] | None:
        """What a module is called here, and the edit that imports it where it is not; None where the name is taken."""
        uses = uses_in(self.function)
        here = module in uses.imports
        for name in self.module.index(module_aliases).get(module, ()):
            if name not in uses.bound or (name == module and here):
                return name, ()
        if module in uses.bound:
            return (module, ()) if here else None
        if module in self.module.names:
            return None
        line, statement = import_statement(self.module.tree.body, module)
        return module, (self.insert_line(line, statement),)

    # -- statements, rebuilt ----------------------------------------------------------------------------------

    def rebuild(
        self,
        first: ast.stmt,
        last: ast.stmt,
        change: Callable[[list[cst.BaseStatement]], Sequence[cst.BaseStatement] | None],
    ) -> Edit | None:
        """The lines of some neighbouring statements, parsed by libcst and given to `change`.

        They are parsed at their own indentation, under an `if` that is cut off again: dedenting them would change strings
        of several lines.
        """
        if not self.owns_its_lines(first) or not self.owns_its_lines(last):
            return None
        if any(deeper_than(_DEEPEST, node) for node in (first, last)):
            return None
        import libcst as cst

        start, end = first.lineno, last.end_lineno or last.lineno
        lines = self.lines[start - 1 : end]
        indent = self.indent(first)
        if "\f" in indent:
            return None
        head = "if 1:\n" if indent else ""
        try:
            tree = cst.parse_module(head + "\n".join(lines) + "\n")
        except cst.ParserSyntaxError:
            return None
        unit = self._unit(indent)
        if indent:
            wrapper = tree.body[0]
            assert isinstance(wrapper, cst.If)
            body = wrapper.body
            assert isinstance(body, cst.IndentedBlock)
            changed = change(list(body.body))
            if changed is None:
                return None
            wrapper = wrapper.with_changes(body=body.with_changes(body=changed, indent=indent))
            new = tree.with_changes(body=[wrapper], default_indent=unit).code[len(head) :]
        else:
            changed = change(list(tree.body))
            if changed is None:
                return None
            new = tree.with_changes(body=changed, default_indent=unit).code
        return self._trimmed(start, lines, new.rstrip("\n").split("\n"))

    def put_below(self, statement: ast.stmt, head: str) -> Edit | None:
        """A statement of one line below a line of its own, as `rebuild` would write it: that needs no libcst."""
        indent = self.indent(statement)
        if not self.owns_its_lines(statement) or "\f" in indent or deeper_than(_DEEPEST, statement):
            return None
        line = self.lines[statement.lineno - 1]
        return self._trimmed(
            statement.lineno, [line], [f"{indent}{head}", f"{indent}{self._unit(indent)}{line[len(indent) :]}"]
        )

    def _unit(self, indent: str) -> str:
        """One step of the file's indentation: that of the first block, outermost ones first."""
        if "\t" in indent:
            return "\t"
        for node in ast.walk(self.module.tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body and body[0].lineno > node.lineno:
                width: int = body[0].col_offset - node.col_offset
                return " " * max(width, 1)
        return "    "

    def _trimmed(self, start: int, old: list[str], new: list[str]) -> Edit | None:
        """The lines that differ, as one edit."""
        if old == new:
            return None
        while old and new and old[0] == new[0]:
            old, new, start = old[1:], new[1:], start + 1
        while old and new and old[-1] == new[-1]:
            old, new = old[:-1], new[:-1]
        if not old:
            return Edit(self.path, Span(start, 1, start, 1), "".join(f"{line}\n" for line in new))
        if not new:
            return Edit(self.path, Span(start, 1, start + len(old), 1), "")
        end = start + len(old) - 1
        return Edit(self.path, Span(start, 1, end, len(old[-1]) + 1), "\n".join(new))


def node_at(event: Event, span: Span, kind: type[Any] | tuple[type[Any], ...]) -> Any:
    """The node of a kind that a finding points at: the finding may stand elsewhere than its event."""
    place = Place(event, event.module.tree)
    for node in _by_line(event.module.tree).get(span.line, ()):
        if isinstance(node, kind) and place.span(node) == span:
            return node
    return None


@functools.lru_cache(maxsize=2)  # fixes come file by file
def _by_line(tree: ast.Module) -> dict[int, list[ast.AST]]:
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(tree):
        found.setdefault(getattr(node, "lineno", 0), []).append(node)
    return found


def is_atom(node: ast.AST) -> bool:
    """Whether a dot may follow the source of an expression."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.JoinedStr))


def _parsed_atom(text: str) -> bool:
    try:
        return is_atom(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return False


def deeper_than(most: int, root: ast.AST) -> bool:
    """Whether nodes stand in each other more than `most` deep; the terms of an `and` do, as libcst reads them."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > most:
            return True
        below = depth + (len(node.values) if isinstance(node, ast.BoolOp) else 1)
        stack += [(child, below) for child in ast.iter_child_nodes(node)]
    return False
