"""What numpy gives by the sizes and dtypes it is given."""

from __future__ import annotations

from typing import Final

DTYPES: Final = {
    **{name: name for name in "float16 float32 float64 int8 int16 int32 int64 uint8 complex64 complex128 bool".split()},
    "bool_": "bool",
    **dict.fromkeys(("float", "float_", "double"), "float64"),
    **dict.fromkeys(("int", "int_"), "int64"),
    "single": "float32",
    "half": "float16",
}
PYTHON: Final = {"int": "int64", "float": "float64", "bool": "bool"}
SHAPED: Final = frozenset({"zeros", "ones", "empty", "full"})
DRAWN: Final = {
    **dict.fromkeys(("rand", "randn"), None),
    **dict.fromkeys(("random", "standard_normal", "random_sample"), 0),
    **dict.fromkeys(("poisson", "exponential"), 1),
    **dict.fromkeys(("normal", "uniform", "integers", "randint", "binomial", "beta", "gamma"), 2),
}
"""Draws, and at which place their size is given; None where all arguments are sizes."""
KEEPING: Final = frozenset("copy reshape transpose flatten squeeze repeat clip round max min".split())
"""Methods whose result has the dtype of the array."""
COPIES: Final = frozenset({"array", "asarray", "ascontiguousarray"})
"""Calls that make an array of what they are given."""
