"""What one graph that the program captures by hand holds of the program, and what eager code does to it."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from tclint.interpreter.bindings import Place
from tclint.interpreter.frame import Frame
from tclint.program import Function
from tclint.values import Value


class Deed(NamedTuple):
    """Something that eager code does to a graph, or to what a graph may have read."""

    kind: str
    """`capture`, `end`, `read`, `run`, `bind`, `mode`, `write`, `change`, `touch`, `backward`, `step`, `rate`, `drop`, `use`,
    `replay`, `lose`; `hook` and `unhook`; `fork` and `join`; `library`"""
    of: Hashable
    """The graph, the place, the module, the tensor or the stream."""
    value: Value
    frame: Frame
    node: ast.AST
    branched: tuple[Function | None, ...] = ()
    """The functions on the way there of which a branch that may not be taken leads on."""


@dataclass(slots=True)
class Recorded:
    """What one graph holds of the program."""

    frame: Frame
    begun: ast.AST | None = None
    """Where the program begins it; None where torch does, which warms up by itself."""
    reads: dict[Place, Value] = field(default_factory=dict)
    bound: dict[Place, Deed] = field(default_factory=dict)
    """What the capture itself has bound, whether it had read it before or not."""
    carried: dict[Place, Deed] = field(default_factory=dict)
    """What it has read and then bound: the next replay reads the old one again."""
    modes: dict[Hashable, Deed] = field(default_factory=dict)
    """The calls of `train()` and `eval()` that were in force."""
    ran: set[Hashable] = field(default_factory=set)
    """The modules whose parameters it reads."""
    made: set[ast.AST] = field(default_factory=set)
    """The calls that make a tensor, of those within the capture, or of one that it writes before anything else: every replay
    makes it anew."""
    changes: dict[ast.AST, Deed] = field(default_factory=dict)
    """The tensors that every replay changes, starting from what they hold."""
    warmed: dict[ast.AST, Deed] = field(default_factory=dict)
    """Those of them that a warm-up has changed already, and nobody has put back."""
    forked: dict[Hashable, Deed] = field(default_factory=dict)
    """The side streams that have work of the capture, until another stream waits for them."""
    used: list[Deed] = field(default_factory=list)
    """Where its outputs were read before it was replayed for the first time."""
    samples: tuple[Value, ...] = ()
    """What a callable was captured with, of which torch makes the graph itself."""
    backward: bool = False
    stepped: bool = False
    rated: bool = False
    """Whether a learning rate was written into the graph as a number."""
    replays: int = 0
