"""What came of two runs, held side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

_TOLERANCE: dict[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-7, 1e-7),
    torch.complex128: (1e-7, 1e-7),
    torch.float32: (1e-5, 1e-5),
    torch.complex64: (1e-5, 1e-5),
    torch.float16: (1e-3, 1e-3),
    torch.bfloat16: (1.6e-2, 1e-3),
}
"""Relative and absolute, by dtype."""


@dataclass(frozen=True)
class Values:
    """What came of a course, as plain lists, dicts, numbers and tensors on the host."""

    outputs: list[Any] = field(default_factory=list)
    arguments: list[Any] = field(default_factory=list)
    buffers: dict[str, Any] = field(default_factory=dict)
    gradients: dict[str, Any] = field(default_factory=dict)


class Compared:
    """Counts what was compared, and keeps the first thing that is not equal."""

    def __init__(self) -> None:
        self.tensors = 0
        self.numbers = 0
        self.gradients = 0
        self.worst = 0.0
        self.differs = ""
        self.notes: list[str] = []

    def all(self, old: Values, new: Values, where: str = "") -> None:
        self._same(old.outputs, new.outputs, "output", where)
        self._same(old.arguments, new.arguments, "argument", where)
        # A fix may add a buffer; what was there must be as it was.
        self._same(old.buffers, {k: v for k, v in new.buffers.items() if k in old.buffers}, "buffer", where)
        before = self.tensors
        self._same(old.gradients, {k: v for k, v in new.gradients.items() if k in old.gradients}, "gradient", where)
        self.gradients += self.tensors - before
        self.tensors = before

    def _same(self, old: Any, new: Any, at: str, where: str) -> None:
        if self.differs:
            return
        if isinstance(old, (list, dict)) and type(old) is type(new):
            self._nested(old, new, at, where)
        elif isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
            self._tensor(old, new, at, where)
        elif _is_number(old) and isinstance(new, torch.Tensor) and new.dim() == 0:
            self._note("a number is a 0-d tensor now")
            self._number(old, new.item(), at, where)
        elif _is_number(old) and _is_number(new):
            self._number(old, new, at, where)
        elif type(old) is not type(new) or old != new:
            self.differs = f"{at} is {_told(new)}, was {_told(old)}{where}"

    def _nested(self, old: Any, new: Any, at: str, where: str) -> None:
        keys = list(range(max(len(old), len(new)))) if isinstance(old, list) else list(dict.fromkeys([*old, *new]))
        for key in keys:
            if (isinstance(old, list) and key >= min(len(old), len(new))) or (
                isinstance(old, dict) and not (key in old and key in new)
            ):
                self.differs = f"{at} has {len(new)} parts, had {len(old)}{where}"
                return
            self._same(old[key], new[key], f"{at}[{key!r}]", where)

    def _tensor(self, old: torch.Tensor, new: torch.Tensor, at: str, where: str) -> None:
        if old.shape != new.shape or old.dtype != new.dtype:
            now, was = (f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for t in (new, old))
            self.differs = f"{at} is {now}, was {was}{where}"
            return
        self.tensors += 1
        if old.numel() == 0 or old.is_meta:
            return
        if not (old.is_floating_point() or old.is_complex()):
            if not torch.equal(old, new):
                self.differs = f"{at} differs in {int((old != new).sum())} of {old.numel()} elements{where}"
            return
        relative, absolute = _TOLERANCE.get(old.dtype, (1e-1, 1e-1))
        left, right = (t.to(torch.complex128 if t.is_complex() else torch.float64) for t in (old, new))
        gap = (left - right).abs()
        largest = float(gap[gap.isfinite()].max()) if bool(gap.isfinite().any()) else 0.0
        self.worst = max(self.worst, largest)
        if not torch.allclose(left, right, rtol=relative, atol=absolute, equal_nan=True):
            odd = bool((left.isfinite() != right.isfinite()).any())
            words = "is finite in one and not in the other" if odd else f"differs by up to {largest:.3g}"
            self.differs = f"{at} {words}{where}"

    def _number(self, old: Any, new: Any, at: str, where: str) -> None:
        self.numbers += 1
        if old == new or (old != old and new != new):
            return
        if not abs(old - new) <= 1e-5 * max(1.0, abs(old)):
            self.differs = f"{at} is {new!r}, was {old!r}{where}"

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex))


def _told(value: Any) -> str:
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)[:60]
