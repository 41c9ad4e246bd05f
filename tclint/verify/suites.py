"""Which tests of a project may call something: read from the source, nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tclint.verify import usage


@dataclass(frozen=True, slots=True)
class Test:
    """A test function, or a method of a test class."""

    path: str
    name: str
    owner: str
    """The class whose method it is; empty for a function."""
    line: int
    words: frozenset[str]
    """All that it names."""


def naming(names: Sequence[str], root: str, asked: frozenset[str] = frozenset()) -> Iterator[Test]:
    """The tests that name one of these, or a helper beside them that does; those that name an earlier one first, and of
    those the ones that name most of what is `asked`."""
    found: dict[tuple[str, int], tuple[int, Test]] = {}
    for rank, name in enumerate(names):
        for path in usage.files_with(name, root):
            if any("test" in part for part in Path(path).parts[-3:]):
                for test in _tests(path, name):
                    found.setdefault((path, test.line), (rank, test))

    def order(item: tuple[int, Test]) -> tuple[int, int, str, int]:
        rank, test = item
        return rank, -len(test.words & asked), test.path, test.line

    yield from (test for _, test in sorted(found.values(), key=order))


def _tests(path: str, name: str) -> Iterator[Test]:
    for tree, text in usage.parsed(path):
        functions = list(_functions(tree))
        lines = text.splitlines()
        texts = [
            "\n".join(lines[_first(function) - 1 : function.end_lineno or function.lineno]) for _, function in functions
        ]
        itself = re.compile(rf"\b{re.escape(name)}\b")
        helpers = [
            function.name
            for (_, function), own in zip(functions, texts, strict=True)
            if itself.search(own) and not function.name.startswith("test")
        ]
        named = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in (name, *helpers)))
        for (owner, function), own in zip(functions, texts, strict=True):
            if function.name.startswith("test") and named.search(own):
                yield Test(path, function.name, owner, function.lineno, frozenset(re.findall(r"\w+", own)))


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for inner in inside:
            if isinstance(inner, ast.FunctionDef):
                yield node.name if isinstance(node, ast.ClassDef) else "", inner


def _first(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
