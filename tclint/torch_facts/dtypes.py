"""The dtypes of torch, by name."""

from __future__ import annotations

from typing import Final

_LETTERS: Final = {
    **dict.fromkeys("float16 float32 float64 bfloat16 half float double".split(), "f"),
    **dict.fromkeys("int8 int16 int32 int64 uint8 short int long".split(), "i"),
    **dict.fromkeys("complex64 complex128 cfloat cdouble chalf".split(), "c"),
    "bool": "b",
}


PYTHON: Final = {"bool": "torch.bool", "int": "torch.int64", "float": "torch.float64", "complex": "torch.complex128"}
"""What a Python type stands for where torch asks for a dtype: `dtype=bool`."""
_BUILTINS: Final = {f"builtins.{name}": dtype for name, dtype in PYTHON.items()}


def letter_of(name: str) -> str:
    """`f`, `i`, `b` or `c` for `torch.float16`, the letter of a tensor's elements; "" for what is no dtype."""
    return _LETTERS.get(_BUILTINS.get(name, name).removeprefix("torch."), "")


DTYPES: Final = frozenset(
    f"torch.{name}"
    for name in (
        "float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 uint8 short int long bool complex64 "
        "complex128 cfloat cdouble float8_e4m3fn float8_e5m2"
    ).split()
)

_OTHER_NAMES: Final = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "char": "int8",
    "byte": "uint8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}
"""The names by which one dtype goes, also as methods of tensors and modules."""


def exact(name: str) -> str:
    """`torch.half` -> `float16`; nothing for what is no dtype."""
    name = _BUILTINS.get(name, name)
    if name not in DTYPES:
        return ""
    short = name.removeprefix("torch.")
    return _OTHER_NAMES.get(short, short)


def cast(method: str) -> str:
    """The dtype that a method of tensors gives, by its name: `half` -> `float16`."""
    return _OTHER_NAMES.get(method, method if method in ("bfloat16", "bool") else "")
