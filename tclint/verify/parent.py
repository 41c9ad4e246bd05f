"""Runs a verification: targets to jobs, jobs to children, what they heard to verdicts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tclint.model.finding import Effect, Finding
from tclint.verify.answers import Cache
from tclint.verify.heard import Equality, Heard, with_paths
from tclint.verify.job import Job
from tclint.verify.judgement import missed_of, verdicts_of
from tclint.verify.options import VerifyOptions
from tclint.verify.process import Limits, run_job, stop_servers, visible_gpus
from tclint.verify.spans import Outline, outline
from tclint.verify.targets import Target, absolute, relative, targets_of
from tclint.verify.verdict import Verdict, VerifyReport

Progress = Callable[[int, int, str], None]
"""Called after each target: how many are done, how many there are, which one it was."""


def verify(findings: Sequence[Finding], options: VerifyOptions, progress: Progress | None = None) -> VerifyReport:
    """One verdict per finding, in the findings' order, and what nobody predicted."""
    root = os.path.realpath(options.root)
    targets = targets_of(findings, options)
    heards = _hear(targets, options, progress)

    def outlines(path: str) -> Outline:
        return outline(absolute(path, root))

    by_finding: dict[int, Verdict] = {}
    equalities: dict[int, Equality | None] = {}
    told: list[Heard] = []
    for target, raw in zip(targets, heards, strict=True):
        heard = with_paths(raw, lambda path: relative(path, root))
        told.append(heard)
        for finding, verdict in zip(target.findings, verdicts_of(target.findings, heard, outlines), strict=True):
            by_finding[id(finding)] = verdict
            equalities[id(finding)] = heard.equality
    torch = next((heard.torch for heard in told if heard.torch), "")
    return VerifyReport(
        verdicts=tuple(by_finding[id(finding)] for finding in findings),
        missed=missed_of(findings, told, outlines),
        torch=torch,
        device=options.device,
        equalities=tuple(equalities[id(finding)] for finding in findings),
    )


def _hear(targets: Sequence[Target], options: VerifyOptions, progress: Progress | None) -> list[Heard]:
    limits = Limits(options.python, options.device, options.timeout, options.memory_mb)
    cache = Cache(options.cache_dir)
    torch = torch_version(options.python) if options.cache_dir else ""
    answers: dict[int, Heard] = {}
    asked: dict[Future[Heard], int] = {}
    files = {place.path for target in targets for place in target.job.places}
    kept = _Sources(files)
    pool = executor_for(options)
    try:
        for number, target in enumerate(targets):
            answer = _known(target, options) or cache.get(target.job, torch)
            if answer is None:
                asked[pool.submit(run_job, target.job, limits)] = number
            else:
                answers[number] = answer
        for done, future in enumerate(as_completed(asked), start=len(answers) + 1):
            number = asked[future]
            job = targets[number].job
            answer = _result(future)
            changed = kept.restore({place.path for place in job.places})
            if changed:
                answer = Heard(device=job.device, trouble=f"the target changed {changed[0]} (put back)")
            cache.put(job, torch, answer)
            answers[number] = answer
            if progress is not None:
                progress(done, len(targets), job.candidates[0].name)
    except BaseException:
        # Ctrl-C among others: end the children first, so that no worker waits for them.
        for future in asked:
            future.cancel()
        stop_servers()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        if not options.keep:
            stop_servers()
    return [answers[number] for number in range(len(targets))]


def _known(target: Target, options: VerifyOptions) -> Heard | None:
    """The answer to a job that no child can give: CUDA graphs on a machine without CUDA."""
    only_graphs = all(finding.effect is Effect.CUDAGRAPH for finding in target.findings)
    if only_graphs and not options.device.startswith("cuda"):
        return Heard(device=options.device, trouble="CUDA graphs need a CUDA device: run with --device cuda")
    return None


def _result(future: Future[Heard]) -> Heard:
    try:
        return future.result()
    except Exception as error:
        # A remote worker that died, a disk that is full: the other targets go on.
        return Heard(trouble=f"the job could not be run: {type(error).__name__}: {error}")


class _Sources:
    """The users' files as they were: a target that rewrites its own source must not leave it so."""

    def __init__(self, paths: set[str]) -> None:
        self.bytes = {path: data for path in paths if (data := self._read(path)) is not None}

    @staticmethod
    def _read(path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except OSError:
            return None

    def restore(self, paths: set[str]) -> list[str]:
        """Put back what changed among these paths; gives the names."""
        changed = []
        for path in sorted(paths & self.bytes.keys()):
            if self._read(path) != self.bytes[path]:
                Path(path).write_bytes(self.bytes[path])
                changed.append(path)
        return changed


def executor_for(options: VerifyOptions) -> Executor:
    """Where jobs run: threads of this process, each waiting for a child, or a Ray cluster."""
    if options.executor.startswith("ray"):
        from tclint.verify.cluster import RayExecutor

        return RayExecutor(options.executor, options.device)
    if options.device == "cuda" and options.jobs > 1:
        return GpuExecutor(visible_gpus()[: options.jobs] or ("",))
    # One child per GPU: two would measure each other's memory.
    jobs = 1 if options.device.startswith("cuda") else max(1, options.jobs)
    return ThreadPoolExecutor(jobs, thread_name_prefix="tclint-verify")


class GpuExecutor(ThreadPoolExecutor):
    """Threads that each wait for the child of one GPU, which sees no other."""

    def __init__(self, gpus: Sequence[str]) -> None:
        super().__init__(len(gpus), thread_name_prefix="tclint-verify")
        self._free: SimpleQueue[str] = SimpleQueue()
        for gpu in gpus:
            self._free.put(gpu)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(self._on_one, fn, *args, **kwargs)

    def _on_one(self, fn: Callable[..., Any], job: Job, limits: Limits) -> Any:
        gpu = self._free.get()
        try:
            return fn(job, replace(limits, gpu=gpu))
        finally:
            self._free.put(gpu)


@lru_cache(maxsize=8)
def torch_version(python: str) -> str:
    """The torch of an interpreter, read from its metadata: importing it would take seconds."""
    code = "import importlib.metadata as m; print(m.version('torch'))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
