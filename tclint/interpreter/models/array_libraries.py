"""Code that is written for the arrays of any library: `xp = array_namespace(x)` is torch where `x` is a tensor."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords, library
from tclint.torch_facts import array_api
from tclint.values import ARRAY, BOOL, FALSE, NAMED, TRUE, UNKNOWN, External, Scalar, Tensor, Value
from tclint.values.value import NUMBER

_NAMESPACE: Final = frozenset({"array_namespace", "get_namespace"})
_OF_TORCH: Final = frozenset({"is_torch_array", "is_torch_namespace", "is_array_api_obj"})


def call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """A function of the library itself, or one of its module for tensors that torch has as a method."""
    short = name.rpartition(".")[2]
    first = args[0] if args else UNKNOWN
    if short in _NAMESPACE:
        return External(array_api.TORCH) if any(map(_is_tensor, args)) else UNKNOWN
    if short.startswith("is_") and name.count(".") == 1:
        return _asked(first, short)
    if isinstance(first, Tensor) and name.startswith(f"{array_api.TORCH}.") and short in array_api.METHODS:
        return first.call_method(frame, node, array_api.METHODS[short], args[1:], keywords, open_ended)
    if isinstance(first, Tensor) and name.count(".") == 1:
        if short == "device":
            return first.attribute(frame, node, "device")
        if short == "size":
            return Scalar("int", "size", frame.origin(node))
        if short == "to_device":
            return first.call_method(frame, node, "to", args[1:], keywords, open_ended)
    return UNKNOWN


def _is_tensor(value: Value) -> bool:
    """Whether a value is surely a tensor of torch's. Code for arrays of any library writes `np.ndarray` for all of them."""
    return isinstance(value, Tensor) and value.conf > NAMED and not value.flags & ARRAY


def _asked(value: Value, question: str) -> Value:
    """Whose array, or whose module, a value is."""
    if _is_tensor(value) or isinstance(value, External) and value.name == array_api.TORCH:
        return TRUE if question in _OF_TORCH else FALSE
    return FALSE if value.rank == NUMBER and question in _OF_TORCH else BOOL


library(["array_api_compat"], call)
