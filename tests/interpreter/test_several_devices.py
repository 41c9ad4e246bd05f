"""Modules that are wrapped for several devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

NET = """
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        print(x)
        return self.fc(x)
"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("fast = torch.compile(DDP(Net(), device_ids=[0]))", 1),
        ("fast = torch.compile(FSDP(module=Net()))", 1),
        ("model = DDP(Net().cuda())\nmodel.train()\nfast = torch.compile(model.module)", 1),
        ("model = DDP(Net())\nmodel.compile()", 1),
        ("model = DDP(Net())\nfast = torch.compile(Net().fc)\nmodel(torch.ones(2, 4))", 0),
        ("fast = torch.compile(DDP(build()))", 0),
    ],
)
def test_what_is_compiled_is_the_module(tmp_path: Path, made: str, found: int) -> None:
    """Asked of torch 2.13: the module in the wrapper is traced, behind a break at the wrapper's own code."""
    Project(tmp_path).write({"main.py": f"{PRELUDE}{NET}\n{made}\n"})
    assert len([f for f in lint(cwd=tmp_path).findings if f.code == "TCL108" and not f.assumed]) == found
