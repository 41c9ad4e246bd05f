"""Parameters: what a caller passes, and what a signature alone says of an entry."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tclint.interpreter import hints
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Env
from tclint.interpreter.left_alone import default_of_flag
from tclint.interpreter.spoken_names import asked_names, is_position, joined_name
from tclint.program import Function
from tclint.sources.tree import by_kind, nodes
from tclint.torch_facts import facts, layouts, returns
from tclint.torch_facts.kind import MAPPING_METHODS
from tclint.values import (
    NAMED,
    NONE,
    PROVEN,
    UNKNOWN,
    USED,
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Origin,
    Partial,
    Region,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join,
    scalar_type,
    tensor_of,
)
from tclint.values.flags import BY_NAME
from tclint.values.union import one_of

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_TENSOR_NAMES: Final = re.compile(
    r"^(x\d?|y|z|q|k|v|h|c|t|src|tgt|inp|inputs?|out|outputs?|quer(y|ies)|keys?|values?|hidden(_states?)?|masks?|.*_masks?"
    r"|.*_ids|ids|.*embeds?|.*embeddings?|embed|pixel_values|imgs?|images?|logits|labels?|targets?|features?|feats?|tokens?"
    r"|weights?|scores?|tensor|boxes|coords|points|audio|video|waveform|mel|latents?|noise|.*_states?|.*_tensor|cos|sin"
    r"|residual|memory|bias|preds?|attn|attention)$"
)


class Signature:
    """The parameters of a function, read once."""

    __slots__ = (
        *("asked", "called", "entries", "keyed", "kwarg", "kwonly", "names", "nodes"),
        *("optional", "parted", "seen", "tested", "used", "vararg"),
    )

    def __init__(self, function: Function) -> None:
        arguments = function.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults.extend(arguments.defaults)
        self.nodes: list[tuple[ast.arg, ast.expr | None]] = list(zip(positional, defaults, strict=True))
        self.kwonly: list[tuple[ast.arg, ast.expr | None]] = list(
            zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        )
        self.names = [a.arg for a in positional]
        self.vararg = arguments.vararg.arg if arguments.vararg else ""
        self.kwarg = arguments.kwarg.arg if arguments.kwarg else ""
        self.used: frozenset[str] | None = None
        self.seen: frozenset[str] = frozenset()
        self.keyed: frozenset[str] = frozenset()
        self.entries: Mapping[str, Sequence[str]] = {}
        self.asked: frozenset[str] = frozenset()
        self.called: frozenset[str] = frozenset()
        self.parted: frozenset[str] = frozenset()
        self.optional: frozenset[str] = frozenset()
        self.tested: frozenset[str] = frozenset()


def signature(function: Function) -> Signature:
    function.read()
    known = function.signature
    if known is None:
        known = function.signature = Signature(function)
    return known  # type: ignore[return-value]  # nobody else keeps anything there


def variadic(function: Function) -> tuple[str, str]:
    known = signature(function)
    return known.vararg, known.kwarg


def bind(
    interp: Interpreter,
    function: Function,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    open_ended: bool,
    compiled: bool = False,
) -> Env:
    """Bind a call's arguments to a function's parameters; `compiled` where Dynamo traces the call."""
    known = signature(function)
    env: Env = {}
    rest: list[Value] = []
    star: Value | None = None
    plain: Sequence[Value] = args
    # Asked of every call, and few are given a sequence.
    for place, value in enumerate(args) if Seq in map(type, args) else ():
        if isinstance(value, Seq) and value.kind == "star":
            star, plain = value.elem, args[:place]
            break
    for i, (node, default) in enumerate(known.nodes):
        name = node.arg
        if i < len(plain):
            value = plain[i]
        elif name in keywords:
            value = keywords[name]
        elif open_ended:
            value = UNKNOWN
        elif default is not None:
            value = default_value(interp, function, node, default)
        else:
            value = UNKNOWN
        if value is UNKNOWN:
            value = _evidence(interp, function, node, known, compiled)
            if value is UNKNOWN and isinstance(star, Tensor):
                value = star.with_(conf=NAMED)
        elif isinstance(value, (Dict, Seq)):
            value = _filled(interp, function, node, value)
        elif isinstance(value, (Tensor, Union)):
            value = _surer(interp, function, node, known, _agreed(interp, function, node, value, open_ended))
        env[name] = value
    if len(plain) > len(known.nodes):
        rest = [*plain[len(known.nodes) :]]
    for node, default in known.kwonly:
        if node.arg in keywords:
            value = keywords[node.arg]
        elif default is not None and not open_ended:
            value = default_value(interp, function, node, default)
        else:
            value = UNKNOWN
        env[node.arg] = (
            _agreed(interp, function, node, value, open_ended)
            if value is not UNKNOWN
            else _evidence(interp, function, node, known, compiled)
        )
    if known.vararg:
        env[known.vararg] = Seq("tuple", None, star) if star is not None else Seq("tuple", tuple(rest), UNKNOWN, "args")
    if known.kwarg:
        taken = {*known.names, *(n.arg for n, _ in known.kwonly)}
        extra = {k: v for k, v in keywords.items() if k not in taken}
        env[known.kwarg] = Dict(extra, UNKNOWN if open_ended else None, "kwargs")
    return env


def told(function: Function, env: Env) -> bool:
    """Whether a call of a module says what its forward gets. Where it does not, the signature says more."""
    if function.name != "forward" or function.cls is None:
        return True
    known = signature(function)
    receiver = env.get(known.names[0]) if known.names else None
    if isinstance(receiver, Instance) and receiver.cls is not function.cls:
        return False  # run for a subclass, whose methods it called: those of its own class are still to be seen
    needed = [node.arg for node, default in (*known.nodes[1:], *known.kwonly) if default is None]
    return all(env.get(name, UNKNOWN) is not UNKNOWN for name in needed)


def default_value(interp: Interpreter, function: Function, parameter: ast.arg, default: ast.expr) -> Value:
    """What a parameter gets that a call leaves out."""
    if isinstance(default, ast.Constant):
        value = default.value
        return NONE if value is None else Const(value) if value is not Ellipsis else UNKNOWN
    key = (function, parameter.arg)
    memo = interp.memo
    known = memo.defaults.get(key)
    if known is not None:
        return known
    # A default that leads back to itself (`def f(x, y=f(1))`, where an earlier `f` is meant) is unknown.
    if key in memo.evaluating:
        return UNKNOWN
    memo.evaluating.add(key)
    try:
        with interp.emitter.silence:
            known = evaluate(interp.names.frame(function.module), default)
    finally:
        memo.evaluating.discard(key)
    if known is not UNKNOWN:
        # What is unknown now may only be in the making.
        memo.defaults[key] = known
    return known


def _evidence(
    interp: Interpreter, function: Function, node: ast.arg, known: Signature, compiled: bool = False
) -> Value:
    """An argument nobody knows: its annotation, or how the function uses it. Compiled code uses an array as it does a tensor."""
    origin = Origin(node.lineno, node, function.module.path)
    if node.annotation is not None:
        return _annotated(interp, function, node, node.annotation, known)
    if node.arg in used_as_tensor(function, known) or compiled and node.arg in known.called - known.asked:
        tensor = Tensor(USED, "", -1, 0, origin)
        return join(tensor, NONE) if node.arg in known.optional else tensor
    return UNKNOWN


def _annotated(interp: Interpreter, function: Function, node: ast.arg, annotation: ast.expr, known: Signature) -> Value:
    """What an annotation says. `h, w = size` takes a tuple apart, whatever is written there: a tensor would show itself."""
    if hints.is_tensor(annotation):
        used = used_as_tensor(function, known)
        if node.arg in known.parted and node.arg not in used and node.arg not in known.called:
            return UNKNOWN
    value = hints.evaluate(interp, function.module, annotation, Origin(node.lineno, node, function.module.path))
    if value is UNKNOWN or tensor_of(value) is not None:
        return value
    used_as_tensor(function, known)
    # Who asks whether it is a tensor is given one as well, whatever the annotation says.
    return (
        join(value, Tensor(NAMED, "", -1, 0, Origin(node.lineno, node, function.module.path)))
        if node.arg in known.tested
        else value
    )


def _surer(interp: Interpreter, function: Function, node: ast.arg, known: Signature, value: Value) -> Value:
    """A tensor of which only the caller's name for it speaks, with what this function says about it."""
    tensor = tensor_of(value)
    if isinstance(value, Tensor) and value.flags & BY_NAME and value.conf == USED:
        unlike = node.arg not in used_as_tensor(function, known) and node.arg in known.asked
        return value.with_(conf=NAMED) if unlike else value
    if tensor is None or tensor.conf != NAMED:
        return value
    told = tensor_of(_evidence(interp, function, node, known))
    if told is None or told.conf == NAMED:
        return value
    surer = tensor.with_(conf=told.conf)
    return Union(tuple([surer if o is tensor else o for o in value.options])) if isinstance(value, Union) else surer


def _agreed(interp: Interpreter, function: Function, node: ast.arg, value: Value, open_ended: bool) -> Value:
    """An argument of which the caller believes, without proof, that it is a tensor: not where the annotation says `int`.

    Words are never tensors, whatever the caller shows, nor are flags tensors of numbers: the call is for another function.
    Numbers may be, where torch itself made them and the caller says what goes where: `*args` that go through a wrapper of several
    functions do not, nor does `Dict[str, Tensor]`, which is written for all that a dict holds. Nor is an annotation a proof. Of
    alternatives a list is none where the annotation says `Tensor`.
    """
    if isinstance(value, Union) and node.annotation is not None and hints.is_tensor(node.annotation):
        rest = [o for o in value.options if not (isinstance(o, Seq) and o.kind in ("list", "tuple"))]
        return value if len(rest) == len(value.options) else one_of(rest) if rest else UNKNOWN
    tensor = tensor_of(value)
    if tensor is None or node.annotation is None:
        return value
    if tensor.origin is not None and isinstance(tensor.origin.node, ast.arg) and hints.holds_plain(node.annotation):
        return UNKNOWN  # two annotations that contradict each other
    promised = hints.python_only(node.annotation)
    proven = tensor.conf == PROVEN and isinstance(value, Tensor) and not open_ended and not _is_one_of_many(tensor)
    never = promised <= ({"str"} if tensor.dtype in ("", "b") else {"str", "bool"})
    if not promised or proven and not never:
        return value
    return hints.evaluate(interp, function.module, node.annotation, Origin(node.lineno, node, function.module.path))


def _is_one_of_many(tensor: Tensor) -> bool:
    """Whether the only witness of a tensor is the annotation of the dict that it comes out of."""
    node = tensor.origin.node if tensor.origin is not None else None
    return isinstance(node, ast.arg) and node.annotation is not None and hints.is_of_dicts(node.annotation)


def _filled(interp: Interpreter, function: Function, node: ast.arg, value: Dict | Seq) -> Value:
    """A container of which some of what it holds is unknown, with what the annotation promises of it.

    Where that is a tensor, caller and callee contradict each other, and nobody knows.
    """
    if node.annotation is None:
        return value
    if isinstance(value, Seq) and value.kind in ("list", "tuple") and hints.is_tensor(node.annotation):
        return UNKNOWN
    if not value.holds_unknown():
        return value
    told = hints.evaluate(interp, function.module, node.annotation, Origin(node.lineno, node, function.module.path))
    for option in told.options:
        if isinstance(value, Dict) and isinstance(option, Dict) and option.elem is not None:
            return Dict(value.items, option.elem, value.kind)
        if isinstance(value, Seq) and isinstance(option, Seq) and option.items is None:
            return Seq(value.kind, None, option.elem, value.length)
    return value


TENSOR_ONLY: Final = frozenset(
    (*facts.named("is a method of tensors alone"), *facts.named("is an attribute of tensors alone"))
)
ARRAYS: Final = frozenset(facts.named("is a method of tensors and arrays"))


_OF_DICTS: Final = frozenset(dir(dict))
_ASKING: Final = (ast.If, ast.While, ast.IfExp, ast.Assert)


def used_as_tensor(function: Function, known: Signature) -> frozenset[str]:
    """Names on which the function uses what only tensors have.

    `known.keyed` then holds those it looks up by keys, `known.entries` which keys of what is a dict as far as it shows, `known.asked` those whose value it asks for as they are, `known.called`
    those of which it calls what only tensors and arrays have, `known.parted` those it takes apart into what is no tensor,
    `known.optional` those it compares with None, `known.tested` those of which it asks whether they are tensors.
    """
    if known.used is None:
        found: set[str] = set()
        keyed: set[str] = set()
        entries: dict[str, set[str]] = {}
        others: set[str] = set()
        asked: set[str] = set()
        called: set[str] = set()
        stored: set[str] = set()
        optional: set[str] = set()
        tested: set[str] = set()
        joined: set[str] = set()
        placed: set[str] = set()
        parts: dict[str, set[str]] = {}
        names = {*known.names, *(n.arg for n, _ in known.kwonly)}
        there = by_kind(function.node)
        for name in there[ast.Name]:
            if type(name.ctx) is ast.Store:
                stored.add(name.id)
        for read in there[ast.Attribute]:
            if not isinstance(read.value, ast.Name):
                continue
            if read.attr == "device":
                placed.add(read.value.id)
            if read.attr in TENSOR_ONLY:
                found.add(read.value.id)
            elif read.attr in MAPPING_METHODS:
                keyed.add(read.value.id)
            elif read.attr not in _OF_DICTS:
                others.add(read.value.id)
        for call in there[ast.Call]:
            func = call.func
            if isinstance(func, ast.Name) and func.id == "isinstance" and len(call.args) == 2:
                if isinstance(call.args[0], ast.Name) and hints.is_tensor(call.args[1]):
                    tested.add(call.args[0].id)
            if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
                continue
            first = call.args[0] if call.args else None
            if func.attr == "get" and isinstance(first, ast.Constant) and isinstance(first.value, str):
                entries.setdefault(func.value.id, set()).add(first.value)
            if func.attr in ARRAYS:
                called.add(func.value.id)
            if isinstance(first, ast.Name) and func.value.id in ("torch", "F") and returns.takes_tensor(func.attr):
                found.add(first.id)
            elif isinstance(first, (ast.List, ast.Tuple)) and f"{func.value.id}.{func.attr}" in layouts.JOINS:
                joined |= {name for each in first.elts if (name := joined_name(each))}
        for kind in _ASKING:
            for test in there[kind]:
                asked |= asked_names(test.test)
        for item in there[ast.Subscript]:
            key = item.slice
            if isinstance(item.value, ast.Name) and item.value.id in placed and is_position(key):
                found.add(item.value.id)  # what has elements and lies on a device
            if isinstance(item.value, ast.Name) and isinstance(key, ast.Constant) and isinstance(key.value, str):
                keyed.add(item.value.id)
                entries.setdefault(item.value.id, set()).add(key.value)
        for bound in there[ast.Assign]:
            if isinstance(bound.value, ast.Name) and isinstance(bound.targets[0], (ast.Tuple, ast.List)):
                inner = {part.id for part in nodes(bound.targets[0]) if isinstance(part, ast.Name)}
                parts.setdefault(bound.value.id, set()).update(inner)
        for compared in there[ast.Compare]:
            other = compared.comparators[0]
            if isinstance(compared.left, ast.Name) and isinstance(other, ast.Constant) and other.value is None:
                optional.add(compared.left.id)
        for product in there[ast.BinOp]:
            if isinstance(product.op, ast.MatMult):
                for side in (product.left, product.right):
                    if isinstance(side, ast.Name):
                        found.add(side.id)
        found |= joined - stored
        known.seen = frozenset(found)
        known.used = frozenset(found & names)
        known.keyed = frozenset(keyed & names - found)
        known.entries = {name: sorted(entries[name]) for name in sorted(known.keyed & entries.keys() - others - stored)}
        known.asked = frozenset(asked & names - stored)
        known.called = frozenset(called & names - stored)
        known.optional = frozenset(optional & names)
        known.tested = frozenset(tested & names)
        tensors = found | called
        known.parted = frozenset(name for name, inner in parts.items() if name in names and not inner & tensors)
    return known.used


def names_used_as_tensors(function: Function) -> frozenset[str]:
    """All names, of parameters or not, on which the function uses what only tensors have."""
    known = signature(function)
    used_as_tensor(function, known)
    return known.seen


def entry(
    interp: Interpreter,
    function: Function,
    receiver: Value | None,
    region: Region | None = None,
    constructor: bool = False,
    uncalled: bool = False,
) -> Env:
    """The environment of a function of which its signature is all that is known.

    `uncalled`: nobody in sight calls it, and flags that the program never sets keep their defaults.
    """
    known = signature(function)
    env: Env = {}
    forward = region is not None
    for i, (node, default) in enumerate([*known.nodes, *known.kwonly]):
        if i == 0 and receiver is not None:
            env[node.arg] = receiver
            continue
        kept = default_of_flag(function, node, default) if uncalled else None
        if kept is not None:
            env[node.arg] = kept
            continue
        env[node.arg] = _entry_value(interp, function, node, default, known, forward, constructor)
    if known.vararg:
        env[known.vararg] = Seq("tuple", None, Tensor(NAMED) if forward else UNKNOWN)
    if known.kwarg:
        env[known.kwarg] = Dict({}, UNKNOWN, "kwargs")
    return env


def _entry_value(
    interp: Interpreter,
    function: Function,
    node: ast.arg,
    default: ast.expr | None,
    known: Signature,
    forward: bool,
    constructor: bool,
) -> Value:
    origin = Origin(node.lineno, node, function.module.path)
    value: Value = UNKNOWN
    if node.annotation is not None:
        value = _annotated(interp, function, node, node.annotation, known)
    fallback = default_value(interp, function, node, default) if default is not None else None
    if value is UNKNOWN and fallback is not None:
        if isinstance(fallback, Const) and fallback.value is not None:
            value = (
                Scalar(scalar_type(fallback.value), "", origin) if scalar_type(fallback.value) != "other" else UNKNOWN
            )
        elif isinstance(fallback, Seq) and fallback.items and fallback.element().python_type in ("int", "float"):
            value = fallback.widen()
        elif isinstance(fallback, (External, ClassValue, FunctionValue, Partial)):
            # A default class or function (`norm_layer=nn.LayerNorm`) is what most callers get.
            return fallback
    if value is UNKNOWN and not constructor:
        if node.arg in used_as_tensor(function, known):
            value = Tensor(USED, "", -1, 0, origin)
        elif forward and node.annotation is None and node.arg not in known.keyed:
            named = bool(_TENSOR_NAMES.match(node.arg)) and node.arg not in known.asked
            if node.arg in known.called:
                value = Tensor(USED, "", -1, 0, origin)  # what has the methods of an array
            elif fallback is None:
                value = Tensor(USED, "", -1, BY_NAME, origin) if named else Tensor(NAMED, "", -1, 0, origin)
            elif named:
                value = Tensor(NAMED, "", -1, 0, origin)
        elif forward and node.annotation is None and fallback is None and node.arg in known.entries:
            # A batch: what lies in it under the name of a tensor is as good as an argument of that name.
            held = [key for key in known.entries[node.arg] if _TENSOR_NAMES.match(key)]
            value = Dict({key: Tensor(USED, "", -1, BY_NAME, origin) for key in held}, UNKNOWN)
    compared = node.annotation is None and isinstance(value, Tensor) and node.arg in known.optional
    if value is not UNKNOWN and (compared or _is_none(fallback)):
        # What it compares with None may be that where no annotation says otherwise.
        value = join(value, NONE)
    return value.as_input(node.arg, origin) if forward else value


def _is_none(default: Value | None) -> bool:
    return isinstance(default, Const) and default.value is None
