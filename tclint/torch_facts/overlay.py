"""What cannot be asked, written by hand: each entry with the releases where it holds and the reason why it is here.

An entry hides what the table says of the same name. A form is written as in the table (see `form`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Entry:
    """Forms of a name by hand."""

    key: str
    forms: tuple[str, ...]
    reason: str
    first: int = 4
    last: int = 99

    def holds(self, release: int) -> bool:
        return self.first <= release <= self.last


_NO_DEVICE: Final = "needs a CUDA device, which the machine that asks has not; "
ENTRIES: Final[tuple[Entry, ...]] = (
    Entry(
        "tensor#cuda",
        ("Tf2>Tf2", "Ti2>Ti2", "Tb2>Tb2"),
        _NO_DEVICE + "a copy to another device keeps dtype and rank and is traced like tensor.to (measured on 2.11 CUDA)",
    ),
    Entry(
        "module#cuda",
        ("module>module",),
        _NO_DEVICE + "returns the module itself, by its documentation",
    ),
    Entry(
        "torch.cuda.current_device",
        (">int",),
        _NO_DEVICE + "returns the index of the device, by its documentation; Dynamo treats it as a constant",
    ),
)


@functools.cache
def _by_key() -> Mapping[str, tuple[Entry, ...]]:
    found: dict[str, tuple[Entry, ...]] = {}
    for item in ENTRIES:
        found[item.key] = (*found.get(item.key, ()), item)
    return found


def names() -> tuple[str, ...]:
    """The keys that have an entry."""
    return tuple(_by_key())


def entry(key: str, release: int) -> Entry | None:
    """The entry of a name that holds on a release."""
    return next((item for item in _by_key().get(key, ()) if item.holds(release)), None)
