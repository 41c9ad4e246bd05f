"""`tclint verify model.py` and `tclint model.py --verify` ask the compiler about the same findings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from lintkit import Project

import tclint.verify
from tclint.cli import main
from tclint.model.finding import Finding
from tclint.verify import Outcome, Verdict, VerifyOptions, VerifyReport

MODEL = """
    from torch import nn

    class Gate:
        def __init__(self, layer):
            self.layer = layer

        def step(self, x):
            print(x.shape)
            return self.layer(x)
"""
TRAIN = """
    import torch
    from torch import nn

    from model import Gate

    gate = Gate(nn.Linear(4, 4))
    step = torch.compile(gate.step)
    step(torch.ones(2, 4))
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The findings that each verifying run asks about; the answer is always yes."""
    rounds: list[list[str]] = []

    def verify(findings: Sequence[Finding], options: VerifyOptions, *watchers: object) -> VerifyReport:
        rounds.append([f"{finding.path}:{finding.line} {finding.code}" for finding in findings])
        verdicts = [Verdict(finding, Outcome.CONFIRMED, "said", "", (), "2.13", "cpu") for finding in findings]
        return VerifyReport(tuple(verdicts), torch="2.13", device="cpu")

    monkeypatch.setattr(tclint.verify, "verify", verify)
    return rounds


def test_a_compile_site_beside_the_file_counts_for_both(
    project: Project, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write({"pyproject.toml": "[project]\nname = 'x'\n", "model.py": MODEL, "train.py": TRAIN})
    monkeypatch.chdir(project.root)
    assert main(["model.py", "--verify", "--no-cache"]) == 1
    assert main(["verify", "model.py", "--no-cache"]) == 1
    assert asked == [["model.py:8 TCL108"]] * 2
    assert capsys.readouterr().out.count("TCL108 print-in-region") == 2


def test_only_the_named_files_are_asked_about(
    project: Project, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = TRAIN + "    @torch.compile\n    def f(x):\n        print(x)\n        return x\n"
    project.write({"pyproject.toml": "[project]\nname = 'x'\n", "model.py": MODEL, "train.py": broken})
    monkeypatch.chdir(project.root)
    main(["verify", "model.py", "--no-cache"])
    main(["verify", "--no-cache"])
    assert asked == [["model.py:8 TCL108"], ["model.py:8 TCL108", "train.py:11 TCL108"]]


def test_an_unknown_format_is_refused_before_anything_runs(
    project: Project, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write({"model.py": MODEL})
    monkeypatch.chdir(project.root)
    assert main(["verify", ".", "--output-format", "jsn"]) == 2
    assert asked == []
    assert "did you mean 'json'?" in capsys.readouterr().err
    assert not Path(project.root, ".tclint_cache").exists()
