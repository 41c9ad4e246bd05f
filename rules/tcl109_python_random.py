"""TCL109: Python's and numpy's random numbers in compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event
from tclint.fixes.places import Place
from tclint.fixes.recipes import display
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import features
from tclint.values import Object

_READS_NUMBER: Final = "GB0033"
_STREAM: Final = "use_numpy_random_stream"
_TITLE: Final = "draw with random.uniform(0, 1)"


class PythonRandom(Rule):
    """`random.random()`, `np.random.rand()` and their kin end the graph.

    Up to torch 2.13 Dynamo traces `random.randint`, `random.randrange` and `random.uniform` and nothing else of `random`,
    since 2.14 also `random.random` and `random.seed`; of `numpy.random` only array-valued draws, whose values then break as soon as Python looks at them. Drawing with torch on the device keeps
    the graph, as long as no `if` asks for the value (TCL101).

    Bad::

        def f(x):
            return x * random.random()

    Good::

        def f(x):
            return x * torch.rand((), device=x.device)

    Fix: draw with `torch.rand`, or draw in the caller and pass the number. Seeds and streams differ: results change, so
    that is not applied by itself. `--fix` writes `random.uniform(0, 1)` for `random.random()` where that is enough: the
    same number of the same stream, which Dynamo hands to the graph.
    """

    code, name = "TCL109", "python-random"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    elsewhere = "draw there and pass the number"
    graph_breaks = ("GB0007", "GB0294", "GB0033", "GB0087", "GB0297", "GB0156", "GB0298")
    by_facts = True
    calls = ("random.*", "numpy.random.*", "secrets.*")
    owns = calls

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        owner = event.receiver.name if isinstance(event.receiver, Object) else ""
        asked = f"{event.method}() of a {owner}"
        if asked in features.table().features and features.broken(asked, self.release) is None:
            return  # drawn in the graph: a branch on the number is told where it stands
        if event.configured(_STREAM) and name.startswith("numpy."):
            yield self.finding(
                event,
                f"`{name}` with `{_STREAM}` switched on; Dynamo breaks the graph here{whole_frame(event)}",
                confidence=Confidence.HIGH,
                graph_breaks=self.ids("GB0298"),
                help=f"leave `torch._dynamo.config.{_STREAM}` off: numpy's numbers are then drawn by torch, or draw in the caller",
            )
            return
        verdict = self.verdict(event)
        seeded_by_keyword = name == "random.Random" and event.keywords
        if verdict is None or verdict.breaks == "never" and not seeded_by_keyword:
            return
        if verdict.breaks == "sometimes" and not name.startswith("numpy."):
            return
        if "size" in event.keywords and verdict.id == _READS_NUMBER:
            return  # an array is traced
        yield self.finding(
            event,
            f"`{name}` in compiled code; Dynamo breaks the graph here{whole_frame(event)}{self.span(event)}",
            confidence=Confidence.HIGH,
            help="draw with torch.rand on the device, or draw in the caller and pass the value",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Call) and event.name == "random.random" and (found := _uniform(event)) is not None:
            return found
        note = "the random stream changes; an `if` on the number still breaks the graph"
        return display("draw with torch.rand((), device=x.device), or draw in the caller and pass the number", note)


def _uniform(event: Call) -> Fix | None:
    """`random.uniform(0, 1)` for `random.random()`: it multiplies that number by one and adds nothing."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Call) or node.args or node.keywords or event.receiver is not None:
        return None
    func = node.func
    if isinstance(func, ast.Name):
        return _uniform_by_name(place, func)
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
        return None
    edit = place.replace(node, f"{place.source(func.value)}.uniform(0, 1)")
    return Fix(_TITLE, Applicability.SAFE, (edit,), "")


def _uniform_by_name(place: Place, func: ast.Name) -> Fix | None:
    """The same where the file has `from random import random`: it imports both, where the other name is free."""
    imports = [
        s for s in place.module.tree.body if isinstance(s, ast.ImportFrom) and s.module == "random" and not s.level
    ]
    names = [alias for statement in imports for alias in statement.names]
    own = next((alias for alias in names if alias.name == "random" and (alias.asname or alias.name) == func.id), None)
    known = any(alias.name == "uniform" and alias.asname is None for alias in names)
    taken = "uniform" in uses_in(place.function).bound or ("uniform" in place.module.names and not known)
    if own is None or taken:
        return None
    added = () if known else (place.replace(own, f"{place.source(own)}, uniform"),)
    return Fix(_TITLE, Applicability.SAFE, (*added, place.replace(place.node, "uniform(0, 1)")), "")
