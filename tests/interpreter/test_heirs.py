"""What a class compiles of itself for the classes below it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

BASE = """
from abc import abstractmethod

class Base(nn.Module):
{forward}
    def speed_up(self):
        self.compile()
"""
BELOW = """
from lib import Base

class One(Base):
    def forward(self, x):
        return x + 1

class Two(Base):
    def forward(self, x):
        return x + 2

class Still(Base):
    pass

class Other(Base):
    def speed_up(self):
        pass

    def forward(self, x):
        return x + 3
"""
BUILT = """
from below import One

def build():
    return One()
"""
RAISES = "    def forward(self, x):\n        '''Below.'''\n        raise NotImplementedError(x)\n"
MARKED = "    @abstractmethod\n    def forward(self, x):\n        return self.part(x)\n"
OWN = "    def forward(self, x):\n        return x\n"


@pytest.mark.parametrize(
    ("forward", "built", "count"),
    [("", "", 2), (RAISES, "", 2), (MARKED, "", 2), (OWN, "", 1), (OWN, BUILT, 2)],
    ids=["none", "raises", "marked", "own", "own, one built"],
)
def test_classes_below(tmp_path: Path, forward: str, built: str, count: int) -> None:
    sources = {"lib.py": BASE.format(forward=forward), "below.py": BELOW, "main.py": built}
    Project(tmp_path).write({name: PRELUDE + text for name, text in sources.items()})
    report = lint(cwd=tmp_path)
    assert [(site.path, site.reaches) for site in report.sites] == [("lib.py", count)]
    assert not report.assumed
