"""What a shape error says the inputs should have been. Pure text in, changed inputs out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from tclint.verify import together
from tclint.verify.complaints import Inputs, asked, computed, replaced, rows, tensors, without_rest
from tclint.verify.einops_errors import patterned
from tclint.verify.guess import BATCH, SEQUENCE, Several, TensorSpec, tensor_for, value_for
from tclint.verify.joined import axis_pair, change, channels, dims, same_rank


def _ranks(inputs: Inputs, rank: int, only: int | None = None) -> Iterator[dict[str, Any]]:
    for name, spec in tensors(inputs):
        if len(spec.shape) != rank and only in (None, len(spec.shape)):
            yield change(inputs, name, spec.with_rank(rank))
    alike = {name: spec.with_rank(rank) for name, spec in tensors(inputs) if len(spec.shape) not in (0, rank)}
    if len(alike) > 1:
        yield {**inputs, **alike}


def _dtypes(inputs: Inputs, dtype: str, only: str | None = None) -> Iterator[dict[str, Any]]:
    for name, spec in tensors(inputs):
        if spec.dtype != dtype and only in (None, spec.dtype):
            shape = spec.shape[:2] if dtype == "int64" and len(spec.shape) == 3 else spec.shape
            yield change(inputs, name, replace(spec, dtype=dtype, shape=shape))
            if shape != spec.shape:
                yield change(inputs, name, replace(spec, dtype=dtype))


def _spatial(inputs: Inputs, sides: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    for name, spec in tensors(inputs):
        if len(spec.shape) >= 4:
            for side in sides:
                if spec.shape[-1] != side:
                    yield change(inputs, name, replace(spec, shape=(*spec.shape[:-2], side, side)))


def _sequences(inputs: Inputs, lengths: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    for name, spec in tensors(inputs):
        if len(spec.shape) == 3:
            for length in lengths:
                if spec.shape[1] != length:
                    yield change(inputs, name, replace(spec, shape=(spec.shape[0], length, spec.shape[2])))


_DTYPES = {"long": "int64", "float": "float32", "half": "float32", "bfloat16": "float32"}


def _asserted(message: str, inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Inputs as an assertion of the program's wants them: its dtype, a size, the rank, the shape of another."""
    text = message.partition("[assert ")[2]
    changed: dict[str, Any] = dict(inputs)
    for name, spec in tensors(inputs):
        word = rf"(?<![\w.]){re.escape(name)}"
        if found := re.search(rf"{word}\.dtype (?:==|is|in \(?) ?torch\.(\w+)", text):
            spec = replace(spec, dtype=_DTYPES.get(found[1], found[1]))
        rank = re.search(rf"(?:{word}\.(?:dim\(\)|ndim)|len\({re.escape(name)}\.shape\)) == (\d)", text)
        if rank:
            spec = spec.with_rank(int(rank[1]))
        for size in re.finditer(rf"{word}\.(?:size\(|shape\[)(-?\d)[)\]] == (\d+)", text):
            axis = int(size[1])
            if -len(spec.shape) <= axis < len(spec.shape):
                shape = list(spec.shape)
                shape[axis] = int(size[2])
                spec = replace(spec, shape=tuple(shape))
        same = re.search(rf"{word}\.shape == (\w+)\.shape", text)
        if same and isinstance(other := inputs.get(same[1]), TensorSpec):
            spec = replace(spec, shape=other.shape)
        changed[name] = spec
    if changed != dict(inputs):
        yield changed


Rule = Callable[[re.Match[str], Inputs], Iterator[dict[str, Any]]]


def _matmul(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    _, had, want, _ = (int(number) for number in found.groups())
    yield from dims(inputs, had, want, axis=-1)
    yield from dims(inputs, had, want)
    yield from computed(inputs, had, want)
    # By flattening an image most often: another image size gives another width.
    if had > 0 and want > 0:
        for name, spec in tensors(inputs):
            if len(spec.shape) == 4 and had != want:
                side = round(spec.shape[-1] * (want / had) ** 0.5)
                if side > 0 and side != spec.shape[-1]:
                    yield change(inputs, name, replace(spec, shape=(*spec.shape[:2], side, side)))
    yield from _spatial(inputs, (28, 64, 224, 84, 96, 128, 16))
    yield from _ranks(inputs, 2)


def _conv_rank(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield from _ranks(inputs, int(found[1]) + 2)


def _pairs(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    left, right = int(found[1]), int(found[2])
    yield from dims(inputs, left, right)
    yield from dims(inputs, right, left)


def _wanted_had(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield from dims(inputs, int(found[2]), int(found[1]), axis=-1)
    yield from dims(inputs, int(found[2]), int(found[1]))


def _side(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield from _spatial(inputs, (int(found[2]),))
    yield from dims(inputs, int(found[1]), int(found[2]))


def _normalized(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    want = [int(number) for number in found[1].split(",")]
    got = [int(number) for number in found[2].split(",") if number.strip()]
    if len(want) == 1 and got:
        yield from dims(inputs, got[-1], want[0], axis=-1)
        yield from dims(inputs, got[-1], want[0])
    for name, spec in tensors(inputs):
        yield change(inputs, name, replace(spec, shape=(BATCH, *([SEQUENCE] if len(want) == 1 else []), *want)))


def _unpack(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    want = int(found[1])
    if had := found[2] if found.re.groups > 1 else None:
        # Of an element of it, perhaps: as many dimensions more.
        for name, spec in tensors(inputs):
            if (rank := len(spec.shape) + want - int(had)) != want and 0 < rank <= 5:
                yield change(inputs, name, spec.with_rank(rank))
    yield from _ranks(inputs, want)
    for name, spec in tensors(inputs):
        yield change(inputs, name, Several((spec,) * want))


def _fewer_dims(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    for name, spec in tensors(inputs):
        if len(spec.shape) < 5:
            yield change(inputs, name, spec.with_rank(len(spec.shape) + 1))
    yield from _ranks(inputs, 2)


def _integers(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield from _dtypes(inputs, "int64", "float32")


def _floats(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield from _dtypes(inputs, "float32", "int64")
    yield from _dtypes(inputs, "float32", "bool")


def _booleans(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    masks = {name: spec for name, spec in tensors(inputs) if "mask" in name}
    for name, spec in masks.items():
        yield change(inputs, name, replace(spec, dtype="bool"))
    yield from _dtypes(inputs, "bool")


def _batched_pairs(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    first, second, had_first, had_second = (int(number) for number in found.groups())
    for want, had in ((first, had_first), (second, had_second)):
        yield from dims(inputs, had, want)
        yield from dims(inputs, want, had)


def _split(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A tensor that is split into parts of given sizes."""
    yield from replaced(inputs, int(found[1]), sum(int(size) for size in found[2].split(",") if size.strip()))


def _wider(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A column is read that the tensor does not have."""
    yield from replaced(inputs, int(found[2]), int(found[1]) + 1)


def _targets(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A class for every prediction."""
    for name, spec in tensors(inputs):
        if spec.dtype == "int64":
            yield change(inputs, name, replace(spec, shape=(int(found[1]),)))
    yield from replaced(inputs, int(found[2]), int(found[1]))


def _labels(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A class for every row, where more than one was given."""
    labels: dict[str, Any] = {}
    for name, spec in tensors(inputs):
        if spec.dtype == "int64" and spec.shape != (BATCH,):
            labels[name] = replace(spec, shape=(BATCH,))
            yield change(inputs, name, labels[name])
    if len(labels) > 1:
        yield {**inputs, **labels}


def _out_of_range(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    for name, spec in tensors(inputs):
        if spec.dtype == "int64" and spec.high > 1:
            yield change(inputs, name, replace(spec, high=1))
    # Numbers that become indices on the way.
    yield from together.units(inputs)


def _number_instead(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    for name, _ in reversed(list(tensors(inputs))):
        yield change(inputs, name, 4)


def _decided(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Something that Python decides upon: a number or a flag where a tensor was given."""
    for name, _ in tensors(inputs):
        yield change(inputs, name, 1)
        yield change(inputs, name, False)


def _tensor_instead(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    for name, value in inputs.items():
        if isinstance(value, (int, float)):
            yield change(inputs, name, tensor_for(name))


def _list_instead(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    for name, value in inputs.items():
        if isinstance(value, TensorSpec):
            yield change(inputs, name, Several((value, value), "list"))
        elif isinstance(value, int) and not isinstance(value, bool):
            yield change(inputs, name, (value, value))


def _bigger(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield from _spatial(inputs, (64, 128, 224, 256))
    for name, spec in tensors(inputs):
        if len(spec.shape) == 3:
            for length in (64, 512, 4096):
                yield change(inputs, name, replace(spec, shape=(*spec.shape[:2], length)))
                yield change(inputs, name, replace(spec, shape=(spec.shape[0], length, spec.shape[2])))


def _viewed(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A tensor is looked at in a shape that it does not have: it should have had that one, but for its ones."""
    want = tuple(int(number) for number in found[1].split(","))
    count = int(found[2])
    if -1 in want:
        return
    plain = tuple(size for size in want if size != 1)
    for name, spec in tensors(inputs):
        if math.prod(spec.shape) == count:
            yield change(inputs, name, replace(spec, shape=plain))
            yield change(inputs, name, replace(spec, shape=want))


def _axis(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A number was taken for an axis."""
    low, high, had = (int(number) for number in found.groups())
    for name, value in inputs.items():
        if type(value) is int and value == had:
            yield change(inputs, name, -1)
            yield change(inputs, name, low)
            yield change(inputs, name, high)


def _scalar_instead(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A tensor of one element where a larger one was given."""
    for name, spec in tensors(inputs):
        if spec.shape:
            yield change(inputs, name, replace(spec, shape=()))


def _broadcast(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A tensor, a mask most often, that must fit a shape: that one, the same for all heads."""
    first, second = (tuple(int(number) for number in group.split(",") if number.strip()) for group in found.groups())
    for had, want in ((first, second), (second, first)):
        for name, spec in tensors(inputs):
            if spec.shape == had and len(want) > len(had):
                yield change(inputs, name, replace(spec, shape=(want[0], *([1] * (len(want) - 3)), *want[-2:])))
                yield change(inputs, name, replace(spec, shape=want))


def _one_instead(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A tuple was given where one tensor is wanted."""
    for name, value in inputs.items():
        if isinstance(value, Several) and value.items:
            yield change(inputs, name, value.items[0])


def _bases(inputs: Inputs, opening: str) -> list[str]:
    """What is a dict (`[`) or an object (`.`): the parts are named `batch[image]`, `batch.image`, `batch.image.pixels`."""
    return list(dict.fromkeys(name.rpartition(opening)[0] for name in inputs if opening in name))


def _key(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """A key is missing in a dict; or a tensor was given where one is wanted."""
    key = found[1]
    for base in _bases(inputs, "["):
        yield change(inputs, f"{base}[{key}]", tensor_for(key))
    if not _bases(inputs, "["):
        yield from _looked_into(inputs, f"[{key}]", key)


def _part(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """An attribute is missing in an object; or a tensor was given where one is wanted."""
    name = found[2]
    if found[1] == "types.SimpleNamespace":
        for base in _bases(inputs, "."):
            yield change(inputs, f"{base}.{name}", value_for(name))
    elif name in ("items", "keys", "values", "get", "update"):
        yield from _looked_into(inputs, "[x]", "x")
    else:
        yield from _looked_into(inputs, f".{name}", name)


def _looked_into(inputs: Inputs, part: str, name: str) -> Iterator[dict[str, Any]]:
    for base, _ in tensors(inputs):
        if not base.startswith("*"):
            yield {**{other: value for other, value in inputs.items() if other != base}, base + part: value_for(name)}


def _absent(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Arguments that are only handed on, and that nobody gave."""
    names = [name for name in re.findall(r"'(\w+)'", found[1]) if name not in inputs]
    if names:
        yield {**inputs, **{name: value_for(name) for name in names}}


def _reshape(found: re.Match[str], inputs: Inputs) -> Iterator[dict[str, Any]]:
    yield from _sequences(inputs, (16, 64, 49, 17, 196, 1))
    yield from _spatial(inputs, (28, 64, 224, 16))
    for name, spec in tensors(inputs):
        for rank in (2, 3, 4):
            if len(spec.shape) != rank:
                yield change(inputs, name, spec.with_rank(rank))


_RULES: tuple[tuple[str, Rule], ...] = (
    (r"KeyError: '(\w+)'", _key),
    (r"Padding size (\d+) is not supported", lambda m, i: _ranks(i, int(m[1]) // 2 + 2)),
    (r"Expected (\d)-D tensors, but got (\d)-D|same number of dimensions: got (\d) and (\d)", same_rank),
    (r"'(Tensor|types\.SimpleNamespace)' object has no attribute '(\w+)'", _part),
    (r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", _absent),
    (r"had torch\.Size\(\[([\d, ]*)\]\).*?broadcastable to \[([\d, ]+)\]", _broadcast),
    (r"Target sizes: \[([\d, ]+)\]\.\s+Tensor sizes: \[([\d, ]*)\]", _broadcast),
    (r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)", _viewed),
    (r"expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)", _axis),
    (r"output with shape \[([\d, ]*)\] doesn't match the broadcast shape \[([\d, ]+)\]", without_rest),
    (
        r"doesn't match the broadcast shape|only one element|can be converted to a Scalar|0-dim|a Tensor with \d+ elements",
        _scalar_instead,
    ),
    (r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)", _pairs),
    (r"sum exactly to (\d+).*?split_sizes=\[([\d, ]+)\]", _split),
    (r"index (\d+) is out of bounds for (?:dimension|axis) \d+ with size (\d+)", _wider),
    (r"batch_size \((\d+)\) to match target batch_size \((\d+)\)", _targets),
    (r"shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", _matmul),
    (r"a and b must have same reduction dim, but got \[(\d+), (\d+)\] X \[(\d+), (\d+)\]", _matmul),
    (r"to have (\d+) channels, but got (\d+) channels", channels),
    (
        r"weight of shape \[(\d+)\] and input of shape \[\d+, (\d+)",
        lambda m, i: chain(dims(i, int(m[2]), int(m[1]), axis=1), computed(i, int(m[2]), int(m[1]))),
    ),
    (r"running_mean should contain (?=(\d+) elements not (\d+))", lambda m, i: dims(i, int(m[1]), int(m[2]), axis=1)),
    (r"input to conv(?:_transpose)?(\d)d", _conv_rank),
    (r"[Ee]xpected (?:\d)D or (\d)D input \(got (\d)D input\)", lambda m, i: _ranks(i, int(m[1]))),
    (r"must be a matrix, got \d-D tensor|2D tensors expected|out of bounds for dimension", lambda m, i: _ranks(i, 2)),
    (r"[Ee]xpected (\d)D input \(got (\d)D input\)", lambda m, i: _ranks(i, int(m[1]))),
    (r"[Ee]xpected (\d) dims\. Received (\d)-dim", lambda m, i: _ranks(i, int(m[1]))),
    (r"must be .*?(\d)-?D", lambda m, i: _ranks(i, int(m[1]))),
    (r"number of dimensions to be (\d)|must be of rank (\d)", lambda m, i: _ranks(i, int(m[1] or m[2]))),
    (r"(?:with|expects?|expecting) (\d) spatial dim", lambda m, i: _ranks(i, int(m[1]) + 2)),
    (r"(?:[Oo]nly|either|must be).*?(\d)D? (?:or|and|\().*?(?:dimension|D\b)", lambda m, i: _ranks(i, int(m[1]))),
    (r"\bN?C?HW\b|\(N, ?C, ?H, ?W\)|\(B, ?C, ?H, ?W\)", lambda m, i: _ranks(i, 4)),
    (r"number of subscripts in the equation \((\d)\) does not match", lambda m, i: _ranks(i, int(m[1]))),
    (
        r"[Tt]arget size.*?must be the same as input|must have the same (?:shape|size)|same shape|shape mismatch",
        lambda m, i: together.alike(i),
    ),
    (
        r"greater (?:than )?or equal|must be (?:in|between)|within the (?:bounds|range|support)|non-?negative",
        lambda m, i: together.units(i),
    ),
    (
        r"shorter than|Padding size should be less|window|n_fft|pool1d\(\) Invalid computed output",
        lambda m, i: together.longer(i),
    ),
    (r"(?i)(?:got|but found|received).{0,30}(?:\bint64|\bLong|\bint\b)", _floats),
    (
        r"non-complex|(?<!point or )[Cc]omplex (?:tensor|input|dtype)|view_as_real|ComplexFloat|c10::complex|complex<float>",
        lambda m, i: together.complexes(i),
    ),
    (r"dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]", _batched_pairs),
    (r"Expected (?:size )?(\d+) in dimension (\d) but got (?:size )?(\d+)", axis_pair),
    (r"[Ee]xpected (?:input|hidden|hx) to be 1D or 2D", lambda m, i: rows(i)),
    (r"Index tensor must have|1D target|multi-target|target size|same number of dimensions as", _labels),
    (r"normalized_shape=\[([\d, ]+)\].*?got input of size\[([\d, ]*)\]", _normalized),
    (r"input_size\. Expected (\d+), got (\d+)", _wanted_had),
    (r"expecting (?:an )?embed(?:ding)? dim(?:ension)? of (\d+), but got (\d+)", _wanted_had),
    (r"[Ii]nput (?:image )?(?:height|width|size)\D*?(\d+).*?doesn't match model\D*?(\d+)", _side),
    (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", _pairs),
    (r"has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)", _pairs),
    (r"Expected size (\d+) but got size (\d+)", _pairs),
    (r"[Ee]xpected .*?size (?:to be )?\[?(\d+).*?but got:? \[?(\d+)", _pairs),
    (r"not enough values to unpack \(expected (\d+), got (\d+)\)", _unpack),
    (r"too many values to unpack \(expected (\d+)", _unpack),
    (r"Dimension out of range|dimension specified as|tuple index out of range|permute\(", _fewer_dims),
    (
        r"number of dims don't match|too many indices for tensor|dimensions of freedom|number of sizes provided|repeat dims",
        _fewer_dims,
    ),
    (
        r"scalar types: Long, Int|expected scalar type Long|LongTensor|index tensor|must be (?:Long|an? integer)|used as ind\w+ must|dtype int\d+(?:/int\d+)? for index",
        _integers,
    ),
    (
        r"expected scalar type (?:Float|Half|BFloat16)|same dtype|not implemented for 'Long'|can't be cast|Promotion of int",
        _floats,
    ),
    (r"\b[Dd]ouble\b|float64", lambda m, i: together.doubles(i)),
    (r"(?<!\w)(\d)[dD] (?:inputs?|tensors?)", lambda m, i: _ranks(i, int(m[1]))),
    (r"Input type \((?:torch\.)?(?:Long|Int|long)", _floats),
    (r"only .*?floating|Can only calculate the mean of floating|must be a? ?floating", _floats),
    (r"Boolean value of Tensor with more than one value", _decided),
    (r"[Bb]ool(?!ean value)", _booleans),
    (r"index out of range|out of bounds", _out_of_range),
    (
        r"'Tensor' object cannot be interpreted as an integer|only integer tensors of a single|must be (?:tuple of )?ints?,? (?:but found|not).*Tensor",
        _number_instead,
    ),
    (r"'(?:int|float|bool)' object has no attribute", _tensor_instead),
    (r"'(?:tuple|list)' object has no attribute|must be Tensor, not (?:tuple|list)", _one_instead),
    (r"must be Tensor, not (?:int|float|bool)", _tensor_instead),
    (
        r"object is not (?:iterable|subscriptable)|has no len|must be tuple of Tensors|but got Tensor|not Tensor",
        _list_instead,
    ),
    (
        r"[Kk]ernel size can't be greater|more than 1 value per channel|smaller than|too small|Invalid computed output size|Output size is too",
        _bigger,
    ),
    (r"shape '\[.*?\]' is invalid for input|cannot reshape|divisible|view size|perfect square", _reshape),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), rule) for pattern, rule in _RULES)


def repairs(message: str, inputs: Inputs, optional: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Inputs worth trying after a failure, the likeliest first.

    `optional` holds parameters that were left to their defaults, with what they would be given.
    """
    for name in optional:
        # An encoder-decoder complains of `input_ids` when it is the decoder's that are missing.
        plain = name.removeprefix("decoder_")
        if name not in inputs and plain != name and plain in inputs and f"{plain} or " in message:
            yield change(inputs, name, optional[name])
    missing = [
        name for name in optional if name not in inputs and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", message)
    ]
    if missing:
        yield {**inputs, **{name: optional[name] for name in missing}}
        for name in missing:
            yield change(inputs, name, optional[name])
    yield from _asserted(message, inputs)
    yield from patterned(message, inputs)
    for pattern, rule in _COMPILED:
        found = pattern.search(message)
        if found is not None:
            yield from rule(found, inputs)
    yield from asked(message, inputs)
    if "NoneType" in message:
        for name, value in optional.items():
            if name not in inputs:
                yield change(inputs, name, value)
