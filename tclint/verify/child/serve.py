"""The fork server: imports torch once, then forks for every job, so that a target costs no import and shares no state.

Nothing here touches CUDA: a process forked after CUDA was initialised cannot use it.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_COMPILER = (
    "torch._inductor.compile_fx",
    "torch._inductor.cudagraph_trees",
    "torch._inductor.codegen.triton",
    "torch._inductor.runtime.triton_heuristics",
    "torch._dynamo.repro.after_dynamo",
    "torch._dynamo.backends.inductor",
    "torch._dynamo.backends.cudagraphs",
    "torch.export._trace",
)
"""What the first compilation of a process imports: seconds, for every job, where they are not there before it forks."""
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class _How:
    """How a job is run: in a fork, or, where a fork will not do, as a program of its own."""

    run: Callable[[str, str], None]
    program: str


@dataclass(frozen=True)
class _Order:
    id: int
    job: str
    answer: str
    output: str
    folder: str
    """An empty folder to run in: what the target writes beside itself lands there, not in the working copy."""
    address_mb: int


def serve(run: Callable[[str, str], None], program: str) -> None:
    """Obey until the parent goes away. `run` does one job; so does the file `program`, from the job's file to the answer's."""
    protocol = os.dup(1)
    os.dup2(2, 1)
    # A target's orphans (double forks) become our children, so that they can be found and ended.
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        version = _warm()
    except BaseException as error:
        _say(protocol, {"event": "failed", "reason": f"{type(error).__name__}: {error}"})
        return
    _say(protocol, {"event": "ready", "torch": version, "pid": os.getpid()})
    _Loop(protocol, _How(run, program)).run()


def _warm() -> str:
    """Import everything a job needs and compile once: Dynamo imports most of itself on first use. Where CUDA is wanted
    nothing is compiled, which would touch it, but what compiling needs is imported."""
    # Modules are not garbage: looking for some among them takes a sixth of the time that importing all this does.
    gc.disable()
    _keep_bytecode(os.environ.get("TCLINT_VERIFY_BYTECODE", ""))
    import torch

    import tclint.verify.child.plan  # noqa: F401

    if os.environ.get("TCLINT_VERIFY_DEVICE", "cpu") == "cpu":
        torch.set_num_threads(1)
        # With gradients it would start autograd's threads where torch sees a GPU, and no fork could compute any.
        torch.set_grad_enabled(not torch.backends.cuda.is_built())
        for backend in ("eager", "aot_eager"):
            layer = torch.compile(torch.nn.Linear(2, 2), backend=backend)
            for size in (2, 3):
                # The second size makes shapes symbolic, which imports an algebra system.
                layer(torch.ones(size, 2))
        torch.set_grad_enabled(True)
        torch._dynamo.reset()
    else:
        for name in _COMPILER:
            if importlib.util.find_spec(name) is not None:
                importlib.import_module(name)
    unmeasured()
    # What is alive now lives on in every fork: a collection there need not look at it, nor copy its pages.
    gc.collect()
    gc.freeze()
    gc.enable()
    return str(torch.__version__)


def _keep_bytecode(folder: str) -> None:
    """Where torch's own files have not been compiled, keep what is compiled now, in a folder of ours and nowhere else:
    importing them takes three times as long each time, and so does whatever the target imports from the same place."""
    found = importlib.util.find_spec("torch")
    if not folder or found is None or found.origin is None:
        return
    if not os.path.exists(importlib.util.cache_from_source(found.origin)):
        sys.pycache_prefix, sys.dont_write_bytecode = folder, False


def unmeasured() -> None:
    """Dynamo times the guards of every program that it makes, and empties the processor's caches for that."""
    from torch._dynamo import guards

    if hasattr(guards, "profile_guard_manager"):
        guards.profile_guard_manager = lambda *_: 0.0


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _say(protocol: int, event: dict[str, Any]) -> None:
    os.write(protocol, (json.dumps(event) + "\n").encode())


class _Loop:
    """Reads orders, forks, reaps. Ends when the parent goes away, and takes every fork with it."""

    def __init__(self, protocol: int, how: _How) -> None:
        self.protocol = protocol
        self.how = how
        self.running: dict[int, int] = {}
        self.buffer = b""
        self.wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        os.set_blocking(self.wake_read, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)

    def run(self) -> None:
        try:
            while True:
                ready, _, _ = select.select([0, self.wake_read], [], [], 1.0)
                if self.wake_read in ready:
                    self._drain()
                self._reap()
                if 0 in ready and not self._read():
                    return
        finally:
            self._end_all()

    def _drain(self) -> None:
        try:
            while os.read(self.wake_read, 4096):
                pass
        except BlockingIOError:
            return

    def _read(self) -> bool:
        """Obey what arrived; False at the end of input."""
        data = os.read(0, 65536)
        if not data:
            return False
        self.buffer += data
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "kill" in order:
                for pid, number in self.running.items():
                    if number == order["kill"]:
                        _end_group(pid)
            else:
                self._start(_Order(**order))
        return True

    def _start(self, order: _Order) -> None:
        pid = os.fork()
        if pid == 0:
            _work(order, self.protocol, self.how)
        self.running[pid] = order.id
        _say(self.protocol, {"event": "started", "id": order.id, "pid": pid})

    def _end_all(self) -> None:
        """Children die one after the other, and each leaves us its own: until nobody is left."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            for pid in {*self.running, *_children()}:
                _end_group(pid)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            time.sleep(0.02)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            number = self.running.pop(pid, None)
            if number is not None:
                # What the target forked is still in its group, and has nobody to answer to any more.
                _end_group(pid)
                _say(
                    self.protocol,
                    {"event": "ended", "id": number, "code": os.waitstatus_to_exitcode(status)},
                )
        self._end_strays()

    def _end_strays(self) -> None:
        """Children that no order started are orphans of targets that left their process group."""
        for pid in _children():
            if pid not in self.running:
                _end(pid)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _end_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # No such group: a fork that has not reached setsid yet, a stray in another group, or all gone.
        _end(pid)


def _work(order: _Order, protocol: int, how: _How) -> None:
    """The forked child: never returns."""
    code = 70
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(protocol)
        null = os.open(os.devnull, os.O_RDONLY)
        output = os.open(order.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(order.folder)
        os.environ["TMPDIR"] = order.folder
        if order.address_mb:
            limit = _address_space() + order.address_mb * 2**20
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if _must_exec():
            os.execv(sys.executable, [sys.executable, how.program, order.job, order.answer])
        how.run(order.job, order.answer)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _must_exec() -> bool:
    """Whether the fork must start over as a new program: CUDA does not survive a fork, and somebody has touched it."""
    torch = sys.modules["torch"]
    return os.environ.get("TCLINT_VERIFY_SPAWN") == "1" or bool(torch.cuda.is_initialized())


def _address_space() -> int:
    """Bytes of address space in use now: the limit is on what the target adds to it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 8 * 2**30
