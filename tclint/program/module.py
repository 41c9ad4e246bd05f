"""One file of the program: its bytes, its tree, its index, each made when first asked for.

Trees are large (1.25 kB a line), so only the most recently used are kept: a `Function` knows its lines in the file and
gets its node back by parsing those again, and no others.
"""

from __future__ import annotations

import ast
import os
import re
from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeVar

from tclint.model.report import Problem
from tclint.program import kept_facts, kept_index
from tclint.program.index import Index, index_of, numbered
from tclint.program.portions import Asked, Fact, Lines, Outline
from tclint.program.symbols import Class, Definition, Function, Lookup
from tclint.sources.text import Unparsable, parse
from tclint.sources.tree import nodes

if TYPE_CHECKING:
    from tclint.program.program import Program, Touched

_Addressed = TypeVar("_Addressed", Class, Function)
Data = bytes | Callable[[], bytes]
"""The content of a file, or where to get it."""

_CLASS_LINES: Final = 300
_GLOBAL: Final = re.compile(rb"global[ \t\\]")


class Module:
    """One file: the names it defines. Nothing is parsed until `names` is read."""

    __slots__ = (
        "_data",
        "_index",
        "_indexes",
        "_nodes",
        "_offsets",
        "_plain",
        "_promised",
        "_rebound",
        "_statements",
        "_tree",
        "_tree_indexes",
        "_walked",
        "asked",
        "constants",
        "directory",
        "facts",
        "is_package",
        "library",
        "name",
        "outline",
        "path",
        "placed",
        "problem",
        "program",
        "report",
        "root",
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
        library: bool = False,
    ) -> None:
        self.program = program
        self.path = path
        self.name = name
        self.root = root
        self.directory = os.path.dirname(absolute)
        self.is_package = os.path.basename(absolute) == "__init__.py"
        self._data = data
        self.report = report
        self.library = library  # nobody's business but that of who asks for a name out of it
        self.problem: Problem | None = None
        self.constants: dict[str, object] = {}  # the values that depend on nothing else: anybody's
        self.outline = Outline(self)
        self.asked = Asked(self)
        self.placed = Lines(self)
        self._indexes: dict[object, tuple[object, Sequence[Touched]]] = {}
        self._tree_indexes: dict[object, object] = {}
        self._index: Index | None = None
        self._nodes: list[ast.AST] | None = None
        self._statements: dict[int, ast.AST] = {}
        self._offsets: array[int] | None = None
        self._plain: bool | None = None  # lines can be parsed by themselves
        self._tree: ast.Module | None = None
        self._rebound: frozenset[str] | None = None
        self._promised: dict[str, Class | Function] = {}
        self._walked = False  # somebody asked for the tree
        self.facts: kept_facts.Facts | None = None

    def index(self, build: Callable[[Module], Lookup]) -> Lookup:
        """What `build` makes of the file, made once. It outlives the tree: it had better not hold much of it.

        Whoever asks depends on what comes out, where `build` can be found again by its name.
        """
        found = self._indexes.get(build)
        if found is None:
            found = self._indexes[build] = self._found(build)
        self.program.touched.update(found[1])
        return found[0]  # type: ignore[return-value]

    def _found(self, build: Callable[[Module], object]) -> tuple[object, Sequence[Touched]]:
        """What `build` makes of the file, and what it made it of."""
        fact = Fact(self, build) if "." not in getattr(build, "__qualname__", ".") else None
        lasts = fact is not None and kept_facts.is_found_again(build)
        if fact is not None and lasts and (kept := kept_facts.recalled(self, fact.name)) is not None:
            return kept[0], (fact,)
        before, self._walked = self._walked, False
        with self.program.unwatched() as touched:
            value = build(self)
        # What was asked of other files is no part of what comes out: they may say something else tomorrow.
        others = [each for each in touched if each is not self and getattr(each, "module", None) is not self]
        if others:
            self.program.crossing.append((self._indexes, build))
        elif self._walked and fact is not None and lasts:
            kept_facts.keep(self, fact.name, value)
        self._walked |= before
        return value, (fact if fact is not None else self, *others)

    def node_index(self, build: Callable[[ast.AST], Lookup]) -> Lookup:
        """What `build` makes of the tree, made once for as long as that is held."""
        tree = self.tree
        if build not in self._tree_indexes:
            self._tree_indexes[build] = build(tree)
        return self._tree_indexes[build]  # type: ignore[return-value]

    @property
    def rebound(self) -> frozenset[str]:
        """The names that some function declares `global` (and so changes)."""
        self.program.touched.add(self.asked[""])
        if self._rebound is None and not _declares_global(self.raw):
            self._rebound = frozenset()
        if self._rebound is None:
            found = [n for n in nodes(self._parsed()) if type(n) is ast.Global]
            self._rebound = frozenset(name for node in found for name in node.names)
        return self._rebound

    def rebinds(self, name: str) -> bool:
        """Whether some function declares the name `global` (and so changes it)."""
        return name in self.rebound

    @property
    def names(self) -> dict[str, Definition]:
        """All names. Whoever wants to know one asks for that (`named`), and depends on nothing else."""
        self.program.touched.add(self.outline)
        return self._indexed().names

    def named(self, name: str) -> Definition | None:
        """What a name of the top level is bound to."""
        self.program.touched.add(self.asked[name])
        index = self._index  # asked for every name that is looked up: one call less
        return index.names.get(name) if index is not None else self._indexed().names.get(name)

    def _indexed(self) -> Index:
        if self._index is None:
            # Whoever asks while the file is being read sees nothing of it yet.
            self._index = Index()
            indexes = self.program.indexes
            kept = indexes.recall(self) if indexes is not None else None
            if kept is not None:
                self._index, self._rebound = kept_index.read(self, kept, self._promised)
                return self._index
            self._index, self._nodes = index_of(self, self._parsed(), self._promised)
            if indexes is not None and self.problem is None:
                with self.program.unwatched():
                    indexes.keep(self, kept_index.written(self._index, self.rebound))
        return self._index

    def class_at(self, address: str) -> Class:
        """The class at this address, without parsing the file for it."""
        return self._at(Class, address)

    def function_at(self, address: str) -> Function:
        """The function at this address that no function holds, without parsing the file for it."""
        return self._at(Function, address)

    def _at(self, kind: type[_Addressed], address: str) -> _Addressed:
        known = self._promised.get(address)
        if known is None:
            index = self._index
            known = kind.promise(self, address) if index is None else index.by_address[address]
            self._promised[address] = known
        if not isinstance(known, kind):
            raise LookupError(address)
        return known

    def keep_promises(self) -> None:
        """Fill in what was promised of the file. Whoever holds a definition of it need not have asked for the file."""
        with self.program.unwatched():
            self._indexed()

    @property
    def indexed(self) -> bool:
        """Whether its names are known, and so whether it can be parsed."""
        return self._index is not None

    @property
    def classes(self) -> list[Class]:
        """Every class of the file, nested ones too."""
        self.program.touched.add(self.outline)
        return self._indexed().classes

    @property
    def functions(self) -> list[Function]:
        """Every function and method that no function holds."""
        self.program.touched.add(self.outline)
        return self._indexed().functions

    @property
    def stars(self) -> list[str]:
        """The modules of which everything is imported."""
        self.program.touched.add(self.asked[""])
        return self._indexed().stars

    @property
    def body(self) -> list[ast.stmt]:
        """The statements at the top level. Whoever looks into functions that they hold says so (`Function.read`)."""
        self.program.touched.add(self.outline)
        return self._parsed().body

    @property
    def tree(self) -> ast.Module:
        """The tree; an empty one where the file cannot be parsed (`problem` then says why)."""
        self.program.touched.add(self)
        return self._parsed()

    def _parsed(self) -> ast.Module:
        """The tree, for what is noted as less than asking for all of it."""
        self._walked = True
        if self._tree is None:
            try:
                self._tree = parse(self.path, self.raw) if self.problem is None else ast.Module([], [])
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
        self._statements.clear()

    def node(self, ordinal: int) -> ast.AST:
        """The function, class (its body may be missing) or assignment with this number."""
        if self._nodes is None:
            index = self._index
            if self._tree is None and index is not None:
                if ordinal in index.folded:
                    index.heads[ordinal] = kept_index.head(index.folded.pop(ordinal))
                node = index.heads.get(ordinal) or self._statements.get(ordinal) or self._reread(*index.spans[ordinal])
                if node is not None:
                    if isinstance(node, (ast.Assign, ast.AnnAssign)):
                        self._statements[ordinal] = node  # a constant of the file: it is asked for again and again
                    return node
            self._nodes = list(numbered(self._parsed().body))
        return self._nodes[ordinal]

    def read_methods(self, cls: Class) -> None:
        """The methods of a class whose file is no longer in memory, read together: where one runs, others do."""
        index = self._index
        if self._tree is not None or index is None:
            return
        first, last, column = index.spans[cls.ordinal]
        if last - first > _CLASS_LINES:
            return
        node = self._reread(first, last, column)
        if node is None:
            return
        for ordinal, inner in enumerate(numbered([node]), cls.ordinal):  # type: ignore[list-item]
            function = index.by_ordinal.get(ordinal)
            if function is not None and function._node is None:
                function.keep(inner)  # type: ignore[arg-type]

    def last_line(self, ordinal: int) -> int:
        """Where the function, class or assignment with this number ends."""
        self.program.touched.update((self.outline, self.placed))
        return self._indexed().spans[ordinal][1]

    def indexed_again(self) -> Index:
        """The index, for those who say by themselves what they read of it."""
        return self._indexed()

    def text_of(self, first: int, last: int) -> bytes:
        """The lines `first` to `last`, as the parser counts them (never at a form feed or a Unicode line separator)."""
        self.program.touched.add(self)
        return self.peek(first, last)

    def peek(self, first: int, last: int) -> bytes:
        """The same of lines that were read already, as part of a function or of the outline: it counts as asking for nothing."""
        data = self.raw
        if self._offsets is None:
            self._offsets = array("L", accumulate(map(len, data.splitlines(keepends=True)), initial=0))
        offsets = self._offsets
        return data[offsets[min(first - 1, len(offsets) - 1)] : offsets[min(last, len(offsets) - 1)]]

    def _reread(self, first: int, last: int, column: int) -> ast.AST | None:
        """The statement that stands alone on some lines, parsed without the rest of the file."""
        if self._plain is None:
            data = self.raw
            self._plain = b"\f" not in data and (data.isascii() or b"coding" not in data[:400])
        if not self._plain:
            # The parser might read these lines otherwise than in their file.
            return None
        text = self.peek(first, last)
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
        return self.raw

    @property
    def raw(self) -> bytes:
        """The same, for a test that only saves looking at what was read already: it counts as asking for nothing."""
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


def _declares_global(data: bytes) -> bool:
    """Whether `global` stands where a statement can: comments and docstrings of models are full of "global attention"."""
    for word in _GLOBAL.finditer(data):
        before = data[data.rfind(b"\n", 0, word.start()) + 1 : word.start()].rstrip(b" \t")
        if not before or before.endswith((b";", b":")):
            return True
    return False
