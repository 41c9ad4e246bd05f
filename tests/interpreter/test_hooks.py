"""Hooks that constructors register, wherever it is found out what they give."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

PARTS = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.fc.register_forward_hook(self.told)
        self.register_forward_pre_hook(self.told_before)

    def told(self, module, given, result):
        print(result)

    def told_before(self, module, given):
        print(given)

    def forward(self, x):
        return self.fc(x)
"""
WHOLE = """
from parts import Part

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x) + 1
"""
COMPILED = """
from whole import Whole

def main(x):
    return torch.compile(Whole())(x)
"""


@pytest.mark.parametrize("main", ["", COMPILED], ids=["assumed", "compiled"])
def test_hooks_of_constructors(tmp_path: Path, main: str) -> None:
    sources = {"parts.py": PARTS, "whole.py": WHOLE, "main.py": main}
    Project(tmp_path).write({name: PRELUDE + text for name, text in sources.items()})
    found = lint(cwd=tmp_path).findings
    assert [(f.code, f.path, f.assumed) for f in found] == [("TCL108", "parts.py", not main)] * 2


def test_a_class_that_is_entered_by_itself(tmp_path: Path) -> None:
    Project(tmp_path).write({"parts.py": PRELUDE + PARTS})
    assert [f.code for f in lint(cwd=tmp_path).findings] == ["TCL108", "TCL108"]
