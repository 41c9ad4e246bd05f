"""TCL303: what has keys that are texts is no tensor, though a torch function has made it."""

from __future__ import annotations

import pytest
from lintkit import Project, lines

SOURCE = """
    import torch

    def returns(obs, steps):
        steps[KEY] = obs + 1
        return steps

    fast = torch.compile(returns, mode="reduce-overhead")

    def rollout(made):
        return fast(torch.ones(3, device="cuda"), torch.stack(made, 0))
"""


@pytest.mark.parametrize(("key", "told"), [('"returns"', []), ("0", [4])])
def test_an_element_of_what_was_stacked(project: Project, key: str, told: list[int]) -> None:
    """`torch.stack` of TensorDicts is a TensorDict: a key is set, and no tensor written to."""
    report = project.write({"m.py": SOURCE.replace("KEY", key)}).lint(target_torch="2.13")
    assert [line for _, line in lines(report, "TCL303")] == told
