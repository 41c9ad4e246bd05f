"""What is only noted down may be left out of compiled runs; what compiled code reads, and what is more than a note, may not."""

from __future__ import annotations

import textwrap

import pytest

from tclint.fixes import passes
from tclint.run.project import Project as Opened
from tclint.sources import configuration
from tclint.sources.files import InputFile

HEAD = "import random\nimport time\nimport torch\nfrom torch import nn\n\nLOG = []\n"


def offered(body: str) -> bool:
    """Whether a clock that is read in `forward` is left out of compiled runs."""
    source = f"{HEAD}\n{textwrap.dedent(body)}".encode()
    settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides={"no-cache": True})
    file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
    findings = Opened([file], settings, "/nowhere").lint().findings
    clocks = [f for f in findings if f.code == "TCL110"]
    assert clocks
    return all(passes.applicable(f, True) for f in clocks)


def model(forward: str, rest: str = "") -> str:
    lines = textwrap.indent(textwrap.dedent(forward), "        ")
    more = textwrap.indent(textwrap.dedent(rest), "    ")
    return f"class Model(nn.Module):\n    def forward(self, x):\n{lines}\n\n{more}"


@pytest.mark.parametrize(
    ("forward", "rest"),
    [
        ("self.at = time.time()\nreturn x", ""),
        ("LOG.append(time.time())\nreturn x", ""),
        ("began = time.time()\nx = x * 2\nself.took = time.time() - began\nreturn x", ""),
        ("self.at = time.time()\nreturn x", "def report(self):\n    return self.at"),
        ("self.note(time.time())\nreturn x", "def note(self, value):\n    self.at = value"),
        ("self.at = time.time()\nself.late = self.at + 1\nreturn x", ""),
    ],
)
def test_a_note_is_left_out(forward: str, rest: str) -> None:
    assert offered(model(forward, rest))


@pytest.mark.parametrize(
    ("forward", "rest"),
    [
        ("self.at = time.time()\nreturn x * self.at", ""),
        ("self.at = time.time()\nreturn self.scaled(x)", "def scaled(self, x):\n    return x * self.at"),
        ("self.at = time.time()\nself.late = self.at + 1\nreturn x * self.late", ""),
        ("began = time.time()\nreturn x * began", ""),
        ("began = time.time()\nself.took = began\nreturn x * began", ""),
        ("seen = []\nseen.append(time.time())\nreturn x, seen", ""),
        ("self.at = time.time() + random.random()\nreturn x", ""),
        (
            "self.at = self.step(time.time())\nreturn x",
            "def step(self, value):\n    self.count = value\n    return value",
        ),
        ("self.note(time.time())\nreturn x", "def note(self, value):\n    self.at = value\n    return value + self.at"),
        ("self.at = time.time()\nreturn x", "def __getattr__(self, name):\n    return self.at"),
    ],
)
def test_what_is_read_or_does_more_stays(forward: str, rest: str) -> None:
    assert not offered(model(forward, rest))
