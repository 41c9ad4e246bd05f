"""Calls of libraries that give what they are given, and modules that a container gets by keyword."""

from __future__ import annotations

import pytest
from lintkit import Project, lines

SOURCE = """
    import torch
    from accelerate import Accelerator
    from torch import nn

    class Block(nn.Module):
        def forward(self, x):
            print(x)
            return x

    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(modules=[Block()])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def main():
        helper = Accelerator()
        model = MADE
        torch.compile(model)(torch.ones(3))

    main()
"""


@pytest.mark.parametrize(
    "made",
    [
        "helper.prepare(Block())",
        "helper.prepare(Block(), 1)[0]",
        "helper.unwrap_model(helper.prepare(Block()))",
        "Stack()",
    ],
)
def test_the_module_is_what_is_compiled(project: Project, made: str) -> None:
    report = project.write({"m.py": SOURCE.replace("MADE", made)}).lint(target_torch="2.13")
    assert lines(report, "TCL108") == [("m.py", 7)]
    assert not any(finding.assumed for finding in report.findings)
