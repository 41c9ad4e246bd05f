"""A little of `scripts/fuzz.py`: the same programs every time."""

from __future__ import annotations

import importlib.util
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from lintkit import ROOT

from tclint.model.report import Report
from tclint.run.fixing import Done
from tclint.run.project import Project

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="nothing rings there")]


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    sys.path.insert(0, str(ROOT / "scripts"))
    spec = importlib.util.spec_from_file_location("fuzz", ROOT / "scripts" / "fuzz.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", [1, 2])
def test_programs_that_nobody_wrote(fuzz: ModuleType, seed: int, tmp_path: Path) -> None:
    done = fuzz.run(seed, tmp_path / "project", count=8, keep=tmp_path / "failures")
    assert done.failures == []
    assert done.seen == 8
    assert done.findings > 0


def test_the_same_seed_makes_the_same_programs(fuzz: ModuleType) -> None:
    one, other = (fuzz.programs(7) for _ in range(2))
    made = [next(one) for _ in range(20)]
    assert made == [next(other) for _ in range(20)]
    assert len(set(made)) == 20


def test_what_does_not_hold_is_told(fuzz: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer can fail: a rule that throws, a run that hangs."""
    from tclint.rules import tcl108_print_in_region

    def throw(self: object, event: object) -> None:
        raise RuntimeError("no")

    rule = next(each for name, each in vars(tcl108_print_in_region).items() if getattr(each, "code", "") == "TCL108")
    monkeypatch.setattr(rule, "on_call", throw)
    program = b"import torch\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n"
    fuzzer = fuzz.Fuzzer(tmp_path / "project", keep=tmp_path / "failures")
    fuzzer.feed([program])
    assert len(fuzzer.failures) == 2
    assert all("TCL905" in each for each in fuzzer.failures)
    assert (tmp_path / "failures" / "program_1_0.py").read_bytes() == program
    fuzzer = fuzz.Fuzzer(tmp_path / "wide")
    fuzzer.feed_wide([b"import torch\n", program])
    assert [each.partition(":")[0] for each in fuzzer.failures] == ["programs up to 2", "program 2"]


def test_every_door_can_fail(fuzz: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a door gives is looked at: one that gives something else is told, by its name."""
    program = b"import torch\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n"
    doors = {"_runs": "two processes", "_fix_all": "second fix", "_documents": "the server", "_books": "TCL905"}
    for door, words in doors.items():
        fuzzer = fuzz.Fuzzer(tmp_path / door)
        with monkeypatch.context() as changed:
            _spoil(fuzz, door, changed)
            fuzzer.feed_wide([program])
        assert len(fuzzer.failures) == 1, door
        assert words in fuzzer.failures[0]


def _spoil(fuzz: ModuleType, door: str, changed: pytest.MonkeyPatch) -> None:
    lint, fix, session = fuzz.Project.lint, fuzz.Project.fix, fuzz.Session.lint

    def linted(project: Project, **how: Any) -> Report:
        report = lint(project, **how)
        if door == "_runs" and project.settings.jobs == 2:
            return replace(report, findings=())
        if door == "_books" and project.reported[0].endswith(".ipynb"):
            return replace(report, findings=tuple(replace(f, code="TCL905") for f in report.findings))
        return report

    def fixed(project: Project, **how: Any) -> Done:
        done = fix(project, **how)
        if door == "_fix_all" and how.get("write") is False:
            done.fixed.contents["m0.py"] = b""
        return done

    changed.setattr(fuzz.Project, "lint", linted)
    changed.setattr(fuzz.Project, "fix", fixed)
    if door == "_documents":
        changed.setattr(fuzz.Session, "lint", lambda *given: [replace(each, findings=()) for each in session(*given)])


def test_many_small_programs(fuzz: ModuleType, tmp_path: Path) -> None:
    done = fuzz.run(3, tmp_path / "project", count=100, wide=True)
    assert (done.seen, done.failures) == (100, [])
    assert done.findings > 20
