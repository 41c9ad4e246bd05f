"""Forks of a target: counted in the original, ended in the copies, which must not answer in its name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_count = 0
_original = 0


def watch_forks() -> None:
    """From now on this process is the original."""
    global _original
    _original = os.getpid()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_parent=_forked)


def _forked() -> None:
    global _count
    if os.getpid() == _original:
        _count += 1


def fork_count() -> int:
    return _count


@contextmanager
def uncounted() -> Iterator[None]:
    """Forks inside the block are nobody's answer: those of a test whose calls are only listened to."""
    global _count
    before = _count
    try:
        yield
    finally:
        _count = before


def leave_if_copy() -> None:
    """End this process if a target's fork made it: called wherever control comes back from the target."""
    if _original and os.getpid() != _original:
        os._exit(0)
