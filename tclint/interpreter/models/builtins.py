"""Python's builtins and the small part of the standard library that carries values through."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.values import (
    BOOL,
    FALSE,
    FLOAT,
    INT,
    NONE,
    SIZE,
    STR,
    TRUE,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    External,
    Instance,
    Object,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join,
    join_all,
    scalar_type,
    tensor_of,
    without_none,
)

NAMES: Final = frozenset(dir(builtins))

Args = Sequence[Value]
Keywords = Mapping[str, Value]


def call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """The value of a builtin call; `name` without `builtins.`."""
    handler = _HANDLERS.get(name)
    return handler(frame, node, args, keywords) if handler is not None else UNKNOWN


def _len(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if not args:
        return INT
    value = args[0]
    if isinstance(value, Instance):
        from tclint.interpreter import calls

        method = frame.interp.find_method(value.cls, "__len__")
        if method is not None:
            return calls.method_call(frame, node, value, "__len__", [], {})
        return INT
    if isinstance(value, Seq) and value.items is not None and value.kind in ("tuple",):
        return Const(len(value.items))
    if isinstance(value, Tensor) or (isinstance(value, Seq) and value.length == "size"):
        return Scalar("int", "size", frame.origin(node))
    if isinstance(value, Seq) and value.length:
        return Scalar("int", value.length, frame.origin(node))
    if isinstance(value, Const) and isinstance(value.value, (str, bytes)):
        return Const(len(value.value))
    return INT


def _range(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    source = ""
    for a in args:
        if isinstance(a, Scalar) and a.source:
            source = a.source if source != "size" else source
    whole = [a.value for a in args if isinstance(a, Const) and isinstance(a.value, int)]
    if args and len(whole) == len(args):
        try:
            values = range(*whole)
        except (ValueError, TypeError):
            return Seq("range", None, INT)
        if len(values) <= 8:
            return Seq("range", tuple(Const(v) for v in values))
        return Seq("range", None, INT, source, (values.start, values.step))
    start = args[0] if len(args) > 1 else Const(0)
    step = args[2] if len(args) > 2 else Const(1)
    if isinstance(start, Const) and isinstance(step, Const) and type(start.value) is type(step.value) is int:
        return Seq("range", None, INT, source, (start.value, step.value))
    return Seq("range", None, INT, source)


def _convert(kind: str) -> Callable[[Frame, ast.AST, Args, Keywords], Value]:
    def convert(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
        if not args:
            return Const({"int": 0, "float": 0.0, "bool": False, "str": ""}[kind])
        value = args[0]
        if isinstance(value, Const) and kind == "bool":
            return Const(bool(value.value))
        if isinstance(value, Const):
            try:
                return Const({"int": int, "float": float, "str": str}[kind](value.value))
            except (ValueError, TypeError, OverflowError):
                return Scalar(kind)
        if tensor_of(value) is not None:
            return Scalar(kind, "data" if kind != "str" else "tensor", frame.origin(node))
        if isinstance(value, Scalar):
            return Scalar(kind, value.source, value.origin, value.ref)
        return Scalar(kind)

    return convert


def _sequence(kind: str) -> Callable[[Frame, ast.AST, Args, Keywords], Value]:
    def make(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
        from tclint.interpreter.expressions import element_of

        if not args:
            return Seq(kind, ())
        value = args[0]
        if isinstance(value, Seq):
            return Seq(kind, value.items, value.elem, value.length)
        if isinstance(value, Object) and isinstance(value.args, Seq):
            return Seq(kind, value.args.items, value.args.elem, value.args.length)
        return Seq(kind, None, element_of(frame, value, node), "size" if isinstance(value, Tensor) else "")

    return make


def _dict(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    items: dict[object, Value] = {}
    elem: Value | None = None
    if args:
        base = args[0]
        if isinstance(base, Dict):
            items.update(base.items)
            elem = base.elem
        else:
            elem = UNKNOWN
    items.update(keywords)
    return Dict(items, elem)


def _zip(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter.expressions import element_of
    from tclint.interpreter.stores import sequence_items

    columns = [sequence_items(frame, a) for a in args]
    if columns and all(c is not None for c in columns):
        rows = list(zip(*(c for c in columns if c is not None), strict=False))
        return Seq("list", tuple(Seq("tuple", row) for row in rows))
    length = next((a.length for a in args if isinstance(a, Seq) and a.length), "")
    return Seq("list", None, Seq("tuple", tuple(element_of(frame, a, node) for a in args)), length)


def _enumerate(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter.expressions import element_of
    from tclint.interpreter.stores import sequence_items

    if not args:
        return UNKNOWN
    items = sequence_items(frame, args[0])
    start = args[1] if len(args) > 1 else keywords.get("start", Const(0))
    first = start.value if isinstance(start, Const) and isinstance(start.value, int) else None
    if items is not None and first is not None:
        return Seq("list", tuple(Seq("tuple", (Const(first + i), v)) for i, v in enumerate(items)))
    length = args[0].length if isinstance(args[0], Seq) else ""
    counted = (first, 1) if first is not None else None
    return Seq("list", None, Seq("tuple", (INT, element_of(frame, args[0], node))), length, counted)


def _same_items(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter.expressions import element_of

    if not args:
        return UNKNOWN
    value = args[0]
    if isinstance(value, Seq):
        items = value.items[::-1] if value.items is not None else None
        return Seq("list", items, value.elem, value.length)
    return Seq("list", None, element_of(frame, value, node))


def _extreme(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter.expressions import element_of

    if len(args) == 1:
        return element_of(frame, args[0], node)
    return join_all(args) if args else UNKNOWN


def _sum(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter.expressions import element_of

    if not args:
        return UNKNOWN
    element = element_of(frame, args[0], node)
    tensor = tensor_of(element)
    if tensor is not None:
        return tensor.derived(frame.origin(node), tensor.dtype)
    return (
        element
        if isinstance(element, Scalar)
        else (Scalar(scalar_type(element.value)) if isinstance(element, Const) else UNKNOWN)
    )


def _abs(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    value = args[0] if args else UNKNOWN
    if isinstance(value, Tensor):
        return value.derived(frame.origin(node), value.dtype, value.ndim)
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return Const(abs(value.value))
    return value if isinstance(value, Scalar) else UNKNOWN


def _round(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    value = args[0] if args else UNKNOWN
    if isinstance(value, Scalar):
        return Scalar("int" if len(args) == 1 else "float", value.source, value.origin)
    if isinstance(value, Tensor):
        return value.derived(frame.origin(node), value.dtype, value.ndim)
    return INT if len(args) == 1 else FLOAT


def _isinstance(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter.expressions import instance_of

    if len(args) != 2:
        return BOOL
    value, wanted = args
    if isinstance(value, Instance):
        answer = frame.interp.instance_isinstance(value, wanted)
    else:
        answer = instance_of(value, wanted)
    return BOOL if answer is None else TRUE if answer else FALSE


def _getattr(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter import calls

    if len(args) >= 2 and isinstance(args[1], Const) and isinstance(args[1].value, str):
        found = calls.attribute(frame, node, args[0], args[1].value)
        if found is UNKNOWN and len(args) == 3:
            return UNKNOWN
        return found
    if len(args) >= 2 and isinstance(args[0], Instance):
        return frame.interp.dynamic_attribute(args[0])
    return UNKNOWN


def _hasattr(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) == 2 and isinstance(args[1], Const) and isinstance(args[0], External):
        name = f"{args[0].name}.{args[1].value}"
        if name == "torch._dynamo.mark_unbacked":
            return FALSE
        if name in ("torch._dynamo.mark_dynamic", "torch._dynamo.maybe_mark_dynamic", "torch.compile"):
            return TRUE
    return BOOL


def _next(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter.expressions import element_of

    value = element_of(frame, args[0], node) if args else UNKNOWN
    return join(value, args[1]) if len(args) > 1 else value


def _map(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter import calls
    from tclint.interpreter.expressions import element_of

    if len(args) < 2:
        return UNKNOWN
    elements = [element_of(frame, a, node) for a in args[1:]]
    length = next((a.length for a in args[1:] if isinstance(a, Seq) and a.length), "")
    made = calls.call(frame, node, args[0], elements, {})
    if frame.region is None:
        from tclint import events

        frame.interp.emit(events.Store, frame, node, "comprehension", UNKNOWN, "", made, None, False, None)
    return Seq("list", None, made, length)


def _filter(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter import calls
    from tclint.interpreter.expressions import element_of

    if len(args) < 2:
        return UNKNOWN
    element = element_of(frame, args[1], node)
    if isinstance(args[0], Const):
        frame.interp.emit_branch(frame, node, element, "filter")
        return Seq("list", None, without_none(element))
    frame.interp.emit_branch(frame, node, calls.call(frame, node, args[0], [element], {}), "filter")
    return Seq("list", None, element)


def _truths(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """any() and all() over an iterable ask each element for its truth."""
    from tclint.interpreter.expressions import element_of

    if args:
        element = element_of(frame, args[0], node)
        frame.interp.emit_branch(frame, node, element, "any/all")
    return BOOL


def _type(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) == 1:
        if isinstance(args[0], Instance):
            return ClassValue(args[0].cls)
        if isinstance(args[0], Tensor):
            return External("torch.Tensor")
    return UNKNOWN


def _true(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return BOOL


def _string(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return STR


def _none(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return NONE


def _file(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Object("io.TextIOWrapper", frame.origin(node))


def _int(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return INT


def _slice(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    padded: tuple[Value, ...]
    if len(args) == 1:
        padded = (NONE, args[0], NONE)
    else:
        padded = (*args, *([NONE] * (3 - len(args))))[:3]
    return Seq("slice", padded)


def _iter(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return args[0] if args else UNKNOWN


def _divmod(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    from tclint.interpreter.expressions import binary

    if len(args) != 2:
        return UNKNOWN
    return Seq(
        "tuple", (binary(frame, node, "FloorDiv", args[0], args[1]), binary(frame, node, "Mod", args[0], args[1]))
    )


_HANDLERS: Final[dict[str, Callable[[Frame, ast.AST, Args, Keywords], Value]]] = {
    "len": _len,
    "range": _range,
    "int": _convert("int"),
    "float": _convert("float"),
    "bool": _convert("bool"),
    "str": _convert("str"),
    "list": _sequence("list"),
    "tuple": _sequence("tuple"),
    "set": _sequence("set"),
    "frozenset": _sequence("set"),
    "sorted": _sequence("list"),
    "dict": _dict,
    "zip": _zip,
    "enumerate": _enumerate,
    "reversed": _same_items,
    "min": _extreme,
    "max": _extreme,
    "sum": _sum,
    "abs": _abs,
    "round": _round,
    "isinstance": _isinstance,
    "issubclass": _true,
    "callable": _true,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "next": _next,
    "iter": _iter,
    "map": _map,
    "filter": _filter,
    "any": _truths,
    "all": _truths,
    "type": _type,
    "repr": _string,
    "print": _none,
    "open": _file,
    "setattr": _none,
    "id": _int,
    "hash": _int,
    "slice": _slice,
    "divmod": _divmod,
    "format": _string,
    "chr": _string,
    "ord": _int,
}


def stdlib(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """Calls of the standard library that pass values on."""
    from tclint.interpreter import calls
    from tclint.interpreter.expressions import element_of

    if name == "functools.partial" and args:
        return Partial(args[0], tuple(args[1:]), dict(keywords))
    if name == "functools.reduce" and len(args) >= 2:
        element = element_of(frame, args[1], node)
        return calls.call(frame, node, args[0], [args[2] if len(args) > 2 else element, element], {})
    if name in ("functools.wraps", "functools.lru_cache", "functools.cache", "functools.update_wrapper"):
        return External("tclint.identity") if name != "functools.cache" or not args else args[0]
    if name in ("logging.getLogger", "logging.Logger"):
        return Object("logging.Logger", frame.origin(node))
    if name == "copy.deepcopy" and args and isinstance(args[0], Tensor):
        return args[0].derived(frame.origin(node), args[0].dtype, args[0].ndim)
    if name in ("copy.copy", "typing.cast", "copy.deepcopy"):
        return (args[-1] if name == "typing.cast" else args[0]) if args else UNKNOWN
    if name == "itertools.chain":
        return Seq("list", None, join_all(element_of(frame, a, node) for a in args))
    if name == "itertools.chain.from_iterable" and args:
        return Seq("list", None, element_of(frame, element_of(frame, args[0], node), node))
    if name in ("itertools.product", "itertools.combinations", "itertools.permutations"):
        return Seq("list", None, Seq("tuple", tuple(element_of(frame, a, node) for a in args)))
    if name in ("collections.OrderedDict", "collections.defaultdict"):
        return _dict(frame, node, [a for a in args if isinstance(a, Dict)], keywords)
    if name == "collections.namedtuple":
        return External("tclint.namedtuple")
    if name == "tclint.namedtuple":
        return Seq("tuple", (*args, *keywords.values()))
    if name in ("collections.deque",):
        return Seq("list", None, element_of(frame, args[0], node) if args else UNKNOWN)
    if name.startswith("math."):
        source = next((a.source for a in args if isinstance(a, Scalar) and a.source), "")
        if any(tensor_of(a) is not None for a in args):
            source = "data"
        if name in ("math.ceil", "math.floor", "math.gcd", "math.isqrt", "math.trunc", "math.comb"):
            return Scalar("int", source, frame.origin(node))
        if name == "math.prod" and args:
            return element_of(frame, args[0], node)
        if name in ("math.isnan", "math.isinf", "math.isfinite", "math.isclose"):
            return Scalar("bool", source, frame.origin(node))
        return Scalar("float", source, frame.origin(node))
    if name in ("random.uniform", "random.randint", "random.randrange"):
        return Scalar("float" if name == "random.uniform" else "int", "random", frame.origin(node))
    if name == "re.compile":
        return Object("re.Pattern", frame.origin(node))
    if name.startswith("operator."):
        return UNKNOWN
    return UNKNOWN


def sequence_method(frame: Frame, node: ast.AST, receiver: Seq, name: str, args: Args) -> tuple[Value, Value | None]:
    """A method of a list, tuple or set: its value, and the changed container if it changes it."""
    if name in ("append", "add", "appendleft") and args:
        if receiver.items is not None and len(receiver.items) < 16 and (frame.once or not frame.blocks):
            return NONE, Seq(receiver.kind, (*receiver.items, args[0]))
        element = args[0] if receiver.items == () else join(receiver.element(), args[0])
        return NONE, Seq(receiver.kind, None, element, receiver.length or _loop_length(frame))
    if name == "extend" and args:
        from tclint.interpreter.expressions import element_of

        other = args[0]
        if (
            receiver.items is not None
            and isinstance(other, Seq)
            and other.items is not None
            and len(receiver.items) + len(other.items) <= 32
            and not frame.blocks
        ):
            return NONE, Seq(receiver.kind, receiver.items + other.items)
        element = element_of(frame, other, node)
        joined = element if receiver.items == () else join(receiver.element(), element)
        return NONE, Seq(receiver.kind, None, joined, receiver.length)
    if name == "insert" and len(args) == 2:
        joined = args[1] if receiver.items == () else join(receiver.element(), args[1])
        return NONE, Seq(receiver.kind, None, joined, receiver.length)
    if name in ("pop", "popleft"):
        element = receiver.element()
        if receiver.items is not None and not args and receiver.items and name == "pop":
            return receiver.items[-1], Seq(receiver.kind, receiver.items[:-1])
        return element, Seq(receiver.kind, None, element, receiver.length)
    if name == "numel":
        return SIZE, None
    if name in ("index", "count"):
        return INT, None
    if name == "copy":
        return receiver, None
    if name in ("sort", "reverse", "clear", "remove"):
        return NONE, (Seq(receiver.kind, ()) if name == "clear" else Seq(receiver.kind, None, receiver.element()))
    if name in ("union", "intersection", "difference"):
        return receiver, None
    return UNKNOWN, None


def _loop_length(frame: Frame) -> str:
    return ""


def dict_method(
    frame: Frame, node: ast.AST, receiver: Dict, name: str, args: Args, keywords: Keywords
) -> tuple[Value, Value | None]:
    if name == "get" or name == "pop" or name == "setdefault":
        fallback = args[1] if len(args) > 1 else NONE
        if args and isinstance(args[0], Const):
            found = receiver.items.get(args[0].value)
            if found is not None:
                if name == "pop":
                    rest = {k: v for k, v in receiver.items.items() if k != args[0].value}
                    return found, Dict(rest, receiver.elem, receiver.kind)
                return found, None
            if receiver.elem is None:
                return fallback, None
            return (UNKNOWN if receiver.elem is UNKNOWN else join(receiver.elem, fallback)), None
        return (UNKNOWN if receiver.kind == "kwargs" else join(receiver.element(), fallback)), None
    if name == "items":
        if receiver.elem is None and len(receiver.items) <= 16:
            pairs = [Seq("tuple", (_key(k), v)) for k, v in receiver.items.items()]
            return Seq("list", tuple(pairs)), None
        return Seq("list", None, Seq("tuple", (STR, receiver.element()))), None
    if name == "values":
        if receiver.elem is None and len(receiver.items) <= 16:
            return Seq("list", tuple(receiver.items.values())), None
        return Seq("list", None, receiver.element()), None
    if name == "keys":
        return Seq("list", tuple(_key(k) for k in receiver.items) if receiver.elem is None else None, STR), None
    if name == "update":
        items = dict(receiver.items)
        elem = receiver.elem
        if args and isinstance(args[0], Dict):
            items.update(args[0].items)
            elem = args[0].elem if elem is None else elem
        elif args:
            elem = UNKNOWN
        items.update(keywords)
        return NONE, Dict(items, elem, receiver.kind)
    if name == "copy":
        return receiver, None
    return UNKNOWN, None


def _key(name: object) -> Value:
    return Const(name) if isinstance(name, (str, int, float, bool)) else UNKNOWN


__all__ = ["NAMES", "Union", "call", "dict_method", "sequence_method", "stdlib"]
