"""Repairs that change every tensor of a call alike: its precision, its range, its length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tclint.verify.complaints import Inputs, tensors
from tclint.verify.guess import BATCH


def doubles(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A module that computes in double precision."""
    yield from _floats_as(inputs, "float64")


def complexes(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A module that computes with complex numbers."""
    yield from _floats_as(inputs, "complex64")


def _floats_as(inputs: Inputs, dtype: str) -> Iterator[dict[str, Any]]:
    floats = {name: replace(spec, dtype=dtype) for name, spec in tensors(inputs) if spec.dtype == "float32"}
    if floats:
        yield {**inputs, **floats}
        if len(floats) > 1:
            yield from ({**inputs, name: spec} for name, spec in floats.items())


def units(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Values out of the range that the program wants: those between 0 and 1 are in most."""
    floats = {name: replace(spec, unit=True) for name, spec in tensors(inputs) if spec.dtype == "float32"}
    if any(not spec.unit for _, spec in tensors(inputs)):
        yield {**inputs, **floats}


def alike(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Two tensors that must have one shape, as a prediction and its target do."""
    given = tensors(inputs)
    for _, model in given:
        yield {**inputs, **{name: replace(spec, shape=model.shape) for name, spec in given}}
        yield {**inputs, **{name: model for name, _ in given}}


def longer(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Signals that are shorter than a window: all of them, as a loss compares two; then one."""
    floats = [(name, spec) for name, spec in tensors(inputs) if spec.shape and spec.dtype != "int64"]
    for length in (4096, 32768):
        short = [(name, spec) for name, spec in floats if spec.shape[-1] < length]
        stretched = {name: replace(spec, shape=(*spec.shape[:-1], length)) for name, spec in short}
        flat = {name: replace(spec, shape=(BATCH, length)) for name, spec in short}
        for each in (stretched, flat):
            if len(each) > 1:
                yield {**inputs, **each}
        for name in stretched:
            yield {**inputs, name: stretched[name]}
            yield {**inputs, name: flat[name]}
