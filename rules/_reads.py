"""Where attributes are read and results put away, in all files: what a rule asks for when a store alone does not tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tclint.events import Store
from tclint.program import Class, Function, Module, Program
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import Instance, Value


class AttributeReads:
    """Where attributes are read, in all files; looked for when first asked."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._found: dict[tuple[str, str, str], list[tuple[str, int, int]]] = {}

    def of(self, event: Store) -> list[tuple[str, int, int]]:
        """File, line and column of every `.name` that is read, of the attribute that is stored."""
        return self.at(event, event.name, event.receiver)

    def at(self, event: Store, name: str, owner: Value) -> list[tuple[str, int, int]]:
        """The same for another attribute, of another object."""
        module = event.module
        cls = owner.cls if isinstance(owner, Instance) else None
        place = (name, module.path, cls.qualname if cls is not None else "")
        if place not in self._found:
            written = re.compile(rb"\.\s*" + name.encode() + rb"\b")
            self._found[place] = [
                (m.path, node.lineno, node.col_offset)
                for m in {module, *self._program.modules}
                if written.search(m.data) and (cls is None or m is module or _knows(m, cls))
                for node in nodes(m.tree)
                if type(node) is ast.Attribute and node.attr == name and type(node.ctx) is ast.Load
            ]
        return self._found[place]


class KeptCalls:
    """Where what a method returns is put into a container, in all files; looked for when first asked.

    Who calls a method is not always in sight: a function that is handed on, a test.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._found: dict[Function, tuple[str, int] | None] = {}

    def of(self, method: Function, cls: Class) -> str | None:
        """The first place, as the method's file would name it."""
        if method not in self._found:
            places = [place for m in {cls.module, *self._program.modules} for place in self._places(m, method, cls)]
            self._found[method] = min(places, default=None)
        place = self._found[method]
        if place is None:
            return None
        return f"line {place[1]}" if place[0] == method.module.path else f"{place[0]}:{place[1]}"

    @staticmethod
    def _places(module: Module, method: Function, cls: Class) -> Iterator[tuple[str, int]]:
        """In one file that knows the class."""
        if not _knows(module, cls):
            return
        if re.search(rb"\.\s*" + method.name.encode() + rb"\s*\(", module.data) is None:
            return
        for node in nodes(module.tree):
            for call in _put_away(node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    if call.func.attr == method.name:
                        yield module.path, call.lineno


def _knows(module: Module, cls: Class) -> bool:
    """Whether a file may hold objects of a class: it names it, and has no other one by that name."""
    if module is cls.module:
        return True
    return cls.name.encode() in module.data and not isinstance(module.names.get(cls.name), Class)


def _put_away(node: ast.AST) -> Sequence[ast.expr]:
    """What a node puts into a container, as it is."""
    if isinstance(node, (ast.ListComp, ast.SetComp)):
        return (node.elt,)
    if isinstance(node, ast.DictComp):
        return (node.value,)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.args if node.func.attr in facts.named("puts a value into a container") else ()
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Subscript, ast.Attribute)):
        return (node.value,)
    return ()
