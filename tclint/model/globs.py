"""Globs for files and folders, as the configuration writes them."""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Callable, Iterable


class PathMatcher:
    """Many globs as one test. A glob without a slash is held against the name, one with a slash against the path."""

    def __init__(self, globs: Iterable[str], root: str) -> None:
        plain: set[str] = set()
        names: list[str] = []
        paths: list[str] = []
        for glob in globs:
            glob = glob.rstrip("/").removeprefix("./")
            if "/" in glob:
                anchored = glob if glob.startswith(("/", "*")) or os.path.isabs(glob) else posix(root) + "/" + glob
                paths += [fnmatch.translate(anchored), fnmatch.translate(anchored + "/*")]
            elif any(c in glob for c in "*?["):
                names.append(fnmatch.translate(glob))
            elif glob:
                plain.add(glob)
        self._plain = frozenset(plain)
        self._names = re.compile("|".join(names)) if names else None
        self._paths = re.compile("|".join(paths)) if paths else None

    def __call__(self, name: str, path: str) -> bool:
        """`path` is absolute, with forward slashes; `name` is its last part."""
        return (
            name in self._plain
            or (self._names is not None and self._names.match(name) is not None)
            or (self._paths is not None and self._paths.match(path) is not None)
        )


@functools.lru_cache(maxsize=512)
def file_matcher(glob: str, root: str) -> Callable[[str], bool]:
    """Whether a glob speaks of a file, by its absolute path with forward slashes."""
    matcher = PathMatcher([glob], root)
    start = posix(root) + "/"

    def test(path: str) -> bool:
        # A bare `tests` means everything below a folder of that name, so every part of the path may match.
        below = path[len(start) :] if path.startswith(start) else path
        return any(matcher(part, path) for part in below.split("/"))

    return test


def posix(path: str) -> str:
    """A folder with forward slashes, and none at its end."""
    return path.replace(os.sep, "/").rstrip("/")
