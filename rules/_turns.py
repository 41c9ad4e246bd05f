"""The turns of a loop: whether they draw numbers, and whether they end."""

from __future__ import annotations

import ast
from typing import Final

from tclint.fixes.places import Place
from tclint.torch_facts import facts
from tclint.values import Const, External

_DRAWS: Final = frozenset(facts.named("draws from a generator"))
_ENDLESS: Final = frozenset(facts.named("never ends"))
_ITER: Final = frozenset({"builtins.iter"})
MOST: Final = 100
"""Turns: Dynamo writes each of them into the graph."""


def draws(place: Place, loop: ast.For | ast.While) -> bool:
    """Whether turns draw numbers: those that are made beyond the end would draw more of them."""
    return any(isinstance(n, ast.Call) and _is_named(place, n, _DRAWS) for n in ast.walk(loop))


def is_endless(place: Place, turns: ast.expr) -> bool:
    """Whether a loop would never end by itself, or has more turns than anybody wants in a graph."""
    calls = [n for n in ast.walk(turns) if isinstance(n, ast.Call)]
    if any(
        _is_named(place, call, _ENDLESS) or (_is_named(place, call, _ITER) and len(call.args) > 1) for call in calls
    ):
        return True
    numbers = [place.event.ask.evaluate(argument) for call in calls for argument in call.args]
    return any(isinstance(n, Const) and type(n.value) is int and n.value > MOST for n in numbers)


def _is_named(place: Place, call: ast.Call, names: frozenset[str]) -> bool:
    known = place.event.ask.evaluate(call.func)
    return isinstance(known, External) and known.name in names
