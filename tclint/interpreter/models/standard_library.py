"""The part of the standard library that carries values through."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords, instance, is_class, library
from tclint.interpreter.models.measured import joined, measured, value_of, ways
from tclint.values import (
    STR,
    UNKNOWN,
    Const,
    Dict,
    External,
    Object,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join_all,
    tensor_of,
)


def _partial(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Partial(args[0], tuple(args[1:]), dict(keywords)) if args else UNKNOWN


def _reduce(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) < 2:
        return UNKNOWN
    element = args[1].iterate(frame, node)
    return args[0].call(frame, node, [args[2] if len(args) > 2 else element, element], {})


def _decorator(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return External(IDENTITY)


def _cache(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return args[0] if args else External(IDENTITY)


def _logger(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Object("logging.Logger", frame.origin(node))


def _copy(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return args[0] if args else UNKNOWN


def _deepcopy(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if args and isinstance(args[0], Tensor):
        return args[0].derived(frame.origin(node), args[0].dtype, args[0].ndim)
    return args[0] if args else UNKNOWN


def _cast(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return args[-1] if args else UNKNOWN


def _chain(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Seq("list", None, join_all(a.iterate(frame, node) for a in args))


def _chain_from_iterable(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Seq("list", None, args[0].iterate(frame, node).iterate(frame, node)) if args else UNKNOWN


def _combinations(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Seq("list", None, Seq("tuple", tuple(a.iterate(frame, node) for a in args)))


def _ordered_dict(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    base = next((a for a in args if isinstance(a, Dict)), Dict({}))
    return Dict({**base.items, **keywords}, base.elem)


def _named_tuple_class(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return External(_NAMED_TUPLE)


def _named_tuple(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Seq("tuple", (*args, *keywords.values()))


def _deque(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Seq("list", None, args[0].iterate(frame, node) if args else UNKNOWN)


def _pattern(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Object("re.Pattern", frame.origin(node))


def _identity(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return args[0] if args else External(IDENTITY)


IDENTITY: Final = "tclint.identity"
"""A decorator that gives back what it is given, under a name of our own."""
_NAMED_TUPLE: Final = "tclint.namedtuple"

_HANDLERS: Final[dict[str, Callable[[Frame, ast.AST, Args, Keywords], Value]]] = {
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.wraps": _decorator,
    "functools.lru_cache": _decorator,
    "functools.cache": _cache,
    "functools.update_wrapper": _identity,
    "logging.getLogger": _logger,
    "logging.Logger": _logger,
    "copy.copy": _copy,
    "copy.deepcopy": _deepcopy,
    "typing.cast": _cast,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from_iterable,
    "itertools.product": _combinations,
    "itertools.combinations": _combinations,
    "itertools.permutations": _combinations,
    "collections.OrderedDict": _ordered_dict,
    "collections.defaultdict": _ordered_dict,
    "collections.namedtuple": _named_tuple_class,
    "collections.deque": _deque,
    "re.compile": _pattern,
    IDENTITY: _identity,
    _NAMED_TUPLE: _named_tuple,
}


def _passes_on(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """Libraries of which single functions pass values on; their classes are objects."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(frame, node, args, keywords)
    return instance(frame, node, name, args, keywords, open_ended) if is_class(name) else UNKNOWN


def _drawn(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    return measured(frame, name, None, args, keywords, frame.origin(node))


def _random(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(frame, node, args, keywords)
    return (
        instance(frame, node, name, args, keywords, open_ended)
        if is_class(name)
        else _drawn(frame, node, name, args, keywords)
    )


def _environment(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`os.environ.get("MODE", "default")`: the default, unless somebody says otherwise."""
    default = args[1] if len(args) > 1 else keywords.get("default")
    if name in ("os.environ.get", "os.getenv") and isinstance(default, Const) and isinstance(default.value, str):
        return Union((default, STR))
    return _passes_on(frame, node, name, args, keywords, open_ended)


def _math(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """A number, which comes from where its arguments come from."""
    if name == "math.prod" and args and isinstance(args[0], Seq):
        return args[0].iterate(frame, node)
    source = next((a.source for a in args if a.source), "")
    if any(tensor_of(a) is not None for a in args):
        source = "data"
    kind = joined(ways(frame, name, None, args, keywords))
    if kind is None or kind.is_number:
        return Scalar(kind.name if kind is not None else "number", source, frame.origin(node))
    return value_of(kind, frame.origin(node))


library(["functools", "logging", "copy", "typing", "itertools", "collections", "re", "operator", "tclint"], _passes_on)
library(["math"], _math)
library(["os"], _environment)
library(["random"], _random)
# Whatever these make is an object with a state of its own.
library(["threading", "queue", "array", "decimal", "contextvars", "datetime"], instance)


def _random_method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    result = Scalar("float", "data", frame.origin(node))
    frame.interp.emitter.call(frame, node, f"{receiver.name}.{name}", args, keywords, receiver, result)
    return result


objects.register("random.Random", method=_random_method)
