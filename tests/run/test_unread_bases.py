"""Libraries below the classes of what is compiled, of which nothing was read: named once, with the way to read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import lint

SOURCE = """
import abc
import torch
from numpy import ndarray
from {package} import {base}

class Model({base}):
    def forward(self, x):
        return self.embed(x)

class Other(abc.ABC, torch.nn.Module):
    def forward(self, x):
        return x

{how}
"""


@pytest.mark.parametrize(
    ("package", "base", "how", "named"),
    [
        ("transformers", "PreTrainedModel", "torch.compile(Model())", True),
        ("transformers", "PreTrainedModel", "torch.compile(Other())(torch.randn(3))", False),
        ("torch.nn", "Module", "torch.compile(Model())", False),
    ],
)
def test_a_library_below_what_is_compiled(tmp_path: Path, package: str, base: str, how: str, named: bool) -> None:
    (tmp_path / "a.py").write_text(SOURCE.format(package=package, base=base, how=how))
    notes = [note for note in lint("a.py", cwd=tmp_path).notes if "--python" in note]
    assert len(notes) == named
    assert all(package in note for note in notes)
