"""Functions of torch that make a tensor from numbers or sizes."""

from __future__ import annotations

from tclint.interpreter.models.results import (
    Args,
    Keywords,
    dtype_argument,
    exact_argument,
    is_number,
    literal_dtype,
)
from tclint.timeline.guarded import Varies
from tclint.torch_facts import traits
from tclint.values import (
    ARRAY,
    CONSTANT,
    DATA_SIZED,
    FOLDED,
    HOST,
    NEEDS_GRAD,
    OWNED,
    PROVEN,
    STEADY,
    UNKNOWN,
    Const,
    Origin,
    Seq,
    Tensor,
    Value,
)
from tclint.values.value import NUMBER


def factory(name: str, args: Args, keywords: Keywords, origin: Origin) -> Tensor:
    """The tensor that `torch.zeros(…)` and its like make."""
    short = name[6:]
    dtype = dtype_argument((), keywords) or _dtype(short, args, keywords)
    flags = 0
    device = keywords.get("device")
    if device is None or isinstance(device, Const) and str(device.value).partition(":")[0] == "cpu":
        flags |= HOST
    if traits.takes_array(name) and args and isinstance(args[0], Tensor):
        flags |= args[0].flags & (HOST | STEADY | OWNED)
        if not args[0].flags & ARRAY:
            flags &= ~HOST
    if traits.is_steady(name) and all(_constant(a) for a in args):
        flags |= CONSTANT
        if traits.takes_data(name) and traits.made_rank(name) is None and _is_one(args):
            flags |= FOLDED
    if short == "arange" and any(a.contains(DATA_SIZED, 2) is not None for a in args):
        flags |= DATA_SIZED
    shape = _literal_shape(short, args, keywords)
    wanted = keywords.get("requires_grad")
    if isinstance(wanted, Const) and wanted.value is True:
        flags |= NEEDS_GRAD
    made = Tensor(PROVEN, dtype, _ndim(short, args), flags, origin, shape=shape, exact=_exact(dtype, args, keywords))
    drawn = [*args, *(keywords[name] for name in ("size",) if name in keywords)] if shape and None in shape else []
    return made.with_(varied=_varied(shape, drawn)) if drawn and shape is not None else made


def _varied(shape: tuple[int | None, ...], given: Args) -> frozenset[int]:
    """The dimensions whose size is a number that is another one each time."""
    for sizes in (given, *(each.items for each in given if isinstance(each, Seq) and each.items is not None)):
        if len(sizes) == len(shape):
            return frozenset(dim for dim, size in enumerate(sizes) if isinstance(size.guarded(), Varies))
    return frozenset()


def _exact(dtype: str, args: Args, keywords: Keywords) -> str:
    """The dtype by its name: the one that is asked for, or torch's own choice."""
    if "dtype" in keywords:
        return exact_argument((), keywords)
    if args and isinstance(args[0], Tensor):
        return args[0].exact
    return {"b": "bool", "i": "int64", "f": "float32"}.get(dtype, "")


def _dtype(short: str, args: Args, keywords: Keywords) -> str:
    """The type where none is asked for."""
    if short == "normal" and args and isinstance(args[0], Tensor):
        return args[0].dtype
    if short == "arange":
        return "f" if any(a.python_type == "float" for a in args) else "i"
    if short == "full":
        return literal_dtype(args[1] if len(args) > 1 else keywords.get("fill_value"))
    if traits.takes_data(f"torch.{short}"):
        return literal_dtype(args[0] if args else keywords.get("data"))
    return traits.made_dtype(f"torch.{short}")


def _ndim(short: str, args: Args) -> int:
    always = traits.made_rank(f"torch.{short}")
    if always is not None and not traits.takes_data(f"torch.{short}"):
        return always
    if not args:
        return -1
    first = args[0]
    if traits.is_shaped_by_numbers(f"torch.{short}") or short == "full":
        if isinstance(first, Seq):
            return len(first.items) if first.items is not None else -1
        return len(args) if short != "full" and first is not UNKNOWN else -1
    if traits.takes_data(f"torch.{short}"):
        if isinstance(first, Tensor):
            return first.ndim
        if isinstance(first, Seq):
            return 1 if first.element().rank == NUMBER else -1
        return 0 if first.rank == NUMBER else -1
    return -1


def _literal_shape(short: str, args: Args, keywords: Keywords) -> tuple[int | None, ...] | None:
    """The sizes of a factory's result where they are written out."""
    if short in ("tensor", "as_tensor", "scalar_tensor", "from_numpy"):
        return nested_sizes(args[0]) if args else None
    if short in ("arange", "randperm"):
        return counted(args)
    if short in ("linspace", "logspace"):
        many = args[2] if len(args) > 2 else keywords.get("steps")
        return (many.value,) if isinstance(many, Const) and type(many.value) is int else None
    if short == "normal":
        wanted = args[2] if len(args) > 2 else keywords.get("size")
        args = [wanted] if isinstance(wanted, Seq) else []
    elif short == "eye":
        args = [args[0], args[-1]] if args and not isinstance(args[-1], Seq) else ()
    elif short not in ("full", "randint") and not traits.is_shaped_by_numbers(f"torch.{short}"):
        return None
    sizes: Args = args
    if short == "randint":
        shape = keywords.get("size") or next((a for a in args if isinstance(a, Seq)), None)
        sizes = [shape] if shape is not None else []
    elif short == "full":
        sizes = args[:1]
    if not sizes and isinstance(keywords.get("size"), Seq):
        sizes = [keywords["size"]]
    if len(sizes) == 1 and isinstance(sizes[0], Seq):
        if not sizes[0].items:
            return () if sizes[0].items == () else None
        sizes = sizes[0].items
    return tuple(s.value if isinstance(s, Const) and isinstance(s.value, int) else None for s in sizes) or None


def nested_sizes(value: Value) -> tuple[int | None, ...] | None:
    """The sizes of a tensor made of lists of numbers."""
    if isinstance(value, Tensor):
        return value.shape if isinstance(value.shape, tuple) else None
    if isinstance(value, Seq):
        if value.items is None or not value.items:
            return None
        inner = nested_sizes(value.items[0])
        return (len(value.items), *inner) if inner is not None else None
    return () if value.rank == NUMBER and value.source not in ("size", "arg") else None


def counted(args: Args) -> tuple[int | None, ...] | None:
    """The size of `arange(…)`."""
    numbers = [a.value for a in args if isinstance(a, Const) and type(a.value) is int]
    if len(numbers) != len(args) or not 0 < len(numbers) < 4 or (len(numbers) == 3 and numbers[2] == 0):
        return None
    return (len(range(*numbers)),)


def _is_one(args: Args) -> bool:
    """Whether one number is given, also as `[1]`: Dynamo keeps the value of no longer tensor."""
    return bool(args) and all(size == 1 for size in nested_sizes(args[0]) or ((1,) if args[0].rank == NUMBER else (2,)))


def _constant(value: Value) -> bool:
    if is_number(value):
        return True
    if isinstance(value, Seq):
        return value.items is not None and all(_constant(i) for i in value.items)
    return False
