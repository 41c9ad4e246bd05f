"""TCL408: a raised recompile limit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Event, ModuleEvent
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.program import Module, dynamo_config
from tclint.ruleset.rule import Rule
from tclint.sources import roles
from tclint.sources.tree import nodes, text

_DEFAULTS = {
    "cache_size_limit": 8,
    "recompile_limit": 8,
    "accumulated_cache_size_limit": 256,
    "accumulated_recompile_limit": 256,
}


class RaisedRecompileLimit(Rule):
    """A higher recompile limit hides recompilations; it does not avoid them.

    After 8 compilations of one function Dynamo gives up and runs it eagerly, with a warning that names the guard
    that failed. A higher limit turns that into more compilations, each of seconds or minutes, and a longer list of
    guards to check at each call. The limit is a count of programs, not a size in memory.

    Bad::

        torch._dynamo.config.cache_size_limit = 64

    Good::

        torch._dynamo.config.error_on_recompile = True  # while looking for the cause

    Fix: run with `TORCH_LOGS=recompiles` and remove the cause: mark the size dynamic, pad, or make the value a
    tensor. `--unsafe-fixes` takes the statement out, unless a comment beside it gives the reason: wrong where that many
    programs are meant.

    Ignore it where the number of programs is known and bounded, such as one for each of sixteen buckets. Where a comment
    above the statement says so in a sentence, the confidence is low. Tests, benchmarks and examples are left alone: they
    compile many programs in one process on purpose.
    """

    code, name = "TCL408", "raised-recompile-limit"
    effect, severity = Effect.SLOW, Severity.LOW
    triggers = (b"cache_size_limit", b"recompile_limit")

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        if roles.tries(event.module.path):
            return  # many programs in one process is what tests and benchmarks are for
        aliases = dynamo_config.names(event.node)
        saved = _saved(event.node, aliases)
        handled = {part for each in nodes(event.node) if isinstance(each, ast.ExceptHandler) for part in nodes(each)}
        for node in nodes(event.node):
            if node in handled:
                continue  # what is done for other releases of torch, where the name of this one is not there
            for name, value, where in dynamo_config.settings(node, aliases):
                if name not in _DEFAULTS or (isinstance(value, ast.Name) and value.id in saved):
                    continue
                numbers = _numbers(event, value)
                if not numbers or max(numbers) <= _DEFAULTS[name]:
                    continue  # the usual limit, or one that somebody else says
                to = f" to {text(value)}" if isinstance(value, (ast.Constant, ast.Name, ast.Attribute)) else ""
                yield self.finding(
                    event,
                    f"`{name}` is raised{to} (default {_DEFAULTS[name]}): it hides recompilations",
                    node=where,
                    confidence=Confidence.LOW if _is_reasoned(event, where) else Confidence.HIGH,
                    help="find the guard that fails with TORCH_LOGS=recompiles",
                )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """Without the statement, the limit is what it was."""
        node = node_at(event, finding.span, ast.Assign)
        if node is None:
            return None
        place = Place(event, node)
        if place.is_explained(node.lineno, node.end_lineno or node.lineno):
            return None
        tree = event.module.tree
        if {text(target).rpartition(".")[2] for target in node.targets} & {
            *_saved(tree, dynamo_config.names(tree)).values()
        }:
            return None  # for a while, and put back: that is meant
        edit = place.remove(node)
        note = "past the limit a function runs eagerly, and Dynamo says so: wrong where that many programs are meant"
        return Fix("leave the limit as it is", Applicability.UNSAFE, (edit,), note) if edit is not None else None


def _is_reasoned(event: ModuleEvent, node: ast.AST) -> bool:
    """Whether a comment says why above a statement, or above those that set limits with it."""
    place = Place(event, node)
    first = node.lineno  # type: ignore[attr-defined]
    last = getattr(node, "end_lineno", None) or first
    while first > 1 and (above := place.lines[first - 2].strip()) and not above.startswith("#") and "_limit" in above:
        first -= 1
    return place.is_reasoned(first, last)


def _numbers(event: ModuleEvent, value: ast.expr | None, depth: int = 2) -> list[int]:
    """The numbers that a limit is made of: `max(limit, 16)`, `least` where `least = 12 if deep else 10` stands further up."""
    found: list[int] = []
    for part in nodes(value) if value is not None else ():
        number = _number(part) if isinstance(part, ast.Constant) else None
        if isinstance(part, ast.Attribute):
            number = event.ask.of_file(_fields).get(part.attr)
        elif isinstance(part, ast.Name) and depth:
            for bound in event.ask.of_file(_bound).get(part.id, ()):
                found += _numbers(event, bound, depth - 1)
        found += [number] if number is not None else []
    return found


def _bound(module: Module) -> dict[str, list[ast.expr]]:
    """What a file assigns to names, in functions and outside."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes(module.tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def _number(value: ast.expr | None) -> int | None:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) else None


def _fields(module: Module) -> dict[str, int | None]:
    """The numbers that settings have unless somebody sets them: `limit: int = 8` in a class. None where classes differ."""
    found: dict[str, int | None] = {}
    for cls in (node for node in nodes(module.tree) if isinstance(node, ast.ClassDef)):
        for field in cls.body:
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                number = _number(field.value)
                name = field.target.id
                found[name] = number if found.get(name, number) == number else None
    return found


def _saved(tree: ast.Module, aliases: set[str]) -> dict[str, str]:
    """The names that keep the limit as it was, and of which setting: to set it back raises nothing."""
    assigned = (node for node in nodes(tree) if isinstance(node, ast.Assign))
    return {
        target.id: node.value.attr
        for node in assigned
        for target in node.targets
        if isinstance(target, ast.Name)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr in _DEFAULTS
        and text(node.value.value) in aliases
    }
