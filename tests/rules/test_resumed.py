"""What is read out of the graph and burnt into the code after the break: Dynamo compiles that code, not the function."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

CLIP = """
class Clip(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        h = self.fc(x)
        limit = h.abs().mean().item()
        return h.clamp(-limit, limit)

clip = torch.compile(Clip(8){how})
for scale in {scales}:
    clip(scale * torch.randn(5, 8))
"""


@pytest.mark.parametrize(
    ("how", "scales", "expected"),
    [
        ("", "(0.5, 1.0, 2.0, 4.0)", ["TCL204"]),
        ("", "(0.5, 1.0)", []),
        (", fullgraph=True", "(0.5, 1.0, 2.0, 4.0)", []),
    ],
)
def test_a_float_behind_a_break(tmp_path: Path, how: str, scales: str, expected: list[str]) -> None:
    (tmp_path / "a.py").write_text(PRELUDE + CLIP.format(how=how, scales=scales))
    found = lint("a.py", cwd=tmp_path).findings
    assert [f.code for f in found if f.code.startswith("TCL2")] == expected


SWITCHED = """
torch._dynamo.config.capture_scalar_outputs = True

@torch.compile
def step(x, y):
    z = y + 1
    count = (x + 1).sum().item()
    prune = (count < 10 and count % 3 == 0) or (count < 100 and count % 30 == 0)
    if prune and count > 5:
        return z + 1
    if count > 7:
        return z + 2
    later = z.sum().item()
    if later > 3:
        return z
    return z * 2
"""


def test_a_number_is_python_s_behind_the_first_break(tmp_path: Path) -> None:
    # Run on torch 2.13: two graph breaks, one at the first comparison of each number.
    (tmp_path / "a.py").write_text(PRELUDE + SWITCHED)
    found = lint("a.py", cwd=tmp_path).findings
    assert [(f.code, f.message.partition("`; Dynamo")[0].rpartition("`")[2]) for f in found] == [
        ("TCL101", "count < 10"),
        ("TCL101", "later > 3"),
    ]


ON_THE_WAY = """
torch._dynamo.config.capture_scalar_outputs = True

class Inner(nn.Module):
    def __init__(self, on, deep):
        super().__init__()
        self.on, self.deep = on, deep

    def forward(self, x, count):
        if not self.on:
            return x
        if self.deep:
            if count > 7:
                x = x + 1
        if (count < 10 and count % 3 == 0) or count % 5 == 0:
            return x + 2
        return x

class Outer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.inner = Inner(args.on, args.deep)

    def forward(self, x):
        return self.inner(x, x.sum().item())

def main(args):
    torch.compile(Outer(args))(torch.randn(3))
"""


def test_a_number_that_some_ways_have_given_back(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PRELUDE + ON_THE_WAY)
    found = [f for f in lint("a.py", cwd=tmp_path).findings if f.code == "TCL101"]
    assert [f.message.partition("`; Dynamo")[0].rpartition("`")[2] for f in found] == ["count > 7", "count < 10"]


@pytest.mark.parametrize(
    ("body", "python", "told"),
    [
        ("found = [row.item() for row in x]", "3.11", False),
        ("found = [row.item() for row in x]", "3.12", True),
        ("found = []\n    for row in x:\n        found.append(row.item())", "3.11", True),
        ("found = []\n    for _ in range(2):\n        found += [row.item() for row in x]", "3.11", True),
    ],
)
def test_a_comprehension_that_is_a_function_of_its_own(project: Project, body: str, python: str, told: bool) -> None:
    """Asked of 2.13 on Python 3.11: what stands around it is compiled in two graphs."""
    project.write(
        {"m.py": f"{PRELUDE}\n\n@torch.compile\ndef f(x: torch.Tensor):\n    {body}\n    return x * len(found)\n"}
    )
    (finding,) = project.lint(select=["TCL103"], target_python=python).findings
    assert ("the whole function runs eagerly" in finding.message) is told
