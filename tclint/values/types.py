"""Names of types that `isinstance` asks for."""

from __future__ import annotations

from typing import Final

TENSOR_TYPES: Final = frozenset({"torch.Tensor", "torch.LongTensor", "torch.FloatTensor", "torch.BoolTensor"})
PYTHON_TYPES: Final = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.dict", "builtins.str", "builtins.int", "builtins.float"}
    | {"builtins.bool", "builtins.set", "numpy.ndarray", "PIL.Image.Image", "collections.abc.Sequence"}
    | {"collections.abc.Mapping", "numbers.Number", "builtins.bytes", "collections.OrderedDict", "os.PathLike"}
)
SEQUENCE_TYPES: Final = {
    "list": {"builtins.list", "collections.abc.Sequence", "collections.abc.Iterable", "typing.Sequence", "typing.List"},
    "tuple": {"builtins.tuple", "collections.abc.Sequence", "collections.abc.Iterable", "typing.Sequence"},
    "set": {"builtins.set", "collections.abc.Iterable"},
    "frozenset": {"builtins.frozenset", "collections.abc.Iterable"},
    "size": {"builtins.tuple", "torch.Size", "collections.abc.Sequence"},
}
"""By the kind of a sequence: the types it is an instance of."""
