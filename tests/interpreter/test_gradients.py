"""Modules that were frozen, told apart from those of other files, and wrappers that keep gradients themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.api import lint

_TRAINED = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def main():
    net = nn.Linear(8, 2).cuda()
    fast = torch.compile(net, mode="reduce-overhead")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(8):
        loss = fast(torch.ones(4, 8, device="cuda") * i).square().mean()
        loss.backward()
        if i % 2:
            optimizer.step()
            optimizer.zero_grad()
"""
_FROZEN = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def main():
    net = nn.Linear(8, 2).cuda().requires_grad_(False)
    fast = torch.compile(net, mode="reduce-overhead")
    return fast(torch.ones(4, 8, device="cuda"))
"""


def test_a_module_at_the_same_line_of_another_file_is_another_module(tmp_path: Path) -> None:
    (tmp_path / "a_frozen.py").write_text(_FROZEN)
    (tmp_path / "b_trained.py").write_text(_TRAINED)
    found = lint(["."], cwd=tmp_path, isolated=True, select=["TCL301"]).findings
    assert [(finding.path, finding.line) for finding in found] == [("b_trained.py", 12)]


@pytest.mark.parametrize(
    ("wrapped", "said"),
    [
        ("DistributedDataParallel(net)", True),
        ("DistributedDataParallel(net, gradient_as_bucket_view=True)", False),
        ("FullyShardedDataParallel(net, use_orig_params=True)", False),
    ],
)
def test_gradients_that_a_wrapper_keeps_are_not_overwritten(tmp_path: Path, wrapped: str, said: bool) -> None:
    """As an H200 has it: the first raises at the second backward pass, the others give the numbers of eager code."""
    imports = "from torch.nn.parallel import DistributedDataParallel\nfrom torch.distributed.fsdp import FullyShardedDataParallel\n"
    (tmp_path / "m.py").write_text(imports + _TRAINED.replace("torch.compile(net,", f"torch.compile({wrapped},"))
    assert bool(lint(["."], cwd=tmp_path, isolated=True, select=["TCL301"]).findings) is said


_HANDED = """
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.distributed.fsdp import FullyShardedDataParallel

def train(model: nn.Module, batches: list[torch.Tensor]):
    model = torch.compile(model, mode="max-autotune")
    for x in batches:
        model(x).sum().backward()
"""


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([], True),
        (["DistributedDataParallel(net)"], True),
        (["FullyShardedDataParallel(net)"], False),
        (["FullyShardedDataParallel(net)", "net"], True),
    ],
)
def test_the_module_that_a_caller_hands_over_speaks_for_a_function_walked_by_itself(
    tmp_path: Path, calls: list[str], said: bool
) -> None:
    text = _HANDED + "\ndef main(batches):\n    net = nn.Linear(4, 4).cuda()\n"
    text += "".join(f"    train({call}, batches)\n" for call in calls)
    (tmp_path / "m.py").write_text("import torch\n" + text)
    assert bool(lint(["."], cwd=tmp_path, isolated=True, select=["TCL301"]).findings) is said
