"""The folder of the cache: whether it is ours, and the files in it that this program wrote.

A repository can bring a folder of any name, with links, pipes and made-up files in it, and its configuration can name any
folder. So nothing here follows a link or reads without a bound, a folder that others filled is left alone, and nothing is
replaced or removed but what has both a name and a beginning that only we write.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tclint.model.errors import ConfigError, UserError
from tclint.model.settings import Settings, own_word
from tclint.run import cachekey
from tclint.sources import regular

TAG: Final = "CACHEDIR.TAG"
CACHE_TAG: Final = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache made by tclint; it can be removed.\n"
)
"""The content of CACHEDIR.TAG: backup tools skip the folder, and it is how we know that it is ours."""

STATS: Final = "stats"
RUNS: Final = "runs"
PARTS: Final = "parts"
VERIFY: Final = "verify"
_KINDS: Final = (RUNS, PARTS, VERIFY)
_LABELS: Final = {TAG: CACHE_TAG.encode(), ".gitignore": b"*\n"}
"""The files that tell others what the folder is. The tag is first, so that whoever looks meanwhile knows whose it is."""

_MAGIC: Final = b"tclint cache 3\n"
_ANY_MAGIC: Final = b"tclint cache "
"""How the files of every version begin."""
_SIGNATURE: Final = 16
_HEAD: Final = len(_MAGIC) + _SIGNATURE
_MOST: Final = 256 * 2**20
"""No entry of ours is longer."""
_TEMPORARY: Final = ".tclint-"
_UNFINISHED: Final = re.compile(r"\.tclint-\w{8}")
_ENTRY: Final = re.compile(rf"[0-9a-f]{{32}}|{_UNFINISHED.pattern}")


class NotOurs(UserError):
    """A folder that cannot be the cache; the text says why."""


@dataclass(frozen=True, slots=True)
class CacheDir:
    """A folder that is ours. An entry is named by its place in it: `stats`, `runs/<key>`."""

    path: str
    key: bytes
    """Signs what is written: what others wrote does not count."""

    def read(self, name: str) -> memoryview | None:
        """What was written, or None where it is missing, damaged or by somebody else."""
        try:
            data = regular.read(self._at(name), _MOST)
        except OSError:
            return None
        if data is None or not data.startswith(_MAGIC):
            return None
        payload = memoryview(data)[_HEAD:]
        return payload if data[len(_MAGIC) : _HEAD] == self._signature(name, payload) else None

    def write(self, name: str, payload: bytes) -> None:
        """Replace an entry, in one piece. A file of that name that is not ours stays."""
        import tempfile

        if len(payload) + _HEAD > _MOST:
            return
        path = self._at(name)
        temporary = ""
        try:
            if os.path.lexists(path) and not _written_by_us(path):
                return
            handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=os.path.dirname(path))
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + self._signature(name, payload))
                file.write(payload)
            os.replace(temporary, path)
        except OSError:
            # A full or read-only disk costs the next run its time, not this one its result.
            if temporary:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)

    def trim(self, kind: str, most: int) -> None:
        """Drop the oldest entries of a kind beyond a number."""
        folder = self._at(kind)
        with contextlib.suppress(OSError):
            if not regular.is_folder(folder):
                return
            with os.scandir(folder) as entries:
                files = [
                    (entry.stat(follow_symlinks=False).st_mtime_ns, entry.path)
                    for entry in entries
                    if _ENTRY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
                ]
            for _, path in sorted(files)[:-most]:
                if _written_by_us(path):
                    os.unlink(path)

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _signature(self, name: str, payload: bytes | memoryview) -> bytes:
        """Of the entry under its name: it stands for nothing else."""
        made = hashlib.blake2b(name.replace(os.sep, "/").encode(), key=self.key, digest_size=_SIGNATURE)
        made.update(payload)
        return made.digest()


class Nowhere(CacheDir):
    """A cache that is kept in memory alone."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("", b"")

    def read(self, name: str) -> memoryview | None:
        return None

    def write(self, name: str, payload: bytes) -> None:
        pass

    def trim(self, kind: str, most: int) -> None:
        pass


def opened(settings: Settings, say: Callable[[str], None] | None = None) -> CacheDir | None:
    """The cache folder of a run, made where it does not exist yet; None, and a word to `say`, where there can be none.

    Where somebody named the folder, one that cannot be used is an error. The usual one may be in the way by no fault of
    the user's: a run without a cache is slower, not worse.
    """
    where = settings.source.get("cache-dir")
    if where is None and (not os.path.isdir(settings.root) or os.path.dirname(settings.root) == settings.root):
        # A document that an editor has not saved yet: its folder is not ours to make. Nor is a file system anybody's project.
        return None
    try:
        _refuse_links(settings)
        return claim(settings.cache_dir)
    except NotOurs as refused:
        if where is not None:
            raise ConfigError(f"{where}: cache-dir: {refused}; name a folder that is new or empty") from refused
        if say is not None:
            say(f"no cache is kept: {refused}; remove it, or name another folder with --cache-dir")
    except OSError:
        # A read-only checkout, or a home that no key can be kept in.
        return None
    return None


def claim(folder: str) -> CacheDir:
    """A folder as a cache: one that is new, empty or ours already. `NotOurs` for any other, which is left as it is."""
    key = cachekey.key()
    if key is None:
        raise PermissionError(f"no key can be kept in {cachekey.key_file()}")
    with contextlib.suppress(FileExistsError):
        os.makedirs(folder)
    if not regular.is_folder(folder):
        raise NotOurs(f"{folder} is a link or a file, not a folder")
    names = set(os.listdir(folder))
    tagged = _content(os.path.join(folder, TAG)) == _LABELS[TAG]
    if not tagged and not _is_young(folder, names):
        raise NotOurs(f"{folder} is not a cache of tclint (it holds {_some(names)})")
    if foreign := {name for name in names if not _is_known(name)}:
        raise NotOurs(f"{folder} is not a cache of tclint alone (it holds {_some(foreign)})")
    for name in names.intersection(_KINDS):
        if not regular.is_folder(os.path.join(folder, name)):
            raise NotOurs(f"{os.path.join(folder, name)} is a link or a file, where the cache has a folder")
    for name, content in _LABELS.items():
        if name not in names or not tagged:
            _label(os.path.join(folder, name), content)
    for name in _KINDS:
        if name not in names:
            with contextlib.suppress(FileExistsError):  # a run at the same time
                os.mkdir(os.path.join(folder, name))
    return CacheDir(folder, key)


def clear(settings: Settings) -> tuple[str, ...]:
    """Remove what tclint wrote, then the folder if it is empty; gives the names of what stays in it.

    `NotOurs` where the folder is no cache, `OSError` where something cannot be removed.
    """
    folder = settings.cache_dir
    _refuse_links(settings)
    if _content(os.path.join(folder, TAG)) != _LABELS[TAG]:
        raise NotOurs(f"{folder} does not look like a cache of tclint (no {TAG} of ours)")
    for kind in _KINDS:
        inner = os.path.join(folder, kind)
        if not regular.is_folder(inner):
            continue
        for name in os.listdir(inner):
            path = os.path.join(inner, name)
            if _ENTRY.fullmatch(name) and _written_by_us(path):
                os.unlink(path)
        if not os.listdir(inner):
            os.rmdir(inner)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if (name == STATS or _UNFINISHED.fullmatch(name)) and _written_by_us(path):
            os.unlink(path)
    # The tag goes last: what is interrupted can be done again.
    for name in reversed(_LABELS):
        path = os.path.join(folder, name)
        if _content(path) == _LABELS[name]:
            os.unlink(path)
    left = tuple(sorted(os.listdir(folder)))
    if not left:
        os.rmdir(folder)
    return left


def _refuse_links(settings: Settings) -> None:
    """What a repository names must lie in it, not behind a link that the repository brought along."""
    path = settings.cache_dir
    while not os.path.islink(path):
        above = os.path.dirname(path)
        if own_word(settings, "cache-dir") or above in (settings.root, path):
            return
        path = above
    raise NotOurs(f"{path} is a link, and the cache follows none")


def _is_young(folder: str, names: set[str]) -> bool:
    """Whether a folder is empty, or is just getting its labels from a run at the same time."""
    return all(name in _LABELS and _content(os.path.join(folder, name)) in (b"", _LABELS[name]) for name in names)


def _is_known(name: str) -> bool:
    return name in _LABELS or name in _KINDS or name == STATS or _UNFINISHED.fullmatch(name) is not None


def _some(names: set[str]) -> str:
    first = min(names)
    return first if len(names) == 1 else f"{first} and {len(names) - 1} more"


def _label(path: str, content: bytes) -> None:
    # Whoever writes it at the same time writes the same.
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666), "wb") as file:
        file.write(content)


def _content(path: str) -> bytes | None:
    """What a small file holds; None where it is missing or something else."""
    try:
        return regular.read(path, 1000)
    except OSError:
        return None


def _written_by_us(path: str) -> bool:
    """Whether a file begins as ours do, or is empty as one that a killed run left: nothing is lost with it."""
    head = regular.begins(path, len(_ANY_MAGIC))
    return head is not None and head in (b"", _ANY_MAGIC)
