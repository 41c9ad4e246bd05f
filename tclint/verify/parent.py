"""Runs a verification: targets to jobs, jobs to children, what they heard to verdicts."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tclint.model.finding import Effect, Finding
from tclint.output.words import plural
from tclint.sources import regular
from tclint.verify.answers import Cache
from tclint.verify.apart import apart
from tclint.verify.heard import Equality, Heard, with_paths
from tclint.verify.job import Job
from tclint.verify.judgement import verdicts_of
from tclint.verify.missed import missed_of
from tclint.verify.options import VerifyOptions
from tclint.verify.process import Limits, free_memory_mb, run_job, start_server, stop_servers, visible_gpus
from tclint.verify.spans import Outline, outline
from tclint.verify.targets import Target, absolute, relative, targets_of
from tclint.verify.unflagged import unflagged_targets
from tclint.verify.verdict import Outcome, Verdict, VerifyReport

Progress = Callable[[int, int, str], None]
"""Called about once a second and after each target: how many are done, how many there are, which one runs now."""
OnVerdict = Callable[[Verdict], None]
"""Called with each verdict as soon as it is reached, in the order in which targets end."""
CHILD_MB = 8_000
"""Of a GPU's memory that is free, for each of several children: CUDA itself, a small model, the pools of its graphs."""
STOPPED = "not judged: the run was stopped"
TICK = 1.0
_OPEN = (Outcome.NOT_REACHED, Outcome.INCONCLUSIVE)


def verify(
    findings: Sequence[Finding],
    options: VerifyOptions,
    progress: Progress | None = None,
    on_verdict: OnVerdict | None = None,
    also: Sequence[str] = (),
) -> VerifyReport:
    """One verdict per finding, in the findings' order, and what nobody predicted. In the files `also` everything that can
    be run is searched, whether a finding speaks of it or not.

    Ctrl-C ends the run, not what it has found: the report then says which findings are left (`stopped`). Answers are kept
    as they come, so that the next run goes on from there.
    """
    root = os.path.realpath(options.root)
    known = targets_of(findings, options)
    targets = [*known, *unflagged_targets(also, known, options)]

    def outlines(path: str) -> Outline:
        return outline(absolute(path, root))

    by_finding: dict[int, Verdict] = {}
    equalities: dict[int, Equality | None] = {}
    told: dict[int, Heard] = {}

    def hear(number: int, raw: Heard) -> tuple[Target, ...]:
        heard = told[number] = with_paths(raw, lambda path: relative(path, root))
        findings_here = targets[number].findings
        verdicts = verdicts_of(findings_here, heard, outlines)
        again = apart(targets[number], heard, verdicts, options)
        asked_again = {id(finding) for part in again for finding in part.findings}
        for finding, new in zip(findings_here, verdicts, strict=True):
            # What a part of a target cannot decide, the whole has said better.
            verdict = by_finding.get(id(finding), new) if new.outcome in _OPEN else new
            by_finding[id(finding)] = verdict
            equalities[id(finding)] = heard.equality
            if on_verdict is not None and id(finding) not in asked_again:
                on_verdict(verdict)
        return again

    notes, stopped = _hear(targets, options, progress, hear)
    for number, target in enumerate(targets):
        if number not in told:
            told[number] = unasked = Heard(device=options.device, trouble=STOPPED)
            for finding, verdict in zip(target.findings, verdicts_of(target.findings, unasked, outlines), strict=True):
                # A part of one that died has a verdict already.
                by_finding.setdefault(id(finding), verdict)
                equalities.setdefault(id(finding), None)
    if stopped:
        done = sum(heard.trouble != STOPPED for heard in told.values())
        notes = (*notes, f"stopped after {done} of {plural(len(targets), 'target')}: run again to go on from there")
    heards = [told[number] for number in range(len(targets))]
    return VerifyReport(
        verdicts=tuple(by_finding[id(finding)] for finding in findings),
        missed=missed_of(findings, heards, outlines),
        torch=next((heard.torch for heard in heards if heard.torch), ""),
        device=options.device,
        notes=notes,
        equalities=tuple(equalities[id(finding)] for finding in findings),
        bad_factories=tuple(dict.fromkeys(heard.bad_factory for heard in heards if heard.bad_factory)),
        stopped=stopped,
    )


def warm_up(options: VerifyOptions) -> None:
    """Begin to start what will run the targets, while the program is still being linted: torch takes seconds to import.

    Only where no answers are kept: otherwise there may be nothing to ask.
    """
    if options.executor or options.cache_dir is not None:
        return
    limits = Limits(options.python, options.device, options.timeout, options.memory_mb)

    def start() -> None:
        gpus = visible_gpus() if options.device == "cuda" and options.jobs > 1 else ()
        start_server(replace(limits, gpu=gpus[0] if gpus else ""))

    threading.Thread(target=start, daemon=True, name="tclint-verify-warm").start()


def _hear(
    targets: list[Target],
    options: VerifyOptions,
    progress: Progress | None,
    hear: Callable[[int, Heard], tuple[Target, ...]],
) -> tuple[tuple[str, ...], bool]:
    """Hands on the answer to each target as it comes; gives what the user should know besides, and whether it was stopped.
    The targets that `hear` gives are added to the others."""
    limits = Limits(options.python, options.device, options.timeout, options.memory_mb)
    cache = Cache(options.cache_dir)
    torch = torch_version(options.python) if options.cache_dir else ""
    asked: dict[Future[Heard], int] = {}
    sources = _Sources({path for target in targets for path in _files(target.job)})
    pool = executor_for(options)
    stopped = False
    done = 0

    def show(name: str) -> None:
        if progress is not None:
            progress(done, len(targets), name)

    def ask(number: int) -> Future[Heard]:
        job = targets[number].job
        future: Future[Heard] = pool.submit(run_job, job, replace(limits, timeout=job.seconds))
        asked[future] = number
        return future

    try:
        for number, target in enumerate(tuple(targets)):
            answer = _known(target, options) or cache.get(target.job, torch)
            if answer is None:
                ask(number)
            else:
                done += 1
                hear(number, answer)
        waiting = set(asked)
        while waiting:
            ended, waiting = wait(waiting, TICK, FIRST_COMPLETED)
            for future in ended:
                number = asked[future]
                job = targets[number].job
                answer = _result(future)
                if changed := sources.changed(_files(job)):
                    words = f"{changed[0]} changed while the target ran: what it says is not of what was linted"
                    answer = Heard(device=job.device, trouble=words)
                cache.put(job, torch, answer)
                done += 1
                for part in hear(number, answer):
                    targets.append(part)
                    waiting.add(ask(len(targets) - 1))
                show(job.candidates[0].name)
            running = next((future for future in asked if future in waiting and future.running()), None)
            if running is not None and not ended:
                show(targets[asked[running]].job.candidates[0].name)
    except BaseException as error:
        # Ctrl-C among others: end the children first, so that no worker waits for them.
        for future in asked:
            future.cancel()
        stop_servers()
        if not isinstance(error, KeyboardInterrupt):
            raise
        stopped = True
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        if not options.keep:
            stop_servers()
    return tuple(sources.notes), stopped


def _files(job: Job) -> set[str]:
    return {place.path for place in job.places} | {candidate.path for candidate in job.candidates}


def _known(target: Target, options: VerifyOptions) -> Heard | None:
    """The answer to a job that no child can give: CUDA graphs on a machine without CUDA."""
    only_graphs = bool(target.findings) and all(finding.effect is Effect.CUDAGRAPH for finding in target.findings)
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
    """The users' files as they were when the run began.

    A target may rewrite its own source, and the user may save an edit meanwhile. Nobody can tell one from the other by
    what is on disk, so nothing is put back: what a file holds by now stays. A copy of what it held is kept aside, for
    the case that it was the target.
    """

    def __init__(self, paths: set[str]) -> None:
        self._bytes = {path: data for path in paths if (data := self._read(path)) is not None}
        self._told: set[str] = set()
        self.notes: list[str] = []

    @staticmethod
    def _read(path: str) -> bytes | None:
        try:
            return regular.read(path)
        except OSError:
            return None

    def changed(self, paths: set[str]) -> list[str]:
        """Which of these files are not what they were. Each is told once."""
        found = [path for path in sorted(paths & self._bytes.keys()) if self._read(path) != self._bytes[path]]
        for path in found:
            if path not in self._told:
                self._told.add(path)
                who = "by a target or by you: left as it is"
                self.notes.append(f"{path} changed during the run, {who}; what it held before: {self._aside(path)}")
        return found

    def _aside(self, path: str) -> str:
        try:
            kept = os.path.join(tempfile.mkdtemp(prefix="tclint-before-"), os.path.basename(path))
            Path(kept).write_bytes(self._bytes[path])
        except OSError as error:
            return f"could not be kept ({error.strerror})"
        return kept


def executor_for(options: VerifyOptions) -> Executor:
    """Where jobs run: threads of this process, each waiting for a child, or a Ray cluster."""
    if options.executor.startswith("ray"):
        from tclint.verify.cluster import RayExecutor

        return RayExecutor(options.executor, options.device)
    if options.device == "cuda" and options.jobs > 1:
        return GpuExecutor(_places(visible_gpus(), options.jobs) or ("",))
    jobs = 1 if options.device.startswith("cuda") else max(1, options.jobs)
    return ThreadPoolExecutor(jobs, thread_name_prefix="tclint-verify")


def _places(gpus: Sequence[str], jobs: int) -> tuple[str, ...]:
    """A GPU for each of the jobs: every one in turn, and several to one where its memory allows."""
    found = list(gpus[:jobs])
    left = {gpu: free_memory_mb(gpu) // CHILD_MB for gpu in gpus} if jobs > len(gpus) else {}
    for turn in range(1, jobs):
        found += [gpu for gpu in gpus if left.get(gpu, 0) > turn]
    return tuple(found[:jobs])


class GpuExecutor(ThreadPoolExecutor):
    """Threads that each wait for a child on one GPU, which sees no other."""

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
