"""Other kinds of arguments, where no error says which one is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tclint.verify.complaints import Inputs, alike_families, tensors
from tclint.verify.guess import BATCH, SEQUENCE, SIDE, WIDTH, Several, TensorSpec, tensor_for


def otherwise(inputs: Inputs, name: str) -> Iterator[dict[str, Any]]:
    """Another kind of one argument, where it is known that it is at fault and not why."""
    value = inputs[name]
    if isinstance(value, TensorSpec):
        yield from (_with(inputs, name, value.with_rank(rank)) for rank in (2, 4, 3, 1) if rank != len(value.shape))
        yield _with(inputs, name, 1)
        yield _with(inputs, name, Several((value, value), "list"))
    elif type(value) in (int, float):
        yield from (_with(inputs, name, other) for other in (1, 0, 2, 0.5) if other != value)
        yield _with(inputs, name, tensor_for(name))


def families(inputs: Inputs, widths: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Other shapes for the first tensor, when no error said anything useful."""
    first = next((name for name, _ in tensors(inputs)), None)
    if first is None:
        return
    yield from alike_families(inputs, widths[0] if widths else WIDTH)
    for width in widths or (WIDTH,):
        for shape in (
            (BATCH, SEQUENCE, width),
            (BATCH, width),
            (BATCH, width, SIDE, SIDE),
            (BATCH, width, SIDE),
            (BATCH, 16, 16, width),
        ):
            yield _with(inputs, first, TensorSpec(shape))
    yield _with(inputs, first, TensorSpec((BATCH, 3, 224, 224)))
    yield _with(inputs, first, TensorSpec((BATCH, SEQUENCE), "int64"))


def _with(inputs: Inputs, name: str, value: Any) -> dict[str, Any]:
    return {**inputs, name: value}
