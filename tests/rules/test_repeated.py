"""What is multiplied by a parameter is no list that is repeated: a parameter is no whole number."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

CODE = """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = SCALE

    def forward(self, *xs):
        return xs * self.scale

model = torch.compile(Scale())
"""


@pytest.mark.parametrize(
    ("scale", "codes"), [("nn.Parameter(torch.tensor(2.0))", []), ("torch.randint(5, ())", ["TCL104"])]
)
def test_a_parameter_repeats_nothing(tmp_path: Path, scale: str, codes: list[str]) -> None:
    Project(tmp_path).write({"a.py": PRELUDE + "from torch import nn\n" + CODE.replace("SCALE", scale)})
    assert [finding.code for finding in lint(cwd=tmp_path).findings if finding.code == "TCL104"] == codes
