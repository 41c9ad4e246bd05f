"""An index that was kept says what an index that is made says, and nothing is parsed for it."""

from __future__ import annotations

import ast
import marshal
from pathlib import Path

import pytest
from lintkit import ROOT

from tclint.program import Assignment, Class, Function, Import, Module, Program, kept_facts, kept_index, module

FILES = sorted(
    path
    for folder, names in (
        ("tclint/program", "*.py"),
        ("tests/program", "*.py"),
        ("fixtures/demo", "**/*.py"),
        ("fixtures/rules", "TCL1*/bad_*.py"),
    )
    for path in (ROOT / folder).glob(names)
)
ODD = b'''\
"""Odd."""
import os.path
from . import near as far
from .x import *
a, (b, *c) = 1, (2, 3)
d: int
e: "str" = "x"
if a:
    def f(): ...
else:
    f = None
@decorated(1, key=[...], *more, text=b"\\xff", number=2j)
@f
class C(f, far.B[int], metaclass=M):
    x: int = 3
    y = z = 4
    class Inner(C):
        def g(self): ...
    @property
    def p(self): ...
    @p.setter
    def p(self, value): ...
    def g(self):
        global a, d
        def inner(): ...
def f(): ...
class C: pass
'''


class Kept:
    """What is kept, as it comes back from the disk."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}

    def recall(self, module: Module) -> kept_index.Kept | None:
        found = self.known.get(module.path)
        return marshal.loads(found) if found is not None else None

    def keep(self, module: Module, kept: kept_index.Kept) -> None:
        self.known[module.path] = marshal.dumps(kept)

    def facts(self, module: Module) -> kept_facts.Facts:
        return {}

    def keep_facts(self, module: Module, facts: kept_facts.Facts) -> None:
        pass


def program(kept: Kept | None, data: bytes, path: str = "pkg/m.py") -> Module:
    made = Program.build([(path, f"/root/{path}", data, True), ("pkg/__init__.py", "/root/pkg/__init__.py", b"", True)])
    made.indexes = kept
    return made.by_path[path]


def said(module: Module) -> object:
    """All that an index says of a file."""

    def definition(each: object) -> object:
        if isinstance(each, Import):
            return (each.target, each.attribute)
        if isinstance(each, Assignment):
            return (each.ordinal, each.path, each.annotation, each.annotated)
        assert isinstance(each, (Class, Function))
        return (type(each).__name__, each.address)

    def names(held: dict[str, object]) -> object:
        return [(name, definition(each)) for name, each in held.items()]

    index = module.indexed_again()
    classes = [
        (c.name, c.qualname, c.ordinal, c.address, names({**c.methods}), names({**c.assignments}), ast.dump(_head(c)))
        for c in module.classes
    ]
    functions = [
        (
            *(f.name, f.qualname, f.cls.address if f.cls else None, f.ordinal, f.line, f.address, f.place, f.is_method),
            *(ast.dump(mark, include_attributes=True) for mark in f.decorators),
        )
        for f in module.functions
    ]
    rest = (index.spans, index.outline, index.statements, sorted(module.rebound), module.stars)
    by_number = {number: function.address for number, function in index.by_ordinal.items()}
    return classes, functions, names({**module.names}), rest, by_number, sorted(index.by_address)


def _head(cls: Class) -> ast.ClassDef:
    node = cls.node
    fields = {name: getattr(node, name) for name in node._fields if name != "body"}
    return ast.ClassDef(**fields, body=[])


@pytest.mark.parametrize("data", [ODD, *(path.read_bytes() for path in FILES)])
def test_it_says_the_same(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    made = program(kept, data)
    made.names  # noqa: B018
    parsed: list[str] = []
    original = module.parse
    monkeypatch.setattr(module, "parse", lambda path, text: parsed.append(path) or original(path, text))
    again = program(kept, data)
    again.names  # noqa: B018
    assert again.rebound == made.rebound
    assert parsed == []
    assert said(again) == said(made) == said(program(None, data))


def test_what_was_promised_is_filled_in() -> None:
    kept = Kept()
    program(kept, ODD).names  # noqa: B018
    again = program(kept, ODD)
    cls, method = again.class_at("C"), again.function_at("C.g")
    assert method.cls is cls
    assert again.named("C") is not cls, "the second one of that name"
    assert cls.methods["g"] is method
    assert [type(each) for each in method.node.body] == [ast.Global, ast.FunctionDef]
    assert [base.id for base in cls.node.bases if isinstance(base, ast.Name)] == ["f"]


def test_of_a_file_that_cannot_be_parsed_none_is_kept() -> None:
    kept = Kept()
    broken = program(kept, b"def f(:\n")
    assert broken.names == {}
    assert broken.problem is not None
    assert kept.known == {}


def test_where_it_stands_counts(tmp_path: Path) -> None:
    """Lines and columns of heads and decorators are those of the file."""
    kept = Kept()
    made = program(kept, ODD)
    made.names  # noqa: B018
    again = program(kept, ODD)
    for address in ("C", "C.Inner"):
        head, same = again.class_at(address).node, made.class_at(address).node
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            assert getattr(head, name) == getattr(same, name)
            assert [getattr(b, name) for b in head.bases] == [getattr(b, name) for b in same.bases]
