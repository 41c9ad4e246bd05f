"""The kind of a value in the vocabulary of the facts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tclint.program import Class
from tclint.torch_facts import facts
from tclint.torch_facts.kind import Kind
from tclint.values.class_value import ClassValue
from tclint.values.constant import Const
from tclint.values.dict import Dict
from tclint.values.external import External
from tclint.values.flags import ARRAY, PARAMETER
from tclint.values.function import FunctionValue
from tclint.values.instance import Instance
from tclint.values.object import Object
from tclint.values.scalar import Scalar
from tclint.values.sequence import Seq
from tclint.values.tensor import Tensor
from tclint.values.value import Value

_PLAIN: Final = {name: Kind(name) for name in ("int", "float", "bool", "str", "complex", "bytes", "none", "dict")}
_TEXT_OF_NONE: Final = "none"
_DEQUE: Final = Kind("object", type_name="collections.deque")


def kind_of(value: Value) -> Kind | None:
    """What the facts call such a value; None where that is not known."""
    if isinstance(value, Tensor):
        name = "ndarray" if value.flags & ARRAY else "parameter" if value.flags & PARAMETER else "tensor"
        dtype = value.dtype if value.dtype and name != "ndarray" else None
        return _tensor(name, dtype, value.ndim if value.ndim >= 0 else None)
    if isinstance(value, Const):
        return _PLAIN.get(_TEXT_OF_NONE if value.value is None else type(value.value).__name__)
    if isinstance(value, Scalar):
        return _PLAIN.get(value.type)
    if isinstance(value, Seq):
        if value.kind == "deque":
            return _DEQUE
        inner = kind_of(value.element()) if value.items != () else None
        return Kind(
            facts.KINDS.get(value.kind, value.kind),
            members=(inner,) if inner is not None else (),
            alike=inner is not None,
        )
    if isinstance(value, Dict):
        return Kind("object", type_name=value.kind) if "." in value.kind else _PLAIN["dict"]
    if isinstance(value, Object):
        return Kind("module") if value.name.startswith("torch.nn.") else Kind("object", type_name=value.name)
    if isinstance(value, Instance):
        return Kind("object")
    if isinstance(value, FunctionValue):
        return Kind("function")
    if isinstance(value, ClassValue):
        return Kind("type")
    if isinstance(value, External):
        if value.name.startswith(_FUNCTIONS) and value.name.rpartition(".")[2].islower():
            return Kind("function") if facts.callable_somewhere(value.name) else None
        return Kind("dtype") if value.name in _DTYPES else None
    return None


@functools.cache
def _tensor(name: str, dtype: str | None, rank: int | None) -> Kind:
    # There are a few dozen of them, and one is asked for at every call.
    return Kind(name, dtype, rank)


_FUNCTIONS: Final = ("torch.", "math.", "operator.")
"""Where names in lower case that were seen to be called are functions, not classes."""
_DTYPES: Final = frozenset({"torch.dtype()"})


def kinds_of(
    receiver: Value | None,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    is_module: Callable[[Class], bool] | None = None,
) -> tuple[tuple[Kind | None, ...], dict[str, Kind | None]]:
    """The kinds of the arguments of a call, of a method the receiver first, and of its keywords.

    `is_module` tells which classes of the program are modules.
    """

    def kind(value: Value) -> Kind | None:
        if isinstance(value, Instance) and is_module is not None and is_module(value.cls):
            return Kind("module")
        return kind_of(value)

    positional = args if receiver is None else (receiver, *args)
    return tuple(map(kind, positional)), {name: kind(value) for name, value in keywords.items()}
