"""What a file defines: imports, assignments, functions, classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from tclint.sources.tree import by_kind

if TYPE_CHECKING:
    from typing_extensions import Self

    from tclint.program.module import Module
    from tclint.program.program import Touched

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FunctionPlace = tuple[str, str, int]
"""A function as plain data: file, qualified name, and which of that name it is (see `Function.mark`)."""
Lookup = TypeVar("Lookup")
"""What somebody found out about a whole function, file or program, to look things up in."""


class Promised:
    """A definition that is known by its address in a file that nobody has parsed yet. Asked for more, it has the file parsed."""

    __slots__ = ("address", "module")

    module: Module
    address: str
    """Its qualified name, and behind a `#` which of that name it is, from the second on: the same wherever it stands."""

    @classmethod
    def promise(cls, module: Module, address: str) -> Self:
        """The definition at this address; `Module.keep_promises` fills it in."""
        made = cls.__new__(cls)
        made.module = module
        made.address = address
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            # Python comes here for what is not filled in, and for nothing else.
            if name not in Promised.__slots__:
                self.module.keep_promises()
            return object.__getattribute__(self, name)


class Import:
    """A name bound by an import: `target` is a dotted module, `attribute` a name in it or empty."""

    __slots__ = ("attribute", "target")

    def __init__(self, target: str, attribute: str = "") -> None:
        self.target = target
        self.attribute = attribute


class Assignment:
    """A name bound by a module-level or class-level assignment; `path` leads through tuple targets."""

    __slots__ = ("annotated", "annotation", "ordinal", "others", "path")

    def __init__(
        self,
        ordinal: int,
        path: tuple[int, ...] = (),
        annotation: bool = False,
        annotated: bool = False,
        others: tuple[Assignment, ...] = (),
    ) -> None:
        self.ordinal = ordinal
        self.path = path
        self.annotation = annotation  # nothing but an annotation
        self.annotated = annotated
        self.others = others  # what the other arms of an `if` bind it to: one of them all runs


class Function(Promised):
    """A function, method or lambda."""

    __slots__ = (
        "_bound",
        "_extent",
        "_free",
        "_indexes",
        "_nested",
        "_node",
        "_stored",
        "cls",
        "decorators",
        "line",
        "mark",
        "name",
        "ordinal",
        "parent",
        "qualname",
        "signature",
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
        address: str = "",
    ) -> None:
        self.module = module
        self.address = address
        self.name = name
        self.qualname = qualname
        self.cls = cls
        self.ordinal = ordinal
        self.parent = parent
        # What of the file is read with it: of a lambda outside of functions nobody knows where it stands.
        self._extent: Function | Module = self if ordinal >= 0 else parent._extent if parent is not None else module
        self._node = node
        if node is not None:
            decorators = () if isinstance(node, ast.Lambda) else node.decorator_list
            line = node.lineno
        # Asked of every function that is only named: no reason to parse it again.
        self.decorators = decorators
        self.line = line
        # Tells functions of one name in a file apart, wherever they stand in it: what is kept about them outlives an edit above.
        self.mark: int = line if parent is None else parent.mark + line - parent.line
        if ordinal >= 0:
            self.mark = int(address.partition("#")[2] or 0) << 20
        elif isinstance(node, ast.Lambda):
            self.mark += node.col_offset << 40  # several of them stand on one line
        self._free: frozenset[str] | None = None
        self._stored: frozenset[str] | None = None
        self._bound: frozenset[str] | None = None
        self._indexes: dict[object, tuple[object, Iterable[Touched]]] = {}
        self._nested: dict[int, Function] = {}
        self.signature: object = None  # the interpreter keeps here what it has read of the parameters

    @property
    def place(self) -> FunctionPlace:
        return (self.module.path, self.qualname, self.mark)

    def read(self) -> None:
        """Note that somebody depends on its text. Whoever keeps something of it for others says so each time."""
        self.module.program.touched.add(self._extent)

    @property
    def node(self) -> FunctionNode:
        self.module.program.touched.add(self._extent)
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
        self.signature = None  # it holds the nodes of the parameters
        self._indexes.clear()

    def index(self, build: Callable[[Function], Lookup]) -> Lookup:
        """What `build` makes of the function, made once for as long as its node is held."""
        return _made_once(self._indexes, build, self, self._extent)

    def node_index(self, build: Callable[[ast.AST], Lookup]) -> Lookup:
        """What `build` makes of the node, made once for as long as it is held."""
        node = self.node
        if (build,) not in self._indexes:
            self._indexes[build,] = (build(node), ())
        return self._indexes[build,][0]  # type: ignore[return-value]

    @property
    def lines(self) -> tuple[int, int]:
        """The first line, without decorators, and the last."""
        if self.ordinal >= 0:
            return self.line, self.module.last_line(self.ordinal)
        return self.line, self.node.end_lineno or self.line

    @property
    def is_method(self) -> bool:
        """Whether it stands in the body of its class; a function inside a method knows the class, and has no `self` of its own."""
        return self.cls is not None and (self.parent is None or self.parent.cls is not self.cls)

    @property
    def is_abstract(self) -> bool:
        """Whether it is there to be overridden."""
        marks = self.node.decorator_list if not isinstance(self.node, ast.Lambda) else []
        return any(ast.unparse(mark).endswith("abstractmethod") for mark in marks)

    @property
    def is_left_open(self) -> bool:
        """Whether a class below has to define it: it is marked so, or does nothing but raise `NotImplementedError`."""
        if isinstance(self.node, ast.Lambda):
            return False
        if self.is_abstract:
            return True
        first = [each for each in self.node.body if not _is_text(each)][:1]
        return not first or isinstance(first[0], ast.Raise) and _is_not_implemented(first[0].exc)

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
        self.read()
        if self._free is None:
            self._read_names()
        assert self._free is not None
        return self._free

    def stored_names(self) -> frozenset[str]:
        """Every name bound anywhere in the function but by its signature."""
        self.read()
        if self._stored is None:
            self._read_names()
        assert self._stored is not None
        return self._stored

    def bound_names(self) -> frozenset[str]:
        """The names that belong to the function: its parameters, and what it assigns."""
        self.read()
        if self._bound is None:
            arguments = self.node.args
            names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            names += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
            self._bound = self.stored_names().union(names)
        return self._bound

    def _read_names(self) -> None:
        names = by_kind(self.node)[ast.Name]
        self._free = frozenset([n.id for n in names if type(n.ctx) is ast.Load])
        self._stored = frozenset([n.id for n in names if type(n.ctx) is ast.Store])


_Defined = TypeVar("_Defined", "Function", "Class")


def _made_once(
    known: dict[object, tuple[object, Iterable[Touched]]],
    build: Callable[[_Defined], Lookup],
    subject: _Defined,
    extent: Touched,
) -> Lookup:
    """What `build` makes of a definition; whoever asks depends on all that it was made from, and on the definition."""
    program = subject.module.program
    found = known.get(build)
    if found is None:
        with program.unwatched() as touched:
            touched.add(extent)
            value = build(subject)
        found = known[build] = (value, touched)
        if len(touched) > 1 and any(getattr(each, "module", each) is not subject.module for each in touched):
            program.crossing.append((known, build))
    program.touched.update(found[1])
    return found[0]  # type: ignore[return-value]


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or `...`."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_not_implemented(error: ast.expr | None) -> bool:
    raised = error.func if isinstance(error, ast.Call) else error
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


class Class(Promised):
    """A class: its methods, class-level assignments and bases, with inheritance resolved by the interpreter."""

    __slots__ = ("_assignments", "_indexes", "_methods", "name", "ordinal", "outer", "qualname")

    def __init__(self, module: Module, name: str, qualname: str, ordinal: int, address: str) -> None:
        self.module = module
        self.address = address
        self.name = name
        self.qualname = qualname
        self.ordinal = ordinal
        self._methods: dict[str, Function] = {}
        self._assignments: dict[str, Assignment] = {}
        self._indexes: dict[object, tuple[object, Iterable[Touched]]] = {}

    def index(self, build: Callable[[Class], Lookup]) -> Lookup:
        """What `build` makes of the class and its methods, made once. It outlives their nodes: it had better hold none."""
        return _made_once(self._indexes, build, self, self)

    @property
    def methods(self) -> dict[str, Function]:
        self.module.program.touched.add(self)
        return self._methods

    @property
    def assignments(self) -> dict[str, Assignment]:
        self.module.program.touched.add(self)
        return self._assignments

    @property
    def node(self) -> ast.ClassDef:
        self.module.program.touched.add(self)
        node = self.module.node(self.ordinal)
        assert isinstance(node, ast.ClassDef)
        return node


Definition = Import | Assignment | Function | Class
