"""Calls of what is outside the program: each library answers for its own names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import tokenizers
from tclint.torch_facts import facts, objects
from tclint.values import UNKNOWN, ClassValue, Dict, Object, Seq, Value

Args = Sequence[Value]
Keywords = Mapping[str, Value]
Handler = Callable[[Frame, ast.AST, str, Args, Keywords, bool], Value]
"""Answers a call: frame, node, dotted name, arguments, keywords, and whether there may be more of them than are known."""

_LIBRARIES: Final[dict[str, Handler]] = {}


def library(names: Sequence[str], handler: Handler) -> None:
    """Let a handler answer for every name of some libraries: `torch` for `torch.nn.functional.relu`."""
    for name in names:
        _LIBRARIES[name] = handler


def call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """A call of something outside the program, by its dotted name."""
    interp = frame.interp
    if interp.compile_sites.is_compile_function(name):
        return interp.compile_sites.compile(frame, node, name, args, keywords)
    handler = _LIBRARIES.get(name.partition(".")[0], other)
    result = handler(frame, node, name, args, keywords, open_ended)
    result = _as_made(frame, node, name, args, result)
    interp.emitter.call(frame, node, name, args, keywords, None, result)
    return result


def _as_made(frame: Frame, node: ast.AST, name: str, args: Args, result: Value) -> Value:
    """What is made, by its maker, where torch was asked about it; what eager code makes, compiled code may get to see."""
    short = name.removeprefix("builtins.")
    if short == "iter" and args:
        return _iterator(frame, node, args[0], result)
    if args and isinstance(args[0], Dict) and f"{short}{args[0].of_objects}" in objects.types():
        short += args[0].of_objects
    if short not in objects.types():
        return result
    if isinstance(result, Seq):
        return result.made_by(short)
    named = result is UNKNOWN or isinstance(result, Object) and result.name == name != short
    return Object(short, frame.origin(node)) if named and frame.region is None else result


def _iterator(frame: Frame, node: ast.AST, value: Value, result: Value) -> Value:
    """What goes through a value once: by whom it is made says whether Dynamo knows it."""
    kind = value.kind if isinstance(value, Seq) else "dict" if isinstance(value, Dict) else value.maker
    maker = f"iter of a {kind or value.python_type}"
    if maker not in objects.types() or frame.region is not None:
        return result
    return (result if isinstance(result, Seq) else Seq("list", None, value.iterate(frame, node))).made_by(maker)


def other(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """A name without a model: what the library defines, where it is read, or a tokenizer or another object where the name says that one is made."""
    if tokenizers.made_by(name):
        return Object(tokenizers.TOKENIZER, frame.origin(node))
    installed = _installed(frame, name)
    if installed is not None:
        return installed.call(frame, node, args, keywords, open_ended)
    return instance(frame, node, name, args, keywords, open_ended) if is_class(name) else UNKNOWN


def _installed(frame: Frame, name: str) -> Value | None:
    """What is called, where the library that defines it is read; eager code builds objects, and what else it calls is set-up."""
    if facts.speaks_of(name):
        return None
    found = frame.interp.names.installed(name)
    return found if frame.region is not None or isinstance(found, ClassValue) else None


def is_class(name: str) -> bool:
    """Whether a dotted name is written like that of a class."""
    return "." in name and name.rpartition(".")[2][:1].isupper()


def instance(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """An instance of a class outside the program, by the name of the class."""
    return Object(name, frame.origin(node))
