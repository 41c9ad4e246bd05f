"""Module-level names, across imports."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, lint
from small_programs import given, interpreter, value

from tclint.values import STR, UNKNOWN, ClassValue, Const, External, FunctionValue, ModuleValue, Scalar, Seq


def constant(found: object) -> object:
    assert isinstance(found, Const), found
    return found.value


def test_the_system_is_linux() -> None:
    """What is only for other systems is not told."""
    interp = interpreter(
        a="""
        import os
        import sys

        windows = os.name == "nt"
        mac = sys.platform.startswith("darwin")
        """
    )
    assert constant(value(interp, "windows")) is False
    assert constant(value(interp, "mac")) is False


def test_what_a_module_defines() -> None:
    interp = interpreter(
        a="""
        import os.path
        import numpy as np
        from torch.nn.modules.module import Module
        from typing import TYPE_CHECKING

        one = 1
        left, (middle, right) = 1, (2, 3)
        hinted: int

        def f(): ...
        class C: ...
        """
    )
    assert constant(value(interp, "one")) == 1
    assert constant(value(interp, "right")) == 3
    hinted = value(interp, "hinted")
    assert isinstance(hinted, Scalar)
    assert hinted.type == "int"
    assert isinstance(value(interp, "f"), FunctionValue)
    assert isinstance(value(interp, "C"), ClassValue)
    outside = [value(interp, name) for name in ("os", "np", "Module")]
    assert [v.name for v in outside if isinstance(v, External)] == ["os", "numpy", "torch.nn.Module"]
    assert constant(value(interp, "TYPE_CHECKING")) is False
    assert value(interp, "__name__") is STR
    assert value(interp, "nothing") is None


def test_a_name_that_functions_rebind_is_no_constant() -> None:
    interp = interpreter(a="step = 1\ndef f():\n    global step\n    step += 1\n")
    step = value(interp, "step")
    assert isinstance(step, Scalar)
    assert step.source == "global"


def test_through_imports() -> None:
    interp = interpreter(
        a="from b import x as y\nfrom package import sub, other\nimport package\nfrom b import missing\n",
        b="from c import *\nx = z\n",
        c="z = [1]\n",
        package={"__init__": "from .sub import inner as other\n", "sub": "inner = 5\n"},
    )
    y = value(interp, "y")
    assert isinstance(y, Seq)
    assert y is value(interp, "z", "c")
    assert isinstance(value(interp, "sub"), ModuleValue)
    assert constant(value(interp, "other")) == 5
    assert isinstance(value(interp, "package"), ModuleValue)
    assert value(interp, "missing") is UNKNOWN


def test_the_first_star_that_has_it() -> None:
    interp = interpreter(
        a="from b import *\nfrom c import *\n",
        b="from d import *\n",
        c="x = 'c'\ny = 'c'\n",
        d="x = 'd'\n",
    )
    assert constant(value(interp, "x")) == "d"
    assert constant(value(interp, "y")) == "c"


def test_stars_in_a_circle() -> None:
    interp = interpreter(
        a="from b import *\none = 1\n",
        b="from c import *\nfrom a import *\ntwo = 2\n",
        c="from c import *\nfrom b import *\nthree = 3\n",
    )
    for where in "abc":
        assert [constant(value(interp, name, where)) for name in ("one", "two", "three")] == [1, 2, 3]
        assert value(interp, "len", where) is None


def test_a_long_way_through_imports_and_stars() -> None:
    """Followed without recursion: longer than Python's stack."""
    count = 3000
    names = {f"m{i}": f"from m{i + 1} import x as x\nfrom m{i + 1} import *\n" for i in range(count)}
    interp = interpreter(**names, **{f"m{count}": "x = 1\ny = 2\n"})
    assert constant(value(interp, "x", "m0")) == 1
    assert constant(value(interp, "y", "m0")) == 2


def test_imports_in_a_circle_are_unknown() -> None:
    interp = interpreter(a="from b import x\n", b="from a import x\n")
    assert value(interp, "x") is UNKNOWN
    assert value(interp, "x", "b") is UNKNOWN
    assert not interp.memo.evaluating


def test_names_that_lead_to_themselves() -> None:
    interp = interpreter(a="x = x\ny = z\nz = y\n")
    assert [value(interp, name) for name in "xyz"] == [UNKNOWN] * 3


def test_touching_what_a_name_depends_on() -> None:
    """What a result is read from is what the cache compares."""
    interp = interpreter(a="from b import *\n", b="from c import *\n", c="x = 1\n", d="")
    with interp.program.watched() as touched:
        value(interp, "x")
    assert {getattr(each, "module", each).path for each in touched} == {"a.py", "b.py", "c.py"}
    with interp.program.watched() as touched:
        value(interp, "unheard_of")
    assert {getattr(each, "module", each).path for each in touched} == {"a.py", "b.py", "c.py"}


def test_imports_inside_functions() -> None:
    interp = interpreter(
        a="def f():\n    from b import x\n    import b as c\n    return x, c.y\n",
        b="x = 'x'\ny = 'y'\n",
    )
    found = given(interp, "f")
    assert isinstance(found, Seq)
    assert [constant(item) for item in found.items or ()] == ["x", "y"]


def test_the_release_of_torch_is_compared_by_its_numbers() -> None:
    interp = interpreter(
        a="""
        import torch
        from packaging import version
        from packaging.version import Version, parse
        from torch import __version__

        new = version.parse(torch.__version__) >= version.parse("2.4")
        old = Version(torch.__version__.split("+")[0]) < Version("2.0.0")
        text = __version__ >= "2.4"
        pair = [int(part) for part in torch.__version__.split(".")[:2]] >= [2, 0]
        other = parse(somebody.__version__) >= parse("2.4")
        """
    )
    assert constant(value(interp, "new")) is True
    assert constant(value(interp, "old")) is False
    assert constant(value(interp, "text")) is True
    assert constant(value(interp, "pair")) is True
    assert not isinstance(value(interp, "other"), Const)


PREDICATES = """
USE = False

def turn(on):
    global USE
    USE = on

try:
    if torch.jit.is_scripting():
        raise Exception()
    from torch.compiler import is_dynamo_compiling as asks

    def compiling() -> bool:
        if torch.jit.is_scripting():
            return False
        return USE or asks()
except Exception:
    def compiling() -> bool:
        return False

def exporting() -> bool:
    return not compiling() and torch.compiler.is_compiling()

class Model(nn.Module):
    def forward(self, x):
        if {test}:
            return x + 1
        print("eager")
        return x
"""


@pytest.mark.parametrize(
    ("test", "codes"),
    [
        ("compiling()", []),
        ("USE or compiling()", []),
        ("not exporting()", []),
        ("USE and compiling()", ["TCL108"]),
        ("USE", ["TCL108"]),
    ],
)
def test_what_a_try_defines_stands_and_not_what_an_except_does(tmp_path: Path, test: str, codes: list[str]) -> None:
    (tmp_path / "a.py").write_text(PRELUDE + PREDICATES.replace("{test}", test))
    assert [f.code for f in lint("a.py", cwd=tmp_path).findings] == codes
