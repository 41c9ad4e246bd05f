"""A process that lints again and again, as the editor's server does, does not grow."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time

import pytest
from lintkit import ROOT, Project

from tclint.program import Program
from tclint.run.project import Project as Opened

MODEL = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            if x.sum() > 0:
                print(x)
            return self.layer(x)

    net = torch.compile(Net())
    net(torch.ones(2, 4))
"""
OVERRIDES = {"no-cache": True, "jobs": 1, "target-torch": "2.13"}


def programs() -> int:
    return sum(isinstance(each, Program) for each in gc.get_objects())


def test_a_run_is_given_back(project: Project) -> None:
    project.write({"net.py": MODEL})
    before, frozen = programs(), gc.get_freeze_count()
    opened = Opened.open(["net.py"], cwd=str(project.root), isolated=True, overrides=OVERRIDES)
    for _ in range(3):
        assert {finding.code for finding in opened.lint().findings} == {"TCL101", "TCL108"}
        # What rules remember of the last run may stay until the next one.
        assert programs() <= before + 1
    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_twenty_lints_take_no_more_memory_than_a_few(project: Project) -> None:
    sources = {f"net{number}.py": MODEL + 8 * MODEL.replace("class Net", "class Other") for number in range(4)}
    project.write(dict(sources))
    script = """
import os, sys
from tclint.run.project import Project

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def lint():
    overrides = {"no-cache": True, "jobs": 1, "target-torch": "2.13"}
    assert Project.open(["."], cwd=sys.argv[1], isolated=True, overrides=overrides).lint().findings

for _ in range(4):
    lint()
before = resident()
for _ in range(20):
    lint()
print(resident() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(project.root)],
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    # It was more than 8 MB for each lint of a small project.
    assert float(done.stdout) < 10, f"{done.stdout.strip()} MB more after twenty lints"


def test_the_recursion_limit_is_left_as_it_was(project: Project) -> None:
    """Runs in several threads at once: the limit is one for all of them."""
    project.write({"net.py": MODEL})
    before = sys.getrecursionlimit()

    def lint() -> None:
        Opened.open(["net.py"], cwd=str(project.root), isolated=True, overrides=OVERRIDES).lint()

    threads = [threading.Thread(target=lint) for _ in range(4)]
    for number, thread in enumerate(threads):
        thread.start()
        time.sleep(0.02 * number)
    for thread in threads:
        thread.join()
    assert sys.getrecursionlimit() == before
