"""What is compiled of an object that is known by a base alone: all that may be meant, where these are few."""

from __future__ import annotations

import pytest
from lintkit import Project

HEAD = """
import torch
from torch import nn
from elsewhere import resolve

class Base(nn.Module):
{base}

class One(Base):
    def {name}(self, x):
        print(1)
        return x

class Two(Base):
    def {name}(self, x):
        print(2)
        return x
"""
OPEN = "    def {name}(self, x):\n        raise NotImplementedError"
OWN = "    def {name}(self, x):\n        return x"


def _lines(project: Project, base: str, name: str, text: str) -> list[int]:
    source = HEAD.format(base=base.format(name=name), name=name) + text
    report = project.write({"a.py": source}).lint(assume_compiled="never")
    return [f.line for f in report.findings if f.code == "TCL108"]


@pytest.mark.parametrize(
    ("base", "name", "text", "lines"),
    [
        (OPEN, "forward", "def run(model: Base):\n    torch.compile(model)(torch.ones(2))\n", [11, 16]),
        (OPEN, "forward", "def run(model: Base):\n    model.compile()\n    model(torch.ones(2))\n", [11, 16]),
        (OPEN, "answer", "def run(model: Base):\n    torch.compile(model.answer)(torch.ones(2))\n", [11, 16]),
        # A base that can be meant itself is what it says.
        (OWN, "forward", "def run(model: Base):\n    torch.compile(model)(torch.ones(2))\n", []),
        # So is an object that is built.
        (OPEN, "forward", "torch.compile(One())(torch.ones(2))\n", [11]),
    ],
)
def test_a_base_that_leaves_it_open_stands_for_those_below(
    project: Project, base: str, name: str, text: str, lines: list[int]
) -> None:
    assert _lines(project, base, name, text) == lines


@pytest.mark.parametrize("base", [OPEN, OWN])
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("kind: type[Base] = resolve(input())\ntorch.compile(kind())(torch.ones(2))\n", [11, 16]),
        ("def pick() -> type[Base]:\n    return resolve(input())\ntorch.compile(pick()())(torch.ones(2))\n", [11, 16]),
        ("def run(kind: type[Base]):\n    torch.compile(kind())(torch.ones(2))\n", [11, 16]),
        # What is known needs no promise.
        ("kind: type[Base] = One\ntorch.compile(kind())(torch.ones(2))\n", [11]),
        ("kind: type[nn.Module] = resolve(input())\ntorch.compile(kind())(torch.ones(2))\n", []),
    ],
)
def test_a_class_that_is_promised_to_be_below_a_base_may_be_any(
    project: Project, base: str, text: str, lines: list[int]
) -> None:
    assert _lines(project, base, "forward", text) == lines


def test_of_very_many_classes_nobody_says_which(project: Project) -> None:
    many = "".join(
        f"\nclass More{i}(Base):\n    def forward(self, x):\n        print(x)\n        return x\n" for i in range(40)
    )
    text = many + "\ndef run(model: Base):\n    torch.compile(model)(torch.ones(2))\n"
    assert _lines(project, OPEN, "forward", text) == []
    text = many + "\ndef run(kind: type[Base]):\n    torch.compile(kind())(torch.ones(2))\n"
    assert _lines(project, OPEN, "forward", text) == []
