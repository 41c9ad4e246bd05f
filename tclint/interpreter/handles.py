"""Libraries that set themselves up at their first call: cuBLAS, cuDNN, cuSOLVER, cuFFT. A capture by hand does not allow that."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.torch_facts import facts
from tclint.values import Const, Value

_SETS_UP: Final = facts.named("makes a handle of a library at its first call")
_KNOWN: Final = frozenset({"torch", "Tensor", "str", *sys.stdlib_module_names, *vars(builtins)})
"""Where calls come from of which the facts say all there is to say."""


def use(frame: Frame, node: ast.AST, name: str, given: Iterable[Value] = ()) -> None:
    """Eager code calls something outside the program. What nobody knows may have called any of the libraries, unless it is
    given nothing but constants: a seed, a device, an option."""
    if name in _SETS_UP:
        frame.interp.recordings.use_library(frame, node, name)
    elif name.partition(".")[0] not in _KNOWN and not frame.capturing:
        given = tuple(given)
        if not given or not all(isinstance(value, Const) for value in given):
            frame.interp.recordings.use_library(frame, node, "")
