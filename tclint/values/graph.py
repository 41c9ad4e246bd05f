"""A CUDA graph captured by hand, and records that hold one beside its static tensors."""

from __future__ import annotations

from typing import Final

from tclint.values.dict import Dict
from tclint.values.flags import OWNED, STALE, STATIC_OUT
from tclint.values.instance import Instance
from tclint.values.object import Object
from tclint.values.sequence import Seq
from tclint.values.value import Value

CUDA_GRAPH: Final = "torch.cuda.CUDAGraph"


def is_graph(value: Value) -> bool:
    """Whether it is a CUDA graph that the program captures by hand."""
    return isinstance(value, Object) and value.name == CUDA_GRAPH


def as_handle(value: Value) -> Value:
    """What such a record holds is what the graph writes to, whatever a replay has left there."""
    taken = OWNED | STALE
    return value.mapped(STATIC_OUT, lambda tensor: tensor.with_(flags=tensor.flags & ~taken))


def holds_graph(value: Value, depth: int = 3) -> bool:
    """Whether it is a record of a graph and of the tensors that it reads and writes (kept to be replayed, no output), or
    holds such records."""
    for option in value.options if depth else ():
        parts: tuple[Value | None, ...] = ()
        if isinstance(option, Instance) and option.fields:
            parts = tuple(option.fields.values())
        elif isinstance(option, Seq):
            parts = option.items if option.items is not None else (option.elem,)
        elif isinstance(option, Dict):
            parts = (*option.items.values(), option.elem)
        if any(part is not None and (is_graph(part) or holds_graph(part, depth - 1)) for part in parts):
            return True
    return False
