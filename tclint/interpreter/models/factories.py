"""Functions of torch that make a tensor from numbers or sizes."""

from __future__ import annotations

from typing import Final

from tclint.interpreter.models.results import (
    Args,
    Keywords,
    dtype_argument,
    is_number,
    literal_dtype,
)
from tclint.values import (
    ARRAY,
    CONSTANT,
    DATA_SIZED,
    HOST,
    OWNED,
    PROVEN,
    UNKNOWN,
    Const,
    Origin,
    Scalar,
    Seq,
    Tensor,
    Value,
    contains,
)

FACTORIES: Final = frozenset(
    "torch." + n
    for n in (
        "tensor zeros ones full empty arange linspace logspace rand randn randint randperm eye as_tensor from_numpy "
        "tril_indices triu_indices scalar_tensor normal range asarray"
    ).split()
)
_CONSTANT_FACTORIES: Final = frozenset(
    "torch." + n for n in ("tensor", "zeros", "ones", "full", "eye", "arange", "scalar_tensor", "linspace", "as_tensor")
)


def factory(name: str, args: Args, keywords: Keywords, origin: Origin) -> Value:
    """The tensor that `torch.zeros(…)` and its like make."""
    short = name[6:]
    dtype = dtype_argument((), keywords)
    if not dtype:
        if short in ("randint", "randperm", "tril_indices", "triu_indices"):
            dtype = "i"
        elif short in ("rand", "randn", "linspace", "logspace", "normal"):
            dtype = "f"
        elif short == "arange":
            dtype = "f" if any(isinstance(a, Const) and isinstance(a.value, float) for a in args) else "i"
        elif short in ("zeros", "ones", "empty", "eye"):
            dtype = "f"
        elif short == "full":
            fill = args[1] if len(args) > 1 else keywords.get("fill_value")
            dtype = literal_dtype(fill)
        elif short in ("tensor", "as_tensor", "scalar_tensor", "asarray"):
            source = args[0] if args else keywords.get("data")
            dtype = source.dtype if isinstance(source, Tensor) else literal_dtype(source)
    ndim = -1
    if short in ("arange", "linspace", "logspace", "randperm"):
        ndim = 1
    elif short in ("zeros", "ones", "empty", "rand", "randn", "full") and args:
        shape = args[0]
        if isinstance(shape, Seq) and shape.items is not None:
            ndim = len(shape.items)
        elif short != "full" and not isinstance(shape, Seq) and shape is not UNKNOWN:
            ndim = len(args)
    elif short in ("tensor", "as_tensor", "scalar_tensor") and args:
        if isinstance(args[0], (Const, Scalar)):
            ndim = 0
        elif isinstance(args[0], Tensor):
            ndim = args[0].ndim
        elif isinstance(args[0], Seq) and isinstance(args[0].element(), (Const, Scalar)):
            ndim = 1
    flags = 0
    if "device" not in keywords:
        flags |= HOST
    if short in ("from_numpy", "as_tensor", "asarray") and args and isinstance(args[0], Tensor):
        flags |= args[0].flags & (HOST | CONSTANT | OWNED)
        if not args[0].flags & ARRAY:
            flags &= ~HOST
    if name in _CONSTANT_FACTORIES and all(_constant(a) for a in args):
        flags |= CONSTANT
    sized = contains(Seq("tuple", tuple(args)), DATA_SIZED) if args else None
    if sized is not None and short == "arange":
        flags |= DATA_SIZED
    return Tensor(PROVEN, dtype, ndim, flags, origin, shape=_literal_shape(short, args, keywords))


def _literal_shape(short: str, args: Args, keywords: Keywords) -> tuple[int | None, ...] | None:
    """The sizes of a factory's result where they are written out."""
    if short not in ("zeros", "ones", "empty", "rand", "randn", "full", "randint"):
        return None
    sizes: Args = args
    if short == "randint":
        shape = keywords.get("size") or next((a for a in args if isinstance(a, Seq)), None)
        sizes = [shape] if shape is not None else []
    elif short == "full":
        sizes = args[:1]
    if len(sizes) == 1 and isinstance(sizes[0], Seq):
        if sizes[0].items is None:
            return None
        sizes = sizes[0].items
    return tuple(s.value if isinstance(s, Const) and isinstance(s.value, int) else None for s in sizes) or None


def _constant(value: Value) -> bool:
    if is_number(value):
        return True
    if isinstance(value, Seq):
        return value.items is not None and all(_constant(i) for i in value.items)
    return False
