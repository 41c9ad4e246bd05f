"""Values and the rooms of the interpreter import each other in one direction only."""

from __future__ import annotations

from functools import cache

import pytest
from test_imports import imports, modules

ROOMS = ("tclint.values", "tclint.interpreter")
# The parts an interpreter is made of reach each other through it.
PARTS = ("attributes", "classes", "emitter", "entries", "functions", "names", "objects", "sites")
# What `functions` needs of `sites` is a plain function of a frame.
ALLOWED = {("functions", "sites")}
PATHS = dict(modules())


def owner(dotted: str) -> str:
    """The module that an imported name is in."""
    while dotted and dotted not in PATHS:
        dotted = dotted.rpartition(".")[0]
    return dotted


@cache
def imported(name: str) -> set[str]:
    """The modules that a module runs when it is imported."""
    path = PATHS.get(name)
    return {owner(dotted) for _, dotted, running in imports(name, path) if running} - {name, ""} if path else set()


def reached(start: str) -> dict[str, str]:
    """Every module that a module imports, directly or not, and who imports it on the way."""
    seen: dict[str, str] = {}
    pending = [start]
    while pending:
        name = pending.pop()
        for other in sorted(imported(name)):
            if other not in seen:
                seen[other] = name
                pending.append(other)
    return seen


@pytest.mark.parametrize("name", [name for name in PATHS if name.startswith(ROOMS)])
def test_no_module_leads_back_to_itself(name: str) -> None:
    seen = reached(name)
    circle = [name]
    while name in seen and (len(circle) == 1 or circle[-1] != name):
        circle.append(seen[circle[-1]])
    assert name not in seen, " <- ".join(circle)


def test_values_need_nothing_of_the_interpreter() -> None:
    for name in PATHS:
        if name.startswith("tclint.values"):
            assert not [other for other in reached(name) if other.startswith(("tclint.interpreter", "tclint.events"))]


def test_models_do_not_need_expressions() -> None:
    for name in PATHS:
        if name.startswith("tclint.interpreter.models"):
            assert not [other for other in reached(name) if other.startswith("tclint.interpreter.expressions")]


def test_the_parts_of_the_interpreter_do_not_import_each_other() -> None:
    places = {f"tclint.interpreter.{part}": part for part in PARTS}
    crossing = {(places[name], places[other]) for name in places for other in imported(name) if other in places}
    assert crossing <= ALLOWED
    within = [name for name in PATHS if name.startswith("tclint.interpreter.")]
    assert not [name for name in within if "tclint.interpreter.machine" in imported(name)]
