"""Parameters and buffers that are bound to other tensors between the runs of a CUDA graph: other addresses, other recordings.

Only addresses that are new each time count. A tensor that is computed where it is bound, while nobody keeps the old one, takes
turns with it in the allocator's memory: two or three recordings, and no more (seen on the device, torch 2.11). So do tensors of a
small pool.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import CompiledCall, Rerun, Store
from tclint.events.queries import Frame
from tclint.sources.tree import nodes, text
from tclint.torch_facts import facts
from tclint.values import Dict, Seq

FEW = 3
"""The addresses that are recorded one after the other before that is a habit."""
Loop = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Moves:
    """Follows stores and runs: a move counts where a loop is around both."""

    def __init__(self) -> None:
        self._runs: set[ast.AST] = set()
        """The loops around runs of graphs."""
        self._waiting: list[tuple[list[Loop], Store]] = []
        """The moves in loops in which no graph has run yet."""

    def at_run(self, event: CompiledCall | Rerun) -> Iterator[Store]:
        """The moves that were waiting for a run in one of these loops."""
        around = _around(event)
        self._runs.update(around)
        ready = [store for loops, store in self._waiting if any(loop in around for loop in loops)]
        self._waiting = [each for each in self._waiting if each[1] not in ready]
        yield from ready

    def at_store(self, event: Store) -> bool:
        """Whether a store moves something from turn to turn. Where a graph runs only later in the loop, it is told then."""
        loops = [loop for loop in _around(event) if not _few_turns(event, loop)]
        if not loops or _takes_turns(event):
            return False
        if any(loop in self._runs for loop in loops):
            return True
        if all(store.node is not event.node for _, store in self._waiting):
            self._waiting.append((loops, event))
        return False


def _around(event: Store | CompiledCall | Rerun) -> list[Loop]:
    """The loops around an event: in its function, and in those that call it."""
    line = getattr(event.node, "lineno", 0)
    found = [loop for loop in event.ask.of_scope(_loops) if _holds(loop, line)]
    for caller, call in event.ask.calls_here():
        line = getattr(call, "lineno", 0)
        found.extend(loop for loop in _loops_of(caller) if _holds(loop, line))
    return found


def _loops(root: ast.AST) -> list[Loop]:
    return [node for node in nodes(root) if isinstance(node, _LOOPS)]


def _loops_of(frame: Frame) -> list[Loop]:
    return frame.function.node_index(_loops) if frame.function is not None else frame.module.node_index(_loops)


def _holds(loop: Loop, line: int) -> bool:
    return loop.lineno <= line <= (loop.end_lineno or 0)


def _few_turns(event: Store, loop: Loop) -> bool:
    """Whether a loop goes over a few things that are written out, or known: a recording for each is no habit."""
    walked = [loop.iter] if isinstance(loop, (ast.For, ast.AsyncFor)) else []
    if not isinstance(loop, (ast.For, ast.AsyncFor, ast.While)):
        walked = [generator.iter for generator in loop.generators]
    own = loop in event.ask.of_scope(_loops)
    return bool(walked) and all((many := _length(event, node, own)) is not None and many <= FEW for node in walked)


def _length(event: Store, node: ast.expr, own: bool) -> int | None:
    """How many things an expression goes over; None where that is not known."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return len(node.elts)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return len(node.value)
    if isinstance(node, ast.Call) and text(node.func) == "range" and len(node.args) == 1:
        bound = node.args[0]
        return bound.value if isinstance(bound, ast.Constant) and isinstance(bound.value, int) else None
    held = event.ask.evaluate(node) if own else None
    return len(held.items) if isinstance(held, (Seq, Dict)) and held.items is not None else None


def _takes_turns(event: Store) -> bool:
    """Whether what is bound comes back to an address that was there before."""
    node = event.node
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    value = _source(event, node.value)
    if isinstance(value, ast.Subscript):
        pool = event.ask.evaluate(value.value)
        return isinstance(pool, (Seq, Dict)) and 0 < len(pool.items or ()) <= FEW
    if not isinstance(value, (ast.Call, ast.BinOp, ast.UnaryOp)):
        return False
    names = {text(node.targets[0]), text(node.value)}
    if isinstance(node.targets[0], ast.Attribute) and node.targets[0].attr == "data":
        names.add(text(node.targets[0].value))
    return not names & event.ask.of_scope(_put_away)


def _source(event: Store, value: ast.expr) -> ast.expr:
    """What was bound to a name, where that is what is stored."""
    for node in event.ask.of_scope(_assignments) if isinstance(value, ast.Name) else ():
        for target in node.targets:
            names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            if any(text(name) == text(value) for name in names):
                return node.value
    return value


def _assignments(root: ast.AST) -> list[ast.Assign]:
    return [node for node in nodes(root) if isinstance(node, ast.Assign)]


def _put_away(root: ast.AST) -> frozenset[str]:
    """What a function keeps in containers, as it is written."""
    found: set[str] = set()
    for node in nodes(root):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in facts.named("puts a value into a container"):
                found.update(text(argument) for argument in node.args)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            found.add(text(node.value))
    return frozenset(found)
