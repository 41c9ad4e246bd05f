"""benchmarks/modules.py: the modules of installed packages, built by verify's guesser and judged by Dynamo."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.dynamo, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]

LAYERS = """
import abc
import time
import torch
from torch import nn

class Branching(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        y = self.fc(x)
        if y.sum() > 0:
            return y
        return -y

class Clean(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * 2

class Sleeps(nn.Module):
    def forward(self, x: torch.Tensor):
        while True:
            time.sleep(1)

class Base(nn.Module):
    def forward(self, x: torch.Tensor):
        raise NotImplementedError

class Abstract(nn.Module, abc.ABC):
    @abc.abstractmethod
    def width(self): ...

    def forward(self, x: torch.Tensor):
        return x * self.width()
"""


def examined(site: Path, out: Path, torch_python: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "modules.py"), str(site), "--out", str(out), "--seconds", "8"]
    return subprocess.run([*command, "--python", torch_python, *more], capture_output=True, text=True, check=True)


def test_modules_of_a_package(tmp_path: Path, torch_python: str) -> None:
    site, out = tmp_path / "site", tmp_path / "out"
    (site / "pack" / "tests").mkdir(parents=True)
    (site / "pack" / "__init__.py").write_text("from pack.layers import *\n")
    (site / "pack" / "layers.py").write_text(LAYERS)
    # A file of a name that the standard library has must not take its place.
    (site / "pack" / "time.py").write_text("raise ImportError('not to be imported as the top module time')\n")
    (site / "pack" / "tests" / "test_it.py").write_text("raise SystemExit('tests are not imported')\n")
    first = examined(site, out, torch_python, "--per-package", "2")
    assert json.loads((out / "summary.json").read_text())["tried"] == 2, first.stdout
    # The second run goes on where the first one ended.
    second = examined(site, out, torch_python)
    assert sum("layers.py:" in line for line in second.stdout.splitlines()) == 1, second.stdout
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["found"], summary["tried"], summary["built"]) == (3, 3, 2), summary
    assert summary["not tried, abstract"] == 2, "nobody can run a promise"
    assert summary["not built"] == {"time": 1}
    truth = json.loads(gzip.decompress((out / "truth.json.gz").read_bytes()))
    assert {(run["entry_class"], run["mode"]) for run in truth["runs"]} == {
        (name, mode) for name in ("Branching", "Clean") for mode in ("eval", "train")
    }
    line = LAYERS.splitlines().index("        if y.sum() > 0:") + 1
    assert {(item["file"], item["line"]) for run in truth["runs"] for item in run["breaks"]} == {
        ("pack/layers.py", line)
    }
    assert all(line in run["covered"]["pack/layers.py"] for run in truth["runs"] if run["entry_class"] == "Branching")
