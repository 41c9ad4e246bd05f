"""Every fixture before its judge: TorchDynamo breaks where the fixture says, and nowhere else.

Where a test here fails, torch is right and the fixture is wrong. fixtures/README.md has the conventions.
"""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("torch")

import judge
import torch
from judge import FIXTURES, Expectation, Verdict, expectations
from kept_verdicts import judged

pytestmark = pytest.mark.dynamo

RULES = FIXTURES / "rules"
TORCH = torch.__version__


# torch itself breaks the graph before an optimizer's step; one file is about a function that its breaks send to eager.
OWN_BREAKS = {"TCL205/near_miss_eager_range": {"GB0033", "GB0124"}, "TCL216": {"GB0007", "GB0025"}}


def fixtures(family: str, kind: str = "*") -> list[object]:
    """The files of the rules whose code begins with `family`."""
    paths = sorted(RULES.glob(f"{family}*/{kind}.py"))
    return [pytest.param(path, id=f"{path.parent.name[:6]}/{path.stem}") for path in paths]


def expected(path: Path, family: str) -> set[int]:
    return {e.line for e in expectations(path) if e.code.startswith(family) and e.holds_for(TORCH)}


@cache
def compiled(path: Path, backend: str = "eager") -> Verdict:
    return judged(path, backend=backend)


def test_every_rule_has_the_three_kinds() -> None:
    folders = [folder for folder in sorted(RULES.iterdir()) if folder.name.startswith("TCL")]
    assert folders
    for folder in folders:
        stems = [path.stem for path in folder.glob("*.py")]
        for kind in ("bad_", "good_", "near_miss_"):
            assert any(stem.startswith(kind) for stem in stems), f"{folder.name} has no {kind}*.py"


def test_expectations_belong_to_their_folder() -> None:
    for path in sorted(RULES.glob("TCL*/*_*.py")):
        codes = {e.code for e in expectations(path)}
        if path.stem.startswith("bad_"):
            assert path.parent.name[:6] in codes, path
        else:
            assert not codes, path


# --- 1xx: graph breaks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", fixtures("TCL1"))
def test_breaks_where_expected(path: Path) -> None:
    verdict = compiled(path)
    assert verdict.lines(path.name) == expected(path, "TCL1"), _told(verdict)


# --- 2xx: recompiles --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", fixtures("TCL2", "bad_*"))
def test_bad_recompiles(path: Path) -> None:
    """At least two programs more than the repaired twin, in each function with an expectation."""
    twin = path.with_name(path.name.replace("bad_", "good_"))
    bad, good = compiled(path, "aot_eager"), compiled(twin, "aot_eager")
    assert bad.most_compiles >= good.most_compiles + 2, (bad.compiles, good.compiles, bad.reasons)
    for expectation in expectations(path):
        function = _compiled_function(path, expectation, bad)
        if function is not None:
            assert bad.compiles[function] >= good.most_compiles + 2, (function, bad.compiles)
    assert not bad.errors


def _compiled_function(path: Path, expectation: Expectation, verdict: Verdict) -> str | None:
    """The code object around the line, if it was compiled by itself (not inlined, and not the eager caller)."""
    inside = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.lineno <= expectation.line <= (node.end_lineno or node.lineno)
    ]
    innermost = max(inside, key=lambda node: node.lineno, default=None)
    if innermost is None:
        return None
    first = min([innermost.lineno, *(d.lineno for d in innermost.decorator_list)])
    name = f"{path.name}:{first} {innermost.name}"
    return name if name in verdict.compiles else None


NEEDED = {"TCL214/near_miss_turns": 3}
"""Programs that what the fixture does takes, each once, though it does so in every round."""


@pytest.mark.parametrize("path", [*fixtures("TCL2", "good_*"), *fixtures("TCL2", "near_miss_*")])
def test_good_settles(path: Path) -> None:
    """One program, and at most one more when a size or a number turns dynamic."""
    verdict = compiled(path, "aot_eager")
    most = NEEDED.get(f"{path.parent.name[:6]}/{path.stem}", 2)
    assert 1 <= verdict.most_compiles <= most, (verdict.compiles, verdict.reasons)
    rule = path.parent.name[:6]
    own = OWN_BREAKS.get(f"{rule}/{path.stem}") or OWN_BREAKS.get(rule, set())
    assert {b.gb for b in verdict.breaks} <= own
    assert not verdict.errors


# --- 3xx: CUDA graphs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", fixtures("TCL3"))
def test_cudagraph_fixture_runs(path: Path) -> None:
    """On a CPU only that the program runs, and that Dynamo has nothing to say about it."""
    source = path.read_text()
    if "torch.cuda." in source:
        pytest.skip("captures by hand: needs a CUDA device")
    if "def main(" in source:
        assert all(math.isfinite(value) for value in judge.run_main(path, "cpu"))
    else:
        assert compiled(path).lines(path.name) == set(), _told(compiled(path))


def test_masked_store_and_gradients() -> None:
    """In training the gradient of `x[mask] = y` is `grad[mask]`, which AOT backends refuse."""
    folder = next(RULES.glob("TCL302*"))
    bad = compiled(folder / "bad_image_tokens.py", "aot_eager")
    assert {b.gb for b in bad.breaks} == {"GB0219"}, _told(bad)
    assert not compiled(folder / "good_gather.py", "aot_eager").breaks


# What the label allows: an output kept in steady replay does not raise, it is wrong.
ALLOWED = {"overwritten": {"overwritten", "wrong"}, "skip": {"skip", "partition"}}


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("path", fixtures("TCL3"))
def test_cudagraph_outcome(path: Path) -> None:
    """In a process of its own: a failed capture spoils the CUDA context."""
    command = [sys.executable, str(Path(judge.__file__)), "--cuda", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["outcome"] in ALLOWED.get(answer["label"], {answer["label"]}), answer


# --- the demo ---------------------------------------------------------------------------------------------------------


def demo_lines(*codes: str) -> set[tuple[str, int]]:
    return {(path, line) for path, line, code in judge.demo_expectations() if code in codes}


@cache
def demo(name: str, entry: str, backend: str = "eager") -> Verdict:
    return judge.judge(FIXTURES / name / "run_demo.py", backend=backend, entry=entry)


def test_demo_breaks() -> None:
    verdict = demo("demo", "full")
    assert {(b.file, b.line) for b in verdict.breaks} == demo_lines("TCL101", "TCL102")


def test_demo_masked_store_is_refused_in_training() -> None:
    told = demo("demo", "full", "aot_eager").breaks
    assert ("models/vlm.py", "GB0219") in {(b.file, b.gb) for b in told}


def test_demo_recompiles_on_the_expanded_stride() -> None:
    verdict = demo("demo", "regional", "aot_eager")
    assert any("'position_ids' stride mismatch at index 0. expected 0" in reason for reason in verdict.reasons)
    assert verdict.most_compiles > 1


def test_demo_mark_in_a_block_raises() -> None:
    (error,) = demo("demo", "bridge").errors
    assert (error.file, error.line) in demo_lines("TCL111")
    assert "forbidden callable" in error.kind


@pytest.mark.parametrize("entry", ["full", "regional", "bridge"])
def test_fixed_demo_is_clean(entry: str) -> None:
    """Under AOT, which refuses all that plain Dynamo does, and more."""
    verdict = demo("demo_fixed", entry, "aot_eager")
    assert not verdict.breaks, _told(verdict)
    assert not verdict.errors, _told(verdict)
    assert set(verdict.compiles.values()) == {1}, (verdict.compiles, verdict.reasons)


@pytest.mark.parametrize("name", ["demo", "demo_fixed"])
def test_demo_runs(name: str) -> None:
    """Training and the controller, on a CPU."""
    losses, ranked = judge.run_entry(FIXTURES / name / "run_demo.py", "smoke")
    assert all(math.isfinite(loss) for loss in losses)
    assert sorted(ranked) == [0, 1]


def test_twin_expects_nothing() -> None:
    assert not [e for path in (FIXTURES / "demo_fixed").rglob("*.py") for e in expectations(path)]


def _told(verdict: Verdict) -> str:
    return "\n".join(f"{b.file}:{b.line} {b.gb} {b.kind}" for b in (*verdict.breaks, *verdict.errors)) or "nothing"
