"""What earlier runs found out, kept on disk: hashes of files, results of whole runs, results of parts of runs.

Everything is keyed by what it depends on, so nothing ever has to be invalidated. An entry that is damaged, foreign or from
another version is as good as none. Files are written beside their place and moved there, so that runs at the same time
see each other's entries whole or not at all; the last one to write wins, and what is lost is only time.

A run without a change needs no more than this module: it imports neither libcst nor the interpreter nor the rules.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final

from tclint.model import finding, report
from tclint.model.config import Settings
from tclint.model.report import Report
from tclint.ruleset import packs
from tclint.sources.files import InputFile, cache_folder

_MAGIC: Final = b"tclint cache 1\n"
_RACY: Final = 2_000_000_000  # a file may change again within the resolution of its time stamp
_MAX_RUNS: Final = 64
_MAX_PARTS: Final = 8
_MAX_STATS: Final = 200_000


class Cache:
    """The cache of one run: its settings decide which entries are its own."""

    def __init__(self, folder: str, settings: Settings, cwd: str) -> None:
        self.folder = folder
        self._stats = _Stats(os.path.join(folder, "stats"))
        where = (cwd, settings.root, sys.version_info[:2], settings.fingerprint(), _package_stamp())
        own = [path for folder in settings.rules for path in _python_files(folder)]
        packed = [path for pack in packs.chosen(settings.packs) for path in packs.files(pack)]
        rules = [(path, self._stats.hash_of(path)) for path in (*own, *packed)]
        self._key = _digest(repr((where, sorted(rules))).encode())
        self._parts: dict[str, Any] | None = None
        self._used: dict[str, Any] = {}

    # -- files --------------------------------------------------------------------------------------------------

    def hash_of(self, file: InputFile) -> str:
        """The hash of a file's content, empty where it cannot be read."""
        if file.text is not None:
            return _digest(file.text)
        return self._stats.hash_of(file.absolute)

    @staticmethod
    def digest(data: bytes) -> str:
        return _digest(data)

    # -- whole runs ---------------------------------------------------------------------------------------------

    def recall(self, files: Sequence[InputFile]) -> Report | None:
        """The report of an earlier run over the same files with the same content."""
        found = _read(self._run_path(files))
        if found is None:
            return None
        try:
            decoded = decode(found)
        except (TypeError, ValueError, KeyError, IndexError):
            return None
        return decoded if isinstance(decoded, Report) else None

    def remember(self, files: Sequence[InputFile], result: Report) -> None:
        """Keep the report of a run, and what its parts gave."""
        _write(self._run_path(files), encode(result))
        _trim(os.path.join(self.folder, "runs"), _MAX_RUNS)
        self.save()

    def _run_path(self, files: Sequence[InputFile]) -> str:
        rows = sorted((file.path, self.hash_of(file), file.report, file.explicit) for file in files)
        key = _digest(repr((self._key, rows)).encode())
        return os.path.join(self.folder, "runs", key)

    # -- parts of runs ------------------------------------------------------------------------------------------

    def get(self, key: str) -> Any:
        """The result of a part of a run, as it was put; None where there is none."""
        if self._parts is None:
            found = _read(self._parts_path())
            self._parts = found if isinstance(found, dict) else {}
        value = self._used.get(key)
        if value is None:
            value = self._parts.get(key)
            if value is not None:
                self._used[key] = value
        return value

    def put(self, key: str, value: Any) -> None:
        self._used[key] = value

    def save(self) -> None:
        """Write down what this run used and found out."""
        self._stats.save()
        old = self._parts or {}
        new = {key: value for key, value in self._used.items() if key not in old}
        if new:
            # What this run did not need belongs to other paths or to earlier texts: some of it is kept.
            spare = [key for key in old if key not in self._used][-max(1000, len(self._used)) :]
            _write(self._parts_path(), {**{key: old[key] for key in spare}, **self._used})
            _trim(os.path.join(self.folder, "parts"), _MAX_PARTS)
        self._parts = {**old, **self._used}

    def _parts_path(self) -> str:
        return os.path.join(self.folder, "parts", self._key)


def open_cache(settings: Settings, cwd: str) -> Cache | None:
    """The cache of a run, or None where there is to be none or it cannot be made."""
    if settings.no_cache:
        return None
    try:
        folder = cache_folder(settings)
        for name in ("runs", "parts"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        return Cache(folder, settings, cwd)
    except OSError:
        # A read-only checkout: slower, not worse.
        return None


# --- hashes ----------------------------------------------------------------------------------------------------------


class _Stats:
    """Hashes of files by what `stat` says of them, as git and ruff do it.

    A file that changed within two seconds before it was hashed may change again without a new time stamp: such an entry
    is not believed.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        found = _read(path)
        self._known: dict[str, tuple[Any, ...]] = found if isinstance(found, dict) else {}
        self._seen: dict[str, str] = {}
        self._changed = False

    def hash_of(self, path: str) -> str:
        known = self._seen.get(path)
        if known is None:
            known = self._seen[path] = self._hash(path)
        return known

    def forget(self) -> None:
        """Ask the disk again from now on."""
        self._seen.clear()

    def _hash(self, path: str) -> str:
        try:
            status = os.stat(path)
        except OSError:
            return ""
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns)
        entry = self._known.get(path)
        if entry is not None and entry[:4] == stamp and stamp[0] + _RACY < entry[4]:
            return str(entry[5])
        now = time.time_ns()
        try:
            with open(path, "rb") as file:
                digest = _digest(file.read())
        except OSError:
            return ""
        self._known[path] = (*stamp, now, digest)
        self._changed = True
        return digest

    def save(self) -> None:
        if self._changed:
            entries = self._known
            if len(entries) > _MAX_STATS:
                entries = {path: entries[path] for path in self._seen if path in entries}
            _write(self._path, entries)
            self._changed = False


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _package_stamp() -> list[tuple[str, int, int]]:
    """What tclint itself is made of: its version alone does not change while it is worked on."""
    stamps = []
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for path in _python_files(here):
        status = os.stat(path)
        stamps.append((path[len(here) :], status.st_size, status.st_mtime_ns))
    return stamps


def _python_files(folder: str) -> list[str]:
    if os.path.isfile(folder):
        return [folder]
    found: list[str] = []
    stack = [folder]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    if entry.name.endswith(".py"):
                        found.append(entry.path)
                    elif entry.is_dir() and entry.name != "__pycache__":
                        stack.append(entry.path)
        except OSError:
            continue
    return sorted(found)


# --- entries on disk -------------------------------------------------------------------------------------------------


def _read(path: str) -> Any:
    """What was written, or None where it is missing, damaged or not ours."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    head = len(_MAGIC)
    payload = memoryview(data)[head + 16 :]
    if data[:head] != _MAGIC or data[head : head + 16] != hashlib.blake2b(payload, digest_size=16).digest():
        return None
    try:
        return marshal.loads(payload)
    except (EOFError, ValueError, TypeError):
        return None


def _write(path: str, value: Any) -> None:
    payload = marshal.dumps(value)
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".", dir=os.path.dirname(path))
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.blake2b(payload, digest_size=16).digest())
            file.write(payload)
        os.replace(temporary, path)
    except OSError:
        # A full or read-only disk costs the next run its time, not this one its result.
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _trim(folder: str, most: int) -> None:
    """Drop the oldest entries beyond a number."""
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            files = [(entry.stat().st_mtime_ns, entry.path) for entry in entries if entry.is_file()]
        for _, path in sorted(files)[:-most]:
            os.unlink(path)


# --- values on disk --------------------------------------------------------------------------------------------------


def _classes(*modules: Any) -> dict[str, type[Any]]:
    return {
        value.__name__: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and (is_dataclass(value) or issubclass(value, Enum))
    }


_CLASSES: Final[Mapping[str, type[Any]]] = _classes(finding, report)
_FIELDS: Final = {cls: tuple(f.name for f in fields(cls)) for cls in _CLASSES.values() if is_dataclass(cls)}


def encode(value: Any) -> Any:
    """A finding, a report or a tuple of them as plain values: what is a list in the result was an object."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    names = _FIELDS.get(kind)
    if names is not None:
        return [kind.__name__, *[encode(getattr(value, name)) for name in names]]
    if isinstance(value, Enum):
        return [kind.__name__, value.value]
    if kind is tuple:
        return tuple([encode(each) for each in value])
    raise TypeError(f"cannot keep {value!r}")


def decode(value: Any) -> Any:
    """The value that was encoded."""
    kind = type(value)
    if kind is list:
        return _CLASSES[value[0]](*[decode(each) for each in value[1:]])
    if kind is tuple:
        return tuple([decode(each) for each in value])
    return value


def digest_of(parts: Iterable[str]) -> str:
    """One hash for several."""
    return _digest("\n".join(parts).encode())


__all__ = ["Cache", "decode", "digest_of", "encode", "open_cache"]
