"""CUDA graphs: what can be told of the experiment without a device, and the device's own word where there is one."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from lintkit import ROOT, lint
from verify_helpers import finding_at

from tclint.model.finding import Compiled, Effect
from tclint.verify import Outcome, VerifyOptions, verify

Project = Callable[[str, str], Path]


def test_findings_carry_their_compile_site(project: Project, tmp_path: Path) -> None:
    project(
        "m.py",
        """
        import torch

        def f(x: torch.Tensor):
            print(x)
            return x

        def g(x: torch.Tensor):
            print(x)
            return x

        a = torch.compile(f, fullgraph=True, dynamic=True)
        b = torch.compile(g, options={"triton.cudagraphs": True, "max_autotune": False}, backend="inductor")
        """,
    )
    first, second = lint("m.py", cwd=tmp_path, select=["TCL108"]).findings
    assert first.compiled == Compiled(dynamic=True, fullgraph=True)
    options = (("max_autotune", "False"), ("triton.cudagraphs", "True"))
    assert second.compiled == Compiled(backend="inductor", options=options)


IN_CHILD = """
import sys
sys.path.insert(0, {root!r})
import torch
from tclint.model.finding import Compiled
from tclint.verify.child import cudagraph as graphs
from tclint.verify.child.experiments import Setup
from tclint.verify.child.inputs import Call, Example
"""


def in_child(torch_python: str, folder: Path, code: str) -> str:
    """Run code that imports torch where nothing else is hurt by what it patches."""
    path = folder / "drive.py"
    path.write_text(IN_CHILD.format(root=str(ROOT)) + textwrap.dedent(code))
    done = subprocess.run([torch_python, str(path)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.dynamo
@pytest.mark.slow
def test_what_inductor_keeps_out_is_heard_with_its_line(torch_python: str, tmp_path: Path) -> None:
    """On a CPU the reason is another one, the way to it is the same."""
    out = in_child(
        torch_python,
        tmp_path,
        """
        @torch.compile(options={"triton.cudagraphs": True, "graph_partition": True})
        def f(x, mask, y):
            x = x * 2
            x[mask] = y  # here
            return x

        for _ in range(2):
            torch._dynamo.reset()
            with graphs.watching() as seen:
                f(torch.ones(4, 8), torch.ones(4, dtype=torch.bool), torch.ones(4, 8))
            cuts = [cut for cut in seen.cuts.values() if "index_put" in cut.words]
            print(cuts[0].words, cuts[0].stack[-1].line)
        """,
    )
    line = next(n for n, text in enumerate((tmp_path / "drive.py").read_text().splitlines(), 1) if "# here" in text)
    first, second = out.splitlines()
    assert first == second, "the second compilation came from a cache"
    assert first.startswith("Inductor keeps aten.index_put")
    assert first.endswith(f"out of the CUDA graph (cpu ops) {line}")


@pytest.mark.dynamo
def test_the_site_decides_how_graphs_are_turned_on(torch_python: str, tmp_path: Path) -> None:
    out = in_child(
        torch_python,
        tmp_path,
        """
        for site in (
            Compiled(),
            Compiled(mode="max-autotune", dynamic=True),
            Compiled(mode="default"),
            Compiled(backend="cudagraphs", fullgraph=True),
            Compiled(options=(("triton.cudagraphs", "True"), ("epilogue_fusion", "False"))),
        ):
            print({k: v for k, v in graphs.site_arguments(site).items() if v})
        """,
    )
    assert out.splitlines() == [
        "{'mode': 'reduce-overhead'}",
        "{'dynamic': True, 'mode': 'max-autotune'}",
        "{'mode': 'reduce-overhead'}",
        "{'fullgraph': True, 'backend': 'cudagraphs'}",
        "{'options': {'triton.cudagraphs': True, 'epilogue_fusion': False}}",
    ]


# A graph captured by hand, on a machine that cannot: the class and the context manager are stand-ins.
STAND_IN = """
class Graph:
    def capture_begin(self): self.on = True
    def replay(self): static.add_(1)

class Capture:
    def __init__(self, graph): self.graph = graph
    def __enter__(self): self.graph.capture_begin()
    def __exit__(self, *told):
        if told[0] is not None:
            raise RuntimeError("operation failed due to a previous error during capture")

torch.cuda.CUDAGraph, torch.cuda.graph = Graph, Capture
static = torch.zeros(2)

def captured(device, fails=False, clone=False):
    static.zero_()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        if fails:
            raise ValueError("not permitted when stream is capturing")
    kept = []
    for _ in range(3):
        g.replay()
        kept.append(static.clone() if clone else static)
    return [float(t.sum()) for t in kept]

def run(target, reference=None):
    setup = Setup("cpu", 0, lambda path: path == __file__, "main")
    example = Example("main(device)", lambda: target, lambda: [Call(("cpu",))], False, True, reference=reference)
    made = graphs.run_cudagraphs(setup, example)
    print(made.graphs.outcome if made.graphs else "-", "|", made.graphs.words if made.graphs else made.fault.message)
    return made
"""


@pytest.mark.dynamo
def test_graphs_captured_by_hand_are_judged_by_running_them(torch_python: str, tmp_path: Path) -> None:
    drive = """
from functools import partial
right = lambda: [2.0, 4.0, 6.0]
run(captured, right)
run(partial(captured, clone=True), right)
made = run(partial(captured, fails=True), right)
print([step.text for step in made.graphs.stack][:1])
run(captured)
"""
    wrong, fine, error, where, unknown = in_child(torch_python, tmp_path, STAND_IN + drive).splitlines()
    assert wrong.startswith("wrong | silently wrong: what was kept[0][0] is 6.0, eager 2.0")
    assert fine == "fine | "
    assert error.startswith(
        "error | the capture failed: ValueError: not permitted when stream is capturing; then Runtime"
    )
    assert where == "['captured']"
    assert unknown.startswith("- | a graph captured by hand cannot be switched off: write `reference(device)`")


@pytest.mark.dynamo
def test_one_call_that_went_well_does_not_end_the_search(torch_python: str, tmp_path: Path) -> None:
    drive = """
from dataclasses import replace
from tclint.verify.child.goals import unreached
from tclint.verify.heard import Graphs, Run
from tclint.verify.job import Goal
once = Run("cudagraphs", "", "", covered={"m.py": (3,)}, calls=1, graphs=Graphs("fine"))
place = Goal("m.py", 3, 3, "cudagraph")
for run in (once, replace(once, calls=5), replace(once, graphs=Graphs("wrong")), replace(once, covered={})):
    print(len(unreached((place,), [run])), end=" ")
print(len(unreached((replace(place, effect="graph-break"),), [once])))
"""
    assert in_child(torch_python, tmp_path, drive).split() == ["1", "0", "0", "1", "0"]


# --- on a CUDA device ---------------------------------------------------------------------------------------------------

BEHIND_A_BREAK = """
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 8)

        def _mask(self, x):
            print("a break, as a tokenizer is one")
            return x.sum(-1) > 0

        def _merge(self, x, values):
            mask = self._mask(x)
            x[mask] = values  # here
            return x

        def forward(self, x, values):
            y = self.fc(x)
            y = self._merge(y + 0, values)
            return self.fc(y)  # fine

    def get_init_inputs():
        return []

    def get_inputs():
        return [torch.ones(4, 8).abs(), torch.ones(1, 8)]
"""

BY_HAND = """
    import torch

    def run(static_x, batches):
        torch.tanh(static_x)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            static_y = torch.tanh(static_x){sync}
        results = []
        for x in batches:
            static_x.copy_(x)
            g.replay()
            results.append(static_y{clone})  # here
        return results

    def batches():
        return [torch.full((2, 4), float(n)) for n in (1, 2, 3)]

    def main(device):
        with torch.no_grad():
            return [float(t.sum()) for t in run(torch.zeros(2, 4, device=device), batches())]

    def reference(device):
        return [float(x.tanh().sum()) for x in batches()]
"""


@pytest.fixture
def cuda(torch_python: str) -> str:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    return torch_python


@pytest.mark.cuda
def test_a_mask_assignment_behind_a_break_is_confirmed(project: Project, cuda: str, tmp_path: Path) -> None:
    path = project("model.py", BEHIND_A_BREAK)
    options = VerifyOptions(python=cuda, root=str(tmp_path), device="cuda", timeout=300)
    found = verify([finding_at(path, mark, Effect.CUDAGRAPH) for mark in ("# here", "# fine")], options).verdicts
    assert found[0].outcome is Outcome.CONFIRMED, found[0]
    assert "out of the CUDA graph" in found[0].words, found[0]


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("clone", "sync", "outcome", "words"),
    [
        ("", "", Outcome.CONFIRMED, "silently wrong"),
        (".clone()", "", Outcome.REFUTED, ""),
        (".clone()", "; static_y.sum().item()", Outcome.CONFIRMED, "the capture failed"),
    ],
)
def test_a_graph_captured_by_hand(
    clone: str, sync: str, outcome: Outcome, words: str, project: Project, cuda: str, tmp_path: Path
) -> None:
    path = project("program.py", BY_HAND.replace("{clone}", clone).replace("{sync}", sync))
    mark = "static_y = torch" if sync else "# here"
    options = VerifyOptions(python=cuda, root=str(tmp_path), device="cuda", timeout=300)
    (found,) = verify([finding_at(path, mark, Effect.CUDAGRAPH)], options).verdicts
    assert found.outcome is outcome, found
    assert words in found.words


@pytest.mark.cuda
def test_the_demo_is_confirmed(cuda: str) -> None:
    """Every hazard of the demo, with the words of the compiler or of the runtime."""
    command = [sys.executable, "-m", "tclint", ".", "--verify", "--device", "cuda", "--no-cache"]
    command += ["--output-format", "json", "--verify-python", cuda, "--verify-timeout", "300"]
    done = subprocess.run(
        command, cwd=ROOT / "fixtures" / "demo", capture_output=True, text=True, timeout=1800, check=False
    )
    import json

    found = json.loads(done.stdout)["findings"]
    told = [(f["path"], f["line"], f["code"], f["verified"]["outcome"], f["verified"]["words"]) for f in found]
    assert [row for row in told if row[3] != "confirmed"] == []
    assert len(told) >= 9
