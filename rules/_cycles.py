"""What holds itself and is no list: a tuple with a list in it to which the tuple is added. It cannot be made again for a caller."""

from __future__ import annotations

import ast
from typing import Final

from tclint.events import Return
from tclint.program import Function
from tclint.rules._scope import stores
from tclint.sources.tree import holders, nodes
from tclint.torch_facts import facts

FEATURE: Final = "return of a tuple that holds itself"
_ADDS: Final = facts.named("adds a value to a sequence")


def of_return(event: Return) -> str | None:
    """Whether what is returned is, or has in it, such a tuple."""
    given = event.node.value if isinstance(event.node, ast.Return) else None
    parts = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
    held = event.ask.of_function(_holding_themselves)
    return FEATURE if any(isinstance(each, ast.Name) and each.id in held for each in parts) else None


def _holding_themselves(function: Function) -> frozenset[str]:
    """The names that are bound once, to a tuple of names, one of which is a list that the tuple is added to."""
    made: dict[str, frozenset[str]] = {}
    for each in holders(function.node):
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Tuple) and isinstance(each.targets[0], ast.Name):
            if function.index(stores)[each.targets[0].id] == 1:
                parts = frozenset(part.id for part in each.value.elts if isinstance(part, ast.Name))
                made[each.targets[0].id] = parts
    added: set[tuple[str, str]] = set()
    for each in nodes(function.node) if made else ():
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _ADDS:
            for given in each.args:
                if isinstance(given, ast.Name) and isinstance(each.func.value, ast.Name):
                    added.add((each.func.value.id, given.id))
    return frozenset(name for name, parts in made.items() if any((p, name) in added for p in parts))
