"""TCL510: class attributes that change between calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.events import Enter
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Answers, Module
from tclint.ruleset.rule import Rule
from tclint.sources.tree import own
from tclint.values import ClassValue


class ClassAttributeChanged(Rule):
    """Compiled code reads `Config.factor`, other code changes it, and the compiled code keeps the old value.

    Up to torch 2.11 Dynamo put no guard on attributes read from a class: the value of the first call is part of the
    graph for good, and the result is silently wrong. Since 2.12 a change recompiles.

    Bad::

        # [tool.tclint]
        # target-torch = "2.11"
        class Config:
            factor = 1.0

        def f(x):
            return x * Config.factor

        def main():
            Config.factor = 2.0

    Good::

        def f(x, factor):
            return x * factor

    Fix: pass the value as an argument, or keep it on the instance.

    Versions: up to 2.11.
    """

    code, name = "TCL510", "class-attribute-changed"
    effect, severity = Effect.SILENT, Severity.HIGH
    torch = "<=2.11"

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        changed = event.ask.of_files(_stored).index(_Changed)
        if not event.ask.of_file(changed.is_named_in):
            return
        for node in own(event.node):
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if not isinstance(node.value, ast.Name) or event.ask.local(node.value.id) is not None:
                continue
            value = event.ask.module_value(node.value.id)
            if not isinstance(value, ClassValue) or node.attr not in value.cls.assignments:
                continue
            if (value.cls.name, node.attr) in changed.attributes:
                yield self.finding(
                    event,
                    f"`{node.value.id}.{node.attr}` is changed elsewhere; compiled code keeps its first value",
                    node=node,
                    confidence=Confidence.HIGH,
                    help="pass it as an argument",
                )


_STORE: Final = re.compile(rb"^\s+([\w\x80-\xff]+)\.([\w\x80-\xff]+)\s*[-+*/]?=[^=]", re.M)
_CLASS: Final = re.compile(rb"^\s*class\s+([\w\x80-\xff]+)", re.M)
_IMPORT: Final = re.compile(rb"^\s*(?:from\s+[.\w\x80-\xff]+\s+)?import\s+(\([^)]*\)|.*)", re.M)
_WORD: Final = re.compile(rb"[\w\x80-\xff]+")


def _stored(module: Module) -> list[tuple[str, str]]:
    """The attributes that the file stores to, `Config.factor = 2`, of what it defines as a class or imports.

    Read off the text: a file that nobody needs is not parsed for it.
    """
    stored = {match.groups() for match in _STORE.finditer(module.data) if match[1] != b"self"}
    if not stored:
        return []
    known = set(_CLASS.findall(module.data))
    every = False
    for imported in _IMPORT.findall(module.data):
        known.update(_WORD.findall(imported))
        every |= b"*" in imported
    return sorted((_text(name), _text(attribute)) for name, attribute in stored if every or name in known)


def _text(word: bytes) -> str:
    return word.decode("utf-8", "replace")


class _Changed:
    """The attributes of classes that some file stores to."""

    def __init__(self, files: Answers) -> None:
        self.attributes: Final = frozenset(tuple(pair) for stored in files.values() for pair in stored)
        names = sorted({re.escape(attribute.encode()) for _, attribute in self.attributes})
        self._reads: Final = re.compile(rb"\.(?:" + b"|".join(names) + rb")\b")

    def is_named_in(self, module: Module) -> bool:
        """Whether the file reads an attribute of such a name, of whatever it may be."""
        return bool(self.attributes) and self._reads.search(module.data) is not None
