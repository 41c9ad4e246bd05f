"""Kinds of devices, by the names that `torch.device.type` has."""

from __future__ import annotations

from typing import Final

OTHERS: Final = frozenset({"mps", "xpu", "hpu", "npu", "xla", "mtia", "ipu", "vulkan", "meta"})
"""Those that no fact was asked on. What is still on `meta` has nothing to compute with: it is about to be made."""

KNOWN: Final = OTHERS | {
    "cpu",
    "cuda",
    "hip",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "ve",
    "fpga",
    "maia",
    "lazy",
    "privateuseone",
}
"""All that `torch.device` takes; a backend of somebody else registers a name of its own, which then stands for the last of them."""
