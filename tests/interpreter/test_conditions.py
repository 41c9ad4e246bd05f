"""What stands behind a test of which nobody in sight says what it comes to is told with that test."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project

SITE = """

def run(config, x):
    model = torch.compile(Net(config))
    return model(x)
"""

NET = (
    PRELUDE
    + """

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.flag = config.flag
        self.kind = config.kind
        self.limit = config.limit
        self.known = True

    def forward(self, x):
{body}
        return x
"""
    + SITE
)


def told(project: Project, body: str) -> dict[str, tuple[str, ...]]:
    """The conditions of each `print`, by what it prints."""
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    project.write({"net.py": NET.format(body=indented)})
    report = project.lint(select=["TCL108"])
    lines = (project.root / "net.py").read_text().splitlines()
    found = {}
    for finding in report.findings:
        assert finding.assumed is bool(finding.conditions)
        found[lines[finding.line - 1].partition('"')[2][:1]] = tuple(each.text for each in finding.conditions)
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # A setting: each arm hangs on it, and what follows does not.
        (
            'if self.flag:\n    print("a")\nelse:\n    print("b")\nprint("c")',
            {"a": ("`self.flag`",), "b": ("`not self.flag`",), "c": ()},
        ),
        ('if self.kind == "fast":\n    print("a")', {"a": ("`self.kind == 'fast'`",)}),
        ('if self.kind == "fast":\n    x = x + 1\nelse:\n    print("a")', {"a": ("`self.kind != 'fast'`",)}),
        # Behind a way out it is the other arm that is left.
        ('if not self.flag:\n    return x\nprint("a")', {"a": ("`self.flag`",)}),
        # A program that works does not raise.
        ('if self.kind is None:\n    raise ValueError\nprint("a")', {"a": ()}),
        ('assert self.flag\nprint("a")', {"a": ()}),
        # What is known decides, and what each call brings anew is no setting.
        ('if self.known:\n    print("a")', {"a": ()}),
        ('if x.shape[0] > self.limit:\n    print("a")', {"a": ()}),
        ('if self.training:\n    print("a")', {"a": ()}),
        ('for i in range(3):\n    if i != 2:\n        print("a")', {"a": ()}),
        # Parts of conditions.
        (
            'if self.flag and self.kind == "fast":\n    print("a")\nelse:\n    print("b")',
            {"a": ("`self.flag`", "`self.kind == 'fast'`"), "b": ("`not (self.flag and self.kind == 'fast')`",)},
        ),
        ('if self.flag or x.shape[0] > 1:\n    print("a")', {"a": ()}),
        (
            'if self.flag or self.kind == "fast":\n    print("a")',
            {"a": ("`self.flag or self.kind == 'fast'`",)},
        ),
        # Both arms come to it.
        ('if self.flag:\n    y = x + 1\nelse:\n    y = x - 1\nprint("a")', {"a": ()}),
    ],
)
def test_what_a_place_hangs_on(project: Project, body: str, expected: dict[str, tuple[str, ...]]) -> None:
    assert told(project, body) == expected


HELPER = """\
import torch
from torch import nn


def note(x):
    print("noted")
    return x


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.flag = config.flag

    def forward(self, x):
        if self.flag:
            x = note(x)
{rest}
        return x
"""


def test_a_helper_is_called_under_conditions(project: Project) -> None:
    project.write({"net.py": HELPER.format(rest="") + SITE})
    (finding,) = project.lint().findings
    assert [each.text for each in finding.conditions] == ["`self.flag`"]
    assert finding.assumed
    assert finding.ground == 1


def test_a_helper_is_also_called_without(project: Project) -> None:
    """The call that was met first, under a condition, is remembered; the later one is surer."""
    project.write({"net.py": HELPER.format(rest="        x = note(x)") + SITE})
    (finding,) = project.lint().findings
    assert finding.conditions == ()
    assert not finding.assumed


CHOSEN = """\
import torch
from torch import nn


class Loud(nn.Module):
    def forward(self, x):
        print("loud")
        return x


class Quiet(nn.Module):
    def forward(self, x):
        return x


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.inner = Loud() if config.loud else Quiet()
        self.layers = nn.ModuleList([Loud(), Quiet()])

    def forward(self, x):
{body}
"""


def test_one_of_two_classes_is_chosen(project: Project) -> None:
    project.write({"net.py": CHOSEN.format(body="        return self.inner(x)") + SITE})
    (finding,) = project.lint().findings
    assert [each.text for each in finding.conditions] == ["`self.inner` is a `Loud`"]


def test_all_in_a_list_run_in_turn(project: Project) -> None:
    body = "        for layer in self.layers:\n            x = layer(x)\n        return x"
    project.write({"net.py": CHOSEN.format(body=body) + SITE})
    (finding,) = project.lint().findings
    assert finding.conditions == ()


FACTORY = """

def make(kind):
    if kind == "loud":
        return Loud()
    return Quiet()


def run(kind, x):
    model = torch.compile(make(kind))
    return model(x)
"""


def test_a_site_compiles_one_of_two(project: Project) -> None:
    project.write({"net.py": CHOSEN.format(body="        return x") + FACTORY})
    (finding,) = project.lint().findings
    assert [each.text for each in finding.conditions] == ["what is compiled is a `Loud`"]


def test_what_a_parameter_is_by_default(project: Project) -> None:
    source = """\
import torch


@torch.compile
def scale(x, bias=None, weight: torch.Tensor = None):
    if x is not None:
        print("given")
    if bias is not None:
        print("bias")
    return x
"""
    project.write({"net.py": source})
    told = {f.line: [each.text for each in f.conditions] for f in project.lint(select=["TCL108"]).findings}
    assert told[7] == []
    assert told.get(9, ["`bias is not None`"]) == ["`bias is not None`"]


def test_never_leaves_them_out(project: Project) -> None:
    """They stand on a compile site: `--assume-compiled never` is about forwards without one."""
    project.write({"net.py": HELPER.format(rest="") + SITE})
    assert len(project.lint(assume_compiled="never").findings) == 1


def test_one_of_several_constants_in_an_attribute_is_chosen(project: Project) -> None:
    source = (
        PRELUDE
        + """
from enum import Enum


class Kind(Enum):
    TEXT = 1
    IMAGE = 2


class Config:
    def __init__(self, kind: Kind):
        self.kind = kind


@torch.compile
def step(x, config: Config):
    if config.kind == Kind.IMAGE:
        print("image")
    return x


def run(x, name):
    step(x, Config(Kind.IMAGE if name == "image" else Kind.TEXT))
"""
    )
    project.write({"m.py": source})
    (finding,) = project.lint(select=["TCL108"]).findings
    assert [each.text for each in finding.conditions] == ["`config.kind == Kind.IMAGE`"]


def test_one_of_two_loggers_is_chosen(project: Project) -> None:
    source = (
        PRELUDE
        + """

class Silent:
    def debug(self, text):
        pass


log = Silent() if os.getenv("LEVEL") is None else logging.getLogger("m")


@torch.compile
def step(x):
    log.debug("step")
    return x + 1
"""
    )
    project.write({"m.py": source})
    told = project.lint(select=["TCL107"]).findings
    assert [[each.text for each in f.conditions] for f in told] == [["`log` is a `logging.Logger`"]]


def test_what_may_be_none_may_be_left_out_further_down(project: Project) -> None:
    source = (
        PRELUDE
        + """

def weigh(x, weight: torch.Tensor | None):
    if weight is not None:
        print("weighed")
        x = x * weight
    return x


@torch.compile
def loss(x, weight: torch.Tensor | None = None):
    return weigh(x, weight).sum()
"""
    )
    project.write({"m.py": source})
    (finding,) = project.lint(select=["TCL108"]).findings
    assert [each.text for each in finding.conditions] == ["`weight is not None`"]


def test_no_tensor_is_a_dtype(project: Project) -> None:
    source = (
        PRELUDE
        + """

@torch.compile
def widen(x: torch.Tensor):
    if isinstance(x, torch.dtype) and x in (torch.float16, torch.bfloat16):
        return torch.float32
    return x.float()
"""
    )
    project.write({"m.py": source})
    assert project.lint().findings == ()


def test_a_hook_that_some_objects_have_is_not_one_of_all(project: Project) -> None:
    source = (
        PRELUDE
        + """

class Lazy(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        if size < 0:
            self.register_forward_pre_hook(self.fill)

    def fill(self, module, given):
        print("filled")

    def forward(self, x):
        return x * 2


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = Lazy(size)

    def forward(self, x):
        return self.inner(x)


def main(x):
    torch.compile(Net(64))(x)
    Net(-1)(x)
"""
    )
    project.write({"m.py": source})
    assert project.lint(select=["TCL108"]).findings == ()


@pytest.mark.parametrize(("tests", "told"), [(3, True), (4, False)])
def test_what_hangs_on_many_tests_is_told_to_those_who_ask(project: Project, tests: int, told: bool) -> None:
    names = [f"flag_{number}" for number in range(tests)]
    lines = [f"{'    ' * number}if self.config.{name}:" for number, name in enumerate(names)]
    body = "\n".join([*lines, f"{'    ' * tests}print(x)"])
    source = NET.replace("        self.flag = config.flag\n", "        self.config = config\n")
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    project.write({"net.py": source.format(body=indented)})
    assert len(project.lint(select=["TCL108"]).findings) == told
    (finding,) = project.lint(select=["TCL108"], min_confidence="low").findings
    assert len(finding.conditions) == tests


def test_compiled_code_is_given_no_sparse_tensors(project: Project) -> None:
    source = (
        PRELUDE
        + """

@torch.compile
def spread(x: torch.Tensor, adjacency: torch.Tensor):
    if adjacency.layout == torch.sparse_coo:
        print("slow")
    if adjacency.layout == torch.strided:
        print("dense")
    return adjacency @ x
"""
    )
    project.write({"m.py": source})
    (finding,) = project.lint(select=["TCL108"]).findings
    assert finding.line == source[: source.index("dense")].count("\n") + 1
