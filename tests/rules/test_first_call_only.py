"""Breaks behind a flag or a cache: which of them are gone in the second call, and what is said of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tclint.api import lint
from tclint.model.finding import Severity

HEAD = """\
import torch

KEPT = {}
READY = False


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None


"""

FORMS = {
    "own flag": (
        """\
class Model(Base):
    def forward(self, x):
        y = x + 1
        if self.table is None:
            print("first")
            self.table = 2.0
        return (y * self.table).sin()
""",
        True,
    ),
    "own name of the file": (
        """\
class Model(Base):
    def forward(self, x):
        global READY
        y = x + 1
        if not READY:
            print("first")
            READY = True
        return (y * 2).sin()
""",
        True,
    ),
    "own cache": (
        """\
class Model(Base):
    def forward(self, x):
        y = x + 1
        if "k" not in KEPT:
            print("first")
            KEPT["k"] = 2.0
        return (y * KEPT["k"]).sin()
""",
        True,
    ),
    "flag of what is called": (
        """\
class Model(Base):
    def filled(self):
        if self.table is None:
            print("first")
            self.table = 2.0
        return self.table

    def forward(self, x):
        return ((x + 1) * self.filled()).sin()
""",
        False,
    ),
    "in a loop": (
        """\
class Model(Base):
    def forward(self, x):
        for _ in range(2):
            x = x + 1
            if self.table is None:
                print("first")
                self.table = 2.0
        return (x * self.table).sin()
""",
        False,
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_gone_in_the_second_call_is_low(tmp_path: Path, form: str) -> None:
    text, anew = FORMS[form]
    (tmp_path / "m.py").write_text(HEAD + text)
    (found,) = [f for f in lint(["m.py"], cwd=str(tmp_path), isolated=True).findings if f.code == "TCL108"]
    assert (found.severity is Severity.LOW) is anew
    assert ("compiled again, without the break" if anew else "stays split in later calls") in found.message
    assert found.help.endswith("or do it before the first compiled call")


@pytest.mark.parametrize("form", FORMS)
def test_so_says_dynamo(tmp_path: Path, form: str) -> None:
    """The third call runs one graph where the second one was compiled anew; else two, or none of a function left to eager."""
    torch = pytest.importorskip("torch")
    text, anew = FORMS[form]
    path = tmp_path / "m.py"
    path.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location("first_call_only", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ran: list[int] = []

    def counted(graph, _inputs):  # type: ignore[no-untyped-def]
        return lambda *given: (ran.append(1), graph.forward(*given))[1]

    torch._dynamo.reset()
    model = torch.compile(module.Model(), backend=counted)
    for _ in range(3):
        ran.clear()
        model(torch.ones(3))
    assert (len(ran) == 1) is anew


def test_a_place_that_is_also_reached_otherwise_is_as_grave_as_ever(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        HEAD
        + """\
def told():
    print("told")


class Model(Base):
    def forward(self, x):
        if self.table is None:
            told()
            self.table = 2.0
        y = x * self.table
        told()
        return y.sin()
"""
    )
    (found,) = lint(["m.py"], cwd=str(tmp_path), isolated=True).findings
    assert found.severity is Severity.MEDIUM
    assert "later calls" not in found.message
