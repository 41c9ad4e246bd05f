"""A process that has loaded what takes long, and becomes each process that would load it again by forking.

The process that was started in the place of a fork hands over its arguments, its standard streams, its folder and its
environment, and lives and dies with the fork. `kept_torch` and `kept_tclint` say what is loaded, and for whom.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def made(folder: Path, program: str, settled: Sequence[str]) -> str:
    """An interpreter that a program of this folder stands in for; what it keeps lies in this folder.

    Who starts it with none of the variables that are settled by loading has them as they are now.
    """
    folder.mkdir(exist_ok=True)
    script = folder / "python"
    now = [f'export {name}="${{{name}-{os.environ[name]}}}"\n' for name in settled if name in os.environ]
    call = f'exec "{sys.executable}" -IS "{program}" "{folder}" "{sys.executable}" "$@"\n'
    script.write_text("".join(["#!/bin/sh\n", *now, call]))
    script.chmod(0o755)
    (folder / "owner").write_text(str(os.getpid()))
    return str(script)


def ended(folder: Path) -> None:
    """The process that forks ends, and all its forks with it."""
    with contextlib.suppress(OSError, ValueError):
        os.kill(int((folder / "holder").read_text()), signal.SIGTERM)


def forked(folder: Path, holder: Sequence[str], mine: Sequence[str | None], arguments: Sequence[str]) -> int | None:
    """The exit code of a fork with these arguments; nothing where a process of one's own must be started.

    `holder` is the command that loads and forks, followed by the process that it lives as long as. The first one that
    asks starts it. `mine` is what is settled by loading: who has it otherwise cannot be a fork of the same process.
    """
    line = _line(folder, holder, mine)
    if line is None:
        return None
    request = json.dumps({"cwd": os.getcwd(), "environment": dict(os.environ), "arguments": arguments}).encode()
    socket.send_fds(line, [len(request).to_bytes(8, "big")], [0, 1, 2])
    line.sendall(request)
    code = line.recv(16)  # until the fork has ended; nothing where the one that holds it all has
    return int(code or b"1")


def _line(folder: Path, command: Sequence[str], mine: Sequence[str | None]) -> socket.socket | None:
    """A connection to the process that forks."""
    import fcntl

    known = folder / "environment"
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not known.exists():
            owner = (folder / "owner").read_text()
            log = open(folder / "log", "wb")  # noqa: SIM115
            holder = subprocess.Popen(
                [*command, owner],
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
                    return None  # it cannot be loaded: the real one says why
                time.sleep(0.02)
            known.write_text(json.dumps(mine))
    if json.loads(known.read_text()) != list(mine):
        return None
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(str(folder / "socket"))
    except OSError:
        return None
    return line


def hold(folder: Path, owner: int, become: Callable[[list[str]], object]) -> None:
    """Fork for whoever asks, until the tests are over."""
    gc.collect()
    gc.freeze()  # no fork looks through what is loaded, and so copies it
    (folder / "holder").write_text(str(os.getpid()))
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(folder / "part"))
    door.listen(64)
    os.rename(folder / "part", folder / "socket")
    lines: dict[int, socket.socket] = {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    # A fork that ends wakes the one that waits, and whoever is gone does.
    woken, waker = socket.socketpair()
    for end in (woken, waker):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        while _lives(owner):
            ready, _, _ = select.select([door, woken, *lines.values()], [], [], 0.5)
            with contextlib.suppress(BlockingIOError):
                woken.recv(4096)
            _reap(lines)
            if door not in ready:
                continue
            line, _ = door.accept()
            pid = os.fork()
            if pid == 0:
                door.close()
                for other in lines.values():
                    other.close()
                _become(line, become)
            lines[pid] = line
    finally:
        for pid in lines:
            _end(pid)


def _become(line: socket.socket, become: Callable[[list[str]], object]) -> None:
    """The fork: never returns."""
    code = 70
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
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
        sys.path[:0] = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
        become(asked["arguments"])
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
