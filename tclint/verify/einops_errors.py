"""What a pattern of einops says of the tensor that did not fit it: `b (h p) w c`, with what is known of its axes."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tclint.verify.complaints import Inputs, replaced, tensors
from tclint.verify.guess import BATCH, SEQUENCE

_TOLD = re.compile(
    r'pattern "(?P<left>[^"]+?)->[^"]*".*?[Ii]nput tensor shape: (?:torch\.Size\()?[\[(](?P<had>[\d, ]*)[\])].*?'
    r"[Aa]dditional info: (?P<info>\{.*?\})",
    re.DOTALL,
)
_AXIS = re.compile(r"\(([^)]*)\)|(\S+)")
_SIDE = 16


def patterned(message: str, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Inputs whose shape fits the pattern that an error tells of."""
    found = _TOLD.search(message)
    if found is None:
        return
    had = tuple(int(size) for size in found["had"].split(",") if size.strip())
    axes = _written_out([(group or name).split() for group, name in _AXIS.findall(found["left"])], len(had))
    if axes is None:
        return
    try:
        info = {str(axis): int(size) for axis, size in ast.literal_eval(found["info"]).items()}
    except (ValueError, SyntaxError, TypeError):
        return
    shape = _fitting(axes, had, info)
    if shape == had:
        return
    for name, spec in tensors(inputs):
        if spec.shape == had:
            yield {**inputs, name: replace(spec, shape=shape)}
    if len(shape) == len(had):
        for old, new in zip(had, shape, strict=True):
            if old != new:
                yield from replaced(inputs, old, new)
    else:
        for name, spec in tensors(inputs):
            if spec.shape != had and spec.dtype == "float32":
                yield {**inputs, name: replace(spec, shape=shape)}


def _written_out(axes: list[list[str]], rank: int) -> list[list[str]] | None:
    """The axes of a pattern, with a name for each that its `...` stands for; None where that is inside of another axis."""
    if any("..." in axis and len(axis) > 1 for axis in axes):
        return None
    rest = [[f"rest {number}"] for number in range(max(0, rank - len(axes) + 1))]
    return [each for axis in axes for each in (rest if axis == ["..."] else [axis])]


def _fitting(axes: list[list[str]], had: tuple[int, ...], info: dict[str, int]) -> tuple[int, ...]:
    """A shape of these axes: what is known of each, and as near to the shape as it was as that allows."""
    width = had[1] if len(had) > 3 else had[-1] if had else 1
    sizes = []
    for position, axis in enumerate(axes):
        factor = math.prod(int(part) if part.isdigit() else info.get(part, 1) for part in axis)
        if all(part.isdigit() or part in info for part in axis):
            sizes.append(factor)
            continue
        near = had[position] if len(had) == len(axes) else _usual(axis, position, len(axes), width)
        sizes.append(max(1, -(-near // factor)) * factor)
    return tuple(sizes)


def _usual(axis: list[str], position: int, rank: int, width: int) -> int:
    first = axis[0].lower()
    if first in ("b", "batch", "bs", "bsz") or position == 0:
        return BATCH
    if first in ("c", "d", "dim", "ch", "channels", "channel", "features", "e"):
        return width
    if first[0] in "hwxy" and rank > 3:
        return _SIDE
    return SEQUENCE if position < rank - 1 else width
