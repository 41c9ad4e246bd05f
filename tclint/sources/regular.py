"""Regular files: read without following a link, waiting for a pipe or opening a device.

A repository can hold anything under a name that tclint knows. What is not a plain file there is nobody's content.
"""

from __future__ import annotations

import os
import stat
from typing import Final

# Missing on some platforms; the look at what the name stands for, before it is opened, holds on all.
_FLAGS: Final[int] = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


def read(path: str, most: int | None = None) -> bytes | None:
    """The content of a file, None where it is not a regular file or longer than `most`. `OSError` as `open` has it."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or (most is not None and status.st_size > most):
        return None
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        # One more than there should be: a file that grows meanwhile is not taken for what it was.
        return file.read(status.st_size + 1)


def begins(path: str, most: int) -> bytes | None:
    """The first bytes of a regular file, None where it is something else. `OSError` as `open` has it."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return None
    with os.fdopen(os.open(path, _FLAGS), "rb", buffering=0) as file:
        return file.read(most)


def is_odd(path: str) -> bool:
    """Whether a name stands, through links, for a pipe, a device or a socket: reading it may never end."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def is_folder(path: str) -> bool:
    """Whether a name stands for a folder itself, not for a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
