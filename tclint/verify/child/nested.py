"""Guessed arguments made real: tensors from what is said of them, dicts and objects from the names of their parts."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch

from tclint.verify.child.inputs import Call
from tclint.verify.guess import Several, TensorSpec

_PART = re.compile(r"^(?P<base>\w+)(?:\[(?P<key>.+)\]|\.(?P<name>\w+))$")


def realize(value: Any, device: str) -> Any:
    """The tensors of a guess."""
    if isinstance(value, TensorSpec):
        dtype: torch.dtype = getattr(torch, value.dtype)
        if dtype == torch.bool:
            return torch.ones(value.shape, dtype=dtype, device=device)
        if dtype.is_floating_point and value.unit:
            return torch.rand(value.shape, dtype=dtype, device=device)
        if dtype.is_floating_point or dtype.is_complex:
            return torch.randn(value.shape, dtype=dtype, device=device)
        return torch.randint(0, max(1, value.high), value.shape, dtype=dtype, device=device)
    if isinstance(value, Several):
        items = [realize(item, device) for item in value.items]
        return items if value.kind == "list" else tuple(items)
    return copy.deepcopy(value)


def call_of(inputs: Mapping[str, Any], device: str) -> Call:
    """The call of arguments by name. `batch[image]` is a part of a dict, `batch.image` of an object, `*rest` all that a
    variadic parameter takes."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    for name, value in inputs.items():
        made = realize(value, device)
        if name.startswith("*"):
            args = tuple(made)
        elif (part := _PART.match(name)) is None:
            kwargs[name] = made
        elif part["key"] is not None:
            kwargs.setdefault(part["base"], {})[part["key"]] = made
        else:
            setattr(kwargs.setdefault(part["base"], SimpleNamespace()), part["name"], made)
    return Call(args, kwargs)


def parts_of(inputs: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """The objects of a call under the names of what they were made from."""
    found: dict[str, Any] = {}
    for name in inputs:
        part = _PART.match(name)
        if name.startswith("*"):
            found[name] = call.args
        elif part is None:
            found[name] = call.kwargs[name]
        elif part["key"] is not None:
            found[name] = call.kwargs[part["base"]][part["key"]]
        else:
            found[name] = getattr(call.kwargs[part["base"]], part["name"])
    return found
