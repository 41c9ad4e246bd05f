"""Dataclasses to JSON and back: what crosses to the child processes and into files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tclint.model import codec
from tclint.model.codec import Malformed


@dataclass(frozen=True)
class Leaf:
    name: str
    weight: float = 1.0


@dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf, ...]
    pairs: tuple[tuple[str, int], ...] = ()
    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    crown: Leaf | None = None


TREE = Tree((Leaf("a"), Leaf("b", 2.5)), (("x", 1),), {"m.py": (1, 2)}, Leaf("c"))


def test_there_and_back() -> None:
    assert codec.decode(Tree, json.loads(json.dumps(codec.encode(TREE)))) == TREE
    assert codec.decode(Tree, {"leaves": []}) == Tree(())


def test_unknown_keys_are_passed_over() -> None:
    assert codec.decode(Leaf, {"name": "a", "colour": "green"}) == Leaf("a")


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ([], "result: an object was expected, not list"),
        ({}, "result.leaves is missing"),
        ({"leaves": "ab"}, "result.leaves: a list was expected, not str"),
        ({"leaves": [{"name": 1}]}, r"result.leaves\[0\].name: str was expected, not int"),
        ({"leaves": [], "pairs": [["x", 1, 2]]}, r"result.pairs\[0\]: 2 items were expected, not 3"),
        ({"leaves": [], "pairs": [["x", True]]}, r"result.pairs\[0\]\[1\]: int was expected, not bool"),
        ({"leaves": [], "lines": [1]}, "result.lines: an object was expected, not list"),
    ],
)
def test_what_does_not_fit_is_named(data: object, where: str) -> None:
    with pytest.raises(Malformed, match=where):
        codec.decode(Tree, data)
