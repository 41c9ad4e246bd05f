"""Comprehensions that Dynamo looks at by themselves.

Python until 3.11 makes a function of a comprehension and hands it an iterator. Traced with the function around it, nobody sees
that. Where that function is left to eager mode, it is a frame of its own, which Dynamo compiles if it has something of torch
in it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.interpreter.passed_over import shows
from tclint.sources.tree import FUNCTIONS, names_read, nodes
from tclint.torch_facts import objects
from tclint.values import Dict, Seq, Value, tensor_of

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp
_PICKED = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)
_INSIDE = (*FUNCTIONS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Run(NamedTuple):
    """A comprehension that ran in a function, over an iterator of that kind."""

    node: Comprehension
    iterator: str


def ran(frame: Frame, node: Comprehension, iterable: Value) -> None:
    """Remember a comprehension that every run of a compiled function gets to, or every run in training, and that Dynamo would
    look at, were it called by eager code."""
    if frame.region is None or frame.maybe != frame.modal or isinstance(node.generators[0].iter, ast.List):
        return  # a list that is written out is a tuple to Python, which Dynamo goes through
    kind = iterable.kind if isinstance(iterable, Seq) else "dict" if isinstance(iterable, Dict) else iterable.maker
    iterator = f"iter of a {kind}"
    if iterator in objects.types() and shows(frame, *_names(node)):
        frame.comprehensions.append(Run(node, iterator))


def gave(frame: Frame, node: Comprehension, items: Sequence[Value]) -> None:
    """What a comprehension gives is known: one that only picks computes nothing, and loses nothing where it runs eagerly."""
    if not frame.comprehensions or frame.comprehensions[-1].node is not node:
        return
    element = node.value if isinstance(node, ast.DictComp) else node.elt
    arms = (element.body, element.orelse) if isinstance(element, ast.IfExp) else (element,)
    tensors = [tensor for tensor in map(tensor_of, items) if tensor is not None]
    if all(isinstance(arm, _PICKED) for arm in arms) and not any(tensor.origin.node in arms for tensor in tensors):
        frame.comprehensions.pop()


def left(frame: Frame) -> None:
    """A function is done: tell of its comprehensions where every run of it is eager, or every run in training."""
    at = frame.broken
    if at is not None and at.leaves_trained:
        for node, iterator in frame.comprehensions:
            frame.interp.emitter.emit(events.Apart, frame, node, iterator, at)


def _names(node: Comprehension) -> tuple[set[str], set[str]]:
    """The names that a comprehension takes from around it: those that it or a function inside it reads, and which of them it
    reads itself."""
    first, *others = node.generators
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    parts += [*first.ifs, *(part for each in others for part in (each.iter, *each.ifs))]
    bound = {n.id for each in node.generators for n in nodes(each.target) if isinstance(n, ast.Name)}
    inside = [n for part in parts for n in nodes(part) if isinstance(n, _INSIDE)]
    deeper = {id(n) for each in inside for n in nodes(each) if isinstance(n, ast.Name)}
    own = {n.id for part in parts for n in nodes(part) if isinstance(n, ast.Name) and id(n) not in deeper}
    return names_read(parts) - bound, own - bound
