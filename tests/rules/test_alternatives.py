"""One of several callables: what a library's alternative does is said only where nothing else may run."""

from __future__ import annotations

from pathlib import Path

from tclint.api import lint

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, normed, loud):
        super().__init__()
        self.norm = nn.utils.spectral_norm if normed else lambda x: x
        self.both = nn.utils.spectral_norm if normed else nn.utils.parametrizations.spectral_norm
        self.tell = print if loud else None

    def forward(self, x):
        y = self.norm(x)
        z = self.both(x)
        self.tell("done")
        return y, z, print(x)
"""


def test_beside_code_of_the_program_an_alternative_is_unlikely(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert {f.line for f in report.findings} == {14, 15, 16}
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True, min_confidence="low")
    assert {f.line for f in report.findings} == {13, 14, 15, 16}


BOUND = """\
import torch
from torch import nn


class Cut(nn.Module):
    def __init__(self, **settings):
        super().__init__()
        self.register_buffer("sure", torch.tensor(3))
        if "width" in settings:
            self.register_buffer("width", torch.tensor(settings["width"]))
        else:
            self.width = None

    def forward(self, x):
        y = x[..., : self.width]
        return x[..., : self.sure] * 2, y
"""


def test_a_bound_that_may_be_none_is_unlikely(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(BOUND)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(16, "TCL104")]
