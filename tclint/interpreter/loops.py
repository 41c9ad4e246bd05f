"""Loops: turn by turn in eager code, until nothing changes in compiled code.

What eager code does between two turns is what a compiled callable meets between two calls. Importing this module adds to
the table of `tclint.interpreter.execute`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint import events
from tclint.interpreter import expressions, stores
from tclint.interpreter.execute import handles, run_block
from tclint.interpreter.frame import Env, Frame, join_env, settled
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import GRAPHED, OWNED, USED, Seq, Tensor, Union, Value
from tclint.values.value import NUMBER

_LOOP_PASSES: Final = 3
_TURNS: Final = 8
"""Turns that are walked of a loop over a known sequence."""
_GATHERED: Final = 32
"""The same in a function that only hands out what its loops make."""
_FILLS: Final = frozenset(facts.named("makes a container grow or shrink"))
_LATER: Final = 3
"""Turns that are walked of any other eager loop: the first, a later one, and one that shows whether a change goes on."""


def _turn(frame: Frame, node: ast.For | ast.AsyncFor | ast.While, broken: list[Env]) -> Env | None:
    """Run a loop's body once: the environment in which it goes on to the next turn, None where it never does."""
    frame.breaks.append([])
    frame.continues.append([])
    run_block(frame, node.body)
    ends: Env | None = None if frame.dead else frame.env
    frame.dead = False
    for env in frame.continues.pop():
        ends = join_env(ends, env)
    broken.extend(frame.breaks.pop())
    return ends


def _loop(frame: Frame, node: ast.For | ast.AsyncFor | ast.While, head: Callable[[], Env | None], keyword: str) -> None:
    """Run a loop's body until its names stop changing. `head` gives the environment in which the body starts."""
    frame.blocks.append(keyword)
    exits: Env | None = None
    entry = dict(frame.env)
    broken: list[Env] = []
    turned: Env | None = None
    for _ in range(_LOOP_PASSES):
        before = dict(frame.env)
        start = head()
        exits = join_env(exits, frame.env if keyword == "while" else before)
        if start is None:
            break
        frame.env = start
        ends = _turn(frame, node, broken)
        if ends is None:
            frame.env = entry
            break
        turned = join_env(turned, dict(ends)) if keyword == "for" else None
        merged = join_env(dict(before), ends)
        assert merged is not None
        frame.env = merged
        exits = join_env(exits, dict(merged))
        if settled(before, merged):
            break
    frame.blocks.pop()
    frame.env = exits if exits is not None else entry
    if turned is not None and exits is not None:
        _gather(frame.env, entry, turned)
    if node.orelse:
        run_block(frame, node.orelse)
    after: Env | None = None if frame.dead else frame.env
    for env in broken:
        after = join_env(after, env)
    if after is not None:
        frame.env = after
        frame.dead = False


def _gather(env: Env, entry: Env, turned: Env) -> None:
    """`loss = 0`, to which each turn adds a tensor: the loop is there to make some, so the sum is a tensor behind it."""
    for name, value in turned.items():
        if type(value) is Tensor and name in entry and entry[name].rank == NUMBER and type(env.get(name)) is Union:
            env[name] = value.with_(conf=min(value.conf, USED))


def _for(frame: Frame, node: ast.For) -> None:
    iterable = expressions.evaluate(frame, node.iter)
    frame.interp.emitter.emit(events.Loop, frame, node, iterable, False)
    walks = frame.walks
    if not walks and isinstance(node.iter, (ast.Tuple, ast.List)) and isinstance(iterable, Seq) and iterable.items:
        if _unroll(frame, node, iterable.items):
            return

    if walks:
        items, exact = iterable.turns(frame, node, _GATHERED if frame.yielding else _TURNS, _LATER)
        if not exact and len(items) == _TURNS and _gathers(node):
            every, exact = iterable.turns(frame, node, _GATHERED, _LATER)
            items = every if exact else items  # what it fills is as long as it has turns
        left = iter(items)

        def turn() -> tuple[bool, Env | None]:
            item = next(left, None)
            if item is None:
                frame.inexact |= not exact
                return False, None
            leaves = None if exact else dict(frame.env)
            if isinstance(iterable, Seq) and not iterable.ready and item.contains(OWNED) is not None:
                frame.interp.graph_memory.run(frame)  # the generator runs on to its next `yield`
            stores.store(frame, node.target, item, node, quiet=True)
            return True, leaves

        _walk(frame, node, turn, "for")
        return

    def head() -> Env:
        env = dict(frame.env)
        frame.env = env
        stores.store(frame, node.target, iterable.iterate(frame, node), node, quiet=True)
        return frame.env

    _loop(frame, node, head, "for")


def _gathers(node: ast.For) -> bool:
    """Whether the body of a loop fills a list: `found.append(…)`."""
    calls = (each.value for each in node.body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in _FILLS for call in calls)


def _walk(
    frame: Frame,
    node: ast.For | ast.AsyncFor | ast.While,
    turn: Callable[[], tuple[bool, Env | None]],
    keyword: str,
) -> None:
    """Run the body of an eager loop turn by turn, in the order in which things happen.

    `turn` begins the next one: whether there is one, and the environment in which the loop may have ended instead.
    """
    frame.blocks.append(keyword)
    frame.walked += 1
    exits: Env | None = None
    broken: list[Env] = []
    ended = False
    heap = frame.interp.heap
    left = []
    first, started = True, False
    level = min(frame.depth, len(frame.budget) - 1)
    while frame.budget[level] > 0 or first:  # what stands in a loop is seen once, whatever was walked before
        first = False
        more, leaves = turn()
        if leaves is not None:
            exits = join_env(exits, leaves if started else _rebound(frame, node, leaves))
            left.append(heap.state())
        started = True
        if not more:
            break
        frame.inexact |= leaves is not None  # the loop may have ended before this turn
        frame.budget[level] -= 1
        ends = _turn(frame, node, broken)
        if ends is None:
            ended = True
            break
        frame.env = ends
    else:
        frame.inexact = True
    heap.meet(left)
    frame.walked -= 1
    frame.blocks.pop()
    after: Env | None = exits if ended else join_env(exits, frame.env)
    if after is not None:
        frame.env = after
        if node.orelse:
            run_block(frame, node.orelse)
            after = None if frame.dead else frame.env
            frame.dead = False
    for env in broken:
        after = join_env(after, env)
    frame.dead = after is None
    if after is not None:
        frame.env = after


def _rebound(frame: Frame, node: ast.For | ast.AsyncFor | ast.While, env: Env) -> Env:
    """What is left of an environment where a loop makes no turn at all: it is there to make some, so an output of a CUDA graph
    under a name that its body binds is not the one of the last time."""
    if isinstance(node, ast.While) or not frame.interp.graph_memory.runs:
        return env
    bound = {n.id for n in nodes(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {name: value for name, value in env.items() if name not in bound or value.contains(GRAPHED) is None}


def _unroll(frame: Frame, node: ast.For, items: tuple[Value, ...]) -> bool:
    """`for t in (x, mask): …` written out, where nothing leaves the loop early."""
    if len(items) > 4 or node.orelse or any(isinstance(n, (ast.Break, ast.Continue, ast.Return)) for n in nodes(node)):
        return False
    frame.blocks.append("for")
    for element, item in zip(getattr(node.iter, "elts", ()), items, strict=False):
        if isinstance(element, ast.Name):
            item = frame.env.get(element.id, item)  # an earlier round may have changed what the name holds
        stores.store(frame, node.target, item, node, quiet=True)
        run_block(frame, node.body)
    frame.blocks.pop()
    return True


def _while(frame: Frame, node: ast.While) -> None:
    if frame.walks:
        left = [_TURNS, _LATER]

        def turn() -> tuple[bool, Env | None]:
            then, otherwise = expressions.branch(frame, node.test, "while")
            left[otherwise is not None] -= 1
            if then is None or min(left) < 0:
                frame.inexact |= then is not None
                return False, otherwise
            frame.env = dict(then)
            return True, otherwise

        _walk(frame, node, turn, "while")
        return

    def head() -> Env | None:
        then, otherwise = expressions.branch(frame, node.test, "while")
        if otherwise is not None:
            frame.env = otherwise
        return None if then is None else dict(then)

    _loop(frame, node, head, "while")


def _break(frame: Frame, node: ast.Break) -> None:
    if frame.breaks:
        frame.breaks[-1].append(frame.env)
        frame.env = dict(frame.env)
    frame.dead = True


def _continue(frame: Frame, node: ast.Continue) -> None:
    if frame.continues:
        frame.continues[-1].append(frame.env)
        frame.env = dict(frame.env)
    frame.dead = True


handles(ast.For, _for)
handles(ast.AsyncFor, _for)
handles(ast.While, _while)
handles(ast.Break, _break)
handles(ast.Continue, _continue)
