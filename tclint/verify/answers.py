"""Answers kept between runs, for as long as the sources they rest on do not change."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tclint.verify.heard import Heard, heard_from_json
from tclint.verify.job import Job

VERSION = 2
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
        self.folder = Path(folder) if folder else None

    def _file(self, job: Job, torch: str) -> Path | None:
        if self.folder is None or job.record or job.compare or job.pack:
            # A record is wanted as a file of its own, which an answer from here would not write.
            return None
        text = json.dumps([VERSION, torch, job.to_json()], sort_keys=True)
        return self.folder / f"verify-{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def get(self, job: Job, torch: str) -> Heard | None:
        file = self._file(job, torch)
        if file is None or not file.is_file():
            return None
        try:
            entry = json.loads(file.read_text(encoding="utf-8"))
            heard = heard_from_json(entry["heard"])
            sources = entry["sources"]
        except (OSError, ValueError, TypeError, KeyError):
            # A damaged entry is a missing one: the job runs again and writes it anew.
            return None
        return heard if _fingerprint(sources) == sources else None

    def put(self, job: Job, torch: str, heard: Heard) -> None:
        """Keep an answer. What went wrong is not kept: the machine may have been busy, the package is installed now."""
        file = self._file(job, torch)
        if file is None or heard.trouble or not heard.runs:
            return
        paths = {*heard.sources, *(place.path for place in job.places), *(item.path for item in job.candidates)}
        entry = {"sources": _fingerprint(paths), "heard": heard.to_json()}
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=file.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(entry, out)
        os.replace(partial, file)
