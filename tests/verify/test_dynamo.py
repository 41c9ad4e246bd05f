"""Verify against the real compiler: input sources, experiments, the recorder, the repro pack, the cache."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from verify_helpers import finding_at, finding_on

from tclint.cli import main
from tclint.model.finding import Effect, Finding
from tclint.verify import (
    NotConfirmed,
    Outcome,
    Verdict,
    VerifyOptions,
    VerifyReport,
    verify,
    verify_program,
    verify_trace,
    write_repro,
)
from tclint.verify.process import stop_servers

pytestmark = [pytest.mark.dynamo, pytest.mark.slow]
Project = Callable[[str, str], Path]

MODEL = """
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, width)
            self.calls = 0

        def forward(self, x):
            self.calls += 1                     # counter
            y = self.fc(x)
            if y.sum() > 0:                     # branch
                y = y * self.calls
            if self.training:
                print("training")               # train only
            return helper(y)

    def helper(y):
        if y.shape[0] > 1000:
            return y.tolist()                   # never
        return y + 1                            # clean
"""


@pytest.fixture
def run(torch_python: str, tmp_path: Path) -> Callable[..., VerifyReport]:
    def verified(*findings: Finding, **more: object) -> VerifyReport:
        options = VerifyOptions(python=torch_python, root=str(tmp_path), keep=True, **more)  # type: ignore[arg-type]
        return verify(findings, options)

    return verified


def outcomes(report: VerifyReport) -> list[str]:
    return [verdict.outcome.value for verdict in report.verdicts]


def test_every_outcome_on_inferred_inputs(project: Project, run: Callable[..., VerifyReport]) -> None:
    path = project("model.py", MODEL)
    marks = ("# branch", "# train only", "# clean", "# never")
    report = run(*(finding_at(path, mark) for mark in marks))
    assert outcomes(report) == ["confirmed", "confirmed", "refuted", "not-reached"], report.verdicts
    branch = report.verdicts[0]
    assert branch.gb_id in ("GB0170", "")
    assert "branching" in branch.words
    assert branch.inputs.startswith("inferred from the signatures of Model")
    assert branch.stack[-1].path == "model.py"
    assert report.torch
    # What no finding spoke of is found too: the counter compiles again in every call.
    assert {item.effect for item in report.missed} == {"recompile"}
    assert "self.calls == 0" in report.missed[0].words


def test_what_nobody_predicted_is_missed(project: Project, run: Callable[..., VerifyReport]) -> None:
    path = project("model.py", MODEL)
    report = run(finding_at(path, "# counter"))
    assert {item.line for item in report.missed} >= {finding_at(path, "# branch").line}


def test_recompiles_by_sweep(project: Project, run: Callable[..., VerifyReport]) -> None:
    path = project("model.py", MODEL)
    settles = project("settles.py", "import torch\n\ndef scale(x, factor: float):\n    return x * factor\n")
    said = replace(finding_at(settles, "return", Effect.RECOMPILE), message="`mul` specialises on the float `factor`")
    unsaid = finding_at(settles, "return", Effect.RECOMPILE)
    report = run(finding_at(path, "# counter", Effect.RECOMPILE), said, unsaid)
    assert outcomes(report) == ["confirmed", "refuted", "inconclusive"], report.verdicts
    assert "calls" in report.verdicts[0].words


BLOCKWISE = """
    import torch
    from torch import nn

    class Block(nn.Module):
        def forward(self, x, ids):
            return x + ids.unsqueeze(-1)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def compile_blocks(self):
            self.block = torch.compile(self.block)

        def forward(self, x: torch.Tensor):
            batch, length, _ = x.shape
            ids = torch.arange(length).unsqueeze(0).expand(batch, -1)  # expands
            return self.block(x, ids)
"""


def test_what_is_compiled_in_parts_is_not_refuted_as_a_whole(
    project: Project, run: Callable[..., VerifyReport]
) -> None:
    """Compiled as a whole the model makes one program for all batches; block by block, strides are guarded."""
    expands = finding_at(project("model.py", BLOCKWISE), "# expands", Effect.RECOMPILE)
    expands = replace(expands, message="its strides differ between batch 1 and more", function="Model.forward")
    whole, parts = run(expands, replace(expands, eager=True)).verdicts
    assert (whole.outcome.value, parts.outcome.value) == ("refuted", "inconclusive"), (whole, parts)
    assert "here the function itself was compiled" in parts.words


def test_a_factory_from_the_options(project: Project, run: Callable[..., VerifyReport]) -> None:
    path = project("model.py", MODEL)
    project("makers.py", "import torch, model\n\ndef make():\n    return model.Model(3), [(torch.ones(1, 3),)]\n")
    report = run(finding_at(path, "# branch"), factories={"model:Model": "makers:make"})
    assert report.verdicts[0].inputs == "factory makers:make"


def test_an_example_registered_in_python(project: Project, run: Callable[..., VerifyReport]) -> None:
    text = (
        MODEL
        + """
    import tclint.verify

    @tclint.verify.example(Model)
    def sample():
        return Model(3), [(torch.ones(1, 3),), {"x": torch.ones(2, 3)}]
    """
    )
    report = run(finding_at(project("model.py", text), "# branch"))
    assert report.verdicts[0].inputs.startswith("@tclint.example")
    assert outcomes(report) == ["confirmed"]


def test_the_testcases_convention(project: Project, run: Callable[..., VerifyReport]) -> None:
    text = (
        MODEL
        + """
    TESTCASES = [(Model, lambda: ([3], {}), lambda: ([torch.ones(1, 3)], {}), True)]
    """
    )
    report = run(finding_at(project("model.py", text), "# branch"))
    assert report.verdicts[0].inputs == "TESTCASES entry of Model"


def test_a_package_is_imported_as_one(project: Project, run: Callable[..., VerifyReport]) -> None:
    project("pkg/__init__.py", "")
    project("pkg/ops.py", "def twice(x):\n    print('x')\n    return x * 2\n")
    path = project("pkg/sub/__init__.py", "").parent / "net.py"
    path.write_text(
        "import torch\nfrom ..ops import twice\n\n\nclass Net(torch.nn.Module):\n"
        "    def forward(self, x):\n        return twice(x)\n"
    )
    inner = finding_on("pkg/ops.py", 2, function="twice")
    report = run(finding_on("pkg/sub/net.py", 7, function="Net.forward"), inner)
    assert outcomes(report) == ["refuted", "confirmed"], report.verdicts


def test_a_forbidden_callable_is_an_error(project: Project, run: Callable[..., VerifyReport]) -> None:
    text = """
    import torch

    def f(x):
        torch._dynamo.mark_dynamic(x, 0)  # here
        return x + 1
    """
    report = run(finding_at(project("f.py", text), "# here", Effect.ERROR))
    assert outcomes(report) == ["confirmed"]
    assert "forbidden callable" in report.verdicts[0].words


def test_compiled_targets_keep_their_own_site(project: Project, run: Callable[..., VerifyReport]) -> None:
    text = """
    import torch

    @torch.compile(mode="max-autotune")
    def f(x):
        if x.sum() > 0:  # here
            return x + 1
        return x
    """
    assert outcomes(run(finding_at(project("f.py", text), "# here"))) == ["confirmed"]


def test_a_fork_may_start_over_as_a_new_program(
    project: Project, run: Callable[..., VerifyReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCLINT_VERIFY_SPAWN", "1")
    stop_servers()
    try:
        assert outcomes(run(finding_at(project("model.py", MODEL), "# branch"))) == ["confirmed"]
    finally:
        stop_servers()


def test_a_missing_gpu_is_said(project: Project, run: Callable[..., VerifyReport]) -> None:
    pytest.importorskip("torch")
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    (verdict,) = run(finding_at(project("model.py", MODEL), "# branch"), device="cuda").verdicts
    assert "no CUDA device" in verdict.words


def test_cuda_graphs_need_a_gpu(project: Project, run: Callable[..., VerifyReport]) -> None:
    report = run(finding_at(project("model.py", MODEL), "# branch", Effect.CUDAGRAPH))
    assert outcomes(report) == ["inconclusive"]
    assert "--device cuda" in report.verdicts[0].words + report.verdicts[0].hint


def test_a_target_without_inputs_says_what_to_write(project: Project, run: Callable[..., VerifyReport]) -> None:
    text = """
    import torch

    class Odd(torch.nn.Module):
        def __init__(self, secret):
            super().__init__()
            if len(repr(secret)) >= 0:
                raise ValueError("wrong secret")

        def forward(self, x):
            return x + 1  # here
    """
    (verdict,) = run(finding_at(project("odd.py", text), "# here")).verdicts
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "wrong secret" in verdict.words
    assert "@tclint.example(Odd)" in verdict.hint


def test_answers_are_cached(project: Project, run: Callable[..., VerifyReport], tmp_path: Path) -> None:
    finding = finding_at(project("model.py", MODEL), "# branch")
    first = run(finding, cache_dir=str(tmp_path / "cache"))
    assert len(list((tmp_path / "cache" / "verify").iterdir())) == 1
    assert run(finding, cache_dir=str(tmp_path / "cache")) == first


TRAIN = """
    import torch
    from model import Model

    model = Model(4)
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1000):
        compiled(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    raise SystemExit("the recorder did not stop it")
"""


def program(project: Project, torch_python: str) -> tuple[list[str], list[Finding]]:
    model = project("model.py", MODEL)
    script = project("train.py", TRAIN)
    marks = ("# branch", "# train only", "# clean", "# never")
    return [torch_python, str(script)], [finding_at(model, mark) for mark in marks]


def test_the_users_own_program(project: Project, torch_python: str, tmp_path: Path) -> None:
    command, findings = program(project, torch_python)
    options = VerifyOptions(root=str(tmp_path), timeout=120)
    report = verify_program(findings, command, options, steps=2)
    assert outcomes(report) == ["confirmed", "confirmed", "refuted", "not-reached"], report.verdicts
    assert "status 0" in report.notes[0]


def test_a_program_without_an_optimizer_stops_after_calls(
    project: Project,
    torch_python: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Blocks compiled one by one make a step of many calls; the count is of the one that is called most. By the command."""
    project("model.py", MODEL)
    script = project(
        "serve.py",
        """
        import torch
        from model import Model, helper

        model = torch.compile(Model(4).eval(), backend="eager")
        again = torch.compile(helper, backend="eager")
        for step in range(1000):
            again(model(torch.ones(2, 4)))
            print("step", step, flush=True)
        raise SystemExit("the recorder did not stop it")
        """,
    )
    monkeypatch.chdir(tmp_path)
    given = ("--steps", "3", "--no-cache", "--output-format", "json")
    assert main(["verify", *given, "--", torch_python, str(script)]) == 1
    out, err = capsys.readouterr()
    told = {f["line"]: f["verified"]["outcome"] for f in json.loads(out)["findings"] if f["path"] == "model.py"}
    assert told[finding_at(tmp_path / "model.py", "# branch").line] == "confirmed", told
    assert "status 0" in out + err


def test_a_trace_from_elsewhere(project: Project, torch_python: str, tmp_path: Path) -> None:
    import subprocess

    command, findings = program(project, torch_python)
    text = Path(command[1]).read_text(encoding="utf-8").replace("1000", "2")
    Path(command[1]).write_text(text, encoding="utf-8")
    subprocess.run(
        command, env={**os.environ, "TORCH_TRACE": str(tmp_path / "trace")}, check=False, capture_output=True
    )
    report = verify_trace(findings, str(tmp_path / "trace"), VerifyOptions(root=str(tmp_path)))
    assert outcomes(report)[:3] == ["confirmed", "confirmed", "refuted"], report.verdicts


def confirmed(project: Project, run: Callable[..., VerifyReport]) -> Verdict:
    return run(finding_at(project("model.py", MODEL), "# branch")).verdicts[0]


def test_a_repro_pack(project: Project, run: Callable[..., VerifyReport], torch_python: str, tmp_path: Path) -> None:
    options = VerifyOptions(python=torch_python, root=str(tmp_path), keep=True)
    pack = write_repro(confirmed(project, run), options, str(tmp_path / "packs"))
    assert {"repro.py", "source", "command.txt", "versions.json", "output.txt", "trace"} <= set(os.listdir(pack))
    assert "Data-dependent" in (pack / "output.txt").read_text(encoding="utf-8")
    assert json.loads((pack / "versions.json").read_text(encoding="utf-8"))["torch"]
    runs_alone(pack, torch_python, tmp_path)


def runs_alone(pack: Path, torch_python: str, tmp_path: Path) -> None:
    """The pack runs where neither tclint nor the project is: elsewhere, and with what it holds."""
    import subprocess

    assert "tclint" not in (pack / "repro.py").read_text(encoding="utf-8")
    for path in tmp_path.glob("*.py"):
        path.unlink()
    code = "import runpy, sys; runpy.run_path(sys.argv[1]); assert not any('tclint' in m for m in sys.modules)"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [torch_python, "-c", code, str(pack / "repro.py")]
    done = subprocess.run(command, cwd="/", env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_repro_pack_of_a_recompile_holds_the_calls(
    project: Project, run: Callable[..., VerifyReport], torch_python: str, tmp_path: Path
) -> None:
    project("pkg/__init__.py", "")
    project("pkg/ops.py", "LIMIT = 3\n")
    path = project(
        "pkg/net.py",
        """
        import torch
        from pkg.ops import LIMIT

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.calls = 0

            def forward(self, x):
                self.calls += 1  # here
                return x * self.calls + LIMIT

        def get_init_inputs():
            return []

        def get_inputs():
            return [torch.ones(2, 3)]
        """,
    )
    line = finding_at(path, "# here", Effect.RECOMPILE).line
    (verdict,) = run(finding_on("pkg/net.py", line, Effect.RECOMPILE, function="Net.forward")).verdicts
    assert verdict.outcome is Outcome.CONFIRMED, verdict
    pack = write_repro(
        verdict, VerifyOptions(python=torch_python, root=str(tmp_path), keep=True), str(tmp_path / "packs")
    )
    assert (pack / "source" / "pkg" / "ops.py").is_file()
    output = (pack / "output.txt").read_text(encoding="utf-8")
    assert "Recompiling function forward" in output, output[-2000:]
    runs_alone(pack, torch_python, tmp_path)


def test_only_confirmed_findings_have_a_repro(
    project: Project, run: Callable[..., VerifyReport], tmp_path: Path
) -> None:
    clean = run(finding_at(project("model.py", MODEL), "# clean")).verdicts[0]
    with pytest.raises(NotConfirmed):
        write_repro(clean, VerifyOptions(root=str(tmp_path)), str(tmp_path))


def test_a_hugging_face_model_with_a_shrunk_config(project: Project, run: Callable[..., VerifyReport]) -> None:
    pytest.importorskip("transformers")
    text = """
    import torch
    from transformers import BertModel

    class Mine(BertModel):
        def forward(self, input_ids=None, **rest):
            if input_ids.sum() > 0:  # here
                input_ids = input_ids + 0
            return super().forward(input_ids=input_ids, **rest)
    """
    (verdict,) = run(finding_at(project("mine.py", text), "# here")).verdicts
    assert verdict.outcome is Outcome.CONFIRMED, verdict.words
    assert "shrunk BertConfig" in verdict.inputs


CUDA_PROGRAM = """
    import torch
    from torch import nn

    def batches(device):
        return [torch.full((2, 8), float(n), device=device) for n in range(6)]

    def keep(model, data):
        kept = []
        with torch.inference_mode():
            for x in data:
                kept.append(model(x){clone})  # here
        return kept

    def main(device):
        torch.manual_seed(0)
        model = torch.compile(nn.Linear(8, 8).to(device).eval(), mode="reduce-overhead")
        return [float(y.sum()) for y in keep(model, batches(device))]
"""


@pytest.mark.cuda
@pytest.mark.parametrize(("clone", "outcome"), [("", "confirmed"), (".clone()", "refuted")])
def test_a_kept_cuda_graph_output(clone: str, outcome: str, project: Project, run: Callable[..., VerifyReport]) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    path = project("program.py", CUDA_PROGRAM.replace("{clone}", clone))
    report = run(finding_at(path, "# here", Effect.CUDAGRAPH), device="cuda")
    assert outcomes(report) == [outcome], report.verdicts
