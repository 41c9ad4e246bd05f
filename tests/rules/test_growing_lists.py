"""Lists that grow in compiled code: whose they are, and how often."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, lint

PIECES = """
class Pieces:
    def __init__(self):
        self.parts = []

class Base(nn.Module):
    def forward(self, x):
        pieces = self.make()
        return self.spread(pieces, x)

class Spread(Base):
    def __init__(self):
        super().__init__()
        self.fresh = True
        self.names = []
        self.kept = Pieces()

    def make(self):
        return Pieces()

    def name(self):
        for i in range(3):
            self.names.append(i)

    def spread(self, pieces, x):
        if self.fresh:
            self.name()
            self.fresh = False
        self.add({which}, x)
        return x + len(self.names)

    def add(self, pieces, x):
        pieces.parts.append(x)

torch.compile(Spread())(torch.randn(3))
"""


@pytest.mark.parametrize(("which", "expected"), [("pieces", []), ("self.kept", ["`pieces.parts` grows in every call"])])
def test_a_list_of_an_object_that_the_call_makes(tmp_path: Path, which: str, expected: list[str]) -> None:
    (tmp_path / "a.py").write_text(PRELUDE + PIECES.replace("{which}", which))
    found = lint("a.py", cwd=tmp_path).findings
    assert [f.message.partition(";")[0] for f in found if f.code == "TCL202"] == expected
