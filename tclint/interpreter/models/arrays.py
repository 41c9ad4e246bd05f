"""Arrays that eager code makes with numpy: their sizes and dtypes, which become those of tensors."""

from __future__ import annotations

import ast
from typing import Any

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.factories import counted, nested_sizes
from tclint.interpreter.models.laid_out import plain
from tclint.interpreter.models.results import Args, Keywords
from tclint.torch_facts import layouts, ndarrays
from tclint.torch_facts.layouts import Layout
from tclint.values import ARRAY, HOST, RAW, USED, Const, External, Seq, Tensor, Value


def told(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, result: Value) -> Value:
    """What a call of numpy gives, with its sizes and its dtype where they follow from the arguments."""
    short = name.rpartition(".")[2]
    sizes = _sizes(short, args, keywords) if frame.region is None else None
    if sizes is None:
        return result
    if short in ndarrays.DRAWN:
        result = Tensor(USED, "", len(sizes), ARRAY | HOST, frame.origin(node))
    if not isinstance(result, Tensor) or result.flags & (ARRAY | RAW) != ARRAY:
        return result
    return result.with_(shape=sizes, exact=_dtype(short, args, keywords))


def told_method(frame: Frame, array: Tensor, name: str, args: Args, keywords: Keywords, result: Value) -> Value:
    """The same for a method of an array."""
    if frame.region is not None or not isinstance(result, Tensor) or not isinstance(array.shape, tuple):
        return result
    layout = Layout(array.shape, array.strides)
    if name == "astype":
        return result.with_(shape=array.shape, exact=_asked(keywords.get("dtype", args[0] if args else None)))
    named = {("dim" if key == "axis" else key): plain(value) for key, value in keywords.items()}
    found = layouts.of_method(name, layout, [plain(value) for value in args], named)
    exact = array.exact if name in ndarrays.KEEPING else ""
    return result.with_(shape=found.sizes, strides=found.strides, exact=exact) if found is not None else result


def _sizes(short: str, args: Args, keywords: Keywords) -> tuple[int | None, ...] | None:
    if short in ndarrays.SHAPED:
        return _as_sizes(args[0] if args else keywords.get("shape"))
    if short in ndarrays.DRAWN:
        at = ndarrays.DRAWN[short]
        if at is None:
            return _as_sizes(Seq("tuple", tuple(args))) if args else None
        return _as_sizes(keywords.get("size", args[at] if len(args) > at else None))
    if short == "arange":
        return counted(args)
    if short == "linspace":
        return _as_sizes(keywords.get("num", args[2] if len(args) > 2 else Const(50)))
    if short in ndarrays.COPIES and args:
        return nested_sizes(args[0])
    if short.endswith("_like") and args and isinstance(args[0], Tensor):
        return args[0].shape if isinstance(args[0].shape, tuple) else None
    if short in ("stack", "concatenate") and args:
        parts = args[0].items if isinstance(args[0], Seq) else None
        known = [
            Layout(part.shape) for part in parts or () if isinstance(part, Tensor) and isinstance(part.shape, tuple)
        ]
        axis = plain(keywords.get("axis", args[1] if len(args) > 1 else Const(0)))
        layout = layouts.joined(known, axis, short == "stack") if parts and len(known) == len(parts) else None
        return layout.sizes if layout is not None else None
    return None


def _as_sizes(value: Value | None) -> tuple[int | None, ...] | None:
    sizes: Any = plain(value) if value is not None else None
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    return sizes if sizes and all(type(each) is int for each in sizes) else None


def _dtype(short: str, args: Args, keywords: Keywords) -> str:
    if "dtype" in keywords:
        return _asked(keywords["dtype"])
    if short in ("integers", "randint") or (short == "arange" and all(a.python_type == "int" for a in args)):
        return "int64"
    if short in ("array", "asarray", "full", "stack", "concatenate") or short.endswith("_like"):
        first: Value | None = args[1] if short == "full" and len(args) > 1 else args[0]
        while isinstance(first, Seq):
            first = first.items[0] if first.items else None
        if isinstance(first, Tensor):
            return first.exact
        return ndarrays.PYTHON.get(first.python_type, "") if first is not None else ""
    return "float64"


def _asked(dtype: Value | None) -> str:
    """The dtype that is asked for: `np.float32`, `"float32"`, `float`."""
    if isinstance(dtype, External):
        return ndarrays.DTYPES.get(dtype.name.rpartition(".")[2], "")
    return ndarrays.DTYPES.get(dtype.value, "") if isinstance(dtype, Const) and isinstance(dtype.value, str) else ""
