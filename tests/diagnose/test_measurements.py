"""Whole diagnoses on a CPU: small models, real compilations, children that die."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest
from lintkit import ROOT

from tclint.cli import main
from tclint.diagnose import report_json
from tclint.diagnose.measurement import Diagnosis

pytestmark = [pytest.mark.dynamo, pytest.mark.slow]

NET = """
    import torch
    from torch import nn


    class Block(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.norm = nn.LayerNorm(dim)
            self.mix = nn.Linear(dim, dim)

        def forward(self, x):
            return x + torch.relu(self.mix(self.norm(x)))


    class Net(nn.Module):
        def __init__(self, dim: int = 8):
            super().__init__()
            self.blocks = nn.ModuleList([Block(dim) for _ in range(2)])

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x.mean(1)


    class Broken(Net):
        def forward(self, x):
            y = super().forward(x)
            print("a step")
            if y.sum() > 0:
                y = y + 1
            return y * 2


    class Stuck(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise RuntimeError("no backward for this")


    class OneWay(Net):
        def forward(self, x):
            return Stuck.apply(super().forward(x))


    class Dies(Net):
        def forward(self, x):
            if self.training:
                import os
                os.kill(os.getpid(), 9)
            return super().forward(x)


    def small():
        return Net(4), [(torch.randn(3, 5, 4),)]
"""
TIMM_LIKE = """
    import torch
    from torch import nn


    class Conv(nn.Module):
        def __init__(self, wide=4):
            super().__init__()
            self.conv = nn.Conv2d(3, wide, 3)
            self.pretrained_cfg = {"input_size": (3, 16, 16)}

        def forward(self, x):
            return self.conv(x).mean((2, 3))


    def conv_tiny(pretrained=False, **kwargs):
        return Conv(**kwargs)
"""


def diagnosed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, python: str, target: str, *args: str, code: int = 0
) -> Diagnosis:
    (folder / "net.py").write_text(textwrap.dedent(NET), encoding="utf-8")
    monkeypatch.chdir(folder)
    out = folder / "out.json"
    # Compiling C++ on a machine that others use takes minutes; what is tested is what is measured, not how soon.
    given = ["--python", python, "--isolated", "--quick", "--total", "0", "--timeout", "500"]
    given += ["--output-format", "json", "-o", str(out)]
    assert main(["diagnose", target, *given, *args]) == code
    return report_json.read(str(out))


def only(*names: str) -> list[str]:
    return [part for name in names for part in ("--only", name)]


def test_breaks_have_their_line_rule_and_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str
) -> None:
    told = diagnosed(tmp_path, monkeypatch, torch_python, "net:Broken", *only("breaks"))
    assert told.breaks is not None
    lines = (tmp_path / "net.py").read_text().splitlines()
    heard = {(lines[row.line - 1].strip(), row.rule, row.modes) for row in told.breaks.breaks}
    assert heard == {
        ('print("a step")', "TCL108", ("train", "eval")),
        ("if y.sum() > 0:", "TCL101", ("train", "eval")),
    }
    assert all(row.fix for row in told.breaks.breaks)
    frame = next(row for row in told.breaks.frames if row.name == "Broken.forward")
    assert (frame.programs, frame.breaks) == (3, 2)
    assert [(row.rule, row.reached, row.heard) for row in told.findings if row.rule in ("TCL101", "TCL108")] == [
        ("TCL108", True, True),
        ("TCL101", True, True),
    ]
    left_out = [state.name for state in told.states if state.status == "left out"]
    assert left_out == ["speed", "modes", "guards", "numerics", "latency", "shapes", "ablate"]


def test_a_clean_model_is_measured_and_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str
) -> None:
    told = diagnosed(tmp_path, monkeypatch, torch_python, "net:small", *only("breaks", "speed", "numerics", "guards"))
    assert {state.name: state.status for state in told.states if state.status != "left out"} == {
        "breaks": "done",
        "speed": "done",
        "guards": "done",
        "numerics": "done",
    }
    assert told.inputs == "small(): float32[3, 5, 4]"
    assert told.breaks is not None
    assert told.breaks.breaks == ()
    assert told.speed is not None
    assert [row.kind for row in told.speed.rows] == ["forward", "forward+backward"]
    for row in told.speed.rows:
        assert row.eager.median_ms > 0
        assert row.compiled.blocks == row.eager.blocks >= 7
        assert row.first_s * 1e3 > row.compiled.median_ms
        assert row.eager_peak_mb
        assert row.eager_launches is not None
        assert row.compiled_launches is not None
        assert row.compiled_launches < row.eager_launches
    assert told.numerics is not None
    assert [(row.what, row.verdict) for row in told.numerics.rows] == [("outputs", "ok"), ("gradients", "ok")]
    assert told.guards is not None
    assert told.guards.baseline.median_ms > 0


def test_what_was_measured_before_an_error_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str
) -> None:
    told = diagnosed(tmp_path, monkeypatch, torch_python, "net:OneWay", *only("speed"))
    assert told.speed is not None
    assert [row.kind for row in told.speed.rows] == ["forward"]
    state = next(state for state in told.states if state.name == "speed")
    assert (state.status, state.words) == ("done", "RuntimeError: no backward for this")


def test_shapes_with_and_without_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str) -> None:
    told = diagnosed(tmp_path, monkeypatch, torch_python, "net.py:small", *only("shapes"))
    assert told.shapes is not None
    rows = {(row.axis, row.marked): row for row in told.shapes.rows}
    plain, marked = rows["batch", False], rows["batch", True]
    assert [step.shape for step in plain.steps] == ["2", "3", "1", "8"]
    assert [step.compilations for step in plain.steps] == [1, 1, 1, 0]
    assert [step.compilations for step in marked.steps] == [1, 0, 1, 0]
    assert any("size" in guard for guard in plain.steps[1].guards)
    assert plain.steps[1].lost_ms > 0
    assert [step.compilations for step in rows["length", True].steps] == [1, 0, 0, 0]


def test_latency_of_the_whole_and_of_its_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str
) -> None:
    told = diagnosed(tmp_path, monkeypatch, torch_python, "net:small", *only("latency"))
    assert told.latency is not None
    assert [(row.label, row.blocks) for row in told.latency.rows][-1] == ("regional", 2)
    assert all(row.first_s > 0 for row in told.latency.rows)
    assert "blocks: 2 Block" in told.latency.notes


def test_on_a_cpu_the_rest_needs_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str) -> None:
    told = diagnosed(
        tmp_path, monkeypatch, torch_python, "net:small", *only("modes", "ablate"), "--ablate", "epilog_fusion=1"
    )
    states = {state.name: state for state in told.states}
    assert "reduce-overhead: needs cuda; re-entry: needs cuda" in states["modes"].words.replace(
        "max-autotune-no-cudagraphs: ", ""
    )
    assert states["ablate"].status == "not applicable"
    assert "did you mean 'epilogue_fusion'" in states["ablate"].words
    assert told.modes is not None
    assert told.modes.rows[0].mode == "default"


def test_a_child_that_dies_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str) -> None:
    told = diagnosed(tmp_path, monkeypatch, torch_python, "net:Dies", *only("breaks", "speed"))
    states = {state.name: state for state in told.states}
    assert states["breaks"].status == "failed"
    assert "SIGKILL" in states["breaks"].words
    # What was measured before it died is kept.
    assert told.speed is not None
    assert [row.kind for row in told.speed.rows] == ["forward"]
    assert "SIGKILL" in states["speed"].words


def test_a_factory_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str) -> None:
    library = tmp_path / "library" / "zoo"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(textwrap.dedent(TIMM_LIKE), encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    known = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(library.parent), known])))
    told = diagnosed(project, monkeypatch, torch_python, "zoo:conv_tiny", *only("breaks"), "--batch", "3")
    assert told.inputs == "conv_tiny(): float32[3, 3, 16, 16]"
    assert told.parameters == 112
    assert told.breaks is not None
    assert told.breaks.breaks == ()


def test_a_target_that_cannot_run_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong.py").write_text("from os import nothing_like_this\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    args = ["--python", torch_python, "--isolated", *only("speed"), "-o", "out.txt"]
    assert main(["diagnose", "wrong:Net", *args]) == 2
    assert "cannot import name 'nothing_like_this'" in capsys.readouterr().err
    assert not (tmp_path / "out.txt").exists()


def test_a_child_that_hangs_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sleeps.py").write_text("import time\ntime.sleep(1000)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    args = ["--python", torch_python, "--isolated", *only("guards"), "--timeout", "3"]
    assert main(["diagnose", "sleeps:Net", *args]) == 2
    assert "still running after 3 s: stopped" in capsys.readouterr().err


def test_what_a_finding_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str) -> None:
    told = diagnosed(tmp_path, monkeypatch, torch_python, "net:Broken", *only("breaks"), "--cost")
    assert told.cost is not None
    rows = {row.rule: row for row in told.cost.rows}
    assert {rows["TCL101"].status, rows["TCL108"].status} == {"measured"}
    for row in rows.values():
        assert row.saved_ms is not None
        assert row.noise_ms is not None
        assert row.graphs is not None
        assert row.graphs >= 1
    saved = [row.saved_ms for row in told.cost.rows if row.saved_ms is not None]
    assert saved == sorted(saved, reverse=True)


def test_the_cost_beside_a_library_that_breaks_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str
) -> None:
    """The library lies outside of the folder that is copied: its break is the same one in every copy."""
    project, library = tmp_path / "project", tmp_path / "library"
    project.mkdir()
    library.mkdir()
    (library / "talker.py").write_text("def say():\n    print('library')\n", encoding="utf-8")
    source = f"""
        import sys

        import torch

        sys.path.append({str(library)!r})

        import talker


        class Talks(torch.nn.Module):
            def forward(self, x):
                print("project")
                talker.say()
                return x * 2


        def talks():
            return Talks(), [(torch.ones(3),)]
    """
    (project / "talks.py").write_text(textwrap.dedent(source), encoding="utf-8")
    told = diagnosed(project, monkeypatch, torch_python, "talks:talks", *only("breaks"), "--cost")
    assert told.cost is not None
    row = next(row for row in told.cost.rows if row.rule == "TCL108")
    assert (row.status, row.path) == ("measured", "talks.py"), row.words
    assert "Dynamo no longer breaks: talks.py" in row.words


@pytest.mark.cuda
@pytest.mark.parametrize(("folder", "breaks"), [("demo", 2), ("demo_fixed", 0)])
def test_the_demo_on_cuda(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str, folder: str, breaks: int
) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    monkeypatch.chdir(ROOT)
    out = tmp_path / "out.json"
    where = ["--path", f"fixtures/{folder}", "--device", "cuda", "--python", torch_python]
    assert main(["diagnose", "models.vlm:VLM", *where, "--output-format", "json", "-o", str(out)]) == 0
    told = report_json.read(str(out))
    assert told.seconds < 300
    assert told.breaks is not None
    assert len(told.breaks.breaks) == breaks
    assert {state.name: state.status for state in told.states if state.status == "failed"} == {}
    assert told.modes is not None
    assert told.modes.reentry is not None
    assert told.modes.reentry.cloned == "fine"
