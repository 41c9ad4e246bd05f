"""The part of the standard library that carries values through."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tclint.interpreter import exceptions
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import groups, objects
from tclint.interpreter.models.folding import fold
from tclint.interpreter.models.functions import Args, Keywords, instance, is_class, library
from tclint.interpreter.models.measured import joined, measured, value_of, ways
from tclint.torch_facts import facts
from tclint.values import (
    INT,
    NONE,
    UNKNOWN,
    Const,
    Dict,
    External,
    Instance,
    Method,
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
from tclint.values.named_tuple_class import NAMED_TUPLE, NamedTupleClass
from tclint.values.object import NAMESPACES
from tclint.values.scalar import ENVIRONMENT, computed_with, is_drawn

_Handler = Callable[[Frame, ast.AST, Args, Keywords], Value]


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


def _partial_method(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Object("functools.partialmethod", frame.origin(node))


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


_MOST: Final = 64
"""Items of a sequence that are told one by one."""


def _known(frame: Frame, node: ast.AST, values: Args) -> list[Sequence[Value]] | None:
    """The items of each of several sequences; None where eager code cannot know them all."""
    if frame.region is not None:
        return None
    turns = [value.turns(frame, node, _MOST, 1) for value in values]
    return [items for items, _ in turns] if all(exact for _, exact in turns) else None


def _listed(rows: Iterable[Sequence[Value]]) -> Value:
    return Seq("list", tuple(Seq("tuple", tuple(row)) for row in itertools.islice(rows, _MOST)))


def _count(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    start, step = (*args, *(Const(n) for n in (0, 1)[len(args) :]))[:2]
    if isinstance(start, Const) and isinstance(step, Const) and type(start.value) is type(step.value) is int:
        return Seq("range", None, INT, "", (start.value, step.value))
    return Seq("list", None, INT)


def _repeat(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    times = args[1] if len(args) > 1 else keywords.get("times")
    if isinstance(times, Const) and isinstance(times.value, int) and times.value <= _MOST:
        return Seq("list", (args[0],) * times.value)
    return Seq("list", None, args[0] if args else UNKNOWN)


def _islice(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    bounds: list[int | None] = [
        a.value for a in args[1:] if isinstance(a, Const) and type(a.value) in (int, type(None))
    ]
    if not bounds or frame.region is not None or len(bounds) != len(args) - 1:
        return Seq("list", None, args[0].iterate(frame, node) if args else UNKNOWN)
    cut = slice(*bounds)
    items, exact = args[0].turns(frame, node, _MOST, min(cut.stop or _MOST, _MOST))
    # What is endless, or not known, has as many turns as are asked for.
    known = exact or isinstance(args[0], Seq) and args[0].counted is not None
    return Seq("list", tuple(items[cut])) if known else Seq("list", None, args[0].iterate(frame, node))


def _cycle(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    known = _known(frame, node, args)
    if known and known[0]:
        return Seq("list", tuple(itertools.islice(itertools.cycle(known[0]), _MOST)))
    return Seq("list", None, args[0].iterate(frame, node) if args else UNKNOWN)


def _pairwise(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    known = _known(frame, node, args)
    if known:
        return _listed(itertools.pairwise(known[0]))
    element = args[0].iterate(frame, node) if args else UNKNOWN
    return Seq("list", None, Seq("tuple", (element, element)))


def _chain(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    known = _known(frame, node, args)
    if known is not None and sum(map(len, known)) <= _MOST:
        return Seq("list", tuple(itertools.chain(*known)))
    return Seq("list", None, join_all(a.iterate(frame, node) for a in args))


def _chain_from_iterable(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Seq("list", None, args[0].iterate(frame, node).iterate(frame, node)) if args else UNKNOWN


def _product(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    times = keywords.get("repeat", Const(1))
    if isinstance(times, Const) and isinstance(times.value, int) and 0 < times.value < 8:
        args = [*args] * times.value
        known = _known(frame, node, args)
        if known is not None:
            return _listed(itertools.product(*known))
    return Seq("list", None, Seq("tuple", tuple(a.iterate(frame, node) for a in args)))


def _chosen(choose: Callable[[Sequence[Value], int], Iterable[Sequence[Value]]]) -> _Handler:
    def handler(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
        known = _known(frame, node, args[:1])
        given = args[1] if len(args) > 1 else keywords.get("r")
        many = given.value if isinstance(given, Const) else len(known[0]) if known and given is None else None
        if known is not None and isinstance(many, int):
            return _listed(choose(known[0], many))
        return Seq("list", None, Seq("tuple", None, args[0].iterate(frame, node) if args else UNKNOWN))

    return handler


def _replace(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """`dataclasses.replace(config, mode="b")`"""
    return args[0].with_fields(keywords) if args else UNKNOWN


def _namespace(name: str) -> _Handler:
    return lambda frame, node, args, keywords: Object(name, frame.origin(node), "", Dict(dict(keywords)))


def _named_tuple_class(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """The class, with what its fields are called where that is known."""
    told = args[1] if len(args) > 1 else keywords.get("field_names", UNKNOWN)
    named = told.items if isinstance(told, Seq) else (told,)
    texts = [each.value for each in named or () if isinstance(each, Const) and isinstance(each.value, str)]
    if not named or len(texts) != len(named):
        return External(NAMED_TUPLE)
    return NamedTupleClass(tuple(" ".join(texts).replace(",", " ").split()))


def _named_tuple(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if any(isinstance(value, Seq) and value.kind == "star" for value in args):
        return Seq("tuple", None, UNKNOWN)
    return Seq("tuple", (*args, *keywords.values()))


def _deque(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    most = args[1] if len(args) > 1 else keywords.get("maxlen", NONE)
    limit = most.value if isinstance(most, Const) and (most.value is None or isinstance(most.value, int)) else -1
    known = _known(frame, node, args[:1]) if frame.region is None and limit != -1 else None
    if known is not None:
        items = tuple(known[0]) if known else ()
        return Seq("deque", items if limit is None else items[len(items) - limit :] if limit else (), limit=limit)
    return Seq("deque", None, args[0].iterate(frame, node) if args else UNKNOWN)


def _pattern(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return Object("re.Pattern", frame.origin(node))


def _getter(name: str) -> _Handler:
    def make(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
        return Object(name, frame.origin(node))

    return make


def _identity(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return args[0] if args else External(IDENTITY)


IDENTITY: Final = "tclint.identity"
"""A decorator that gives back what it is given, under a name of our own."""


def _while(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """What a predicate lets through: it is asked of each element, and what it says for its truth."""
    if len(args) != 2:
        return UNKNOWN
    element = args[1].iterate(frame, node)
    asked = element if isinstance(args[0], Const) else args[0].call(frame, node, [element], {})
    frame.interp.emitter.branch(frame, node, asked, groups.called(node))
    return Seq("list", None, element)


_HANDLERS: Final[dict[str, _Handler]] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial_method,
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
    "itertools.product": _product,
    "itertools.combinations": _chosen(itertools.combinations),
    "itertools.permutations": _chosen(itertools.permutations),
    "itertools.combinations_with_replacement": _chosen(itertools.combinations_with_replacement),
    "itertools.count": _count,
    "itertools.repeat": _repeat,
    "itertools.islice": _islice,
    "itertools.cycle": _cycle,
    "itertools.pairwise": _pairwise,
    **dict.fromkeys(facts.named("asks a predicate of each element"), _while),
    "itertools.groupby": groups.groupby,
    **{name: _getter(name) for name in facts.named("makes a getter")},
    "dataclasses.replace": _replace,
    "copy.replace": _replace,
    **{name: _namespace(name) for name in NAMESPACES},
    "collections.OrderedDict": groups.ordered,
    "collections.defaultdict": groups.with_default,
    "collections.namedtuple": _named_tuple_class,
    "collections.deque": _deque,
    "re.compile": _pattern,
    IDENTITY: _identity,
    NAMED_TUPLE: _named_tuple,
}


def _passes_on(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """Libraries of which single functions pass values on; their classes are objects."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(frame, node, args, keywords)
    return instance(frame, node, name, args, keywords, open_ended) if is_class(name) else UNKNOWN


def _chosen_ones(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value | None:
    """What is drawn out of something known: which ones nobody knows, but others from call to call.

    Each place draws in order, every one twice: as many different ones as a run is likely to see.
    """
    short = name.rpartition(".")[2]
    known = _known(frame, node, args[:1])
    if not (short.startswith("choice") or short == "sample") or not known or not known[0] or "weights" in keywords:
        return None
    many = args[1] if len(args) > 1 else keywords.get("k", Const(1))
    if short == "choice" and len(args) == 1:
        return known[0][frame.interp.heap.draws(node) // 2 % len(known[0])]
    if not isinstance(many, Const) or type(many.value) is not int or not 0 <= many.value <= _MOST or short == "choice":
        return None
    first = frame.interp.heap.draws(node) // 2
    return Seq("list", tuple(known[0][(first + turn) % len(known[0])] for turn in range(many.value)))


def _drawn(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    chosen = _chosen_ones(frame, node, name, args, keywords) if frame.region is None else None
    if chosen is not None:
        return chosen
    if frame.region is not None and name == "random.choice" and args:
        return args[0].iterate(frame, node)  # whichever it is
    drawn = measured(frame, name, None, args, keywords, frame.origin(node))
    if frame.region is None and isinstance(drawn, Scalar) and drawn.python_type in ("int", "float", "number"):
        return Scalar(drawn.type, "random", drawn.origin)  # from one of what it is given, perhaps
    return _in_graph(frame, drawn)


def _in_graph(frame: Frame, drawn: Value) -> Value:
    """A random number; one of compiled code is drawn in the graph."""
    if frame.region is not None and isinstance(drawn, Scalar) and drawn.source == "random":
        return Scalar(drawn.type, "drawn", drawn.origin)
    return drawn


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
    default = args[1] if len(args) > 1 else keywords.get("default", NONE)
    if (
        name in ("os.environ.get", "os.getenv")
        and isinstance(default, Const)
        and (default.value is None or isinstance(default.value, str))
    ):
        return Union((default, Scalar("str", ENVIRONMENT, frame.origin(node))))
    return _passes_on(frame, node, name, args, keywords, open_ended)


def _clock(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """What eager code reads off a clock is another number each time."""
    return measured(frame, name, None, args, keywords, frame.origin(node)) if frame.region is None else UNKNOWN


def _traceback(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """What speaks of an exception walks the frames that it came through, where there is one."""
    if exceptions.HANDLER in frame.blocks:
        frame.interp.emitter.feature(frame, node, "traceback of a caught exception")
    return measured(frame, name, None, args, keywords, frame.origin(node))


def _asked(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """An object of a class of Python's own, where every release that was asked gave one."""
    if is_class(name):
        return instance(frame, node, name, args, keywords, open_ended)
    given = measured(frame, name, None, args, keywords, frame.origin(node))
    return given if isinstance(given, Object) else UNKNOWN


_STEEP: Final = frozenset(each.__name__ for each in (math.factorial, math.comb, math.perm, math.prod))
"""What grows so fast that only small numbers are computed with."""


def _computed(name: str, args: Args, keywords: Keywords) -> Value | None:
    """What a function of math gives for numbers that are known."""
    short = name.removeprefix("math.")
    function = getattr(math, short, None)
    numbers = [n for a in args for n in (a.items or () if isinstance(a, Seq) else (a,))]
    small = all(isinstance(n, Const) and isinstance(n.value, (int, float)) and n.value <= 64 for n in numbers)
    return fold(function, args, keywords) if callable(function) and (small or short not in _STEEP) else None


def _math(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """A number, which comes from where its arguments come from."""
    known = _computed(name, args, keywords) if frame.region is None else None
    if known is not None:
        return known
    for value in args:
        if is_drawn(value):
            return computed_with(frame, node, value, "math of a drawn number", "number")
    if name == "math.prod" and args and isinstance(args[0], Seq):
        return args[0].iterate(frame, node)
    source = next((a.source for a in args if a.source), "")
    if any(tensor_of(a) is not None for a in args):
        source = "data"
    kind = joined(ways(frame, name, None, args, keywords))
    if kind is None or kind.is_number:
        return Scalar(kind.name if kind is not None else "number", source, frame.origin(node))
    return value_of(kind, frame.origin(node))


library(
    ["functools", "logging", "copy", "typing", "itertools", "collections", "re", "operator", "dataclasses", "types"],
    _passes_on,
)
library(["argparse", "tclint"], _passes_on)
library(["math"], _math)
library(["os"], _environment)
library(["random"], _random)
library(["time"], _clock)
library(["traceback"], _traceback)
# Whatever these make is an object with a state of its own.
library(["threading", "queue", "array", "decimal", "contextvars", "datetime"], instance)
library(["concurrent"], instance)
library(["weakref"], _asked)


def _stack_method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    """A stack enters an object of the program as a `with` does, and leaves it at its own end."""
    if name != "enter_context" or not args:
        return None
    entered: list[Value] = []
    for context in args[0].options:
        if isinstance(context, Instance) and frame.interp.classes.is_context(context.cls):
            entered.append(context.call_method(frame, node, "__enter__", [], {}))
            context.call_method(frame, node, "__exit__", [NONE, NONE, NONE], {})
        else:
            entered.append(UNKNOWN)
    result = join_all(entered)
    frame.interp.emitter.call(frame, node, f"{receiver.name}.{name}", args, keywords, receiver, result)
    return result


objects.register("contextlib.ExitStack", method=_stack_method)


def _random_method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    if frame.region is None:
        result = _drawn(frame, node, f"random.{name}", args, keywords)
    else:
        drawn = measured(frame, f"{receiver.name}.{name}", receiver, args, keywords, frame.origin(node))
        result = _in_graph(frame, drawn)
    frame.interp.emitter.call(frame, node, f"{receiver.name}.{name}", args, keywords, receiver, result)
    return result


objects.register("random.Random", method=_random_method)


def _field(frame: Frame, node: ast.AST, receiver: Object, name: str) -> Value:
    """`options.mode` of a namespace."""
    if isinstance(receiver.args, Dict) and name in receiver.args.items:
        return receiver.args.items[name]
    return Method(receiver, name)


objects.register(*NAMESPACES, attribute=_field)
