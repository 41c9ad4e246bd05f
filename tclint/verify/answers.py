"""Answers kept between runs, for as long as the sources they rest on do not change."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from tclint.model import codec
from tclint.run import cachedir
from tclint.verify.heard import Heard
from tclint.verify.job import Job

VERSION = 4
"""Raised whenever the experiments change what they hear."""


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return "missing"


def _fingerprint(paths: Iterable[str]) -> dict[str, str]:
    return {path: _digest(path) for path in sorted(set(paths))}


class Cache:
    """One JSON file per job. The key holds what is asked; the entry holds the digests of the sources that answered."""

    def __init__(self, folder: str | None) -> None:
        self._folder = _claimed(folder) if folder else None

    def _name(self, job: Job, torch: str) -> str:
        text = json.dumps([VERSION, torch, codec.encode(job)], sort_keys=True)
        return os.path.join(cachedir.VERIFY, hashlib.sha256(text.encode()).hexdigest()[:32])

    def get(self, job: Job, torch: str) -> Heard | None:
        if self._folder is None or _is_special(job):
            return None
        data = self._folder.read(self._name(job, torch))
        if data is None:
            return None
        try:
            entry = json.loads(bytes(data))
            heard = codec.decode(Heard, entry["heard"])
            sources = entry["sources"]
        except (ValueError, TypeError, KeyError, RecursionError):
            # A damaged entry is a missing one: the job runs again and writes it anew.
            return None
        return heard if _fingerprint(sources) == sources else None

    def put(self, job: Job, torch: str, heard: Heard) -> None:
        """Keep an answer. What went wrong is not kept: the machine may have been busy, the package is installed now."""
        if self._folder is None or _is_special(job) or heard.trouble or heard.stopped or not heard.runs:
            return
        paths = {*heard.sources, *(place.path for place in job.places), *(item.path for item in job.candidates)}
        entry = {"sources": _fingerprint(paths), "heard": codec.encode(heard)}
        self._folder.write(self._name(job, torch), json.dumps(entry).encode())


def _claimed(folder: str) -> cachedir.CacheDir | None:
    try:
        return cachedir.claim(folder)
    except (cachedir.NotOurs, OSError):
        # The command has told it: here, no answer is known.
        return None


def _is_special(job: Job) -> bool:
    """A record is wanted as a file of its own, which an answer from here would not write."""
    return bool(job.record or job.compare or job.pack)
