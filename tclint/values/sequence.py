"""A list, tuple, set, torch.Size or other iterable."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.timeline import guarded
from tclint.values import lists
from tclint.values.constant import NONE, Const, fold_compare
from tclint.values.external import External
from tclint.values.method import Method
from tclint.values.moments import COLLATED, GROWS, KEPT
from tclint.values.origin import NOWHERE, Origin
from tclint.values.place import rebind
from tclint.values.scalar import INT, SIZE, Scalar
from tclint.values.types import SEQUENCE_TYPES
from tclint.values.union import equal, first_containing, join, join_all
from tclint.values.value import NUMBER, SEQUENCE, TENSOR, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.timeline.guarded import Guarded
    from tclint.values.region import CompileSite
    from tclint.values.tensor import Tensor

MAX_NESTING: Final = 4
_MAX_ITEMS: Final = 64
_TOLD: Final = 12
"""Items that tell two sequences apart."""
HANDED: Final = "handed"
"""Instead of where its length comes from: who calls compiled code passes this very set or generator."""


_METHODS: Final = frozenset((*dir(list), *dir(tuple), "_replace", "_asdict", "_make", "_fields"))
_OWNERS: Final = {name: name for name in ("tuple", "set", "frozenset", "range", "slice")} | {
    "deque": "collections.deque"
}
"""The classes of sequences that are no lists, as events name them."""


class Seq(Value):
    """A list, tuple, set, torch.Size or other iterable. `items` is None where the length is unknown.

    `counted` is where numbers begin that count its turns, and by what they grow: `range(2, n)`, `enumerate(loader)`.
    `limit` is how many items a deque holds at most, `names` what a named tuple calls its items. `ready`: of a generator, whether
    making its items runs no CUDA graph, so that none of them is gone when the next one is made.
    """

    __slots__ = ("_key", "counted", "depth", "elem", "items", "kind", "length", "limit", "maker", "names", "ready")
    rank = SEQUENCE

    def __init__(
        self,
        kind: str,
        items: tuple[Value, ...] | None,
        elem: Value = UNKNOWN,
        length: str = "",
        counted: tuple[int, int] | None = None,
        limit: int | None = None,
    ) -> None:
        inner = 0
        if items is None:
            inner = elem.depth
        else:
            for value in items:
                if value.depth > inner:
                    inner = value.depth
        if inner >= MAX_NESTING:
            # `x = (x, x)` in a row doubles with every step: what is that deep is not worth telling apart.
            items, elem, inner = None, UNKNOWN, 0
        self.depth = inner + 1
        self.kind = kind
        self.items = items
        self.elem = elem
        self.length = length  # where the length comes from: "size", "data", "arg" …
        self.counted = counted
        self.limit = limit
        self.maker = ""
        self.names: tuple[str, ...] = ()
        self.ready = kind != "generator"
        self._key: Any = None

    @property
    def key(self) -> Any:
        if self._key is None:
            if self.names:
                self._key = ("q", self.kind, self.names, tuple(v.key for v in self.items or ()))
            elif self.items is not None:
                self._key = ("q", self.kind, tuple(v.key for v in self.items[:_TOLD]), len(self.items))
            else:
                self._key = ("q", self.kind, self.elem.key, self.length)
        return self._key

    def __repr__(self) -> str:
        return f"Seq({self.kind},{self.items if self.items is not None else self.elem})"

    def nesting(self) -> int:
        return max([value.nesting() for value in (self.items if self.items is not None else (self.elem,))], default=0)

    def element(self) -> Value:
        """What any of its items is."""
        if self.items is None:
            return self.elem
        return join_all(self.items) if self.items else UNKNOWN

    def holds_unknown(self) -> bool:
        """Whether nobody knows what its items are."""
        return self.items is None and self.elem is UNKNOWN

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        if self.items is not None and len(self.items) == 2 and name in ("values", "indices"):
            return self.items[0 if name == "values" else 1]
        if name == "maxlen" and self.kind == "deque" and self.items is not None:
            return Const(self.limit)
        if name in self.names and self.items is not None:
            return self.items[self.names.index(name)]
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
        if frame.region is None and self.kind in ("list", "tuple") and name not in _METHODS:
            # Something else must be meant: `for block in net.named_children(): block.compile()`.
            return UNKNOWN.call_method(frame, node, name, args, keywords, open_ended)
        result, changed = self.method(frame, node, name, args)
        if name == "sort" and keywords and frame.region is None:
            changed = self._sorted(frame, node, keywords)
        if name == "sort" and "key" in keywords and frame.region is not None:
            compare_keys(frame, node, self.element(), keywords["key"])
        frame.interp.emitter.call(frame, node, f"list.{name}", args, keywords, self, result)
        owner = _OWNERS.get(self.kind)
        if owner is not None:  # a class of its own, with facts of its own
            frame.interp.emitter.call(frame, node, f"{owner}.{name}", args, keywords, self, result)
        if changed is not None:
            rebind(frame, node, changed, "()", self)
        return result

    def _sorted(self, frame: Frame, node: ast.AST, keywords: Mapping[str, Value]) -> Value:
        """The items as `sorted` puts them, where that is known."""
        if frame.runs_once or not frame.blocks:
            ordered = External("builtins.sorted").call(frame, node, [self], keywords)
            if isinstance(ordered, Seq) and ordered.items is not None:
                return self._holding(ordered.items, "sort")
        return Seq(self.kind, None, self.element(), self.length)

    def method(self, frame: Frame, node: ast.AST, name: str, args: Sequence[Value]) -> tuple[Value, Value | None]:
        """A method of a list, tuple or set: its value, and the changed container if it changes it."""
        if frame.region is None and self.items is not None and (frame.runs_once or not frame.blocks):
            more = args[0].known_items(frame) if args else None
            told = lists.changed(self.items, name, args, more)
            if told is not None and len(told[1]) <= lists.MOST:
                result, items = told
                return result, None if items is self.items else self._holding(items, name)
        if name in ("append", "add", "appendleft") and args:
            if self.items is not None and len(self.items) < 16 and (frame.runs_once or not frame.blocks):
                return NONE, Seq(self.kind, (*self.items, args[0]))
            return NONE, self._grown(args[0], self.length)
        if name == "extend" and args:
            other = args[0]
            if (
                self.items is not None
                and isinstance(other, Seq)
                and other.items is not None
                and len(self.items) + len(other.items) <= 32
                and not frame.blocks
            ):
                return NONE, Seq(self.kind, self.items + other.items)
            return NONE, self._grown(other.iterate(frame, node), self.length)
        if name == "insert" and len(args) == 2:
            return NONE, self._grown(args[1], self.length)
        if name in ("pop", "popleft"):
            element = self.element()
            if self.items is not None and not args and self.items and name == "pop":
                return self.items[-1], Seq(self.kind, self.items[:-1])
            return element, Seq(self.kind, None, element, self.length)
        if name == "numel":
            return SIZE, None
        if name in ("index", "count"):
            return INT, None
        if name in ("copy", "union", "intersection", "difference"):
            return self, None
        if name in ("sort", "reverse", "clear", "remove"):
            return NONE, (Seq(self.kind, ()) if name == "clear" else Seq(self.kind, None, self.element()))
        return UNKNOWN, None

    def _holding(self, items: tuple[Value, ...], method: str) -> Seq:
        """The same container with other items; what has a limit lets go of those at the other end."""
        if self.limit is not None and len(items) > self.limit:
            items = items[: self.limit] if method.endswith("left") else items[len(items) - self.limit :]
        return Seq(self.kind, items, limit=self.limit)

    def _grown(self, new: Value, length: str) -> Seq:
        """The sequence with one more element, whose place is not kept."""
        return Seq(self.kind, None, new if self.items == () else join(self.element(), new), length)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        items = self.items
        if type(index) is Const and isinstance(index.value, int) and items is not None:
            n = len(items)
            return items[index.value] if -n <= index.value < n else UNKNOWN
        if type(index) is Seq and index.kind == "slice":
            return self._slice(index)
        if self.kind == "size":
            if self.length and type(index) is Const and isinstance(index.value, int):
                return _size(self.length, index.value)
            return SIZE
        if self.length == "args":
            return UNKNOWN  # positional arguments are of different kinds
        return self.element()

    def _slice(self, index: Seq) -> Value:
        bounds: list[Any] = [b.value if isinstance(b, Const) else "?" for b in index.items or (NONE, NONE, NONE)]
        if self.items is not None and index.items is not None and all(b is None or isinstance(b, int) for b in bounds):
            return Seq(self.kind, self.items[slice(*bounds)])
        if self.kind == "size":
            return self._some_sizes(*bounds)
        return Seq(self.kind, None, self.element(), self.length)

    def _some_sizes(self, start: Any, stop: Any, step: Any) -> Value:
        """`x.shape[a:b]`: which sizes these are, where the bounds tell."""
        if self.length and self.items is None and self.elem is SIZE and step is None:
            if isinstance(start, int) and start < 0 and stop is None:
                return Seq("size", tuple(_size(self.length, i) for i in range(start, 0)))
            if start is None or (isinstance(start, int) and start >= 0):
                first = start or 0
                if isinstance(stop, int) and first <= stop:
                    return Seq("size", tuple(_size(self.length, i) for i in range(first, stop)))
                if stop is None:
                    # How many there are is not known: the first stands for all.
                    return Seq("size", None, _size(self.length, first))
        return Seq("size", None, SIZE)

    def with_item(self, index: Value, value: Value) -> Value:
        if self.kind != "list":
            return self
        if self.items is not None and isinstance(index, Const) and isinstance(index.value, int):
            n = len(self.items)
            if -n <= index.value < n:
                changed = list(self.items)
                changed[index.value] = value
                return Seq("list", tuple(changed))
        if self.items:
            # An unknown place is filled with what belongs there.
            return self
        return Seq("list", None, join(self.element(), value), self.length)

    def iterate(self, frame: Frame, node: ast.AST) -> Value:
        return self.element()

    def turns(self, frame: Frame, node: ast.AST, most: int, later: int) -> tuple[Sequence[Value], bool]:
        if self.items is not None:
            if len(self.items) <= most or most < 2:
                return self.items[:most], len(self.items) <= most
            return (*self.items[: most - 1], self.items[-1]), False  # the last one may be another: what is left over
        if self.counted is None:
            return super().turns(frame, node, most, later)
        start, step = self.counted
        numbers: list[Value] = [Const(start + step * turn) for turn in range(later)]
        if later > 1:
            # Of those that follow nobody knows which: what only the last one does is seen too.
            numbers.append(self.elem if isinstance(self.elem, Scalar) else INT)
        if isinstance(self.elem, Seq) and self.elem.items is not None:
            return [Seq("tuple", (number, *self.elem.items[1:])) for number in numbers], False
        return numbers, False

    @property
    def length_source(self) -> str:
        return self.lent if self.length not in (KEPT, COLLATED) else ""

    @property
    def lent(self) -> str:
        """Where the length of what is made of this one comes from: that was not handed in itself."""
        return "arg" if self.length == HANDED else self.length

    def known_length(self) -> int | None:
        return len(self.items) if self.items is not None and self.kind == "tuple" else None

    def known_items(self, frame: Frame) -> tuple[Value, ...] | None:
        return self.items

    def has(self, element: Value) -> bool | None:
        if self.items is None:
            return None
        found = False
        for item in self.items:
            if type(item) is Const and type(element) is Const:
                same: bool | None = item.value == element.value and type(item.value) is type(element.value)
            else:
                same = equal(item, element)
            if same is None:
                return None
            found = found or same
        return found

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        if type(left) is Seq and type(right) is Seq:
            if operator != "Add":
                return UNKNOWN
            if left.items is not None and right.items is not None and len(left.items) + len(right.items) <= _MAX_ITEMS:
                return Seq(left.kind, left.items + right.items)
            return Seq(left.kind, None, join(left.element(), right.element()), left.length or right.length)
        other = right if left is self else left
        if operator == "Mult":
            frame.interp.emitter.operation(frame, node, "repeat", self, other)
            if isinstance(other, Const) and isinstance(other.value, int) and self.items is not None:
                times = max(other.value, 0)
                if len(self.items) * times <= _MAX_ITEMS:
                    return Seq(self.kind, self.items * times)
            return Seq(self.kind, None, self.element(), other.source)
        if operator == "Add":
            return Seq(self.kind, None, self.element() if other is not UNKNOWN else UNKNOWN)
        return UNKNOWN

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value | None:
        known = _constants(left), _constants(right)
        if known[0] is not None and known[1] is not None and left.kind == right.kind:  # type: ignore[attr-defined]
            return fold_compare(operator, *known)
        other = right if left is self else left
        if other.rank >= NUMBER:
            frame.interp.emitter.operation(frame, node, operator, left, right)
        return None

    def truth(self) -> bool | None:
        return bool(self.items) if self.items is not None and self.kind == "tuple" else None

    def is_none(self) -> bool | None:
        return False

    def types(self) -> tuple[Value, ...]:
        if self.items is None:
            return (self,)
        return tuple(t for item in self.items for t in item.types())

    def is_a(self, wanted: Value) -> bool | None:
        known = SEQUENCE_TYPES.get(self.kind)
        if known is not None and isinstance(wanted, External) and wanted.name:
            return wanted.name in known
        return None

    def contains(self, flag: int, depth: int = 3) -> Tensor | None:
        return first_containing(self.items if self.items is not None else (self.elem,), flag, depth)

    def holds_compiled(self) -> bool:
        return any(v.holds_compiled() for v in (self.items if self.items is not None else (self.elem,)))

    def decides_code(self) -> bool:
        return self.items is not None and any(v.decides_code() for v in self.items)

    def owned(self, flags: int, site: CompileSite | None, origin: Origin) -> Value:
        if self.items is not None:
            return Seq(self.kind, tuple(v.owned(flags, site, origin) for v in self.items)).named(self.names)
        return Seq(self.kind, None, self.elem.owned(flags, site, origin), self.length)

    def sized(self, like: Value) -> Value:
        if not isinstance(like, Seq) or like.items is None:
            return self
        mine = self.items if self.items is not None else (self.elem,) * len(like.items)
        if len(mine) != len(like.items) or like.kind != self.kind:
            return self
        pairs = zip(mine, like.items, strict=True)
        return Seq(self.kind, tuple(a.sized(b) for a, b in pairs), UNKNOWN, self.length).named(self.names)

    def held_items(self) -> tuple[Value, ...]:
        return self.items if self.items is not None and self.kind != "size" else ()

    def holding_items(self, items: Sequence[Value]) -> Value:
        return Seq(self.kind, tuple(items), self.elem, self.length, self.counted, self.limit).named(self.names)

    def fresh(self) -> Value:
        return Seq(self.kind, self.items, self.elem, self.length, self.counted, self.limit).named(self.names)

    def mapped(self, of: int, change: Callable[[Tensor], Tensor]) -> Value:
        if self.contains(of) is None:
            return self
        if self.items is not None:
            return Seq(self.kind, tuple(v.mapped(of, change) for v in self.items), UNKNOWN, self.length).named(
                self.names
            )
        return Seq(self.kind, None, self.elem.mapped(of, change), self.length)

    def guarded(self) -> Guarded:
        if self.length == GROWS:
            return guarded.Varies("it grows", burned=True)
        if self.length == COLLATED:
            return guarded.Varies("the rows that its batch keeps", burned=True)
        if self.items is None or self.kind not in ("list", "tuple", "set", "frozenset", "deque", "layer"):
            return guarded.UNKNOWN
        return guarded.Items(self.kind, tuple(item.guarded() for item in self.items))

    def made_by(self, maker: str) -> Seq:
        """The same, as what a call gives that is no list but goes through one: an iterator, a view."""
        told = Seq(self.kind, self.items, self.elem, self.length, self.counted, self.limit)
        told.maker = maker
        return told

    def at_hand(self, ready: bool) -> Seq:
        """The same, which nobody else holds yet; `ready` where making its items runs nothing."""
        self.ready = self.ready or ready
        return self

    def named(self, names: tuple[str, ...]) -> Seq:
        """The same, which nobody else holds yet, as a tuple with names for its items."""
        self.names = names
        return self

    def as_input(self, name: str, origin: Origin) -> Value:
        length = HANDED if self.kind in ("set", "frozenset", "generator") else "arg"
        if self.items is not None:
            items = tuple(item.as_input(name, origin) for item in self.items)
            return Seq(self.kind, items, UNKNOWN, length).made_by(self.maker).named(self.names)
        return Seq(self.kind, None, self.elem.as_input(name, origin), length).made_by(self.maker)

    def join_alike(self, other: Seq) -> Value | None:
        if self.key == other.key:
            return self
        kind = self.kind if self.kind == other.kind else "list"
        if self.items is not None and other.items is not None and len(self.items) == len(other.items):
            items = tuple(join(x, y) for x, y in zip(self.items, other.items, strict=True))
            return Seq(kind, items).named(self.names if self.names == other.names else ())
        if self.items == ():
            return Seq(kind, None, other.element(), other.length)
        if other.items == ():
            return Seq(kind, None, self.element(), self.length)
        if kind == "tuple" and min(len(self.items or ()), len(other.items or ())) > 1:
            return None  # `return x, size` beside `return x, size, extra`: who unpacks them knows which one it is
        return Seq(kind, None, join(self.element(), other.element()), self.length or other.length)

    def widen(self) -> Value:
        return Seq(self.kind, None, self.element().widen())


def parts_of(index: Value) -> Sequence[Value]:
    """What stands between the commas of `x[a, b]`; of another index, the index itself."""
    return index.items if isinstance(index, Seq) and index.kind == "tuple" and index.items is not None else (index,)


def selectors_of(index: Value) -> Sequence[Value]:
    """What selects in `x[a, b]`; the tensors of a list, `x[[a, b]]`, stand for themselves as well."""
    if isinstance(index, Seq) and index.kind == "list" and index.items is not None:
        return index.items if any(item.rank == TENSOR for item in index.items) else (index,)
    return parts_of(index)


def _constants(value: Value) -> tuple[object, ...] | None:
    """The items of a list or tuple of constants."""
    if type(value) is not Seq or value.kind not in ("list", "tuple") or value.items is None:
        return None
    return (
        tuple(item.value for item in value.items if type(item) is Const)
        if all(type(item) is Const for item in value.items)
        else None
    )


def _size(tensor: str, dim: int) -> Scalar:
    return Scalar("int", "size", NOWHERE, (tensor, dim))


def compare_keys(frame: Frame, node: ast.AST, element: Value, key: Value) -> None:
    """`items.sort(key=…)` and its like in compiled code: a key is asked for each element, and they are compared."""
    asked = key.call(frame, node, [element], {})
    parts = asked.items or () if isinstance(asked, Seq) else (asked,)
    told = next((part for part in parts if part.rank == TENSOR), None)
    if told is not None:
        func = node.func if isinstance(node, ast.Call) else None
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else "sorted"
        frame.interp.emitter.branch(frame, node, told, name)
