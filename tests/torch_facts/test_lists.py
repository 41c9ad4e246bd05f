"""What torch does is data: rules and interpreter write out few of its names."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 300


@pytest.fixture(scope="module")
def counting() -> ModuleType:
    spec = importlib.util.spec_from_file_location("count_lists", ROOT / "scripts" / "count_lists.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lists_of_names_are_few(counting: ModuleType) -> None:
    found = {path: sum(len(names) for _, names in each) for path, each in counting.count().items()}
    assert sum(found.values()) < MOST, {path: count for path, count in found.items() if count}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('A = ("sin", "cos", "exp")', 3),
        ('A = {"sin": 1, "cos": 2, "exp": 3}', 3),
        ('A = frozenset("sin cos exp".split())', 3),
        ('A = ("sin", "cos")', 0),
        ('A = ("left", "middle", "upwards")', 0),
        ('__all__ = ["sin", "cos", "exp"]', 0),
    ],
)
def test_what_is_counted(counting: ModuleType, text: str, count: int) -> None:
    assert sum(len(names) for _, names in counting.lists(ast.parse(text))) == count
