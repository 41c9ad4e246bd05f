"""The program: modules, classes and functions across files, found by name and read only when somebody asks.

The index of one file is a pure function of its bytes. Trees are large (1.25 kB a line), so only the most recently used
are kept: a `Function` knows its lines in the file and gets its node back by parsing those again, and no others.
"""

from __future__ import annotations

import ast
import os
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Final, TypeVar

from tclint.model.report import Problem
from tclint.sources.text import Unparsable, parse
from tclint.sources.tree import nodes

Data = bytes | Callable[[], bytes]
"""The content of a file, or where to get it."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Index = TypeVar("Index")
"""What somebody found out about a whole function, file or program, to look things up in."""

_KEPT_LINES: Final = 420_000  # of whole files
_KEPT_FUNCTION_LINES: Final = 40_000  # of functions read again
_CLASS_LINES: Final = 300


class Import:
    """A name bound by an import: `target` is a dotted module, `attribute` a name in it or empty."""

    __slots__ = ("attribute", "target")

    def __init__(self, target: str, attribute: str = "") -> None:
        self.target = target
        self.attribute = attribute


class Assignment:
    """A name bound by a module-level or class-level assignment; `path` leads through tuple targets."""

    __slots__ = ("annotated", "annotation", "ordinal", "path")

    def __init__(
        self, ordinal: int, path: tuple[int, ...] = (), annotation: bool = False, annotated: bool = False
    ) -> None:
        self.ordinal = ordinal
        self.path = path
        self.annotation = annotation  # nothing but an annotation
        self.annotated = annotated


class Function:
    """A function, method or lambda."""

    __slots__ = (
        "_bound",
        "_free",
        "_indexes",
        "_nested",
        "_node",
        "_stored",
        "cls",
        "decorators",
        "facts",
        "line",
        "module",
        "name",
        "ordinal",
        "parent",
        "qualname",
    )

    def __init__(
        self,
        module: Module,
        name: str,
        qualname: str,
        cls: Class | None,
        ordinal: int = -1,
        node: FunctionNode | None = None,
        parent: Function | None = None,
        decorators: Sequence[ast.expr] = (),
        line: int = 0,
    ) -> None:
        self.module = module
        self.name = name
        self.qualname = qualname
        self.cls = cls
        self.ordinal = ordinal
        self.parent = parent
        self._node = node
        if node is not None:
            decorators = () if isinstance(node, ast.Lambda) else node.decorator_list
            line = node.lineno
        # Asked of every function that is only named: no reason to parse it again.
        self.decorators = decorators
        self.line = line
        self._free: frozenset[str] | None = None
        self._stored: frozenset[str] | None = None
        self._bound: frozenset[str] | None = None
        self._indexes: dict[object, object] = {}
        self._nested: dict[int, Function] = {}
        self.facts: object = None

    @property
    def node(self) -> FunctionNode:
        node = self._node
        if node is None:
            if self.cls is not None:
                self.module.read_methods(self.cls)
                if self._node is not None:
                    return self._node
            found = self.module.node(self.ordinal)
            assert isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef))
            node = self.keep(found)
        return node

    def keep(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> FunctionNode:
        """Hold the node for a while."""
        self._node = node
        self.module.program.keep_function(self, node)
        return node

    def forget(self) -> None:
        """Drop the node, and what was found out about it; it is parsed again when needed."""
        self._node = None
        self._indexes.clear()

    def index(self, build: Callable[[Function], Index]) -> Index:
        """What `build` makes of the function, made once for as long as its node is held."""
        if build not in self._indexes:
            self._indexes[build] = build(self)
        return self._indexes[build]  # type: ignore[return-value]

    def node_index(self, build: Callable[[ast.AST], Index]) -> Index:
        """What `build` makes of the node, made once for as long as it is held."""
        if (build,) not in self._indexes:
            self._indexes[build,] = build(self.node)
        return self._indexes[build,]  # type: ignore[return-value]

    @property
    def lines(self) -> tuple[int, int]:
        """The first line, without decorators, and the last."""
        if self.ordinal >= 0:
            return self.line, self.module._spans[self.ordinal][1]
        return self.line, self.node.end_lineno or self.line

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
            self._read_names()
        assert self._free is not None
        return self._free

    def stored_names(self) -> frozenset[str]:
        """Every name bound anywhere in the function but by its signature."""
        if self._stored is None:
            self._read_names()
        assert self._stored is not None
        return self._stored

    def bound_names(self) -> frozenset[str]:
        """The names that belong to the function: its parameters, and what it assigns."""
        if self._bound is None:
            arguments = self.node.args
            names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            names += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
            self._bound = self.stored_names().union(names)
        return self._bound

    def _read_names(self) -> None:
        names = [n for n in nodes(self.node) if type(n) is ast.Name]
        self._free = frozenset([n.id for n in names if type(n.ctx) is ast.Load])
        self._stored = frozenset([n.id for n in names if type(n.ctx) is ast.Store])


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
        "_at",
        "_classes",
        "_data",
        "_functions",
        "_heads",
        "_indexes",
        "_names",
        "_nodes",
        "_offsets",
        "_plain",
        "_rebound",
        "_spans",
        "_stars",
        "_tree",
        "_tree_indexes",
        "constants",
        "directory",
        "explicit",
        "is_package",
        "name",
        "path",
        "problem",
        "program",
        "reader",
        "report",
        "root",
        "values",
    )

    def __init__(
        self,
        program: Program,
        path: str,
        absolute: str,
        name: str,
        root: str,
        data: Data,
        report: bool,
        explicit: bool,
    ) -> None:
        self.program = program
        self.path = path
        self.name = name
        self.root = root
        self.directory = os.path.dirname(absolute)
        self.is_package = os.path.basename(absolute) == "__init__.py"
        self._data = data
        self.report = report
        self.explicit = explicit
        self.problem: Problem | None = None
        self.reader: object = None  # whose values these are
        self.values: dict[str, object] = {}
        self.constants: dict[str, object] = {}  # the values that depend on nothing else: anybody's
        self._indexes: dict[object, object] = {}
        self._tree_indexes: dict[object, object] = {}
        self._stars: list[str] = []
        self._classes: list[Class] = []
        self._functions: list[Function] = []
        self._names: dict[str, Definition] | None = None
        self._nodes: list[ast.AST] | None = None
        self._spans: list[tuple[int, int, int]] = []  # by ordinal: first line (decorators included), last line, column
        self._at: dict[int, Function] = {}
        self._heads: dict[int, ast.ClassDef] = {}  # classes without their bodies
        self._offsets: array[int] | None = None
        self._plain: bool | None = None  # lines can be parsed by themselves
        self._tree: ast.Module | None = None
        self._rebound: frozenset[str] | None = None

    def index(self, build: Callable[[Module], Index]) -> Index:
        """What `build` makes of the file, made once. It outlives the tree: it had better not hold much of it."""
        if build not in self._indexes:
            self._indexes[build] = build(self)
        return self._indexes[build]  # type: ignore[return-value]

    def node_index(self, build: Callable[[ast.AST], Index]) -> Index:
        """What `build` makes of the tree, made once for as long as that is held."""
        tree = self.tree
        if build not in self._tree_indexes:
            self._tree_indexes[build] = build(tree)
        return self._tree_indexes[build]  # type: ignore[return-value]

    def rebinds(self, name: str) -> bool:
        """Whether some function declares the name `global` (and so changes it)."""
        if b"global " not in self.data:
            return False
        if self._rebound is None:
            found = [n for n in nodes(self.tree) if type(n) is ast.Global]
            self._rebound = frozenset(name for node in found for name in node.names)
        return name in self._rebound

    @property
    def names(self) -> dict[str, Definition]:
        self.program.touched.add(self)
        if self._names is None:
            self._names = {}
            tree = self.tree
            _Indexer(self, self._names).block(tree.body)
            self._nodes = nodes = list(_numbered(tree.body))
            for ordinal, node in enumerate(nodes):
                first: int = node.lineno  # type: ignore[attr-defined]
                for decorator in getattr(node, "decorator_list", ()):
                    first = min(first, decorator.lineno)
                self._spans.append((first, node.end_lineno, node.col_offset))  # type: ignore[attr-defined]
                if type(node) is ast.ClassDef:
                    self._heads[ordinal] = _head(node)
        return self._names

    @property
    def indexed(self) -> bool:
        """Whether its names are known, and so whether it can be parsed."""
        return self._names is not None

    @property
    def classes(self) -> list[Class]:
        """Every class of the file, nested ones too."""
        self.names  # noqa: B018
        return self._classes

    @property
    def functions(self) -> list[Function]:
        """Every function and method that no function holds."""
        self.names  # noqa: B018
        return self._functions

    @property
    def stars(self) -> list[str]:
        """The modules of which everything is imported."""
        self.names  # noqa: B018
        return self._stars

    @property
    def tree(self) -> ast.Module:
        """The tree; an empty one where the file cannot be parsed (`problem` then says why)."""
        self.program.touched.add(self)
        if self._tree is None:
            try:
                self._tree = parse(self.path, self.data) if self.problem is None else ast.Module([], [])
            except Unparsable as unparsable:
                self.problem = unparsable.problem
                self._tree = ast.Module([], [])
            self.program.keep(self)
        return self._tree

    def forget(self) -> None:
        """Drop the tree, and what was found out about it; it is parsed again when needed."""
        self._tree = None
        self._tree_indexes.clear()
        self._nodes = None

    def node(self, ordinal: int) -> ast.AST:
        """The function, class (its body may be missing) or assignment with this number."""
        if self._nodes is None:
            if self._tree is None and self._names is not None:
                node = self._heads.get(ordinal) or self._reread(*self._spans[ordinal])
                if node is not None:
                    return node
            self._nodes = list(_numbered(self.tree.body))
        return self._nodes[ordinal]

    def read_methods(self, cls: Class) -> None:
        """The methods of a class whose file is no longer in memory, read together: where one runs, others do."""
        if self._tree is not None or self._names is None:
            return
        first, last, column = self._spans[cls.ordinal]
        if last - first > _CLASS_LINES:
            return
        node = self._reread(first, last, column)
        if node is None:
            return
        for ordinal, inner in enumerate(_numbered([node]), cls.ordinal):  # type: ignore[list-item]
            function = self._at.get(ordinal)
            if function is not None and function._node is None:
                function.keep(inner)  # type: ignore[arg-type]

    def text_of(self, first: int, last: int) -> bytes:
        """The lines `first` to `last`, as the parser counts them (never at a form feed or a Unicode line separator)."""
        data = self.data
        if self._offsets is None:
            self._offsets = array("L", accumulate(map(len, data.splitlines(keepends=True)), initial=0))
        offsets = self._offsets
        return data[offsets[min(first - 1, len(offsets) - 1)] : offsets[min(last, len(offsets) - 1)]]

    def _reread(self, first: int, last: int, column: int) -> ast.AST | None:
        """The statement that stands alone on some lines, parsed without the rest of the file."""
        if self._plain is None:
            data = self.data
            self._plain = b"\f" not in data and (data.isascii() or b"coding" not in data[:400])
        if not self._plain:
            # The parser might read these lines otherwise than in their file.
            return None
        text = self.text_of(first, last)
        if column and first > 1:
            # Line numbers and columns come out as in the file: a block opened on the line above, at its place.
            text = b"\n" * (first - 2) + b"if 1:\n" + text
        else:
            text = b"\n" * (first - 1) + text
        try:
            body = parse(self.path, text).body
        except Unparsable:
            return None
        if column and body and type(body[0]) is ast.If:
            body = body[0].body
        if len(body) != 1 or body[0].end_lineno != last or body[0].col_offset != column:
            return None
        return body[0]

    @property
    def data(self) -> bytes:
        """The bytes of the file, read when first asked for."""
        self.program.touched.add(self)
        if not isinstance(self._data, bytes):
            self._data = self._data()
        return self._data

    @property
    def lines(self) -> int:
        return self.data.count(b"\n") + 1

    @property
    def package(self) -> str:
        """What a relative import of level 1 refers to."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


def _head(node: ast.ClassDef) -> ast.ClassDef:
    fields = {name: getattr(node, name) for name in (*node._fields, *node._attributes) if name != "body"}
    return ast.ClassDef(**fields, body=[])


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
                self.module._stars.append(target)
            else:
                self.names[alias.asname or alias.name] = Import(target, alias.name)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, cls: Class | None) -> None:
        qualname = f"{cls.qualname}.{node.name}" if cls else node.name
        decorators = node.decorator_list
        function = Function(self.module, node.name, qualname, cls, self.count, decorators=decorators, line=node.lineno)
        self.module._at[self.count] = function
        self.count += 1
        self.module._functions.append(function)
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
        self.module._classes.append(cls)
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
            self.bind(statement.target.id, Assignment(ordinal, (), statement.value is None, True), names)

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
        self.touched: set[Module] = set()
        """The files whose content was asked for. What a result was read from is what it depends on."""
        self.by_place: dict[str, Module] = {}
        self._resolved: dict[tuple[str, str], Module | None] = {}
        self._recent: OrderedDict[str, Module] = OrderedDict()
        self._kept = 0
        self._functions: deque[tuple[Function, int]] = deque()
        self._kept_functions = 0
        self._top = ""
        self._paths_by_name: dict[str, list[str]] | None = None
        self._indexes: dict[object, object] = {}

    @classmethod
    def build(cls, files: Sequence[tuple[str, str, Data, bool, bool]]) -> Program:
        """From (display path, absolute path, content, report, explicit), in any order."""
        program = cls()
        packages = {os.path.dirname(a) for _, a, *_ in files if a.endswith(os.sep + "__init__.py")}
        for path, absolute, data, report, explicit in sorted(files, key=lambda file: file[:2]):
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

    def index(self, build: Callable[[Program], Index]) -> Index:
        """What `build` makes of all files, made once. Whoever asks depends on every file."""
        if build not in self._indexes:
            self._indexes[build] = build(self)
        self.touched.update(self.modules)
        return self._indexes[build]  # type: ignore[return-value]

    @contextmanager
    def watched(self) -> Iterator[set[Module]]:
        """The files that are touched from here to the end of the block."""
        outer, self.touched = self.touched, set()
        try:
            yield self.touched
        finally:
            # What many parts need is kept longer than what one did.
            for module in sorted(self.touched, key=lambda module: module.path):
                if module.path in self._recent:
                    self._recent.move_to_end(module.path)
            outer |= self.touched
            self.touched = outer

    def paths_by_name(self) -> dict[str, list[str]]:
        """The files of each dotted name; separate projects may use the same one."""
        if self._paths_by_name is None:
            self._paths_by_name = {}
            for module in self.modules:
                self._paths_by_name.setdefault(module.name, []).append(module.path)
        return self._paths_by_name

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

    def keep_function(self, function: Function, node: FunctionNode) -> None:
        """The same for a function's node."""
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        self._functions.append((function, lines))
        self._kept_functions += lines
        while self._kept_functions > _KEPT_FUNCTION_LINES and len(self._functions) > 1:
            oldest, size = self._functions.popleft()
            self._kept_functions -= size
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
