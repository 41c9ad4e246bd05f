"""Facts about whole files, kept by what a file holds: who asks for one again need not parse the file for it.

That is for facts that say all they say in plain values and a few expressions, and that follow from their file alone. Most say of
most files that there is nothing, and to see that took a tree.
"""

from __future__ import annotations

import ast
import marshal
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tclint.program import kept_index

if TYPE_CHECKING:
    from tclint.program.module import Module

Facts = Mapping[str, bytes]
"""By the name of what makes them, what some facts about a file come to."""

_MOST: Final = 20_000
"""Bytes of a fact: what says more is nearly the file, and is made again."""
_PLAIN: Final = frozenset({bool, int, float, complex, str, bytes, type(None)})


def is_found_again(build: Callable[..., Any]) -> bool:
    """Whether a later process finds this function by its name, and none but this one."""
    return getattr(sys.modules.get(build.__module__), build.__qualname__, None) is build


def recalled(module: Module, name: str) -> tuple[Any] | None:
    """What a fact came to in an earlier run; None where nobody knows."""
    data = _known(module).get(name)
    return (_read(marshal.loads(data)),) if data is not None else None


def keep(module: Module, name: str, value: Any) -> None:
    """Keep what a fact comes to, if plain values and expressions say all of it."""
    indexes = module.program.indexes
    if indexes is None or module.problem is not None:
        return
    try:
        data = marshal.dumps(_written(value))
    except ValueError:
        return
    if len(data) <= _MOST:
        module.facts = {**_known(module), name: data}
        indexes.keep_facts(module, module.facts)


def _known(module: Module) -> Facts:
    if module.facts is None:
        indexes = module.program.indexes
        module.facts = indexes.facts(module) if indexes is not None else {}
    return module.facts


def _written(value: Any) -> Any:
    """A value as plain ones: what is no plain value by itself is a pair of its kind and what it holds. `ValueError` of any other."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is dict:
        return ("dict", [(_written(key), _written(held)) for key, held in value.items()])
    if kind in (tuple, list, set, frozenset):
        return (kind.__name__, [_written(each) for each in value])
    if isinstance(value, ast.expr):
        return ("node", kept_index.plain(value))
    raise ValueError(f"cannot keep {kind}")


def _read(value: Any) -> Any:
    """The value that was written."""
    if type(value) is not tuple:
        return value
    kind, held = value
    if kind == "node":
        return kept_index.node(held)
    if kind == "dict":
        return {_read(key): _read(each) for key, each in held}
    made = [_read(each) for each in held]
    return made if kind == "list" else _KINDS[kind](made)


_KINDS: Final = {"tuple": tuple, "set": set, "frozenset": frozenset}
