"""The children as the parent sees them: started, watched, ended, and never left behind."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tclint.model import codec
from tclint.verify.heard import Heard
from tclint.verify.job import Job
from tclint.verify.memory import default_memory_mb, group_memory_mb
from tclint.verify.waiting import waited

CHILD = Path(__file__).parent / "child" / "start.py"
SO_FAR = "so_far.json"
"""Beside the answer: what a diagnostic has measured until now."""
OUTPUT_KEPT = 64 * 1024
OUTPUT_LIMIT = 4 * 1024 * 1024
"""A target may print more; it is thrown away as it comes."""
POLL = 0.05
COUNTED = 0.5
"""Seconds between two looks at a target's memory: each reads about every process of the machine."""
START_LIMIT = 300.0
OBEYS = 10.0
"""Seconds after which a server has ended a job that it was told to end."""
PATIENCE = 4
"""How much longer than its limit a target may take, in limits, where the machine kept it waiting for that long."""
GONE = "the target ended the process that had started it"

_DROPPED = ("TORCH_LOGS", "TORCH_TRACE", "TORCHDYNAMO_", "TORCHINDUCTOR_", "TORCH_COMPILE", "PYTORCH_", "PYTHONSTARTUP")
_KEPT = ("TORCHINDUCTOR_VEC_ISA_OK", "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS")
"""Said of this machine's C++ compiler: they change how long Inductor takes, and nothing that Dynamo does."""
_DROPPED_EXACT = ("PYTHONPATH_TCLINT", "PYTEST_CURRENT_TEST", "PYTHONINSPECT", "PYTHONWARNINGS")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one child may use. Plain data: it travels to other machines with the job."""

    python: str
    device: str = "cpu"
    timeout: float = 120
    memory_mb: int = 0
    gpu: str = ""
    """The one GPU that the child sees, as CUDA_VISIBLE_DEVICES names it; empty: all that the parent sees."""
    compilers: int = 1
    """Processes in which Inductor compiles kernels. More than one pays only where many are compiled: each imports torch."""


def environment(
    device: str, scratch: str, base: Mapping[str, str] | None = None, gpu: str = "", compilers: int = 1
) -> dict[str, str]:
    """The parent's environment without what would change Dynamo's behaviour or let a run leave traces."""
    source = os.environ if base is None else base
    kept = {
        name: value
        for name, value in source.items()
        if name in _KEPT or (not name.startswith(_DROPPED) and name not in _DROPPED_EXACT)
    }
    kept.update(
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONHASHSEED="0",
        PYTHONUNBUFFERED="1",
        PYTHONFAULTHANDLER="1",
        TORCHINDUCTOR_CACHE_DIR=os.path.join(scratch, "inductor"),
        TRITON_CACHE_DIR=os.path.join(scratch, "triton"),
        # The targets of verify are small: workers of Inductor's own would first import torch, each child's anew.
        TORCHINDUCTOR_COMPILE_THREADS=str(compilers),
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        TOKENIZERS_PARALLELISM="false",
        TCLINT_VERIFY_DEVICE=device,
        # `torch.cuda.is_available()` then asks the driver's library and leaves CUDA untouched: forking stays possible.
        PYTORCH_NVML_BASED_CUDA_CHECK="1",
        TCLINT_VERIFY_BYTECODE=bytecode(source),
    )
    if device == "cpu":
        kept["CUDA_VISIBLE_DEVICES"] = ""
    elif gpu:
        kept["CUDA_VISIBLE_DEVICES"] = gpu
    return kept


def bytecode(source: Mapping[str, str]) -> str:
    """The user's folder for the bytecode of packages that have none beside them: an image that was built without it, a
    folder that cannot be written. Without it every run compiles the two thousand files of torch anew."""
    caches = source.get("XDG_CACHE_HOME") or os.path.join(source.get("HOME") or os.path.expanduser("~"), ".cache")
    return os.path.join(caches, "tclint", "bytecode")


def visible_gpus(base: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The GPUs of this machine that we may use, by the names that CUDA_VISIBLE_DEVICES takes. Asks the driver, not torch."""
    named = (os.environ if base is None else base).get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return tuple(part.strip() for part in named.split(",") if part.strip() and part.strip() != "-1")
    return tuple(line for line in _asked("index") if line.isdigit())


def free_memory_mb(gpu: str) -> int:
    """Memory of a GPU that nobody uses; 0 where the driver does not tell."""
    told = _asked("memory.free", gpu)
    return int(told[0]) if len(told) == 1 and told[0].isdigit() else 0


def _asked(field: str, gpu: str = "") -> list[str]:
    """What the driver says of one GPU, or of each."""
    only = [f"--id={gpu}"] if gpu else []
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits", *only]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in done.stdout.splitlines()]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from one child: its JSON, or why there is none; both, where it was stopped with a part done."""

    data: Mapping[str, Any] | None = None
    trouble: str = ""
    died: bool = False
    """It was not stopped: it died of a signal, or ended itself."""


Hears = Callable[[Mapping[str, Any]], None]


class Server:
    """One fork server. Several threads may run jobs on it at once."""

    def __init__(self, python: str, device: str, gpu: str = "", compilers: int = 1) -> None:
        self.scratch = tempfile.mkdtemp(prefix="tclint-verify-")
        self.python = python
        self._lock = threading.Lock()
        self._events: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._count = 0
        self._first: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._log = open(os.path.join(self.scratch, "server.log"), "wb")  # noqa: SIM115
        self._owner = os.getpid()
        self.dead = False
        self.stopped = False
        """Ended by us, not by a target."""
        # Its own session: Ctrl-C reaches the parent only, which then ends the children in order.
        self._process = subprocess.Popen(
            [python, str(CHILD), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=self.scratch,
            env=environment(device, self.scratch, gpu=gpu, compilers=compilers),
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True, name="tclint-verify-events")
        self._reader.start()
        atexit.register(self.stop)
        _starting.append(self._process)
        try:
            hello = self._first.get(timeout=START_LIMIT)
        except queue.Empty:
            hello = {"event": "failed", "reason": f"no answer within {START_LIMIT:.0f} s"}
        finally:
            _starting.remove(self._process)
        if hello["event"] != "ready":
            reason = str(hello.get("reason", ""))
            self.stop()
            raise ServerFailed(reason)
        self.torch = str(hello["torch"])

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            if event["event"] in ("ready", "failed"):
                self._first.put(event)
                continue
            with self._lock:
                waiting = self._events.get(event["id"])
            if waiting is not None:
                waiting.put(event)
        self.dead = True
        self._first.put({"event": "failed", "reason": self._last_words()})
        with self._lock:
            for waiting in self._events.values():
                waiting.put({"event": "gone"})

    def _last_words(self) -> str:
        try:
            text = Path(self.scratch, "server.log").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return "the process ended"
        return text.splitlines()[-1] if text else "the process ended"

    def _send(self, order: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        data = (json.dumps(order) + "\n").encode()
        with self._lock:
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def run(self, job: Job, limits: Limits) -> Heard:
        """The answer to one job; where there is none, an empty one that says why."""
        answer = self.ask(codec.encode(job), limits)
        if answer.data is None:
            return Heard(device=job.device, trouble=answer.trouble, died=answer.died)
        try:
            return replace(codec.decode(Heard, answer.data), stopped=answer.trouble, died=answer.died)
        except (ValueError, TypeError, KeyError) as error:
            return Heard(device=job.device, trouble=f"the answer cannot be read ({type(error).__name__}: {error})")

    def ask(self, job: Mapping[str, Any], limits: Limits, heard: Hears | None = None) -> Answer:
        """One job in a fork of its own. `heard` is given what it saves of its answer, as it comes."""
        with self._lock:
            self._count += 1
            number = self._count
            events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
            self._events[number] = events
        folder = Path(self.scratch, f"job{number}")
        try:
            work = folder / "work"
            work.mkdir(parents=True)
            (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            memory = limits.memory_mb or default_memory_mb()
            try:
                self._send(
                    {
                        "id": number,
                        "job": str(folder / "job.json"),
                        "answer": str(folder / "answer.json"),
                        "output": str(folder / "output.txt"),
                        "folder": str(work),
                        # CUDA reserves address space far beyond what it uses: there only resident memory is watched.
                        "address_mb": memory if limits.device == "cpu" else 0,
                    }
                )
            except (OSError, ValueError):
                return Answer(trouble=GONE)
            return self._watch(number, events, folder, limits.timeout, memory, heard)
        finally:
            with self._lock:
                self._events.pop(number, None)
            shutil.rmtree(folder, ignore_errors=True)

    def _watch(
        self,
        number: int,
        events: queue.SimpleQueue[dict[str, Any]],
        folder: Path,
        timeout: float,
        memory: int,
        heard: Hears | None = None,
    ) -> Answer:
        end = time.monotonic() + timeout
        pid = 0
        trouble = ""
        told = counted = 0.0
        output = _Output(folder / "output.txt")
        known = _Known(folder / "answer.json", heard)
        while True:
            try:
                event = events.get(timeout=POLL)
            except queue.Empty:
                output.check()
                known.check()
                if trouble and time.monotonic() > told + OBEYS:
                    # A target can stop the server, which then neither hears nor reaps.
                    self._kill(pid)
                    return _unheard(folder, output, trouble if pid else GONE)
                if not trouble and time.monotonic() > end + min(waited(pid) if pid else 0.0, timeout * PATIENCE):
                    trouble = f"still running after {timeout:g} s: stopped"
                elif not trouble and pid and time.monotonic() < counted + COUNTED:
                    continue
                elif not trouble and pid and (used := group_memory_mb(pid, memory)) > memory:
                    trouble = f"used {used} MB of memory, {memory} MB are allowed: stopped"
                else:
                    counted = time.monotonic()
                    continue
                told = time.monotonic()
                try:
                    self._send({"kill": number})
                except (OSError, ValueError):
                    return Answer(trouble=trouble)
                continue
            if event["event"] == "started":
                pid = int(event["pid"])
            elif event["event"] == "gone":
                return _unheard(folder, output, trouble or GONE)
            elif event["event"] == "ended":
                return _outcome(folder / "answer.json", int(event["code"]), output, trouble)

    def _kill(self, pid: int) -> None:
        """End a server that does not listen, and one of its forks; the others hear of its end as well."""
        for leader in (self._process.pid, pid):
            if leader:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(leader, signal.SIGKILL)

    def stop(self) -> None:
        """End the server and everything it started. Safe to call twice, and from an exit handler."""
        if os.getpid() != self._owner:
            return
        self.stopped = True
        atexit.unregister(self.stop)
        if self._process.stdin is not None and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except OSError:
                # It is gone already: nothing is left to tell it.
                self.dead = True
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self.dead = True
        self._log.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


class _Known:
    """What a child has saved of its answer, told once each time there is more of it."""

    def __init__(self, answer: Path, heard: Hears | None) -> None:
        self.answer = answer
        self.heard = heard
        self.last = 0

    def check(self) -> None:
        if self.heard is None:
            return
        try:
            now = self.answer.with_name(SO_FAR).stat().st_mtime_ns
        except FileNotFoundError:
            return
        if now != self.last and (told := _so_far(self.answer)) is not None:
            self.last = now
            self.heard(told)


class ServerFailed(Exception):
    """Torch cannot be imported by the chosen interpreter."""


class _Output:
    """What a target printed: the beginning is kept, the file never grows for long."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = ""

    def check(self) -> None:
        try:
            size = self.path.stat().st_size
        except OSError:
            return
        if size > OUTPUT_LIMIT:
            self.head = self.head or self._read(0)
            os.truncate(self.path, 0)

    def _read(self, start: int) -> str:
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, start))
                return file.read(OUTPUT_KEPT).decode("utf-8", errors="replace")
        except OSError:
            return ""

    def tail(self) -> str:
        try:
            size = self.path.stat().st_size
        except OSError:
            return self.head
        return self._read(size - OUTPUT_KEPT) or self.head


_SIGNALS = {"SIGSEGV": "a segmentation fault", "SIGABRT": "an abort", "SIGKILL": "SIGKILL (often: out of memory)"}


def _outcome(path: Path, code: int, output: _Output, trouble: str) -> Answer:
    if trouble:
        return Answer(_so_far(path), trouble)
    if path.is_file():
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(data, dict):
                raise TypeError(f"{type(data).__name__}, not an object")
            return Answer(data)
        except (ValueError, TypeError) as error:
            return Answer(trouble=f"the answer cannot be read ({type(error).__name__}: {error})")
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return Answer(_so_far(path), f"the target's process died of {_SIGNALS.get(name, name)}", died=True)
    last = next((line for line in reversed(output.tail().splitlines()) if line.strip()), "")
    said = f" (its last words: {last.strip()[:200]})" if last else ""
    return Answer(_so_far(path), f"the target ended its own process with status {code}{said}", died=True)


def _unheard(folder: Path, output: _Output, trouble: str) -> Answer:
    """What a child left that nobody saw end: a whole answer, or what it had until then."""
    path = folder / "answer.json"
    return _outcome(path, 0, output, "" if path.is_file() else trouble)


def _so_far(path: Path) -> Mapping[str, Any] | None:
    """What a child had saved of its answer before it was gone."""
    part = path.with_name(SO_FAR)
    if not part.is_file():
        return None
    # Appears whole or not at all, like the answer itself.
    data = json.loads(part.read_text(encoding="utf-8"))
    return data if isinstance(data, dict) else None


_servers: dict[tuple[str, str, str, int], Server] = {}
_servers_lock = threading.Lock()
_starting: list[subprocess.Popen[bytes]] = []
"""Servers that have not said that they are ready."""


def run_job(job: Job, limits: Limits) -> Heard:
    """One job on this machine's fork server. A plain function of plain data: it can be sent to another machine."""
    return _on_server(limits, lambda server: server.run(job, limits), lambda why: Heard(device=job.device, trouble=why))


def ask_child(job: Mapping[str, Any], limits: Limits, heard: Hears | None = None) -> Answer:
    """One job that is no verification, on this machine's fork server."""
    return _on_server(limits, lambda server: server.ask(job, limits, heard), lambda why: Answer(trouble=why))


_Reply = TypeVar("_Reply", Heard, Answer)


def _on_server(limits: Limits, run: Callable[[Server], _Reply], failure: Callable[[str], _Reply]) -> _Reply:
    try:
        server = _server(limits)
    except ServerFailed as failed:
        return failure(f"torch cannot be imported by {limits.python}: {failed}")
    reply = run(server)
    if reply.trouble != GONE or server.stopped:
        return reply
    # Some target killed the server, perhaps another one than this: ask again where nobody else can be hurt.
    try:
        own = Server(limits.python, limits.device, limits.gpu, limits.compilers)
    except ServerFailed as failed:
        return failure(f"torch cannot be imported by {limits.python}: {failed}")
    try:
        return run(own)
    finally:
        own.stop()


def _server(limits: Limits) -> Server:
    key = (limits.python, limits.device, limits.gpu, limits.compilers)
    with _servers_lock:
        server = _servers.get(key)
        if server is None or server.dead:
            if server is not None:
                server.stop()
            server = _servers[key] = Server(*key)
        return server


def start_server(limits: Limits) -> str:
    """Start a server before anybody asks it: why it could not be started, which who asks later hears too; empty where it was."""
    try:
        _server(limits)
    except ServerFailed as failed:
        return f"torch cannot be imported by {limits.python}: {failed}"
    return ""


def stop_servers() -> None:
    """End every server of this process and with it every child."""
    for process in list(_starting):
        # Nobody waits for it any more.
        process.kill()
    with _servers_lock:
        for server in _servers.values():
            server.stop()
        _servers.clear()
