"""Python's builtins."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import attributes_by_name, failing, iterators, sort_keys
from tclint.interpreter.models.folding import fold
from tclint.interpreter.models.functions import Args, Keywords, library
from tclint.interpreter.models.identity import identity
from tclint.interpreter.models.made_classes import made_class
from tclint.interpreter.models.numbers import absolute, conversion, divided, rounded
from tclint.values import (
    ARRAY,
    BOOL,
    COUNTED,
    FALSE,
    INT,
    NONE,
    RAW,
    STR,
    TRUE,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    ModuleValue,
    Namespace,
    Object,
    Scalar,
    Seq,
    Tensor,
    Value,
    join_all,
    scalar_type,
    tensor_of,
)
from tclint.values.object import MADE
from tclint.values.operators import asked
from tclint.values.scalar import computed
from tclint.values.value import NUMBER, TENSOR


def call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """The value of a builtin call."""
    pure = _PURE.get(name[9:]) if frame.region is None and not open_ended else None
    known = fold(pure, args, keywords) if pure is not None else None
    if known is not None:
        return known
    if args and isinstance(args[0], Object):
        # `float(fraction)` asks `Fraction.__float__`.
        asked(frame, node, args[0], args[0].name, name[9:], *args[1:])
    failing.tell(frame, node, name[9:], args, keywords)
    handler = _HANDLERS.get(name[9:])
    if handler is None and is_exception(name):
        return Object(name, frame.origin(node), MADE)
    return handler(frame, node, args, keywords) if handler is not None else UNKNOWN


def is_exception(name: str) -> bool:
    """Whether a name of Python's own is the class of an exception."""
    kind = getattr(builtins, name.removeprefix("builtins."), None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def _len(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if not args:
        return INT
    value = args[0]
    if isinstance(value, Instance) and frame.interp.classes.find_method(value.cls, "__len__") is not None:
        return value.call_method(frame, node, "__len__", [], {})
    known = value.known_length()
    if known is None and frame.region is None:
        known = _counted_items(value)
    if known is not None:
        return Const(known)
    if frame.region is None and isinstance(value, Tensor) and 0 in value.varied:
        return Scalar("int", "random", frame.origin(node))
    source = value.length_source
    return Scalar("int", source, frame.origin(node)) if source else INT


def _counted_items(value: Value) -> int | None:
    """How long a container of eager code is at this moment."""
    if isinstance(value, Object) and value.args is not None:
        value = value.args
    if isinstance(value, Seq):
        return len(value.items) if value.items is not None and value.kind not in ("generator", "loader") else None
    if isinstance(value, Dict):
        return len(value.items) if value.elem is None else None
    if isinstance(value, Tensor):
        return value.shape[0] if isinstance(value.shape, tuple) and value.shape else None
    return None


def _number(frame: Frame) -> Scalar:
    """What counts the turns of a loop. In compiled code it is a constant of the program, whichever."""
    return COUNTED if frame.region is None else INT


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
        if len(values) <= (8 if frame.region is not None else _LISTED_TURNS):
            return Seq("range", tuple(Const(v) for v in values))
        return Seq("range", None, _number(frame), source, (values.start, values.step))
    start = args[0] if len(args) > 1 else Const(0)
    step = args[2] if len(args) > 2 else Const(1)
    if isinstance(start, Const) and isinstance(step, Const) and type(start.value) is type(step.value) is int:
        return Seq("range", None, _number(frame), source, (start.value, step.value))
    return Seq("range", None, INT, source)


def _sequence(kind: str) -> Callable[[Frame, ast.AST, Args, Keywords], Value]:
    def make(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
        if not args:
            return Seq(kind, ())
        _ask_key(frame, node, args, keywords)
        value = args[0]
        elements = value.args if isinstance(value, Object) else value
        if isinstance(elements, Seq):
            items = elements.items
            if kind in ("set", "frozenset") and items is not None:
                items = tuple({item.key: item for item in items}.values())
            return Seq(kind, items, elements.elem, elements.lent)
        if frame.region is None and isinstance(elements, (Tensor, Dict, Const, ClassValue)):
            rows, exact = elements.turns(frame, node, _MOST, 0)
            if exact:
                return Seq(kind, tuple(_number_kept(elements, row) for row in rows))
            return Seq(kind, None, _number_kept(elements, value.iterate(frame, node)), value.length_source)
        return Seq(kind, None, value.iterate(frame, node), value.length_source)

    return make


def _number_kept(values: Value, element: Value) -> Value:
    """What eager code takes out of an array of one dimension is a number of numpy's: what is kept of it Dynamo knows."""
    taken = isinstance(values, Tensor) and isinstance(element, Tensor) and values.flags & ARRAY and values.ndim < 2
    return element.with_(flags=element.flags | RAW) if taken and isinstance(element, Tensor) else element


def made_dict(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Dict:
    """`dict(pairs, key=value)`, whatever class of dicts is called so."""
    items: dict[object, Value] = {}
    elem: Value | None = None
    if args:
        base = args[0]
        if isinstance(base, Dict):
            items.update(base.items)
            elem = base.elem
        else:
            pairs = _pairs(frame, node, base)
            items.update(pairs or {})
            elem = UNKNOWN if pairs is None else None
    items.update(keywords)
    return Dict(items, elem)


def _pairs(frame: Frame, node: ast.AST, value: Value) -> dict[object, Value] | None:
    """What `dict(zip(names, values))` holds, where eager code knows it."""
    rows = _items(frame, node, value) if frame.region is None else None
    if rows is None:
        return None
    found: dict[object, Value] = {}
    for row in rows:
        pair = row.known_items(frame)
        if pair is None or len(pair) != 2 or not isinstance(pair[0], Const):
            return None
        found[pair[0].value] = pair[1]
    return found


_MOST: Final = 64
"""Items of a sequence that are told one by one."""
_LISTED_TURNS: Final = 32
"""Numbers of a range of eager code that are told one by one."""
_LISTED: Final = 12
"""Items for which a function is called one by one."""


def _items(frame: Frame, node: ast.AST, value: Value) -> Sequence[Value] | None:
    """What a sequence holds, where all of it is known."""
    items = value.known_items(frame)
    if items is not None or frame.region is not None:
        return items
    turns, exact = value.turns(frame, node, _MOST, 0)
    return turns if exact else None


def _sorted(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    items = _items(frame, node, args[0]) if args else None
    backwards = keywords.get("reverse", FALSE)
    key = keywords.get("key")
    if key is not None and items is not None and frame.region is None and len(items) <= _LISTED:
        ranks = [key.call(frame, node, [item], {}) for item in items]
        order = fold(lambda ranks: sorted(range(len(ranks)), key=ranks.__getitem__), [Seq("list", tuple(ranks))])
        if isinstance(order, Seq) and order.items is not None and isinstance(backwards, Const):
            places = [place.value for place in order.items if isinstance(place, Const)]
            return Seq("list", tuple(items[place] for place in (reversed(places) if backwards.value else places)))
    known = [item.value for item in items or () if isinstance(item, Const)]
    if items is None or len(known) != len(items) or key is not None or not isinstance(backwards, Const):
        loose = _sequence("list")(frame, node, args, keywords)
        return Seq("list", None, loose.element(), loose.length) if isinstance(loose, Seq) else loose
    try:
        return Seq("list", tuple(Const(value) for value in sorted(known, reverse=bool(backwards.value))))
    except TypeError:  # of kinds that do not compare
        return Seq("list", None, UNKNOWN)


def _reversed(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    items = _items(frame, node, args[0]) if args else None
    return Seq("list", tuple(reversed(items))) if items is not None else _same_items(frame, node, args, keywords)


def _zip(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    columns = [_items(frame, node, a) for a in args]
    if columns and all(c is not None for c in columns):
        known = zip(*(c for c in columns if c is not None), strict=False)
        return Seq(_lazy(frame, args), tuple(Seq("tuple", row) for row in known))
    rows = args[0] if len(args) == 1 else UNKNOWN
    if isinstance(rows, Seq) and rows.kind == "star" and isinstance(rows.elem, Seq) and rows.elem.items is not None:
        # `zip(*rows)`: the columns, each as long as there are rows.
        return Seq("list", tuple(Seq("tuple", None, column, rows.length) for column in rows.elem.items))
    length = next((a.lent for a in args if isinstance(a, Seq) and a.length), "")
    return Seq(_lazy(frame, args), None, Seq("tuple", tuple(a.iterate(frame, node) for a in args)), length)


def _lazy(frame: Frame, args: Args) -> str:
    """The kind of what makes its items one by one where what it is given does so."""
    lazy = frame.region is None and any(isinstance(a, Seq) and not a.ready for a in args)
    return "generator" if lazy else "list"


def _enumerate(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if not args:
        return UNKNOWN
    items = _items(frame, node, args[0])
    start = args[1] if len(args) > 1 else keywords.get("start", Const(0))
    first = start.value if isinstance(start, Const) and isinstance(start.value, int) else None
    if items is not None and first is not None:
        return Seq(_lazy(frame, args), tuple(Seq("tuple", (Const(first + i), v)) for i, v in enumerate(items)))
    length = args[0].lent if isinstance(args[0], Seq) else ""
    counted = (first, 1) if first is not None else None
    number = _number(frame) if counted is not None else INT
    return Seq(_lazy(frame, args), None, Seq("tuple", (number, args[0].iterate(frame, node))), length, counted)


def _same_items(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if not args:
        return UNKNOWN
    value = args[0]
    if isinstance(value, Tensor):
        return value.derived(frame.origin(node), value.dtype, value.ndim)
    if isinstance(value, Seq):
        items = value.items[::-1] if value.items is not None else None
        return Seq("list", items, value.elem, value.lent)
    return Seq("list", None, value.iterate(frame, node))


def _ask_key(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> None:
    key = keywords.get("key")
    if key is not None and args:
        known = () if frame.region is not None else (_items(frame, node, args[0]) or ())[:_LISTED]
        sort_keys.ask(frame, node, key, known or [args[0].iterate(frame, node)])


def _extreme(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    _ask_key(frame, node, args, keywords)
    if len(args) == 1:
        return args[0].iterate(frame, node)
    tensor = next((each for each in args if isinstance(each, Tensor) and not each.flags & ARRAY), None)
    if frame.region is not None and tensor is not None and all(each.rank in (NUMBER, TENSOR) for each in args):
        return tensor.derived(frame.origin(node), "", tensor.ndim)  # Dynamo computes it: no Python number comes out
    return join_all(args) if args else UNKNOWN


def _sum(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if not args:
        return UNKNOWN
    element = args[0].iterate(frame, node)
    tensor = tensor_of(element)
    if tensor is not None:
        return tensor.derived(frame.origin(node), tensor.dtype)
    if isinstance(element, Scalar):
        return Scalar(element.type, element.source, element.origin, computed(element.ref))
    return Scalar(scalar_type(element.value)) if isinstance(element, Const) else UNKNOWN


def _isinstance(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) != 2:
        return BOOL
    value, wanted = args
    if isinstance(value, Instance):
        answer = frame.interp.objects.is_instance(value, wanted)
    else:
        answer = value.instance_of(wanted)
    return BOOL if answer is None else TRUE if answer else FALSE


def _callable(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    value = args[0] if args else UNKNOWN
    if isinstance(value, (FunctionValue, ClassValue)):
        return TRUE
    return FALSE if isinstance(value, (Const, Scalar, Tensor, Seq, Dict)) else BOOL


def _vars(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Namespace(args[0].module) if args and isinstance(args[0], ModuleValue) else UNKNOWN


def _globals(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Namespace(frame.module)


def _map(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) < 2:
        return UNKNOWN
    # What is compiled runs later, one after the other, while somebody takes the results.
    lazy = frame.region is not None or args[0].holds_compiled()
    columns = [_items(frame, node, a) for a in args[1:]] if not lazy else []
    if columns and all(column is not None and len(column) <= _LISTED for column in columns):
        rows = zip(*(column for column in columns if column is not None), strict=False)
        return Seq("generator", tuple(args[0].call(frame, node, list(row), {}) for row in rows))
    elements = [a.iterate(frame, node) for a in args[1:]]
    length = next((a.lent for a in args[1:] if isinstance(a, Seq) and a.length), "")
    made = args[0].call(frame, node, elements, {})
    return Seq("list" if frame.region is not None else "generator", None, made, length)


def _filter(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) < 2:
        return UNKNOWN
    element = args[1].iterate(frame, node)
    if isinstance(args[0], Const):
        frame.interp.emitter.branch(frame, node, element, "filter")
        return Seq("list", None, element.without_none())
    frame.interp.emitter.branch(frame, node, args[0].call(frame, node, [element], {}), "filter")
    return Seq("list", None, element)


def _truths(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """any() and all() over an iterable ask each element for its truth."""
    if args:
        element = args[0].iterate(frame, node)
        frame.interp.emitter.branch(frame, node, element, "any/all")
    return BOOL


def _type(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) == 1:
        if isinstance(args[0], Instance):
            return ClassValue(args[0].cls)
        if isinstance(args[0], Tensor):
            return External("torch.Tensor")
    return made_class(frame, node, args[2]) if len(args) == 3 and frame.region is not None else UNKNOWN


def _true(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return BOOL


def _string(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return STR


def _repr(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if args and isinstance(args[0], Instance) and frame.region is not None:
        frame.interp.objects.ask(frame, node, args[0], "__repr__")
    return STR


def _none(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return NONE


def _file(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Object("io.TextIOWrapper", frame.origin(node))


def _int(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return INT


def _slice(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    given = (NONE, *args) if len(args) == 1 else args
    return Seq("slice", (*given, NONE, NONE, NONE)[:3])


def _bytearray(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Object("bytearray", frame.origin(node))


_HANDLERS: Final[dict[str, Callable[[Frame, ast.AST, Args, Keywords], Value]]] = {
    "len": _len,
    "range": _range,
    "int": conversion("int"),
    "float": conversion("float"),
    "bool": conversion("bool"),
    "str": conversion("str"),
    "list": _sequence("list"),
    "tuple": _sequence("tuple"),
    "set": _sequence("set"),
    "frozenset": _sequence("frozenset"),
    "sorted": _sorted,
    "dict": made_dict,
    "zip": _zip,
    "enumerate": _enumerate,
    "reversed": _reversed,
    "min": _extreme,
    "max": _extreme,
    "sum": _sum,
    "abs": absolute,
    "round": rounded,
    "isinstance": _isinstance,
    "issubclass": _true,
    "callable": _callable,
    "getattr": attributes_by_name.getattr_of,
    "globals": _globals,
    "hasattr": attributes_by_name.hasattr_of,
    "next": iterators.following,
    "iter": iterators.begun,
    "map": _map,
    "filter": _filter,
    "any": _truths,
    "all": _truths,
    "type": _type,
    "repr": _repr,
    "print": _none,
    "open": _file,
    "setattr": attributes_by_name.setattr_of,
    "delattr": attributes_by_name.delattr_of,
    "bytearray": _bytearray,
    "id": identity,
    "slice": _slice,
    "vars": _vars,
    "divmod": divided,
    "format": _string,
    "chr": _string,
    **dict.fromkeys(("hash", "ord"), _int),
}

_PURE: Final[dict[str, Callable[..., object]]] = {
    function.__name__: function
    for function in (abs, all, any, chr, divmod, hex, max, min, ord, repr, round, sorted, sum)
}
"""What is computed where eager code knows what it is given."""


library(["builtins"], call)
