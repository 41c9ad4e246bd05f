"""What to pass for one argument of a call: from its annotation, from its name, and from what the function does with it."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import typing
from typing import Any

import torch
from torch import nn

from tclint.verify import guess
from tclint.verify.child.construct import construct
from tclint.verify.child.inputs import NoInputs
from tclint.verify.child.made_up import Through
from tclint.verify.child.needs import Need, need_of
from tclint.verify.child.nested import Described
from tclint.verify.child.signatures import Parameter, hints_of, is_settings, is_tensor, plain, signature_of
from tclint.verify.guess import Several, TensorSpec


def first_spec(model: Any) -> TensorSpec | None:
    """The tensor that the first layer with weights takes."""
    if not isinstance(model, nn.Module):
        return None
    for layer in model.modules():
        if isinstance(layer, nn.Embedding):
            return TensorSpec((guess.BATCH, guess.SEQUENCE), "int64")
        if isinstance(layer, nn.Linear):
            return TensorSpec((guess.BATCH, guess.SEQUENCE, layer.in_features))
        if isinstance(layer, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            sides = {nn.Conv1d: (32,), nn.Conv2d: (32, 32), nn.Conv3d: (8, 32, 32)}
            spatial = next(side for kind, side in sides.items() if isinstance(layer, kind))
            return TensorSpec((guess.BATCH, layer.in_channels, *spatial))
        if isinstance(layer, (nn.BatchNorm2d, nn.InstanceNorm2d)):
            return TensorSpec((guess.BATCH, layer.num_features, 16, 16))
        if isinstance(layer, nn.GroupNorm):
            return TensorSpec((guess.BATCH, layer.num_channels, 16, 16))
        if isinstance(layer, nn.LayerNorm):
            return TensorSpec((guess.BATCH, guess.SEQUENCE, *(int(size) for size in layer.normalized_shape)))
        if isinstance(layer, (nn.LSTM, nn.GRU, nn.RNN)):
            return TensorSpec((guess.BATCH, guess.SEQUENCE, layer.input_size))
    return None


def argument(parameter: Parameter, annotation: Any, width: int) -> Any:
    """A call argument: from its annotation where that says something, else from its name."""
    for text in (annotation, parameter.annotation):
        if (spec := guess.from_jaxtyping(text, width)) is not None:
            return spec
    wanted = plain(annotation)
    origin = typing.get_origin(wanted)
    if guess.is_position(parameter.name):
        pair = guess.value_for(parameter.name, width)
        return pair.items[0] if is_tensor(wanted) else pair
    if getattr(wanted, "__name__", wanted) == "BlockMask":
        return _block_mask()
    if is_tensor(wanted):
        text = wanted if isinstance(wanted, str) else wanted.__name__
        spec = guess.tensor_for(parameter.name, width)
        if "Long" in text or "Int" in text:
            return TensorSpec(spec.shape[:2], "int64")
        if "Bool" in text:
            return TensorSpec(spec.shape[:2], "bool")
        return spec
    if wanted is bool:
        return False
    if wanted is int:
        return int(guess.number_for(parameter.name) or 4)
    if wanted is float:
        return float(guess.number_for(parameter.name) or 1.0)
    if wanted is str:
        return guess.word_for(parameter.name) or "default"
    if origin in (list, tuple):
        items = [item for item in typing.get_args(wanted) if item is not Ellipsis]
        kind = "list" if origin is list else "tuple"
        if items and all(is_tensor(plain(item)) for item in items):
            one = guess.tensor_for(parameter.name.removesuffix("s"), width)
            return Several((one,) * max(2, len(items)), kind)
        if items and items[0] is int:
            return [4] * max(2, len(items)) if kind == "list" else (4,) * max(2, len(items))
    if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        return next(iter(wanted))
    if isinstance(wanted, type) and wanted.__module__.partition(".")[0] not in _KNOWN:
        try:
            return construct(wanted)
        except NoInputs:
            # A class that nobody can make: its name is what is left.
            return guess.value_for(parameter.name, width)
    if parameter.default is not parameter.empty and isinstance(parameter.default, (bool, int, float, str)):
        return parameter.default
    return guess.value_for(parameter.name, width)


_KNOWN = ("torch", "builtins", "typing", "collections", "numpy", "inspect", "jaxtyping")
"""Whose classes are not made by guessing."""


_MAPPINGS = ("dict", "Mapping", "OrderedDict", "defaultdict", "MutableMapping")


def _block_mask() -> Any:
    """The mask of flex attention that most models use."""
    from torch.nn.attention.flex_attention import create_block_mask

    return create_block_mask(lambda b, h, q, k: q >= k, None, None, guess.SEQUENCE, guess.SEQUENCE, device="cpu")


def chooses(function: Any, name: str) -> bool:
    """Whether a function chooses elements by an argument, `x[mask]`, `~mask`: by numbers it would gather others."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return False
    word = re.escape(name)
    return bool(re.search(rf"\w\[\s*{word}\s*\]|~\s*{word}\b|masked_\w+\(\s*{word}\b|where\(\s*{word}\s*,", text))


def layer_spec(function: Any, parameter: Parameter, model: Any) -> TensorSpec | None:
    """The tensor that the first of torch's layers takes which an argument is handed to."""
    if not isinstance(model, nn.Module):
        return None
    layers = need_of(function, parameter.name, model).layers
    return next((spec for layer in layers if (spec := first_spec(layer)) is not None), None)


def parts_for(
    function: Any, parameter: Parameter, annotation: Any, value: Any, model: Any, width: int
) -> dict[str, Any]:
    """What a dict or an object must hold, where a target looks into one of its arguments by name; something to call, where
    it calls it."""
    wanted = plain(annotation)
    if is_tensor(wanted) or wanted in (int, float, bool, str):
        return {}
    name = parameter.name
    if batch := _described(name, wanted, width):
        return batch
    need: Need = need_of(function, name, model)
    if need.keys:
        return {f"{name}[{key}]": guess.value_for(key, width) for key in need.keys}
    if need.is_mapping or wanted is dict or getattr(typing.get_origin(wanted), "__name__", "") in _MAPPINGS:
        return {f"{name}[x]": guess.tensor_for("x", width)}
    if need.is_called:
        return {name: Through()}
    own = [part for part in need.attributes if not hasattr(torch.Tensor, part)]
    made = isinstance(wanted, type) and wanted is not parameter.empty and not isinstance(value, TensorSpec)
    if own and not made:
        return {
            f"{name}.{part}": Through() if part in need.methods else guess.value_for(part, width)
            for part in need.attributes
            if part != "to"
        }
    return {}


def _described(name: str, wanted: Any, width: int, depth: int = 2) -> dict[str, Any]:
    """An instance of a batch by its fields, and those of the batches in it."""
    fields = _fields(wanted)
    if not fields:
        return {}
    found: dict[str, Any] = {name: Described(wanted)}
    for field, (parameter, hint) in fields.items():
        inner = _described(f"{name}.{field}", plain(hint), width, depth - 1) if depth else {}
        found |= inner or {f"{name}.{field}": argument(parameter, hint, width)}
    return found


def _fields(wanted: Any) -> dict[str, tuple[Parameter, Any]]:
    """The fields that a batch must be given, a dataclass or a named tuple that holds tensors; none of anything else."""
    if not isinstance(wanted, type) or is_settings(wanted):
        return {}
    if not dataclasses.is_dataclass(wanted) and not (issubclass(wanted, tuple) and hasattr(wanted, "_fields")):
        return {}
    hints = hints_of(wanted)
    taken = {p.name: (p, hints.get(p.name, p.annotation)) for p in signature_of(wanted)}
    if not any(is_tensor(plain(hint)) for _, hint in taken.values()):
        return {}
    return {name: (p, hint) for name, (p, hint) in taken.items() if p.default is p.empty or is_tensor(plain(hint))}
