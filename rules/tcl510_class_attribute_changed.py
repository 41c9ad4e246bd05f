"""TCL510: class attributes that change between calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tclint.events import Enter
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Program
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
        changed, readers = event.ask.of_program(_changed)
        if event.module.path not in readers:
            return
        for node in own(event.node):
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if not isinstance(node.value, ast.Name) or event.ask.local(node.value.id) is not None:
                continue
            value = event.ask.module_value(node.value.id)
            if not isinstance(value, ClassValue) or node.attr not in value.cls.assignments:
                continue
            if (value.cls.name, node.attr) in changed:
                yield self.finding(
                    event,
                    f"`{node.value.id}.{node.attr}` is changed elsewhere; compiled code keeps its first value",
                    node=node,
                    confidence=Confidence.HIGH,
                    help="pass it as an argument",
                )


_STORE = re.compile(rb"^\s+([\w\x80-\xff]+)\.([\w\x80-\xff]+)\s*[-+*/]?=[^=]", re.M)
_CLASS = re.compile(rb"^\s*class\s+([\w\x80-\xff]+)", re.M)


def _changed(program: Program) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
    """The attributes of classes that are stored to, `Config.factor = 2`, and the files that read one of such a name.

    Read off the text: a file that nobody needs is not parsed for it.
    """
    stored = {match.groups() for module in program.modules for match in _STORE.finditer(module.data)}
    classes = {name for module in program.modules for name in _CLASS.findall(module.data)}
    changed = {(name, attribute) for name, attribute in stored if name in classes}
    if not changed:
        return frozenset(), frozenset()
    reads = re.compile(rb"\.(?:" + b"|".join(sorted({re.escape(attribute) for _, attribute in changed})) + rb")\b")
    readers = frozenset(module.path for module in program.modules if reads.search(module.data))
    return frozenset((name.decode("utf-8", "replace"), a.decode("utf-8", "replace")) for name, a in changed), readers
