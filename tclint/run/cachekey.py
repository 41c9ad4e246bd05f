"""The key that binds cache entries to this user and this machine.

A repository can bring a whole cache along, with the report of a run that found nothing. So every entry is signed with a key
that is no part of any repository: what somebody else wrote, here or on another machine, is as good as none.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from typing import Final

from tclint.sources import regular

VARIABLE: Final = "TCLINT_CACHE_KEY"
"""A secret of one's own, for machines that share a cache: the runners of a CI system, say."""
_LENGTH: Final = 32


def key() -> bytes | None:
    """The key; None where there is no place to keep one, so that no cache can be kept either."""
    if given := os.environ.get(VARIABLE):
        return hashlib.blake2b(given.encode("utf-8", "surrogateescape"), digest_size=_LENGTH).digest()
    return _kept(key_file())


def key_file() -> str:
    """Where the user's key lies."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    else:
        base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "tclint", "cache.key")


@functools.cache
def _kept(path: str) -> bytes | None:
    try:
        return _read(path) or _made(path)
    except (OSError, ValueError):
        return None


def _read(path: str) -> bytes | None:
    try:
        found = regular.read(path, _LENGTH)
    except FileNotFoundError:
        return None
    return found if found is not None and len(found) == _LENGTH and _is_own(path) else None


def _made(path: str) -> bytes | None:
    """A new key. Of several processes that make one at the same time, one wins; the others may miss it this once."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.path.lexists(path) or not _is_own(folder):
        # Damaged, a link, or under `sudo` in the home of somebody else: nothing that we should put right.
        return None
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(os.urandom(_LENGTH))
    return _read(path)


def _is_own(path: str) -> bool:
    return not hasattr(os, "geteuid") or os.lstat(path).st_uid == os.geteuid()
