"""Comprehensions of functions that run eagerly: on Python until 3.11 Dynamo looks at each by itself."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from judge import judge
from lintkit import lint

PROGRAM = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import relu


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.picked = [0, 1]
        self.named = {"a": 2}

    def forward(self, x):
        parts = x.chunk(2)
        sizes = [1, 2]
        a = [self.layers[i](x) for i in self.picked]  # apart
        b = [F.relu(part) for part in enumerate_all(x)]  # apart
        c = {name: torch.full((2,), size) for name, size in self.named.items()}  # apart
        d = [x[i:] for i in sizes if i]  # apart
        # What Dynamo passes over: nothing of torch is in it.
        e = [size + 1 for size in sizes]
        f = [relu(part) for part in sizes_of(x)]
        # What it goes through: tuples, ranges, lists that are written out, tensors.
        g = [F.relu(part) for part in parts]
        h = [F.relu(x) for _ in range(2)]
        i = [F.relu(part) for part in [x, x]]
        j = [F.relu(row) for row in x]
        k = sum(F.relu(part).sum() for part in sizes_of(x))
        for turn in range(2):
            if x.sum() > turn:
                x = x + 1
        return x, a, b, c, d, e, f, g, h, i, j, k


class Trained(nn.Module):
    def forward(self, x):
        parts = [F.relu(row) for row in enumerate_all(x)]  # apart
        for turn in range(2):
            if self.training:
                if not torch.isfinite(x).all():
                    x = x + 1
        return x, parts


class Sometimes(nn.Module):
    def forward(self, x, deep: bool = False):
        parts = [F.relu(row) for row in enumerate_all(x)]
        for turn in range(2):
            if deep:
                if x.sum() > 0:  # not asked
                    x = x + 1
        return x, parts


class Picking(nn.Module):
    # Dynamo breaks in these, too. What only picks has nothing to lose, and is not told.
    def forward(self, x):
        parts = enumerate_all(x)
        a = [part for part in parts if torch.is_tensor(part)]  # picks
        keys = [0, 1]
        b = {i: parts[i] if torch.is_tensor(x) else x for i in keys}  # picks
        for turn in range(2):
            if x.sum() > turn:
                x = x + 1
        return x, a, b


class Resumed(nn.Module):
    def forward(self, x):
        sizes = [1, 2]
        if x.sum() > 0:
            x = x + 1
        return [torch.full((size,), 1.0) for size in sizes]


def enumerate_all(x):
    return list(x)


def sizes_of(x):
    return [x, x]


def main():
    torch.compile(Net())(torch.ones(4, 4))
    torch.compile(Trained())(torch.ones(4, 4))
    torch.compile(Sometimes())(torch.ones(4, 4))
    torch.compile(Picking())(torch.ones(4, 4))
    torch.compile(Resumed())(torch.ones(4, 4))
"""


def told(folder: Path, python: str) -> list[int]:
    (folder / "m.py").write_text(PROGRAM)
    findings = lint("m.py", cwd=folder, target_python=python).findings
    return sorted(finding.line for finding in findings if "comprehension" in finding.message)


def expected() -> list[int]:
    return [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# apart")]


def test_a_comprehension_of_a_function_that_runs_eagerly(tmp_path: Path) -> None:
    assert told(tmp_path, "3.11") == expected()
    assert told(tmp_path, "3.12") == []


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a comprehension is part of its function")
def test_dynamo_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(PROGRAM)
    picking = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# picks")]
    branches = [
        number
        for number, line in enumerate(PROGRAM.splitlines(), 1)
        if re.search(r"sum\(\) >|isfinite", line) and "not asked" not in line
    ]
    assert {each.line for each in judge(path).breaks} == {*expected(), *picking, *branches}
