"""One word for what a value is: the vocabulary of the facts.

`Tf2` a tensor of floats of rank 2 (f float32, d float64, h half or bfloat16, i int64, j other integers, b bool, c complex,
q quantised or float8), `Nd1` an ndarray, `Sd` a numpy scalar; `int float bool str bytes complex none dtype device layout size
slice type module function generator iterator dict set range ellipsis`; `list[...]`, `tuple[...]` with what they hold (one
word where all are alike, `*` appended); otherwise `object:` and the name of its class.
"""

from __future__ import annotations

import collections.abc
import re
import types
from typing import Any

import torch

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

INTEGERS = {torch.uint8, torch.int8, torch.int16, torch.int32}
PLAIN = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    bytes: "bytes",
    complex: "complex",
    type(None): "none",
    torch.dtype: "dtype",
    torch.device: "device",
    torch.layout: "layout",
    torch.Size: "size",
    slice: "slice",
    range: "range",
    type(Ellipsis): "ellipsis",
    types.FunctionType: "function",
    types.BuiltinFunctionType: "function",
    types.MethodType: "function",
    types.ModuleType: "namespace",
    types.GeneratorType: "generator",
}


def dtype_letter(dtype: torch.dtype) -> str:
    """The letter of a tensor's element type."""
    if dtype == torch.float32:
        return "f"
    if dtype == torch.float64:
        return "d"
    if dtype in (torch.float16, torch.bfloat16):
        return "h"
    if dtype == torch.int64:
        return "i"
    if dtype in INTEGERS:
        return "j"
    if dtype == torch.bool:
        return "b"
    return "c" if dtype.is_complex else "q"


def numpy_letter(dtype: Any) -> str:
    """The letter of an array's element type, in the same alphabet."""
    exact = {"float32": "f", "float64": "d", "float16": "h", "int64": "i", "bool": "b"}
    if dtype.name in exact:
        return exact[dtype.name]
    return {"i": "j", "u": "j", "c": "c", "U": "s", "S": "s", "O": "o"}.get(dtype.kind, "q")


def kind(value: Any, depth: int = 0) -> str:
    """The word for `value`."""
    if isinstance(value, torch.Tensor):
        name = "P" if isinstance(value, torch.nn.Parameter) else "T"
        return f"{name}{dtype_letter(value.dtype)}{value.dim()}"
    if numpy is not None:
        if isinstance(value, numpy.ndarray) and type(value) is numpy.ndarray:
            return f"N{numpy_letter(value.dtype)}{value.ndim}"
        if isinstance(value, numpy.generic):
            return f"S{numpy_letter(value.dtype)}"
    plain = PLAIN.get(type(value))
    if plain is not None:
        return plain
    if isinstance(value, type):
        return "type"
    if isinstance(value, torch.nn.Module):
        return "module"
    if isinstance(value, (tuple, list)):
        return sequence(value, depth)
    if isinstance(value, dict) and type(value) is dict:
        return "dict"
    if isinstance(value, (set, frozenset)):
        return "set"
    if type(value).__module__ in ("builtins", "itertools") and isinstance(value, collections.abc.Iterator):
        return "iterator"
    return object_name(value)


def sequence(value: Any, depth: int) -> str:
    """A list or tuple, with what it holds."""
    name = "list" if isinstance(value, list) else "tuple"
    if depth >= 2 or len(value) > 64:
        return name
    inner = [kind(member, depth + 1) for member in value]
    if type(value) not in (tuple, list) and len(inner) <= 6:
        return f"{name}[{','.join(inner)}]"
    if inner and len(set(inner)) == 1:
        return f"{name}[{inner[0]}*]"
    return f"{name}[{','.join(inner)}]" if 0 < len(inner) <= 4 else name


def object_name(value: Any) -> str:
    """The name of the class of anything else."""
    cls = type(value)
    name = f"{cls.__module__}.{cls.__qualname__}".replace("builtins.", "")
    return "object:" + re.sub(r"[^\w.]", "", name)
