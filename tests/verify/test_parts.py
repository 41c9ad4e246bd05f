"""The torch-free parts: targets, statements, guesses, repairs, the cache, the registry, and the rule about torch."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

import pytest
from verify_helpers import finding_on

import tclint.verify
from tclint.model import codec
from tclint.model.finding import Compiled, Effect, Step
from tclint.verify import VerifyOptions, mains, parent, process
from tclint.verify.answers import Cache
from tclint.verify.assertions import solved
from tclint.verify.complaints import asked, computed
from tclint.verify.docstrings import kind_in
from tclint.verify.guess import Several, TensorSpec, from_jaxtyping, number_for, value_for
from tclint.verify.heard import Heard, Run
from tclint.verify.job import PROGRAM, Candidate, Goal, Job
from tclint.verify.parent import executor_for
from tclint.verify.process import Limits, environment, visible_gpus
from tclint.verify.registered import example, registered
from tclint.verify.repair import repairs
from tclint.verify.spans import outline_of
from tclint.verify.targets import candidates_of, targets_of
from tclint.verify.unflagged import unflagged_targets
from tclint.verify.waiting import waited

PACKAGE = Path(tclint.verify.__file__).parent
SOURCE = """\
class Model:
    def forward(self, x):
        return self._inner(x)

    def _inner(self, x):
        return helper(x)

    def encode(self, x):
        return x

def helper(x):
    def nested():
        return x
    return nested()
"""


def test_only_files_named_child_import_torch() -> None:
    for path in sorted(PACKAGE.glob("*.py")):
        imported = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.split(".")[0])
                assert path.name.startswith("child") or ".child" not in node.module, path
        assert "torch" not in imported or path.name.startswith("child"), path


def test_importing_verify_imports_no_torch() -> None:
    code = "import sys, tclint.verify; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parents[1])})


@pytest.mark.parametrize(
    ("function", "name"),
    [("Model.forward", "Model"), ("Model._inner", "Model"), ("Model.encode", "Model.encode"), ("helper", "helper")],
)
def test_the_holder_of_a_line_is_run(function: str, name: str, project: Callable[[str, str], Path]) -> None:
    path = project("m.py", SOURCE)
    found = candidates_of(finding_on("m.py", 3, function=function), str(path.parent))
    assert found[0] == Candidate(os.path.realpath(path), name)


def test_the_head_of_the_chain_comes_first(project: Callable[[str, str], Path]) -> None:
    path = project("m.py", SOURCE)
    chain = (Step("m.py", 1, "torch.compile(model)"), Step("m.py", 2, "Model.forward"), Step("m.py", 11, "helper"))
    finding = replace(finding_on("m.py", 13, function="helper.<locals>.nested"), chain=chain)
    assert [item.name for item in candidates_of(finding, str(path.parent))] == ["Model", "helper"]


def test_the_program_that_compiles_a_line_of_another_file_comes_first(project: Callable[[str, str], Path]) -> None:
    path = project("m.py", SOURCE)
    site = Step("train.py", 3, "torch.compile(model)")
    chain = (site, Step("m.py", 2, "Model.forward"), Step("m.py", 11, "helper"))
    finding = replace(finding_on("m.py", 13, function="helper.<locals>.nested"), chain=chain)
    project("train.py", "import torch\nfrom m import Model\nmodel = torch.compile(Model())\n")
    root = str(path.parent)
    assert [item.name for item in candidates_of(finding, root)] == ["Model", "helper"]
    project(
        "train.py", "import torch\nfrom m import Model\nmodel = torch.compile(Model())\nprint(model(torch.ones(2)))\n"
    )
    found = candidates_of(finding, root)
    assert [item.name for item in found] == [PROGRAM, "Model", "helper"]
    assert found[0].path == os.path.join(os.path.realpath(root), "train.py")
    for other in (replace(finding, effect=Effect.CUDAGRAPH), replace(finding, assumed=True)):
        assert [item.name for item in candidates_of(other, root)] == ["Model", "helper"]


def test_what_the_configuration_names_for_the_line_comes_before_the_head(project: Callable[[str, str], Path]) -> None:
    path = project("m.py", SOURCE)
    chain = (Step("m.py", 2, "helper"), Step("m.py", 9, "Model.encode"))
    finding = replace(finding_on("m.py", 9, function="Model.encode"), chain=chain)
    root = str(path.parent)
    for keys in (("m:helper", "m:Model.encode"), ("Model.encode",), (f"{path.parent.name}.m:Model.encode",)):
        assert [item.name for item in candidates_of(finding, root, keys)] == ["Model.encode", "helper"], keys
    for keys in ((), ("m:Model",), ("m:helper",), ("n:Model.encode",), ("a.m:Model.encode",)):
        assert [item.name for item in candidates_of(finding, root, keys)] == ["helper", "Model.encode"], keys


def test_cuda_graph_findings_run_apart(project: Callable[[str, str], Path]) -> None:
    path = project("m.py", SOURCE)
    findings = [
        finding_on("m.py", 3, function="Model.forward"),
        finding_on("m.py", 6, function="Model._inner"),
        finding_on("m.py", 3, Effect.CUDAGRAPH, function="Model.forward"),
    ]
    targets = targets_of(findings, VerifyOptions(root=str(path.parent)))
    assert [len(target.findings) for target in targets] == [2, 1]


def test_each_file_that_a_compiled_class_leads_to_has_its_own_time(project: Callable[[str, str], Path]) -> None:
    path = project("m.py", SOURCE)
    project("n.py", SOURCE)
    own = finding_on("m.py", 3, function="Model.forward")
    chain = (Step("m.py", 3, "Model.forward"), Step("n.py", 3, "Model.forward"))
    led = [replace(finding_on("n.py", line, function="Model.forward"), chain=chain) for line in (3, 4)]
    options = VerifyOptions(root=str(path.parent), record=str(path.parent))
    targets = targets_of([own, *led], options)
    assert [len(target.findings) for target in targets] == [1, 2]
    assert {target.job.candidates[0].path for target in targets} == {str(path)}
    assert len({target.job.record for target in targets}) == 2


def test_a_program_runs_once_for_a_proof_of_all_its_files(project: Callable[[str, str], Path]) -> None:
    for name in ("m.py", "n.py"):
        path = project(name, SOURCE)
    body = "import torch\nfrom m import Model\nmodel = torch.compile(Model())\nprint(model(torch.ones(2)))\n"
    chain = (Step(str(project("train.py", body).name), 3, "torch.compile(Model())"),)
    found = [replace(finding_on(name, 3, function="Model.forward"), chain=chain) for name in ("m.py", "n.py")]
    plain = VerifyOptions(root=str(path.parent), timeout=60)
    assert [target.job.seconds for target in targets_of(found, plain)] == [60, 60]
    (whole,) = targets_of(found, replace(plain, record=str(path.parent)))
    (other,) = targets_of(found[1:], replace(plain, record=str(path.parent)))
    assert (len(whole.findings), whole.job.seconds) == (2, 120)
    # What one of them is compared with is the record of the whole.
    assert other.job.record == whole.job.record


def test_findings_of_other_sites_run_apart_and_under_their_own_site(project: Callable[[str, str], Path]) -> None:
    path = project("m.py", SOURCE)
    site = Compiled(mode="max-autotune", dynamic=True, fullgraph=True, options=(("triton.cudagraphs", "True"),))
    plain = finding_on("m.py", 4, function="Model.forward")
    full = replace(plain, compiled=site)
    graph = replace(full, effect=Effect.CUDAGRAPH)
    options = VerifyOptions(root=str(path.parent))
    jobs = [target.job for target in targets_of([plain, full, graph], options)]
    assert [job.compiled for job in jobs] == [Compiled(), Compiled(dynamic=True, fullgraph=True), site]
    for job in jobs:
        assert codec.decode(Job, json.loads(json.dumps(codec.encode(job)))) == job


def test_statements_and_functions() -> None:
    outline = outline_of("@d\ndef f(\n    x,\n):\n    y = g(\n        x\n    )\n    if y:\n        return 1\n")
    assert list(outline.statement(6, 6)) == [5, 6, 7]
    assert list(outline.statement(8, 8)) == [8]
    function = outline.function_at(6)
    assert function is not None
    assert (function.name, function.first, function.line) == ("f", 1, 2)
    assert outline_of("def broken(").functions == ()


def test_jobs_cross_the_process_boundary() -> None:
    job = Job("/r", (Candidate("/r/m.py", "Model"),), (Goal("/r/m.py", 3, 4, "graph-break"),), factories={"a:B": "c:d"})
    assert codec.decode(Job, codec.encode(job)) == job


def test_the_environment_is_scrubbed() -> None:
    base = {"TORCH_LOGS": "all", "TORCHDYNAMO_DISABLE": "1", "HOME": "/h", "TORCH_TRACE": "/x"}
    found = environment("cpu", "/tmp/s", base)
    assert "TORCH_LOGS" not in found
    assert "TORCHDYNAMO_DISABLE" not in found
    assert "TORCH_TRACE" not in found
    assert (found["HOME"], found["PYTHONDONTWRITEBYTECODE"], found["CUDA_VISIBLE_DEVICES"]) == ("/h", "1", "")
    assert "CUDA_VISIBLE_DEVICES" not in environment("cuda", "/tmp/s", base)


@pytest.mark.parametrize("beside", [False, True])
def test_bytecode_that_torch_lacks_is_kept_in_a_folder_of_ours(tmp_path: Path, beside: bool) -> None:
    """Never beside the sources, and only where there is none."""
    site, kept = tmp_path / "site", tmp_path / "kept"
    (site / "torch").mkdir(parents=True)
    (site / "torch" / "__init__.py").write_text("")
    (site / "theirs.py").write_text("")
    env = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join([str(site), str(Path(tclint.__file__).parent.parent)])}
    if beside:
        subprocess.run([sys.executable, "-c", "import torch"], env=env, check=True)
    there = sorted(site.rglob("*.pyc"))
    program = (
        "import sys; from tclint.verify.child import serve; serve._keep_bytecode(sys.argv[1]); import torch, theirs"
    )
    subprocess.run([sys.executable, "-c", program, str(kept)], env={**env, "PYTHONDONTWRITEBYTECODE": "1"}, check=True)
    assert sorted(site.rglob("*.pyc")) == there
    assert bool(there) is beside
    assert {path.name.partition(".")[0] for path in kept.rglob("*.pyc")} == (
        set() if beside else {"__init__", "theirs"}
    )
    assert process.bytecode({"HOME": "/h"}) == os.path.join("/h", ".cache", "tclint", "bytecode")
    assert process.bytecode({"HOME": "/h", "XDG_CACHE_HOME": "/c"}) == os.path.join("/c", "tclint", "bytecode")


def test_what_is_said_of_the_compiler_for_cpp_is_kept() -> None:
    """Without the first, Inductor builds a library for each instruction set, in every run: twenty seconds."""
    base = {"TORCHINDUCTOR_VEC_ISA_OK": "1", "TORCHINDUCTOR_MAX_AUTOTUNE": "1", "TORCHINDUCTOR_CACHE_DIR": "/theirs"}
    found = environment("cpu", "/tmp/s", base)
    assert found["TORCHINDUCTOR_VEC_ISA_OK"] == "1"
    assert "TORCHINDUCTOR_MAX_AUTOTUNE" not in found
    assert found["TORCHINDUCTOR_CACHE_DIR"] == "/tmp/s/inductor"


def test_one_child_for_each_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 5,7")
    assert visible_gpus() == ("3", "5", "7")
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": "-1"}) == ()
    assert environment("cuda", "/tmp/x", {}, "5")["CUDA_VISIBLE_DEVICES"] == "5"
    assert environment("cpu", "/tmp/x", {}, "5")["CUDA_VISIBLE_DEVICES"] == ""
    busy: list[str] = []
    seen: set[str] = set()

    def work(job: Job, limits: Limits) -> str:
        assert limits.gpu not in busy
        busy.append(limits.gpu)
        seen.add(limits.gpu)
        time.sleep(0.01)
        busy.remove(limits.gpu)
        return limits.gpu

    job = Job("/r", (), ())
    with executor_for(VerifyOptions(device="cuda", jobs=2)) as pool:
        done = [pool.submit(work, job, Limits("python", "cuda")) for _ in range(20)]
        assert {future.result() for future in done} == seen == {"3", "5"}
    with executor_for(VerifyOptions(device="cuda:1", jobs=2)) as pool:
        assert pool.submit(work, job, Limits("python", "cuda:1")).result() == ""


@pytest.mark.parametrize(("kept_waiting", "ended"), [(0.0, True), (3600.0, False)])
def test_the_time_that_a_busy_machine_takes_does_not_count(
    kept_waiting: float, ended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "waited", lambda pid: kept_waiting)
    orders: list[dict[str, object]] = []
    events: SimpleQueue[dict[str, object]] = SimpleQueue()
    server = object.__new__(process.Server)
    monkeypatch.setattr(server, "_send", orders.append)
    events.put({"event": "started", "pid": os.getpid()})
    later = threading.Timer(2.0, lambda: events.put({"event": "ended", "code": 1}))
    later.start()
    server._watch(1, events, tmp_path, 0.5, 10**9)
    later.join()
    assert orders == ([{"kill": 1}] if ended else [])


@pytest.mark.parametrize(
    ("message", "name", "shape"),
    [
        ("cell must have shape (3, 3), got (2, 8, 32)", "cell", (3, 3)),
        ("tags must have dimension of 2, got 3", "tags", (2, 32)),
        ("the mask should be 4-D", "mask", (2, 32, 32, 32)),
        ("expects input size (48, 16), got (8, 32)", "cell", (2, 48, 16)),
        ("Expected 16 tokens for (4, 4), got 8", "cell", (2, 16, 32)),
        ("hidden0 has inconsistent hidden_size: got 32, expected 24", "cell", (2, 8, 24)),
        ("sequence length must be divisible by 6", "cell", (2, 8, 36)),
    ],
)
def test_what_a_program_says_of_its_inputs_is_heeded(message: str, name: str, shape: tuple[int, ...]) -> None:
    inputs = {one: TensorSpec((2, 8, 32)) for one in ("cell", "tags", "mask")}
    assert {**inputs, name: TensorSpec(shape)} in list(asked(message, inputs))


def test_a_width_that_was_joined_or_flattened_is_taken_apart() -> None:
    two = {"obs": TensorSpec((2, 64)), "action": TensorSpec((2, 64))}
    assert {name: TensorSpec((2, 32)) for name in two} in list(computed(two, 128, 64))
    assert {**two, "obs": TensorSpec((2, 34))} in list(computed(two, 92, 62))
    assert {"x": TensorSpec((2, 4, 32))} in list(computed({"x": TensorSpec((2, 8, 32))}, 256, 128))


def test_who_waits_for_a_processor_is_told() -> None:
    assert waited() >= 0.0
    assert waited("no such process") == 0.0


def test_several_children_to_a_gpu_as_its_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "visible_gpus", lambda: ("0", "1"))
    free = {"0": parent.CHILD_MB * 3, "1": parent.CHILD_MB * 2 - 1}
    monkeypatch.setattr(parent, "free_memory_mb", lambda gpu: free[gpu])

    def places(jobs: int) -> list[str]:
        pool = executor_for(VerifyOptions(device="cuda", jobs=jobs))
        job = Job("/r", (), ())
        barrier = threading.Barrier(min(jobs, 4))

        def work(job: Job, limits: Limits) -> str:
            barrier.wait(10)
            return limits.gpu

        with pool:
            return sorted(
                f.result() for f in [pool.submit(work, job, Limits("python")) for _ in range(barrier.parties)]
            )

    assert places(2) == ["0", "1"]
    assert places(3) == ["0", "0", "1"]
    assert places(8) == ["0", "0", "0", "1"]


def test_a_program_is_searched_for_cuda_graphs_where_there_are_some(tmp_path: Path) -> None:
    """One target for the file, not one for each class in it."""
    (tmp_path / "m.py").write_text(
        "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
        "def main(device):\n    return torch.compile(M())(torch.ones(2, device=device))\n"
    )
    for device, graphs in (("cuda", True), ("cpu", False)):
        options = VerifyOptions(device=device, root=str(tmp_path))
        (target,) = unflagged_targets(["m.py"], (), options)
        assert (target.job.candidates[0].name, target.job.graphs) == ("<program>", graphs)


@pytest.mark.parametrize(
    ("pattern", "info", "shape"),
    [
        ("b (w1 p1) (w2 p2) c -> b w1 w2 p1 p2 c", "{'p1': 3, 'p2': 3}", (2, 18, 18, 32)),
        ("b n (h d) -> b h n d", "{'h': 3}", (2, 8, 33)),
        ("b c t f -> b (c f) t", "{}", (2, 32, 8, 32)),
    ],
)
def test_a_pattern_says_what_fits_it(pattern: str, info: str, shape: tuple[int, ...]) -> None:
    words = (
        f'EinopsError:  Error while processing rearrange-reduction pattern "{pattern}".\n Input tensor shape: '
        f"torch.Size([2, 8, 32]). Additional info: {info}.\n Wrong shape"
    )
    assert next(repairs(words, {"x": TensorSpec((2, 8, 32))}, {}))["x"].shape == shape


@pytest.mark.parametrize(
    ("doc", "kind", "may_be_none"),
    [
        ("Args:\n    width (int): how wide\n", int, False),
        ("Args:\n    width (dict | None): how wide\n", dict, True),
        ("Args:\n    width (list[float]): how wide\n", list[float], False),
        ("Parameters\n----------\nwidth : bool, optional\n    how wide", bool, True),
        (":param width: how wide\n:type width: str\n", str, False),
        ("width: the larger one, in pixels.\n", None, False),
    ],
)
def test_kinds_in_docstrings(doc: str, kind: object, may_be_none: bool) -> None:
    assert kind_in([doc], "width") == (kind, may_be_none)


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("assert heads * size == dim, 'no'", [{"heads": 8}, {"dim": 12}]),
        ("assert self.dim % self.heads == 0", [{"dim": 33}, {"heads": 2}]),
        ("assert dim == heads * size", [{"dim": 12}, {"heads": 8}]),
        ("assert heads * size == 24 and dim > 3", [{"heads": 6}, {"size": 8}]),
        ("assert heads == 3", []),
        ("assert dim // 0 == dim", []),
        ("return heads", []),
    ],
)
def test_numbers_that_make_an_assertion_hold(line: str, changes: list[dict[str, int]]) -> None:
    assert list(solved(line, {"heads": 3, "size": 4, "dim": 32})) == changes


def test_a_server_that_nobody_needs_is_not_waited_for(tmp_path: Path) -> None:
    """It is started while the program is linted; where there is nothing to ask, the run ends at once."""
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    parent.warm_up(VerifyOptions(root=str(tmp_path), python=str(slow), cache_dir=None))
    begun = time.monotonic()
    while not process._starting and time.monotonic() - begun < 30:
        time.sleep(0.01)
    (started,) = process._starting
    report = tclint.verify.verify([], VerifyOptions(root=str(tmp_path), python=str(slow)))
    assert report.verdicts == ()
    assert started.wait(timeout=10) != 0
    assert time.monotonic() - begun < 45


def test_where_answers_are_kept_nothing_is_started_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Limits] = []
    monkeypatch.setattr("tclint.verify.parent.start_server", started.append)
    parent.warm_up(VerifyOptions(root=str(tmp_path), cache_dir=str(tmp_path)))
    time.sleep(0.2)
    assert not started


HEAD = "import torch\nmodel = torch.compile(torch.nn.Linear(2, 2))\n"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (HEAD + "for x in torch.ones(3, 2):\n    print(model(x))\n", True),
        (HEAD + "y = model(torch.ones(2))\n", True),
        (HEAD + "def main():\n    return model(torch.ones(2))\nmain()\n", True),
        ("import torch\nnet = torch.nn.Linear(2, 2)\nnet.compile()\nprint(net(torch.ones(2)))\n", True),
        (HEAD, False),
        (HEAD + "def main():\n    return model(torch.ones(2))\n", False),
        ("import torch\nnet = torch.nn.Linear(2, 2)\nnet.compile()\n", False),
        ("import torch\ndef make():\n    return torch.compile(torch.sin)\nsin = make()\n", False),
        ("import re\nword = re.compile('a')\nprint(word.match('a'))\n", False),
    ],
)
def test_scripts_are_known_by_what_they_call(tmp_path: Path, text: str, is_one: bool) -> None:
    (tmp_path / "m.py").write_text(text)
    assert mains.is_script(tmp_path / "m.py") is is_one
    assert mains.is_program(tmp_path / "m.py") is is_one


def test_of_what_a_program_prints_only_what_lasts_is_compared() -> None:
    pytest.importorskip("torch")
    from tclint.verify.child import program

    words = "loss 0.52345 after 12 steps, 3.1 ms (0.000012 s), tensor([-1.2346, 2.0000e+00])"
    assert program._numbers(words) == [0.52345, -1.2346, 2.0]
    assert program._lasting({"a": 1.5, "b": 2.5}, {"a": 1.5, "b": 2.25}) == {"a"}
    assert program._lasting({"a": 1.5}, {"a": 1.5, "b": 2.25}) == frozenset()


@pytest.mark.parametrize("edited", ["class Model: 'my edit'\n", ""], ids=["saved", "emptied"])
def test_what_changes_during_the_run_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str) -> None:
    """The user may have saved it: nothing is put back, and what the target said is not believed."""
    source = tmp_path / "m.py"
    source.write_text(SOURCE)
    (tmp_path / "aside").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "aside"))

    def job(job: Job, limits: Limits) -> Heard:
        source.write_text(edited)
        return Heard(torch="2.13.0", runs=(Run("breaks", "train", "s"),))

    monkeypatch.setattr("tclint.verify.parent.run_job", job)
    findings = [finding_on("m.py", 3, function="Model.forward"), finding_on("m.py", 9, function="Model.encode")]
    report = tclint.verify.verify(findings, VerifyOptions(root=str(tmp_path)))
    assert source.read_text() == edited
    assert {verdict.outcome.value for verdict in report.verdicts} == {"inconclusive"}
    assert all("changed while the target ran" in verdict.words for verdict in report.verdicts)
    assert all("run again" in verdict.hint for verdict in report.verdicts)
    (note,) = report.notes
    (kept,) = (tmp_path / "aside").glob("*/m.py")
    assert note.endswith(f"by a target or by you: left as it is; what it held before: {kept}")
    assert kept.read_text() == SOURCE


def test_a_file_that_goes_during_the_run_is_not_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "m.py"
    source.write_text(SOURCE)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "no such folder"))
    monkeypatch.setattr("tclint.verify.parent.run_job", lambda job, limits: source.unlink() or Heard())
    report = tclint.verify.verify([finding_on("m.py", 3)], VerifyOptions(root=str(tmp_path)))
    assert not source.exists()
    assert "what it held before: could not be kept (No such file or directory)" in report.notes[0]


def test_answers_are_kept_in_a_cache_of_ours_only(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "guide.md").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "new")
    job = Job(str(tmp_path), (Candidate("m.py", "M"),), ())
    for name in ("docs", "link"):
        Cache(str(tmp_path / name)).put(job, "2", Heard(runs=(Run("breaks", "train", "s"),)))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["docs", "guide.md", "link"]
    cache = Cache(str(tmp_path / "cache"))
    cache.put(job, "2", Heard(runs=(Run("breaks", "train", "s"),)))
    (entry,) = (tmp_path / "cache" / "verify").iterdir()
    assert cache.get(job, "2") is not None
    entry.write_bytes(entry.read_bytes()[:-1])
    assert cache.get(job, "2") is None
    entry.unlink()
    entry.symlink_to("/dev/zero")
    assert cache.get(job, "2") is None


def test_the_cache_holds_until_a_source_changes(tmp_path: Path) -> None:
    source, helper = tmp_path / "m.py", tmp_path / "h.py"
    source.write_text("a")
    helper.write_text("b")
    job = Job(str(tmp_path), (Candidate(str(source), "M"),), (Goal(str(source), 1, 1, "graph-break"),))
    told = Heard(torch="2.13.0", runs=(Run("breaks", "train", "s"),), sources=(str(helper),))
    cache = Cache(str(tmp_path / "cache"))
    assert cache.get(job, "2.13.0") is None
    cache.put(job, "2.13.0", told)
    assert cache.get(job, "2.13.0") == told
    assert cache.get(job, "2.12.0") is None
    assert cache.get(replace(job, device="cuda"), "2.13.0") is None
    helper.write_text("changed")
    assert cache.get(job, "2.13.0") is None


def test_trouble_is_not_cached(tmp_path: Path) -> None:
    job = Job(str(tmp_path), (Candidate("m.py", "M"),), ())
    cache = Cache(str(tmp_path))
    cache.put(job, "2", Heard(trouble="hung"))
    assert cache.get(job, "2") is None
    assert Cache(None).get(job, "2") is None


def test_examples_are_registered_by_class_or_name() -> None:
    class Model:
        pass

    @example(Model)
    def make() -> tuple[Model, list[int]]:
        return Model(), []

    @example("package.models:Other")
    def other() -> None:
        return None

    assert registered(Model) is make
    assert registered("package.models:Other") is other
    assert registered(int) is None


def test_names_suggest_values() -> None:
    assert number_for("num_heads") == 4
    assert number_for("attn_dropout") == 0.0
    assert number_for("nothing_like_it_zz") is None
    assert value_for("input_ids") == TensorSpec((2, 8), "int64", 2)
    assert value_for("pixel_values") == TensorSpec((2, 3, 32, 32))
    assert value_for("use_cache") is False
    assert isinstance(value_for("position_embeddings"), Several)


@pytest.mark.parametrize(
    ("annotation", "spec"),
    [
        ('Float[Tensor, "batch seq 64"]', TensorSpec((2, 8, 64))),
        ('Int[torch.Tensor, "b n"]', TensorSpec((2, 8), "int64")),
        ('jaxtyping.Bool[Tensor, "b"]', TensorSpec((2,), "bool")),
        ("Tensor", None),
    ],
)
def test_jaxtyping_annotations(annotation: str, spec: TensorSpec | None) -> None:
    assert from_jaxtyping(annotation) == spec


@pytest.mark.parametrize(
    ("message", "before", "after"),
    [
        ("mat1 and mat2 shapes cannot be multiplied (16x32 and 64x128)", (2, 8, 32), (2, 8, 64)),
        ("expected input[2, 32, 32, 32] to have 3 channels, but got 32 channels", (2, 32, 32, 32), (2, 3, 32, 32)),
        ("Expected 3D (unbatched) or 4D (batched) input to conv2d, but got", (2, 8, 32), (2, 32, 32, 32)),
        ("not enough values to unpack (expected 4, got 3)", (2, 8, 32), (2, 32, 32, 32)),
        ("Given normalized_shape=[48], expected [*, 48], but got input of size[2, 8, 32]", (2, 8, 32), (2, 8, 48)),
        ("running_mean should contain 32 elements not 16", (2, 32, 8, 8), (2, 16, 8, 8)),
        ("input.size(-1) must be equal to input_size. Expected 10, got 32", (2, 8, 32), (2, 8, 10)),
        ("einsum(): subscript d has size 32 for operand 1 which does not broadcast with previously seen size 4", (2, 32), (2, 4)),
        ("NotImplementedError: Padding size 6 is not supported for 3D input tensor", (2, 8, 32), (2, 32, 4, 32, 32)),
    ],
)  # fmt: skip
def test_errors_say_how_to_repair(message: str, before: tuple[int, ...], after: tuple[int, ...]) -> None:
    first = next(repairs(message, {"x": TensorSpec(before)}, {}))
    assert first["x"].shape == after


def test_errors_that_name_a_missing_argument() -> None:
    wanted = {"decoder_input_ids": TensorSpec((2, 8), "int64")}
    first = next(repairs("ValueError: You have to specify decoder_input_ids", {"x": TensorSpec((2, 8))}, wanted))
    assert set(first) == {"x", "decoder_input_ids"}


def test_a_pattern_with_an_ellipsis_says_what_the_other_axes_are() -> None:
    told = 'Error while processing rearrange-reduction pattern "{}".\n Input tensor shape: torch.Size([2, 8, 32]). Additional info: {{}}.'
    given = {"x": TensorSpec((2, 8, 32))}
    found = list(repairs("EinopsError: " + told.format("1 ... -> ...") + "\n Shape mismatch, 2 != 1", given, {}))
    assert found[0]["x"].shape == (1, 8, 32)
    found = list(repairs("EinopsError: " + told.format("... 3 -> ...") + "\n Shape mismatch, 32 != 3", given, {}))
    assert found[0]["x"].shape == (2, 8, 3)


def test_what_is_written_back_is_no_larger() -> None:
    told = "RuntimeError: output with shape [] doesn't match the broadcast shape [8, 32]"
    found = list(repairs(told, {"count": 1, "probs": TensorSpec((2, 8, 32))}, {}))
    assert found[0]["probs"].shape == (2,)
