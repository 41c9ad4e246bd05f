"""What a function does with one of its parameters: whether it is counted, called, looked into, compared, and with what.

A name says little of a constructor's argument; what happens to it says more. `for width in channels`, `conv(dim, dim)`,
`batch["image"]`, `mode in ("full", "half")`: the argument is followed through the function, onto `self`, into the methods
that read it there, and into the functions of the program that it is handed to.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

DEPTH = 4
"""How many calls deep an argument is followed."""
_MAPPING = frozenset({"items", "keys", "values", "get", "update", "setdefault"})
_SEQUENCE = frozenset({"append", "extend", "index", "insert", "count", "pop"})
_COUNTED = frozenset(
    {"len", "enumerate", "zip", "list", "tuple", "sorted", "reversed", "iter", "set", "any", "all", "sum"}
)
_NUMERIC = frozenset({"range", "int", "float", "abs", "round"})


@dataclass
class Need:
    attributes: dict[str, None] = field(default_factory=dict)
    methods: dict[str, None] = field(default_factory=dict)
    """Those of its attributes that are called."""
    keys: dict[str, None] = field(default_factory=dict)
    """Texts that it is subscripted with."""
    values: list[Any] = field(default_factory=list)
    """What it is compared with or looked up in."""
    classes: list[type] = field(default_factory=list)
    """Of what it is asked to be an instance."""
    is_sequence: bool = False
    is_mapping: bool = False
    is_called: bool = False
    is_applied: bool = False
    """Kept on `self` and called there: a part, not a maker of parts."""
    is_number: bool = False
    length: int = 0
    """Elements that it must have at least."""
    layers: list[Any] = field(default_factory=list)
    """Torch's own modules that it is handed to as it is, in the order in which they come."""
    may_be_none: bool = False
    """Somebody asks whether it is None, and goes on."""
    element: Need | None = None
    """What is done with each of its elements, where it has them and something is."""

    def value(self, found: Any) -> None:
        if isinstance(found, (str, int, float, bool)) and found not in self.values:
            self.values.append(found)


@dataclass(frozen=True)
class _Place:
    """A function that is read, for whom, and what stands for the argument in it."""

    function: Callable[..., Any]
    owner: Any
    """The class, or the instance, that `self` is."""
    start: type | None = None
    """The class that holds the function: `super()` goes on behind it."""


def need_of(function: Any, name: str, owner: Any = None, start: type | None = None) -> Need:
    """What becomes of the parameter `name`. `owner` is the class or the instance whose method the function is."""
    need = Need()
    _follow(_Place(inspect.unwrap(function), owner, start), name, need, DEPTH, set())
    return need


@lru_cache(maxsize=512)
def tree_of(function: Any) -> ast.FunctionDef | None:
    """The definition of a function as it is written; None where there is no source."""
    try:
        text = inspect.getsource(function)
        # In a block of its own, as it is indented: a line that is commented out at the margin has no say in that.
        tree = ast.parse(f"if True:\n{text}" if text[:1].isspace() else text)
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return None
    first = tree.body[0] if tree.body else None
    first = first.body[0] if isinstance(first, ast.If) else first
    return first if isinstance(first, ast.FunctionDef) else None


def attributes_read(function: Any, name: str) -> set[str]:
    """The attributes that a function reads from one of its variables: `cfg.width`."""
    tree = tree_of(function)
    return {
        node.attr
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }


@lru_cache(maxsize=512)
def _parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _follow(place: _Place, name: str, need: Need, depth: int, seen: set[tuple[Any, str]]) -> None:
    function = getattr(place.function, "__func__", place.function)
    tree = tree_of(function) if inspect.isfunction(function) else None
    if tree is None or depth == 0 or (function, name) in seen:
        return
    seen.add((function, name))
    for node in sorted(_loads(tree, name), key=lambda node: (node.lineno, node.col_offset)):
        _use(node, tree, place, need, depth, seen)


def _loads(tree: ast.AST, name: str) -> Iterator[ast.expr]:
    """Where a variable, or an attribute of `self` written `self.name`, is read."""
    attribute = name.removeprefix("self.") if name.startswith("self.") else ""
    for node in ast.walk(tree):
        if attribute:
            if (
                isinstance(node, ast.Attribute)
                and node.attr == attribute
                and isinstance(node.ctx, ast.Load)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                yield node
        elif isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _use(node: ast.expr, tree: ast.AST, place: _Place, need: Need, depth: int, seen: set[tuple[Any, str]]) -> None:
    parents = _parents(tree)
    parent = parents.get(node)
    if isinstance(parent, ast.Attribute):
        _attribute(parent, parents, place, need)
    elif isinstance(parent, ast.Subscript) and parent.value is node:
        _subscript(parent, place, need)
    elif isinstance(parent, ast.Subscript):
        for key in _known(parent.value, place):
            need.value(key)
    elif isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
        need.is_sequence = True
        _each(parent.target, tree, place, need, depth, seen)
    elif isinstance(parent, ast.Starred):
        need.is_sequence = True
    elif isinstance(parent, ast.Compare):
        _comparison(node, parent, place, need)
    elif isinstance(parent, ast.BinOp) and not isinstance(parent.op, (ast.Mod, ast.Add)):
        need.is_number = True
    elif isinstance(parent, ast.Assign):
        _assigned(parent, place, need, depth, seen)
    elif isinstance(parent, ast.Call) and parent.func is node:
        need.is_applied |= isinstance(node, ast.Attribute)
        need.is_called |= isinstance(node, ast.Name)
    elif isinstance(parent, (ast.Call, ast.keyword)):
        call = parent if isinstance(parent, ast.Call) else parents.get(parent)
        if isinstance(call, ast.Call):
            _passed(node, parent, call, tree, place, need, depth, seen)


def _each(target: ast.expr, tree: ast.AST, place: _Place, need: Need, depth: int, seen: set[tuple[Any, str]]) -> None:
    """The elements go by a name of their own, or are taken apart."""
    need.element = need.element or Need()
    if isinstance(target, (ast.Tuple, ast.List)):
        need.length = max(need.length, 1)
        need.element.is_sequence = True
        need.element.length = max(need.element.length, len(target.elts))
    elif isinstance(target, ast.Name) and isinstance(tree, ast.FunctionDef):
        _follow(place, target.id, need.element, depth - 1, seen)
        if need.element.is_called and tree.name != "__init__":
            # What is there when the model runs is a part of it.
            need.element.is_called, need.element.is_applied = False, True


def _looped_over(call: ast.Call, node: ast.expr, parents: dict[ast.AST, ast.AST]) -> ast.expr | None:
    """What stands for each element where `enumerate(x)`, `zip(x, y)`, `reversed(x)` is gone through."""
    loop = parents.get(call)
    if not isinstance(loop, (ast.For, ast.comprehension)) or loop.iter is not call or node not in call.args:
        return None
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    pair = loop.target.elts if isinstance(loop.target, ast.Tuple) else []
    if name in ("enumerate", "zip"):
        position = 1 if name == "enumerate" else call.args.index(node)
        return pair[position] if position < len(pair) else None
    return loop.target


def _attribute(read: ast.Attribute, parents: dict[ast.AST, ast.AST], place: _Place, need: Need) -> None:
    if read.attr in _MAPPING:
        need.is_mapping = True
        call = parents.get(read)
        if isinstance(call, ast.Call) and call.args and isinstance(key := _constant(call.args[0], place), str):
            need.keys[key] = None
    elif read.attr in _SEQUENCE:
        need.is_sequence = True
    elif read.attr in ("lower", "upper", "strip"):
        call = parents.get(read)
        outer = parents.get(call) if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and isinstance(outer, ast.Compare):
            _comparison(call, outer, place, need)
        elif isinstance(outer, ast.Subscript) and outer.slice is call:
            for key in _known(outer.value, place):
                need.value(key)
    else:
        need.attributes[read.attr] = None
        call = parents.get(read)
        if isinstance(call, ast.Call) and call.func is read:
            need.methods[read.attr] = None


def _subscript(read: ast.Subscript, place: _Place, need: Need) -> None:
    key = _constant(read.slice, place)
    if isinstance(read.slice, ast.Slice):
        need.is_sequence = True
    elif isinstance(key, str):
        need.keys[key] = None
    elif isinstance(key, int):
        need.is_sequence = True
        need.length = max(need.length, key + 1 if key >= 0 else -key)


def _comparison(node: ast.expr, compare: ast.Compare, place: _Place, need: Need) -> None:
    sides = [compare.left, *compare.comparators]
    for operator, left, right in zip(compare.ops, sides, sides[1:], strict=False):
        other = right if left is node else left
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            need.value(_constant(other, place))
        elif isinstance(operator, (ast.In, ast.NotIn)) and left is node:
            for value in _known(other, place):
                need.value(value)
        elif isinstance(operator, (ast.In, ast.NotIn)):
            key = _constant(left, place)
            if isinstance(key, str):
                need.keys[key] = None
        elif isinstance(operator, (ast.Is, ast.IsNot)):
            need.may_be_none |= isinstance(other, ast.Constant) and other.value is None
        elif isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            need.is_number = True


def _assigned(statement: ast.Assign, place: _Place, need: Need, depth: int, seen: set[tuple[Any, str]]) -> None:
    for target in statement.targets:
        if isinstance(target, ast.Tuple):
            need.is_sequence = True
            need.length = max(need.length, len(target.elts))
        elif isinstance(target, ast.Name):
            _follow(place, target.id, need, depth - 1, seen)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            for method in _methods(place.owner):
                _follow(_Place(method, place.owner), f"self.{target.attr}", need, depth - 1, seen)


def _methods(owner: Any) -> Iterator[Callable[..., Any]]:
    """The methods of a class that are its program's own, those nearest to it first."""
    cls = owner if isinstance(owner, type) else type(owner)
    for base in cls.__mro__ if owner is not None else ():
        if base.__module__.partition(".")[0] in ("torch", "builtins", "abc", "typing"):
            continue
        for value in vars(base).values():
            if inspect.isfunction(value):
                yield value


def _passed(
    node: ast.expr,
    parent: ast.AST,
    call: ast.Call,
    tree: ast.AST,
    place: _Place,
    need: Need,
    depth: int,
    seen: set[tuple[Any, str]],
) -> None:
    """The argument is handed on."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if isinstance(parent, ast.keyword) and parent.arg is None:
        need.is_mapping = True
        return
    if name == "isinstance" and len(call.args) == 2 and call.args[0] is node:
        classes = [_resolved(item, place) for item in _items(call.args[1])]
        need.classes += [cls for cls in classes if isinstance(cls, type) and cls not in need.classes]
        return
    if name in _COUNTED:
        need.is_sequence = True
        each = _looped_over(call, node, _parents(tree))
        if each is not None:
            _each(each, tree, place, need, depth, seen)
        return
    if name in ("filter", "map") and len(call.args) == 2 and call.args[1] is node:
        need.is_sequence = True
        if isinstance(test := call.args[0], ast.Lambda) and test.args.args:
            need.element = need.element or Need()
            for load in _loads(test, test.args.args[0].arg):
                _use(load, tree, place, need.element, depth, seen)
        return
    if name in _NUMERIC:
        need.is_number = True
        return
    if isinstance(call.func, ast.Attribute) and call.func.attr == "get" and call.args and call.args[0] is node:
        for key in _known(call.func.value, place):
            need.value(key)
        return
    callee, owner, start = _callee(call.func, place)
    if callee is None:
        return
    if hasattr(owner, "forward") and not isinstance(owner, type) and type(owner).__module__.startswith("torch.nn"):
        need.layers += [owner] if call.args[:1] == [node] else []
        return
    try:
        parameters = [p for p in inspect.signature(callee).parameters.values() if p.name != "self"]
    except (TypeError, ValueError):
        return
    if isinstance(parent, ast.keyword):
        taken = parent.arg if any(p.name == parent.arg for p in parameters) else None
    else:
        position = call.args.index(node)
        positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        taken = positional[position] if position < len(positional) else None
    if taken is not None:
        _follow(_Place(callee, owner, start), taken, need, depth - 1, seen)


def _callee(function: ast.expr, place: _Place) -> tuple[Any, Any, type | None]:
    """The function that a call runs, whose method it is, and the class that defines it."""
    if (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    ):
        return _above(function.attr, place)
    found = _resolved(function, place)
    if isinstance(found, type):
        if found.__module__.partition(".")[0] in ("torch", "builtins"):
            return None, None, None
        return inspect.getattr_static(found, "__init__", None), found, found
    if hasattr(found, "forward") and not inspect.isfunction(found):
        return inspect.unwrap(type(found).forward), found, type(found)
    if inspect.ismethod(found):
        return found.__func__, found.__self__, None
    if inspect.isfunction(found) and found.__module__.partition(".")[0] != "torch":
        owner = place.owner if isinstance(function, ast.Attribute) and _is_self(function.value) else None
        return inspect.unwrap(found), owner, None
    return None, None, None


def _above(method: str, place: _Place) -> tuple[Any, Any, type | None]:
    cls = place.owner if isinstance(place.owner, type) else type(place.owner)
    order = list(cls.__mro__)
    begin = order.index(place.start) + 1 if place.start in order else _holder(order, place.function) + 1
    for base in order[begin:]:
        if base.__module__.partition(".")[0] in ("torch", "builtins"):
            return None, None, None
        if inspect.isfunction(found := vars(base).get(method)):
            return found, place.owner, base
    return None, None, None


def _holder(order: list[type], function: Any) -> int:
    return next((at for at, base in enumerate(order) if function in vars(base).values()), 0)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _resolved(node: ast.expr, place: _Place) -> Any:
    """The object of a name or a dotted name; None where it is not known without running anything."""
    if isinstance(node, ast.Name):
        if node.id == "self":
            return place.owner
        if (many := _looped(node.id, place)) is not None:
            return many
        names = getattr(place.function, "__globals__", {})
        return names.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        # One of several layers: `self.layers[0]`, `self.heads["mask"]`.
        held = getattr(_resolved(node.value, place), "_modules", {})
        return held.get(str(node.slice.value))
    if isinstance(node, ast.Attribute):
        owner = _resolved(node.value, place)
        if owner is None:
            return None
        try:
            # Modules keep their parts where only `__getattr__` finds them.
            return (
                getattr(owner, node.attr, None)
                if hasattr(owner, "_modules")
                else inspect.getattr_static(owner, node.attr)
            )
        except Exception:
            # Whatever a property raises: nothing is known of it.
            return getattr(owner, node.attr, None) if inspect.ismodule(owner) else None
    return None


def _looped(name: str, place: _Place) -> Any:
    """The first of the layers that a loop gives that name: `for layer in self.layers`."""
    function = getattr(place.function, "__func__", place.function)
    tree = tree_of(function) if inspect.isfunction(function) and not isinstance(place.owner, type) else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
            held = getattr(_resolved(node.iter, place), "_modules", None)
            return next(iter(held.values()), None) if held else None
    return None


def _constant(node: ast.expr, place: _Place) -> Any:
    """A number or a text, written out or by the name of a constant."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        found = _resolved(node, place)
        return found if isinstance(found, (str, int, float)) else None


def _items(node: ast.expr) -> Iterable[ast.expr]:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return node.elts
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    return [node]


def _known(node: ast.expr, place: _Place) -> list[Any]:
    """The members of a collection: written out, or held by a name of the program's."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
        return [value for item in _items(node) if (value := _constant(item, place)) is not None]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
        return _known(node.func.value, place)
    found = _resolved(node, place)
    return list(found)[:12] if isinstance(found, (list, tuple, set, frozenset, dict)) else []
