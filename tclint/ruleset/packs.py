"""Rules that come with installed packages: the entry points of the group `tclint.rules`.

Not from `importlib.metadata` (see `tclint.sources.wheels`): the few files that matter are read here.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from tclint.sources import trust, wheels

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
        for each in wheels.listed(folder or "."):
            if each.name in seen:
                continue
            seen.add(each.name)
            for name, target in _entry_points(each.folder):
                found.setdefault(name, Pack(name, target, each.name, each.version))
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


def _entry_points(folder: str) -> tuple[tuple[str, str], ...]:
    path = os.path.join(folder, "entry_points.txt")
    try:
        return _read(path, wheels.state(path))
    except (OSError, UnicodeDecodeError):  # most packages have none
        return ()


@lru_cache(maxsize=4096)
def _read(path: str, state: wheels.State) -> tuple[tuple[str, str], ...]:
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
