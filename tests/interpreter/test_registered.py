"""What a module registers is a module: of a class that may have been called before, the object is what stays."""

from __future__ import annotations

from pathlib import Path

from lintkit import PRELUDE, Project, lint

CODE = """
import inspect
from torch import nn

class Layer(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        print("inside")
        return x * self.weight

class Chain(nn.ModuleDict):
    def append(self, layer, name):
        if "size" in inspect.signature(layer).parameters:
            layer = layer(size=8)
        self.add_module(name, layer)

    def forward(self, x):
        for layer in self.values():
            x = layer(x)
        return x

class Net(Chain):
    def __init__(self):
        super().__init__()
        self.append(Layer, str(len(self)))

net = torch.compile(Net())
net(torch.ones(8))
"""


def test_a_class_is_not_built_where_its_object_is_called(tmp_path: Path) -> None:
    Project(tmp_path).write({"a.py": PRELUDE + CODE})
    assert [finding.code for finding in lint(cwd=tmp_path).findings] == ["TCL108"]
