"""The program: modules, classes and functions across files, found by name and read only when somebody asks.

The index of one file is a pure function of its bytes. Trees are large (1.25 kB a line), so only the most recently used
are kept: a `Function` knows its place in the file and gets its node back by parsing again.
"""

from __future__ import annotations

import ast
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final

from tclint.report import Problem
from tclint.source import Unparsable, parse

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_KEPT_LINES: Final = 220_000


class Import:
    """A name bound by an import: `target` is a dotted module, `attribute` a name in it or empty."""

    __slots__ = ("attribute", "target")

    def __init__(self, target: str, attribute: str = "") -> None:
        self.target = target
        self.attribute = attribute


class Assignment:
    """A name bound by a module-level or class-level assignment; `path` leads through tuple targets."""

    __slots__ = ("annotation", "ordinal", "path")

    def __init__(self, ordinal: int, path: tuple[int, ...] = (), annotation: bool = False) -> None:
        self.ordinal = ordinal
        self.path = path
        self.annotation = annotation


class Function:
    """A function, method or lambda."""

    __slots__ = ("_free", "_nested", "_node", "cls", "facts", "module", "name", "ordinal", "parent", "qualname")

    def __init__(
        self,
        module: Module,
        name: str,
        qualname: str,
        cls: Class | None,
        ordinal: int = -1,
        node: FunctionNode | None = None,
        parent: Function | None = None,
    ) -> None:
        self.module = module
        self.name = name
        self.qualname = qualname
        self.cls = cls
        self.ordinal = ordinal
        self.parent = parent
        self._node = node
        self._free: frozenset[str] | None = None
        self._nested: dict[int, Function] = {}
        self.facts: object = None

    @property
    def node(self) -> FunctionNode:
        if self._node is not None:
            return self._node
        node = self.module.node(self.ordinal)
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        return node

    @property
    def decorators(self) -> Sequence[ast.expr]:
        node = self.node
        return () if isinstance(node, ast.Lambda) else node.decorator_list

    def nested(self, node: FunctionNode, name: str) -> Function:
        """The function for a `def` or `lambda` inside this one."""
        place = node.lineno * 4096 + node.col_offset
        found = self._nested.get(place)
        if found is None:
            qualname = f"{self.qualname}.<locals>.{name}"
            found = self._nested[place] = Function(self.module, name, qualname, self.cls, node=node, parent=self)
        return found

    def free_names(self) -> frozenset[str]:
        """Every name read anywhere in the function: enough to say what a closure may capture."""
        if self._free is None:
            self._free = frozenset(
                n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
            )
        return self._free


class Class:
    """A class: its methods, class-level assignments and bases, with inheritance resolved by the interpreter."""

    __slots__ = ("assignments", "facts", "methods", "module", "name", "ordinal", "outer", "qualname")

    def __init__(self, module: Module, name: str, qualname: str, ordinal: int) -> None:
        self.module = module
        self.name = name
        self.qualname = qualname
        self.ordinal = ordinal
        self.methods: dict[str, Function] = {}
        self.assignments: dict[str, Assignment] = {}
        self.facts: object = None

    @property
    def node(self) -> ast.ClassDef:
        node = self.module.node(self.ordinal)
        assert isinstance(node, ast.ClassDef)
        return node


Definition = Import | Assignment | Function | Class


class Module:
    """One file: the names it defines. Nothing is parsed until `names` is read."""

    __slots__ = (
        "_byte_lines",
        "_names",
        "_nodes",
        "_rebound",
        "_tree",
        "classes",
        "data",
        "directory",
        "explicit",
        "facts",
        "functions",
        "is_package",
        "lines",
        "name",
        "path",
        "problem",
        "program",
        "report",
        "root",
        "stars",
        "values",
    )

    def __init__(
        self,
        program: Program,
        path: str,
        absolute: str,
        name: str,
        root: str,
        data: bytes,
        report: bool,
        explicit: bool,
    ) -> None:
        self.program = program
        self.path = path
        self.name = name
        self.root = root
        self.directory = os.path.dirname(absolute)
        self.is_package = os.path.basename(absolute) == "__init__.py"
        self.data = data
        self.lines = data.count(b"\n") + 1
        self.report = report
        self.explicit = explicit
        self.problem: Problem | None = None
        self.values: dict[str, object] = {}
        self.facts: dict[str, object] = {}  # what rules found out about the whole file
        self.stars: list[str] = []
        self.classes: list[Class] = []
        self.functions: list[Function] = []
        self._names: dict[str, Definition] | None = None
        self._nodes: list[ast.AST] | None = None
        self._tree: ast.Module | None = None
        self._byte_lines: list[bytes] | None = None
        self._rebound: frozenset[str] | None = None

    def rebinds(self, name: str) -> bool:
        """Whether some function declares the name `global` (and so changes it)."""
        if b"global " not in self.data:
            return False
        if self._rebound is None:
            nodes = (n for n in ast.walk(self.tree) if isinstance(n, ast.Global))
            self._rebound = frozenset(name for node in nodes for name in node.names)
        return name in self._rebound

    def byte_lines(self) -> list[bytes]:
        """The lines as the parser counts them (never at a form feed or a Unicode line separator)."""
        if self._byte_lines is None:
            self._byte_lines = self.data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        return self._byte_lines

    @property
    def names(self) -> dict[str, Definition]:
        if self._names is None:
            self._names = {}
            tree = self.tree
            _Indexer(self, self._names).block(tree.body)
        return self._names

    @property
    def tree(self) -> ast.Module:
        """The tree; an empty one where the file cannot be parsed (`problem` then says why)."""
        if self._tree is None:
            try:
                self._tree = parse(self.path, self.data) if self.problem is None else ast.Module([], [])
            except Unparsable as unparsable:
                self.problem = unparsable.problem
                self._tree = ast.Module([], [])
            self.program.keep(self)
        return self._tree

    def forget(self) -> None:
        """Drop the tree; it is parsed again when needed."""
        self._tree = None
        self._nodes = None

    def node(self, ordinal: int) -> ast.AST:
        if self._nodes is None:
            self._nodes = list(_numbered(self.tree.body))
        return self._nodes[ordinal]

    @property
    def package(self) -> str:
        """What a relative import of level 1 refers to."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


def _numbered(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes an index refers to, in the one order that both indexing and re-parsing use."""
    for statement in body:
        kind = type(statement)
        if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
            yield statement
        elif kind is ast.ClassDef:
            yield statement
            yield from _numbered(statement.body)  # type: ignore[attr-defined]
        elif kind is ast.Assign or kind is ast.AnnAssign or kind is ast.AugAssign:
            yield statement
        else:
            for inner in _blocks(statement):
                yield from _numbered(inner)


def _blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """The nested blocks of a compound statement that is neither a class nor a function."""
    if isinstance(statement, (ast.If, ast.For, ast.While, ast.AsyncFor)):
        yield statement.body
        yield statement.orelse
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        yield statement.body
    elif isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
        yield statement.body  # type: ignore[attr-defined]
        for handler in statement.handlers:  # type: ignore[attr-defined]
            yield handler.body
        yield statement.orelse  # type: ignore[attr-defined]
        yield statement.finalbody  # type: ignore[attr-defined]


class _Indexer:
    """Fills a module's names from its top-level statements."""

    def __init__(self, module: Module, names: dict[str, Definition]) -> None:
        self.module = module
        self.names = names
        self.count = 0

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            kind = type(statement)
            if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                self.function(statement, None)  # type: ignore[arg-type]
            elif kind is ast.ClassDef:
                self.cls(statement, "", self.names)  # type: ignore[arg-type]
            elif kind is ast.Assign or kind is ast.AnnAssign or kind is ast.AugAssign:
                self.assign(statement, self.names)
            elif kind is ast.Import:
                for alias in statement.names:  # type: ignore[attr-defined]
                    if alias.asname:
                        self.names[alias.asname] = Import(alias.name)
                    else:
                        top = alias.name.partition(".")[0]
                        self.names[top] = Import(top)
            elif kind is ast.ImportFrom:
                self.import_from(statement)  # type: ignore[arg-type]
            else:
                for inner in _blocks(statement):
                    self.block(inner)

    def import_from(self, statement: ast.ImportFrom) -> None:
        target = absolute_name(self.module, statement.module, statement.level)
        for alias in statement.names:
            if alias.name == "*":
                self.module.stars.append(target)
            else:
                self.names[alias.asname or alias.name] = Import(target, alias.name)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, cls: Class | None) -> None:
        qualname = f"{cls.qualname}.{node.name}" if cls else node.name
        function = Function(self.module, node.name, qualname, cls, self.count)
        self.count += 1
        self.module.functions.append(function)
        if cls is None:
            self.names[node.name] = function
            return
        for decorator in node.decorator_list:
            # `@x.setter` replaces nothing a reader of the attribute sees.
            if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter"):
                return
        cls.methods[node.name] = function

    def cls(self, node: ast.ClassDef, outer: str, names: dict[str, Definition] | None) -> Class:
        qualname = f"{outer}.{node.name}" if outer else node.name
        cls = Class(self.module, node.name, qualname, self.count)
        self.count += 1
        self.module.classes.append(cls)
        if names is not None:
            names[node.name] = cls
        self.class_body(node.body, cls)
        return cls

    def class_body(self, body: Sequence[ast.stmt], cls: Class) -> None:
        for statement in body:
            kind = type(statement)
            if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                self.function(statement, cls)  # type: ignore[arg-type]
            elif kind is ast.ClassDef:
                self.cls(statement, cls.qualname, None)  # type: ignore[arg-type]
            elif kind is ast.Assign or kind is ast.AnnAssign or kind is ast.AugAssign:
                self.assign(statement, cls.assignments)
            else:
                for inner in _blocks(statement):
                    self.class_body(inner, cls)

    def assign(self, statement: ast.stmt, names: dict[str, Definition] | dict[str, Assignment]) -> None:
        ordinal = self.count
        self.count += 1
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                self.target(target, ordinal, (), names)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            self.bind(statement.target.id, Assignment(ordinal, (), statement.value is None), names)

    def target(
        self,
        target: ast.expr,
        ordinal: int,
        path: tuple[int, ...],
        names: dict[str, Definition] | dict[str, Assignment],
    ) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, Assignment(ordinal, path), names)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for i, element in enumerate(target.elts):
                self.target(element, ordinal, (*path, i), names)

    @staticmethod
    def bind(name: str, new: Assignment, names: dict[str, Definition] | dict[str, Assignment]) -> None:
        # `try: import x / except ImportError: x = None`: what matters is the import.
        if isinstance(names.get(name), (Import, Class, Function)):
            return
        names[name] = new


def absolute_name(module: Module, target: str | None, level: int) -> str:
    """The dotted name an import statement of `module` means."""
    if level == 0:
        return target or ""
    package = module.package
    for _ in range(level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{target}" if target and package else (target or package)


class Program:
    """All modules of a run, by path and by dotted name."""

    def __init__(self) -> None:
        self.modules: list[Module] = []
        self.by_place: dict[str, Module] = {}
        self._resolved: dict[tuple[str, str], Module | None] = {}
        self._recent: OrderedDict[str, Module] = OrderedDict()
        self._kept = 0
        self._top = ""

    @classmethod
    def build(cls, files: Sequence[tuple[str, str, bytes, bool, bool]]) -> Program:
        """From (display path, absolute path, bytes, report, explicit), in any order."""
        program = cls()
        packages = {os.path.dirname(a) for _, a, *_ in files if a.endswith(os.sep + "__init__.py")}
        for path, absolute, data, report, explicit in sorted(files):
            name, root = _dotted(absolute, packages)
            module = Module(program, path, absolute, name, root, data, report, explicit)
            program.modules.append(module)
            place = absolute[:-12] if module.is_package else os.path.splitext(absolute)[0]
            program.by_place[place] = module
        program._top = os.path.commonpath([m.directory for m in program.modules]) if program.modules else ""
        return program

    def find(self, importer: Module, dotted: str) -> Module | None:
        """The module that `import dotted` in `importer` means, if it is one of the program's."""
        key = (importer.directory, dotted)
        if key not in self._resolved:
            self._resolved[key] = self._find(importer, dotted)
        return self._resolved[key]

    def _find(self, importer: Module, dotted: str) -> Module | None:
        relative = dotted.replace(".", os.sep)
        # The folder that holds the importer's package first, then those above it: one of them is on sys.path. Folders
        # inside the package are not: `import logging` in pkg/utils/logging.py means the standard library.
        folder = importer.root
        candidates = []
        while len(folder) >= len(self._top) and folder not in ("", os.sep):
            candidates.append(folder)
            folder = os.path.dirname(folder)
        candidates.append(os.path.dirname(self._top))
        for base in candidates:
            found = self.by_place.get(os.path.join(base, relative))
            if found is not None:
                return found
        return None

    def keep(self, module: Module) -> None:
        """Note that a module's tree is in memory, and drop the least recently parsed ones beyond the bound."""
        if module.path in self._recent:
            self._recent.move_to_end(module.path)
            return
        self._recent[module.path] = module
        self._kept += module.lines
        while self._kept > _KEPT_LINES and len(self._recent) > 1:
            _, oldest = self._recent.popitem(last=False)
            self._kept -= oldest.lines
            oldest.forget()


def _dotted(absolute: str, packages: set[str]) -> tuple[str, str]:
    """The dotted name of a file and the folder it counts from."""
    folder, base = os.path.split(absolute)
    stem = os.path.splitext(base)[0]
    parts = [] if stem == "__init__" else [stem]
    while folder in packages:
        folder, name = os.path.split(folder)
        parts.append(name)
    return ".".join(reversed(parts)) or stem, folder
