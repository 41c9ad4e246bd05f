"""What the compile sites taught, written down: an edit that they did not read need not read them again.

Values are written as they are; what belongs to the program (files, classes, functions) by its place in it, and found again
there. Whoever reads it must know that the sites still say the same: it is kept with what they gave.
"""

from __future__ import annotations

import ast
import importlib
import io
import pickle
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tclint import values
from tclint.interpreter.state import SiteKnowledge
from tclint.program import Class, Function, FunctionNode, Module
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
_PLACED: Final = frozenset({Origin, CompileSite, Call, Write, Mode})
"""What holds lines or nodes of a file."""
_PLAIN: Final = frozenset(
    {("builtins", name) for name in ("set", "frozenset", "range", "slice", "complex", "Ellipsis")}
)


def written(learned: SiteKnowledge, program: Program) -> bytes:
    """What was learned, as bytes; empty where something in it belongs to no place. Of which files it holds lines is noted."""
    stream = io.BytesIO()
    writer = _Writer(stream, 5)
    try:
        writer.dump(learned)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return b""  # read from the sites again where it is needed
    makers = (path for made in learned.made_with.values() for path, _ in made)
    program.names_lines({*writer.placed, *makers})
    return stream.getvalue()


def read(data: bytes, program: Program) -> SiteKnowledge | None:
    """What was written down, about this program; None where it cannot be read. It counts as asking for no file."""
    try:
        with program.unwatched():
            found = _Reader(io.BytesIO(data), program).load() if data else None
    except (pickle.UnpicklingError, EOFError, LookupError, TypeError, AttributeError, RecursionError):
        found = None
    return found if isinstance(found, SiteKnowledge) else None


class _Writer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, protocol: int) -> None:
        super().__init__(stream, protocol)
        self.placed: set[str] = set()
        """The files of which lines are written down."""

    def persistent_id(self, value: Any) -> tuple[object, ...] | None:
        kind = type(value)
        if kind in _PLACED:
            self.placed.add(value.path)
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
        if type(value) is Function:
            self.placed.add(value.module.path)
            if value.parent is not None:
                return _nested, (value.parent, value.node, value.name)
            return _lambda, (value.module, value.node)
        return NotImplemented


class _Reader(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, program: Program) -> None:
        super().__init__(stream)
        self._modules = {module.path: module for module in program.modules}

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
            return getattr(importlib.import_module(module), name)
        raise pickle.UnpicklingError(f"{module}.{name} is nothing that sites teach")


@cache
def _names() -> dict[int, str]:
    """The values that there is one of, by which everybody tells them: `UNKNOWN`, `NONE`."""
    return {id(value): name for name, value in vars(values).items() if isinstance(value, Value)}


def _nested(parent: Function, node: FunctionNode, name: str) -> Function:
    return parent.nested(node, name)


def _lambda(module: Module, node: FunctionNode) -> Function:
    return Function(module, "<lambda>", "<lambda>", None, node=node)
