"""Workers that are killed, and workers whose parent is killed: real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lintkit import ROOT, Project

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")

MODEL = """\
import torch
from torch import nn


class Model{n}(nn.Module):
    def forward(self, x):
        print(x)
        return x
"""
# Says which process it runs in, and waits there for whoever wants to kill it.
RULE = """\
import os
import pathlib
import time

from tclint.api import Rule

PARENT = os.getpid()
HERE = pathlib.Path(__file__).parent


class Wait(Rule):
    "Waits."

    code, name = "ACME001", "wait"
    calls = ("builtins.print",)

    def on_call(self, event):
        try:
            if os.getpid() != PARENT:
                (HERE / "first").mkdir()
                (HERE / f"pid-{os.getpid()}").touch()
                time.sleep(WAIT)
        except FileExistsError:
            pass
        yield self.finding(event, "printed")
"""


def begin(project: Project, wait: float) -> tuple[subprocess.Popen[str], Path]:
    project.write({f"m{n}.py": MODEL.format(n=n) for n in range(24)})
    project.write(
        {"tclint.toml": 'rules = ["lint"]\nselect = ["ACME"]\n', "lint/wait.py": RULE.replace("WAIT", str(wait))}
    )
    command = [sys.executable, "-m", "tclint", "-j2", "--no-cache", "--allow-rules", "--output-format", "concise", "."]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, cwd=project.root, env=env, stdout=pipe, stderr=pipe, text=True)
    return child, project.root / "lint"


def worker(folder: Path) -> int:
    for _ in range(600):
        if found := list(folder.glob("pid-*")):
            return int(found[0].name.partition("-")[2])
        time.sleep(0.1)
    pytest.fail("no worker ever ran the rule")


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_killed_worker_costs_nothing(project: Project, number: int) -> None:
    child, folder = begin(project, 60)
    try:
        os.kill(worker(folder), number)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert err == ""
    assert [line.partition(":")[0] for line in out.splitlines()] == sorted(f"m{n}.py" for n in range(24))
    assert child.returncode == 1


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes in /proc")
def test_no_worker_outlives_its_parent(project: Project) -> None:
    child, folder = begin(project, 5)
    pid = worker(folder)
    time.sleep(2)  # by now the other one has nothing left to do
    with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="ascii") as file:
        workers = [int(word) for word in file.read().split()]
    assert pid in workers
    assert len(workers) == 2
    child.kill()
    child.communicate()
    for _ in range(100):
        if not any(map(alive, workers)):
            return
        time.sleep(0.1)
    for each in workers:
        os.kill(each, signal.SIGKILL)
    pytest.fail("a worker is still there 10 s after its parent")
