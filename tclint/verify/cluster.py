"""The same jobs on a Ray cluster that already runs. Needs the extra `ray`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

from tclint.verify.heard import Heard
from tclint.verify.job import Job
from tclint.verify.process import Limits, run_job


def run_remote(job: Job, limits: Limits) -> Heard:
    """One job on whatever machine Ray chose: with that machine's interpreter, where ours does not exist."""
    if not os.path.exists(limits.python):
        limits = replace(limits, python=sys.executable)
    return run_job(job, limits)


class RayExecutor(Executor):
    """`concurrent.futures` over Ray tasks; one GPU per job on CUDA."""

    def __init__(self, address: str, device: str) -> None:
        try:
            import ray
        except ImportError as error:
            raise RuntimeError("--executor ray://… needs Ray: pip install 'torch-compile-lint[ray]'") from error
        self._ray: Any = ray
        self._own = not ray.is_initialized()
        if self._own:
            local = address in ("ray", "ray://", "ray://local")
            options: dict[str, Any] = {"log_to_driver": False, "include_dashboard": False}
            ray.init(**(options if local else {"address": address}))
        needs = {"num_gpus": 1} if device.startswith("cuda") else {"num_cpus": 1}
        self._task = ray.remote(**needs)(run_remote)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is not run_job:
            raise TypeError("only verification jobs run on the cluster")
        future: Future[Any] = self._task.remote(*args, **kwargs).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if self._own:
            self._ray.shutdown()
