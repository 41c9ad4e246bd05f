"""What a condition says about the names in it."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Env, Frame
from tclint.values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    USED,
    ClassValue,
    Dict,
    External,
    Instance,
    Seq,
    Tensor,
    Union,
    Value,
    tensor_of,
)
from tclint.values.place import path_of
from tclint.values.types import TENSOR_TYPES


def refine(frame: Frame, node: ast.expr, then: Env | None, otherwise: Env | None) -> None:
    """What a condition says about the names in it."""
    kind = type(node)
    if kind is ast.Compare and len(node.ops) == 1:  # type: ignore[attr-defined]
        operator = type(node.ops[0])  # type: ignore[attr-defined]
        comparator = node.comparators[0]  # type: ignore[attr-defined]
        if operator in (ast.Is, ast.IsNot) and isinstance(comparator, ast.Constant) and comparator.value is None:
            place = path_of(node.left)  # type: ignore[attr-defined]
            if place is None and isinstance(node.left, ast.NamedExpr):  # type: ignore[attr-defined]
                place = node.left.target.id  # type: ignore[attr-defined]
            if place is not None:
                none_env, some_env = (then, otherwise) if operator is ast.Is else (otherwise, then)
                value = _current(frame, place, node.left)  # type: ignore[attr-defined]
                if none_env is not None:
                    _put(none_env, place, NONE, frame)
                if some_env is not None and isinstance(value, Union):
                    _put(some_env, place, value.without_none(), frame)
        elif operator is ast.Eq and then is not None and _is_half(frame, node):
            # Only a run in half precision gets past this test.
            then[RARE] = TRUE
        return
    if then is not None and _rarely(node):
        then[RARE] = TRUE
    if kind is ast.Call:
        _refine_call(frame, node, then, otherwise)  # type: ignore[arg-type]
        return
    place = path_of(node)
    if place is not None and then is not None:
        value = _current(frame, place, node)
        if isinstance(value, Union) and value.may_be_none():
            _put(then, place, value.without_none(), frame)


def _put(env: Env, place: str, value: Value, frame: Frame) -> None:
    env[place] = value
    if "." in place:
        frame.paths.add(place.partition(".")[0])


def _current(frame: Frame, place: str, node: ast.expr) -> Value:
    value = frame.env.get(place)
    if value is not None:
        return value
    if isinstance(node, ast.Attribute):
        receiver = frame.env.get(place.partition(".")[0], UNKNOWN)
        return receiver.attribute(frame, node, node.attr, quiet=True)
    return UNKNOWN


# Set in environments that only an unusual run reaches. The dot makes it end where the branch ends.
RARE: Final = ".rare"
_SWITCHES: Final = re.compile(r"^_?(verbose|debug|debugging|is_debug|profile|profiling|log_.*|print_.*|trace|dump.*)$")


def _rarely(node: ast.expr) -> bool:
    """A test that is true only when somebody is looking: a debug flag, a log level."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "isEnabledFor"
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return bool(_SWITCHES.match(name))


def _is_half(frame: Frame, node: ast.expr) -> bool:
    assert isinstance(node, ast.Compare)
    for side in (node.left, node.comparators[0]):
        if isinstance(side, ast.Attribute) and side.attr in ("float16", "half"):
            return True
    return False


def _refine_call(frame: Frame, node: ast.Call, then: Env | None, otherwise: Env | None) -> None:
    if not node.args:
        return
    func = evaluate(frame, node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else UNKNOWN
    place = path_of(node.args[0])
    if place is None or not isinstance(func, External):
        return
    value = _current(frame, place, node.args[0])
    if func.name == "builtins.isinstance" and len(node.args) == 2:
        wanted = evaluate(frame, node.args[1])
        narrowed = narrow(value, wanted, frame, node)
        if then is not None:
            _put(then, place, narrowed, frame)
        if otherwise is not None and isinstance(value, Union):
            rest = [o for o in value.options if o.instance_of(wanted) is not True]
            if rest:
                _put(otherwise, place, rest[0] if len(rest) == 1 else Union(tuple(rest)), frame)
    elif func.name == "torch.is_tensor" and then is not None and tensor_of(value) is None and value is UNKNOWN:
        _put(then, place, Tensor(USED, origin=frame.origin(node)), frame)


def narrow(value: Value, wanted: Value, frame: Frame, node: ast.AST) -> Value:
    """The value once isinstance(value, wanted) holds."""
    if isinstance(value, Union):
        kept = [o for o in value.options if o.instance_of(wanted) is not False and o is not UNKNOWN]
        if kept:
            return kept[0] if len(kept) == 1 else Union(tuple(kept))
    elif value is not UNKNOWN:
        return value
    names = {t.name for t in wanted.types() if isinstance(t, External)}
    if names & TENSOR_TYPES and len(names) == 1:
        return Tensor(USED, origin=frame.origin(node))
    if names and names <= {"builtins.list", "builtins.tuple", "collections.abc.Sequence"}:
        return Seq("list", None, UNKNOWN)
    if names == {"builtins.int"}:
        return INT
    if names == {"builtins.float"}:
        return FLOAT
    if names == {"builtins.str"}:
        return STR
    if names == {"builtins.bool"}:
        return BOOL
    if names == {"builtins.dict"}:
        return Dict({}, UNKNOWN)
    classes = [t for t in wanted.types() if isinstance(t, ClassValue)]
    if len(classes) == 1 and not names:
        return Instance(classes[0].cls)
    return UNKNOWN
