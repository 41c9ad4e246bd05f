"""A fact that was kept says what a fact that is made says, and no tree is made for it."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tclint.program import Module, Program, kept_facts
from tclint.program.kept_facts import Facts

SOURCE = b"import os\nTABLE = {'a': 1}\n\n\ndef f(x):\n    return x\n"


class Kept:
    """What is kept of one file, by what it holds."""

    def __init__(self) -> None:
        self.known: Facts = {}

    def recall(self, module: Module) -> None:
        return None

    def keep(self, module: Module, kept: object) -> None:
        pass

    def facts(self, module: Module) -> Facts:
        return self.known

    def keep_facts(self, module: Module, facts: Facts) -> None:
        self.known = facts


def names(module: Module) -> dict[str, tuple[int, ...]]:
    made.append(module.path)
    return {node.name: (node.lineno,) for node in module.tree.body if isinstance(node, ast.FunctionDef)}


def values(module: Module) -> list[ast.expr]:
    made.append(module.path)
    return [node.value for node in module.tree.body if isinstance(node, ast.Assign)]


def statements(module: Module) -> list[ast.stmt]:
    made.append(module.path)
    return module.tree.body


def length(module: Module) -> int:
    made.append(module.path)
    return len(module.data)


def beside(module: Module) -> int:
    made.append(module.path)
    other = module.program.by_path["b.py"]
    return len(module.tree.body) + len(other.tree.body)


made: list[str] = []
"""The files of which a fact was made."""


def program(kept: Kept, source: bytes = SOURCE) -> Program:
    found = Program.build([("a.py", "/p/a.py", source, True), ("b.py", "/p/b.py", b"x = 1\n", True)])
    found.indexes = kept
    made.clear()
    return found


@pytest.mark.parametrize("fact", [names, values])
def test_a_fact_is_kept_with_all_it_says(fact: Any) -> None:
    kept = Kept()
    first = program(kept).by_path["a.py"].index(fact)
    assert made == ["a.py"]
    again = program(kept)
    with again.watched() as touched:
        second = again.by_path["a.py"].index(fact)
    assert not made
    assert again.by_path["a.py"]._tree is None
    assert type(first) is type(second)
    assert shown(first) == shown(second)
    assert [type(each).__name__ for each in touched] == ["Fact"]


def shown(value: Any) -> str:
    return repr([ast.dump(each, include_attributes=True) if isinstance(each, ast.AST) else (each,) for each in value])


@pytest.mark.parametrize(
    "fact", [pytest.param(statements, id="of statements"), pytest.param(length, id="no tree"), beside]
)
def test_what_is_not_kept_is_made_again(fact: Any) -> None:
    kept = Kept()
    program(kept).by_path["a.py"].index(fact)
    assert not kept.known
    program(kept).by_path["a.py"].index(fact)
    assert made == ["a.py"]


def test_of_a_file_that_cannot_be_parsed_nothing_is_kept() -> None:
    kept = Kept()
    assert program(kept, b"def f(:\n").by_path["a.py"].index(names) == {}
    assert not kept.known


def test_a_function_that_has_another_one_s_name_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_facts.is_found_again(names)
    own = names
    monkeypatch.setitem(globals(), "names", values)
    assert not kept_facts.is_found_again(own)
