"""Which arguments an error is about: those that the statement which raised it speaks of.

An error says what is wrong, and seldom whose fault it is. The frames that it went through know: `b, t, c = idx.shape` failed,
and `idx` there is the very tensor that was passed as `codes`.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import traceback
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import FrameType
from typing import Any

import torch

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_OWN = os.path.join(os.path.dirname(__file__), "")
_WORD = re.compile(r"(?:\bself\.)?\b[A-Za-z_]\w*")
_NAME = re.compile(r"[A-Za-z][\w+-]{0,24}")
_NOTHING = object()
_COMMON: tuple[Any, ...] = (None, 0, 1, "", ())
"""Values that stand for many things: that one of them is met says nothing."""


def reached(error: BaseException) -> tuple[int, ...]:
    """How far the target got: the lines at which its frames stand, the outermost first."""
    frames = traceback.extract_tb(error.__traceback__)
    return tuple(frame.lineno or 0 for frame in frames if not frame.filename.startswith((_TORCH, _OWN)))


def failing(error: BaseException) -> Iterator[tuple[FrameType, str]]:
    """The frames of the program that the error went through, with what each was about to do, the innermost first."""
    found = []
    for frame, summary in zip(
        (frame for frame, _ in traceback.walk_tb(error.__traceback__)),
        traceback.extract_tb(error.__traceback__),
        strict=True,
    ):
        if not summary.filename.startswith((_TORCH, _OWN)):
            found.append((frame, _text(summary, str(error))))
    return reversed(found)


def blamed(error: BaseException, given: Mapping[str, Any]) -> list[str]:
    """The names of the arguments that the failing statements speak of, those of the innermost first.

    `given` holds the objects that were passed. What is only equal to one of them, a number most often, comes after what is
    the same object or has the same name.
    """
    sure: dict[str, None] = {}
    perhaps: dict[str, None] = {}
    for frame, text in failing(error):
        for word in dict.fromkeys(_WORD.findall(text)):
            value = _value(frame, word)
            if value is _NOTHING:
                continue
            for name, argument in given.items():
                if _is_same(value, argument, word, name):
                    sure[name] = None
                elif is_plain(argument) and type(value) is type(argument) and value == argument not in _COMMON:
                    perhaps[name] = None
    return list(sure | perhaps)


def looked_up(error: BaseException) -> list[Any]:
    """The keys of the dict in which a key was not found."""
    if not isinstance(error, KeyError) or not error.args or not is_plain(error.args[0]):
        return []
    for frame, text in failing(error):
        for word in dict.fromkeys(re.findall(r"(?:\bself\.)?\b[A-Za-z_][\w.]*", text)):
            value = _value(frame, word)
            if isinstance(value, dict) and value and error.args[0] not in value:
                return list(value)
    return []


def looked_into(error: BaseException, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The arguments that are tensors and were asked for something by a word, `batch.out["logits"]`, with that word."""
    for frame, text in failing(error):
        try:
            tree = ast.parse(text.strip())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.slice, ast.Constant)
                and type(node.slice.value) is str
            ):
                held = _held(node.value, frame)
                for name, value in given.items():
                    if isinstance(value, torch.Tensor) and value is held:
                        yield name, node.slice.value


def _held(node: ast.expr, frame: FrameType) -> Any:
    """What a name, an attribute or an element that is named stands for."""
    try:
        if isinstance(node, ast.Name):
            return frame.f_locals.get(node.id, _NOTHING)
        if isinstance(node, ast.Attribute):
            return getattr(_held(node.value, frame), node.attr, _NOTHING)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return _held(node.value, frame)[node.slice.value]
    except Exception:
        # Whatever the program's objects answer: nothing is known of it.
        return _NOTHING
    return _NOTHING


def compared_with(error: BaseException, word: str) -> list[str]:
    """The words that the innermost function knows which holds this one: what it compares it with, or looks it up in."""
    for frame, _ in failing(error):
        if any(type(value) is str and value == word for value in frame.f_locals.values()):
            held = [part for const in frame.f_code.co_consts for part in _parts(const)]
            known = [part for part in held if part != word and _NAME.fullmatch(part)]
            if known:
                return known
    return []


def _parts(constant: Any) -> list[str]:
    if isinstance(constant, (tuple, frozenset)):
        return sorted(part for part in constant if isinstance(part, str))
    return [constant] if isinstance(constant, str) else []


def _value(frame: FrameType, word: str) -> Any:
    """What a name stands for in a frame; an attribute only where reading it runs nothing."""
    first, *rest = word.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first, _NOTHING))
    for part in rest:
        if value is _NOTHING:
            break
        known = getattr(value, "__dict__", {})
        parts = known.get("_modules") if isinstance(known.get("_modules"), dict) else {}
        value = known.get(part, (parts or {}).get(part, getattr(type(value), "__dict__", {}).get(part, _NOTHING)))
    return value


def is_plain(value: Any) -> bool:
    """Whether a value can be compared: what the program makes, tensors before all, may answer with no truth."""
    return type(value) in (int, float, str, bool)


def _is_same(value: Any, argument: Any, word: str, name: str) -> bool:
    if argument is None or is_plain(argument):
        alike = word.rpartition(".")[2].strip("_") == name.rpartition(".")[2]
        return alike and type(value) is type(argument) and bool(value == argument)
    if value is argument:
        return True
    if isinstance(argument, (list, tuple)) and not is_plain(value):
        return value is not None and any(value is item for item in argument)
    return isinstance(value, torch.Tensor) and isinstance(argument, torch.Tensor) and value._base is argument


def _text(summary: traceback.FrameSummary, words: str) -> str:
    """What was being done: the expression, where the interpreter says which; the condition, where one was not met."""
    line = summary.lineno or 0
    statement, tests = _statements(summary.filename).get(line, (None, ()))
    if isinstance(statement, ast.Assert):
        return ast.unparse(statement.test)
    if isinstance(statement, ast.Raise):
        return ast.unparse(tests[0]) if tests else ast.unparse(statement)
    begin, end = getattr(summary, "colno", None), getattr(summary, "end_colno", None)
    if "unpack" in words:
        # The columns are those of the names that there was too little for.
        return summary.line or ""
    if begin is not None and end is not None and getattr(summary, "end_lineno", line) == line:
        # The columns count bytes.
        return linecache.getline(summary.filename, line).encode()[begin:end].decode(errors="replace")
    return summary.line or ""


@lru_cache(maxsize=64)
def _statements(path: str) -> dict[int, tuple[ast.stmt, tuple[ast.expr, ...]]]:
    """The assertions and raises of a file by line, with the conditions that lead to them, the nearest first."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, tuple[ast.stmt, tuple[ast.expr, ...]]] = {}
    waiting: list[tuple[ast.AST, tuple[ast.expr, ...]]] = [(tree, ())]
    while waiting:
        node, tests = waiting.pop()
        if isinstance(node, (ast.Assert, ast.Raise)):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = (node, tests)
        elif isinstance(node, ast.If):
            waiting += [(child, (node.test, *tests)) for child in node.body]
            waiting += [(child, tests) for child in node.orelse]
            continue
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            tests = ()
        waiting += [(child, tests) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    return found
