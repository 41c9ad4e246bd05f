"""What a class compiles of itself for the classes below it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

from tclint.interpreter import heirs
from tclint.program import Program

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


ASKED = """
class Base(nn.Module):
    def __init__(self, *, fast: bool = False):
        super().__init__()
        self.run = self.maybe_compile(self.plain, wanted=fast)

    def maybe_compile(self, step, *, wanted=True):
        if not wanted:
            return step
        return torch.compile(step)

    def plain(self, x):
        raise NotImplementedError

    def forward(self, x):
        return self.run(x)
"""
ASKING = """
from lib import Base

class Slow(Base):
    def __init__(self):
        super().__init__()

    def plain(self, x):
        print(x)
        return x + 1
"""


def test_whether_something_is_compiled_is_said_by_each_class_below(tmp_path: Path) -> None:
    """Behind `if not wanted: return step` the base says nothing of classes that do not want it."""
    Project(tmp_path).write({"lib.py": PRELUDE + ASKED, "below.py": PRELUDE + ASKING})
    report = lint(cwd=tmp_path)
    assert [f.code for f in report.findings if not f.assumed] == []


COMPILED = """
class Agent:
    def __init__(self, config):
        self.config = config
        self.net = nn.Linear(4, 4)
        self.setup()

    def setup(self):
        if self.config.compile:
            self.update = torch.compile(self.update)

    def update(self, x):
        return self.net(x)
"""
OWNED = """
from lib import Agent

class Critic(Agent):
    def __init__(self, config):
        self.config = config
        self.setup()

    def setup(self):
        super().setup()
        if self.config.compile:
            self.act = torch.compile(self.act)

    def update(self, x):
        print(x)
        return self.net(x) + 1

    def act(self, x):
        return x
"""
ALIKE = """
from lib import Agent

class Actor(Agent):
    def update(self, x):
        print(x)
        return self.net(x) + 2
"""


@pytest.mark.parametrize(("built", "count"), [("", 1), ("Actor(config)", 2)], ids=["none", "one"])
def test_a_method_that_a_class_below_has_is_what_is_compiled_of_it(tmp_path: Path, built: str, count: int) -> None:
    """A set-up of its own calls that of the base; who has all from the base counts where somebody builds it."""
    main = f"from alike import Actor\nconfig = {{}}\nagent = {built or None}\n"
    sources = {"lib.py": COMPILED, "owned.py": OWNED, "alike.py": ALIKE, "main.py": main}
    Project(tmp_path).write({name: PRELUDE + text for name, text in sources.items()})
    found = [f for f in lint(cwd=tmp_path).findings if f.code == "TCL108" and not f.assumed]
    assert len(found) == count


def test_which_classes_name_one_among_their_bases() -> None:
    text = (
        b"class One(Base): ...\nclass Two(lib.Base[int], Other): ...\nclass Three(\n    Other,\n    Base,\n): ...\n"
        b"class Base: ...\nclass Four(BaseOf, metaclass=Base): ...\ndef f(Base): ...\n"
    )
    program = Program.build([("a.py", "/p/a.py", text, True), ("b.py", "/p/b.py", b"Base = 1\n", True)])
    assert program.answers(heirs._naming, "Base") == {"a.py": ("One", "Two", "Three", "Four")}
    assert program.answers(heirs._naming, "Other") == {"a.py": ("Two", "Three")}
    assert program.answers(heirs._naming, "Nobody") == {}
