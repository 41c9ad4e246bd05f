"""A factory that may build any of many models: each that it builds is compiled, and none that says by itself that it is not."""

from __future__ import annotations

import pytest
from lintkit import Project

NET = """
class Net{i}(Base):
    def forward(self, x):
        print({i})
        return x + {i}
"""
HEAD = """
import torch
from torch import nn

class Base(nn.Module):
    pass
"""


def _factory(many: int) -> str:
    arms = "".join(f"    if name == {f'net{i}'!r}:\n        return Net{i}()\n" for i in range(many))
    nets = "".join(NET.format(i=i) for i in range(many))
    return f"{HEAD}{nets}\ndef make(name):\n{arms}    raise ValueError(name)\n"


@pytest.mark.parametrize(("many", "entered"), [(7, 7), (12, 12), (32, 32)])
def test_all_that_a_factory_may_build_is_compiled(project: Project, many: int, entered: int) -> None:
    main = "import torch\nfrom nets import make\nnet = torch.compile(make(input()))\nnet(torch.ones(2))\n"
    report = project.write({"nets.py": _factory(many), "main.py": main}).lint(assume_compiled="never")
    assert len([f for f in report.findings if f.code == "TCL108"]) == entered


def test_numbers_of_which_there_are_many_are_no_alternatives(project: Project) -> None:
    arms = "".join(f"    if name == {i}:\n        return [{i}]\n" for i in range(12))
    source = f"{HEAD}\ndef many(name):\n{arms}\n@torch.compile\ndef f(x, name):\n    return x * len(many(name))\n"
    assert project.write({"a.py": source}).lint().findings == ()


DECLARING = """
import torch
from torch import nn

class Base(nn.Module):
    compiles: bool = False
    {more}

    def speed_up(self):
        if not getattr(self, "compiles", False):
            return
        self.model.compile()

class One(nn.Module):
    def forward(self, x):
        print(1)
        return x

class Two(nn.Module):
    def forward(self, x):
        print(2)
        return x

class First(Base):
    compiles = True

    def __init__(self):
        super().__init__()
        self.model = One()

class Second(Base):
    def __init__(self):
        super().__init__()
        self.model = Two()

def make(kind):
    return First() if kind == "one" else Second()

policy = make(input())
policy.speed_up()
{after}
"""


@pytest.mark.parametrize(
    ("more", "after", "lines"),
    [
        ("", "", [15]),
        # Somebody throws it: then it is a switch.
        ("def switch(self, on):\n        self.compiles = on", "", [16, 21]),
    ],
)
def test_a_class_that_declares_of_itself_that_it_is_not_compiled_is_not(
    project: Project, more: str, after: str, lines: list[int]
) -> None:
    source = DECLARING.format(more=more, after=after)
    report = project.write({"a.py": source}).lint(assume_compiled="never")
    assert [f.line for f in report.findings if f.code == "TCL108"] == lines


def test_an_object_of_any_class_below_may_have_declared_another(project: Project) -> None:
    source = """
        import torch
        from torch import nn

        class Inner(nn.Module):
            def forward(self, x):
                print(x)
                return x

        class Base(nn.Module):
            compiles = False
            model: Inner

            def speed_up(self):
                if self.compiles:
                    self.model.compile()

        class First(Base):
            compiles = True

            def __init__(self):
                super().__init__()
                self.model = Inner()

        def prepare(base: Base):
            base.speed_up()
    """
    report = project.write({"a.py": source}).lint(assume_compiled="never")
    assert [f.line for f in report.findings if f.code == "TCL108"] == [6]
