"""What cannot be handed over at a graph break is told only where every run gets to the break."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, lint

WATCHED = """
def run(function, inputs, parameters, watched):
    {test}
        print("watched")
    return function(*inputs)

class Block(nn.Module):
    def __init__(self, watched=False):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.watched = watched

    def forward(self, x):
        return run(self._forward, (x,), self.parameters(), self.watched)

    def _forward(self, x):
        return self.layer(x).relu()
"""


@pytest.mark.parametrize(("test", "expected"), [("if watched:", ["TCL108"]), ("if True:", ["TCL108", "TCL120"])])
def test_a_break_behind_a_switch(tmp_path: Path, test: str, expected: list[str]) -> None:
    (tmp_path / "a.py").write_text(PRELUDE + WATCHED.format(test=test))
    assert sorted(f.code for f in lint("a.py", cwd=tmp_path).findings) == expected
