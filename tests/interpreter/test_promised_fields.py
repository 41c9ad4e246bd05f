"""What a field of a configuration may hold: any of the classes that its annotation names, whatever it is set to by default."""

from __future__ import annotations

import pytest
from lintkit import Project

SOURCE = """
import torch
from torch import nn
from pydantic import BaseModel, Field
from elsewhere import Other

class One(nn.Module):
    def forward(self, x):
        print(1)
        return x

class Two(nn.Module):
    def forward(self, x):
        print(2)
        return x

class OneConfig(BaseModel):
    def build(self):
        return One()

class TwoConfig(BaseModel):
    def build(self):
        return Two()

class Config(BaseModel):
    {field}

class Model(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.net = config.net.build()

    def forward(self, x):
        return self.net(x)

def main(config: Config):
    torch.compile(Model(config))(torch.ones(2))
"""


@pytest.mark.parametrize(
    ("field", "lines"),
    [
        ("net: OneConfig = OneConfig()", [8]),
        ("net: OneConfig | TwoConfig", [8, 13]),
        ("net: OneConfig | TwoConfig = OneConfig()", [8, 13]),
        ("net: OneConfig | TwoConfig = Field(OneConfig(), discriminator='name')", [8, 13]),
        ("net: TwoConfig = Field(default_factory=TwoConfig)", [13]),
        # Nobody promises anything else.
        ("net = OneConfig()", [8]),
        ("net: BaseModel = OneConfig()", [8]),
        ("net: OneConfig | Other = OneConfig()", [8]),
        # An annotation that does not even name what the field holds says little.
        ("net: TwoConfig = OneConfig()", [8]),
    ],
)
def test_what_is_built_of_a_field_may_be_any_that_it_is_annotated_with(
    project: Project, field: str, lines: list[int]
) -> None:
    report = project.write({"a.py": SOURCE.format(field=field)}).lint(assume_compiled="never")
    assert [f.line for f in report.findings if f.code == "TCL108"] == lines
