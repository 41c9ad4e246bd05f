"""Kinds of devices, by the names that `torch.device.type` has."""

from __future__ import annotations

from typing import Final

OTHERS: Final = frozenset({"mps", "xpu", "hpu", "npu", "xla", "mtia", "ipu", "vulkan"})
"""Those that no fact was asked on."""
