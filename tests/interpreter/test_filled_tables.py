"""A table that a decorator fills, read by the file that has it."""

from __future__ import annotations

import pytest
from lintkit import Project, lines

SOURCE = """
    import torch
    from torch import nn

    TABLE = {}

    def register(name):
        def put(cls):
            TABLE[name] = cls
            return cls
        return put

    @register("block")
    class Block(nn.Module):
        def forward(self, x):
            print(x)
            return x

    def build(name):
        return TABLE[name]()

    torch.compile(MADE)(torch.ones(3))
"""


@pytest.mark.parametrize("made", ['TABLE["block"]()', 'build("block")'])
def test_the_top_level_reads_what_decorators_put_there(project: Project, made: str) -> None:
    report = project.write({"m.py": SOURCE.replace("MADE", made)}).lint(target_torch="2.13")
    assert lines(report, "TCL108") == [("m.py", 15)]
    assert not any(finding.assumed for finding in report.findings)
