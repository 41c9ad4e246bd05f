"""The index of a file as plain values, to be kept by its content: who has it can link the file without parsing it.

What stands behind a definition is parsed when somebody asks for it, as it is where a tree had to go.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tclint.program.index import Index
from tclint.program.symbols import Assignment, Class, Definition, Function, Import

if TYPE_CHECKING:
    from tclint.program.module import Module

Kept = tuple[Any, ...]
"""An index in full, with the names that functions declare `global`."""


def written(index: Index, rebound: frozenset[str]) -> Kept:
    """An index as plain values."""
    return (
        [
            (
                cls.name,
                cls.qualname,
                cls.ordinal,
                cls.address,
                [(name, method.address) for name, method in cls._methods.items()],
                [(name, _assignment(each)) for name, each in cls._assignments.items()],
            )
            for cls in index.classes
        ],
        [
            (
                function.name,
                function.qualname,
                function.cls.address if function.cls is not None else None,
                function.ordinal,
                function.line,
                function.address,
                [plain(decorator) for decorator in function.decorators],
            )
            for function in index.functions
        ],
        [(name, _definition(definition)) for name, definition in index.names.items()],
        index.stars,
        index.spans,
        [(ordinal, plain(head)) for ordinal, head in index.heads.items()],
        index.outline,
        index.statements,
        rebound,
    )


def read(module: Module, kept: Kept, promised: Mapping[str, Class | Function]) -> tuple[Index, frozenset[str]]:
    """An index that was written, of this file, and the names that are declared `global`. What was promised of it is filled in."""
    classes, functions, names, stars, spans, heads, outline, statements, rebound = kept
    index = Index(stars=stars, spans=spans, outline=outline, statements=statements)
    found = index.by_address
    for name, qualname, ordinal, address, _, assignments in classes:
        cls = promised.get(address)
        if not isinstance(cls, Class):
            cls = Class.promise(module, address)
        Class.__init__(cls, module, name, qualname, ordinal, address)
        cls._assignments.update((each, _assigned(row)) for each, row in assignments)
        found[address] = cls
        index.classes.append(cls)
    for name, qualname, of, ordinal, line, address, decorators in functions:
        function = promised.get(address)
        if not isinstance(function, Function):
            function = Function.promise(module, address)
        cls = found.get(of) if of is not None else None
        assert cls is None or isinstance(cls, Class)
        marks = [node(decorator) for decorator in decorators]
        Function.__init__(function, module, name, qualname, cls, ordinal, decorators=marks, line=line, address=address)
        index.by_ordinal[ordinal] = found[address] = function
        index.functions.append(function)
    for _, _, _, address, methods, _ in classes:
        cls = found[address]
        assert isinstance(cls, Class)
        for name, method in methods:
            each = found[method]
            assert isinstance(each, Function)
            cls._methods[name] = each
    for name, row in names:
        index.names[name] = found[row] if isinstance(row, str) else _bound(row)
    index.folded = dict(heads)
    return index, rebound


def head(folded: Any) -> ast.ClassDef:
    """A class without its body, as it was written."""
    made = node(folded)
    assert isinstance(made, ast.ClassDef)
    return made


def _definition(definition: Definition) -> object:
    if isinstance(definition, (Class, Function)):
        return definition.address
    if isinstance(definition, Import):
        return (definition.target, definition.attribute)
    return _assignment(definition)


def _assignment(bound: Assignment) -> tuple[Any, ...]:
    row = (bound.ordinal, bound.path, bound.annotation, bound.annotated)
    return (*row, tuple(map(_assignment, bound.others))) if bound.others else row


def _bound(row: tuple[Any, ...]) -> Import | Assignment:
    return Import(*row) if isinstance(row[0], str) else _assigned(row)


def _assigned(row: tuple[Any, ...]) -> Assignment:
    ordinal, path, annotation, annotated, *others = row
    return Assignment(ordinal, path, annotation, annotated, tuple(map(_assigned, others[0])) if others else ())


# -- nodes ------------------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A node as a tuple: its kind, its fields, its place."""
    if isinstance(value, ast.AST):
        place = tuple(getattr(value, name, None) for name in value._attributes)
        return (type(value).__name__, tuple(plain(getattr(value, name, None)) for name in value._fields), place)
    return [plain(each) for each in value] if isinstance(value, list) else value


def node(value: Any) -> Any:
    if type(value) is tuple:
        name, fields, place = value
        made = getattr(ast, name)(*map(node, fields))
        for attribute, where in zip(made._attributes, place, strict=True):
            setattr(made, attribute, where)
        return made
    return [node(each) for each in value] if type(value) is list else value
