"""A module that may be wrapped for several devices, beside one that is not known: which of them runs the settings say."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import PRELUDE, Project, lint

CODE = """
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def prepared(many):
    net = torch.load("net.pt")
    RETURN

@torch.compile
def step(net, x):
    return net(x) + 1

def main(many, x):
    step(prepared(many), x)
"""


@pytest.mark.parametrize(("given", "count"), [("return FSDP(net) if many else net", 0), ("return FSDP(net)", 1)])
def test_what_may_be_wrapped(tmp_path: Path, given: str, count: int) -> None:
    Project(tmp_path).write({"a.py": PRELUDE + CODE.replace("RETURN", given)})
    assert [finding.code for finding in lint(cwd=tmp_path).findings] == ["TCL120"] * count
