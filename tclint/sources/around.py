"""What has to do with the folder that somebody named, of the project around it.

A training script beside a package compiles what the package defines, and another calls what the package compiles: a run over
the package alone must know of both. Read are the files with a compile site that lead to the folder through imports, those
from which a compile site is called, and what they import. Where nothing leads to the folder, nothing is read but bytes.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tclint.sources import glance, roles
from tclint.sources.files import InputFile
from tclint.sources.import_scan import Imported, imports
from tclint.sources.related import content

"""Bytes of a file that is looked at."""


def around(
    files: Sequence[InputFile], root: str, import_roots: Iterable[str], compilers: Sequence[bytes] = ()
) -> list[InputFile]:
    """The files without those of the project at `root` that have nothing to do with the ones that are reported.

    `import_roots` are the folders that absolute imports may start from beside those above the importing file, `compilers`
    names of functions that compile as `torch.compile` does.
    """
    start = os.path.join(root, "")
    data = {file.absolute: content(file) for file in files if file.absolute.startswith(start)}
    wanted = {file.absolute for file in files if file.report and file.absolute in data}
    others = data.keys() - wanted
    sites = {path for path, text in data.items() if glance.compiles(text) or any(name in text for name in compilers)}
    matters: set[str] = set()
    if others and sites:
        joined = _Imports(data, root, import_roots)
        leading = _reached(wanted, joined.importers) & sites - wanted
        trying = {path for path in others if roles.tries(path[len(start) :])}
        callers = _reached(leading | sites & wanted, joined.importers) - trying - wanted
        if leading or callers:
            matters = _reached(leading | callers | wanted, joined.imported)
    return [file for file in files if file.report or file.absolute not in data or file.absolute in matters]


def _reached(start: Iterable[str], after: Mapping[str, Collection[str]]) -> set[str]:
    """What is met from `start` on, itself included."""
    found: set[str] = set()
    ahead = [*start]
    while ahead:
        path = ahead.pop()
        if path not in found:
            found.add(path)
            ahead += after.get(path, ())
    return found


class _Imports:
    """Which files import which: by what the text says, and the places where a folder or a file of that name lies."""

    def __init__(self, data: Mapping[str, bytes], root: str, import_roots: Iterable[str]) -> None:
        self._root = root
        self._modules: dict[str, list[str]] = {}
        """The files of modules and packages, by their path without ending."""
        self._folders: set[str] = set()
        for path in data:
            folder, name = os.path.split(path)
            stem = os.path.splitext(path)[0]
            self._modules.setdefault(folder if name == "__init__.py" else stem, []).append(path)
            while folder not in self._folders and folder.startswith(root):
                self._folders.add(folder)
                folder = os.path.dirname(folder)
        # A package that is installed by itself is named by its last word.
        begin = (*import_roots, root)
        self._starts = dict.fromkeys((*begin, *(os.path.dirname(each) for each in begin if each != root)))
        self._begin: dict[str, list[str]] = {}
        """The folders that absolute imports may start from, by the first word of an import that leads somewhere from there."""
        for path in (*self._modules, *self._folders):
            folder, name = os.path.split(path)
            if folder in self._starts:
                self._begin.setdefault(name, []).append(folder)
        self.imported: dict[str, set[str]] = {}
        self.importers: dict[str, set[str]] = {}
        for path, text in data.items():
            found = {each for one in imports(text) for each in self._meant(path, one)} - {path}
            self.imported[path] = found
            for each in found:
                self.importers.setdefault(each, set()).add(path)

    def _meant(self, importer: str, one: Imported) -> Iterator[str]:
        parts = one.target.split(".") if one.target else []
        for folder in self._from(importer, one.level, parts[0] if parts else ""):
            path = folder
            for part in parts:
                path = os.path.join(path, part)
                if path not in self._modules and path not in self._folders:
                    break
                yield from self._modules.get(path, ())
            else:
                for name in one.names:
                    yield from self._modules.get(os.path.join(path, name), ())
                if not parts:
                    yield from self._modules.get(path, ())

    def _from(self, importer: str, level: int, first: str) -> Iterator[str]:
        """The folders that an import may start from."""
        folder = os.path.dirname(importer)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            yield folder
            return
        yield from self._begin.get(first, ())
        while folder.startswith(self._root) and folder != self._root:
            if folder not in self._starts:
                yield folder
            folder = os.path.dirname(folder)
