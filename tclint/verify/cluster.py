"""The same jobs on a Ray cluster. Needs the extra `ray`, and tclint and the sources on every machine."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any

from tclint.verify.heard import Heard
from tclint.verify.job import Job
from tclint.verify.process import Limits, run_job, start_server

_LOOK = 0.2
"""Seconds between two looks for answers and for new jobs."""
_TRIES = 2
"""How often a job may take its worker with it. A second machine tells an accident from a target that does it every time."""
_REST = 2.0
"""Seconds for a node that just died to be told from the others."""


@dataclass(frozen=True, slots=True)
class Unfit:
    """A machine that cannot run targets: which, and why."""

    node: str
    why: str


def run_remote(job: Job, limits: Limits) -> Heard | Unfit:
    """One job on whatever machine Ray chose: with that machine's interpreter, where ours does not exist."""
    import ray

    if not os.path.exists(limits.python):
        limits = replace(limits, python=sys.executable)
    if why := start_server(limits):
        return Unfit(ray.get_runtime_context().get_node_id(), why)
    return run_job(job, limits)


@dataclass(slots=True)
class _Asked:
    """A job that is somewhere on the cluster, and what became of it until now."""

    given: Future[Heard]
    args: tuple[Job, Limits]
    deaths: int = 0
    unfit: str = ""
    """Why the last machine could not run it."""


class RayExecutor(Executor):
    """`concurrent.futures` over Ray tasks; one GPU per job on CUDA.

    Ray itself retries nothing: who dies is asked once more, where Ray finds room, and gets one answer. A machine without torch
    is not asked again.
    """

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
            ray.init(**(options if local else {"address": address, "log_to_driver": False}))
        self._needs = "GPU" if device.startswith("cuda") else "CPU"
        self._task = ray.remote(**{f"num_{self._needs.lower()}s": 1}, max_retries=0)(run_remote)
        self._lock = threading.Lock()
        self._new: list[_Asked] = []
        self._unfit: set[str] = set()
        self._turn = itertools.count()
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True, name="tclint-verify-ray")
        self._watcher.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is not run_job:
            raise TypeError("only verification jobs run on the cluster")
        job, limits = args
        asked = _Asked(Future(), (job, limits))
        with self._lock:
            self._new.append(asked)
        return asked.given

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._ended.set()
        self._watcher.join()
        if self._own:
            self._ray.shutdown()

    def _watch(self) -> None:
        """Sends jobs and hands answers on until the executor is shut down."""
        pending: dict[Any, _Asked] = {}
        try:
            while not self._ended.is_set():
                with self._lock:
                    new, self._new = self._new, []
                for asked in new:
                    if asked.given.set_running_or_notify_cancel():
                        self._send(asked, pending)
                if not pending:
                    self._ended.wait(_LOOK)
                    continue
                ready, _ = self._ray.wait(list(pending), num_returns=1, timeout=_LOOK)
                for ref in ready:
                    self._hear(ref, pending.pop(ref), pending)
        except Exception as error:  # the cluster itself is gone: whoever waits must hear it
            with self._lock:
                waiting, self._new = [*pending.values(), *self._new], []
            for asked in waiting:
                if not asked.given.done():
                    asked.given.set_exception(error)
        for ref in pending:
            self._ray.cancel(ref, force=True)

    def _send(self, asked: _Asked, pending: dict[Any, _Asked]) -> None:
        task = self._task
        if self._unfit:
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            nodes = self._nodes()
            if not nodes:
                why = asked.unfit or "no machine of the cluster is left that can run targets"
                asked.given.set_result(Heard(device=asked.args[0].device, trouble=why))
                return
            chosen = nodes[next(self._turn) % len(nodes)]
            task = task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=chosen, soft=True))
        pending[task.remote(*asked.args)] = asked

    def _nodes(self) -> list[str]:
        """The machines that may be asked."""
        alive = [each for each in self._ray.nodes() if each["Alive"] and each["Resources"].get(self._needs)]
        return sorted(each["NodeID"] for each in alive if each["NodeID"] not in self._unfit)

    def _hear(self, ref: Any, asked: _Asked, pending: dict[Any, _Asked]) -> None:
        try:
            answer = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            asked.given.set_exception(error)  # of run_remote itself, on a machine that is well
        except self._ray.exceptions.RayError as error:
            asked.deaths += 1
            if asked.deaths < _TRIES:
                self._ended.wait(_REST)
                self._send(asked, pending)
                return
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            why = f"the worker that ran it died {asked.deaths} times: {type(error).__name__}: {first}"
            asked.given.set_result(Heard(device=asked.args[0].device, trouble=why, died=True))
        else:
            if isinstance(answer, Unfit):
                self._unfit.add(answer.node)
                asked.unfit = answer.why
                self._send(asked, pending)
            else:
                asked.given.set_result(answer)
