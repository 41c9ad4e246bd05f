"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from tclint import events
from tclint.interpreter import called_apart, stores
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.expressions.conditions import branch
from tclint.interpreter.frame import Env, Frame
from tclint.sources.tree import nodes
from tclint.values import (
    NONE,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    Seq,
    Value,
    join_all,
)
from tclint.values.moments import KEPT


def _comprehension(frame: Frame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    kind = {"ListComp": "list", "SetComp": "set", "GeneratorExp": "generator"}[type(node).__name__]
    if frame.region is not None and kind != "generator" and _binds(frame, node):
        frame.interp.emitter.feature(frame, node, "walrus in a comprehension")
    saved = frame.env
    frame.env = dict(saved)
    memory, ran = frame.interp.graph_memory, False

    def element() -> Value:
        nonlocal ran
        begun, runs = memory.length, memory.runs
        value = evaluate(frame, node.elt)
        ran = ran or memory.overwrites_again(begun, runs)
        return value

    items, length = _generators(frame, node.generators, element, None if isinstance(node, ast.GeneratorExp) else node)
    if not isinstance(node, ast.GeneratorExp):
        called_apart.gave(frame, node, items if isinstance(items, list) else [items])
    frame.env = _after_comprehension(frame, saved, node)
    if ran and kind != "generator":
        gathered = join_all(items) if isinstance(items, list) else items
        frame.interp.emitter.emit(
            events.Store, frame, node.elt, "comprehension", UNKNOWN, "", gathered, None, False, None
        )
    if isinstance(items, list):
        return Seq(kind, tuple(items)).at_hand(not ran)
    return Seq(kind, None, items, length).at_hand(not ran)


def _dict_comp(frame: Frame, node: ast.DictComp) -> Value:
    saved = frame.env
    frame.env = dict(saved)
    memory, ran = frame.interp.graph_memory, False

    def pair() -> Value:
        nonlocal ran
        key = evaluate(frame, node.key)
        begun, runs = memory.length, memory.runs
        value = evaluate(frame, node.value)
        ran = ran or memory.overwrites_again(begun, runs)
        return Seq("tuple", (key, value))

    items, _ = _generators(frame, node.generators, pair, node)
    pairs = items if isinstance(items, list) else [items]
    called_apart.gave(frame, node, [each.items[1] for each in pairs if isinstance(each, Seq) and each.items])
    frame.env = _after_comprehension(frame, saved, node)
    if ran:
        gathered = join_all(items) if isinstance(items, list) else items
        frame.interp.emitter.emit(
            events.Store, frame, node.value, "comprehension", UNKNOWN, "", gathered, None, False, None
        )
    if isinstance(items, list):
        known: dict[Any, Value] = {}
        for item in items:
            assert isinstance(item, Seq)
            assert item.items is not None
            key, value = item.items
            if not isinstance(key, Const):
                return Dict({}, join_all(i.items[1] for i in items if isinstance(i, Seq) and i.items))
            known[key.value] = value
        return Dict(known)
    return Dict({}, items.items[1] if isinstance(items, Seq) and items.items else UNKNOWN)


def _binds(frame: Frame, node: ast.AST) -> bool:
    """Whether there is a walrus in it."""
    return b":=" in frame.module.raw and any(isinstance(n, ast.NamedExpr) for n in nodes(node))


def _after_comprehension(frame: Frame, saved: Env, node: ast.AST) -> Env:
    # A walrus inside a comprehension binds in the enclosing scope.
    if b":=" in frame.module.raw:
        for inner in nodes(node):
            if isinstance(inner, ast.NamedExpr) and inner.target.id in frame.env:
                saved[inner.target.id] = frame.env[inner.target.id]
    if frame.region is None:
        # `[queue.pop(0) for _ in range(n)]` leaves less in it.
        known = frame.env.get
        left = [name for name, held in saved.items() if held.depth and known(name, held) is not held]
        if left:
            own = {n.id for n in nodes(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            saved.update({name: frame.env[name] for name in left if name not in own})
    return saved


_UNROLL: Final = 12
_LISTED: Final = 32
"""Items that a comprehension of eager code takes one by one."""


def _generators(
    frame: Frame,
    generators: list[ast.comprehension],
    produce: Callable[[], Value],
    whole: called_apart.Comprehension | None = None,
) -> tuple[list[Value] | Value, str]:
    """Run the `for` clauses of a comprehension, of `whole` where they are all. A short iterable of known items is unrolled."""
    first, rest = generators[0], generators[1:]
    iterable = evaluate(frame, first.iter)
    frame.interp.emitter.emit(events.Loop, frame, first.iter, iterable, True)
    if whole is not None:
        called_apart.ran(frame, whole, iterable)
    if iterable is NONE:
        return UNKNOWN, ""  # Python raises before the first item
    length = iterable.lent if isinstance(iterable, Seq) else ""
    if isinstance(iterable, (Const, ClassValue)) or (frame.region is None and not isinstance(iterable, Seq)):
        items, exact = iterable.turns(frame, first.iter, _UNROLL, 1)
        iterable = Seq("list", tuple(items)) if exact else iterable
    decided = True  # whether it is known of every item if it is taken

    def body() -> list[Value] | Value:
        nonlocal decided
        for condition in first.ifs:
            then, otherwise = branch(frame, condition, "comprehension condition")
            if then is None:
                return []
            decided = decided and otherwise is None
            frame.env = then
        if rest:
            return _generators(frame, rest, produce)[0]
        return [produce()]

    frame.blocks.append("for")
    try:
        if (
            isinstance(iterable, Seq)
            and iterable.items is not None
            and len(iterable.items) <= (_UNROLL if frame.region is not None else _LISTED)
        ):
            out: list[Value] = []
            loose: list[Value] = []
            walked = frame.region is None
            frame.walked += walked
            for item in iterable.items:
                stores.store(frame, first.target, item, first.target, quiet=True)
                made = body()
                if isinstance(made, list):
                    out.extend(made)
                else:
                    loose.append(made)
            frame.walked -= walked
            if loose or not decided:
                return join_all([*out, *loose]), length
            return out, ""
        stores.store(frame, first.target, iterable.iterate(frame, first.iter), first.target, quiet=True)
        made = body()
        if not decided and frame.region is None:
            length = KEPT
        return (join_all(made) if isinstance(made, list) else made), length
    finally:
        frame.blocks.pop()


handles(ast.ListComp, _comprehension)
handles(ast.SetComp, _comprehension)
handles(ast.GeneratorExp, _comprehension)
handles(ast.DictComp, _dict_comp)
