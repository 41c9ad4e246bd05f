"""Modules that a walk through a module of unknown class comes to are compiled by `.compile()`: a site, whichever they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint


@pytest.mark.parametrize(
    ("model", "walk", "count"),
    [
        ("model: torch.nn.Module", "for module in model.children():", 1),
        ("model: torch.nn.Module", "for module in model.modules():", 1),
        ("model: torch.nn.Module", "for name, module in model.named_modules():", 1),
        ("model", "for name, module in model.named_children():", 1),
        ("pattern", "for module in pattern.children():", 0),
    ],
)
def test_what_a_walk_comes_to_is_compiled(tmp_path: Path, model: str, walk: str, count: int) -> None:
    code = f"def mark({model}, options):\n    {walk}\n        if options:\n            module.compile()\n"
    Project(tmp_path).write({"a.py": PRELUDE + code})
    unresolved = [site.unresolved for site in lint(cwd=tmp_path).sites]
    assert unresolved == ["which module it compiles cannot be read"] * count


BLOCKS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(x)

class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(depth)])
        self.head = Block()

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
"""
RECURSIVE = """
def compile_blocks(module):
    for child in module.children():
        if isinstance(child, Block):
            child.compile()
        else:
            compile_blocks(child)

compile_blocks(Net(3))
"""
IN_A_CONTAINER = """
net = Net(3)
for name, block in net.layers.named_children():
    net.layers.register_module(name, torch.compile(block))
"""


@pytest.mark.parametrize("walk", [RECURSIVE, IN_A_CONTAINER])
def test_what_a_walk_through_a_known_model_comes_to_is_known(tmp_path: Path, walk: str) -> None:
    Project(tmp_path).write({"a.py": PRELUDE + BLOCKS + walk})
    report = lint(cwd=tmp_path)
    assert [(site.unresolved, site.reaches) for site in report.sites] == [("", 1)]
    assert report.findings == ()  # a linear layer is no Block


SETTINGS = """
class Settings:
    fast = False

    def ready(self, model):
        return torch.compile(model) if self.fast else model
"""
CALLER = """
import settings
from blocks import Net

def run(given: settings.Settings, depth):
    return given.ready(Net(depth))
"""


def test_a_method_that_compiles_what_it_is_given_by_another_file(tmp_path: Path) -> None:
    sources = {"settings.py": SETTINGS, "blocks.py": BLOCKS, "main.py": CALLER}
    Project(tmp_path).write({name: PRELUDE + text for name, text in sources.items()})
    report = lint(cwd=tmp_path)
    assert [(site.path, site.unresolved, site.reaches) for site in report.sites] == [("settings.py", "", 2)]
    assert not report.assumed
