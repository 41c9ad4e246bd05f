"""The index of a file: the names its top level defines, a pure function of its tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tclint.program.symbols import Assignment, Class, Definition, Function, Import

if TYPE_CHECKING:
    from tclint.program.module import Module


@dataclass(slots=True)
class Index:
    """What indexing a file gives."""

    names: dict[str, Definition] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    """The modules of which everything is imported."""
    classes: list[Class] = field(default_factory=list)
    """Every class of the file, nested ones too."""
    functions: list[Function] = field(default_factory=list)
    """Every function and method that no function holds."""
    by_ordinal: dict[int, Function] = field(default_factory=dict)
    by_address: dict[str, Class | Function] = field(default_factory=dict)
    """The classes and functions of these lists."""
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    """By ordinal: first line (decorators included), last line, column."""
    heads: dict[int, ast.ClassDef] = field(default_factory=dict)
    """Classes without their bodies, by ordinal."""
    folded: dict[int, Any] = field(default_factory=dict)
    """The same as plain values, of an index that was kept (see `kept_index`)."""
    outline: list[tuple[int, int]] = field(default_factory=list)
    """The first and last lines of what stands in no function, in order; what a compound statement holds is in it."""
    statements: list[tuple[tuple[str, ...] | None, int, int]] = field(default_factory=list)
    """Those of the top level, in order: the names that each binds, its first and its last line. None of one that does more than that, or
    may not do it."""


def index_of(
    module: Module, tree: ast.Module, promised: Mapping[str, Class | Function] | None = None
) -> tuple[Index, list[ast.AST]]:
    """The index of a module, and the nodes that its ordinals stand for. What was promised of it is filled in."""
    index = Index()
    _Indexer(module, index, promised or {}).block(tree.body)
    index.outline = list(_outline(tree.body))
    index.statements = [(_bound(each), *_lines(each)) for each in tree.body]
    found = list(numbered(tree.body))
    for ordinal, node in enumerate(found):
        first: int = node.lineno  # type: ignore[attr-defined]
        for decorator in getattr(node, "decorator_list", ()):
            first = min(first, decorator.lineno)
        index.spans.append((first, node.end_lineno, node.col_offset))  # type: ignore[attr-defined]
        if type(node) is ast.ClassDef:
            index.heads[ordinal] = _head(node)
    return index, found


def _outline(body: Sequence[ast.stmt]) -> Iterator[tuple[int, int]]:
    """The lines of statements: of a function those of its decorators, of a class what stands above its body, and that."""
    for statement in body:
        first, last = _lines(statement)
        kind = type(statement)
        if kind is ast.ClassDef:
            inner: Sequence[ast.stmt] = statement.body  # type: ignore[attr-defined]
            # The first line of the body counts twice where it stands behind the colon, or has decorators.
            yield first, max(statement.lineno, inner[0].lineno - 1)
            yield from _outline(inner)
        elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
            if first < statement.lineno:
                yield first, statement.lineno - 1
        else:
            yield first, last


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """The first line of a statement, decorators included, and the last."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    for decorator in getattr(statement, "decorator_list", ()):
        first = min(first, decorator.lineno)
    return first, last


def _bound(statement: ast.stmt) -> tuple[str, ...] | None:
    """The names that a statement of the top level binds, where it does nothing else that an index knows of."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (statement.name,)
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        names = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        return tuple(names) if "*" not in names else None
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        found: list[str] = []
        while targets:
            target, *targets = targets
            if isinstance(target, ast.Name):
                found.append(target.id)
            elif isinstance(target, (ast.Tuple, ast.List)):
                targets += target.elts
            else:
                return None
        return tuple(found)
    # What a docstring says is nothing to anybody.
    return () if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) else None


def _head(node: ast.ClassDef) -> ast.ClassDef:
    fields = {name: getattr(node, name) for name in (*node._fields, *node._attributes) if name != "body"}
    return ast.ClassDef(**fields, body=[])


def numbered(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes an index refers to, in the one order that both indexing and re-parsing use."""
    for statement in body:
        kind = type(statement)
        if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
            yield statement
        elif kind is ast.ClassDef:
            yield statement
            yield from numbered(statement.body)  # type: ignore[attr-defined]
        elif kind is ast.Assign or kind is ast.AnnAssign or kind is ast.AugAssign:
            yield statement
        else:
            for inner in _blocks(statement):
                yield from numbered(inner)


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
    """Fills an index from the top-level statements of a module."""

    def __init__(self, module: Module, index: Index, promised: Mapping[str, Class | Function]) -> None:
        self.module = module
        self.promised = promised
        self.index = index
        self.names = index.names
        self.count = 0
        self.named: dict[str, int] = {}
        """How many classes and functions there are of each qualified name."""
        self.of_torch: dict[str, Import] = {}
        """What torch gives of the names bound in the `if` or `try` at hand."""
        self.assigned: dict[str, Assignment] = {}
        """What the block at hand of an `if` or `try` assigns to names of the file."""

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
                        self.imported(alias.asname, Import(alias.name))
                    else:
                        top = alias.name.partition(".")[0]
                        self.imported(top, Import(top))
            elif kind is ast.ImportFrom:
                self.import_from(statement)  # type: ignore[arg-type]
            elif isinstance(statement, (ast.If, ast.Try)):
                self.arms(statement)
            else:
                for inner in _blocks(statement):
                    self.block(inner)

    def arms(self, statement: ast.If | ast.Try) -> None:
        """Of several bindings of one name of which one run makes one: what torch gives, not what stands in for it.

        `if HAS_TORCH: from torch.nn import Module`, `else: Module = object`: without torch nothing is compiled. Nor does what
        an `except` defines stand for what the `try` defines, `HAS_TRITON = False` for the `True` behind the import. Of what
        the arms of an `if` assign to one name it may be any.
        """
        outer, self.of_torch = self.of_torch, {}
        outer_assigned, self.assigned = self.assigned, {}
        failing = [each.body for each in statement.handlers] if isinstance(statement, ast.Try) else []
        defined = [n.name for n in statement.body if failing and isinstance(n, (ast.FunctionDef, ast.ClassDef))]
        first: dict[str, Assignment] = {}
        tried: dict[str, Definition] = {}
        for inner in _blocks(statement):
            self.assigned = {}
            self.block(inner)
            if inner is statement.body:
                first = self.assigned
                tried = {name: self.names[name] for name in (*defined, *(first if failing else ()))}
            elif inner in failing:
                self.names.update(tried)
                self.assigned = {name: each for name, each in self.assigned.items() if name not in first}
            elif isinstance(statement, ast.If):
                for name in first.keys() & self.assigned.keys():
                    self.assigned[name] = self.names[name] = _either(first[name], self.assigned[name])
            outer_assigned |= self.assigned
        self.assigned = outer_assigned
        for name, bound in self.of_torch.items():
            self.names[name] = bound
        self.of_torch = outer | self.of_torch

    def import_from(self, statement: ast.ImportFrom) -> None:
        target = absolute_name(self.module, statement.module, statement.level)
        for alias in statement.names:
            if alias.name == "*":
                self.index.stars.append(target)
            else:
                self.imported(alias.asname or alias.name, Import(target, alias.name))

    def imported(self, name: str, bound: Import) -> None:
        self.names[name] = bound
        if bound.target.partition(".")[0] == "torch":
            self.of_torch[name] = bound

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, cls: Class | None) -> None:
        qualname = f"{cls.qualname}.{node.name}" if cls else node.name
        decorators = node.decorator_list
        address = self.address(qualname)
        function = self.promised.get(address)
        if not isinstance(function, Function):
            function = Function.promise(self.module, address)
        Function.__init__(
            function,
            self.module,
            node.name,
            qualname,
            cls,
            self.count,
            decorators=decorators,
            line=node.lineno,
            address=address,
        )
        self.index.by_ordinal[self.count] = self.index.by_address[address] = function
        self.count += 1
        self.index.functions.append(function)
        if cls is None:
            self.names[node.name] = function
            return
        for decorator in node.decorator_list:
            # `@x.setter` replaces nothing a reader of the attribute sees.
            if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter"):
                return
        cls._methods[node.name] = function

    def address(self, qualname: str) -> str:
        """What a class or function is found by again."""
        number = self.named.get(qualname, 0)
        self.named[qualname] = number + 1
        return f"{qualname}#{number}" if number else qualname

    def cls(self, node: ast.ClassDef, outer: str, names: dict[str, Definition] | None) -> Class:
        qualname = f"{outer}.{node.name}" if outer else node.name
        address = self.address(qualname)
        cls = self.promised.get(address)
        if not isinstance(cls, Class):
            cls = Class.promise(self.module, address)
        Class.__init__(cls, self.module, node.name, qualname, self.count, address)
        self.index.by_address[address] = cls
        self.count += 1
        self.index.classes.append(cls)
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
                self.assign(statement, cls._assignments)
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

    def bind(self, name: str, new: Assignment, names: dict[str, Definition] | dict[str, Assignment]) -> None:
        # `try: import x / except ImportError: x = None`: what matters is the import.
        if isinstance(names.get(name), (Import, Class, Function)):
            return
        names[name] = new
        if names is self.names:
            self.assigned[name] = new


def _either(first: Assignment, last: Assignment) -> Assignment:
    """What a name is bound to by one of two assignments."""
    alone = Assignment(first.ordinal, first.path, first.annotation, first.annotated)
    others = (alone, *first.others, *last.others)
    return Assignment(last.ordinal, last.path, last.annotation, last.annotated, others)


def absolute_name(module: Module, target: str | None, level: int) -> str:
    """The dotted name an import statement of `module` means."""
    if level == 0:
        return target or ""
    package = module.package
    for _ in range(level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{target}" if target and package else (target or package)
