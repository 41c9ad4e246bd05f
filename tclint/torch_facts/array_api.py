"""The array API as `array_api_compat` speaks it for tensors: a module whose functions are torch's, some by another name.

By hand: compared with array_api_compat 1.13, whose functions torch 2.13 traces to the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TORCH: Final = "array_api_compat.torch"
"""The module that stands for torch."""

_SPELLED: Final[Mapping[str, str]] = {
    "bitwise_invert": "bitwise_not",
    "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum",
    "expand_dims": "unsqueeze",
    "max": "amax",  # of the array API: the values alone, whatever the axis
    "min": "amin",
    "permute_dims": "permute",
    "repeat": "repeat_interleave",
    "sort": "msort",  # the values alone
    "take": "take_along_dim",  # as many axes as before
    "take_along_axis": "take_along_dim",
    "unique_values": "unique",
    "unstack": "unbind",
}
METHODS: Final[Mapping[str, str]] = {"astype": "to", "matrix_transpose": "adjoint"}
"""What is no function of torch, and which method does the same."""


def torch_name(dotted: str) -> str | None:
    """torch's own name for what the module hands out, None where that is no name of the module's."""
    if not dotted.startswith(f"{TORCH}."):
        return None
    name = dotted.removeprefix(f"{TORCH}.")
    return None if name in METHODS else f"torch.{_SPELLED.get(name, name)}"
