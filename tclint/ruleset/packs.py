"""Rules that come with installed packages: the entry points of the group `tclint.rules`.

`importlib.metadata` answers the same question and takes a hundred times as long (measured: 110 ms against 1 ms), most of
it to import itself; so the few files that matter are read here.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from tclint.sources import trust

GROUP = "tclint.rules"


class Pack(NamedTuple):
    """One entry point: `target` is a module, a package, or `module:name` of a rule or of a list of rules."""

    name: str
    target: str
    distribution: str
    version: str

    @property
    def module(self) -> str:
        return self.target.partition(":")[0].strip()

    def __str__(self) -> str:
        return f"{self.name} ({self.distribution} {self.version})"


def installed(path: Sequence[str] | None = None) -> tuple[Pack, ...]:
    """The packs that Python's path holds, by name. As with imports, the first of a distribution counts."""
    found: dict[str, Pack] = {}
    seen: set[str] = set()
    for folder in path if path is not None else sys.path:
        for entry in _metadata(folder or "."):
            distribution, _, version = os.path.splitext(os.path.basename(entry))[0].partition("-")
            key = distribution.lower().replace("_", "-").replace(".", "-")
            if key in seen:
                continue
            seen.add(key)
            for name, target in _entry_points(entry):
                found.setdefault(name, Pack(name, target, key, version.partition("-")[0]))
    return tuple(found[name] for name in sorted(found))


def brought_along(folders: Sequence[str]) -> tuple[Pack, ...]:
    """The packs that lie in some folders on Python's path, as those of a repository do under PYTHONPATH=."""
    return installed([entry for entry in sys.path if trust.brought_along(entry, folders)]) if folders else ()


def chosen(
    globs: Iterable[str], packs: Iterable[Pack] | None = None, *, untrusted: Sequence[str] = ()
) -> tuple[Pack, ...]:
    """The installed packs that the setting `packs` asks for, by their own name or that of their distribution.

    Packs that lie in the folders `untrusted` are left out.
    """
    wanted = tuple(globs)
    if not wanted:
        return ()
    if packs is None:
        packs = installed([entry for entry in sys.path if not (untrusted and trust.brought_along(entry, untrusted))])
    return tuple(p for p in packs if any(fnmatch.fnmatchcase(n, g) for g in wanted for n in (p.name, p.distribution)))


def files(pack: Pack) -> list[str]:
    """The files whose content decides what a pack finds: part of a cache key. Nothing is imported for it."""
    from importlib.util import find_spec

    top = pack.module.partition(".")[0]
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    places = list(spec.submodule_search_locations or ())
    if not places:
        return [spec.origin] if spec.origin else []
    # The whole package: a rule may well stand on a helper of its own.
    return sorted(
        os.path.join(folder, name)
        for place in places
        for folder, _, names in os.walk(place)
        for name in names
        if name.endswith(".py")
    )


def _metadata(folder: str) -> tuple[str, ...]:
    try:
        return _listed(folder, _state(folder))
    except OSError:  # a path entry that is no folder, or a zip file
        return ()


def _entry_points(folder: str) -> tuple[tuple[str, str], ...]:
    path = os.path.join(folder, "entry_points.txt")
    try:
        return _read(path, _state(path))
    except (OSError, UnicodeDecodeError):  # most packages have none
        return ()


_State = tuple[int, ...]


def _state(path: str) -> _State:
    """What differs when something else lies at a path than before: every run of an editor's server asks again."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=256)
def _listed(folder: str, state: _State) -> tuple[str, ...]:
    with os.scandir(folder) as entries:
        return tuple(sorted(entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))))


@lru_cache(maxsize=4096)
def _read(path: str, state: _State) -> tuple[tuple[str, str], ...]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if GROUP not in text:
        return ()
    found = []
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, target = line.partition("=")
            found.append((name.strip(), target.partition("[")[0].strip()))
    return tuple(found)
