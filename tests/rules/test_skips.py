"""Layer drop and its like: what has an old value is selected, what has none keeps its branch. The fixture TCL101/fix/unsafe_skipped has the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.api import lint

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, hidden: torch.Tensor):
        seen, last = (), None
        for layer in self.layers:
            if torch.rand([]) < 0.1:
                continue
            {body}
        return hidden, seen, last
"""


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("hidden = layer(hidden)", "compute it always, and select"),
        ("hidden = layer(hidden); seen += (hidden,)", ""),
        ("hidden += layer(hidden)", ""),
        ("self.last = layer(hidden)", ""),
        ("last = layer(hidden)", ""),
        ("hidden = layer(hidden).to(self.devices.pop())", ""),
        ("print(layer(hidden))", ""),
    ],
)
def test_what_has_an_old_value_is_selected(body: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM.replace("{body}", body.replace("; ", "\n            ")))
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True, select=["TCL101"])
    (finding,) = report.findings
    assert (finding.fix.title if finding.fix else "") == title


def test_what_python_asks_first_must_not_change_in_between(tmp_path: Path) -> None:
    program = PROGRAM.replace("torch.rand([]) < 0.1", "{when} and torch.rand([]) < 0.1")
    program = program.replace("{body}", "hidden = layer(hidden)")
    for when, fixed in (("self.training", True), ("hidden is not None", False), ("self.drops()", False)):
        (tmp_path / "m.py").write_text(program.replace("{when}", when))
        report = lint(["m.py"], cwd=str(tmp_path), isolated=True, select=["TCL101"])
        (finding,) = report.findings
        assert (finding.fix is not None) == fixed, when
