"""Settings that a compile site waits for, that are off by default and that no code in sight turns on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.model.finding import Condition
from tclint.program import Module, mentioning
from tclint.sources.text import lines_of
from tclint.sources.tree import ancestors, blocks, index_in, text

_LEAVES: Final = (ast.Return, ast.Continue, ast.Break)
_OFF: Final = rb"False\b|None\b|0(?![\w.])|\"\"|''"
_FIELD: Final = rb"(?:dataclasses\.)?field\([^)\n]*\bdefault[ \t]*=[ \t]*"


def unset(frame: Frame, node: ast.AST) -> tuple[Condition, ...]:
    """What must be turned on for a compile site to compile anything, where nobody in sight does so."""
    return tuple(dict.fromkeys(_unset(frame, node)))


def _unset(frame: Frame, node: ast.AST) -> Iterator[Condition]:
    root = frame.function.node if frame.function is not None else frame.module.tree
    for test, holds in _tests(root, node):
        for place, name in _settings(test, holds):
            if isinstance(place, ast.Name) and not _is_parameter(frame, name):
                continue
            with frame.interp.emitter.silence:
                known = evaluate(frame, place).truth()
            if known is not True and _is_off(frame, name):
                yield Condition(frame.module.path, place.lineno, f"`{text(place)}`")


def _tests(root: ast.AST, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The tests that stand before a node of a function, outermost first, with what they must come to."""
    around = [*ancestors(root, node), node]
    for outer, inner in pairwise(around):
        if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test:
            body = outer.body if isinstance(outer.body, list) else [outer.body]
            yield outer.test, any(each is inner for each in body)
        elif isinstance(outer, ast.BoolOp):
            for each in outer.values:
                if each is inner:
                    break
                yield each, isinstance(outer.op, ast.And)
        if isinstance(inner, ast.stmt):
            yield from _left_before(outer, inner)
    if isinstance(node, ast.Call):
        yield from ((each.value, False) for each in node.keywords if each.arg == "disable")


def _left_before(outer: ast.AST, inner: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """`if not flag: return` before a statement of the same block."""
    for block in blocks(outer):
        at = index_in(block, inner)
        for each in block[:at] if at is not None else ():
            if isinstance(each, ast.If) and not each.orelse and isinstance(each.body[-1], _LEAVES):
                yield each.test, False


def _settings(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, str]]:
    """The settings that must be on for a test to come out so, by their names."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _settings(test.operand, not holds)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is holds:
            for each in test.values:
                yield from _settings(each, holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        other = test.comparators[0]
        if isinstance(other, ast.Constant) and other.value is None and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            yield from _settings(test.left, holds is isinstance(test.ops[0], ast.IsNot))
    elif holds and isinstance(test, ast.Name):
        yield test, test.id
    elif holds and isinstance(test, ast.Attribute):
        yield test, test.attr
    elif holds and isinstance(test, ast.Call) and (name := _asked_for(test)):
        yield test, name


def _asked_for(call: ast.Call) -> str:
    """The name in `getattr(cfg, "name", False)` and `cfg.get("name", False)`."""
    by_name = isinstance(call.func, ast.Name) and call.func.id == "getattr"
    of_table = isinstance(call.func, ast.Attribute) and call.func.attr == "get"
    given = call.args[1:2] if by_name else call.args[:1] if of_table else []
    name = given[0].value if given and isinstance(given[0], ast.Constant) else None
    return name if isinstance(name, str) and name.isidentifier() else ""


def _is_parameter(frame: Frame, name: str) -> bool:
    """Whether a name is what the function was given, and nothing that it worked out itself."""
    function = frame.function
    return function is not None and name in function.bound_names() - function.stored_names()


def _is_off(frame: Frame, name: str) -> bool:
    """Whether the program says that a setting is off, and nowhere that it is on, or that whoever starts it may say so."""
    told = set(frame.module.program.answers(_said, name).values())
    return told == {"off"} and not frame.module.program.answers(_offered, name.replace("_", "-"))


@mentioning(0)
def _said(module: Module, name: str) -> str:
    """What a file says of a setting: `off`, `on`, or nothing."""
    content, word = lines_of(module.data), re.escape(name).encode()
    told = ""
    bound = rb"(?<![\w-])(?:[\w.]*\.)?" + word + rb"[ \t]*(?::[^=\n#]*)?=(?!=)[ \t]*(?:" + _FIELD + rb")?([^\n]*)"
    for found in re.finditer(bound, content):
        value = found[1]
        if re.match(_OFF, value):
            told = "off"
        elif not re.match(rb"[\w.\[\]\"']*\b" + word + rb"\b[\"']?\]?[ \t]*(?:[,)#\r]|$)", value):
            return "on"  # and not what is handed on under the same name
    asked = rb"(?:getattr\([^()\n]*,|\.get\()[ \t]*[\"']" + word + rb"[\"'][ \t]*,[ \t]*(?:" + _OFF + rb")[ \t]*\)"
    rest = re.sub(asked, b"", content)
    told = told or ("off" if rest != content else "")
    for found in re.finditer(rb"[\"'](--)?" + word + rb"[\"']([ \t]*:[ \t]*)?([^\n]*)", rest):
        if found[1] or not found[2] or not re.match(_OFF, found[3]):
            return "on"
        told = "off"
    return told


@mentioning(0)
def _offered(module: Module, option: str) -> bool:
    """Whether a file names an option of a command line."""
    return f"--{option}".encode() in module.data
