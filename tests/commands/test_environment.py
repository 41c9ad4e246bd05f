"""`--clean-env`: code that is run sees no secret of the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lintkit import ROOT

from tclint.commands.environment import cut

SOURCE = """
import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        with open("SEEN", "a") as file:
            file.write(os.environ.get("DEPLOY_TOKEN", "nothing") + "\\n")

    def forward(self, x):
        print(x)
        return x * 2


def example_inputs():
    return (torch.ones(2),)
"""


def test_what_stays() -> None:
    found = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "HOME": "/h",
        "AWS_SECRET_ACCESS_KEY": "s",
        "GITHUB_TOKEN": "t",
        "path": "x",
    }
    cut(found)
    assert found == {"PATH": "/bin", "LC_ALL": "C", "HOME": "/h"}


@pytest.mark.dynamo
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "given", "seen"),
    [
        (["--verify"], [], "hunter2"),
        (["--verify"], ["--clean-env"], "nothing"),
        (["verify"], ["--clean-env"], "nothing"),
    ],
)
def test_a_target_does_not_see_the_token(
    tmp_path: Path, torch_python: str, command: list[str], given: list[str], seen: str
) -> None:
    seen_at = tmp_path / "SEEN"
    (tmp_path / "model.py").write_text(SOURCE.replace('"SEEN"', repr(str(seen_at))), encoding="utf-8")
    option = "--verify-python" if command == ["--verify"] else "--python"
    args = [sys.executable, "-m", "tclint", *command, "model.py", option, torch_python, "--no-cache", *given]
    env = {**os.environ, "DEPLOY_TOKEN": "hunter2", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*args, "--output-format", "json"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    (found,) = json.loads(done.stdout)["findings"]
    assert found["verified"]["outcome"] == "confirmed", done.stderr
    assert {*seen_at.read_text(encoding="utf-8").split()} == {seen}
