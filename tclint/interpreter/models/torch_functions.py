"""What torch does with abstract values: functions, tensor methods, indexing, arithmetic. The facts are in torch_facts."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Final

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.torch_facts import generated as facts
from tclint.values import (
    ARRAY,
    BOOL,
    CONSTANT,
    DATA_SIZED,
    DETACHED,
    EXPANDED,
    FALSE,
    FLOAT,
    HOST,
    INT,
    NEEDS_GRAD,
    NONE,
    OWNED,
    PARAMETER,
    PROVEN,
    RAW,
    SIZE,
    SPARSE,
    STR,
    STRIDED,
    TRUE,
    UNKNOWN,
    USED,
    Const,
    Dict,
    External,
    Object,
    Origin,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    contains,
    join,
    join_all,
    tensor_of,
)

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
    "rand linspace logspace matmul bmm mm einsum randn_like rand_like erf gelu".split()
)
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
_DTYPES: Final = {
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
# A view with one of these is contiguous when its base is.
_CONTIGUITY_LOST: Final = frozenset({"transpose", "permute", "t", "T", "mT", "swapaxes", "movedim", "expand", "unfold"})
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

# Answers that Dynamo knows while it traces.
WHILE_COMPILING: Final[Mapping[str, Value]] = {
    "torch.compiler.is_compiling": TRUE,
    "torch.compiler.is_dynamo_compiling": TRUE,
    "torch._dynamo.is_compiling": TRUE,
    "torch._dynamo.external_utils.is_compiling": TRUE,
    "torch._utils.is_compiling": TRUE,
    "torch.compiler.is_exporting": FALSE,
    "torch.jit.is_scripting": FALSE,
    "torch.jit.is_tracing": FALSE,
    "torch._C._get_tracing_state": NONE,
    "torch.onnx.is_in_onnx_export": FALSE,
    "torch.is_tracing": FALSE,
    "torch.fx._symbolic_trace.is_fx_tracing": FALSE,
    "torch._jit_internal.is_scripting": FALSE,
    "torch.overrides.is_tensor_like": BOOL,
}


def _dtype_argument(args: Args, keywords: Keywords) -> str:
    value = keywords.get("dtype")
    candidates = [value] if value is not None else list(args)
    for candidate in candidates:
        if isinstance(candidate, External) and candidate.name.startswith("torch."):
            found = _DTYPES.get(candidate.name[6:])
            if found:
                return found
    return ""


def _has_dim(args: Args, keywords: Keywords) -> bool:
    return bool(args) or "dim" in keywords or "axis" in keywords


def method(frame: Frame, node: ast.AST, tensor: Tensor, name: str, args: Args, keywords: Keywords) -> Value:
    """The value of `tensor.name(*args, **keywords)`."""
    kind = facts.METHODS.get(name)
    origin = frame.origin(node)
    if tensor.flags & ARRAY:
        return _array_method(tensor, name, args, origin)
    if kind is None:
        return UNKNOWN
    if name == "size":
        if args or "dim" in keywords:
            return size_of(tensor, args[0] if args else keywords["dim"], origin)
        return Seq("size", None, SIZE, tensor.base if tensor.flags & RAW else "")
    if name == "to" or name == "type":
        dtype = _dtype_argument(args, keywords) or (tensor.dtype if name == "to" else "")
        if args and isinstance(args[0], Tensor):
            dtype = args[0].dtype
        if _copies(tensor, args, keywords):
            return tensor.derived(origin, dtype, tensor.ndim).with_(shape=tensor.shape)
        flags = tensor.flags & ~(RAW | HOST) if name == "to" else tensor.flags
        return tensor.with_(dtype=dtype, flags=flags)
    if kind == "tensor":
        return _tensor_result(frame, tensor, name, args, keywords, origin)
    return _by_kind(kind, tensor, origin, name, args, keywords)


def size_of(tensor: Tensor, dim: Value, origin: Origin) -> Value:
    """One size of a tensor, with the parameter and dimension it belongs to where that is known."""
    if tensor.flags & RAW and tensor.base and isinstance(dim, Const) and isinstance(dim.value, int):
        return Scalar("int", "size", origin, (tensor.base, dim.value))
    return Scalar("int", "size", origin)


def _copies(tensor: Tensor, args: Args, keywords: Keywords) -> bool:
    """Whether `.to(…)` surely gives fresh storage: a copy was asked for, or another device or dtype."""
    copy = keywords.get("copy")
    if isinstance(copy, Const) and copy.value is True:
        return True
    for value in (*args, *keywords.values()):
        if isinstance(value, Const) and isinstance(value.value, str) and value.value.startswith("cpu"):
            return True
        if isinstance(value, External) and value.name.startswith("torch.") and _DTYPES.get(value.name[6:]):
            wanted = value.name[6:]
            if tensor.dtype and _DTYPES[wanted] != tensor.dtype:
                return True
            if wanted in ("float16", "half", "bfloat16", "float64", "double"):
                return True
    return False


def _tensor_result(frame: Frame, tensor: Tensor, name: str, args: Args, keywords: Keywords, origin: Origin) -> Value:
    if name in facts.INPLACE_METHODS or (name.endswith("_") and not name.endswith("__")):
        flags = tensor.flags
        if name == "requires_grad_":
            flags |= NEEDS_GRAD
        return Tensor(tensor.conf, tensor.dtype, tensor.ndim, flags, tensor.origin, tensor.base, tensor.site)
    if name in facts.REDUCE_WITH_DIM_TUPLE and _reduces_to_pair(args, keywords):
        return Seq(
            "tuple",
            (Tensor(tensor.conf, tensor.dtype, -1, 0, origin), Tensor(tensor.conf, "i", -1, 0, origin)),
        )
    ndim = result_ndim(name, tensor, args, keywords)
    dtype = _result_dtype(name, tensor, args, keywords)
    if name in ("contiguous",):
        if tensor.flags & (STRIDED | EXPANDED):
            return tensor.derived(origin, tensor.dtype, tensor.ndim)
        return tensor.view(origin, tensor.ndim)
    if name in ("reshape", "flatten") and tensor.flags & STRIDED:
        return tensor.derived(origin, tensor.dtype)
    if name in ("float", "double", "half", "bfloat16", "int", "long", "bool", "short", "byte", "char"):
        same = tensor.dtype == dtype and name in ("float", "long", "bool")
        return (
            tensor.view(origin, tensor.ndim).with_(dtype=dtype) if same else tensor.derived(origin, dtype, tensor.ndim)
        )
    if name in ("cpu", "clone"):
        return tensor.derived(origin, tensor.dtype, tensor.ndim)
    if name == "cuda":
        return Tensor(tensor.conf, tensor.dtype, tensor.ndim, tensor.flags & ~HOST, origin, tensor.base, tensor.site)
    if name in ("expand", "expand_as", "broadcast_to"):
        grows = any(isinstance(v, Scalar) and v.source in ("size", "arg", "data") for v in _flat(args))
        grows = grows or name == "expand_as"
        result = tensor.view(origin, -1, STRIDED)
        return result.with_(flags=result.flags | EXPANDED) if grows else result
    if name in facts.VIEW_METHODS:
        if name == "squeeze" or name == "unsqueeze":
            extra = 0
        else:
            extra = STRIDED if name in _CONTIGUITY_LOST else 0
        if name == "detach":
            extra |= DETACHED
        shaped = result_ndim(name, tensor, args, keywords) if name in _SHAPED_BY_ARGS else _view_ndim(tensor, name)
        return tensor.view(origin, shaped, extra)
    if name in ("to_sparse", "to_sparse_csr", "to_sparse_coo"):
        return Tensor(tensor.conf, dtype, -1, SPARSE, origin)
    flags = 0
    if "Tensor." + name in facts.DYNAMIC_SHAPE_OPS:
        flags = DATA_SIZED
    result = tensor.derived(origin, dtype, ndim)
    if name.startswith("new_"):
        result = Tensor(tensor.conf, dtype, -1, tensor.flags & HOST, origin)
    return result.with_(flags=result.flags | flags) if flags else result


_SHAPED_BY_ARGS: Final = frozenset({"view", "reshape", "expand"})
_SAME_SHAPE: Final = frozenset(
    "softmax log_softmax sigmoid tanh relu gelu silu exp log sqrt rsqrt abs neg clamp masked_fill cumsum cumprod sort "
    "argsort flip roll tril triu float long int bool half double bfloat16 to clone detach contiguous dropout "
    "masked_scatter isnan isfinite isinf round floor ceil topk scatter scatter_add index_fill where sin cos".split()
)


def result_ndim(name: str, tensor: Tensor, args: Args, keywords: Keywords) -> int:
    """The number of dimensions of a result, -1 where it cannot be told."""
    if name in REDUCTIONS:
        if not _has_dim(args, keywords):
            return 0
        if tensor.ndim < 0 or "keepdim" in keywords or len(args) > 1:
            return -1
        dim = keywords.get("dim", args[0] if args else UNKNOWN)
        if isinstance(dim, Seq) and dim.items is not None:
            return max(tensor.ndim - len(dim.items), 0)
        return tensor.ndim - 1 if isinstance(dim, (Const, Scalar)) else -1
    if name in _SHAPED_BY_ARGS:
        if len(args) == 1 and isinstance(args[0], Seq):
            return len(args[0].items) if args[0].items is not None else -1
        if any(isinstance(a, Seq) for a in args):
            return -1
        return len(args) or -1
    if name in _SAME_SHAPE:
        return tensor.ndim
    return -1


def _reduces_to_pair(args: Args, keywords: Keywords) -> bool:
    """`max(dim)` gives values and indices; `max()` and `max(other)` one tensor."""
    if "dim" in keywords:
        return True
    if args:
        first = args[0]
        return not isinstance(first, (Tensor, Union)) and (
            isinstance(first, Scalar) or (isinstance(first, Const) and isinstance(first.value, int))
        )
    return False


def _view_ndim(tensor: Tensor, name: str) -> int:
    if tensor.ndim < 0:
        return -1
    if name == "unsqueeze":
        return tensor.ndim + 1
    if name in ("transpose", "permute", "detach", "contiguous", "t", "swapaxes"):
        return tensor.ndim
    return -1


def _result_dtype(name: str, tensor: Tensor, args: Args, keywords: Keywords) -> str:
    asked = _dtype_argument((), keywords)
    if asked:
        return asked
    if name in BOOLEAN:
        return "b"
    if name in INTEGER:
        return "i"
    if name in FLOATING:
        return "f"
    if name in ("sum", "cumsum", "prod") and tensor.dtype == "b":
        return "i"
    if name in _SAME_DTYPE:
        return tensor.dtype
    return ""


def _flat(args: Args) -> list[Value]:
    out: list[Value] = []
    for a in args:
        if isinstance(a, Seq) and a.items is not None:
            out.extend(a.items)
        elif isinstance(a, Seq):
            out.append(a.elem)
        else:
            out.append(a)
    return out


def _by_kind(
    kind: str, tensor: Tensor | None, origin: Origin, name: str = "", args: Args = (), keywords: Keywords | None = None
) -> Value:
    conf = tensor.conf if tensor is not None else PROVEN
    keywords = keywords or {}
    if kind == "tensor":
        dtype = _dtype_argument((), keywords) or _result_dtype(name, tensor or Tensor(), args, keywords)
        return Tensor(conf, dtype, -1, 0, origin)
    if kind == "bool-tensor":
        return Tensor(conf, "b", result_ndim(name, tensor, args, keywords) if tensor is not None else -1, 0, origin)
    if kind == "int-tensor":
        return Tensor(conf, "i", result_ndim(name, tensor, args, keywords) if tensor is not None else -1, 0, origin)
    if kind == "tensors":
        inner = tensor.view(origin) if tensor is not None else Tensor(conf, "", -1, 0, origin)
        return Seq("tuple", None, inner)
    if kind.startswith("tuple:"):
        parts = [_by_kind(k, tensor, origin) for k in kind[6:].split(",")]
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
        return Seq("list", None, Scalar("number", "data", origin), "data") if name == "tolist" else Seq("list", None)
    if kind == "ndarray":
        return Tensor(conf, tensor.dtype if tensor else "", -1, ARRAY, origin)
    if kind == "dtype" or kind == "device":
        return External("torch." + kind)
    return UNKNOWN


def attribute(frame: Frame, node: ast.AST, tensor: Tensor, name: str) -> Value:
    """The value of `tensor.name`, where it is no method call."""
    kind = facts.ATTRIBUTES.get(name)
    origin = frame.origin(node)
    if name == "shape":
        return Seq("size", None, SIZE, tensor.base if tensor.flags & RAW else "")
    if name in ("ndim", "itemsize", "nbytes"):
        return SIZE
    if name == "size" and tensor.flags & ARRAY:
        return SIZE
    if name in ("T", "mT", "H", "mH", "real", "imag", "data"):
        extra = STRIDED if name in ("T", "mT", "H", "mH") else DETACHED if name == "data" else 0
        return tensor.view(origin, tensor.ndim, extra)
    if name == "grad":
        return join(Tensor(tensor.conf, tensor.dtype, -1, 0, origin), NONE)
    if name in ("values", "indices") and not kind:
        # The named result of max(dim) and friends, read off a tensor we took for one.
        return Tensor(tensor.conf, "i" if name == "indices" else tensor.dtype, -1, 0, origin)
    if kind == "bool":
        return BOOL
    if kind == "device" or name == "device":
        return External("torch.device()")
    if kind == "dtype" or name == "dtype":
        return External("numpy.dtype()" if tensor.flags & ARRAY else "torch.dtype()")
    return UNKNOWN


def arithmetic(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """A binary operation with a tensor on at least one side."""
    a = left if isinstance(left, Tensor) else None
    b = right if isinstance(right, Tensor) else None
    other = right if a is not None else left
    if isinstance(other, Seq) and operator == "Mult" and other.kind in ("list", "tuple"):
        frame.interp.emit(events.Operation, frame, node, "repeat", other, a or b or UNKNOWN)
        return Seq(other.kind, None, other.element(), "data")
    if isinstance(other, Seq) and operator == "Add" and other.kind == "list" and (b is None or a is None):
        frame.interp.emit(events.Operation, frame, node, "list+tensor", left, right)
    if (a is None or b is None) and (operator in ("Pow", "Mod", "FloorDiv") or (operator == "Sub" and a is None)):
        frame.interp.emit(events.Operation, frame, node, operator, left, right)
    tensor = a or b
    assert tensor is not None
    if isinstance(other, Const) and isinstance(other.value, str):
        return STR
    conf = tensor.conf if a is None or b is None else max(a.conf, b.conf)
    both = b if a is tensor else a
    if operator == "Div":
        dtype = "f"
    elif both is not None:
        dtype = tensor.dtype if tensor.dtype == both.dtype else ""
    elif isinstance(other, (Const, Scalar)):
        kind = other.type if isinstance(other, Scalar) else type(other.value).__name__
        dtype = tensor.dtype if kind in ("int", "bool") or tensor.dtype == "f" else ("f" if kind == "float" else "")
        if tensor.dtype == "b" and operator not in ("BitAnd", "BitOr", "BitXor"):
            dtype = "i"
    else:
        dtype = ""
    ndim = 0 if tensor.ndim == 0 and (both is None or both.ndim == 0) and not isinstance(other, (Seq, Union)) else -1
    if both is None and other is UNKNOWN:
        ndim = -1
    flags = tensor.flags & (HOST | CONSTANT | ARRAY | DATA_SIZED)
    if both is not None:
        flags = (tensor.flags | both.flags) & (DATA_SIZED | ARRAY) | (tensor.flags & both.flags & (HOST | CONSTANT))
    elif not _number(other):
        flags &= ~CONSTANT
    return Tensor(conf, dtype, ndim, flags, frame.origin(node))


def index(frame: Frame, node: ast.AST, tensor: Tensor, index_value: Value) -> Value:
    """`tensor[index]`: an alias for basic indices, a copy for index tensors, a data-sized copy for a boolean mask."""
    origin = frame.origin(node)
    parts = (
        list(index_value.items)
        if isinstance(index_value, Seq) and index_value.kind == "tuple" and (index_value.items is not None)
        else [index_value]
    )
    mask = next((t for p in parts if (t := _mask(p)) is not None), None)
    if mask is None and isinstance(node, ast.Subscript):
        named = _named_mask(node.slice, index_value)
        if named is not None:
            # Nothing but a boolean mask goes by this name as an index.
            mask = named
            index_value = named
    if mask is not None:
        result: Value = Tensor(tensor.conf, tensor.dtype, -1, DATA_SIZED, origin)
    elif (
        any(isinstance(p, Tensor) for p in parts)
        or any(isinstance(p, Seq) and p.kind in ("list", "tuple") and p is not index_value for p in parts)
        or (isinstance(index_value, Seq) and index_value.kind == "list")
    ):
        scalar = len(parts) == 1 and isinstance(parts[0], Tensor) and parts[0].ndim == 0
        result = Tensor(tensor.conf, tensor.dtype, 0 if scalar and tensor.ndim == 1 else -1, 0, origin)
    else:
        ints = sum(1 for p in parts if _is_int(p))
        adds = sum(1 for p in parts if isinstance(p, Const) and p.value is None)
        ndim = tensor.ndim - ints + adds if tensor.ndim >= 0 else -1
        steps = STRIDED if any(_strided_slice(p, i) for i, p in enumerate(parts)) else 0
        result = tensor.view(origin, ndim, steps)
    frame.interp.emit(events.Subscript, frame, node, tensor, index_value, result)
    return result


def _named_mask(node: ast.expr, value: Value) -> Tensor | None:
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    values = value.items if isinstance(node, ast.Tuple) and isinstance(value, Seq) and value.items else (value,)
    for part, inner in zip(nodes, values, strict=False):
        tensor = tensor_of(inner)
        base = part.value if isinstance(part, ast.Subscript) else part
        name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
        if tensor is not None and not tensor.dtype and tensor.ndim != 0 and _MASK_NAME.search(name):
            return tensor.with_(dtype="b", conf=min(tensor.conf, USED))
    return None


_MASK_NAME: Final = re.compile(r"(^|_)masks?($|_)")


def _mask(part: Value) -> Tensor | None:
    tensor = tensor_of(part)
    return tensor if tensor is not None and tensor.dtype == "b" else None


def _is_int(part: Value) -> bool:
    if isinstance(part, Const):
        return isinstance(part.value, int) and not isinstance(part.value, bool)
    return isinstance(part, Scalar) and part.type == "int"


def _strided_slice(part: Value, position: int) -> bool:
    """A slice that surely leaves gaps: a step, or a bound on any dimension but the first."""
    if not (isinstance(part, Seq) and part.kind == "slice" and part.items is not None):
        return _is_int(part) and position > 0
    lower, upper, step = part.items
    if isinstance(step, Const) and isinstance(step.value, int) and step.value not in (1,):
        return True
    return position > 0 and not (isinstance(lower, Const) and lower.value is None and _none(upper))


def _none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def function(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """The value of a call of `torch.…`."""
    known = WHILE_COMPILING.get(name)
    if known is not None:
        return known if frame.region is not None else BOOL
    origin = frame.origin(node)
    short = name.rpartition(".")[2]
    if name in ("torch.is_tensor", "torch.is_floating_point", "torch.is_complex"):
        if name == "torch.is_tensor" and args:
            if isinstance(args[0], Tensor) and args[0].conf > 1:
                return TRUE
            if isinstance(args[0], (Seq, Scalar, Const, Dict)):
                return FALSE
        return BOOL
    if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer"):
        return Tensor(PROVEN, "", -1, PARAMETER, origin)
    if name in ("torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.BoolTensor", "torch.IntTensor"):
        return Tensor(PROVEN, {"L": "i", "B": "b", "I": "i"}.get(short[0], "f"), -1, HOST, origin)
    if name in ("torch.no_grad", "torch.enable_grad", "torch.autocast", "torch.amp.autocast", "torch.inference_mode"):
        return Object(name, origin)
    if name == "torch.where" and len(args) + len(keywords) == 1:
        return Seq("tuple", None, Tensor(PROVEN, "i", 1, DATA_SIZED, origin))
    if name.startswith(("torch.nested.", "torch.sparse_")):
        layout = keywords.get("layout")
        jagged = isinstance(layout, External) and layout.name == "torch.jagged"
        return Tensor(PROVEN, "", -1, 0 if jagged else SPARSE, origin)
    if name in FACTORIES:
        return _factory(name, args, keywords, origin)
    if name.endswith("_like") and args:
        base = tensor_of(args[0])
        dtype = _dtype_argument((), keywords) or (base.dtype if base else "")
        return Tensor(PROVEN, dtype, base.ndim if base else -1, (base.flags & (HOST | ARRAY)) if base else 0, origin)
    first = _first_tensor(args, keywords)
    if short.startswith("dropout") and first is not None:
        training = keywords.get("training")
        if isinstance(training, Const) and training.value is False:
            return first.view(origin, first.ndim)
    if name in ("torch.clone",) and first is not None:
        return first.derived(origin, first.dtype, first.ndim)
    if short in ("expand_copy",) and first is not None:
        return first.derived(origin, first.dtype)
    if name in facts.VIEW_FUNCTIONS and first is not None and "." not in name[6:]:
        if name in ("torch.broadcast_to",):
            return method(frame, node, first, "expand", args[1:], keywords)
        if facts.FUNCTIONS.get(name) == "tensors":
            return Seq("tuple", None, first.view(origin))
        if facts.METHODS.get(short) == "tensor":
            return method(frame, node, first, short, args[1:], keywords)
    kind = facts.FUNCTIONS.get(name)
    if kind is None:
        if name.startswith(("torch.ops.", "torch.nn.functional.", "torch.special.", "torch.linalg.", "torch.fft.")):
            return Tensor(USED, "", -1, 0, origin)
        return UNKNOWN
    if kind == "tensor":
        if short in facts.REDUCE_WITH_DIM_TUPLE and _reduces_to_pair(args[1:], keywords):
            dtype = first.dtype if first else ""
            return Seq("tuple", (Tensor(PROVEN, dtype, -1, 0, origin), Tensor(PROVEN, "i", -1, 0, origin)))
        ndim = result_ndim(short, first, args[1:], keywords) if first is not None else -1
        if short in REDUCTIONS and not _has_dim(args[1:], keywords):
            ndim = 0
            if short.startswith(("cross_entropy", "mse", "l1", "nll", "binary")) and "reduction" in keywords:
                ndim = -1
        dtype = _dtype_argument((), keywords) or _result_dtype(short, first or Tensor(), args[1:], keywords)
        flags = DATA_SIZED if short in facts.DYNAMIC_SHAPE_OPS else 0
        if first is None and all(_number(a) for a in args) and not name.startswith("torch.rand"):
            flags |= CONSTANT
        if first is not None:
            flags |= first.flags & ARRAY
            if len(args) == 1 or not any(isinstance(a, Tensor) and a is not first for a in args):
                flags |= first.flags & (HOST | CONSTANT)
        return Tensor(PROVEN, dtype, ndim, flags, origin)
    return (
        _by_kind(kind, first, origin, short, args, keywords)
        if kind != "tensors"
        else Seq("tuple", None, first.view(origin) if first is not None else Tensor(PROVEN, "", -1, 0, origin))
    )


def _factory(name: str, args: Args, keywords: Keywords, origin: Origin) -> Value:
    short = name[6:]
    dtype = _dtype_argument((), keywords)
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
            dtype = _literal_dtype(fill)
        elif short in ("tensor", "as_tensor", "scalar_tensor", "asarray"):
            source = args[0] if args else keywords.get("data")
            dtype = source.dtype if isinstance(source, Tensor) else _literal_dtype(source)
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


def _number(value: Value) -> bool:
    return isinstance(value, (Const, External)) or (
        isinstance(value, Scalar) and value.source not in ("data", "random")
    )


def _constant(value: Value) -> bool:
    if _number(value):
        return True
    if isinstance(value, Seq):
        return value.items is not None and all(_constant(i) for i in value.items)
    return False


def _literal_dtype(value: Value | None) -> str:
    if isinstance(value, Seq):
        value = value.element()
        if isinstance(value, Seq):
            value = value.element()
    if isinstance(value, Const):
        return {"bool": "b", "int": "i", "float": "f"}.get(type(value.value).__name__, "")
    if isinstance(value, Scalar):
        return {"bool": "b", "int": "i", "float": "f"}.get(value.type, "")
    if isinstance(value, Tensor):
        return value.dtype
    return ""


def _first_tensor(args: Args, keywords: Keywords) -> Tensor | None:
    for value in (*args, *keywords.values()):
        found = tensor_of(value)
        if found is not None:
            return found
        if isinstance(value, Seq):
            inner = tensor_of(value.element())
            if inner is not None:
                return inner
    return None


_NUMPY_FLOAT: Final = frozenset(
    "sqrt log exp log2 log10 log1p exp2 expm1 square cbrt cos sin tan tanh trunc divide true_divide".split()
)
"""What has a float as its result, or is taken for one, whatever the argument."""
_NUMPY_SCALAR: Final = _NUMPY_FLOAT | frozenset(
    "prod ceil floor abs round power sum mean max min maximum minimum".split()
)


def numpy_function(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """A numpy call: an array, which Dynamo traces as a tensor, or a plain number for constants."""
    origin = frame.origin(node)
    short = name.rpartition(".")[2]
    if short in ("array", "asarray") and args and isinstance(args[0], Seq):
        element = args[0].element()
        if isinstance(element, (Const, Scalar)) and _literal_dtype(element) == "":
            return Object("numpy.strings", origin)
    if short in ("ndarray", "array", "asarray", "zeros", "ones", "arange", "linspace", "empty", "full", "stack"):
        return Tensor(PROVEN, "", -1, ARRAY | HOST, origin)
    if name.startswith("numpy.random."):
        return Tensor(USED, "f", -1, ARRAY | HOST, origin)
    tensor = _first_tensor(args, keywords)
    if tensor is not None:
        ndim = 0 if short in REDUCTIONS and not _has_dim(args[1:], keywords) else -1
        return Tensor(tensor.conf, "b" if short in BOOLEAN else "", ndim, ARRAY | (tensor.flags & HOST), origin)
    if short in _NUMPY_SCALAR:
        values = _flat(args)
        size = next((v for v in values if isinstance(v, Scalar) and v.source == "size"), None)
        if size is not None:
            floating = short in _NUMPY_FLOAT or any(_literal_dtype(v) == "f" for v in values)
            if floating and all(isinstance(a, (Const, Scalar)) for a in args):
                # Dynamo computes it while tracing and reads it as a number. An integer it does not read.
                return Scalar("float", "size", origin, size.ref)
            return Tensor(USED, "", 0, ARRAY | HOST, origin)
        if values and all(isinstance(v, (Const, Scalar)) for v in values):
            # Numbers alone are folded while tracing.
            return FLOAT
        return UNKNOWN
    if short in ("float32", "float64", "int64", "int32", "bool_"):
        return Tensor(USED, "", 0, ARRAY | HOST | CONSTANT, origin)
    return Tensor(USED, "", -1, ARRAY | HOST, origin) if short in facts.NUMPY_SUPPORTED else UNKNOWN


def _array_method(tensor: Tensor, name: str, args: Args, origin: Origin) -> Value:
    if name in ("item",):
        return Scalar("number", "data", origin)
    if name == "tolist":
        return Seq("list", None, Scalar("number", "data", origin), "data")
    if name in ("tobytes", "tostring", "dumps"):
        return UNKNOWN
    return Tensor(tensor.conf, "b" if name in BOOLEAN else tensor.dtype, -1, tensor.flags & (ARRAY | HOST), origin)


def module_call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, owner: Object) -> Value:
    """Calling an instance of a `torch.nn` class."""
    origin = frame.origin(node)
    kind = facts.MODULES.get(name, "tensor")
    first = _first_tensor(args, keywords)
    conf = PROVEN
    if kind == "same":
        return args[0] if args else UNKNOWN
    if kind == "rnn":
        out = Tensor(conf, "f", -1, 0, origin)
        hidden: Value = Seq("tuple", (out, out)) if "LSTM" in name else out
        return Seq("tuple", (out, hidden))
    if kind.startswith("tuple:"):
        return Seq("tuple", tuple(Tensor(conf, "f", -1, 0, origin) for _ in kind[6:].split(",")))
    if kind in ("object", "container", "unknown"):
        return UNKNOWN
    if name.rpartition(".")[2] in ("Flatten", "Unflatten", "Dropout", "Dropout2d", "Identity") and first is not None:
        return first.view(origin)
    ndim = 0 if name.endswith("Loss") else -1
    return Tensor(conf, "f", ndim, 0, origin)


__all__ = ["arithmetic", "attribute", "function", "index", "join_all", "method", "module_call", "numpy_function"]
