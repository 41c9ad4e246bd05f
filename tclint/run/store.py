"""What earlier runs found out, kept on disk: hashes of files, results of whole runs, results of parts of runs.

Everything is keyed by what it depends on, so nothing ever has to be invalidated. An entry that is damaged, foreign or from
another version is as good as none. Files are written beside their place and moved there, so that runs at the same time
see each other's entries whole or not at all; the last one to write wins, and what is lost is only time.

A run without a change needs no more than this module: it imports neither libcst nor the interpreter nor the rules.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final

from tclint.model import finding, report
from tclint.model.report import Report
from tclint.model.settings import Settings
from tclint.ruleset import packs
from tclint.run import cachedir
from tclint.run.cachedir import CacheDir
from tclint.sources.files import InputFile

_RACY: Final = 2_000_000_000  # a file may change again within the resolution of its time stamp
_MAX_RUNS: Final = 64
_MAX_PARTS: Final = 16
_LATER: Final = "later"
_FEW: Final = 8
"""What one edit adds is written by itself while it is less than this part of the whole."""
_MAX_STATS: Final = 200_000


class Cache:
    """The cache of one run: its settings decide which entries are its own."""

    def __init__(self, folder: CacheDir, settings: Settings, cwd: str) -> None:
        self._folder = folder
        self._cwd = cwd
        self._stats = _Stats(folder)
        where = (cwd, settings.root, sys.version_info[:2], settings.fingerprint(), _package_stamp())
        own = [path for folder in settings.rules for path in _python_files(folder)]
        packed = [
            path for pack in packs.chosen(settings.packs, untrusted=settings.untrusted) for path in packs.files(pack)
        ]
        rules = [(path, self._stats.hash_of(path)) for path in (*own, *packed)]
        self._key = _digest(repr((where, sorted(rules))).encode())
        self._parts: dict[str, Any] | None = None
        self._later: dict[str, Any] = {}
        """Of these, what came after the whole was written: an edit writes that again, and not all."""
        self._used: dict[str, Any] = {}
        self._under: dict[str, Cache] = {}
        self.few = False
        """Whether a run went through some of its files alone: what it kept says nothing about the others."""
        self.lasting = False
        """Whether it outlives the run: what one found out is then written when somebody says so (`save`)."""

    def under(self, settings: Settings) -> Cache:
        """The cache of a part of the run that is read under other settings."""
        if not self.lasting:
            return Cache(self._folder, settings, self._cwd)
        key = settings.fingerprint()
        if key not in self._under:
            made = self._under[key] = Cache(self._folder, settings, self._cwd)
            made.lasting = True
        return self._under[key]

    def again(self) -> None:
        """Another run begins in the same process: files may hold something else by now."""
        self._stats.forget()
        for other in self._under.values():
            other.again()

    # -- files --------------------------------------------------------------------------------------------------

    def hash_of(self, file: InputFile) -> str:
        """The hash of a file's content, empty where it cannot be read."""
        if file.text is not None:
            return _digest(file.text)
        return self._stats.hash_of(file.absolute)

    def hash_at(self, path: str) -> str:
        """The same of a file that is read around the run, by its absolute path."""
        return self._stats.hash_of(path)

    @staticmethod
    def digest(data: bytes) -> str:
        return _digest(data)

    # -- whole runs ---------------------------------------------------------------------------------------------

    def recall(self, files: Sequence[InputFile]) -> Report | None:
        """The report of an earlier run over the same files with the same content."""
        found = _unpacked(self._folder.read(self._run_name(files)))
        if found is None:
            return None
        try:
            decoded = decode(found)
        except (TypeError, ValueError, KeyError, IndexError):
            return None
        return decoded if isinstance(decoded, Report) else None

    def remember(self, files: Sequence[InputFile], result: Report) -> None:
        """Keep the report of a run, and what its parts gave."""
        if self.lasting:
            return  # a text in the middle of a word is not met again
        self._folder.write(self._run_name(files), marshal.dumps(encode(result)))
        if not self.few:
            self._folder.write(self._paths_name(files), marshal.dumps(True))
        self._folder.trim(cachedir.RUNS, _MAX_RUNS)
        self.save()

    def covers(self, files: Sequence[InputFile]) -> bool:
        """Whether a run that went through all of these very files is remembered, whatever they held and whichever were reported."""
        return self._folder.read(self._paths_name(files)) is not None

    def _paths_name(self, files: Sequence[InputFile]) -> str:
        key = _digest(repr((self._key, "paths", sorted(file.path for file in files))).encode())
        return os.path.join(cachedir.RUNS, key)

    def _run_name(self, files: Sequence[InputFile]) -> str:
        rows = sorted((file.path, self.hash_of(file), file.report, file.explicit) for file in files)
        key = _digest(repr((self._key, rows)).encode())
        return os.path.join(cachedir.RUNS, key)

    # -- what is asked before a run -----------------------------------------------------------------------------

    def chosen(
        self, question: object, files: Sequence[InputFile], choose: Callable[[], list[InputFile]]
    ) -> list[InputFile]:
        """The files that `choose` takes of these: as it did when their content was the same, or as it does now."""
        rows = sorted((file.absolute, self.hash_of(file), file.report) for file in files)
        name = os.path.join(cachedir.RUNS, _digest(repr((self._key, question, rows)).encode()))
        found = _unpacked(self._folder.read(name))
        if isinstance(found, frozenset):
            return [file for file in files if file.absolute in found]
        now = choose()
        self._folder.write(name, marshal.dumps(frozenset(file.absolute for file in now)))
        self._stats.save()
        return now

    def said(
        self,
        question: str,
        files: Sequence[InputFile],
        content: Callable[[InputFile], bytes],
        say: Callable[[bytes], frozenset[str]],
    ) -> Mapping[str, frozenset[str]]:
        """By absolute path, what is to be said of each file's bytes: only those that nobody has seen are read."""
        name = os.path.join(cachedir.RUNS, _digest(repr((self._key, question)).encode()))
        found = _unpacked(self._folder.read(name))
        known: dict[str, frozenset[str]] = found if isinstance(found, dict) else {}
        answers: dict[str, frozenset[str]] = {}
        used: dict[str, frozenset[str]] = {}
        for file in files:
            digest = self.hash_of(file)
            answer = known.get(digest, used.get(digest))
            if answer is None:
                # It is kept for what was read, which may be newer than what was hashed.
                data = content(file)
                answer, digest = say(data), _digest(data)
            answers[file.absolute] = used[digest] = answer
        if used != known:
            self._folder.write(name, marshal.dumps(used))
            self._stats.save()
        return answers

    # -- parts of runs ------------------------------------------------------------------------------------------

    def get(self, key: str) -> Any:
        """The result of a part of a run, as it was put; None where there is none."""
        value = self._used.get(key)
        if value is None:
            value = self._kept().get(key)
            if value is not None:
                self._used[key] = value
        return value

    def put(self, key: str, value: Any) -> None:
        self._used[key] = value

    def save(self) -> None:
        """Write down what this run used and found out."""
        self._stats.save()
        for other in self._under.values():
            other.save()
        old = self._kept()
        new = {key: value for key, value in self._used.items() if old.get(key) is not value}
        if not new:
            return
        later = {**self._later, **new}
        if len(later) <= len(old) // _FEW:
            self._later = later
            self._folder.write(self._parts_name(_LATER), marshal.dumps(later))
        else:
            # What this run did not need belongs to other paths or to earlier texts: some of it is kept.
            spare = [key for key in old if key not in self._used][-max(1000, len(self._used)) :]
            kept = {**{key: old[key] for key in spare}, **self._used}
            self._folder.write(self._parts_name(), marshal.dumps(kept))
            old = kept
            if self._later:
                self._later = {}
                self._folder.write(self._parts_name(_LATER), marshal.dumps({}))
        self._folder.trim(cachedir.PARTS, _MAX_PARTS)
        self._parts = {**old, **self._used}
        if self.lasting:
            self._used = {}

    def _kept(self) -> dict[str, Any]:
        """What earlier runs wrote down."""
        if self._parts is None:
            whole, later = (_unpacked(self._folder.read(self._parts_name(which))) for which in ("", _LATER))
            self._later = later if isinstance(later, dict) else {}
            self._parts = {**(whole if isinstance(whole, dict) else {}), **self._later}
        return self._parts

    def _parts_name(self, which: str = "") -> str:
        return os.path.join(cachedir.PARTS, _digest(f"{self._key}{which}".encode()) if which else self._key)


def open_cache(settings: Settings, cwd: str, say: Callable[[str], None] | None = None) -> Cache | None:
    """The cache of a run, or None where there is to be none or it cannot be made; `say` hears why."""
    if settings.no_cache:
        return None
    folder = cachedir.opened(settings, say)
    try:
        return None if folder is None else Cache(folder, settings, cwd)
    except OSError:
        # A file of tclint's own is gone: it is being installed anew.
        return None


# --- hashes ----------------------------------------------------------------------------------------------------------


class _Stats:
    """Hashes of files by what `stat` says of them, as git and ruff do it.

    A file that changed within two seconds before it was hashed may change again without a new time stamp: such an entry
    is not believed. The file has a name that everybody knows, so a repository can bring one: it is lines of text, of
    which the worst that can be made up is a line that fits no file.
    """

    def __init__(self, folder: CacheDir) -> None:
        self._folder = folder
        self._known = _lines(folder.read(cachedir.STATS))
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
        changed = status.st_mtime_ns
        stamp = f"{changed} {status.st_size} {status.st_ino} {status.st_ctime_ns}"
        entry = self._known.get(path)
        if entry is not None and entry[0] == stamp and _later(entry[1], changed + _RACY):
            return entry[2]
        now = time.time_ns()
        try:
            with open(path, "rb") as file:
                digest = _digest(file.read())
        except OSError:
            return ""
        if "\n" not in path:
            self._known[path] = [stamp, str(now), digest, path]
            self._changed = True
        return digest

    def save(self) -> None:
        if self._changed:
            entries = self._known
            if len(entries) > _MAX_STATS:
                entries = {path: entries[path] for path in self._seen if path in entries}
            text = "\n".join(["\t".join(entry) for entry in entries.values()])
            self._folder.write(cachedir.STATS, text.encode("utf-8", "surrogateescape"))
            self._changed = False


def _lines(data: memoryview | None) -> dict[str, list[str]]:
    """By path: what `stat` said, when it was asked, the hash, the path."""
    if data is None:
        return {}
    text = str(data, "utf-8", "surrogateescape")
    if text.count("\n") > 2 * _MAX_STATS:
        return {}
    entries = [line.split("\t", 3) for line in text.split("\n")]
    return {entry[3]: entry for entry in entries if len(entry) == 4}


def _later(when: str, than: int) -> bool:
    return when.isdecimal() and len(when) < 25 and int(when) > than


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


# --- values on disk --------------------------------------------------------------------------------------------------


def _unpacked(data: memoryview | None) -> Any:
    """A value as it was written, or None.

    `marshal` must not be given what somebody made up. It is not: an entry is signed with a key that only this user has.
    """
    if data is None:
        return None
    try:
        return marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return None


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
    """A finding, a report or a tuple of them as plain values: what is a list in the result was an object.

    Not `model.codec`: a warm run reads thousands of these before it says anything, by position and through marshal.
    """
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
    return _digest("\n".join(parts).encode("utf-8", "surrogatepass"))


__all__ = ["Cache", "decode", "digest_of", "encode", "open_cache"]
