"""Tensors: their methods and attributes, indexing, arithmetic and comparison."""

from __future__ import annotations

import ast
from typing import Final

from tclint import events
from tclint.interpreter import exceptions, handles
from tclint.interpreter.frame import Frame
from tclint.interpreter.gradients import freeze
from tclint.interpreter.models import hooks, masks
from tclint.interpreter.models.laid_out import is_int, laid_out, leaves_gaps, parted, picked, sliced
from tclint.interpreter.models.measured import measured, varies
from tclint.interpreter.models.modules import walked
from tclint.interpreter.models.numpy import array_method
from tclint.interpreter.models.results import (
    Args,
    Keywords,
    dtype_argument,
    flat,
    is_number,
    is_sized_by_values,
    of_kind,
    reduces_to_pair,
    result_dtype,
    result_ndim,
)
from tclint.torch_facts import facts, returns, traits
from tclint.torch_facts.dtypes import letter_of
from tclint.values import (
    ARRAY,
    BOOL,
    DATA_SIZED,
    EXPANDED,
    FALSE,
    FOLDED,
    GRADIENT_UNKNOWN,
    HOST,
    NAMED,
    NEEDS_GRAD,
    NO_GRADIENT,
    NONE,
    PARAMETER,
    RAW,
    SIZE,
    SPARSE,
    STATIC_OUT,
    STEADY,
    STR,
    STRIDED,
    TRUE,
    UNKNOWN,
    USED,
    ClassValue,
    Const,
    Dict,
    External,
    Method,
    Origin,
    Scalar,
    Seq,
    Tensor,
    Value,
    join,
    parts_of,
    selectors_of,
)
from tclint.values.casts import is_cast
from tclint.values.constant import is_none
from tclint.values.place import is_place
from tclint.values.value import NUMBER, ONE_OF, SEQUENCE

PARTING: Final = facts.methods("parts a tensor along a dimension")
"""Methods that part a tensor along a dimension."""
DISTINCT: Final = ("unique", "unique_consecutive")
"""Methods that give each value once."""

_OF_TENSORS_ALONE: Final = frozenset(facts.named("is a method of tensors alone"))
_LOGIC: Final = ("BitAnd", "BitOr", "BitXor")
_TENSORS: Final = ("tensor", "bool-tensor", "int-tensor")
_OF_ARRAYS: Final = frozenset(facts.named("is a method of tensors and arrays"))
_SPARSE: Final = facts.named("reads a part of a sparse tensor")
_DENSE: Final = frozenset((*_SPARSE, *facts.named("makes a sparse or nested tensor dense")))
_BECOMES: Final = facts.methods("takes a class of tensors")
_CONTIGUITY_LOST: Final = facts.methods("gives a view with other strides")


def method(frame: Frame, node: ast.AST, tensor: Tensor, name: str, args: Args, keywords: Keywords) -> Value:
    """The value of `tensor.name(*args, **keywords)`."""
    key = f"tensor#{name}"
    kind = returns.kind(key)
    origin = frame.origin(node)
    if tensor.flags & SPARSE and f"Tensor.{name}" in _DENSE:
        tensor = tensor.with_(flags=tensor.flags & ~SPARSE)
    if tensor.flags & ARRAY:
        return array_method(frame, tensor, name, args, keywords, origin)
    if kind is None:
        return UNKNOWN
    if name == "size":
        sizes = _sizes(frame, tensor)
        if args or "dim" in keywords:
            dim = args[0] if args else keywords["dim"]
            return Seq("size", sizes).item(frame, node, dim) if sizes is not None else size_of(tensor, dim, origin)
        if sizes is not None:
            return Seq("size", sizes)
        return Seq("size", None, SIZE, tensor.base if tensor.flags & RAW else "")
    if name == "stride" and (args or "dim" in keywords):
        return SIZE
    if name == "type" and not args and not keywords:
        return STR
    if name == "to" or name == "type":
        dtype = dtype_argument(args, keywords) or (tensor.dtype if name == "to" else "")
        if args and isinstance(args[0], Tensor):
            dtype = args[0].dtype
        if _copies(tensor, args, keywords):
            return tensor.derived(origin, dtype, tensor.ndim).with_(shape=tensor.shape)
        flags = tensor.flags & ~(RAW if is_cast(args, keywords) else RAW | HOST) if name == "to" else tensor.flags
        return tensor.with_(dtype=dtype, flags=flags)
    if kind == returns.MIXED or kind == "object":
        return measured(frame, f"Tensor.{name}", tensor, args, keywords, origin)
    if args and varies(frame, f"Tensor.{name}"):
        seen = measured(frame, f"Tensor.{name}", tensor, args, keywords, origin)
        if isinstance(seen, Seq) and not returns.gives_pair(key):
            return seen
    if kind == "tensor":
        return _tensor_result(frame, tensor, name, args, keywords, origin)
    result = of_kind(kind, tensor, origin, key, args, keywords)
    if isinstance(result, Tensor):
        follows = DATA_SIZED if is_sized_by_values(key, args, keywords) else 0
        return result.with_(flags=result.flags | follows | tensor.flags & FOLDED)
    return result


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
        if isinstance(value, External) and value.name.startswith("torch.") and letter_of(value.name):
            if tensor.dtype and letter_of(value.name) != tensor.dtype:
                return True
            if value.name in facts.named("is a dtype of floats that is not the default"):
                return True
    return False


def _tensor_result(frame: Frame, tensor: Tensor, name: str, args: Args, keywords: Keywords, origin: Origin) -> Value:
    key = f"tensor#{name}"
    if traits.is_in_place(name) or (name.endswith("_") and not name.endswith("__")):
        flags = tensor.flags
        call = origin.node
        if frame.region is None and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            keeps = name not in facts.named("is the same done twice")
            frame.interp.recordings.write(frame, call.func.value, call, keeps)
        if name == "requires_grad_":
            freeze(frame, tensor, args[0] if args else TRUE)
            off = bool(args) and isinstance(args[0], Const) and not args[0].value
            flags = flags & ~NEEDS_GRAD if off else flags & ~NO_GRADIENT | NEEDS_GRAD
        return Tensor(tensor.conf, tensor.dtype, tensor.ndim, flags, tensor.origin, tensor.base, tensor.site)
    if returns.gives_pair(key) and reduces_to_pair(args, keywords):
        return Seq(
            "tuple",
            (Tensor(tensor.conf, tensor.dtype, -1, 0, origin), Tensor(tensor.conf, "i", -1, 0, origin)),
        )
    ndim = result_ndim(key, tensor, args, keywords)
    dtype = result_dtype(key, tensor, args, keywords)
    if name == "contiguous":
        if tensor.flags & (STRIDED | EXPANDED):
            return tensor.derived(origin, tensor.dtype, tensor.ndim)
        return tensor.view(origin, tensor.ndim)
    if name in ("reshape", "flatten") and tensor.flags & STRIDED:
        return tensor.derived(origin, tensor.dtype)
    if name in facts.methods("converts to a dtype"):
        same = tensor.dtype == dtype and name in facts.methods("converts to the usual dtype")
        return (
            tensor.view(origin, tensor.ndim).with_(dtype=dtype) if same else tensor.derived(origin, dtype, tensor.ndim)
        )
    if name == "cpu" or name in facts.methods("copies into memory of its own"):
        copied = tensor.derived(origin, tensor.dtype, tensor.ndim)
        return copied.with_(flags=copied.flags | SPARSE) if tensor.flags & SPARSE else copied
    if name == "cuda":
        return Tensor(tensor.conf, tensor.dtype, tensor.ndim, tensor.flags & ~HOST, origin, tensor.base, tensor.site)
    if name in facts.methods("repeats without a copy"):
        grows = any(isinstance(v, Scalar) and v.source in ("size", "arg", "data") for v in flat(args))
        # A size that is known here may be another one in the next call, unless it is written out.
        grows = grows or (frame.region is None and any(_computed(n) for n in getattr(origin.node, "args", ())))
        grows = grows or name == "expand_as"
        result = tensor.view(origin, -1, STRIDED)
        return result.with_(flags=result.flags | EXPANDED) if grows else result
    if traits.is_view(name):
        if name == "squeeze" or name == "unsqueeze":
            extra = 0
        else:
            extra = STRIDED if name in _CONTIGUITY_LOST else 0
        if name == "view" and dtype_argument(args, keywords):
            return tensor.view(origin, -1, extra).with_(dtype=dtype_argument(args, keywords))
        if name == "type_as":
            return tensor.view(origin, tensor.ndim).with_(
                dtype=args[0].dtype if args and isinstance(args[0], Tensor) else ""
            )
        told = traits.outcome(key).dtypes
        if any(given != made for given, made in told.items()) or f"Tensor.{name}" in _SPARSE:
            # It may give the tensor itself, but of another type.
            return tensor.view(origin, tensor.ndim).with_(dtype=dtype)
        return tensor.view(origin, ndim, extra)
    if name.startswith("to_sparse"):
        return Tensor(tensor.conf, dtype, -1, SPARSE, origin)
    flags = 0
    if is_sized_by_values(key, args, keywords):
        flags = DATA_SIZED
    result = tensor.derived(origin, dtype, ndim)
    if name.startswith("new_"):
        result = Tensor(tensor.conf, dtype, -1, tensor.flags & HOST, origin)
    return result.with_(flags=result.flags | flags) if flags else result


def _computed(node: ast.AST) -> bool:
    """Whether a number is taken from something else: `x.shape[0]`, `batch`."""
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))


def _sizes(frame: Frame, tensor: Tensor) -> tuple[Value, ...] | None:
    """The sizes of a tensor that eager code has made; in compiled code they may be symbols."""
    if frame.region is not None or not isinstance(tensor.shape, tuple) or (None in tensor.shape and not tensor.varied):
        return None
    drawn = Scalar("int", "random", frame.origin(tensor.origin.node or ast.Pass()))
    unknown = {dim: drawn if dim in tensor.varied else SIZE for dim in range(len(tensor.shape))}
    return tuple(unknown[dim] if size is None else Const(size) for dim, size in enumerate(tensor.shape))


def attribute(frame: Frame, node: ast.AST, tensor: Tensor, name: str, quiet: bool) -> Value:
    """The value of `tensor.name`, where it is no method call."""
    if not quiet:
        frame.interp.emitter.emit(events.Attribute, frame, node, tensor, name)
    kind = returns.kind(f"tensor@{name}")
    if kind is None and returns.kind(f"tensor#{name}") is not None:
        return Method(tensor, name)
    origin = frame.origin(node)
    if name == "shape":
        sizes = _sizes(frame, tensor)
        if sizes is not None:
            return Seq("size", sizes)
        return Seq("size", None, SIZE, tensor.base if tensor.flags & RAW else "")
    if kind == "int" and name != "output_nr":
        return SIZE
    if name == "size" and tensor.flags & ARRAY:
        return SIZE
    if kind == "tensor" and name != "grad":
        extra = STRIDED if name.upper() in ("T", "MT", "H", "MH") else 0
        result = tensor.view(origin, tensor.ndim, extra)
        return laid_out(frame, tensor, name, (), {}, result) if frame.region is None else result
    if name == "grad":
        held = frame.interp.graph_memory.gradient(origin) if frame.region is None else None
        return join(held or Tensor(tensor.conf, tensor.dtype, -1, 0, origin), NONE)
    if name in ("values", "indices") and not kind:
        # The named result of max(dim) and friends, read off a tensor we took for one.
        return Tensor(tensor.conf, "i" if name == "indices" else tensor.dtype, -1, 0, origin)
    if kind == "bool":
        return BOOL
    if kind == "device" or name == "device":
        return External("torch.device()")
    if kind == "dtype" or name == "dtype":
        if tensor.flags & ARRAY and frame.region is not None:
            return UNKNOWN  # compiled code breaks where it reads that: what comes of it is the business of eager code
        return External("numpy.dtype()" if tensor.flags & ARRAY else "torch.dtype()")
    return UNKNOWN


def arithmetic(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """A binary operation with a tensor on at least one side."""
    if operator != "Mod" and "str" in (left.python_type, right.python_type):  # `"%s" % x` makes a text
        exceptions.fails(frame, node, "operator on a tensor and a text")
    a = left if isinstance(left, Tensor) else None
    b = right if isinstance(right, Tensor) else None
    other = right if a is not None else left
    if isinstance(other, Seq) and operator == "Mult" and other.kind in ("list", "tuple"):
        frame.interp.emitter.emit(events.Operation, frame, node, "repeat", other, a or b or UNKNOWN)
        return Seq(other.kind, None, other.element(), "data")
    if isinstance(other, Seq) and operator == "Add" and other.kind == "list" and (b is None or a is None):
        frame.interp.emitter.emit(events.Operation, frame, node, "list+tensor", left, right)
    if (a is None or b is None) and (operator in ("Pow", "Mod", "FloorDiv") or (operator == "Sub" and a is None)):
        frame.interp.emitter.emit(events.Operation, frame, node, operator, left, right)
    tensor = a or b
    assert tensor is not None
    if (tensor.flags | (b.flags if b is not None else 0)) & SPARSE:
        # Of dense tensors no rule asks which operator works on them.
        frame.interp.emitter.operation(frame, node, operator, left, right)
    if isinstance(other, Const) and isinstance(other.value, str):
        return STR
    conf = tensor.conf if a is None or b is None else max(a.conf, b.conf)
    both = b if a is tensor else a
    if operator == "Div":
        dtype = "f"
    elif both is not None:
        dtype = tensor.dtype if tensor.dtype == both.dtype else ""
        if operator in _LOGIC and "b" in (tensor.dtype, both.dtype) and "" in (tensor.dtype, both.dtype):
            dtype = "b"  # a mask is combined with masks
    elif other.rank == NUMBER:
        kind = other.python_type
        dtype = tensor.dtype if kind in ("int", "bool") or tensor.dtype == "f" else ("f" if kind == "float" else "")
        if tensor.dtype == "b" and operator not in _LOGIC:
            dtype = "i"
    else:
        dtype = "b" if tensor.dtype == "b" and operator in _LOGIC else ""
    ndim = 0 if tensor.ndim == 0 and (both is None or both.ndim == 0) and other.rank not in (SEQUENCE, ONE_OF) else -1
    if both is None and other is UNKNOWN:
        ndim = -1
    flags = tensor.flags & (HOST | STEADY | ARRAY | DATA_SIZED | NO_GRADIENT | SPARSE)
    if both is not None:
        flags = (tensor.flags | both.flags) & DATA_SIZED
        flags |= tensor.flags & both.flags & (HOST | STEADY | NO_GRADIENT | SPARSE)
        # A tensor and an array make a tensor, whichever comes first.
        if (tensor.flags | both.flags) & ARRAY:
            flags |= ARRAY if all(each.flags & ARRAY or each.conf <= USED for each in (tensor, both)) else 0
    elif not is_number(other):
        flags &= ~STEADY
    result = Tensor(conf, dtype, ndim, flags, frame.origin(node))
    if frame.region is not None:
        return result
    if operator == "MatMult":
        handles.use(frame, node, "torch.matmul")
        result = result.with_(exact=tensor.exact if both is None or both.exact == tensor.exact else "")
        return laid_out(frame, a, "matmul", [b], {}, result) if a is not None and b is not None else result
    if dtype != tensor.dtype:
        tensor = tensor.with_(exact="")
    return laid_out(frame, tensor, "add", [both] if both is not None else (), {}, result)


def unary(frame: Frame, node: ast.AST, tensor: Tensor, operator: str) -> Value:
    """`-x`, `~mask`"""
    result = tensor.derived(frame.origin(node), tensor.dtype, tensor.ndim)
    return laid_out(frame, tensor, "neg", (), {}, result) if frame.region is None else result


def index(frame: Frame, node: ast.AST, tensor: Tensor, index_value: Value) -> Value:
    """`tensor[index]`: an alias for basic indices, a copy for index tensors, a data-sized copy for a boolean mask."""
    origin = frame.origin(node)
    if tensor.conf <= USED and isinstance(index_value, Const) and isinstance(index_value.value, str):
        return UNKNOWN  # a name said that it is a tensor, and it is none
    parts = list(parts_of(index_value))
    mask = next((t for p in selectors_of(index_value) if (t := masks.of(p)) is not None), None)
    if mask is None and isinstance(node, ast.Subscript):
        named = masks.named(node.slice, index_value)
        if named is not None:
            # Nothing but a boolean mask goes by this name as an index.
            mask = named
            index_value = named
    if mask is not None:
        result: Value = masks.taken(
            frame, node, tensor, mask, Tensor(tensor.conf, tensor.dtype, -1, DATA_SIZED, origin)
        )
    elif (
        any(isinstance(p, Tensor) for p in parts)
        or any(isinstance(p, Seq) and p.kind in ("list", "tuple") and p is not index_value for p in parts)
        or (isinstance(index_value, Seq) and index_value.kind == "list")
    ):
        scalar = len(parts) == 1 and isinstance(parts[0], Tensor) and parts[0].ndim == 0
        made = Tensor(tensor.conf, tensor.dtype, 0 if scalar and tensor.ndim == 1 else -1, 0, origin)
        shape = picked(tensor, parts) if frame.region is None else None
        kept = tensor.flags & (ARRAY | GRADIENT_UNKNOWN) if shape is not None else 0
        result = made.with_(shape=shape, exact=tensor.exact, flags=kept) if shape is not None else made
    else:
        ints = sum(1 for p in parts if is_int(p))
        adds = sum(1 for p in parts if is_none(p))
        ndim = tensor.ndim - ints + adds if tensor.ndim >= 0 else -1
        steps = STRIDED if leaves_gaps(parts, node) else 0
        result = tensor.view(origin, ndim, steps)
        layout = sliced(tensor, parts) if frame.region is None else None
        if layout is not None and not tensor.flags & PARAMETER:  # a view of a parameter is none, and has free sizes
            result = result.with_(shape=layout.sizes, strides=layout.strides)
    frame.interp.emitter.emit(events.Subscript, frame, node, tensor, index_value, result)
    return result


def call_method(frame: Frame, node: ast.AST, tensor: Tensor, name: str, args: Args, keywords: Keywords) -> Value:
    """A call of a tensor's method, told to the rules."""
    if tensor.conf == NAMED and frame.region is not None and (name in _OF_TENSORS_ALONE or name in _OF_ARRAYS):
        tensor = tensor.with_(conf=USED)  # the name alone said so; what has this method is a tensor, or an array
    if tensor.flags & SPARSE:
        frame.interp.emitter.emit(events.SparseUse, frame, node, tensor, True)
    if tensor.cls is not None:  # which may have another method of that name
        frame.interp.emitter.emit(events.Attribute, frame, node, tensor, name)
    result = hooks.register_of_tensor(frame, node, tensor, name, args)
    if result is None:
        result = method(frame, node, tensor, name, args, keywords)
    result = still_sparse(f"Tensor.{name}", (tensor, *args), result)
    if name in _BECOMES and args and isinstance(args[0], ClassValue) and isinstance(result, Tensor):
        result = result.with_(cls=args[0].cls)
    if frame.region is None:
        result = laid_out(frame, tensor, name, args, keywords, result)
        if name in PARTING:
            result = parted(frame, node, tensor, name, args, keywords) or result
        elif name in ("item", "tolist"):
            result = _read_out(frame, tensor, result)
        if name == "requires_grad_" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and isinstance(result, Tensor):
                frame.set(node.func.value.id, result)
        if tensor.flags & STATIC_OUT and _reads_values(name, result):
            frame.interp.recordings.do("use", tensor.site, frame, node, tensor)
    prefix = "ndarray." if tensor.flags & ARRAY else "Tensor."
    frame.interp.emitter.call(frame, node, prefix + name, args, keywords, tensor, result)
    return result


def still_sparse(name: str, given: Args, result: Value) -> Value:
    """What comes of sparse tensors alone is sparse, where the facts say so."""
    if not isinstance(result, Tensor) or name not in _KEEP_SPARSE:
        return result
    tensors = [value for value in given if isinstance(value, Tensor)]
    kept = bool(tensors) and all(tensor.flags & SPARSE for tensor in tensors)
    return result.with_(flags=result.flags | SPARSE) if kept else result


_KEEP_SPARSE: Final = frozenset(facts.named("keeps sparse tensors sparse"))


def _reads_values(name: str, result: Value) -> bool:
    """Whether a method needs what a tensor holds: its result is a tensor of its own, or waits for the device."""
    if f"Tensor.{name}" in facts.named("waits for the device"):
        return True
    fresh = isinstance(result, Tensor) and not result.flags & STATIC_OUT
    return fresh and not traits.is_in_place(name) and not name.startswith("new_")


def _read_out(frame: Frame, tensor: Tensor, result: Value) -> Value:
    """Numbers that eager code reads out of a tensor: others each time where it was drawn, all different where it says so."""
    made = tensor.origin.node
    name = made.func.attr if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) else ""
    kind = {"i": "int", "f": "float"}.get(tensor.dtype, "number")
    if name in DISTINCT and isinstance(result, Seq):
        return Seq("list", None, Scalar(kind, "distinct", tensor.origin), "data")
    if isinstance(result, Scalar) and isinstance(made, ast.Call) and name and is_place(made.func):
        func = frame.interp.evaluate_silently(frame, made.func)
        if isinstance(func, External) and not traits.is_steady(func.name) and func.name.startswith("torch."):
            return Scalar(kind, "random", tensor.origin)
    return result


def compare(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """A comparison with a tensor on at least one side: a tensor of bools, unless the other side can be no tensor."""
    tensor, other = (left, right) if isinstance(left, Tensor) else (right, left)
    assert isinstance(tensor, Tensor)
    if isinstance(other, Const) and (other.value is None or isinstance(other.value, str)):
        return FALSE if operator == "Eq" else TRUE
    if isinstance(other, Dict) and operator in ("Eq", "NotEq"):
        return BOOL
    conf = max(tensor.conf, other.conf) if isinstance(other, Tensor) else tensor.conf
    ndim = 0 if tensor.ndim == 0 and not (isinstance(other, Tensor) and other.ndim != 0) else -1
    # In compiled code Inductor makes a mask of constants on the device.
    kept = tensor.flags & (STEADY | ARRAY | (HOST if frame.region is None else 0))
    if isinstance(other, Tensor):
        kept &= other.flags | ARRAY
    result = Tensor(conf, "b", ndim, kept, frame.origin(node))
    if frame.region is not None:
        return result
    told = laid_out(frame, tensor, "eq", [other] if isinstance(other, Tensor) else (), {}, result)
    assert isinstance(told, Tensor)
    return told.with_(exact="bool", flags=kept)


def attribute_of_unknown(name: str) -> Value:
    """An attribute of something unknown: what has a shape has sizes in it."""
    return Seq("size", None, SIZE) if name == "shape" else UNKNOWN


def _names_dimension(name: str, keywords: Keywords) -> bool:
    """Whether a dimension is given by its number, as only methods of tensors take it: `x.sum(dim=1)`, and not `axis=1`."""
    dim = keywords.get("dim")
    parts = dim.items if isinstance(dim, Seq) and dim.items else (dim,)
    numbers = all(isinstance(each, Const) and type(each.value) is int for each in parts)
    return numbers and returns.kind(f"tensor#{name}") is not None


def method_of_unknown(frame: Frame, node: ast.AST, receiver: Value, name: str, args: Args, keywords: Keywords) -> Value:
    """A method of something unknown, which is a tensor where only tensors have such a method."""
    # In compiled code an array is traced like a tensor.
    reduces = frame.region is not None and name in _OF_ARRAYS and returns.kind(f"tensor#{name}") in _TENSORS
    if type(receiver) is not Method and (reduces or name in _OF_TENSORS_ALONE or _names_dimension(name, keywords)):
        return call_method(frame, node, Tensor(USED, "", -1, 0, frame.origin(node)), name, args, keywords)
    sites = frame.interp.compile_sites
    if name == "compile" and not args and frame.region is None and sites.is_of_a_module(frame, node, keywords):
        # Nothing is known of the object, but only a module is compiled in this way.
        sites.compile(frame, node, "torch.nn.Module.compile", [receiver], keywords)
        return NONE
    if name.startswith("named_") and (held := walked(frame, node, name)) is not None:
        return held  # nothing but a module has a method of this name
    result = Scalar("number", "data", frame.origin(node)) if name == "item" else UNKNOWN
    frame.interp.emitter.call(frame, node, "?." + name, args, keywords, receiver, result)
    return result
