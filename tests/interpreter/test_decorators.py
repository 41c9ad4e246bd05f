"""Decorators of the program that keep Dynamo out of what they decorate."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

REBOUND = """
def decorate(func):
    @functools.wraps(func)
    def wrapper(*args):
        print("dispatched")
        return func(*args)
    wrapper = torch.compiler.disable(wrapper)
    return wrapper
"""
RETURNED = """
def decorate(func):
    @functools.wraps(func)
    def wrapper(*args):
        print("dispatched")
        return func(*args)
    return torch.compiler.disable(wrapper)
"""
AN_OP = """
class Op:
    def __init__(self, op, func):
        self.op = op
        self.func = func

    def __call__(self, *args):
        if torch.compiler.is_compiling():
            return self.op(*args)
        return self.func(*args)

def decorate(func):
    op = torch.library.custom_op("mine::f", func, mutates_args=())
    op.register_fake(lambda x: torch.empty_like(x))
    return Op(op, func)
"""
NOTHING = """
def decorate(func):
    torch.compiler.disable(print)
    @functools.wraps(func)
    def wrapper(*args):
        print("dispatched")
        return func(*args)
    return wrapper
"""
USED = """
@decorate
def f(x: torch.Tensor) -> torch.Tensor:
    print("inside")
    return x + 1

@torch.compile
def g(x):
    return f(x) * 2
"""


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [(REBOUND, ["TCL113"]), (RETURNED, ["TCL113"]), (AN_OP, []), (NOTHING, ["TCL108", "TCL108"])],
    ids=["rebound", "returned", "an op", "nothing"],
)
def test_what_a_decorator_hands_to_torch(tmp_path: Path, decorator: str, expected: list[str]) -> None:
    (tmp_path / "a.py").write_text("import functools\n" + PRELUDE + decorator + USED)
    found = lint("a.py", cwd=tmp_path).findings
    assert [f.code for f in found] == expected


GIVEN = """
def under(mode):
    def decorate(func):
        @functools.wraps(func)
        def wrapper(self, *args):
            f = func
            if self.learns:
                f = mode(func)
            return f(self, *args)
        return wrapper
    return decorate

class Model(nn.Module):
    def __init__(self, learns):
        super().__init__()
        self.learns = learns

    def inner(self, x):
        print("inside")
        return x + 1

    @under(torch.enable_grad())
    def forward(self, x):
        self.run = torch.compile(self.inner) if self.learns else self.inner
        return self.run(x)
"""


def test_a_wrapper_knows_what_its_decorator_was_given(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import functools\n" + PRELUDE + GIVEN)
    report = lint("a.py", cwd=tmp_path)
    assert [(site.reaches, site.unresolved) for site in report.sites] == [(1, "")]
    assert [f.code for f in report.findings] == ["TCL108"]


HELPER = """
import torch

def maybe(*args, **kwargs):
    if not hasattr(torch, "compile"):
        return lambda f: f
    return torch.compile(*args, **kwargs)
"""
DECORATED = """
from helper import maybe

@maybe()
def f(x):
    print("inside")
    return x + 1
"""


def test_a_decorator_of_another_file_that_hands_on_all_it_is_given(tmp_path: Path) -> None:
    Project(tmp_path).write({"helper.py": HELPER, "a.py": DECORATED})
    report = lint(cwd=tmp_path)
    assert [(site.path, site.reaches) for site in report.sites if site.reaches] == [("a.py", 1)]
    assert [f.code for f in report.findings] == ["TCL108"]


CLASSES = """
@torch.compile
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("eager")
        return x * 2

@torch.compile
class Called:
    def __call__(self, x):
        print("compiled")
        return x * 2

def main(x):
    return Double.apply(x), Called()(x)
"""


def test_a_class_is_compiled_in_its_call(tmp_path: Path) -> None:
    # Run on torch 2.13: `Double.apply` makes no graph.
    (tmp_path / "a.py").write_text(PRELUDE + CLASSES)
    report = lint("a.py", cwd=tmp_path)
    assert [(site.reaches, site.unresolved[:10]) for site in report.sites] == [(0, "nothing: o"), (1, "")]
    assert [f.code for f in report.findings] == ["TCL108"]


@pytest.mark.parametrize("name", ["torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo"])
def test_every_name_of_the_decorator_keeps_dynamo_out(project: Project, name: str) -> None:
    source = f"""
@{name}
def noted(x):
    print("noted")
    return x

@torch.compile
def run(x):
    return noted(x) + 1
"""
    project.write({"m.py": PRELUDE + source})
    assert [finding.code for finding in project.lint().findings] == ["TCL113"]
