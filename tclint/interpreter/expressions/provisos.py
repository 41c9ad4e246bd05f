"""Tests of which nobody in sight says what they come to: what stands behind one holds only if it comes out so.

A setting (`if self.cfg.use_flash:`), an argument that no call in sight passes, the class that a factory chose. What differs from
call to call by itself, values and sizes of tensors, counters of loops, is no such test: both ways are gone in time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.expressions import combined
from tclint.interpreter.frame import PROVIDED, Env, Frame
from tclint.interpreter.modes import is_training
from tclint.sources.tree import turned
from tclint.values import UNKNOWN, Const, Dict, External, Member, Object, Scalar, Seq, Value, tensor_of
from tclint.values.provided import NOTHING, Provided, Proviso
from tclint.values.scalar import RUNTIME


def hang(
    frame: Frame, test: ast.expr, value: Value, then: Env | None, otherwise: Env | None, usual: bool | None = None
) -> None:
    """Put an open test into the environments where it is true and false, if it is one that stays as it is.

    `usual`: what it comes to as long as nobody in sight does something about it. That way hangs on nothing.
    """
    if then is None or otherwise is None:
        return
    asked = _asked_for_none(test)
    left_out = asked is not None and _is_optional(frame, asked)
    either = asked is not None and _may_be_left_out(frame, test, asked)
    if not either and not _stays(frame, test, value):
        return
    if usual is None and asked is not None and isinstance(test, ast.Compare) and (left_out or not either):
        # What is asked for None is there where nothing speaks for the other way: a parameter that may be left out is.
        usual = isinstance(test.ops[0], ast.Is if left_out else ast.IsNot)
    for env, holds in ((then, True), (otherwise, False)):
        if holds is not usual:
            env[PROVIDED] = frame.provided.with_(Proviso(frame.module.path, test.lineno, test, holds))


def hang_whole(frame: Frame, test: ast.BoolOp, parts: int, env: Env | None) -> None:
    """Where one of several open tests stops: `else` of `a and b`."""
    # Behind the last part the ways that went on through the others have noted them.
    noted = {each.node for each in frame.provided.provisos}
    if env is None or sum(each in noted for each in combined.leaves(test)) < parts:
        return
    held = env.get(PROVIDED)
    before = held if isinstance(held, Provided) else NOTHING
    env[PROVIDED] = before.with_(Proviso(frame.module.path, test.lineno, test, isinstance(test.op, ast.Or)))


def let_go(env: Env, test: ast.expr) -> None:
    """What stands behind `if a: raise` hangs on nothing: a program that works does not raise."""
    held = env.get(PROVIDED)
    if isinstance(held, Provided):
        env[PROVIDED] = held.without(frozenset(ast.walk(test)))


def _stays(frame: Frame, test: ast.expr, value: Value) -> bool:
    """Whether an open test is one on what nobody in sight sets, and not on what each call brings anew."""
    if tensor_of(value) is not None or value.source in RUNTIME:
        return False
    open_ones = 0
    with frame.interp.emitter.silence:
        for place in _places(test):
            if isinstance(place, ast.Call) and not isinstance(evaluate(frame, place.func), External):
                continue  # of the program's own functions it is what they are given that counts
            held = evaluate(frame, place)
            if _is_runtime(held) or _turns(frame, place):
                return False
            compared = isinstance(test, ast.Compare) and isinstance(held, Object)
            open_ones += compared or _is_open(held) or isinstance(place, ast.Attribute) and _is_one_of(held)
    return bool(open_ones)


def _asked_for_none(test: ast.expr) -> str | None:
    """The name that `x is None` asks."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)) or len(test.ops) > 1:
        return None
    other = test.comparators[0]
    none = isinstance(other, ast.Constant) and other.value is None
    return test.left.id if none and isinstance(test.left, ast.Name) else None


def _is_optional(frame: Frame, name: str) -> bool:
    return frame.function is not None and name in frame.function.node_index(_optional)


def _may_be_left_out(frame: Frame, test: ast.expr, name: str) -> bool:
    """Whether nobody in sight says that a name is None in one call and something in another: it may be the one or the other."""
    if frame.function is None or name in frame.function.node_index(turned):
        return False
    if frame.parent is None and frame.region is not None:
        # The calls in sight pass what they pass; without any, whoever may leave it out does.
        return frame.region.evidence is None and _is_optional(frame, name)
    with frame.interp.emitter.silence:
        return evaluate(frame, test.left).may_be_none()  # type: ignore[attr-defined]


def _optional(node: ast.AST) -> frozenset[str]:
    """The parameters of a function that are None by default."""
    given: ast.arguments = node.args  # type: ignore[attr-defined]
    positional = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(positional), reversed(given.defaults), strict=False)]
    pairs += [(arg, default) for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default]
    return frozenset(arg.arg for arg, default in pairs if isinstance(default, ast.Constant) and default.value is None)


def _places(test: ast.expr) -> Iterator[ast.expr]:
    """The names and attributes that a test asks, its calls, and what its methods are called on."""
    if isinstance(test, ast.Call):
        yield test
        if isinstance(test.func, ast.Attribute):
            yield from _places(test.func.value)
        for each in (*test.args, *(keyword.value for keyword in test.keywords)):
            yield from _places(each)
    elif isinstance(test, (ast.Name, ast.Attribute)):
        yield test
    else:
        for child in ast.iter_child_nodes(test):
            if isinstance(child, ast.expr):
                yield from _places(child)


def _turns(frame: Frame, place: ast.expr) -> bool:
    """Whether a name, or what it holds, is another one in each turn of a loop; and whether the object trains, which it does in turn."""
    if is_training(place):
        return True
    root = place
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and frame.function is not None and root.id in frame.function.node_index(turned)


def _is_runtime(value: Value) -> bool:
    return tensor_of(value) is not None or any(option.source in RUNTIME for option in value.options)


def _is_one_of(value: Value) -> bool:
    """Whether it is one of several constants: in an attribute those that the program sets in turn, or of which it chooses one."""
    return len(value.options) > 1 and all(isinstance(option, (Const, Member)) for option in value.options)


def _is_open(value: Value) -> bool:
    """Whether it may be anything that somebody sets: not one of a few values that are all in sight."""
    return any(
        option is UNKNOWN or isinstance(option, Scalar) and not option.among or isinstance(option, (Seq, Dict))
        for option in value.options
    )
