"""`tclint.cudagraph.run_cloned`: copies what leaves, and is the helper that TCL301 asks for."""

from __future__ import annotations

import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
from lintkit import ROOT, Project

CALLER = """\
import torch
import tclint.cudagraph
from tclint.cudagraph import run_cloned


class Controller:
    def __init__(self, net):
        self.net = torch.compile(net, mode="reduce-overhead")
        self.cache = {{}}

    @torch.no_grad()
    def keep(self, key, x):
        {line}
        self.cache[key] = scores
"""


def codes(project: Project, line: str) -> list[str]:
    project.write({"controller.py": CALLER.format(line=line)})
    return [finding.code for finding in project.lint().findings if finding.code.startswith("TCL3")]


def test_without_the_helper_the_output_escapes(project: Project) -> None:
    assert "TCL301" in codes(project, "scores = self.net(x)")


@pytest.mark.parametrize(
    "line", ["scores = tclint.cudagraph.run_cloned(self.net, x)", "scores = run_cloned(self.net, x)"]
)
def test_with_it_nothing_is_said(project: Project, line: str) -> None:
    assert codes(project, line) == []


def test_importing_tclint_stays_light() -> None:
    code = "import sys, tclint; sys.exit('torch' in sys.modules or 'tclint.runtime.safe' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@dataclass(frozen=True)
class Output:
    scores: Any
    more: Any = None
    name: str = ""


Pair = namedtuple("Pair", "left right")


@pytest.mark.dynamo
class TestCopies:
    def test_every_tensor_of_a_nested_output(self) -> None:
        torch = pytest.importorskip("torch")
        from tclint.runtime.cudagraph import run_cloned

        kept = torch.zeros(2)
        given: list[Any] = [kept, (kept, {"a": kept}), Pair(kept, 3), Output(kept, [kept], "n"), None, "text"]
        got = run_cloned(lambda: given)
        kept.fill_(7)
        assert isinstance(got[2], Pair)
        assert (got[3].name, got[4], got[5], got[2].right) == ("n", None, "text", 3)
        for tensor in (got[0], got[1][0], got[1][1]["a"], got[2].left, got[3].scores, got[3].more[0]):
            assert tensor.tolist() == [0.0, 0.0]

    def test_arguments_are_handed_on_and_gradients_flow(self) -> None:
        torch = pytest.importorskip("torch")
        from tclint.runtime.cudagraph import run_cloned

        x = torch.ones(2, requires_grad=True)
        run_cloned(lambda a, *, scale: a * scale, x, scale=3).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]

    def test_what_it_cannot_open_it_refuses(self) -> None:
        torch = pytest.importorskip("torch")
        from tclint.runtime.cudagraph import run_cloned

        class Hidden:
            def __init__(self) -> None:
                self.tensor = torch.ones(1)

        with pytest.raises(TypeError, match="cannot copy a Hidden that holds tensors"):
            run_cloned(Hidden)

    def test_a_step_is_marked_for_every_call(self, monkeypatch: pytest.MonkeyPatch) -> None:
        torch = pytest.importorskip("torch")
        from tclint.runtime.cudagraph import run_cloned

        order: list[str] = []
        monkeypatch.setattr(torch.compiler, "cudagraph_mark_step_begin", lambda: order.append("mark"))
        run_cloned(lambda: order.append("call"))
        assert order == ["mark", "call"]


@pytest.mark.cuda
@pytest.mark.dynamo
def test_under_real_cuda_graphs() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    from tclint.runtime.cudagraph import run_cloned

    net = torch.compile(torch.nn.Linear(8, 8).cuda(), mode="reduce-overhead")
    with torch.no_grad():
        inputs = [torch.full((4, 8), float(n), device="cuda") for n in range(6)]
        kept = [run_cloned(net, x) for x in inputs]
        for x, got in zip(inputs, kept, strict=True):
            assert torch.allclose(got, net._orig_mod(x), atol=1e-4)
