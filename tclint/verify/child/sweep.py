"""Calls that differ as real ones do: the batch, the sequence, Python numbers, the length of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tclint.verify.child.inputs import Call

BATCHES = (2, 3, 1, 8)
KEYS = 7
"""Most sets of keys of one dict."""
SETTLED = 2
"""Programs a correct function may need: one for the first shape, one with that dimension dynamic."""


@dataclass(frozen=True)
class Sweep:
    label: str
    calls: Callable[[Call], list[Call]]
    """The calls, made from a fresh copy of the first one."""
    allowed: int = SETTLED
    varied: tuple[str, ...] = ()
    """What differs between the calls: "size", or the name of an argument."""


def map_tensors(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(map_tensors(item, change) for item in value)
    if type(value) is dict:
        return {key: map_tensors(item, change) for key, item in value.items()}
    return value


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_of(item)


def resized(call: Call, old: int, new: int, axes: tuple[int, ...]) -> Call:
    """The call with a size changed wherever a tensor has it on these axes: rows repeat, values stay valid."""

    def change(tensor: torch.Tensor) -> torch.Tensor:
        for axis in axes:
            if tensor.dim() > axis and tensor.shape[axis] == old:
                tensor = tensor.index_select(axis, torch.arange(new, device=tensor.device) % old)
        return tensor

    return Call(map_tensors(call.args, change), map_tensors(dict(call.kwargs), change))


def _replaced(call: Call, key: int | str, value: Any) -> Call:
    if isinstance(key, int):
        return Call((*call.args[:key], value, *call.args[key + 1 :]), call.kwargs)
    return Call(call.args, {**call.kwargs, key: value})


def sweeps(
    call: Call,
    parameters: Sequence[str] = (),
    passed: Mapping[str, Sequence[Any]] | None = None,
    keys: bool = False,
) -> Iterator[Sweep]:
    """Every sweep that makes sense for a call.

    `parameters` are the names of the positional arguments; `passed` holds the values that the program itself passes for
    some of them, which say better than counting up how they differ. With `keys`, dicts are passed that hold less: only
    where somebody says that the program does so.
    """
    yield Sweep("the same call four times", lambda first: [first] * 4)
    tensors = list(tensors_of([*call.args, *call.kwargs.values()]))
    batch = next((int(tensor.shape[0]) for tensor in tensors if tensor.dim() > 1), 0)
    if batch:
        # Batch 1 is always a program of its own (0/1 specialisation).
        yield Sweep(
            f"batch {', '.join(map(str, BATCHES))}",
            lambda first: [resized(first, batch, size, (0,)) for size in BATCHES],
            SETTLED + 1,
            ("size",),
        )
    long = next((int(tensor.shape[1]) for tensor in tensors if tensor.dim() in (2, 3) and tensor.shape[1] > 1), 0)
    if long:
        lengths = (long, long + 1, long + 3, long + 5)
        yield Sweep(
            f"length {', '.join(map(str, lengths))}",
            lambda first: [resized(first, long, size, (1,)) for size in lengths],
            varied=("size",),
        )
    side = next((int(tensor.shape[-1]) for tensor in tensors if tensor.dim() == 4), 0)
    if side:
        sides = (side, side * 2, side + 32, side + 64)
        yield Sweep(
            f"image side {', '.join(map(str, sides))}",
            lambda first: [resized(first, side, size, (2, 3)) for size in sides],
            varied=("size",),
        )
    named: list[tuple[int | str, Any]] = [*enumerate(call.args), *call.kwargs.items()]
    for key, value in named:
        name = key if isinstance(key, str) else parameters[key] if key < len(parameters) else ""
        yield from _scalar_sweep(key, value, name, (passed or {}).get(name, ()))
        if keys and type(value) is dict and len(value) > 1:
            yield _key_sweep(key, value, name)


def _key_sweep(key: int | str, value: dict[Any, Any], name: str) -> Sweep:
    """A dict with all that it holds, then with one of it at a time, then with all but one."""
    wholes = [tuple(value), *((one,) for one in value), *(tuple(k for k in value if k != one) for one in value)]
    chosen = list(dict.fromkeys(wholes))[:KEYS]

    def less(first: Call) -> list[Call]:
        own = first.args[key] if isinstance(key, int) else first.kwargs[key]
        return [_replaced(first, key, {each: own[each] for each in held}) for held in chosen]

    told = "; ".join(", ".join(map(str, held)) for held in chosen)
    return Sweep(f"{name or key} with {told}", less, varied=(*((name,) if name else ()), "keys"))


def _scalar_sweep(key: int | str, value: Any, name: str, passed: Sequence[Any]) -> Iterator[Sweep]:
    title = name or (f"argument {key + 1}" if isinstance(key, int) else key)
    varied = (name,) if name else ()
    values: list[Any] = []
    if isinstance(value, int) and not isinstance(value, bool):
        own = [item for item in passed if type(item) is int and item != value]
        values = list(dict.fromkeys([value, *own, value + 1, value + 2, value + 3, value - 1]))[:4]
    elif isinstance(value, bool):
        values = [value, not value]
    elif isinstance(value, float):
        values = [value, value + 0.125, value + 0.25, value + 0.375]
    if values:
        yield Sweep(
            f"{title} {', '.join(map(str, values))}",
            lambda first: [_replaced(first, key, item) for item in values],
            varied=varied,
        )
    elif isinstance(value, list) and value:

        def longer(first: Call) -> list[Call]:
            own = list(first.args[key] if isinstance(key, int) else first.kwargs[key])
            return [_replaced(first, key, own + [own[-1]] * more) for more in range(4)]

        yield Sweep(f"{title} of length {len(value)} to {len(value) + 3}", longer, varied=(*varied, "size"))
