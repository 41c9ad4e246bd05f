"""The dtypes of torch, by name."""

from __future__ import annotations

from typing import Final

DTYPES: Final = frozenset(
    f"torch.{name}"
    for name in (
        "float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 uint8 short int long bool complex64 "
        "complex128 cfloat cdouble float8_e4m3fn float8_e5m2"
    ).split()
)
