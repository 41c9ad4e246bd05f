"""What a program's own words ask of its inputs: the shape of an argument, one number in place of another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tclint.verify.guess import BATCH, SEQUENCE, SIDE, WIDTH, TensorSpec

Inputs = Mapping[str, Any]
"""Arguments by name: TensorSpec, Several, or a plain value."""

_EXPECTED = re.compile(
    r"(?:[Ee]xpect(?:s|ed|ing)?|[Rr]equires?|must (?:be|have|equal))\b(?P<want>.*?)"
    r"\b(?:got|received|found|given|not|but (?:was|is))\b(?P<had>.*)",
    re.DOTALL,
)
_INSTEAD = re.compile(
    r"\b(?:got|received|found|given|has)\b(?P<had>.*?)\b(?:[Ee]xpect(?:s|ed|ing)?|instead of|should (?:be|have))\b(?P<want>.*)",
    re.DOTALL,
)
_TUPLE = re.compile(r"[(\[](\d+(?:, ?\d+)*),?[)\]]")
_LETTERS = {"b": BATCH, "n": BATCH, "t": SEQUENCE, "l": SEQUENCE, "s": SEQUENCE, "h": SIDE, "w": SIDE}


def tensors(inputs: Inputs) -> list[tuple[str, TensorSpec]]:
    return [(name, value) for name, value in inputs.items() if isinstance(value, TensorSpec)]


def without_rest(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """What is written back to a tensor must not be larger than it: who has the axes that are too many has them no more."""
    out, wide = (tuple(int(number) for number in group.split(",") if number.strip()) for group in found.groups())
    for name, spec in tensors(inputs):
        if spec.shape[-len(wide) :] == wide:
            yield {**inputs, name: replace(spec, shape=(*spec.shape[: -len(wide)], *out))}


def asked(message: str, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Inputs as the words want them, the plainest reading first."""
    yield from _shapes(message, inputs)
    for found in filter(None, (_EXPECTED.search(message), _INSTEAD.search(message))):
        yield from _instead(found["want"], found["had"], inputs)
    yield from _multiples(message, inputs)


def _shapes(message: str, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """`cell must have shape (3, 3)`, `mask should be of shape [batch, 1, seq]`."""
    for name, spec in tensors(inputs):
        plain = re.escape(name.rpartition(".")[2].rpartition("[")[2].rstrip("]"))
        pattern = rf"\b{plain}\b[^.\n]{{0,40}}?(?:shape|size|of|be)\W{{1,3}}[(\[]([\w, ]+?),?[)\]]"
        for found in re.finditer(pattern, message):
            sizes = [_size(part.strip()) for part in found[1].split(",")]
            shape = tuple(size for size in sizes if size)
            if len(shape) == len(sizes) and shape != spec.shape:
                yield {**inputs, name: replace(spec, shape=shape)}
        # `tags must have dimension of 2`, `mask should be 3-D`.
        for rank in re.finditer(
            rf"\b{plain}\b[^.\n]{{0,40}}?(?:dimensions? (?:of )?(\d)|(\d)(?:-?[dD]\b|[- ]dim))", message
        ):
            wanted = int(rank[1] or rank[2])
            if wanted != len(spec.shape):
                yield {**inputs, name: spec.with_rank(wanted)}


def _size(word: str) -> int:
    if word.isdigit():
        return int(word)
    lowered = word.lower()
    if lowered.startswith(("batch", "bs")):
        return BATCH
    if lowered.startswith(("seq", "time", "len", "num", "tok")):
        return SEQUENCE
    return _LETTERS.get(lowered, WIDTH) if word.isidentifier() else 0


def _instead(want: str, had: str, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Sizes that were found, by those that were expected: whole shapes where both are told, else number by number."""
    wanted, given = _TUPLE.search(want), _TUPLE.search(had)
    if wanted is not None and given is not None:
        new = tuple(int(size) for size in wanted[1].split(","))
        old = tuple(int(size) for size in given[1].split(","))
        for name, spec in tensors(inputs):
            if spec.shape[-len(old) :] == old and new != old:
                yield {**inputs, name: replace(spec, shape=(*spec.shape[: -len(old)], *new))}
    numbers = [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.])", want)][:3]
    others = [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.])", had)][:3]
    for old_size in others:
        for new_size in numbers:
            yield from replaced(inputs, old_size, new_size)


def replaced(inputs: Inputs, old: int, new: int) -> Iterator[dict[str, Any]]:
    """Inputs with a size changed: in one tensor at a time, the last axis first; then in every tensor that has it."""
    every = dict(inputs)
    for name, spec in tensors(inputs):
        for axis in reversed(range(len(spec.shape))):
            if spec.shape[axis] == old != new and 0 < new <= 4096:
                shape = (*spec.shape[:axis], new, *spec.shape[axis + 1 :])
                yield {**inputs, name: replace(spec, shape=shape)}
                every[name] = replace(spec, shape=shape)
    if every != dict(inputs):
        yield every


def scaled(inputs: Inputs, had: int, want: int) -> Iterator[dict[str, Any]]:
    """Inputs with a size changed that a number was computed from: by the same factor, as when it was divided or multiplied."""
    for name, spec in tensors(inputs):
        for axis, old in enumerate(spec.shape):
            new = old * want // had if had > 0 and old > 1 and (old % had == 0 or had % old == 0) else old
            if old not in (had, new) and 0 < new <= 4096:
                yield {**inputs, name: replace(spec, shape=(*spec.shape[:axis], new, *spec.shape[axis + 1 :]))}


def _multiples(message: str, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Sizes that something divides, where the words say what: `sequence length 8 must be divisible by 3`."""
    for found in re.finditer(r"(?:divisible by|multiple of)\D{0,40}?(\d+)", message):
        divisor = int(found[1])
        for name, spec in tensors(inputs):
            for axis in reversed(range(1, len(spec.shape))):
                size = -(-spec.shape[axis] // divisor) * divisor if divisor else 0
                if 0 < size <= 1024 and size != spec.shape[axis]:
                    yield {**inputs, name: replace(spec, shape=(*spec.shape[:axis], size, *spec.shape[axis + 1 :]))}
                    if axis == len(spec.shape) - 1 and len(spec.shape) > 3:
                        yield {**inputs, name: replace(spec, shape=(*spec.shape[: axis - 1], size, size))}


def computed(inputs: Inputs, had: int, want: int) -> Iterator[dict[str, Any]]:
    """A width that was made of the inputs' and is wrong: their sizes scaled, as when they were flattened or repeated;
    all of them divided alike, or one changed by the difference, as when they were joined."""
    floats = [(name, spec) for name, spec in tensors(inputs) if spec.dtype.startswith("float") and spec.shape]
    last = sum(spec.shape[-1] for _, spec in floats)
    if len(floats) > 1 and had == last and want % len(floats) == 0:
        size = want // len(floats)
        yield {**inputs, **{name: replace(spec, shape=(*spec.shape[:-1], size)) for name, spec in floats}}
    for name, spec in floats:
        for axis in reversed(range(1, len(spec.shape))):
            old = spec.shape[axis]
            for new in (old * want // had if had and old * want % had == 0 else 0, old + want - had):
                if 0 < new <= 4096 and new != old:
                    yield {**inputs, name: replace(spec, shape=(*spec.shape[:axis], new, *spec.shape[axis + 1 :]))}


def rows(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """One row of features for each of the batch, as the cell of a recurrent network wants it: an id for each, where they
    are looked up first."""
    flat = {
        name: replace(spec, shape=(BATCH,) if spec.dtype == "int64" else (BATCH, spec.shape[-1]))
        for name, spec in tensors(inputs)
        if len(spec.shape) > (1 if spec.dtype == "int64" else 2)
    }
    yield {**inputs, **flat}
    yield from ({**inputs, name: spec} for name, spec in flat.items())


def alike_families(inputs: Inputs, width: int) -> Iterator[dict[str, Any]]:
    """Every tensor at once as one kind of module wants them: rows of features with a label each, sequences, images."""
    given = tensors(inputs)
    if len(given) < 2:
        return
    floats: tuple[tuple[int, ...], ...] = ((BATCH, width), (BATCH, SEQUENCE, width), (BATCH, 3, SIDE, SIDE), (BATCH,))
    deep = (
        (BATCH, width, SIDE // 2, SIDE // 2),
        (BATCH, width, SIDE // 2),
        (BATCH, width, SIDE // 4, SIDE // 4, SIDE // 4),
    )
    whole: tuple[tuple[int, ...], ...] = ((BATCH,), (BATCH, SEQUENCE))
    for shape in floats:
        for label in whole:
            yield {
                **inputs,
                **{n: replace(s, shape=shape if s.dtype.startswith("float") else label) for n, s in given},
            }
    if all(spec.dtype.startswith("float") for _, spec in given):
        yield from ({**inputs, **{name: replace(spec, shape=shape) for name, spec in given}} for shape in deep)
    first, *rest = given
    # A prediction for each class, and the class.
    labels = {name: TensorSpec((BATCH,), "int64", 2) for name, _ in rest[:1]}
    yield {**inputs, first[0]: replace(first[1], shape=(BATCH, width), dtype="float32"), **labels}
