"""Nodes of a tree: positions, and what encloses them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from lintkit import ROOT

from tclint.sources import tree

FILES = [ROOT / "tclint" / "sources" / "tree.py", ROOT / "tests" / "lintkit.py", ROOT / "rules" / "_branches.py"]


def parents(root: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(root) for child in ast.iter_child_nodes(node)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_ancestors_are_found_by_position_in_a_tree_parsed_again(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    root, again = ast.parse(source), ast.parse(source)
    above = parents(root)
    decorators = {id(n) for f in ast.walk(root) for d in getattr(f, "decorator_list", ()) for n in ast.walk(d)}
    looked = 0
    for node in ast.walk(root):
        if not isinstance(node, (ast.stmt, ast.Call, ast.Attribute)) or id(node) in decorators:
            continue
        wanted: list[ast.AST] = []
        outer = above.get(node)
        while outer is not None:
            wanted.insert(0, outer)
            outer = above.get(outer)
        found = tree.ancestors(again, node)
        assert [(type(n), tree.position(n)) for n in found] == [(type(n), tree.position(n)) for n in wanted]
        looked += 1
    assert looked > 100


def test_a_node_that_is_not_there_has_no_ancestors() -> None:
    here, there = ast.parse("a = 1\nb = 2\n"), ast.parse("a = 1\nb = 2\nc = f(3)\n")
    assert tree.ancestors(here, there.body[2]) == []


def test_a_statement_is_found_in_a_long_block() -> None:
    source = "".join(f"x{i} = {i}; y{i} = [\n{i}]; z{i} = 1\n" for i in range(40))
    block, again = ast.parse(source).body, ast.parse(source)
    assert [tree.index_in(block, statement) for statement in again.body] == list(range(120))
    assert tree.ancestors(again, block[61].value)[1:] == [again.body[61]]  # type: ignore[attr-defined]
    assert tree.index_in(block[:10], again.body[50]) is None


def test_own_nodes_leave_functions_and_classes_alone() -> None:
    root = ast.parse("a = 1\ndef f(x=b):\n    c = 2\nclass D:\n    e = 3\ng = lambda: h\n")
    names = {n.id for n in tree.own(root) if isinstance(n, ast.Name)}
    assert names == {"a", "g"}
    assert {n.id for n in tree.nodes(root) if isinstance(n, ast.Name)} == {"a", "b", "c", "e", "g", "h"}


def test_nodes_are_those_of_walk_without_operators_and_contexts() -> None:
    root = ast.parse((ROOT / "tests" / "lintkit.py").read_text(encoding="utf-8"))
    skipped = (ast.operator, ast.expr_context, ast.cmpop, ast.unaryop, ast.boolop)
    assert {id(n) for n in tree.nodes(root)} == {id(n) for n in ast.walk(root) if not isinstance(n, skipped)}


BLOCKS = """
def f(a, *, b=1, c):
    global g, h
    try:
        with a as x:
            for i in {**x, "k": lambda: 1}:
                while i: break
                else: pass
    except ValueError:
        class D:
            async def m(self): await self
    else:
        match a:
            case D(p, k=q) if q: r = 1
            case {"z": w, **rest}: pass
    finally:
        if a: b
        elif c: import d as e, j
"""


@pytest.mark.parametrize("source", [BLOCKS, (ROOT / "tests" / "lintkit.py").read_text(encoding="utf-8")])
def test_holders_are_the_statements_among_the_nodes(source: str) -> None:
    root = ast.parse(source)
    kinds = (ast.mod, ast.stmt, ast.excepthandler, ast.match_case)
    every = list(tree.nodes(root))
    assert all(isinstance(node, ast.AST) for node in every), "names in lists are no nodes"
    assert list(map(id, tree.holders(root))) == [id(node) for node in every if isinstance(node, kinds)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nodes_by_kind_are_all_nodes(path: Path) -> None:
    root = ast.parse(path.read_text(encoding="utf-8"))
    for each in [n for n in ast.walk(root) if isinstance(n, tree.FUNCTIONS)]:
        for found, wanted in ((tree.kinds(each), tree.nodes(each)), (tree.own_by_kind(each), tree.own(each))):
            sorted_by_hand: dict[type[ast.AST], set[ast.AST]] = {}
            for node in wanted:
                sorted_by_hand.setdefault(type(node), set()).add(node)
            there = {kind: set(alike) - {each} for kind, alike in found.items()}
            assert {k: v for k, v in there.items() if v} == {
                k: v - {each} for k, v in sorted_by_hand.items() if v - {each}
            }
    assert not tree.by_kind(root)[ast.Nonlocal]
