"""Class methods of libraries that build an object of the class they are called on."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

MODEL = """
from diffusers import ConfigMixin, ModelMixin
from huggingface_hub import PyTorchModelHubMixin

class Below({bases}):
    def __init__(self, dim=8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
{own}
    def forward(self, x):
        print(x)
        return self.fc(x)

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.below = Below.from_pretrained("name", torch_dtype=torch.float16)
        self.below.eval()

    def forward(self, x):
        return self.below(x)

def main(x):
    whole = Whole()
    whole.compile()
    return whole(x)
"""
BEHIND = """
    @classmethod
    def from_pretrained(cls, name, **given):
        made = super().from_pretrained(name, **given)
        made.requires_grad_(False)
        return made
"""
ANOTHER = """
    @classmethod
    def from_pretrained(cls, name, **given):
        return given["hub"].load(name)
"""


@pytest.mark.parametrize(
    ("bases", "own", "found"),
    [
        ("ModelMixin, ConfigMixin", "", 1),
        ("nn.Module, PyTorchModelHubMixin", "", 1),
        ("ModelMixin, ConfigMixin", BEHIND, 1),
        ("nn.Module", "", 0),
        ("ModelMixin, ConfigMixin", ANOTHER, 0),
    ],
    ids=["mixin", "hub", "super", "torch alone", "its own"],
)
def test_an_object_of_the_class(tmp_path: Path, bases: str, own: str, found: int) -> None:
    Project(tmp_path).write({"main.py": PRELUDE + MODEL.format(bases=bases, own=own)})
    report = lint(cwd=tmp_path)
    known = [finding for finding in report.findings if finding.code == "TCL108" and not finding.assumed]
    assert len(known) == found


def test_more_than_the_object(tmp_path: Path) -> None:
    asked = "made, told = Below.from_pretrained('name', output_loading_info=True)"
    source = MODEL.format(bases="ModelMixin", own="").partition("class Whole")[0]
    Project(tmp_path).write({"main.py": f"{PRELUDE}{source}\n{asked}\nmade.compile()\n"})
    assert not [each for each in lint(cwd=tmp_path).findings if not each.assumed]
