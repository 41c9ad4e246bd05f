"""Which files can lead to a few of them, told by the names that are handed on from file to file.

Imports alone join nearly all files of a large project: a package imports its models, and all of them import the package. What
a file defines gets elsewhere by a name: it is imported, bound again, returned by a function or built by a class that has a
name itself. So the names that have to do with a file are followed to who mentions them, and theirs in turn. What is put into
a table or registered in one hands on the name of the table.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tclint.program import Module, Program, absolute_name
from tclint.sources.import_scan import imports

_MOST: Final = 64
"""Files from which on it is no longer a few that lead there."""
_GETS: Final = re.compile(rb"\b(?:getattr|vars|__dict__)\b")


@dataclass(slots=True)
class _Statement:
    """A statement of the top level, or of a compound one there."""

    binds: set[str] = field(default_factory=set)
    mentions: set[str] = field(default_factory=set)
    """Names."""
    reads: set[str] = field(default_factory=set)
    """Attributes, and what `getattr` is asked for."""
    gets: bool = False
    """Whether it asks for an attribute whose name is not written there."""


@dataclass(slots=True)
class _Uses:
    """What a file imports, wherever that stands in it, and what its statements mention."""

    statements: list[_Statement] = field(default_factory=list)
    modules: list[tuple[str, str]] = field(default_factory=list)
    """Dotted names, each with the name that it is bound to."""
    stars: list[str] = field(default_factory=list)
    names: list[tuple[str, str, str]] = field(default_factory=list)
    """Of `from target import name as bound`."""


@dataclass(slots=True)
class _Taken:
    """What the text of a file seems to take of another one: never less than it does."""

    names: set[str] = field(default_factory=set)
    """A star stands for all."""
    whole: bool = False
    """Whether it may have the other file itself, or a package that it is in."""

    def some_of(self, known: Container[str]) -> bool:
        """Whether it takes one of these names."""
        return any(name in known or name == "*" for name in self.names)


def leading(
    program: Program, wanted: Collection[str], keeping: Callable[[Module], Iterable[str]]
) -> frozenset[str] | None:
    """The files that can lead to the `wanted` ones, these included; None where they are not few.

    `keeping` names the files with a table that one puts something into.
    """
    with program.unwatched():
        return _Search(program, keeping).leading([program.by_path[path] for path in sorted(wanted)])


class _Search:
    def __init__(self, program: Program, keeping: Callable[[Module], Iterable[str]]) -> None:
        self._program = program
        self._keeping = keeping
        self._handed: dict[str, set[str]] = {}
        """By file, the names that have to do with the wanted ones."""
        self._users: dict[str, list[tuple[Module, _Taken]]] = {}
        self._imports: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        self._uses: dict[str, _Uses] = {}
        self._ahead: dict[str, None] = {}

    def leading(self, wanted: Sequence[Module]) -> frozenset[str] | None:
        for module in wanted:
            self._hand(module, _defined(self._used(module)))
        while self._ahead and len(self._handed) <= _MOST:
            path = next(iter(self._ahead))
            del self._ahead[path]
            module, known = self._program.by_path[path], self._handed[path]
            taken = self._importers(module)
            # Counted before any of them is parsed: where they are too many, it was for nothing.
            if len(self._handed.keys() | {user.path for user, some in taken if some.some_of(known)}) > _MOST:
                return None
            for user, some in taken:
                if some.whole or some.some_of(known):
                    self._follow(user, module)
        return frozenset(self._handed) if len(self._handed) <= _MOST else None

    def _hand(self, module: Module, names: Iterable[str]) -> None:
        """Note names of a file, and what it makes of them."""
        new = module.path not in self._handed
        known = self._handed.setdefault(module.path, set())
        before = len(known)
        known.update(names)
        grown = new or len(known) > before
        while grown:
            # A class that builds one that has to do with it has to do with it.
            count = len(known)
            for each in self._used(module).statements:
                if not known.isdisjoint(each.mentions):
                    known |= each.binds
            grown = len(known) > count
        if new:
            for path in self._keeping(module):
                keeper = self._program.by_path[path]
                if keeper is not module:
                    self._hand(keeper, _defined(self._used(keeper)))
        if new or len(known) > before:
            self._ahead[module.path] = None

    def _follow(self, user: Module, module: Module) -> None:
        """Hand on what a file takes of another one's names."""
        uses, known = self._used(user), self._handed[module.path]
        find = self._program.find
        bound: set[str] = set()
        if any(find(user, star) is module for star in uses.stars):
            bound |= known
        whole: set[str] = set()
        for target, name, as_name in uses.names:
            if name in known and find(user, target) is module:
                bound.add(as_name)
            elif find(user, f"{target}.{name}") is module:
                whole.add(as_name)
        whole.update(as_name for dotted, as_name in uses.modules if find(user, dotted) is module)
        if whole or self._through_package(user, uses, module):
            for each in uses.statements:
                # Who has all of a file may ask for a name of it that is not written there, or hand it to somebody who does.
                if each.gets or not known.isdisjoint(each.reads) or not whole.isdisjoint(each.mentions):
                    bound |= each.binds
        if bound:
            self._hand(user, bound)

    def _through_package(self, user: Module, uses: _Uses, module: Module) -> bool:
        """Whether a file reads another one as an attribute of its package."""
        word = _word(module)
        if not any(word in each.reads for each in uses.statements):
            return False
        named = [dotted for dotted, _ in uses.modules] + [f"{target}.{name}" for target, name, _ in uses.names]
        found = (self._program.find(user, each) for each in named)
        return any(
            p is not None and p.is_package and f"{module.directory}/".startswith(f"{p.directory}/") for p in found
        )

    def _importers(self, module: Module) -> list[tuple[Module, _Taken]]:
        """The files whose text may import another one, with what it seems to take of that."""
        known = self._users.get(module.path)
        if known is None:
            word = _word(module)
            text = word.encode()
            near = (
                each
                for each in self._program.modules
                if each is not module and (text in each.raw or (module.is_package and word in each.package.split(".")))
            )
            taken = ((each, self._taken(each, module)) for each in near)
            known = self._users[module.path] = [(each, some) for each, some in taken if some.whole or some.names]
        return known

    def _taken(self, user: Module, module: Module) -> _Taken:
        find, found = self._program.find, _Taken()
        for target, names in self._imports_of(user):
            if find(user, target) is module:
                found.names.update(names)
                found.whole |= not names
            # What is bound: `pkg` of `import pkg`, and `pkg.part.Name` later.
            for dotted in [f"{target}.{name}" for name in names if name != "*"] or [target]:
                held = find(user, dotted)
                if held is module:
                    found.whole = True
                elif held is not None and held.is_package and f"{module.directory}/".startswith(f"{held.directory}/"):
                    text = b".%b" % _word(module).encode()
                    found.whole |= text in user.raw or _GETS.search(user.raw) is not None
        return found

    def _imports_of(self, user: Module) -> list[tuple[str, tuple[str, ...]]]:
        known = self._imports.get(user.path)
        if known is None:
            known = self._imports[user.path] = [
                (absolute_name(user, each.target, each.level), each.names) for each in imports(user.raw)
            ]
        return known

    def _used(self, module: Module) -> _Uses:
        if module.path not in self._uses:
            uses = self._uses[module.path] = _Uses()
            _read_block(module, module.tree.body, uses)
        return self._uses[module.path]


def _word(module: Module) -> str:
    """The word that whoever imports a file writes."""
    if module.is_package:
        return os.path.basename(module.directory)
    return module.name.rpartition(".")[2]


def _defined(uses: _Uses) -> set[str]:
    """What a file binds at its top level, apart from what it imports."""
    return {name for each in uses.statements for name in each.binds}


def _read_block(module: Module, body: Sequence[ast.stmt], uses: _Uses) -> None:
    for statement in body:
        inner = [block for block in _blocks(statement) if block]
        if inner:
            for block in inner:
                _read_block(module, block, uses)
            continue
        found = _Statement()
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.binds.add(statement.name)
        for node in ast.walk(statement):
            _read(module, node, found, uses)
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            # What is put into a table, or handed to it: `TABLE["a"] = Net`, `TABLE.register(Net)`.
            found.binds |= found.mentions
        uses.statements.append(found)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement of the top level."""
    if isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
        for name in ("body", "orelse", "finalbody"):
            yield getattr(statement, name, [])
        for handler in getattr(statement, "handlers", ()):
            yield handler.body


def _quoted(annotation: ast.expr | None) -> Iterator[str]:
    """The names in the quoted parts of an annotation."""
    for node in ast.walk(annotation) if annotation is not None else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value)


def _read(module: Module, node: ast.AST, found: _Statement, uses: _Uses) -> None:
    kind = type(node)
    if kind is ast.Name:
        found.mentions.add(node.id)  # type: ignore[attr-defined]
    elif kind is ast.Attribute:
        found.reads.add(node.attr)  # type: ignore[attr-defined]
    elif isinstance(node, (ast.arg, ast.AnnAssign)):
        found.mentions.update(_quoted(node.annotation))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        found.mentions.update(_quoted(node.returns))
    elif kind is ast.Global:
        found.binds.update(node.names)  # type: ignore[attr-defined]
    elif isinstance(node, ast.Import):
        for alias in node.names:
            uses.modules.append((alias.name, alias.asname or alias.name.partition(".")[0]))
            if not alias.asname:
                # `import a.b` reads the names on the way.
                found.reads.update(alias.name.split(".")[1:])
    elif isinstance(node, ast.ImportFrom):
        target = absolute_name(module, node.module, node.level)
        for alias in node.names:
            if alias.name == "*":
                uses.stars.append(target)
            else:
                uses.names.append((target, alias.name, alias.asname or alias.name))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "vars"):
        asked = node.args[1] if len(node.args) > 1 else None
        if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
            found.reads.add(asked.value)
        else:
            found.gets = True
