"""Programs that lead back to themselves: they cost at most themselves, and the file beside them keeps its findings."""

from __future__ import annotations

import pytest
from lintkit import Project, within

from tclint.interpreter.classes import Classes
from tclint.program import Class

HEALTHY = """
import torch
from torch import nn

class Good(nn.Module):
    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            return x
        return -x
"""
HEAD = "import torch\nfrom torch import nn\n"
FORWARD = """
    def forward(self, x: torch.Tensor):
        n = len([1])
        if x.sum() > n:  # here
            return x
        return -x
"""
NET = "class Net(nn.Module):" + FORWARD

SHAPES: dict[str, dict[str, str]] = {
    "a base that is an attribute of the class": {"a": "class Net(Net.Module):" + FORWARD},
    "a base that is an object of the class": {"a": "class Net(Net(), nn.Module):" + FORWARD},
    "a class called like the import it inherits from": {"a": "from lib import Net\nclass Net(Net.Base):" + FORWARD},
    "the same, with the import in sight": {
        "a": "from lib import Net\nclass Net(Net.Base):" + FORWARD,
        "lib": "class Net(nn.Module):\n    class Base(nn.Module): ...\n",
    },
    "bases that are attributes of each other": {"a": "class Net(B.X):" + FORWARD + "class B(Net.X): ...\n"},
    "a base that is an inner class of the child": {"a": "class Net(B.Inner):" + FORWARD + "class B(Net): ...\n"},
    "a base that needs an object of the class": {
        "a": "class Net(Net().base):\n    def __init__(self):\n        self.base = Net().base\n" + FORWARD
    },
    "a default that calls its function": {
        "a": "def f(x): return x\ndef f(x, y=f(1)): return x\n" + NET.replace("len([1])", "f(1)")
    },
    "defaults that call each other": {
        "a": "def g(a=h()): return a\ndef h(a=g()): return a\n" + NET.replace("len([1])", "g()")
    },
    "a constructor whose default builds the class": {
        "a": "class Net(nn.Module):\n    def __init__(self, other=Net()):\n        self.other = other\n" + FORWARD
    },
    "decorators of themselves": {"a": "@f\ndef f(g): return g\n@f(f)\ndef h(x=h()): return h(x)\n" + NET},
    "a property that reads itself": {
        "a": NET.replace("len([1])", "self.n") + "    @property\n    def n(self): return self.n\n"
    },
    "special methods that call themselves": {
        "a": NET.replace("len([1])", "len(self) + self[0] + sum(self)")
        + "    def __len__(self): return len(self)\n"
        + "    def __getitem__(self, i): return self[i]\n"
        + "    def __iter__(self): return iter(self)\n"
    },
    "names that are each other": {"a": "T = T\nU = V\nV = U\nW = list[W]\n" + NET.replace("x:", "u: U, w: W, x:")},
    "imports from itself": {"a": "from a import q\nfrom a import r as s\nfrom a import s as r\n" + NET},
    "stars of each other": {"a": "from b import *\n" + NET, "b": "from a import *\n" + NET},
    "stars of each other, with a base nobody has": {
        "a": "from b import *\nclass Net(Missing):" + FORWARD,
        "b": "from a import *\nclass Net(Missing):" + FORWARD,
    },
    "a ring of stars": {
        f"m{i}": f"from m{(i + 1) % 5} import *\nfrom m{(i + 2) % 5} import *\nclass Net{i}(Missing.x):" + FORWARD
        for i in range(5)
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_circles(project: Project, shape: str) -> None:
    files = {f"{name}.py": HEAD + text for name, text in SHAPES[shape].items()}
    project.write({**files, "healthy.py": HEALTHY})
    with within(30):
        report = project.lint()
    found = {(f.path, f.line, f.code) for f in report.findings if f.code == "TCL101" or f.code.startswith("TCL9")}
    expected = {(path, line, "TCL101") for path, line in project.marked()}
    assert found == expected | {("healthy.py", 6, "TCL101")}


def test_what_still_escapes_costs_one_diagnostic(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TCLINT_DEBUG", raising=False)
    sane = Classes.is_nn_module

    def broken(self: Classes, cls: Class) -> bool:
        if cls.name == "Net":
            raise ZeroDivisionError("what nobody thought of")
        return sane(self, cls)

    monkeypatch.setattr(Classes, "is_nn_module", broken)
    project.write({"a.py": HEAD + NET, "healthy.py": HEALTHY})
    report = project.lint()
    assert [(f.path, f.line, f.code) for f in report.findings] == [("a.py", 3, "TCL906"), ("healthy.py", 6, "TCL101")]
    assert "`Net` (ZeroDivisionError: what nobody thought of)" in report.findings[0].message


@pytest.mark.parametrize("error", [RecursionError, ZeroDivisionError])
def test_what_escapes_at_the_top_level(
    project: Project, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    monkeypatch.delenv("TCLINT_DEBUG", raising=False)
    sane = Classes.attribute

    def broken(self: Classes, frame: object, node: object, cls: Class, name: str) -> object:
        if name == "explode":
            raise error("what nobody thought of")
        return sane(self, frame, node, cls, name)  # type: ignore[arg-type]

    monkeypatch.setattr(Classes, "attribute", broken)
    code = "class Net: ...\nNet.explode\nstep = torch.compile(lambda x: x)\n"
    project.write({"a.py": HEAD + code, "healthy.py": HEALTHY})
    report = project.lint()
    expected = "TCL904" if error is RecursionError else "TCL906"
    assert [(f.path, f.line, f.code) for f in report.findings if f.path == "a.py"] == [("a.py", 1, expected)]
    assert "top level" in next(f.message for f in report.findings if f.path == "a.py")
