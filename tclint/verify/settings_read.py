"""What a file's text says of the settings that it reads: which hold others, and what they are compared with."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from tclint.verify import guess

TEXT = frozenset({"endswith", "startswith", "lower", "upper", "strip", "split", "replace", "format", "removesuffix"})
_PLAIN = frozenset(dir(str)) | frozenset(dir(list)) | frozenset(dir(dict)) | {"shape", "dtype", "device"}
"""What is asked of a text, a list, a dict: its holder is no object with settings of its own."""


@dataclass(frozen=True)
class Read:
    """The attributes that a file reads, of whatever object."""

    holders: frozenset[str] = frozenset()
    """Those of which attributes are read in turn: `cfg.data.width`."""
    compared: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """Constants that one is compared with, looked for in or looked up by."""
    counted: frozenset[str] = frozenset()
    """Those that are iterated, subscripted or measured."""
    tested: frozenset[str] = frozenset()
    """Those that only decide something: `if cfg.gated`."""
    mapped: frozenset[str] = frozenset()
    """Those that are asked for their items or keys."""
    texts: frozenset[str] = frozenset()
    """Those that are asked for what only a text has."""

    def value(self, name: str) -> object:
        """A plain value for a setting that its name says nothing of."""
        if known := self.compared.get(name):
            return known[0]
        if name in self.texts:
            return guess.word_for(name) or "default"
        if name in self.mapped:
            return {"a": 0, "b": 1}
        if name in self.tested:
            return False
        if name in self.counted:
            return [guess.number_for(name.removesuffix("s")) or 4] * 2
        return 4


def joined(reads: Iterable[Read]) -> Read:
    """What several files do together; where they disagree, the first one is right."""
    found = list(reads)
    compared: dict[str, tuple[object, ...]] = {}
    for read in found:
        for name, values in read.compared.items():
            compared.setdefault(name, values)
    sets = ("holders", "counted", "tested", "mapped", "texts")
    return Read(compared=compared, **{name: frozenset().union(*(getattr(r, name) for r in found)) for name in sets})


@lru_cache(maxsize=1024)
def read_in(text: str, name: str) -> Read:
    """What a text does with the attributes of `name`, and of whatever is called like a configuration."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return Read()
    holders: set[str] = set()
    counted: set[str] = set()
    tested: set[str] = set()
    mapped: set[str] = set()
    texts: set[str] = set()
    compared: dict[str, dict[object, None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and _is_setting(node.value, name):
            if node.attr not in _PLAIN:
                holders.add(node.value.attr)
            elif node.attr in ("items", "keys", "values", "get"):
                mapped.add(node.value.attr)
            elif node.attr in TEXT:
                texts.add(node.value.attr)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            for left, right in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
                if isinstance(left, ast.Attribute) and isinstance(node.ops[0], (ast.Eq, ast.In)):
                    compared.setdefault(left.attr, {}).update(dict.fromkeys(_constants(right)))
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, ast.Attribute):
            counted.add(node.iter.attr)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            counted.add(node.value.attr)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("len", "zip", "enumerate")
        ):
            counted |= {argument.attr for argument in node.args if isinstance(argument, ast.Attribute)}
        elif isinstance(node, (ast.If, ast.IfExp)) and isinstance(node.test, ast.Attribute):
            tested.add(node.test.attr)
    known = {attribute: tuple(values) for attribute, values in compared.items() if values}
    return Read(frozenset(holders), known, frozenset(counted), frozenset(tested), frozenset(mapped), frozenset(texts))


def _is_setting(node: ast.Attribute, wanted: str) -> bool:
    """`cfg.data`, `self.cfg.data`: an attribute of what is asked about, or of what is called like a configuration."""
    holder = node.value
    name = holder.attr if isinstance(holder, ast.Attribute) else holder.id if isinstance(holder, ast.Name) else ""
    return (
        name == wanted or guess.is_config(name) or (isinstance(holder, ast.Attribute) and _is_setting(holder, wanted))
    )


def _constants(node: ast.expr) -> list[object]:
    items = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    return [i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, (str, int, float))]
