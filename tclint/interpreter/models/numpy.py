"""numpy: its arrays are tensors to Dynamo, its functions of plain numbers are folded while tracing."""

from __future__ import annotations

import ast
from typing import Final, TypeGuard

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import arrays, objects
from tclint.interpreter.models.functions import library
from tclint.interpreter.models.measured import measured, ways
from tclint.interpreter.models.results import (
    Args,
    Keywords,
    first_tensor,
    flat,
    literal_dtype,
    numbers_of,
)
from tclint.torch_facts import facts
from tclint.values import (
    ARRAY,
    FLOAT,
    HOST,
    NONE,
    PROVEN,
    RAW,
    STEADY,
    STR,
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
    Value,
)
from tclint.values.value import NUMBER

_NUMPY_FLOAT: Final = facts.methods("computes a float with numpy")
_NUMPY_SCALAR: Final = _NUMPY_FLOAT | facts.methods("computes a number with numpy")


def call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """A numpy call: an array, which Dynamo traces as a tensor, or a plain number for constants."""
    return arrays.told(frame, node, name, args, keywords, _call(frame, node, name, args, keywords, open_ended))


def _call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    origin = frame.origin(node)
    short = name.rpartition(".")[2]
    if short in ("array", "asarray") and args and isinstance(args[0], Seq):
        element = args[0].element()
        asked = keywords.get("dtype")
        texts = element.python_type == "str" or isinstance(element, Const) and isinstance(element.value, bytes)
        if asked is None and texts:
            return Object("numpy.strings", origin)
        if isinstance(asked, External) and asked.name == "builtins.object":
            return Object("numpy.objects", origin)
    if (kind := _of_no_numbers(keywords.get("dtype"))) and name in facts.named("makes an array"):
        return Object(kind, origin)
    if name in facts.named("makes an array"):
        return Tensor(PROVEN, "", -1, ARRAY | HOST, origin)
    if name.startswith("numpy.random."):
        return _draw(frame, measured(frame, name, None, args, keywords, origin), keywords, origin)
    made = measured(frame, name, None, args, keywords, origin)
    if isinstance(made, (Seq, Dict, Object, Const)) or made is STR:
        return made
    tensor = first_tensor(args, keywords)
    if tensor is not None and made is not UNKNOWN:
        return Tensor(
            tensor.conf,
            "b" if isinstance(made, Tensor) and made.dtype == "b" and tensor.flags & ARRAY else "",
            made.ndim if isinstance(made, Tensor) else 0 if made.rank == NUMBER else -1,
            ARRAY | (tensor.flags & HOST),
            origin,
        )
    if short in _NUMPY_SCALAR:
        values = flat(args)
        if made is UNKNOWN and len(args) == 1 and not keywords and not open_ended and _reduces(frame, name):
            made = Tensor(USED, "", 0, ARRAY | HOST, origin)
        size = next((v for v in values if v.source == "size"), None)
        if size is not None:
            floating = short in _NUMPY_FLOAT or any(literal_dtype(v) == "f" for v in values)
            if floating and all(a.rank == NUMBER for a in args):
                # Dynamo computes it while tracing and reads it as a number. An integer it does not read.
                return Scalar("float", "size", origin, size.ref)
            return Tensor(USED, "", 0, ARRAY | HOST, origin)
        if frame.region is None and _single(made):
            # What eager code keeps of it is a number of numpy's. To Dynamo that is an input whose value it knows.
            return made.with_(flags=ARRAY | RAW)
        if _single(made) and args[0].rank != NUMBER and (args[0] is UNKNOWN or values):
            return made  # several numbers are an array, whoever knows them
        if values and all(v.rank == NUMBER for v in values):
            # Numbers alone are folded while tracing.
            if isinstance(made, Tensor) and made.ndim != 0:
                return made
            return Scalar({"i": "int", "b": "bool"}.get(made.dtype, "float")) if isinstance(made, Tensor) else FLOAT
        return UNKNOWN
    if name in facts.named("is a number type of numpy"):
        return Tensor(USED, "", 0, ARRAY | HOST | STEADY, origin)
    return made


def _of_no_numbers(dtype: Value | None) -> str:
    """What an array holds whose `dtype` is written out and is none of numbers: dates, texts, records."""
    if isinstance(dtype, Seq):
        return "numpy.records"
    text = dtype.value if isinstance(dtype, Const) and isinstance(dtype.value, str) else ""
    if text[:2].lower() == "m8" or text.partition("[")[0].endswith(("time64", "delta64")):
        return "numpy.dates"
    return "numpy.strings" if text[:1] in ("U", "S") else "numpy.objects" if text == "O" else ""


def _reduces(frame: Frame, name: str) -> bool:
    """Whether all that a function was given alone, arrays and lists of numbers too, became one number."""
    seen = [form for form in ways(frame, name, None, (UNKNOWN,), {}) if len(form.arguments) == 1]
    arrays = [form for form in seen if form.arguments[0].kind.name in ("list", "ndarray")]
    return bool(arrays) and all(form.result is not None and form.result.name == "scalar" for form in arrays)


def _single(made: Value) -> TypeGuard[Tensor]:
    """Whether a call surely gives one number of numpy's."""
    return isinstance(made, Tensor) and made.ndim == 0


def _draw(frame: Frame, drawn: Value, keywords: Keywords, origin: Origin) -> Value:
    """What a draw gives: an array where a size is asked for. One number is Python's: Dynamo leaves the graph to draw it."""
    if keywords.get("size", NONE) is not NONE:
        return Tensor(USED, "", -1, ARRAY | HOST, origin)
    if frame.region is None and isinstance(drawn, Scalar) and drawn.type in ("int", "float"):
        return Scalar(drawn.type, "random", origin)
    return drawn


def _generator_method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    full = f"{receiver.name}.{name}"
    origin = frame.origin(node)
    result = _draw(frame, measured(frame, full, receiver, args, keywords, origin), keywords, origin)
    result = arrays.told(frame, node, full, args, keywords, result)
    frame.interp.emitter.call(frame, node, full, args, keywords, receiver, result)
    return result


def array_method(frame: Frame, tensor: Tensor, name: str, args: Args, keywords: Keywords, origin: Origin) -> Value:
    """The value of `array.name(…)`."""
    if name == "item":
        return Scalar("number", "data", origin)
    if name == "tolist":
        return numbers_of(tensor, origin)
    result = measured(frame, f"ndarray.{name}", tensor, args, keywords, origin)
    if not isinstance(result, Tensor):
        return result
    made = Tensor(tensor.conf, result.dtype, result.ndim, tensor.flags & (ARRAY | HOST), origin)
    return arrays.told_method(frame, tensor, name, args, keywords, made)


library(["numpy"], call)
objects.register("numpy.random.Generator", "numpy.random.RandomState", method=_generator_method)
