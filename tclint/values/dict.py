"""A dict, or the keywords of a call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.timeline import guarded
from tclint.torch_facts import facts
from tclint.values.constant import NONE, Const
from tclint.values.external import External
from tclint.values.method import Method
from tclint.values.origin import Origin
from tclint.values.place import rebind, rename
from tclint.values.scalar import STR
from tclint.values.sequence import MAX_NESTING, Seq
from tclint.values.types import TENSOR_TYPES
from tclint.values.union import first_containing, join, join_all
from tclint.values.value import UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.timeline.guarded import Guarded
    from tclint.values.region import CompileSite
    from tclint.values.tensor import Tensor

_MAX_KEYS: Final = 64
_VIEWS: Final = facts.named("gives a view of a dict")


class Held:
    """A class, a function or a member of an enumeration as the key of a dict."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and self.value.key == other.value.key

    def __hash__(self) -> int:
        return hash(self.value.key)


class Dict(Value):
    """A dict (or keyword collection). `items` holds known constant keys, `elem` what any other key gives; `objects` says that
    a key is an object, a class or a function, and no plain value. `missing` makes what a `defaultdict` lacks."""

    __slots__ = ("_key", "depth", "elem", "items", "kind", "missing", "objects")

    def __init__(
        self,
        items: Mapping[Any, Value],
        elem: Value | None = None,
        kind: str = "dict",
        objects: bool = False,
        missing: Value | None = None,
    ) -> None:
        inner = max([v.depth for v in items.values()], default=0)
        if inner >= MAX_NESTING:
            items, elem, inner = {}, UNKNOWN, 0
        self.depth = inner + 1
        self.items = items
        self.elem = elem  # None: no other keys
        self.kind = kind
        self.objects = objects
        self.missing = missing
        self._key: Any = None

    @property
    def key(self) -> Any:
        if self._key is None:
            some = list(self.items.items())[:12]
            self._key = ("d", tuple((str(k), v.key) for k, v in some), self.elem.key if self.elem else None)
        return self._key

    def __repr__(self) -> str:
        return f"Dict({dict(self.items)},{self.elem})"

    def _like(self, items: Mapping[Any, Value], elem: Value | None) -> Dict:
        """The same dict with something else in it."""
        return Dict(items, elem, self.kind, self.objects, self.missing)

    def nesting(self) -> int:
        values = (*self.items.values(), self.elem) if self.elem is not None else tuple(self.items.values())
        return max([value.nesting() for value in values], default=0)

    def element(self) -> Value:
        """What any of its values is."""
        values = self._values()
        return join_all(values) if values else UNKNOWN

    def _values(self) -> list[Value]:
        values = list(self.items.values())
        if self.elem is not None:
            values.append(self.elem)
        return values

    @property
    def of_objects(self) -> str:
        """What the facts add to the name of what shows its keys."""
        return " of objects" if self.objects else ""

    def holds_unknown(self) -> bool:
        """Whether there may be keys of which nobody knows what they hold."""
        return self.elem is not None and _mixed(self.elem)

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return Method(self, name)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        result, changed = self.method(name, args, keywords)
        if frame.region is None and isinstance(result, Seq) and name in _VIEWS:
            result = result.made_by(f"dict.{name}{self.of_objects}")
        frame.interp.emitter.call(frame, node, f"dict.{name}", args, keywords, self, result)
        if "." in self.kind:  # a class of its own, with facts of its own
            frame.interp.emitter.call(frame, node, f"{self.kind}.{name}", args, keywords, self, result)
        if changed is not None:
            rebind(frame, node, changed, "{}", self)
        return result

    def method(self, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> tuple[Value, Value | None]:
        """A method of a dict: its value, and the changed container if it changes it."""
        if name in ("get", "pop", "setdefault"):
            return self._lookup(name, args)
        closed = self.elem is None and len(self.items) <= 16
        if name == "items":
            if closed:
                return Seq("list", tuple([Seq("tuple", (_key(k), v)) for k, v in self.items.items()])), None
            return Seq("list", None, Seq("tuple", (STR, self.element()))), None
        if name == "values":
            if closed:
                return Seq("list", tuple(self.items.values())), None
            return Seq("list", None, self.element()), None
        if name == "keys":
            return Seq("list", tuple(_key(k) for k in self.items) if self.elem is None else None, STR), None
        if name == "update":
            return NONE, self._updated(args, keywords)
        if name == "copy":
            return self, None
        return UNKNOWN, None

    def _lookup(self, name: str, args: Sequence[Value]) -> tuple[Value, Value | None]:
        fallback = args[1] if len(args) > 1 else NONE
        wanted = _plain(args[0]) if args else None
        if name == "get" and args and args[0].is_definition and Held(args[0]) in self.items:
            return self.items[Held(args[0])], None
        if wanted is not None:
            found = self.items.get(wanted.value)
            if found is not None:
                if name == "pop":
                    rest = {k: v for k, v in self.items.items() if k != wanted.value}
                    return found, self._like(rest, self.elem)
                return found, None
            if self.elem is None:
                return fallback, self.with_item(wanted, fallback) if name == "setdefault" else None
            return (UNKNOWN if _mixed(self.elem) else join(self.elem, fallback)), None
        return (UNKNOWN if self.kind == "kwargs" else join(self.element(), fallback)), None

    def _updated(self, args: Sequence[Value], keywords: Mapping[str, Value]) -> Dict:
        items = dict(self.items)
        elem = self.elem
        if args and isinstance(args[0], Dict):
            items.update(args[0].items)
            more = args[0].elem
            elem = more if elem is None else elem if more is None else join(elem, more)
        elif args:
            elem = UNKNOWN
        items.update(keywords)
        return self._like(items, elem)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        wanted = _plain(index)
        if wanted is not None:
            if wanted.value in self.items:
                return self.items[wanted.value]
            if self.missing is not None and self.elem is None:
                return self._filled_in(frame, node, wanted)
            if self.elem is None or _mixed(self.elem):
                return UNKNOWN
        elif index.is_definition and Held(index) in self.items:
            return self.items[Held(index)]
        return UNKNOWN if self.kind == "kwargs" else self.element()

    def _filled_in(self, frame: Frame, node: ast.AST, wanted: Const) -> Value:
        """What is read of a `defaultdict` that does not have it: in eager code it is there from then on."""
        assert self.missing is not None
        made = self.missing.call(frame, node, [], {}).fresh()
        rename(frame, self, self.with_item(wanted, made))
        return made

    def with_item(self, index: Value, value: Value) -> Value:
        items = dict(self.items)
        key = _plain(index)
        if key is not None and _hashable(key.value):
            if len(items) < _MAX_KEYS or key.value in items:
                items[key.value] = value
                return self._like(items, self.elem)
        if self.kind == "kwargs" or (items and self.elem is None):
            # Known keys hold different things; what an unknown key holds says nothing about the rest.
            return self._like(items, UNKNOWN)
        return self._like(items, value if self.elem is None else join(self.elem, value))

    def iterate(self, frame: Frame, node: ast.AST) -> Value:
        keys = [_key(k) for k in self.items]
        if not keys:
            return UNKNOWN
        return join_all([*keys, STR]) if self.elem is not None else join_all(keys)

    def turns(self, frame: Frame, node: ast.AST, most: int, later: int) -> tuple[Sequence[Value], bool]:
        if self.elem is not None:
            return super().turns(frame, node, most, later)
        return [_key(k) for k in self.items][:most], len(self.items) <= most

    def has(self, element: Value) -> bool | None:
        key = _plain(element) if self.elem is None else None
        if self.elem is None and element.is_definition and Held(element) in self.items:
            return True
        return key.value in self.items if key is not None else None

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        if operator == "BitOr" and type(left) is Dict and type(right) is Dict:
            return join(left, right)
        return UNKNOWN

    def is_none(self) -> bool | None:
        return False

    def is_a(self, wanted: Value) -> bool | None:
        name = wanted.name if isinstance(wanted, External) else ""
        if name in ("builtins.dict", "collections.abc.Mapping", "typing.Mapping"):
            return True
        return False if name in TENSOR_TYPES or name in ("builtins.list", "builtins.tuple", "builtins.str") else None

    def contains(self, flag: int, depth: int = 3) -> Tensor | None:
        return first_containing(self._values(), flag, depth)

    def holds_compiled(self) -> bool:
        return any(v.holds_compiled() for v in self._values())

    def owned(self, flags: int, site: CompileSite | None, origin: Origin) -> Value:
        items = {k: v.owned(flags, site, origin) for k, v in self.items.items()}
        elem = self.elem.owned(flags, site, origin) if self.elem is not None else None
        return self._like(items, elem)

    def sized(self, like: Value) -> Value:
        if not isinstance(like, Dict) or self.items.keys() != like.items.keys():
            return self
        return self._like({k: v.sized(like.items[k]) for k, v in self.items.items()}, self.elem)

    def held_items(self) -> tuple[Value, ...]:
        return tuple(self.items.values())

    def holding_items(self, items: Sequence[Value]) -> Value:
        return self._like(dict(zip(self.items, items, strict=True)), self.elem)

    def fresh(self) -> Value:
        return self._like(self.items, self.elem)

    def mapped(self, of: int, change: Callable[[Tensor], Tensor]) -> Value:
        if self.contains(of) is None:
            return self
        items = {k: v.mapped(of, change) for k, v in self.items.items()}
        return self._like(items, self.elem.mapped(of, change) if self.elem is not None else None)

    def guarded(self) -> Guarded:
        if self.elem is not None:
            return guarded.UNKNOWN
        return guarded.Table("dict", tuple((key, value.guarded()) for key, value in self.items.items()))

    def as_input(self, name: str, origin: Origin) -> Value:
        items = {k: v.as_input(name, origin) for k, v in self.items.items()}
        return self._like(items, self.elem.as_input(name, origin) if self.elem is not None else None)

    def join_alike(self, other: Dict) -> Value | None:
        if self.key == other.key:
            return self
        items: dict[Any, Value] = {}
        for name in [*self.items, *(k for k in other.items if k not in self.items)]:
            left, right = self.items.get(name), other.items.get(name)
            items[name] = join(left, right) if left and right else (left or right or UNKNOWN)
        if self.elem is None or other.elem is None:
            elem = self.elem or other.elem
        else:
            elem = join(self.elem, other.elem)
        return Dict(items, elem, self.kind, self.objects and other.objects, self.missing or other.missing)

    def widen(self) -> Value:
        return Dict({}, UNKNOWN)


def _mixed(elem: Value) -> bool:
    """Whether some keys hold what nobody knows: then the others say nothing of one that is asked for by its name."""
    return UNKNOWN in elem.options


def _key(name: object) -> Value:
    if isinstance(name, Held):
        return name.value
    if isinstance(name, tuple):
        return Seq("tuple", tuple(_key(part) for part in name))
    return Const(name) if isinstance(name, (str, int, float, bool)) else UNKNOWN


def _plain(index: Value) -> Const | None:
    """The constant that something is kept under, also a tuple of some; None where it is not known."""
    if isinstance(index, Seq) and index.kind in ("tuple", "size") and index.items is not None:
        parts = [part.value for part in index.items if isinstance(part, Const)]
        return Const(tuple(parts)) if len(parts) == len(index.items) else None
    return index if type(index) is Const else None


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
