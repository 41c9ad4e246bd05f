"""Conditions: in which environments they are true and false."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.expressions import passed_tests, provisos, told_apart, unturned
from tclint.interpreter.expressions.refinement import refine
from tclint.interpreter.frame import RARE, Env, Frame, join_env
from tclint.values import (
    BOOL,
    DATA_SIZED,
    FALSE,
    INPUT,
    SIZE,
    TRUE,
    UNKNOWN,
    Dict,
    Scalar,
    Seq,
    Tensor,
    Value,
    join_all,
    tensor_of,
)
from tclint.values.scalar import ENVIRONMENT

_WHERE_FULL: Final[dict[tuple[type[ast.cmpop], object], bool]] = {
    (ast.Gt, 0): True,
    (ast.NotEq, 0): True,
    (ast.GtE, 1): True,
    (ast.Eq, 0): False,
    (ast.LtE, 0): False,
    (ast.Lt, 1): False,
}
"""What comparisons with a size that is not zero come to."""


def branch(frame: Frame, node: ast.expr, keyword: str) -> tuple[Env | None, Env | None]:
    """Evaluate a condition: the environments in which it is true and false (None: it cannot be)."""
    if type(node) is ast.BoolOp:
        conjunction = type(node.op) is ast.And
        stopped: Env | None = None
        stops = 0
        for operand in node.values:
            then, otherwise = branch(frame, operand, keyword)
            go, stop = (then, otherwise) if conjunction else (otherwise, then)
            stopped = join_env(stopped, stop)
            stops += stop is not None
            if go is None:
                return (None, stopped) if conjunction else (stopped, None)
            frame.env = go
        if stops > 1:
            provisos.hang_whole(frame, node, stops, stopped)
        passed_tests.learn_all(frame, node, stopped)
        return (frame.env, stopped) if conjunction else (stopped, frame.env)
    if type(node) is ast.UnaryOp and type(node.op) is ast.Not:
        then, otherwise = branch(frame, node.operand, keyword)
        return otherwise, then
    then, otherwise, _ = _branch_value(frame, node, keyword)
    return then, otherwise


def _branch_value(frame: Frame, node: ast.expr, keyword: str) -> tuple[Env | None, Env | None, Value]:
    if type(node) is ast.BoolOp or (type(node) is ast.UnaryOp and type(node.op) is ast.Not):
        then, otherwise = branch(frame, node, keyword)
        return then, otherwise, FALSE if then is None else TRUE if otherwise is None else BOOL
    value = evaluate(frame, node)
    frame.interp.emitter.branch(frame, node, value, keyword)
    certain = value.truth()
    if certain is None and frame.region is None and isinstance(node, ast.Name) and node.id in frame.env:
        certain = _holds_something(value)
    if certain is None and frame.region is not None:
        certain = _by_default(value)
    if certain is None and frame.region is not None and keyword != "while":
        certain = _of_size(frame, node, value)
    said = passed_tests.asked(frame, node, value) if value.truth() is None else None
    if certain is None:
        certain = passed_tests.answer(frame, said)
    then = None if certain is False else dict(frame.env)
    otherwise = None if certain is True else dict(frame.env)
    refine(frame, node, then, otherwise)
    if certain is None and frame.region is None:
        told_apart.tell_apart(frame, node, then, otherwise)
    if value.truth() is None:
        passed_tests.learn(frame, node, value, said, then, otherwise)
    if certain is None:
        usual = unturned.usual(frame, node) if frame.region is not None else None
        _mark_unusual(usual, then, otherwise)
        if frame.becomes_graph:
            provisos.hang(frame, node, value, then, otherwise, usual)
    return then, otherwise, value


def _mark_unusual(usual: bool | None, then: Env | None, otherwise: Env | None) -> None:
    """What stands behind a switch that nobody in sight turns runs where somebody else does."""
    unusual = None if usual is None else otherwise if usual else then
    if unusual is not None:
        unusual[RARE] = TRUE


def _by_default(value: Value) -> bool | None:
    """What a test comes to where nobody has set the variable of the environment that it asks: compiled code runs as it
    runs by default. In eager code both ways count: there the variable decides what is compiled."""
    options = value.options
    kept = [option for option in options if option.source != ENVIRONMENT]
    if len(kept) == len(options):
        return None
    answers = {option.truth() for option in kept}
    return answers.pop() if len(answers) == 1 else None


def _of_size(frame: Frame, node: ast.expr, value: Value) -> bool | None:
    """What a test of a size of an argument comes to where no dimension is empty: compiled code is run for its elements."""
    if value is SIZE:
        return True  # as it is, of any tensor: `max_len or lengths.max()`
    if not isinstance(value, Scalar) or value.source != "size":
        return None
    if value.ref is None and not (isinstance(node, ast.Compare) and _counts_argument(frame, node.left)):
        return None
    if value.type != "bool":
        return True
    if not isinstance(node, ast.Compare) or not isinstance(node.comparators[0], ast.Constant):
        return None
    return _WHERE_FULL.get((type(node.ops[0]), node.comparators[0].value)) if len(node.ops) == 1 else None


def _counts_argument(frame: Frame, node: ast.expr) -> bool:
    """`x.numel()` of an argument, or of a part of one that no values choose."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "numel":
        return False
    with frame.interp.emitter.silence:
        tensor = evaluate(frame, node.func.value)
    return isinstance(tensor, Tensor) and tensor.flags & (INPUT | DATA_SIZED) == INPUT


def _holds_something(value: Value) -> bool | None:
    """Whether a container of the function's own has items at this moment."""
    if isinstance(value, Seq) and value.kind != "generator" and value.items is not None:
        return bool(value.items)
    return bool(value.items) if isinstance(value, Dict) and value.elem is None else None


def _bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    keyword = "and" if type(node.op) is ast.And else "or"
    results: list[Value] = []
    skipped: Env | None = None
    maybe = frame.maybe
    usual = RARE not in frame.env
    for operand in node.values[:-1]:
        then, otherwise, value = _branch_value(frame, operand, keyword)
        go, stop = (then, otherwise) if keyword == "and" else (otherwise, then)
        if stop is not None:
            # In `x or y`, x comes out only where it is true: a None on the left never does.
            results.append(value.without_none() if keyword == "or" else value)
            skipped = join_env(skipped, stop)
        if go is None:
            frame.env = skipped if skipped is not None else frame.env
            frame.maybe = maybe
            return join_all(results)
        frame.env = go
        frame.maybe += stop is not None and frame.module.library
    last = evaluate(frame, node.values[-1])
    if not (usual and RARE in frame.env and results):
        results.append(last)  # what only an unusual run comes to is no value of the others: `on_mps and is_available()`
    frame.maybe = maybe
    merged = join_env(frame.env, skipped)
    if merged is not None:
        frame.env = merged
    decided = TRUE if keyword == "or" else FALSE
    if results[-1].key == decided.key and all(v is UNKNOWN or v.python_type == "bool" for v in results):
        return decided  # `FLAG or torch.compiler.is_compiling()`, whatever the flag is
    return join_all(results)


def _if_exp(frame: Frame, node: ast.IfExp) -> Value:
    then, otherwise = branch(frame, node.test, "conditional expression")
    values: list[Value] = []
    after: Env | None = None
    # What a library does is told to its callers where it is sure: `float(x) if given else None` is not.
    undecided = then is not None and otherwise is not None and frame.module.library
    frame.maybe += undecided
    if then is not None:
        frame.env = then
        values.append(evaluate(frame, node.body))
        after = frame.env
    if otherwise is not None:
        frame.env = otherwise
        values.append(evaluate(frame, node.orelse))
        after = join_env(after, frame.env)
    frame.maybe -= undecided
    if after is not None:
        frame.env = after
    return join_all(values)


def assert_test(frame: Frame, node: ast.Assert) -> Value:
    """Evaluate an assert's condition. What fails straight into the raise is no branch: of a tensor there Dynamo makes an
    async assert. That is the whole condition, and of `and` and `or` the last operand."""
    return _last_test(frame, node.test)


def _last_test(frame: Frame, test: ast.expr) -> Value:
    if type(test) is ast.BoolOp:
        conjunction = type(test.op) is ast.And
        stopped: Env | None = None
        for operand in test.values[:-1]:
            then, otherwise = branch(frame, operand, "assert")
            go, stop = (then, otherwise) if conjunction else (otherwise, then)
            if not conjunction:
                stopped = join_env(stopped, stop)
            if go is None:
                frame.env = stopped if stopped is not None else frame.env
                return BOOL
            frame.env = go
        value = _last_test(frame, test.values[-1])
        frame.env = join_env(frame.env, stopped) or frame.env
        if not conjunction:
            passed_tests.learn_all(frame, test, frame.env)
        return value if tensor_of(value) is not None else BOOL
    if type(test) is ast.UnaryOp and type(test.op) is ast.Not:
        holds, _ = branch(frame, test, "assert")
        if holds is not None:
            frame.env = holds
        return BOOL
    value = evaluate(frame, test)
    then = dict(frame.env)
    refine(frame, test, then, None)
    if value.truth() is None:
        passed_tests.learn(frame, test, value, passed_tests.asked(frame, test, value), then, None)
    frame.env = then
    return value


def negate(frame: Frame, operand: ast.expr) -> Value:
    """The value of `not operand`."""
    then, otherwise = branch(frame, operand, "not")
    merged = join_env(then, otherwise)
    if merged is not None:
        frame.env = merged
    if then is None:
        return TRUE
    return FALSE if otherwise is None else BOOL


handles(ast.BoolOp, _bool_op)
handles(ast.IfExp, _if_exp)
