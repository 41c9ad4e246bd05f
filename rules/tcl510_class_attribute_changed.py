"""TCL510: class attributes that change between calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tclint.events import Enter
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Class
from tclint.rules._scope import own
from tclint.ruleset.rule import Rule
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
        for node in own(event.node):
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if not isinstance(node.value, ast.Name) or node.value.id in event.frame.env:
                continue
            value = event.frame.interp.names.value(event.module, node.value.id)
            if isinstance(value, ClassValue) and node.attr in value.cls.assignments and _changes(value.cls, node.attr):
                yield self.finding(
                    event,
                    f"`{node.value.id}.{node.attr}` is changed elsewhere; compiled code keeps its first value",
                    node=node,
                    confidence=Confidence.HIGH,
                    help="pass it as an argument",
                )


def _changes(cls: Class, name: str) -> bool:
    """Whether some file stores to the attribute through the class."""
    store = re.compile(rb"^\s+" + re.escape(f"{cls.name}.{name}".encode()) + rb"\s*[-+*/]?=[^=]", re.M)
    return any(cls.name.encode() in m.data and store.search(m.data) for m in cls.module.program.modules)
