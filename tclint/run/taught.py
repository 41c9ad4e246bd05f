"""What the compile sites taught, written down: an edit that they did not read need not read them again.

Values are written as they are; what belongs to the program (files, classes, functions) by its place in it, and found again
there. Whoever reads it must know that the sites still say the same: it is kept with what they were read from. Where that stands
on other lines now, so does what was taught.
"""

from __future__ import annotations

import ast
import importlib
import io
import pickle
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tclint import values
from tclint.interpreter.state import SiteKnowledge
from tclint.program import Class, Function, FunctionNode, Module
from tclint.sources.tree import nodes
from tclint.values import CompileSite, Origin, Value
from tclint.values.moments import Call, Mode, Write

if TYPE_CHECKING:
    from tclint.program import Program

_OURS: Final = (
    "tclint.values",
    "tclint.interpreter.state",
    "tclint.timeline",
    "tclint.torch_facts",
    "tclint.run.taught",
)
"""Where the classes come from of which values are made: `torch.__version__` is a text of the facts."""
_PLACED: Final = frozenset({Origin, Call, Write, Mode})
"""What holds lines or a node of a file."""
_PLAIN: Final = frozenset(
    {("builtins", name) for name in ("set", "frozenset", "range", "slice", "complex", "Ellipsis")}
)


class Written(NamedTuple):
    """What was learned, as bytes; empty where something in it belongs to no place."""

    data: bytes = b""
    moving: frozenset[str] = frozenset()
    """The files of which it holds lines that can be told anew (see `read`)."""
    fixed: frozenset[str] = frozenset()
    """The files of which it holds lines that cannot: those of compile sites go by them."""


def written(learned: SiteKnowledge) -> Written:
    """What was learned, written down."""
    stream = io.BytesIO()
    writer = _Writer(stream, 5)
    try:
        writer.dump(learned)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return Written()  # read from the sites again where it is needed
    makers = (path for made in learned.made_with.values() for path, _ in made)
    return Written(stream.getvalue(), frozenset({*writer.moving, *makers}), frozenset(writer.fixed))


def read(data: bytes, program: Program, moved: Mapping[str, Mapping[int, int]] | None = None) -> SiteKnowledge | None:
    """What was written down, about this program; None where it cannot be read. It counts as asking for no file.

    `moved`: for the files that changed, the lines that what was read of them stands on now, by those it stood on.
    """
    try:
        with program.unwatched():
            found = _Reader(io.BytesIO(data), program, moved or {}).load() if data else None
            if isinstance(found, SiteKnowledge) and moved:
                _move_makers(found, moved)
    except (pickle.UnpicklingError, EOFError, LookupError, TypeError, AttributeError, RecursionError):
        found = None
    return found if isinstance(found, SiteKnowledge) else None


def _move_makers(learned: SiteKnowledge, moved: Mapping[str, Mapping[int, int]]) -> None:
    for made in learned.made_with.values():
        for (path, _), known in made.items():
            for value, place in known.items() if path in moved else ():
                known[value] = f"{path}:{moved[path][int(place.removeprefix(f'{path}:'))]}"


class _Writer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, protocol: int) -> None:
        super().__init__(stream, protocol)
        self.moving: set[str] = set()
        self.fixed: set[str] = set()
        self._known: set[int] = set()
        """The nodes of which it is known whose they are, and that are yet to be written."""

    def persistent_id(self, value: Any) -> tuple[object, ...] | None:
        kind = type(value)
        if kind is Module:
            return ("module", value.path)
        if kind is Class:
            return ("class", value.module.path, value.address)
        if kind is Function and value.address:
            return ("function", value.module.path, value.address)
        if isinstance(value, Value) and (name := _names().get(id(value))) is not None:
            return ("value", name)
        return None

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLACED:
            if kind is Origin and value.line and not value.path:
                raise pickle.PicklingError("a line of which nobody says whose it is")
            self._note(value.path, value.node)
            # As a call, and not as a state: whoever reads it may be given other lines.
            return kind, tuple(value) if kind is Origin else tuple(getattr(value, name) for name in kind.__slots__)
        if kind is Function:
            self._note(value.module.path, value.node)
            if value.parent is not None:
                return _nested, (value.parent, value.node, value.name)
            self.fixed.add(value.module.path)  # others know it by its line
            return _lambda, (value.module, value.node)
        if kind is CompileSite:
            self.fixed.add(value.path)
        elif isinstance(value, ast.AST):
            if id(value) not in self._known:
                raise pickle.PicklingError("a node of which nobody says whose it is")
            self._known.update(map(id, ast.iter_child_nodes(value)))
        return NotImplemented

    def _note(self, path: str, node: ast.AST | None) -> None:
        if path:
            self.moving.add(path)
            if node is not None:
                self._known.add(id(node))


class _Reader(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, program: Program, moved: Mapping[str, Mapping[int, int]]) -> None:
        super().__init__(stream)
        self._modules = {module.path: module for module in program.modules}
        self._moved = moved
        self._done: set[int] = set()
        """The nodes that stand where they stand now."""

    def persistent_load(self, place: Any) -> object:
        kind, name, *address = place
        if kind == "value":
            return getattr(values, name)
        module = self._modules[name]
        if kind == "module":
            return module
        return module.class_at(address[0]) if kind == "class" else module.function_at(address[0])

    def find_class(self, module: str, name: str) -> Any:
        if module in ("ast", "_ast") and isinstance(found := getattr(ast, name, None), type):
            return found
        if module.startswith(_OURS) or (module, name) in _PLAIN:
            found = getattr(importlib.import_module(module), name)
            if self._moved and (found in _PLACED or found is _nested):
                return partial(getattr(self, _STAND_INS[found.__name__]), found)
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is nothing that sites teach")

    def _origin(self, made: type[Origin], line: int, node: ast.AST | None, path: str) -> Origin:
        lines = self._moved.get(path)
        return made(lines[line] if lines is not None and line else line, self._here(path, node), path)

    def _moment(self, made: Callable[..., Any], first: Any, path: Any, *rest: Any) -> Any:
        self._here(path, rest[0])
        return made(first, path, *rest)

    def _mode(self, made: type[Mode], name: str, arguments: Any, path: str, node: ast.expr, decorates: bool) -> Mode:
        self._here(path, node)
        return made(name, arguments, path, node, decorates)

    def _nested(self, made: Callable[..., Function], parent: Function, node: FunctionNode, name: str) -> Function:
        self._here(parent.module.path, node)
        return made(parent, node, name)

    def _here(self, path: str, node: ast.AST | None) -> ast.AST | None:
        """A node, with the lines on which it stands now."""
        lines = self._moved.get(path)
        if lines is not None and node is not None and id(node) not in self._done:
            for each in nodes(node):
                if id(each) not in self._done and hasattr(each, "lineno"):
                    each.lineno = lines[each.lineno]
                    each.end_lineno = lines[each.end_lineno]  # type: ignore[attr-defined]
                self._done.add(id(each))
        return node


_STAND_INS: Final = {
    "Origin": "_origin",
    "Call": "_moment",
    "Write": "_moment",
    "Mode": "_mode",
    "_nested": "_nested",
}


@cache
def _names() -> dict[int, str]:
    """The values that there is one of, by which everybody tells them: `UNKNOWN`, `NONE`."""
    return {id(value): name for name, value in vars(values).items() if isinstance(value, Value)}


def _nested(parent: Function, node: FunctionNode, name: str) -> Function:
    return parent.nested(node, name)


def _lambda(module: Module, node: FunctionNode) -> Function:
    return Function(module, "<lambda>", "<lambda>", None, node=node)
