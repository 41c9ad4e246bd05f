"""Abstract values: what the interpreter knows about one expression.

A value is immutable and small. Two values that an analysis need not tell apart have the same `key`, which is what call
memoisation compares. Unknown is a value of its own and stays unknown: nothing is ever guessed from it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from tclint.program import Class, Function, Module

# How strong the evidence is that a value is a tensor.
NAMED: Final = 1  # only its name says so
USED: Final = 2  # it is used, or passed by a caller, as one
PROVEN: Final = 3  # produced by torch, or annotated

# Facts of a tensor, as bits.
EXPANDED: Final = 1  # strides depend on whether an expanded size is 1
OWNED: Final = 2  # storage belongs to a CUDA graph: the next replay overwrites it
PARAMETER: Final = 4  # nn.Parameter or registered buffer
INPUT: Final = 8  # an argument of the compiled callable, or a view of one
DATA_SIZED: Final = 16  # its shape depends on values
HOST: Final = 32  # built on the CPU inside the region
STRIDED: Final = 64  # a view that is surely not contiguous
NEEDS_GRAD: Final = 128  # requires_grad was asked for
RAW: Final = 256  # not derived: a fresh input of the root
STATIC_OUT: Final = 512  # bound inside a manual CUDA-graph capture
SPARSE: Final = 1024  # a sparse layout
ARRAY: Final = 2048  # a numpy array, which Dynamo traces as a tensor
CONSTANT: Final = 4096  # built from constants alone: Dynamo can fold some reads
STALE: Final = 16384  # owned by a CUDA graph that has run again since
DETACHED: Final = 32768  # cut off from autograd, so nothing keeps its storage alive

UNBACKED: Final = 1000
"""Added to a dimension among a tensor's marks where it is marked unbacked: no special case for sizes 0 and 1."""

# What survives an operation that returns fresh storage.
_DERIVED_KEEP: Final = DATA_SIZED | HOST | ARRAY | CONSTANT


class Origin(NamedTuple):
    """Where a value came from: a node of a file, for "tensor since line 87"."""

    line: int
    node: ast.AST | None

    def text(self) -> str:
        if self.node is None:
            return ""
        try:
            text = ast.unparse(self.node)
        except (RecursionError, AttributeError, ValueError):
            return ""
        return text if len(text) <= 60 else text[:57] + "…"


NOWHERE: Final = Origin(0, None)


class Value:
    """Base of all abstract values."""

    __slots__ = ()
    depth: int = 0
    """How deep containers nest in it."""
    key: Any = ()

    @property
    def options(self) -> tuple[Value, ...]:
        return (self,)


class Unknown(Value):
    __slots__ = ()
    key = ("?",)

    def __repr__(self) -> str:
        return "?"


UNKNOWN: Final = Unknown()


class Const(Value):
    """A Python constant whose value is known."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = ("c", type(value).__name__, value)

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


NONE: Final = Const(None)
TRUE: Final = Const(True)
FALSE: Final = Const(False)


class Scalar(Value):
    """A Python scalar of unknown value. `source` says where its value comes from:

    `size` from a tensor's shape, `data` out of a tensor, `arg` an argument of the compiled callable, `attr` an attribute
    of a module, `global` a module-level name, or nothing.
    """

    __slots__ = ("key", "origin", "ref", "source", "type")

    def __init__(
        self, type: str, source: str = "", origin: Origin = NOWHERE, ref: tuple[str, int] | None = None
    ) -> None:
        self.type = type
        self.source = source
        self.origin = origin
        self.ref = ref  # the root parameter it comes from; for a size also the dimension, else -1
        self.key = ("s", type, source, ref)

    def __repr__(self) -> str:
        return f"Scalar({self.type},{self.source})"


SIZE: Final = Scalar("int", "size")
INT: Final = Scalar("int")
FLOAT: Final = Scalar("float")
BOOL: Final = Scalar("bool")
STR: Final = Scalar("str")


class Tensor(Value):
    """A tensor and what is known of it. `dtype` is one of b i f c or empty; `ndim` is -1 where unknown."""

    __slots__ = ("base", "conf", "dtype", "flags", "key", "marks", "ndim", "origin", "shape", "site")

    def __init__(
        self,
        conf: int = PROVEN,
        dtype: str = "",
        ndim: int = -1,
        flags: int = 0,
        origin: Origin = NOWHERE,
        base: str = "",
        site: Any = None,
        shape: Any = None,
        marks: frozenset[int] = frozenset(),
    ) -> None:
        self.shape: tuple[int | None, ...] | frozenset[tuple[int | None, ...]] | None = shape  # of an example
        self.marks = marks  # dimensions marked dynamic in eager code
        self.conf = conf
        self.dtype = dtype
        self.ndim = ndim
        self.flags = flags
        self.origin = origin
        self.base = base  # name of the root parameter it aliases
        self.site = site  # the compile site that owns its storage
        # A floating and an unknown type are called alike: a function is not interpreted for each of them.
        self.key: Any = ("t", conf, dtype if dtype != "f" else "", ndim if ndim == 0 else -1, flags, site)
        if shape is not None or marks:
            self.key = (*self.key, shape, marks)

    def with_(self, **changes: Any) -> Tensor:
        fields: dict[str, Any] = {name: getattr(self, name) for name in _TENSOR_FIELDS}
        fields.update(changes)
        return Tensor(**fields)

    def derived(self, origin: Origin, dtype: str = "", ndim: int = -1) -> Tensor:
        """Fresh storage computed from this tensor."""
        return Tensor(self.conf, dtype, ndim, self.flags & _DERIVED_KEEP, origin)

    def view(self, origin: Origin, ndim: int = -1, flags: int = 0) -> Tensor:
        """A tensor that shares this one's storage."""
        kept = self.flags & ~RAW
        return Tensor(self.conf, self.dtype, ndim, kept | flags, origin, self.base, self.site)

    def __repr__(self) -> str:
        return f"Tensor({self.conf},{self.dtype},{self.ndim},{self.flags})"


_TENSOR_FIELDS: Final = ("conf", "dtype", "ndim", "flags", "origin", "base", "site", "shape", "marks")


_MAX_NESTING: Final = 4


class Seq(Value):
    """A list, tuple, set, torch.Size or other iterable. `items` is None where the length is unknown.

    `counted` is where numbers begin that count its turns, and by what they grow: `range(2, n)`, `enumerate(loader)`.
    """

    __slots__ = ("_key", "counted", "depth", "elem", "items", "kind", "length")

    def __init__(
        self,
        kind: str,
        items: tuple[Value, ...] | None,
        elem: Value = UNKNOWN,
        length: str = "",
        counted: tuple[int, int] | None = None,
    ) -> None:
        inner = 0
        for value in items if items is not None else (elem,):
            if isinstance(value, (Seq, Dict, Union)) and value.depth > inner:
                inner = value.depth
        if inner >= _MAX_NESTING:
            # `x = (x, x)` in a row doubles with every step: what is that deep is not worth telling apart.
            items, elem, inner = None, UNKNOWN, 0
        self.depth = inner + 1
        self.kind = kind
        self.items = items
        self.elem = elem
        self.length = length  # where the length comes from: "size", "data", "arg" …
        self.counted = counted
        self._key: Any = None

    @property
    def key(self) -> Any:
        if self._key is None:
            if self.items is not None:
                self._key = ("q", self.kind, tuple(v.key for v in self.items[:12]), len(self.items))
            else:
                self._key = ("q", self.kind, self.elem.key, self.length)
        return self._key

    def element(self) -> Value:
        if self.items is None:
            return self.elem
        return join_all(self.items) if self.items else UNKNOWN

    def __repr__(self) -> str:
        return f"Seq({self.kind},{self.items if self.items is not None else self.elem})"


class Dict(Value):
    """A dict (or keyword collection). `items` holds known constant keys, `elem` what any other key gives."""

    __slots__ = ("_key", "depth", "elem", "items", "kind")

    def __init__(self, items: Mapping[Any, Value], elem: Value | None = None, kind: str = "dict") -> None:
        inner = max((v.depth for v in items.values() if isinstance(v, (Seq, Dict, Union))), default=0)
        if inner >= _MAX_NESTING:
            items, elem, inner = {}, UNKNOWN, 0
        self.depth = inner + 1
        self.items = items
        self.elem = elem  # None: no other keys
        self.kind = kind
        self._key: Any = None

    @property
    def key(self) -> Any:
        if self._key is None:
            some = list(self.items.items())[:12]
            self._key = ("d", tuple((str(k), v.key) for k, v in some), self.elem.key if self.elem else None)
        return self._key

    def element(self) -> Value:
        values = list(self.items.values())
        if self.elem is not None:
            values.append(self.elem)
        return join_all(values) if values else UNKNOWN


class Instance(Value):
    """An object of a class of the program. `context` tells constructions with different arguments apart."""

    __slots__ = ("cls", "context", "fields", "key")

    def __init__(self, cls: Class, context: Any = None, fields: Mapping[str, Value] | None = None) -> None:
        self.cls = cls
        self.context = context
        self.fields = fields  # constructor keywords of a dataclass-like class
        self.key: Any = ("o", cls.qualname, cls.module.name, context)
        if fields:
            self.key = (*self.key, tuple((k, v.key) for k, v in fields.items()))

    def __repr__(self) -> str:
        return f"Instance({self.cls.qualname})"


class ClassValue(Value):
    __slots__ = ("cls", "key")

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.key = ("C", cls.qualname, cls.module.name)


class FunctionValue(Value):
    """A function of the program, perhaps bound to a receiver, perhaps closing over an environment."""

    __slots__ = ("bound", "closure", "function", "key")

    def __init__(
        self, function: Function, bound: Value | None = None, closure: Mapping[str, Value] | None = None
    ) -> None:
        self.function = function
        self.bound = bound
        self.closure = closure
        key: Any = ("f", function.qualname, function.module.name, function.line)
        if bound is not None:
            key = (*key, bound.key)
        if closure is not None:
            captured = sorted(function.free_names() & closure.keys())
            # A closure is told apart by the callables it captured: they decide which code runs.
            key = (*key, tuple((n, closure[n].key) for n in captured if isinstance(closure[n], CALLABLES)))
        self.key = key

    def __repr__(self) -> str:
        return f"Function({self.function.qualname})"


class ModuleValue(Value):
    """A module of the program, as an object."""

    __slots__ = ("key", "module")

    def __init__(self, module: Module) -> None:
        self.module = module
        self.key = ("m", module.name)


class External(Value):
    """A module, class, function or constant outside the program, by its dotted name."""

    __slots__ = ("key", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.key = ("e", name)

    def __repr__(self) -> str:
        return f"External({self.name})"


class Object(Value):
    """An instance of a class outside the program: `logging.Logger`, `torch.nn.Linear`, a tokenizer."""

    __slots__ = ("args", "key", "kind", "name", "origin")

    def __init__(self, name: str, origin: Origin = NOWHERE, kind: str = "", args: Value | None = None) -> None:
        self.name = name
        self.origin = origin
        self.kind = kind
        self.args = args  # the elements of a module container; the wrapped thing of a wrapper
        self.key = ("x", name, kind, args.key if args is not None else None)

    def __repr__(self) -> str:
        return f"Object({self.name})"


ENUM: Final = "enum.Enum"
"""The name of an `Object` that is a member of an enumeration; its `kind` says which."""


class Partial(Value):
    """functools.partial."""

    __slots__ = ("args", "func", "key", "keywords")

    def __init__(self, func: Value, args: tuple[Value, ...], keywords: Mapping[str, Value]) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords
        self.key = ("p", func.key, tuple(a.key for a in args), tuple((k, v.key) for k, v in keywords.items()))


class Method(Value):
    """A method of a value that is not an object of the program: `x.view`, `out.append`, `logger.info`."""

    __slots__ = ("key", "name", "receiver")

    def __init__(self, receiver: Value, name: str) -> None:
        self.receiver = receiver
        self.name = name
        self.key = ("M", receiver.key, name)


class Super(Value):
    __slots__ = ("after", "instance", "key")

    def __init__(self, instance: Value, after: Class) -> None:
        self.instance = instance
        self.after = after
        self.key = ("S", instance.key, after.qualname)


class Compiled(Value):
    """What `torch.compile` returned: the callable and its compile site."""

    __slots__ = ("key", "site", "target")

    def __init__(self, target: Value, site: Any) -> None:
        self.target = target
        self.site = site
        self.key = ("K", target.key, site.key)

    def __repr__(self) -> str:
        return f"Compiled({self.target!r})"


class Union(Value):
    """One of a few values."""

    __slots__ = ("_options", "depth", "key")

    def __init__(self, options: tuple[Value, ...]) -> None:
        self._options = options
        self.depth: int = max([o.depth for o in options])
        self.key = ("u", frozenset([o.key for o in options]))

    @property
    def options(self) -> tuple[Value, ...]:
        return self._options

    def __repr__(self) -> str:
        return f"Union{self._options}"


CALLABLES: Final = (FunctionValue, ClassValue, Partial, Compiled, Instance, External)

_MAX_UNION: Final = 8


def join(a: Value, b: Value) -> Value:
    """The value that covers both."""
    if a is b:
        return a
    merged = _join_alike(a, b)
    if merged is not None:
        return merged
    options: list[Value] = list(a.options)
    for option in b.options:
        _merge(options, option)
    if len(options) == 1:
        return options[0]
    if len(options) > _MAX_UNION:
        return UNKNOWN
    return Union(tuple(options))


def _join_alike(a: Value, b: Value) -> Value | None:
    """One value for two of the same kind, None where only a union covers them."""
    kind = type(a)
    if kind is type(b):
        if kind is Tensor:
            return _join_tensors(a, b)  # type: ignore[arg-type]
        if a.key == b.key:
            return a
        if kind is Const:
            return _join_constants(a, b)  # type: ignore[arg-type]
        if kind is Seq:
            return _join_sequences(a, b)  # type: ignore[arg-type]
        if kind is Dict:
            return _join_dicts(a, b)  # type: ignore[arg-type]
        if kind is Scalar:
            return _join_scalars(a, b)  # type: ignore[arg-type]
        if kind is Instance and a.cls is b.cls:  # type: ignore[attr-defined]
            return Instance(a.cls)  # type: ignore[attr-defined]
    elif kind is Scalar and type(b) is Const and b.value is not None:
        return _scalar_and_constant(a, b)  # type: ignore[arg-type]
    elif kind is Const and type(b) is Scalar and a.value is not None:  # type: ignore[attr-defined]
        return _scalar_and_constant(b, a)  # type: ignore[arg-type]
    return None


def _merge(options: list[Value], new: Value) -> None:
    for i, old in enumerate(options):
        merged = _join_alike(old, new)
        if merged is not None:
            options[i] = merged
            return
    options.append(new)


def join_all(values: Iterable[Value]) -> Value:
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def _join_tensors(a: Tensor, b: Tensor) -> Tensor:
    if a.key == b.key and a.dtype == b.dtype and a.ndim == b.ndim and a.base == b.base and a.origin.line:
        return a
    return Tensor(
        min(a.conf, b.conf),
        a.dtype if a.dtype == b.dtype else "",
        a.ndim if a.ndim == b.ndim else -1,
        (a.flags | b.flags) & ~(RAW | CONSTANT | STRIDED) | (a.flags & b.flags & (RAW | CONSTANT | STRIDED)),
        a.origin if a.origin.line else b.origin,
        a.base or b.base,
        a.site or b.site,
        _join_shapes(a.shape, b.shape),
        a.marks & b.marks,
    )


def _join_shapes(a: Any, b: Any) -> Any:
    """The shapes an example takes: one tuple, or a frozenset of several."""
    if a is None or b is None:
        return None
    both = (a if isinstance(a, frozenset) else frozenset({a})) | (b if isinstance(b, frozenset) else frozenset({b}))
    return next(iter(both)) if len(both) == 1 else both


def scalar_type(value: Any) -> str:
    name = type(value).__name__
    return name if name in ("int", "float", "bool", "str") else "other"


def _join_constants(a: Const, b: Const) -> Value | None:
    if a.value is None or b.value is None:
        return None
    ta, tb = scalar_type(a.value), scalar_type(b.value)
    if ta == tb and ta != "other":
        return Scalar(ta)
    if {ta, tb} <= {"int", "float", "bool"}:
        return Scalar("number")
    return None


def _join_scalars(a: Scalar, b: Scalar) -> Value | None:
    source = a.source if a.source == b.source else (a.source or b.source)
    if a.type == b.type:
        return Scalar(a.type, source, a.origin if a.source else b.origin, a.ref or b.ref)
    if {a.type, b.type} <= {"int", "float", "bool", "number"}:
        return Scalar("number", source, a.origin)
    return None


def _scalar_and_constant(a: Scalar, b: Const) -> Value | None:
    tb = scalar_type(b.value)
    if a.type == tb:
        return a
    if {a.type, tb} <= {"int", "float", "bool", "number"}:
        return Scalar("number", a.source, a.origin)
    return None


def _join_sequences(a: Seq, b: Seq) -> Seq:
    kind = a.kind if a.kind == b.kind else "list"
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        return Seq(kind, tuple(join(x, y) for x, y in zip(a.items, b.items, strict=True)))
    if a.items == ():
        return Seq(kind, None, b.element(), b.length)
    if b.items == ():
        return Seq(kind, None, a.element(), a.length)
    return Seq(kind, None, join(a.element(), b.element()), a.length or b.length)


def _join_dicts(a: Dict, b: Dict) -> Dict:
    items: dict[Any, Value] = {}
    for name in [*a.items, *(k for k in b.items if k not in a.items)]:
        left, right = a.items.get(name), b.items.get(name)
        items[name] = join(left, right) if left and right else (left or right or UNKNOWN)
    elem = a.elem if b.elem is None else b.elem if a.elem is None else join(a.elem, b.elem)
    return Dict(items, elem, a.kind)


def without_none(value: Value) -> Value:
    """The value once `is None` is known to be false."""
    if isinstance(value, Union):
        rest = tuple(o for o in value.options if not (isinstance(o, Const) and o.value is None))
        if not rest:
            return UNKNOWN
        return rest[0] if len(rest) == 1 else Union(rest)
    return value


def tensor_of(value: Value) -> Tensor | None:
    """The tensor that a value is or may be, if any."""
    if type(value) is Tensor:
        return value
    if type(value) is Union:
        for option in value.options:
            if type(option) is Tensor:
                return option
    return None


def is_tensor(value: Value) -> bool:
    return type(value) is Tensor


def may_be_none(value: Value) -> bool:
    return any(isinstance(o, Const) and o.value is None for o in value.options)


def truth(value: Value) -> bool | None:
    """True or False where the truth of the value is certain, else None."""
    if type(value) is Const:
        return bool(value.value)
    if isinstance(value, (FunctionValue, ClassValue, ModuleValue, Partial, Compiled)):
        return True
    if type(value) is Seq and value.items is not None and value.kind in ("tuple", "list"):
        return bool(value.items) if value.kind == "tuple" else None
    return None


def contains(value: Value, flag: int, depth: int = 3) -> Tensor | None:
    """The first tensor with the flag inside a value, containers looked into."""
    if type(value) is Tensor:
        return value if value.flags & flag else None
    if depth == 0:
        return None
    inner: Iterable[Value] = ()
    if type(value) is Seq:
        inner = value.items if value.items is not None else (value.elem,)
    elif type(value) is Dict:
        inner = (*value.items.values(), *((value.elem,) if value.elem else ()))
    elif type(value) is Union:
        inner = value.options
    elif type(value) is Instance and value.fields:
        inner = value.fields.values()
    for v in inner:
        found = contains(v, flag, depth - 1)
        if found is not None:
            return found
    return None


def widen(value: Value) -> Value:
    """A coarser value, for a function that has been called in too many different ways."""
    if type(value) is Const and value.value is not None:
        kind = scalar_type(value.value)
        return Scalar(kind) if kind != "other" else UNKNOWN
    if type(value) is Instance:
        return Instance(value.cls)
    if type(value) is Tensor:
        return Tensor(min(value.conf, USED), value.dtype, -1, value.flags & (INPUT | OWNED), value.origin, value.base)
    if type(value) is Seq:
        return Seq(value.kind, None, widen(value.element()))
    if type(value) is Dict:
        return Dict({}, UNKNOWN)
    if type(value) is Union:
        return join_all(widen(o) for o in value.options)
    return value
