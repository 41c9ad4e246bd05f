"""`tclint diagnose -- python train.py`: the program runs as it is, and what it did is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tclint.cli import main
from tclint.diagnose import report_json
from tclint.diagnose.measurement import SlowStep
from tclint.diagnose.program import steps_from

TRAIN = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return self.layer(x)

model = torch.compile(Net(), backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1000):
    loss = model(torch.randn(4, 8)).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("never printed")
"""


def test_the_later_half_of_the_steps_is_warm() -> None:
    told = steps_from("optimizer steps", [5.0, 5.5, 5.6, 5.7, 6.7, 6.8, 6.9], 12.0)
    assert (told.count, told.first_s, told.peak_mb) == (7, 5.0, 12.0)
    assert told.warm is not None
    assert told.warm.median_ms == pytest.approx(100)
    assert [(each.number, round(each.ms)) for each in told.slow] == [(2, 500), (5, 1000)]
    assert SlowStep(5, 1000.0).number == 5


def test_three_steps_say_nothing_of_a_warm_one() -> None:
    assert steps_from("optimizer steps", [5.0, 5.5, 5.6], None).warm is None


@pytest.mark.dynamo
def test_a_training_script_is_listened_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_python: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    out = ["--output-format", "json", "-o", "out.json"]
    assert main(["diagnose", "--steps", "12", *out, "--", torch_python, "train.py"]) == 0
    assert "never printed" not in capfd.readouterr().out
    told = report_json.read("out.json")
    assert told.steps is not None
    assert (told.steps.unit, told.steps.count) == ("optimizer steps", 12)
    assert told.steps.warm is not None
    assert told.breaks is not None
    assert [(row.path, row.line, row.rule) for row in told.breaks.breaks] == [("train.py", 10, "TCL101")]
    assert json.loads(Path("out.json").read_text())["target"].endswith("train.py")
    (tmp_path / "serve.py").write_text(
        TRAIN.partition("optimizer =")[0] + "for n in range(9): model(torch.ones(4, 8))\n"
    )
    assert main(["diagnose", "--", torch_python, "serve.py"]) == 0
    said = capfd.readouterr().out
    assert "9 calls of what is compiled" in said
    assert "verdict: 1 graph break, 0 functions compiled again; a warm step takes" in said


def test_a_program_that_is_not_there_or_has_no_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["diagnose", "--", "no-such-program", "train.py"]) == 2
    assert "no-such-program: no such program; write tclint diagnose -- python train.py" in capfd.readouterr().err
    assert main(["diagnose", "--", "sh", "-c", "exit 3"]) == 2
    assert "sh -c exit 3: the program compiled nothing (it ended with status 3)" in capfd.readouterr().err
