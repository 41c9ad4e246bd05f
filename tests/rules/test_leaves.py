"""TCL112 by release: where a gradient is asked for, torch 2.15 ends the graph there and nowhere else."""

from __future__ import annotations

import pytest
from lintkit import Project, lines

SOURCE = """
    import torch
    from torch import nn

    def gradient(y, x):
        return torch.autograd.grad(y.sum(), x, create_graph=True)[0]

    class Physics(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(2, 1)

        def forward(self, x):
            t = (x * 2).requires_grad_(True)
            u = self.net(t)
            return u - gradient(u, t).sum()

    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Bilinear(2, 2, 1)

        def forward(self, x):
            t = (x * 2).requires_grad_(True)
            return self.net(t, x)

    torch.compile(Physics())(torch.ones(3, 2))
    torch.compile(Pair())(torch.ones(3, 2))
"""


@pytest.mark.parametrize(("release", "broken"), [("2.13", [5, 13, 23]), ("2.15", [5, 23])])
def test_a_leaf_whose_gradient_is_asked_for(project: Project, release: str, broken: list[int]) -> None:
    """As torch 2.13.0 and 2.15.0 say, each asked with these modules."""
    report = project.write({"m.py": SOURCE}).lint(target_torch=release)
    assert [line for _, line in lines(report, "TCL112")] == broken
