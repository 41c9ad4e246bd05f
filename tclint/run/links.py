"""Which files lead to which, going by their imports."""

from __future__ import annotations

import ast
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.program import Class, Definition, Import, Module
from tclint.program.index import index_of
from tclint.sources.outline import outline
from tclint.sources.roles import is_test
from tclint.sources.text import Unparsable, parse

if TYPE_CHECKING:
    from tclint.sources.glance import Glance


def links_of(module: Module) -> tuple[str, ...]:
    """The paths of the files that one names at its top level."""
    names, stars = _top_level(module)
    dotted = dict.fromkeys(stars)
    for definition in names.values():
        if isinstance(definition, Import):
            dotted[definition.target] = None
            dotted[f"{definition.target}.{definition.attribute}"] = None
    found = (module.program.find(module, name) for name in dotted)
    return tuple(dict.fromkeys(other.path for other in found if other is not None))


def derives_from(module: Module, packages: Container[str]) -> bool:
    """Whether a class at the top of a file has a base that comes from one of these packages."""
    names, _ = _top_level(module)
    outside = {
        name
        for name, definition in names.items()
        if isinstance(definition, Import) and definition.target.partition(".")[0] in packages
    }
    if not outside:
        return False
    classes = (definition.node for definition in module.names.values() if isinstance(definition, Class))
    return any(_first_name(base) in outside for cls in classes for base in cls.bases)


def _first_name(base: ast.expr) -> str:
    """`lib` of `lib.Base[T]`."""
    while isinstance(base, (ast.Attribute, ast.Subscript)):
        base = base.value
    return base.id if isinstance(base, ast.Name) else ""


def _top_level(module: Module) -> tuple[Mapping[str, Definition], Sequence[str]]:
    """What a file names, and of what it imports everything. Asked of every file, most of which need not be parsed for more."""
    # A file that cannot be parsed says the same, whether somebody has tried before or not.
    text = outline(module.data) if not module.indexed or module.problem is not None else None
    if text is not None:
        try:
            index, _ = index_of(module, parse(module.path, text))
        except Unparsable:  # the file, or its outline alone
            pass
        else:
            return index.names, index.stars
    return module.names, module.stars


def alone(parts: Iterable[Sequence[Module]], chosen: Iterable[Module], glances: Mapping[str, Glance]) -> set[str]:
    """Files that no root or compile site outside their part can lead to, going by the words of imports."""
    mentioned: dict[str, set[str]] = {}
    for module in chosen:
        for word in glances[module.path].words:
            mentioned.setdefault(word, set()).add(module.path)
    found = set()
    for part in parts:
        paths = {module.path for module in part}
        for module in part:
            folder, name = os.path.split(os.path.splitext(f"{module.directory}/{os.path.basename(module.path)}")[0])
            if all(mentioned.get(word, paths) <= paths for word in (name, os.path.basename(folder))):
                found.add(module.path)
    return found


class Components:
    """Which files belong together: a site that compiles a model speaks for what is linked with it by imports."""

    def __init__(self, links: Mapping[str, Sequence[str]]) -> None:
        self._parent: dict[str, str] = {}
        self._imports = links
        for path, others in links.items():
            for other in others:
                self._union(path, other)

    def imported(self, path: str) -> set[str]:
        """A file and those that it imports itself."""
        return {path, *self._imports.get(path, ())}

    def of(self, path: str) -> str:
        parent = self._parent
        top = path
        while (above := parent.get(top, top)) != top:
            top = above
        while path != top:
            # Whoever asks again is there at once.
            parent[path], path = top, parent[path]
        return top

    def _union(self, a: str, b: str) -> None:
        a, b = self.of(a), self.of(b)
        if a != b:
            self._parent[max(a, b)] = min(a, b)


class Runs:
    """Which files a run of the program gets to by imports: it begins in a file that no other one imports."""

    def __init__(self, links: Mapping[str, Sequence[str]]) -> None:
        # Whoever imports a file of a package runs the file of the package itself first.
        packages = {os.path.dirname(path): path for path in links if os.path.basename(path) == "__init__.py"}
        self._links = {path: (*others, *_above(path, packages)) for path, others in links.items()}
        # What a test runs is no run of the program.
        program = [path for path in self._links if not is_test(path)]
        imported = {other for path in program for other in self._links[path] if other != path}
        first = [path for path in program if path not in imported]
        covered = _closed(first, self._links)
        # Files that import each other in a circle, and that nobody else imports: any of them may be the first.
        self._first = [*first, *(path for path in program if path not in covered)]

    def always(self, setters: Iterable[str]) -> set[str]:
        """The files that no run gets to without one of these on its way: what those set holds there, whoever runs it."""
        importers: dict[str, list[str]] = {}
        for path, others in self._links.items():
            for other in others:
                importers.setdefault(other, []).append(path)
        setting = _closed(setters, importers)
        without = _closed((path for path in self._first if path not in setting), self._links)
        return {path for path in self._links if path not in without}


def _above(path: str, packages: Mapping[str, str]) -> list[str]:
    """The files of the packages that a file is in."""
    found = []
    folder = os.path.dirname(path)
    while folder in packages:
        if packages[folder] != path:
            found.append(packages[folder])
        folder = os.path.dirname(folder)
    return found


def _closed(begin: Iterable[str], links: Mapping[str, Sequence[str]]) -> set[str]:
    """All that these lead to, and themselves."""
    found = set(begin)
    left = list(found)
    while left:
        for other in links.get(left.pop(), ()):
            if other not in found:
                found.add(other)
                left.append(other)
    return found
