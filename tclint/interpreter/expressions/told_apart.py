"""Of several things that a name may stand for, those of which a test comes out so: `if not hasattr(loss, "transform"):`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.expressions import combined, unturned
from tclint.interpreter.frame import Env, Frame
from tclint.sources.tree import bound_on_self, own
from tclint.values import UNKNOWN, ClassValue, Const, Instance, Union
from tclint.values.union import one_of

_ASKING: Final = frozenset(each.__name__ for each in (hasattr, callable, issubclass, getattr))
_MOST: Final = 32
"""Things that are told apart."""


def tell_apart(frame: Frame, node: ast.expr, then: Env | None, otherwise: Env | None) -> None:
    """Leave in the environments where a test is true and false those of a name's things of which it is.

    `node` may be a name that stands for the test: `transforms = hasattr(loss, "transform")`.
    """
    test = _meant(frame, node) if isinstance(node, ast.Name) else node
    if test is None:
        return
    for name in dict.fromkeys(_asked(test)):
        held = frame.env.get(name)
        if not isinstance(held, Union) or not 1 < len(held.options) <= _MOST:
            continue
        if not all(isinstance(each, (Instance, ClassValue)) for each in held.options):
            continue
        answers = []
        with frame.interp.emitter.silence:
            for option in held.options:
                frame.env[name] = option
                answers.append(combined.outcome(test, partial(_comes_to, frame)))
            frame.env[name] = held
        for env, wanted in ((then, True), (otherwise, False)):
            left = [o for o, came in zip(held.options, answers, strict=True) if came is not (not wanted)]
            if env is not None and left and len(left) < len(held.options):
                env[name] = one_of(left)


def _comes_to(frame: Frame, test: ast.expr) -> bool | None:
    """What a test that is no combination of others comes to, with the name bound to one of them."""
    known = evaluate(frame, test).truth()
    if known is None and isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "hasattr":
        known = _has(frame, test)
        return known if known is not None else unturned.attribute_asked(frame, test)
    return known


def _has(frame: Frame, call: ast.Call) -> bool | None:
    """True where the classes of an object define an attribute, or one of their methods binds it."""
    owner, name = (evaluate(frame, each) for each in call.args) if len(call.args) == 2 else (UNKNOWN, UNKNOWN)
    if not isinstance(owner, Instance) or not isinstance(name, Const):
        return None
    classes = frame.interp.classes
    if classes.definition(owner.cls, name.value) is not None:
        return True
    methods = (method for each in classes.mro(owner.cls) for method in each.methods.values())
    return True if any(name.value in method.node_index(bound_on_self) for method in methods) else None


def _asked(test: ast.expr) -> Iterator[str]:
    """The names that a test asks what they have."""
    for leaf in combined.leaves(test):
        asks = leaf.left if isinstance(leaf, ast.Compare) else leaf
        if isinstance(asks, ast.Call) and isinstance(asks.func, ast.Name) and asks.func.id in _ASKING and asks.args:
            if isinstance(asks.args[0], ast.Name):
                yield asks.args[0].id


def _meant(frame: Frame, node: ast.Name) -> ast.expr | None:
    """The test that a name stands for, where it is bound once, and what the test asks is not bound anew before it is used."""
    if frame.function is None:
        return None
    bound = frame.function.node_index(_bound)
    made, *others = bound.get(node.id, (None,))
    if others or not isinstance(made, ast.Assign) or made.lineno > node.lineno:
        return None
    asked = {*_asked(made.value)}
    between = (getattr(each, "lineno", 0) for name in asked for each in bound.get(name, ()))
    return made.value if asked and not any(made.lineno < line < node.lineno for line in between) else None


def _bound(root: ast.AST) -> dict[str, list[ast.AST]]:
    """By name, what binds it in a function: the assignment where that is one to the name alone, or else the name."""
    alone = {
        id(node.targets[0]): node
        for node in own(root)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    found: dict[str, list[ast.AST]] = {}
    for node in own(root):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, []).append(alone.get(id(node), node))
    return found
