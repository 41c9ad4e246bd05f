"""The one way to call what runs under CUDA graphs and keep what it returns: `run_cloned`.

Outputs of a callable compiled with `mode="reduce-overhead"` live in memory that the next run of the graph overwrites.
A single helper at the boundary (begin a step, call, copy) is what TCL301 asks for; this is that helper.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import torch
import torch.utils._pytree as pytree

T = TypeVar("T")


def run_cloned(fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """Mark a step, call `fn`, and return its output with every tensor in it copied.

    The output may be a tensor, any nesting of tuples, lists, dicts and dataclasses, or a type registered with torch's
    pytree. An object of another class that holds tensors raises TypeError: returning it would let them escape.
    The copies stay connected to autograd.
    """
    torch.compiler.cudagraph_mark_step_begin()
    copied: T = cloned(fn(*args, **kwargs))
    return copied


def cloned(value: Any) -> Any:
    """The value with every tensor in it replaced by a copy of its own memory."""
    return pytree.tree_map(_leaf, value)


def _leaf(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = copy.copy(value)
        for field in dataclasses.fields(value):
            # Around `__setattr__`: the class may be frozen.
            object.__setattr__(made, field.name, cloned(getattr(value, field.name)))
        return made
    if _holds_tensors(value):
        raise TypeError(
            f"run_cloned cannot copy a {type(value).__name__} that holds tensors: "
            "return them in tuples, lists, dicts or dataclasses, or register the class with torch.utils._pytree"
        )
    return value


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, (type, torch.nn.Module)) or callable(value):
        return False
    held = getattr(value, "__dict__", None)
    return isinstance(held, dict) and any(
        isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(list(held.values()))
    )
