"""Transforms of torchvision and torchaudio in compiled code."""

from __future__ import annotations

from pathlib import Path

from tclint.api import lint

PROGRAM = """\
import torchaudio
import torchvision.transforms.functional as TF
from torch import nn
from torchvision import transforms


class Net(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.mel = torchaudio.transforms.MelSpectrogram(rate)
        self.norm = transforms.Normalize([0.5], [0.5])
        self.cut = transforms.CenterCrop(16)
        self.layers = nn.Sequential(transforms.Normalize([0.5], [0.5]), nn.Linear(3, 3))

    def forward(self, waveform, images, other):
        mel = self.mel(waveform)
        images = self.norm(images)
        images = self.cut(images)
        images = TF.normalize(TF.resize(images, [8, 8]), mean=[0.5], std=[0.5])
        known = TF.normalize(other.path, mean=[0.5], std=[0.5])
        return self.layers(images), mel, known
"""


def test_the_transforms_whose_code_breaks_are_named_where_they_get_tensors(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROGRAM)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(n, "TCL110") for n in (16, 17, 19, 21)]
    assert "`torchaudio.transforms.MelSpectrogram`" in report.findings[0].message


MASKED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2), 2)

    def forward(self, x, memory, mask=None):
        causal = torch.triu(x.new_ones(5, 5), 1)
        a = self.encoder(x, mask=causal)
        b = self.encoder(x, causal)
        c = self.decoder(tgt=x, memory=memory, tgt_mask=causal)
        d = self.encoder(x, mask=causal, is_causal=True)
        e = self.encoder(x, mask)
        f = self.encoder(x, src_key_padding_mask=causal)
        return a, b, c, d, e, f
"""


def test_a_transformer_that_is_not_told_reads_its_mask(tmp_path: Path) -> None:
    """Dynamo breaks in torch's own code (GB0124); asked on 2.4, 2.11 and 2.13."""
    (tmp_path / "m.py").write_text(MASKED)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(n, "TCL103") for n in (13, 14, 15)]


MACHINE_CODE = """\
import torch
from numba import njit
from torch import nn


@njit(cache=True)
def root_of(parent, x):
    while parent[x] != x:
        x = parent[x]
    return x


class Net(nn.Module):
    def forward(self, x):
        parent = x.detach().numpy()
        return x + root_of(parent, 3)
"""


def test_a_function_that_another_compiler_takes_breaks_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MACHINE_CODE)
    report = lint(["m.py"], cwd=str(tmp_path), isolated=True)
    assert [(f.line, f.code) for f in report.findings] == [(16, "TCL110")]
    assert "`numba.njit`" in report.findings[0].message
