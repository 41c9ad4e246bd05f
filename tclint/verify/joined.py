"""What an error says of tensors that are joined, laid over each other or handed to one layer: sizes, channels, ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tclint.verify.complaints import Inputs, computed, tensors


def change(inputs: Inputs, name: str, value: Any) -> dict[str, Any]:
    return {**inputs, name: value}


def dims(inputs: Inputs, old: int, new: int, axis: int | None = None) -> Iterator[dict[str, Any]]:
    """Inputs with one dimension changed from old to new, one tensor at a time; then in all tensors that have it."""
    every: dict[str, Any] = dict(inputs)
    touched = 0
    for name, spec in tensors(inputs):
        axes = range(len(spec.shape)) if axis is None else [axis % len(spec.shape)] if spec.shape else []
        for position in reversed(list(axes)):
            if spec.shape[position] == old and old != new and new > 0:
                shape = (*spec.shape[:position], new, *spec.shape[position + 1 :])
                yield change(inputs, name, replace(spec, shape=shape))
                every[name] = replace(spec, shape=shape)
                touched += 1
                break
    if touched > 1:
        yield every


def channels(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    want, had = int(found[1]), int(found[2])
    joined = [(name, spec) for name, spec in tensors(inputs) if len(spec.shape) > 2 and spec.dtype.startswith("float")]
    if len(joined) > 1 and sum(spec.shape[1] for _, spec in joined) == had and want % len(joined) == 0:
        each = want // len(joined)
        yield {**inputs, **{n: replace(s, shape=(s.shape[0], each, *s.shape[2:])) for n, s in joined}}
    yield from dims(inputs, had, want, axis=1)
    yield from dims(inputs, had, want)
    for name, spec in reversed(joined) if len(joined) > 1 else ():
        if 0 < (left := spec.shape[1] + want - had) != spec.shape[1]:
            # The others stay as they are, of what is joined.
            yield change(inputs, name, replace(spec, shape=(spec.shape[0], left, *spec.shape[2:])))
    for name, spec in tensors(inputs):
        for axis in range(1, len(spec.shape) - 1):
            if spec.shape[axis] * spec.shape[axis + 1] == had:
                # Two axes became one: frames and channels, steps and features.
                for both in ((want, 1), (1, want)):
                    shape = (*spec.shape[:axis], *both, *spec.shape[axis + 2 :])
                    yield change(inputs, name, replace(spec, shape=shape))
    yield from computed(inputs, had, want)


def axis_pair(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    want, axis, had = (int(number) for number in found.groups())
    if axis > 1:
        yield from _resized(inputs, want, had, axis)
        yield from _resized(inputs, had, want, axis)
    yield from dims(inputs, had, want, axis)
    yield from dims(inputs, want, had, axis)


def _resized(inputs: Inputs, had: int, want: int, axis: int) -> Iterator[dict[str, Any]]:
    """An image or a volume that is larger or smaller by the same factor on every side."""
    for name, spec in tensors(inputs):
        sides = spec.shape[2:]
        if len(spec.shape) > max(axis, 3) and spec.shape[axis] == had:
            scaled = tuple(side * want // had for side in sides)
            if min(scaled) > 0 and max(scaled) <= 256:
                yield change(inputs, name, replace(spec, shape=(*spec.shape[:2], *scaled)))


def same_rank(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Tensors that are joined: those of either rank as those of the other."""
    first, second = (int(number) for number in found.groups() if number)
    for had, want in ((first, second), (second, first)):
        model = next((spec for _, spec in tensors(inputs) if len(spec.shape) == want), None)
        for name, spec in tensors(inputs):
            if len(spec.shape) == had:
                if model is not None:
                    yield change(inputs, name, replace(spec, shape=model.shape))
                yield change(inputs, name, spec.with_rank(want))
