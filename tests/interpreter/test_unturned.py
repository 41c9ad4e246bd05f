"""Which attributes a file puts something into that nobody can read off one assignment."""

from __future__ import annotations

import pytest

from tclint.interpreter.expressions import unturned


@pytest.mark.parametrize(
    ("written", "names"),
    [
        (b"self.low, self.high = bounds\n", [b"low", b"high"]),
        (b"    (self.low, rest) = bounds\n", [b"low"]),
        (b"[self.low, self.high] = bounds\n", [b"low", b"high"]),
        (b"first, *self.rest = bounds\n", [b"rest"]),
        (b"(\n    self.low,\n    self.high,\n) = bounds\n", [b"low", b"high"]),
        (b"for self.step, batch in enumerate(batches):\n", [b"step"]),
        (b"run(self.low, x)\n", []),
        (b"run(self.low, x, key=1)\n", []),
        (b"run(\n    self.low,\n    x,\n)\n", []),
        (b"return self.low, self.high\n", []),
        (b"low, high = self.low, self.high\n", []),
        (b"low, high == self.bounds\n", []),
    ],
)
def test_what_is_unpacked_into_attributes(written: bytes, names: list[bytes]) -> None:
    assert [*unturned._unpacked(written)] == names
