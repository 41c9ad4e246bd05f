"""What the tests that compiled code has passed say of those that follow.

Behind `if not flag: return` the flag is true, behind `if kind == "a":` the next `elif kind == "a":` is never taken. What is known
stands in the environment beside the names that it is about, under keys that begin with such a name: binding the name anew
drops it, and where two ways meet what both of them know stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from tclint.interpreter.constructions import asked_of
from tclint.interpreter.expressions import combined, spelled
from tclint.interpreter.expressions.spelled import Spelled
from tclint.interpreter.frame import KNOWN, Env, Frame
from tclint.interpreter.training_flag import handed_on
from tclint.values import FALSE, TRUE, UNKNOWN, Const, FunctionValue, Region, Scalar, Union, Value, tensor_of
from tclint.values.union import one_of

_TOLD: Final = frozenset({"", "arg", "attr", "global"})
"""Sources of values for which a test is guarded by the value itself."""
_MOST: Final = 8
"""Values of one place that are remembered."""


class _Either(NamedTuple):
    """`a or b`: where one of two tests is not as it says, the other one is."""

    other: Spelled
    holds: bool
    """What the other one comes to."""
    roots: tuple[str, ...]
    mark: str


class _Meaning(NamedTuple):
    """`given = mask is not None`: a name that stands for a test."""

    test: ast.expr
    roots: tuple[str, ...]
    mark: str


def asked(frame: Frame, node: ast.expr, value: Value) -> Spelled | None:
    """What a test asks, for those below: None where it is no test that says something of others."""
    return spelled.spell(frame, node, value) if _speaks(frame, value) else None


def _speaks(frame: Frame, value: Value) -> bool:
    return frame.region is not None and tensor_of(value) is None


def answer(frame: Frame, said: Spelled | None) -> bool | None:
    """What a test comes to behind those that were passed, None where they do not say."""
    # Without paths nothing was told of any name.
    return _answer(frame, said) if said is not None and frame.paths else None


def _answer(frame: Frame, said: Spelled) -> bool | None:
    env = frame.env
    held = env.get(f"{said.roots[0]}{KNOWN}{said.text}")
    if held is not None and _all_hold(env, said.roots, said.text) and (known := held.truth()) is not None:
        return known is said.holds
    found = _by_values(frame, said)
    if found is None:
        found = _by_others(frame, said)
    if found is None and (meant := _meaning(env, said.text)) is not None:
        found = decided(frame, meant.test)
        return None if found is None else found is said.holds
    return found


def decided(frame: Frame, test: ast.expr) -> bool | None:
    """What a whole condition comes to behind those that were passed."""

    def of_leaf(leaf: ast.expr) -> bool | None:
        with frame.interp.emitter.silence:
            said = spelled.spell(frame, leaf)
        return _answer(frame, said) if said is not None else None

    return combined.outcome(test, of_leaf)


def learn(
    frame: Frame, node: ast.expr, value: Value, said: Spelled | None, then: Env | None, otherwise: Env | None
) -> None:
    """Put what a test says into the environments where it is true and false."""
    if not _speaks(frame, value):
        return
    for env, came in ((then, True), (otherwise, False)):
        if env is not None and said is not None:
            _put(frame, env, said, came)
        elif env is not None:
            _differ(frame, env, node, came)


def learn_all(frame: Frame, node: ast.BoolOp, env: Env | None) -> None:
    """Behind `if a and b: raise` one of the two is false, behind `assert a or b` one of them true."""
    if frame.region is None or env is None or len(node.values) != 2:
        return
    came = isinstance(node.op, ast.Or)
    with frame.interp.emitter.silence:
        first, second = (_plain(frame, each) for each in node.values)
    if first is not None and second is not None:
        _put_either(frame, env, first, second, came, came)


def mean(frame: Frame, name: str, test: ast.expr) -> None:
    """`given = mask is not None`: what a test of the name says is what this one does."""
    if frame.region is None or not isinstance(test, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        return
    with frame.interp.emitter.silence:
        parts = [_plain(frame, part) for part in _operands(test)]
    roots = tuple(dict.fromkeys(root for part in parts if part is not None for root in part.roots))
    if not roots or name in roots or None in parts:
        return
    mark = f"={name}"
    _mark(frame, frame.env, (name, *roots), mark, Const(_Meaning(test, roots, mark)))


def handed(frame: Frame, call: ast.AST | None, value: FunctionValue, env: Env) -> Env:
    """What a function that is called finds beside its arguments: what is said of any call, and of an object what was known of it
    that the method asks for again."""
    function, told = value.function, handed_on(frame, value.bound)
    func = call.func if isinstance(call, ast.Call) else None
    own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.attr == function.name
    owner = func.value.id if own else ""  # type: ignore[union-attr]
    if owner in frame.paths and next(iter(env), "") == owner and env[owner] is frame.env.get(owner):
        start, asked = f"{owner}{KNOWN}{owner}.", function.node_index(asked_of)
        for name, held in frame.env.items():
            if name.startswith(start) and name[len(start) :].partition(" ")[0] in asked:
                told[name] = held
    return {**env, **told} if told else env


def roots(env: Env, region: Region | None) -> set[str]:
    """The names of which something is known at the beginning of a function."""
    return {name.partition(KNOWN)[0] for name in env if KNOWN in name} if region is not None else set()


def as_known(frame: Frame, node: ast.expr, value: Value) -> Value:
    """A value that is handed on, with what the tests that were passed say of it."""
    if (
        frame.region is None
        or not frame.paths
        or type(value) is Const
        or not isinstance(node, (ast.Name, ast.Attribute))
    ):
        return value
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value  # type: ignore[assignment]
    if not isinstance(root, ast.Name) or root.id not in frame.paths or tensor_of(value) is not None:
        return value
    place = ast.unparse(node)
    if value is not UNKNOWN and not isinstance(value, (Scalar, Union)) or value.source not in _TOLD:
        return value
    only = _among(frame.env.get(f"{root.id}{KNOWN}{place} in"))
    if only is not None and len(only) == 1:
        return Const(*only) if not isinstance(value, Union) else _kept(value, only, frozenset())
    if isinstance(value, Scalar) and value.among:
        apart = _apart(frame.env.get(f"{root.id}{KNOWN}{place} out"))
        left = tuple(each for each in value.among if each not in apart)
        return Const(*left) if len(left) == 1 else value
    if isinstance(value, Union):
        return _kept(value, only, _apart(frame.env.get(f"{root.id}{KNOWN}{place} out")))
    held = frame.env.get(f"{root.id}{KNOWN}{place}") if value.python_type == "bool" else None
    known = held.truth() if held is not None else None
    return value if known is None else TRUE if known else FALSE


def _kept(value: Union, only: frozenset[object] | None, apart: frozenset[object]) -> Value:
    """Those of several values that the tests leave."""
    kept = [
        each
        for each in value.options
        if (one := spelled.constant(each)) is None or (only is None or one[0] in only) and one[0] not in apart
    ]
    return one_of(kept) if kept else value


# -- what is known ------------------------------------------------------------------------------------------------


def _put(frame: Frame, env: Env, said: Spelled, came: bool) -> None:
    """Remember that a test came to something, and what follows from it."""
    holds = came is said.holds
    _mark(frame, env, said.roots, said.text, TRUE if holds else FALSE)
    if said.place and said.among is not None:
        _put_values(frame, env, said, holds)
    elif said.place and said.type == "bool":
        _put_values(frame, env, said._replace(among=frozenset({True})), holds)
    meant = _meaning(env, said.text)
    if meant is not None:
        _learn_whole(frame, env, meant.test, holds)


def _learn_whole(frame: Frame, env: Env, test: ast.expr, came: bool) -> None:
    """What follows from a condition that came to something."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        _learn_whole(frame, env, test.operand, not came)
    elif isinstance(test, ast.BoolOp):
        if came is isinstance(test.op, ast.And):
            for each in test.values:
                _learn_whole(frame, env, each, came)
        else:
            learn_all(frame, test, env)
    else:
        with frame.interp.emitter.silence:
            said = spelled.spell(frame, test)
        if said is not None and _meaning(env, said.text) is None:
            _put(frame, env, said, came)


def _put_values(frame: Frame, env: Env, said: Spelled, holds: bool) -> None:
    assert said.among is not None
    root = said.roots[0]
    inside, outside = f"{root}{KNOWN}{said.place} in", f"{root}{KNOWN}{said.place} out"
    if holds:
        before = _among(env.get(inside))
        env[inside] = Const(said.among if before is None else said.among & before or said.among)
    else:
        apart = _apart(env.get(outside)) | said.among
        if len(apart) <= _MOST:
            env[outside] = Const(apart)


def _differ(frame: Frame, env: Env, node: ast.expr, came: bool) -> None:
    """`if (ids is None) == (embeds is None): raise`: one of two tests is true, and the other is not."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        left, right, same = node.left, node.right, False
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
        left, right, same = node.left, node.comparators[0], isinstance(node.ops[0], (ast.Eq, ast.Is))
    else:
        return
    if len(getattr(node, "ops", "1")) != 1 or not (isinstance(left, ast.Compare) and isinstance(right, ast.Compare)):
        return
    with frame.interp.emitter.silence:
        first, second = _plain(frame, left), _plain(frame, right)
    if first is None or second is None:
        return
    for holds in (True, False):
        _put_either(frame, env, first, second, holds, not holds if same is came else holds)


def _put_either(frame: Frame, env: Env, first: Spelled, second: Spelled, one: bool, other: bool) -> None:
    """Remember that the first test comes to `one` or the second to `other`."""
    roots = tuple(dict.fromkeys((*first.roots, *second.roots)))
    for test, holds, beside, holding in ((first, one, second, other), (second, other, first, one)):
        mark = f"{test.text} | {holds is test.holds}"
        _mark(frame, env, roots, mark, Const(_Either(beside, holding, roots, mark)))


def _by_others(frame: Frame, said: Spelled) -> bool | None:
    """What a test comes to because another one did not come to what it might have."""
    for holds in (True, False):
        held = frame.env.get(f"{said.roots[0]}{KNOWN}{said.text} | {holds}")
        either = held.value if type(held) is Const else None
        if isinstance(either, _Either) and _all_hold(frame.env, either.roots, either.mark):
            other = _known(frame, either.other)
            if other is not None and other is not either.holds:
                return holds is said.holds
    return None


def _known(frame: Frame, said: Spelled) -> bool | None:
    held = frame.env.get(f"{said.roots[0]}{KNOWN}{said.text}")
    known = held.truth() if held is not None and _all_hold(frame.env, said.roots, said.text) else None
    return _by_values(frame, said) if known is None else known is said.holds


def _by_values(frame: Frame, said: Spelled) -> bool | None:
    """What a test comes to because of what its place can still hold."""
    if not said.place:
        return None
    root = said.roots[0]
    only = _among(frame.env.get(f"{root}{KNOWN}{said.place} in"))
    apart = _apart(frame.env.get(f"{root}{KNOWN}{said.place} out"))
    if said.possible is not None:
        only = said.possible if only is None else said.possible & only
    if only is not None:
        only -= apart
        if not only or len(only) > 2 * _MOST:
            return None
        told = {(each in said.among) if said.among is not None else bool(each) for each in only}
        return told.pop() is said.holds if len(told) == 1 else None
    if said.among is not None and apart:
        return not said.holds if said.among <= apart else None
    return None


def _among(held: Value | None) -> frozenset[object] | None:
    """All that a place can hold, None where anything else is possible."""
    sets = _sets(held)
    return frozenset[object]().union(*sets) if sets else None


def _apart(held: Value | None) -> frozenset[object]:
    """What a place does not hold."""
    sets = _sets(held)
    return sets[0].intersection(*sets[1:]) if sets else frozenset()


def _sets(held: Value | None) -> list[frozenset[object]]:
    options = held.options if held is not None else ()
    sets = [each.value for each in options if type(each) is Const and isinstance(each.value, frozenset)]
    return sets if len(sets) == len(options) else []


def _meaning(env: Env, name: str) -> _Meaning | None:
    held = env.get(f"{name}{KNOWN}={name}")
    meant = held.value if type(held) is Const else None
    return meant if isinstance(meant, _Meaning) and _all_hold(env, meant.roots, meant.mark) else None


def _all_hold(env: Env, roots: tuple[str, ...], mark: str) -> bool:
    """Whether none of the names that something is about was bound anew."""
    first = env.get(f"{roots[0]}{KNOWN}{mark}")
    return first is not None and all(env.get(f"{root}{KNOWN}{mark}") is first for root in roots[1:])


def _mark(frame: Frame, env: Env, roots: tuple[str, ...], mark: str, value: Value) -> None:
    for root in roots:
        env[f"{root}{KNOWN}{mark}"] = value
    frame.paths.update(roots)


def _plain(frame: Frame, node: ast.expr) -> Spelled | None:
    """A test that is no combination of others, a `not` of one included."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _plain(frame, node.operand)
        return inner._replace(holds=not inner.holds) if inner is not None else None
    return spelled.spell(frame, node)


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from _operands(each)
    else:
        yield test
