"""What a torch operation gives: the type and the number of dimensions of its result, by name and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tclint.torch_facts import dtypes, facts, traits
from tclint.torch_facts.dtypes import letter_of
from tclint.values import (
    ARRAY,
    BOOL,
    DATA_SIZED,
    FLOAT,
    INT,
    NONE,
    PROVEN,
    SIZE,
    STR,
    UNKNOWN,
    Const,
    External,
    Origin,
    Scalar,
    Seq,
    Tensor,
    Value,
    tensor_of,
)
from tclint.values.scalar import is_drawn
from tclint.values.value import NUMBER

Args = Sequence[Value]
Keywords = Mapping[str, Value]

SHAPED_BY_ARGS: Final = facts.methods("takes the shape of its result")
# Arguments that decide on the rank of a result; others do not.
_RANKING: Final = frozenset(facts.named("decides on the rank"))


def dtype_argument(args: Args, keywords: Keywords) -> str:
    value = keywords.get("dtype")
    candidates = [value] if value is not None else list(args)
    for candidate in candidates:
        if isinstance(candidate, External) and candidate.name.startswith(("torch.", "builtins.")):
            found = letter_of(candidate.name)
            if found:
                return found
    return ""


def exact_argument(args: Args, keywords: Keywords) -> str:
    """The name of the dtype that is asked for, nothing where none is or it is not known which."""
    given = [keywords["dtype"]] if "dtype" in keywords else args
    return next((dtypes.exact(v.name) for v in given if isinstance(v, External) and dtypes.exact(v.name)), "")


def has_dim(args: Args, keywords: Keywords) -> bool:
    return bool(args) or "dim" in keywords or "axis" in keywords


def way_of(args: Args, keywords: Keywords) -> str:
    """How an operation on a first tensor is called, as the facts name it: `T,int`, `T,dim=int`."""
    words = ["T", *(_word(value) for value in args)]
    words += [f"{name}={_word(value)}" for name, value in sorted(keywords.items()) if name in _RANKING]
    return ",".join(words)


def is_sized_by_values(key: str, args: Args, keywords: Keywords) -> bool:
    """Whether the size of a result depends on values. What is given by keyword may be given by position: `repeat_interleave(x, repeats=2)`."""
    if not traits.is_sized_by_values(key, way_of(args, keywords)):
        return False
    rest = [value for name, value in sorted(keywords.items()) if name not in _RANKING]
    return not rest or traits.is_sized_by_values(key, way_of([*args, *rest], {}))


def _word(value: Value) -> str:
    if isinstance(value, Tensor):
        return "T"
    return "int" if value.python_type == "number" else value.python_type or "?"


def result_ndim(key: str, tensor: Tensor, args: Args, keywords: Keywords) -> int:
    """The number of dimensions of a result, -1 where it cannot be told."""
    if key.rpartition("#")[2] in SHAPED_BY_ARGS:
        if len(args) == 1 and isinstance(args[0], Seq):
            return len(args[0].items) if args[0].items is not None else -1
        if any(isinstance(a, Seq) for a in args):
            return -1
        return len(args) or -1
    change = traits.rank_change(key, way_of(args, keywords))
    if change is None:
        return _without_dims(key, tensor, args, keywords)
    if change == "=":
        # A 0-d tensor takes the shape of what it is computed with: `torch.remainder(torch.tensor(3), factors)`.
        others = [value for value in (*args, *keywords.values()) if isinstance(value, Tensor)]
        return tensor.ndim if tensor.ndim or not any(other.ndim for other in others) else -1
    if change[0] in "+-":
        return max(tensor.ndim + int(change), 0) if tensor.ndim >= 0 else -1
    return int(change)


def _without_dims(key: str, tensor: Tensor, args: Args, keywords: Keywords) -> int:
    """A reduction over several dimensions, which are written out."""
    dim = keywords.get("dim", args[0] if args else UNKNOWN)
    alone = len(args) + len(_RANKING & keywords.keys()) == 1
    if tensor.ndim < 0 or not (alone and isinstance(dim, Seq) and dim.items is not None):
        return -1
    return max(tensor.ndim - len(dim.items), 0) if traits.rank_change(key, "T,dim=int") == "-1" else -1


def reduces_to_pair(args: Args, keywords: Keywords) -> bool:
    """`max(dim)` gives values and indices; `max()` and `max(other)` one tensor."""
    if "dim" in keywords:
        return True
    if args:
        first = args[0]
        return isinstance(first, Scalar) or (isinstance(first, Const) and isinstance(first.value, int))
    return False


def result_dtype(key: str, tensor: Tensor, args: Args, keywords: Keywords) -> str:
    asked = dtype_argument((), keywords)
    if asked:
        return asked
    if key == "tensor#indices":
        return "i"  # of a sparse tensor, which is none of the kinds that were asked
    others = [value.dtype for value in (*args, *keywords.values()) if isinstance(value, Tensor)]
    return traits.result_dtype(key, tensor.dtype, others)


def of_kind(
    kind: str, tensor: Tensor | None, origin: Origin, key: str = "", args: Args = (), keywords: Keywords | None = None
) -> Value:
    conf = tensor.conf if tensor is not None else PROVEN
    keywords = keywords or {}
    name = key.rpartition("#")[2].rpartition(".")[2]
    if kind == "tensor":
        dtype = dtype_argument((), keywords) or result_dtype(key, tensor or Tensor(), args, keywords)
        return Tensor(conf, dtype, -1, 0, origin)
    if kind == "bool-tensor":
        return Tensor(conf, "b", result_ndim(key, tensor, args, keywords) if tensor is not None else -1, 0, origin)
    if kind == "int-tensor":
        return Tensor(conf, "i", result_ndim(key, tensor, args, keywords) if tensor is not None else -1, 0, origin)
    if kind == "tensors":
        inner = tensor.view(origin) if tensor is not None else Tensor(conf, "", -1, 0, origin)
        return Seq("tuple", None, inner)
    if kind.startswith("tuple:"):
        parts = [of_kind(k, tensor, origin) for k in kind[6:].split(",")]
        if tensor is not None and traits.rank_change(key, way_of(args, keywords)) == "=":
            parts = [p.with_(ndim=tensor.ndim) if isinstance(p, Tensor) else p for p in parts]
        return Seq("tuple", tuple(parts))
    if kind == "bool":
        return Scalar("bool", "data", origin) if traits.reads_values(key) else BOOL
    if kind == "int" and name == "data_ptr":
        return Scalar("int", "pointer", origin)
    if kind == "int":
        return SIZE if name in facts.methods("gives a size") else INT
    if kind == "float":
        return FLOAT
    if kind == "str":
        return STR
    if kind == "none":
        return NONE
    if kind == "size":
        return Seq("size", None, SIZE)
    if kind == "scalar":
        base = _PYTHON.get(tensor.dtype if tensor else "", "number")
        return Scalar(base, "data", origin)
    if kind == "list":
        return numbers_of(tensor or Tensor(), origin) if name == "tolist" else Seq("list", None)
    if kind == "ndarray":
        return Tensor(conf, tensor.dtype if tensor else "", -1, ARRAY, origin)
    if kind == "dtype" or kind == "device":
        return External("torch." + kind)
    return UNKNOWN


def numbers_of(tensor: Tensor, origin: Origin) -> Value:
    """What `tolist()` gives: a list of numbers for each dimension, of numbers where that is not known.

    The numbers are read out of the tensor. How many there are its shape says.
    """
    numbers: Value = Scalar(_PYTHON.get(tensor.dtype, "number"), "data", origin)
    length = "data" if tensor.flags & DATA_SIZED else tensor.length_source
    for _ in range(tensor.ndim if tensor.ndim >= 0 else 1):
        numbers = Seq("list", None, numbers, length)
    return numbers


def flat(args: Args) -> list[Value]:
    out: list[Value] = []
    for a in args:
        if isinstance(a, Seq) and a.items is not None:
            out.extend(a.items)
        elif isinstance(a, Seq):
            out.append(a.elem)
        else:
            out.append(a)
    return out


def first_tensor(args: Args, keywords: Keywords) -> Tensor | None:
    for value in (*args, *keywords.values()):
        found = tensor_of(value)
        if found is not None:
            return found
        if isinstance(value, Seq):
            inner = tensor_of(value.element())
            if inner is not None:
                return inner
    return None


def is_number(value: Value) -> bool:
    """A number, or a name of torch such as a dtype, that does not come out of a tensor."""
    return isinstance(value, External) or (
        value.rank == NUMBER and value.source not in ("data", "random") and not is_drawn(value)
    )


_PYTHON: Final = {"b": "bool", "i": "int", "f": "float"}
_LITERAL_DTYPES: Final = {name: letter for letter, name in _PYTHON.items()}


def literal_dtype(value: Value | None) -> str:
    """The type of a tensor made from a value: a number, a tensor, or lists of them."""
    for _ in range(2):
        if isinstance(value, Seq):
            value = value.element()
    if isinstance(value, Tensor):
        return value.dtype
    return _LITERAL_DTYPES.get(value.python_type, "") if value is not None else ""
