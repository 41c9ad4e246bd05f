"""The interpreter that tests give verify and diagnose: the process that has torch loaded is a fork of one that all share.

Loading torch and compiling for the first time takes five seconds of a processor, and the tests start some thirty such
servers, many only to end them. Here the first one that is asked for loads torch, waits, and becomes each server by
forking; the process that was started in its place hands over its standard streams, its folder and its environment, and
lives and dies with the fork. Anything but `start.py --serve` on a CPU is run by the real interpreter.

    kept_torch.py FOLDER PYTHON ARGUMENT...      as PYTHON would be called
    kept_torch.py --hold FOLDER PID              the process that forks, for as long as the process PID lives
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_START = ("verify", "child", "start.py")
_SAME = ("TCLINT_VERIFY_BYTECODE", "TORCHINDUCTOR_COMPILE_THREADS", "CXX", "LD_PRELOAD")
"""What is settled when torch is loaded: who has another environment in these starts a process of their own."""


def made(folder: Path) -> str:
    """An interpreter whose servers are forks of one that lies in this folder."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{__file__}" "{folder}" "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    (folder / "owner").write_text(str(os.getpid()))
    return str(script)


def ended(folder: Path) -> None:
    """The process that forks ends, and all its forks with it."""
    with contextlib.suppress(OSError, ValueError):
        os.kill(int((folder / "holder").read_text()), signal.SIGTERM)


def main(folder: Path, python: str, arguments: list[str]) -> int:
    serves = arguments[1:] == ["--serve"] and Path(arguments[0]).parts[-3:] == _START
    line = _line(folder, python, arguments) if serves and os.environ.get("TCLINT_VERIFY_DEVICE") == "cpu" else None
    if line is None:
        os.execv(python, [python, *arguments])
    request = json.dumps({"cwd": os.getcwd(), "environment": dict(os.environ)}).encode()
    socket.send_fds(line, [len(request).to_bytes(8, "big")], [0, 1, 2])
    line.sendall(request)
    code = line.recv(16)  # until the fork has ended; nothing where the one that holds torch has
    return int(code or b"1")


def _line(folder: Path, python: str, arguments: list[str]) -> socket.socket | None:
    """A connection to the process that forks, which the first one starts."""
    import fcntl

    mine = json.dumps([arguments[0], *(os.environ.get(name) for name in _SAME)])
    known = folder / "environment"
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not known.exists():
            owner = (folder / "owner").read_text()
            log = open(folder / "log", "wb")  # noqa: SIM115
            holder = subprocess.Popen(
                [python, __file__, "--hold", str(folder), owner, arguments[0]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=folder,
                # Each fork puts its own in front.
                env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            )
            while not (folder / "socket").exists():
                if holder.poll() is not None:
                    return None  # torch cannot be loaded: the real one says why
                time.sleep(0.02)
            known.write_text(mine)
    if known.read_text() != mine:
        return None
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(str(folder / "socket"))
    except OSError:
        return None
    return line


def hold(folder: Path, owner: int, start: str) -> None:
    """Load torch once; then fork for whoever asks, until the tests are over."""
    sys.path[:] = [
        entry for entry in sys.path if os.path.realpath(entry) != os.path.dirname(os.path.realpath(__file__))
    ]
    _adopt(start)
    from tclint.verify.child import serve
    from tclint.verify.child.start import run_one

    version = serve._warm()
    serve._warm = lambda: version
    (folder / "holder").write_text(str(os.getpid()))
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(folder / "part"))
    door.listen(64)
    os.rename(folder / "part", folder / "socket")
    door.settimeout(0.05)
    lines: dict[int, socket.socket] = {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while _lives(owner):
            _reap(lines)
            try:
                line, _ = door.accept()
            except TimeoutError:
                continue
            pid = os.fork()
            if pid == 0:
                door.close()
                for other in lines.values():
                    other.close()
                _become(line, start, lambda: serve.serve(run_one, start))
            lines[pid] = line
    finally:
        for pid in lines:
            _end(pid)


def _become(line: socket.socket, start: str, serve: Callable[[], None]) -> None:
    """The fork: never returns."""
    code = 70
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        line.settimeout(None)
        head, streams, _, _ = socket.recv_fds(line, 8, 3)
        wanted = int.from_bytes(head, "big")
        request = b""
        while len(request) < wanted:
            request += line.recv(wanted - len(request))
        asked = json.loads(request)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        line.close()
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["cwd"])
        sys.argv = [start, "--serve"]
        sys.path[:0] = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
        serve()
        code = 0
    finally:
        os._exit(code)


def _reap(lines: dict[int, socket.socket]) -> None:
    """Tell those whose fork has ended; end the fork of those who are gone."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            line = lines.pop(found[0], None)
            if line is not None:
                with contextlib.suppress(OSError):
                    line.send(str(os.waitstatus_to_exitcode(found[1]) & 255).encode())
                line.close()
    for pid, line in list(lines.items()):
        try:
            gone = not line.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
        except BlockingIOError:
            gone = False
        except OSError:
            gone = True
        if gone:
            _end(pid)


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _adopt(start: str) -> None:
    """`tclint` as the server itself would find it."""
    import runpy

    runpy.run_path(start, run_name="tests")["adopt_tclint"]()


if __name__ == "__main__":
    if sys.argv[1] == "--hold":
        hold(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
        sys.exit(0)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
