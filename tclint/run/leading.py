"""Which files can lead to the ones that are reported: what a run about a few files need not interpret.

A file leads to another where its text imports it, where it binds a package and reads an attribute of the other's name, where
the compile sites put something of the other into what it holds, or where it has a table that the other fills. That is more
than really lead there (`imports` sees some in comments too), and so nothing is left out that could say something about the
files asked for.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.program import Class, Function, Module, Program, absolute_name
from tclint.run.knowledge import parts_of, paths_in
from tclint.sources.import_scan import imports
from tclint.values import CompileSite

if TYPE_CHECKING:
    from tclint.interpreter.state import SiteKnowledge

Tie = tuple[str, str]
"""A file, and one of which it was given something."""
Named = Callable[[str], Mapping[str, Sequence[str]]]
"""For a word, the files that may mean one of this name, with the dotted names by which they do (see `named`)."""
Keeping = Callable[[Module], Iterable[str]]
"""The files with a table that one puts something into."""

_MOST: Final = 64
"""Files from which on nearly everything leads there: asking who leads to them costs more than it saves."""
_DOT: Final = re.compile(r"\.")
_OF_PACKAGE: Final = "*"
"""What a dotted name ends with that is bound in a file which reads an attribute of the name asked for."""


def leading(
    program: Program, wanted: Collection[str], naming: Named, keeping: Keeping, ties: Iterable[Tie]
) -> Container[str]:
    """The files that can lead to the `wanted` ones, these included."""
    modules = {module.path: module for module in program.modules}
    if len(wanted) > _MOST:
        return modules
    given: dict[str, list[str]] = {}
    for holder, held in ties:
        given.setdefault(held, []).append(holder)
    found = set(wanted)
    ahead = [*wanted]
    while ahead:
        module = modules[ahead.pop()]
        new = {*given.get(module.path, ()), *keeping(module)}
        for path, dotted in naming(_word(module)).items():
            if any(_means(program, modules[path], each, module) for each in dotted):
                new.add(path)
        new -= found
        found |= new
        if len(found) > _MOST:
            return modules
        ahead += sorted(new)
    return found


def named(module: Module, word: str) -> tuple[str, ...]:
    """The dotted names that end with a word, of those that a file imports or may import.

    Where it reads an attribute of that name, what it binds may be the package: these names then come with a star.
    """
    text, data = word.encode(), module.data
    # A file inside a package need not write its name: `from . import …`.
    if text not in data and word not in module.package.split("."):
        return ()
    bound: set[str] = set()
    for each in imports(data):
        target = absolute_name(module, each.target, each.level)
        bound |= {target, *(f"{target}.{name}" for name in each.names)}
    bound |= {name[: m.start()] for name in bound for m in _DOT.finditer(name)}
    meant = {name for name in bound if name.rpartition(".")[2] == word}
    if re.search(rb"\.[ \t\f\\\r\n]*%b\b|getattr\([^()]*[\"']%b[\"']" % (re.escape(text), re.escape(text)), data):
        meant |= {f"{name}.{_OF_PACKAGE}" for name in bound}
    return tuple(sorted(meant))


def _means(program: Program, importer: Module, dotted: str, module: Module) -> bool:
    name, star, _ = dotted.partition(f".{_OF_PACKAGE}")
    found = program.find(importer, name)
    if found is None or not star:
        return found is module
    return found.is_package and f"{module.directory}/".startswith(f"{found.directory}/")


def _word(module: Module) -> str:
    """The word that whoever imports a file writes."""
    if module.is_package:
        return os.path.basename(module.directory)
    return os.path.splitext(os.path.basename(module.path))[0]


# -- what compile sites put together ---------------------------------------------------------------------------------


def ties(program: Program, learned: SiteKnowledge) -> list[Tie]:
    """Of what compile sites told, which files were given something of others."""
    found: set[Tie] = set()
    for holders, held in _given(program, learned):
        others = set(_files(held))
        found.update((holder, other) for holder in holders for other in others if other != holder)
    return sorted(found)


def _given(program: Program, learned: SiteKnowledge) -> Iterator[tuple[Iterable[str], object]]:
    for function, closure in learned.closures.items():
        yield [function.module.path], closure
    for table in (learned.late, learned.set_globals):
        for (path, _), value in table.items():
            yield [path], value
    for key, built in learned.constructions.items():
        yield paths_in(program, key), built
    for key, target in learned.callees.items():
        yield set(_files(target)), learned.calls_seen.get(key)


def _files(value: object) -> Iterator[str]:
    """The files that a value has something of."""
    seen: set[int] = set()
    stack: list[Any] = [value]
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Module):
            yield part.path
        elif isinstance(part, (Class, Function)):
            yield part.module.path
        elif isinstance(part, Mapping):
            stack += part.values()
        elif isinstance(part, (tuple, list, set, frozenset)):
            stack += part
        elif not isinstance(part, (ast.AST, CompileSite)):
            stack += parts_of(part)
