"""Names of types that `isinstance` asks for."""

from __future__ import annotations

from typing import Final

from tclint.torch_facts import facts

TENSOR_TYPES: Final = frozenset({"torch.Tensor", "torch.LongTensor", "torch.FloatTensor", "torch.BoolTensor"})
PYTHON_TYPES: Final = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.dict", "builtins.str", "builtins.int", "builtins.float"}
    | {"builtins.bool", "builtins.set", "numpy.ndarray", "PIL.Image.Image", "collections.abc.Sequence"}
    | {"collections.abc.Mapping", "numbers.Number", "builtins.bytes", "collections.OrderedDict", "os.PathLike"}
)
_OTHERS: Final = frozenset(facts.named("is no type of tensors"))
_ABSTRACT: Final = {
    "numbers.Number": {"int", "float", "bool", "number"},
    "numbers.Complex": {"int", "float", "bool", "number"},
    "numbers.Real": {"int", "float", "bool"},
    "numbers.Rational": {"int", "bool"},
    "numbers.Integral": {"int", "bool"},
    "collections.abc.Sequence": {"str"},
}
"""By an abstract type, which of Python's own are of it."""


def is_of(kind: str, wanted: str) -> bool | None:
    """Whether a number or a text of this type is an instance of a type by its dotted name, where that is known."""
    if wanted == f"builtins.{kind}" or kind in _ABSTRACT.get(wanted, ()) or (kind, wanted) == ("bool", "builtins.int"):
        return True
    return False if wanted in PYTHON_TYPES or wanted in _ABSTRACT or wanted in TENSOR_TYPES else None


def is_python(wanted: str) -> bool:
    """Whether no tensor is an instance of a type."""
    return wanted in PYTHON_TYPES or wanted in _ABSTRACT or wanted in _OTHERS


SEQUENCE_TYPES: Final = {
    "list": {"builtins.list", "collections.abc.Sequence", "collections.abc.Iterable", "typing.Sequence", "typing.List"},
    "tuple": {"builtins.tuple", "collections.abc.Sequence", "collections.abc.Iterable", "typing.Sequence"},
    "set": {"builtins.set", "collections.abc.Iterable"},
    "frozenset": {"builtins.frozenset", "collections.abc.Iterable"},
    "size": {"builtins.tuple", "torch.Size", "collections.abc.Sequence"},
}
"""By the kind of a sequence: the types it is an instance of."""
