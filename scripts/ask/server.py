"""Children that answer: forked from a process that has torch already, limited in time and memory, allowed to crash."""

from __future__ import annotations

import json
import mmap
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

#: What the child is at, for the parent to read after a crash.
TRYING = mmap.mmap(-1, 4096)


def trying(text: str) -> None:
    """Note what is about to be done."""
    TRYING.seek(0)
    TRYING.write(text.encode()[:4000] + b"\0")


def tried() -> str:
    """What the last child was at."""
    return TRYING[:].split(b"\0", 1)[0].decode(errors="replace")


def child(work: Callable[[], Iterator[Any]], seconds: float) -> tuple[list[Any], bool]:
    """What `work` yields in a fork, and whether it came to its end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        behave(reading, writing, work)
    os.close(writing)
    text, end = b"", time.monotonic() + seconds
    finished = False
    while True:
        left = end - time.monotonic()
        ready = select.select([reading], [], [], max(0.0, left))[0] if left > 0 else []
        if not ready:
            os.kill(pid, signal.SIGKILL)
            break
        piece = os.read(reading, 1 << 16)
        if not piece:
            break
        text += piece
    os.close(reading)
    os.waitpid(pid, 0)
    answers = []
    for line in text.split(b"\n"):
        if line == b"done":
            finished = True
        elif line:
            try:
                answers.append(json.loads(line))
            except ValueError:
                continue
    return answers, finished


def behave(reading: int, writing: int, work: Callable[[], Iterator[Any]]) -> None:
    """The child's whole life."""
    os.close(reading)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    silent = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silent, descriptor)
    try:
        for answer in work():
            os.write(writing, json.dumps(answer).encode() + b"\n")
        os.write(writing, b"done\n")
    finally:
        os._exit(0)
