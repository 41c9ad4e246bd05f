"""What a torch operation gives: the type and the number of dimensions of its result, by name and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tclint.torch_facts import dtypes as facts
from tclint.values import (
    ARRAY,
    BOOL,
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
from tclint.values.value import NUMBER

Args = Sequence[Value]
Keywords = Mapping[str, Value]

BOOLEAN: Final = frozenset(
    "eq ne lt le gt ge equal isnan isinf isfinite isposinf isneginf isreal isclose isin logical_and logical_or "
    "logical_not logical_xor signbit greater greater_equal less less_equal not_equal any all bool".split()
)
INTEGER: Final = frozenset(
    "argmax argmin argsort nonzero argwhere bincount searchsorted bucketize long int short count_nonzero "
    "multinomial tril_indices triu_indices randint randperm char byte".split()
)
FLOATING: Final = frozenset(
    "float double half bfloat16 softmax log_softmax sigmoid tanh exp log sqrt rsqrt sin cos mean std var norm randn "
    "rand linspace logspace randn_like rand_like erf gelu".split()
)
_OF_BOTH: Final = frozenset({"matmul", "bmm", "mm", "einsum"})
# Reductions that give a 0-d tensor when called without a dimension.
REDUCTIONS: Final = frozenset(
    "sum mean prod max min amax amin any all norm std var median argmax argmin count_nonzero nansum nanmean logsumexp "
    "numel_tensor trace dist det logdet slogdet cross_entropy mse_loss l1_loss nll_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits".split()
)
_SAME_DTYPE: Final = frozenset(
    "clone detach contiguous view reshape flatten squeeze unsqueeze transpose permute expand expand_as repeat t T mT "
    "narrow select index_select gather chunk split unbind roll flip sort to cuda cpu masked_fill masked_fill_ cat stack "
    "clamp clip where tril triu max min sum cumsum abs neg pad view_as reshape_as broadcast_to requires_grad_ data "
    "movedim swapaxes tile diagonal unfold index_fill scatter new_tensor zeros_like ones_like empty_like full_like".split()
)
DTYPES: Final = {
    "bool": "b",
    "int": "i",
    "int8": "i",
    "int16": "i",
    "int32": "i",
    "int64": "i",
    "long": "i",
    "uint8": "i",
    "short": "i",
    "float": "f",
    "float16": "f",
    "float32": "f",
    "float64": "f",
    "half": "f",
    "double": "f",
    "bfloat16": "f",
    "complex64": "c",
    "cfloat": "c",
    "complex128": "c",
}
SHAPED_BY_ARGS: Final = frozenset({"view", "reshape", "expand"})
_SAME_SHAPE: Final = frozenset(
    "softmax log_softmax sigmoid tanh relu gelu silu exp log sqrt rsqrt abs neg clamp masked_fill cumsum cumprod sort "
    "argsort flip roll tril triu float long int bool half double bfloat16 to clone detach contiguous dropout "
    "masked_scatter isnan isfinite isinf round floor ceil topk scatter scatter_add index_fill where sin cos".split()
)


def dtype_argument(args: Args, keywords: Keywords) -> str:
    value = keywords.get("dtype")
    candidates = [value] if value is not None else list(args)
    for candidate in candidates:
        if isinstance(candidate, External) and candidate.name.startswith("torch."):
            found = DTYPES.get(candidate.name[6:])
            if found:
                return found
    return ""


def exact_argument(args: Args, keywords: Keywords) -> str:
    """The name of the dtype that is asked for, nothing where none is or it is not known which."""
    given = [keywords["dtype"]] if "dtype" in keywords else args
    return next((facts.exact(v.name) for v in given if isinstance(v, External) and facts.exact(v.name)), "")


def has_dim(args: Args, keywords: Keywords) -> bool:
    return bool(args) or "dim" in keywords or "axis" in keywords


def result_ndim(name: str, tensor: Tensor, args: Args, keywords: Keywords) -> int:
    """The number of dimensions of a result, -1 where it cannot be told."""
    if name in REDUCTIONS:
        if not has_dim(args, keywords):
            return 0
        if tensor.ndim < 0 or "keepdim" in keywords or len(args) > 1:
            return -1
        dim = keywords.get("dim", args[0] if args else UNKNOWN)
        if isinstance(dim, Seq) and dim.items is not None:
            return max(tensor.ndim - len(dim.items), 0)
        return tensor.ndim - 1 if dim.rank == NUMBER else -1
    if name in SHAPED_BY_ARGS:
        if len(args) == 1 and isinstance(args[0], Seq):
            return len(args[0].items) if args[0].items is not None else -1
        if any(isinstance(a, Seq) for a in args):
            return -1
        return len(args) or -1
    if name in _SAME_SHAPE:
        return tensor.ndim
    return -1


def reduces_to_pair(args: Args, keywords: Keywords) -> bool:
    """`max(dim)` gives values and indices; `max()` and `max(other)` one tensor."""
    if "dim" in keywords:
        return True
    if args:
        first = args[0]
        return isinstance(first, Scalar) or (isinstance(first, Const) and isinstance(first.value, int))
    return False


def result_dtype(name: str, tensor: Tensor, args: Args, keywords: Keywords) -> str:
    asked = dtype_argument((), keywords)
    if asked:
        return asked
    if name in BOOLEAN:
        return "b"
    if name in INTEGER:
        return "i"
    if name in FLOATING:
        return "c" if tensor.dtype == "c" and name not in (*DTYPES, "norm", "std", "var") else "f"
    if name in _OF_BOTH:
        return tensor.dtype
    if name in ("cfloat", "cdouble", "chalf"):
        return "c"
    if name == "indices":
        return "i"
    if name in ("sum", "cumsum", "prod") and tensor.dtype == "b":
        return "i"
    if name == "abs" and tensor.dtype == "c":
        return "f"
    if name in _SAME_DTYPE:
        return tensor.dtype
    return ""


def of_kind(
    kind: str, tensor: Tensor | None, origin: Origin, name: str = "", args: Args = (), keywords: Keywords | None = None
) -> Value:
    conf = tensor.conf if tensor is not None else PROVEN
    keywords = keywords or {}
    if kind == "tensor":
        dtype = dtype_argument((), keywords) or result_dtype(name, tensor or Tensor(), args, keywords)
        return Tensor(conf, dtype, -1, 0, origin)
    if kind == "bool-tensor":
        return Tensor(conf, "b", result_ndim(name, tensor, args, keywords) if tensor is not None else -1, 0, origin)
    if kind == "int-tensor":
        return Tensor(conf, "i", result_ndim(name, tensor, args, keywords) if tensor is not None else -1, 0, origin)
    if kind == "tensors":
        inner = tensor.view(origin) if tensor is not None else Tensor(conf, "", -1, 0, origin)
        return Seq("tuple", None, inner)
    if kind.startswith("tuple:"):
        parts = [of_kind(k, tensor, origin) for k in kind[6:].split(",")]
        if name in ("topk", "sort") and tensor is not None:
            parts = [p.with_(ndim=tensor.ndim) if isinstance(p, Tensor) else p for p in parts]
        return Seq("tuple", tuple(parts))
    if kind == "bool":
        data = name in ("equal", "allclose", "is_nonzero")
        return Scalar("bool", "data", origin) if data else BOOL
    if kind == "int" and name == "data_ptr":
        return Scalar("int", "pointer", origin)
    if kind == "int":
        return SIZE if name in ("dim", "ndimension", "numel", "nelement", "size", "stride") else INT
    if kind == "float":
        return FLOAT
    if kind == "str":
        return STR
    if kind == "none":
        return NONE
    if kind == "size":
        return Seq("size", None, SIZE)
    if kind == "scalar":
        base = {"b": "bool", "i": "int", "f": "float"}.get(tensor.dtype if tensor else "", "number")
        return Scalar(base, "data", origin)
    if kind == "list":
        return numbers_of(tensor or Tensor(), origin) if name == "tolist" else Seq("list", None)
    if kind == "ndarray":
        return Tensor(conf, tensor.dtype if tensor else "", -1, ARRAY, origin)
    if kind == "dtype" or kind == "device":
        return External("torch." + kind)
    return UNKNOWN


def numbers_of(tensor: Tensor, origin: Origin) -> Value:
    """What `tolist()` gives: a list of numbers for each dimension, of numbers where that is not known."""
    numbers: Value = Scalar("number", "data", origin)
    for _ in range(tensor.ndim if tensor.ndim >= 0 else 1):
        numbers = Seq("list", None, numbers, "data")
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
    return isinstance(value, External) or (value.rank == NUMBER and value.source not in ("data", "random"))


_LITERAL_DTYPES: Final = {"bool": "b", "int": "i", "float": "f"}


def literal_dtype(value: Value | None) -> str:
    """The type of a tensor made from a value: a number, a tensor, or lists of them."""
    for _ in range(2):
        if isinstance(value, Seq):
            value = value.element()
    if isinstance(value, Tensor):
        return value.dtype
    return _LITERAL_DTYPES.get(value.python_type, "") if value is not None else ""
