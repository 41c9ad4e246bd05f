"""Objects of classes outside the program: what reading, calling and indexing them gives, by what they are."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import tokenizers
from tclint.interpreter.models.functions import Args, Keywords
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Method, Object, Seq, Value

AttributeHandler = Callable[[Frame, ast.AST, Object, str], Value]
CallHandler = Callable[[Frame, ast.AST, Object, Args, Keywords, bool], Value]
MethodHandler = Callable[[Frame, ast.AST, Object, str, Args, Keywords, bool], Value | None]
"""Gives None where it has nothing to say, so that the call is told to the rules as one of an unknown method."""
ItemHandler = Callable[[Frame, ast.AST, Object, Value], Value]

_HANDS_BACK: Final = frozenset(facts.named("hands back what it is given"))
MODULES: Final = "torch.nn"
"""The family of all modules of torch.nn. Other objects are a family by their kind or by their name."""

_ATTRIBUTES: Final[dict[str, AttributeHandler]] = {}
_CALLS: Final[dict[str, CallHandler]] = {}
_METHODS: Final[dict[str, MethodHandler]] = {}
_ITEMS: Final[dict[str, ItemHandler]] = {}
_ON_ANYTHING: Final[dict[str, Callable[[Frame, ast.AST, Object], None]]] = {}


def register(
    *families: str,
    attribute: AttributeHandler | None = None,
    call: CallHandler | None = None,
    method: MethodHandler | None = None,
    item: ItemHandler | None = None,
) -> None:
    """Let handlers answer for some families of objects."""
    for family in families:
        if attribute is not None:
            _ATTRIBUTES[family] = attribute
        if call is not None:
            _CALLS[family] = call
        if method is not None:
            _METHODS[family] = method
        if item is not None:
            _ITEMS[family] = item


def on_any_object(names: tuple[str, ...], note: Callable[[Frame, ast.AST, Object], None]) -> None:
    """Let a call of a method with one of these names be noted, whatever object has it."""
    for name in names:
        _ON_ANYTHING[name] = note


def _family(value: Object) -> str:
    if value.kind in _CALLS:
        return value.kind
    return MODULES if value.name.startswith("torch.nn.") else value.name


def attribute(frame: Frame, node: ast.AST, receiver: Object, name: str, quiet: bool) -> Value:
    """The value of `receiver.name`."""
    if not quiet:
        frame.interp.emitter.emit(events.Attribute, frame, node, receiver, name)
    handler = _ATTRIBUTES.get(_family(receiver))
    return handler(frame, node, receiver, name) if handler is not None else Method(receiver, name)


def call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """The value of `func(…)`."""
    handler = _CALLS.get(_family(func))
    if handler is not None:
        return handler(frame, node, func, args, keywords, open_ended)
    return unknown_call(frame, node, func, args, keywords)


def unknown_call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords) -> Value:
    """A call of an object of which nothing is known but its class."""
    frame.interp.emitter.call(frame, node, func.name + ".__call__", args, keywords, func, UNKNOWN)
    return UNKNOWN


def method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    """The value of `receiver.name(…)`."""
    handler = _METHODS.get(_family(receiver))
    if handler is not None:
        answer = handler(frame, node, receiver, name, args, keywords, open_ended)
        if answer is not None:
            return answer
    note = _ON_ANYTHING.get(name)
    if note is not None:
        note(frame, node, receiver)
    full = f"{receiver.name}.{name}"
    result = _handed_back(args) if full in _HANDS_BACK else UNKNOWN
    frame.interp.emitter.call(frame, node, full, args, keywords, receiver, result)
    return result


def _handed_back(args: Args) -> Value:
    """What a call gives that gives what it is given: of several arguments as many values."""
    if len(args) == 1 or any(isinstance(each, Seq) and each.kind == "star" for each in args):
        return args[0] if len(args) == 1 else UNKNOWN
    return Seq("tuple", tuple(args)) if args else UNKNOWN


def item(frame: Frame, node: ast.AST, receiver: Object, index: Value) -> Value:
    """The value of `receiver[index]`."""
    if receiver.args is None:
        return UNKNOWN
    handler = _ITEMS.get(receiver.name)
    if handler is not None:
        return handler(frame, node, receiver, index)
    return receiver.args.item(frame, node, index)


def decides_code(name: str) -> bool:
    """Whether an object of this class decides, as a constructor's argument, which code runs later."""
    return name.startswith("torch.nn.") or name == tokenizers.TOKENIZER
