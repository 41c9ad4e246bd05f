"""Where a value is kept: a name or an attribute of a name, `x` or `self.x`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.sources.tree import nodes
from tclint.values.constant import Const
from tclint.values.instance import Instance
from tclint.values.moments import GROWS
from tclint.values.union import join
from tclint.values.value import UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame


def path_of(node: ast.expr) -> str | None:
    """`x` or `self.x` as a path, None for anything longer."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _note_growth(frame: Frame, node: ast.AST, place: ast.expr, changed: Value, what: str) -> None:
    """A container that outlives the function grows or shrinks."""
    if isinstance(place, ast.Attribute):
        owner = frame.env.get(place.value.id) if isinstance(place.value, ast.Name) else _found(frame, place.value)
        for option in (owner or UNKNOWN).options:
            frame.interp.account.grow_attribute(frame, node, option, place.attr, changed)
    elif isinstance(place, ast.Name):
        frame.interp.account.write_name(frame, node, place.id, f"{place.id}{what}", changed, GROWS)


def is_place(node: ast.AST) -> bool:
    """Whether an expression can be read once more without doing anything: it calls nothing."""
    return not any(isinstance(part, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield)) for part in nodes(node))


def _found(frame: Frame, node: ast.expr) -> Value:
    """What eager code finds at a place."""
    return frame.interp.evaluate_silently(frame, node) if frame.region is None and is_place(node) else UNKNOWN


def _held(frame: Frame, node: ast.expr) -> Value:
    """What stands at a place, in compiled code as well."""
    return frame.interp.evaluate_silently(frame, node) if is_place(node) else UNKNOWN


def rebind(frame: Frame, node: ast.AST, changed: Value, what: str = "()", old: Value | None = None) -> None:
    """After `x.append(1)`: put the changed container back where it was read from, and wherever else `old` is held."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        place = node.func.value
        _note_growth(frame, node, place, changed, what)
        if old is None or not _is_held(frame, place, old):
            put_back(frame, place, changed)
        if old is not None:
            rename(frame, old, changed)


def _is_held(frame: Frame, place: ast.expr, old: Value) -> bool:
    """Whether `groups[key(x)]`, whose index cannot be read once more, is a container that the outer one surely holds."""
    if not isinstance(place, ast.Subscript) or is_place(place.slice):
        return False
    return any(item is old for item in _found(frame, place.value).held_items())


def rename(frame: Frame, old: Value, changed: Value) -> None:
    """Eager code has changed a container: it has under all its names, here, in the functions that called this one, and in
    objects and containers that hold it.

    Values are never changed in place, so that one that is held twice is the same object twice.
    """
    if frame.region is not None or frame.constructing or not old.depth:
        return
    made: dict[int, Value] = {id(old): changed}
    caller: Frame | None = frame
    sure = True
    outside = False
    while caller is not None and caller.region is None:
        for names in (caller.env, caller.closure):
            if not isinstance(names, dict):
                continue
            for name, held in names.items():
                new = _renamed(held, made) if held.depth else held
                if new is not held:
                    names[name] = new if sure else join(held, new)
                    outside = outside or caller is not frame or names is caller.closure
        sure = sure and not caller.maybe  # a branch of its own that may not be taken
        caller = caller.parent
    if frame.interp.heap.rename(lambda held: _renamed(held, made)) or outside:
        frame.interp.heap.change()


def _renamed(value: Value, made: dict[int, Value], depth: int = 2) -> Value:
    """A value in which containers that have changed are replaced; those that hold them are others from then on, too."""
    known = made.get(id(value))
    if known is not None or not depth or value.depth < 2:  # no container holds another one
        return value if known is None else known
    items = value.held_items()
    if not items:
        return value
    new = [_renamed(item, made, depth - 1) for item in items]
    if all(a is b for a, b in zip(items, new, strict=True)):
        return value
    made[id(value)] = found = value.holding_items(new)
    return found


def put_back(frame: Frame, place: ast.expr, changed: Value) -> None:
    """Let a place hold a container that has changed: a name, an attribute of an object, an item of another container."""
    if isinstance(place, ast.Name):
        _put_back_name(frame, place.id, changed)
    elif isinstance(place, ast.Attribute):
        owner = _found(frame, place.value)
        if frame.region is None and not frame.constructing and isinstance(owner, Instance):
            frame.interp.graph_memory.hold(owner, place.attr, changed)
        if owner.identity:
            frame.interp.heap.write(owner, place.attr, changed)
        elif isinstance(place.value, ast.Name):
            frame.set_path(f"{place.value.id}.{place.attr}", changed)
            if frame.constructing and isinstance(owner, Instance):
                # What a branch adds stands beside what the others do.
                frame.interp.instance_attributes.store(frame, owner, place.attr, changed, replace=not frame.maybe)
    elif isinstance(place, ast.Subscript) and (frame.region is None or is_place(place)):
        _put_back_item(frame, place.value, place.slice, changed)
    elif isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr == "setdefault":
        if frame.region is not None and place.args and is_place(place.func.value):
            _put_back_item(frame, place.func.value, place.args[0], changed)


def _put_back_item(frame: Frame, place: ast.expr, index: ast.expr, changed: Value) -> None:
    outer, wanted = _held(frame, place), _held(frame, index)
    updated = outer.with_item(wanted, changed)
    if frame.region is not None and not isinstance(wanted, Const) and updated.held_items():
        # Any of those that it holds may be the one that has changed.
        updated = updated.holding_items([join(item, changed) for item in updated.held_items()])
    if updated is not outer:
        put_back(frame, place, updated)


def _put_back_name(frame: Frame, name: str, changed: Value) -> None:
    if name in frame.env:
        frame.set(name, changed)
    elif frame.region is None:
        outer = frame.closure if frame.closure is not None and name in frame.closure else frame.top_level
        if isinstance(outer, dict) and name in outer:
            outer[name] = changed
            frame.interp.heap.change()
