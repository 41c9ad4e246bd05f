"""The dtypes of torch, by name."""

from __future__ import annotations

from typing import Final

_LETTERS: Final = {
    **dict.fromkeys("float16 float32 float64 bfloat16 half float double".split(), "f"),
    **dict.fromkeys("int8 int16 int32 int64 uint8 short int long".split(), "i"),
    **dict.fromkeys("complex64 complex128 cfloat cdouble chalf".split(), "c"),
    "bool": "b",
}


def letter_of(name: str) -> str:
    """`f`, `i`, `b` or `c` for `torch.float16`, the letter of a tensor's elements; "" for what is no dtype."""
    return _LETTERS.get(name.removeprefix("torch."), "")


DTYPES: Final = frozenset(
    f"torch.{name}"
    for name in (
        "float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 uint8 short int long bool complex64 "
        "complex128 cfloat cdouble float8_e4m3fn float8_e5m2"
    ).split()
)
