"""Guessed arguments made real: tensors from what is said of them, dicts and objects from the names of their parts."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch

from tclint.verify.child.inputs import Call
from tclint.verify.guess import Several, TensorSpec

_STEP = re.compile(r"\[(?P<key>[^\]]+)\]|\.(?P<name>\w+)")
"""One step into an argument: `batch[image]` is a part of a dict, `batch.image.pixels` of an object in an object."""


@dataclass(frozen=True)
class Described:
    """An argument that is an instance of a class with fields: its parts are given under their own names."""

    cls: type


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
    nodes: dict[str, _Node] = {}
    for name, value in inputs.items():
        if name.startswith("*"):
            args = tuple(realize(value, device))
            continue
        base, steps = _steps(name)
        node = nodes.setdefault(base, _Node())
        for step in steps:
            node.is_dict = step["key"] is not None
            node = node.parts.setdefault(step["key"] or step["name"], _Node())
        node.value = value if isinstance(value, Described) else realize(value, device)
    return Call(args, {name: node.made() for name, node in nodes.items()})


@dataclass
class _Node:
    """An argument, or a part of one."""

    value: Any = None
    is_dict: bool = False
    parts: dict[str, _Node] = field(default_factory=dict)

    def made(self) -> Any:
        parts = {name: part.made() for name, part in self.parts.items()}
        if isinstance(self.value, Described):
            return self.value.cls(**parts)
        if not parts:
            return self.value
        return parts if self.is_dict else SimpleNamespace(**parts)


def _steps(name: str) -> tuple[str, list[re.Match[str]]]:
    base = re.match(r"\w+", name)
    assert base is not None, name
    return base[0], list(_STEP.finditer(name, base.end()))


def parts_of(inputs: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """The objects of a call under the names of what they were made from."""
    found: dict[str, Any] = {}
    for name in inputs:
        if name.startswith("*"):
            found[name] = call.args
            continue
        base, steps = _steps(name)
        value = call.kwargs[base]
        for step in steps:
            value = value[step["key"]] if step["key"] is not None else getattr(value, step["name"], None)
        found[name] = value
    return found
