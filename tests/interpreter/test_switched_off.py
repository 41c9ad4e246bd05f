"""A site that waits for a setting which is off by default and which nobody in sight turns on is told with that setting."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project

CODE = (
    PRELUDE
    + """
from dataclasses import dataclass


@dataclass
class Config:
    compile_it: bool = False
    mode: str | None = None
    width: int = 4


class Net(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
{body}

    def step(self, x):
        print(x.shape)
        return x


def main():
    Net({made})(torch.ones(3))
"""
)


def conditions(project: Project, body: str, made: str = "Config(width=8)", **others: str) -> list[tuple[str, ...]]:
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    files = {f"{name}.py": text for name, text in others.items()}
    project.write({"net.py": CODE.format(body=indented, made=made), **files})
    found = project.lint(select=["TCL108"], assume_compiled="never").findings
    assert all(each.assumed is bool(each.conditions) for each in found)
    return [tuple(condition.text for condition in each.conditions) for each in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if config.compile_it:\n    self.run = torch.compile(self.step)", "`config.compile_it`"),
        ("if not config.compile_it:\n    return\nself.run = torch.compile(self.step)", "`config.compile_it`"),
        ("self.run = torch.compile(self.step) if config.compile_it else self.step", "`config.compile_it`"),
        ("self.run = config.compile_it and torch.compile(self.step)", "`config.compile_it`"),
        ("self.run = torch.compile(self.step, disable=not config.compile_it)", "`config.compile_it`"),
        ("if config.mode is not None:\n    self.run = torch.compile(self.step)", "`config.mode`"),
        (
            'if getattr(config, "quick", False):\n    self.run = torch.compile(self.step)',
            "`getattr(config, 'quick', False)`",
        ),
    ],
)
def test_one_that_is_off_and_stays_off(project: Project, body: str, expected: str) -> None:
    assert conditions(project, body) == [(expected,)]


@pytest.mark.parametrize(
    "body",
    [
        "self.run = torch.compile(self.step)",
        # What is off by default does not keep it from compiling.
        "if not config.compile_it:\n    self.run = torch.compile(self.step)",
        "if config.compile_it or config.width > 2:\n    self.run = torch.compile(self.step)",
        # A program that works does not raise; and the way is the same behind both.
        "if config.compile_it:\n    x = 1\nself.run = torch.compile(self.step)",
    ],
)
def test_what_waits_for_nothing(project: Project, body: str) -> None:
    assert conditions(project, body) == [()]


WAITS = "if config.compile_it:\n    self.run = torch.compile(self.step)"


@pytest.mark.parametrize(
    "turned_on",
    [
        "from net import Config\nconfig = Config(compile_it=True)\n",
        "def quick(config):\n    config.compile_it = True\n",
        'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--compile-it", action="store_true")\n',
        'SETTINGS = {"compile_it": True}\n',
        "def quick(config, fast):\n    config.compile_it = fast\n",
    ],
)
def test_one_that_somebody_may_turn_on(project: Project, turned_on: str) -> None:
    assert conditions(project, WAITS, "Config()", other=turned_on) == [()]


@pytest.mark.parametrize(
    "said",
    [
        "from net import Config\n\n\ndef made(args):\n    return Config(compile_it=args.compile_it)\n",
        "def quick(config, compile_it=False):\n    config.compile_it = compile_it\n",
        'SETTINGS = {"compile_it": False}\n',
        "def same(a, b):\n    return a.compile_it == b.compile_it\n",
    ],
)
def test_what_is_only_handed_on_turns_nothing_on(project: Project, said: str) -> None:
    assert conditions(project, WAITS, "Config()", other=said) == [("`config.compile_it`",)]


def test_what_is_said_of_the_site_itself_hangs_on_it_too(project: Project) -> None:
    body = "try:\n    if config.compile_it:\n        self.run = torch.compile(self.step)\nexcept Exception:\n    self.run = self.step"
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    project.write({"net.py": CODE.format(body=indented, made="Config()")})
    (finding,) = project.lint(select=["TCL407"]).findings
    assert [each.text for each in finding.conditions] == ["`config.compile_it`"]
    assert finding.assumed
    assert finding.ground == 1
