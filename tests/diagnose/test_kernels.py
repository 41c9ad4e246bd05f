"""Inductor's workers in a child of diagnose: forks that are ready when the first kernel is wanted."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.dynamo

PROGRAM = """
import os, sys, time
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "2"
import torch
from torch._inductor.async_compile import AsyncCompile
from tclint.diagnose.child import kernels

kernels.start(sys.argv[1])
end = time.monotonic() + 60
while torch._inductor.config.worker_start_method == "fork" and not AsyncCompile.use_process_pool():
    assert time.monotonic() < end, "no worker is ready"
    time.sleep(0.05)
print(torch._inductor.config.worker_start_method)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
@pytest.mark.parametrize(("diagnostic", "method"), [("speed", "fork"), ("latency", "subprocess")])
def test_workers_are_forks_but_where_a_first_step_is_measured(torch_python: str, diagnostic: str, method: str) -> None:
    command = [torch_python, "-c", PROGRAM, diagnostic]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.stdout.split() == [method], done.stderr[-2000:]
