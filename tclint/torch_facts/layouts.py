"""Sizes and strides of what operations give: how a tensor lies in memory, where that follows from what they get."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

UNKNOWN_STRIDES: Final = ()
"""The strides of a tensor with dimensions, where nobody knows them."""


class Layout(NamedTuple):
    """The sizes of a tensor, and its strides: None where it is contiguous, `UNKNOWN_STRIDES` where nobody knows."""

    sizes: tuple[int | None, ...]
    strides: tuple[int, ...] | None = None


Arguments = Sequence[Any]
"""What an operation is given, as plain Python: ints, tuples of ints, None; "?" for anything else."""


def of_method(name: str, layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    """The layout of `x.name(…)`; None where it is not known."""
    if name in _SAME or name.removesuffix("_") in _SAME:
        return layout
    rule = _RULES.get(name)
    if rule is None:
        return None
    try:
        return rule(layout, args, keywords)
    except (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError):
        return None  # a call that torch refuses, or one that we cannot read


def broadcast(a: Layout, b: Layout) -> Layout | None:
    """The layout of `a + b`."""
    sizes: list[int | None] = []
    width = max(len(a.sizes), len(b.sizes))
    for x, y in zip(_padded(a.sizes, width), _padded(b.sizes, width), strict=True):
        if x is None or y is None:
            return None
        if x != y and 1 not in (x, y):
            return None
        sizes.append(y if x == 1 else x)
    found = tuple(sizes)
    if a.strides is None and b.strides is None:
        return Layout(found)
    return Layout(found, a.strides if a == b else UNKNOWN_STRIDES)


def joined(parts: Sequence[Layout], dim: Any, stacked: bool) -> Layout | None:
    """The layout of `torch.cat` or `torch.stack`."""
    if not parts or not isinstance(dim, int):
        return None
    first = list(parts[0].sizes)
    if stacked:
        if any(part.sizes != parts[0].sizes for part in parts):
            return None
        at = dim % (len(first) + 1)
        return Layout((*first[:at], len(parts), *first[at:]))
    if not first:
        return None
    at = dim % len(first)
    along = [part.sizes[at] for part in parts if len(part.sizes) == len(first)]
    if len(along) != len(parts):
        return None
    first[at] = None if None in along else sum(size for size in along if size is not None)
    plain = all(part.strides is None for part in parts)
    return Layout(tuple(first), None if plain else UNKNOWN_STRIDES)


def sliced(layout: Layout, parts: Sequence[Any]) -> Layout | None:
    """The layout of `x[parts]`: slices, ints, None and Ellipsis."""
    parts = list(parts)
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        rest = len(layout.sizes) - sum(part is not None for part in parts) + 1
        parts[at : at + 1] = [slice(None)] * rest
    strides = _strides(layout)
    sizes: list[int | None] = []
    steps: list[int] = []
    dim = 0
    for part in parts:
        if part is None:
            sizes.append(1)
            steps.append(0)
            continue
        if dim >= len(layout.sizes):
            return None
        size = layout.sizes[dim]
        if isinstance(part, slice):
            whole = part == slice(None)
            if size is None and not whole:
                return None
            taken = range(*part.indices(size)) if size is not None else None
            sizes.append(len(taken) if taken is not None else None)
            steps.append(strides[dim] * (taken.step if taken is not None else 1) if strides else 0)
        dim += 1
    sizes += layout.sizes[dim:]
    steps += strides[dim:] if strides else ()
    return _made(tuple(sizes), tuple(steps) if strides else UNKNOWN_STRIDES)


def contiguous(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides of a contiguous tensor."""
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides)) if sizes else ()


# --- single operations ------------------------------------------------------------------------------------------------


def _padded(sizes: tuple[int | None, ...], width: int) -> tuple[int | None, ...]:
    return (1,) * (width - len(sizes)) + sizes


def _strides(layout: Layout) -> tuple[int, ...]:
    """The strides as numbers, nothing where they are not known."""
    if layout.strides is not None:
        return layout.strides
    sizes = [size for size in layout.sizes if size is not None]
    return contiguous(sizes) if len(sizes) == len(layout.sizes) else UNKNOWN_STRIDES


def _made(sizes: tuple[int | None, ...], strides: tuple[int, ...]) -> Layout:
    known = [size for size in sizes if size is not None]
    if len(known) != len(sizes):
        return Layout(sizes, UNKNOWN_STRIDES)
    # The stride of one element is no matter.
    told = zip(known, strides, contiguous(known), strict=True) if len(strides) == len(known) else ()
    if strides and all(size == 1 or a == b for size, a, b in told):
        return Layout(sizes)
    return Layout(sizes, strides)


def _given(args: Arguments, keywords: Mapping[str, Any], *names: str) -> list[Any]:
    return list(args) if args else [keywords[name] for name in names if name in keywords]


def _permuted(layout: Layout, order: Sequence[int]) -> Layout:
    strides = _strides(layout)
    sizes = tuple(layout.sizes[dim] for dim in order)
    return _made(sizes, tuple(strides[dim] for dim in order) if strides else UNKNOWN_STRIDES)


def _transpose(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout:
    a, b = _given(args, keywords, "dim0", "dim1")
    order = list(range(len(layout.sizes)))
    order[a], order[b] = order[b], order[a]
    return _permuted(layout, order)


def _permute(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout:
    order = _given(args, keywords, "dims")
    order = list(order[0]) if len(order) == 1 and isinstance(order[0], tuple) else order
    return _permuted(layout, [dim % len(layout.sizes) for dim in order])


def _reversed(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout:
    return _permuted(layout, range(len(layout.sizes))[::-1])


def _matrix_transpose(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout:
    return _transpose(layout, (-2, -1), {})


def _contiguous(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout:
    return Layout(layout.sizes, UNKNOWN_STRIDES if keywords or args else None)


def _shuffled(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout:
    return Layout(layout.sizes, None if layout.strides is None else UNKNOWN_STRIDES)


def _reshape(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    wanted = _given(args, keywords, "shape", "size")
    wanted = list(wanted[0]) if len(wanted) == 1 and isinstance(wanted[0], tuple) else wanted
    if not all(isinstance(size, int) for size in wanted):
        return None
    if -1 in wanted:
        sizes = [size for size in layout.sizes if size is not None]
        if len(sizes) != len(layout.sizes):
            return None
        rest = math.prod(size for size in wanted if size != -1)
        wanted[wanted.index(-1)] = math.prod(sizes) // rest
    return Layout(tuple(wanted), None if layout.strides is None else UNKNOWN_STRIDES)


def _flatten(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    start, end = (*_given(args, keywords, "start_dim"), 0)[0], (*args[1:], keywords.get("end_dim", -1))[0]
    rank = len(layout.sizes)
    start, end = start % rank, end % rank
    middle = [size for size in layout.sizes[start : end + 1] if size is not None]
    if len(middle) != end + 1 - start:
        return None
    sizes = (*layout.sizes[:start], math.prod(middle), *layout.sizes[end + 1 :])
    return Layout(sizes, None if layout.strides is None else UNKNOWN_STRIDES)


def _unsqueeze(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout:
    (dim,) = _given(args, keywords, "dim")
    at = dim % (len(layout.sizes) + 1)
    sizes = (*layout.sizes[:at], 1, *layout.sizes[at:])
    return Layout(sizes, None if layout.strides is None else UNKNOWN_STRIDES)


def _squeeze(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    dims = _given(args, keywords, "dim")
    if not dims:
        if None in layout.sizes:
            return None
        sizes = tuple(size for size in layout.sizes if size != 1)
    else:
        at = dims[0] % len(layout.sizes)
        if layout.sizes[at] is None:
            return None
        sizes = (*layout.sizes[:at], *layout.sizes[at + 1 :]) if layout.sizes[at] == 1 else layout.sizes
    return Layout(sizes, None if layout.strides is None else UNKNOWN_STRIDES)


def _repeat(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    times = _given(args, keywords, "repeats")
    times = list(times[0]) if len(times) == 1 and isinstance(times[0], tuple) else times
    old = _padded(layout.sizes, len(times))
    if None in old or not all(isinstance(each, int) for each in times):
        return None
    return Layout(tuple(size * each for size, each in zip(old, times, strict=True) if size is not None))


def _narrow(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    dim, start, length = _given(args, keywords, "dim", "start", "length")
    parts = [slice(None)] * len(layout.sizes)
    parts[dim] = slice(start, start + length)
    return sliced(layout, parts)


def _reduced(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    dims = args[0] if args else keywords.get("dim")
    keep = args[1] if len(args) > 1 else keywords.get("keepdim", False)
    if dims is None:
        return Layout(())
    gone = {dim % len(layout.sizes) for dim in (dims if isinstance(dims, tuple) else (dims,))}
    if keep not in (True, False):
        return None
    pairs = enumerate(layout.sizes)
    sizes = tuple(1 if dim in gone else size for dim, size in pairs if keep or dim not in gone)
    return Layout(sizes, None if layout.strides is None else UNKNOWN_STRIDES)


def _expanded(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    wanted = _given(args, keywords, "size")
    wanted = list(wanted[0]) if len(wanted) == 1 and isinstance(wanted[0], tuple) else wanted
    old = _padded(layout.sizes, len(wanted))
    if not all(type(size) is int for size in wanted) or len(old) != len(wanted):
        return None
    sizes = tuple(size if new == -1 else new for size, new in zip(old, wanted, strict=True))
    return layout if sizes == layout.sizes else Layout(sizes, UNKNOWN_STRIDES)


def _made_new(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    """`x.new_zeros(2, 3)`"""
    wanted = _given(args, keywords, "size")
    wanted = list(wanted[0]) if len(wanted) == 1 and isinstance(wanted[0], tuple) else wanted
    return Layout(tuple(wanted)) if all(type(size) is int for size in wanted) else None


def _made_full(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    return _made_new(layout, (args[0] if args else keywords["size"],), {})


def _drawn(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    many = args[0] if args else keywords["num_samples"]
    return Layout((*layout.sizes[:-1], many)) if type(many) is int else None


def _adapted(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    wanted = args[0] if args else keywords["output_size"]
    rank = len(layout.sizes) - 2
    wanted = wanted if isinstance(wanted, tuple) else (wanted,) * rank
    if len(wanted) != rank or not all(size is None or type(size) is int for size in wanted):
        return None
    inner = (old if size is None else size for old, size in zip(layout.sizes[2:], wanted, strict=True))
    return Layout((*layout.sizes[:2], *inner), None if layout.strides is None else UNKNOWN_STRIDES)


def _windows(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    """`x.unfold(1, 4, 2)`"""
    dim, length, step = _given(args, keywords, "dimension", "size", "step")
    dim %= len(layout.sizes)
    size = layout.sizes[dim]
    if size is None:
        return None
    sizes = (*layout.sizes[:dim], (size - length) // step + 1, *layout.sizes[dim + 1 :], length)
    return Layout(sizes, UNKNOWN_STRIDES)


def _moved(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    source, destination = _given(args, keywords, "source", "destination")
    if type(source) is not int or type(destination) is not int:
        return None
    rank = len(layout.sizes)
    order = [dim for dim in range(rank) if dim != source % rank]
    order.insert(destination % rank, source % rank)
    return _permuted(layout, order)


def _unflattened(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    dim, inner = _given(args, keywords, "dim", "sizes")
    dim %= len(layout.sizes)
    size = layout.sizes[dim]
    if size is None or not all(type(each) is int for each in inner):
        return None
    parts = _reshape(Layout((size,)), (tuple(inner),), {})
    assert parts is not None
    sizes = (*layout.sizes[:dim], *parts.sizes, *layout.sizes[dim + 1 :])
    return Layout(sizes, None if layout.strides is None else UNKNOWN_STRIDES)


def _halved(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    """`F.glu(x)`"""
    dim = (args[0] if args else keywords.get("dim", -1)) % len(layout.sizes)
    size = layout.sizes[dim]
    return Layout((*layout.sizes[:dim], size // 2, *layout.sizes[dim + 1 :])) if size is not None else None


def padded_together(parts: Sequence[Layout], batch_first: Any) -> Layout | None:
    """The layout of `pad_sequence(…)`."""
    if not parts or not isinstance(batch_first, bool) or any(not p.sizes or p.sizes[0] is None for p in parts):
        return None
    if any(part.sizes[1:] != parts[0].sizes[1:] for part in parts):
        return None
    longest = max(size for part in parts if (size := part.sizes[0]) is not None)
    outer = (len(parts), longest) if batch_first else (longest, len(parts))
    return Layout((*outer, *parts[0].sizes[1:]), None if batch_first else UNKNOWN_STRIDES)


def summed(equation: Any, parts: Sequence[Layout]) -> Layout | None:
    """The layout of `torch.einsum("bij,bjk->bik", a, b)`."""
    given, arrow, wanted = equation.replace(" ", "").partition("->") if isinstance(equation, str) else ("", "", "")
    letters = given.split(",")
    if not arrow or "." in given or [len(each) for each in letters] != [len(part.sizes) for part in parts]:
        return None
    sizes: dict[str, int | None] = {}
    for each, part in zip(letters, parts, strict=True):
        sizes.update(zip(each, part.sizes, strict=True))
    return Layout(tuple(sizes[letter] for letter in wanted), UNKNOWN_STRIDES) if set(wanted) <= sizes.keys() else None


def _along(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    """One of two tensors that `max(dim)` and its like give."""
    dim = args[0] if args else keywords.get("dim")
    return _reduced(layout, args, keywords) if isinstance(dim, int) or not (args or keywords) else None


def _top(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    many = args[0] if args else keywords["k"]
    dim = (args[1] if len(args) > 1 else keywords.get("dim", -1)) % len(layout.sizes)
    if not isinstance(many, int):
        return None
    return Layout((*layout.sizes[:dim], many, *layout.sizes[dim + 1 :]), UNKNOWN_STRIDES if layout.strides else None)


def _one_hot(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    many = args[0] if args else keywords.get("num_classes", -1)
    return Layout((*layout.sizes, many)) if isinstance(many, int) and many > 0 else None


def _padded_by(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    pads = args[0] if args else keywords["pad"]
    sizes = list(layout.sizes)
    for at, (before, after) in enumerate(zip(pads[::2], pads[1::2], strict=True), 1):
        size = sizes[-at]
        sizes[-at] = size + before + after if size is not None else None
    return Layout(tuple(sizes), None if layout.strides is None else UNKNOWN_STRIDES)


def _interpolated(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    size, scale = (*args, None, None)[:2]
    size, scale = keywords.get("size", size), keywords.get("scale_factor", scale)
    inner = layout.sizes[2:]
    if size is not None:
        new = tuple(size) if isinstance(size, tuple) else (size,) * len(inner)
    else:
        factors = scale if isinstance(scale, tuple) else (scale,) * len(inner)
        if scale is None or None in inner:
            return None
        new = tuple(math.floor(old * each) for old, each in zip(inner, factors, strict=True) if old is not None)
    if not all(type(each) is int for each in new):
        return None
    return Layout((*layout.sizes[:2], *new), None if layout.strides is None else UNKNOWN_STRIDES)


def _pooled(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    """`F.max_pool2d(x, 2)`: as long as the window steps by its own size."""
    kernel = args[0] if args else keywords["kernel_size"]
    rank = len(layout.sizes) - 2
    window = kernel if isinstance(kernel, tuple) else (kernel,) * rank
    if len(args) > 1 or keywords.keys() - {"kernel_size"} or len(window) != rank or None in layout.sizes[2:]:
        return None
    new = tuple(size // each for size, each in zip(layout.sizes[2:], window, strict=True) if size is not None)
    return Layout((*layout.sizes[:2], *new), None if layout.strides is None else UNKNOWN_STRIDES)


def _interleaved(layout: Layout, args: Arguments, keywords: Mapping[str, Any]) -> Layout | None:
    times = args[0] if args else keywords["repeats"]
    dim = args[1] if len(args) > 1 else keywords.get("dim")
    if not isinstance(times, int) or None in layout.sizes:
        return None
    sizes = [size for size in layout.sizes if size is not None]
    if dim is None:
        return Layout((math.prod(sizes) * times,))
    sizes[dim] *= times
    return Layout(tuple(sizes))


PAIRS: Final = frozenset("max min median mode kthvalue sort topk cummax cummin".split())
"""What gives values and their places, as two tensors of one size."""
JOINS: Final = {"torch.cat": False, "torch.concat": False, "torch.concatenate": False, "torch.stack": True}
"""What joins the tensors of a list, and whether along a new dimension."""

_SAME: Final = frozenset(
    "abs acos add add_ asin atan bernoulli bfloat16 bool byte ceil celu char clamp clip clone copy cos cosh cpu cuda "
    "detach div div_ double elu erf exp expm1 fill flip float floor gelu half hardswish int leaky_relu log log10 log1p log2 "
    "logit long bitwise_not data mish mul mul_ nan_to_num neg normal normal_ pow random random_ reciprocal relu relu6 requires_grad_ "
    "round rsqrt selu short sigmoid sign silu sin sinh softplus sqrt square sub sub_ tan tanh trunc uniform uniform_ "
    "eq ne lt le gt ge isnan isfinite isinf logical_not remainder fmod maximum minimum type to "
    "zero zero_ fill_ rand_like randn_like zeros_like ones_like empty_like full_like pin_memory".split()
)
"""Operations of one tensor, and numbers, that keep its sizes and its strides."""

REDUCTIONS: Final = frozenset(
    "logsumexp argmin count_nonzero nansum nanmean sum mean amax amin std var prod any all argmax".split()
)
"""What takes one dimension, or all, away, and is given it first."""

_RULES: Final[dict[str, Callable[[Layout, Arguments, Mapping[str, Any]], Layout | None]]] = {
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), _transpose),
    "permute": _permute,
    **dict.fromkeys(("t", "T"), _reversed),
    **dict.fromkeys(("mT", "mH"), _matrix_transpose),
    "contiguous": _contiguous,
    **dict.fromkeys(
        "softmax log_softmax cumsum roll tril triu dropout layer_norm group_norm rms_norm".split(), _shuffled
    ),
    **dict.fromkeys(("view", "reshape"), _reshape),
    "flatten": _flatten,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    **dict.fromkeys(("repeat", "tile"), _repeat),
    "expand": _expanded,
    "broadcast_to": _expanded,
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty"), _made_new),
    "new_full": _made_full,
    "multinomial": _drawn,
    **dict.fromkeys((f"adaptive_{how}_pool{rank}d" for how in ("avg", "max") for rank in (1, 2, 3)), _adapted),
    "unfold": _windows,
    **dict.fromkeys(("movedim", "moveaxis"), _moved),
    "unflatten": _unflattened,
    "glu": _halved,
    "narrow": _narrow,
    **dict.fromkeys(("max", "min", "median", "mode"), _along),
    **dict.fromkeys(("sort", "argsort", "cummax", "cummin", "cumprod", "normalize", "logcumsumexp"), _shuffled),
    "topk": _top,
    "one_hot": _one_hot,
    "pad": _padded_by,
    "interpolate": _interpolated,
    **dict.fromkeys(("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d"), _pooled),
    "repeat_interleave": _interleaved,
    **dict.fromkeys(REDUCTIONS, _reduced),
    "norm": _reduced,
}
