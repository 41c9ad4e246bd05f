"""Flags of a function that is only assumed to be compiled."""

from __future__ import annotations

from lintkit import Project

CHECKED = """\
import torch
from torch import nn


class Checked(nn.Module):
    def forward(self, x, check=False, *, closed=True):
        if check and (x < 0).any():
            raise ValueError
        if not closed and (x > 1).any():
            raise ValueError
        return x.exp()
"""


def lines(project: Project) -> list[int]:
    return [finding.line for finding in project.lint().findings]


def test_what_nobody_sets_keeps_its_default(project: Project) -> None:
    project.write({"m.py": CHECKED})
    assert lines(project) == []


def test_another_file_sets_one(project: Project) -> None:
    project.write({"m.py": CHECKED, "use.py": "from m import Checked\n\nChecked()(1, check = True)\n"})
    assert lines(project) == [7]
    project.write({"use.py": "from m import Checked\n\n\ndef run(x, strict):\n    Checked()(x, closed=strict)\n"})
    assert lines(project) == [9]


def test_the_default_said_again_sets_nothing(project: Project) -> None:
    project.write({"m.py": CHECKED, "use.py": "from m import Checked\n\nChecked()(1, check=False, closed=True)\n"})
    assert lines(project) == []


def test_a_comparison_or_another_name_sets_nothing(project: Project) -> None:
    project.write(
        {"m.py": CHECKED, "use.py": "def run(check, x):\n    x.check = check == True\n    x.recheck = True\n"}
    )
    assert lines(project) == []
