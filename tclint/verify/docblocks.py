"""The examples that docstrings show: doctests, literal blocks and fences, as pieces of program."""

from __future__ import annotations

import ast
import doctest
import re
import textwrap
from collections.abc import Iterator

_FENCE = re.compile(r"^[ \t]*```(?:python|py)?[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_LITERAL = re.compile(
    r"^(?P<margin>[ \t]*)(?:\.\. (?:code-block|code|sourcecode|testcode)::[^\n]*|[^\n]*::)[ \t]*\n"
    r"(?P<block>(?:[ \t]*\n|(?P=margin)[ \t]+[^\n]*\n?)+)",
    re.MULTILINE,
)
_HEADED = re.compile(
    r"^(?P<margin>[ \t]*)(?:Examples?|Usage|Quick ?start)(?: usage)?:?[ \t]*\n(?:(?P=margin)-+[ \t]*\n)?"
    r"(?P<block>(?:[ \t]*\n|(?P=margin)[ \t]+[^\n]*\n?)+)",
    re.MULTILINE | re.IGNORECASE,
)


def doc_trees(tree: ast.Module, text: str) -> Iterator[ast.Module]:
    """A tree for each docstring of a file that shows how something is used."""
    if ">>>" not in text and "```" not in text and "::" not in text and "xample" not in text and "Usage" not in text:
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            doc = ast.get_docstring(node)
            yield from _shown(doc) if doc else ()


def _shown(doc: str) -> Iterator[ast.Module]:
    if ">>>" in doc:
        found = _parsed(_sessions(doc))
        if found is not None:
            yield found
        return
    for pattern in (_FENCE, _LITERAL, _HEADED):
        blocks = [match["block"] if "block" in pattern.groupindex else match[1] for match in pattern.finditer(doc)]
        trees = [tree for block in blocks if (tree := _parsed(textwrap.dedent(block))) is not None]
        if trees:
            yield from trees
            return


def _sessions(doc: str) -> str:
    """What is typed in a session, without what is answered; pieces that are no Python are left out."""
    try:
        pieces = [example.source for example in doctest.DocTestParser().get_examples(doc)]
    except ValueError:
        # Margins that do not agree: line by line.
        pieces = ["\n".join(re.findall(r"^[ \t]*(?:>>>|\.\.\.) ?(.*)$", doc, re.MULTILINE))]
    return "\n".join(piece for piece in pieces if _parsed(piece) is not None)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
