"""Tests on attributes that nothing but their constructor sets, and that to a literal: `self.check_finite = False`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.program import Module
from tclint.values import Instance
from tclint.values.constant import fold_compare

_STORED: Final = re.compile(rb"\.(\w+)[ \t]*(?::[^=\n]*)?(?:[-+*/%@&|^]|//|\*\*|<<|>>)?=(?!=)[ \t]*([^\n#;]*)")
_UNPACKED: Final = re.compile(rb"\.(\w+)[ \t]*,")
_BY_NAME: Final = re.compile(rb"\bsetattr\([^,\n]*,\s*[\"'](\w+)[\"']")
_BY_ANY_NAME: Final = re.compile(rb"\bsetattr\([^,\n]*,\s*(?![\"'\s])|\b__dict__\b")
_LITERAL: Final = re.compile(rb"False|True|None|-?\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?")
_UNSET: Final = object()


def usual(frame: Frame, node: ast.expr) -> bool | None:
    """Which way such a test goes as long as nobody outside of what is in sight sets the attribute."""
    if frame.region is None:
        return None
    if isinstance(node, ast.Attribute):
        held = _held(frame, node)
        return None if held is _UNSET else bool(held)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.left, ast.Attribute):
        operator, other = node.ops[0], node.comparators[0]
        held = _held(frame, node.left) if isinstance(other, ast.Constant) else _UNSET
        if held is not _UNSET and isinstance(other, ast.Constant):
            return _compare(held, operator, other.value)
    return None


def _compare(held: object, operator: ast.cmpop, other: object) -> bool | None:
    if isinstance(operator, (ast.Is, ast.IsNot)):
        return (held is other) is isinstance(operator, ast.Is)
    folds = type(operator) not in (ast.In, ast.NotIn)
    return fold_compare(type(operator).__name__, held, other).truth() if folds else None


def _held(frame: Frame, node: ast.Attribute) -> object:
    if not isinstance(node.value, ast.Name):
        return _UNSET
    owner = frame.env.get(node.value.id)
    if not isinstance(owner, Instance) or owner.fields is not None:
        return _UNSET
    cls = owner.cls
    if (cls.module.path, cls.qualname, node.attr) in frame.interp.learned.rebound:
        return _UNSET
    stored: set[bytes] = set()
    for module in dict.fromkeys(ancestor.module for ancestor in frame.interp.classes.mro(cls)):
        stored |= module.index(_stores).get(node.attr, _NOTHING) | module.index(_stores).get("", _NOTHING)
    literal = stored.pop() if len(stored) == 1 else b""
    return ast.literal_eval(literal.decode()) if _LITERAL.fullmatch(literal) else _UNSET


_NOTHING: Final[frozenset[bytes]] = frozenset()


def _stores(module: Module) -> Mapping[str, frozenset[bytes]]:
    """What the file puts into attributes, by their names; under no name where it sets some by names of its own making.

    Read from the text: no tree is needed for it, and what a comment or a docstring adds only says less.
    """
    found: dict[str, set[bytes]] = {}
    for name, value in _STORED.findall(module.data):
        found.setdefault(name.decode(), set()).add(value.strip())
    for pattern in (_UNPACKED, _BY_NAME):
        for name in pattern.findall(module.data):
            found.setdefault(name.decode(), set()).add(b"?")
    if _BY_ANY_NAME.search(module.data):
        found[""] = {b"?"}
    return {name: frozenset(values) for name, values in found.items()}
