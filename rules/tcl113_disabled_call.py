"""TCL113: leaving the region on purpose."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event
from tclint.fixes.places import Place
from tclint.fixes.recipes import compute_at_import, remove_statement, skip_while_compiling
from tclint.model.finding import Applicability, Confidence, Edit, Effect, Finding, Fix, Severity, Span
from tclint.program import Function
from tclint.ruleset.rule import Rule, whole_frame
from tclint.sources import roles
from tclint.sources.tree import text
from tclint.torch_facts import facts
from tclint.values import FunctionValue, Object

_DONE = facts.methods("is done for an optimizer by Dynamo itself")


class DisabledCall(Rule):
    """A call of a function under `torch.compiler.disable`, or of `graph_break()`, ends the graph on purpose.

    One deliberate break at the edge of the hot path is a design decision; one in every layer is a cost at every layer.
    Under `fullgraph=True` it is an error.

    Bad::

        @torch.compiler.disable
        def lookup(x):
            return x.flip(0)

        def f(x):
            return lookup(x + 1) * 2

    Good::

        def lookup(x):
            return x.flip(0)

        def f(x):
            return lookup(x + 1) * 2

    Fix: keep the disabled part in the eager caller and compile a tensor-only core; or make it a
    `torch.library.custom_op`. `--unsafe-fixes` removes a deliberate `graph_break()`, and the decorator of a disabled
    function in whose code there is no other hazard, unless a comment gives the reason: wrong where it works around a
    compiler fault.

    Ignore it where the break is what you want. A `graph_break()` in a test is taken for that, and told with low confidence.
    """

    code, name = "TCL113", "disabled-call"
    effect, severity = Effect.GRAPH_BREAK, Severity.LOW
    graph_breaks = ("GB0098", "GB0099", "GB0025", "GB0030", "GB4297", "GB4636", "GB0007", "GB0223")
    calls = ("disabled", *facts.named("speaks to the compiler"))
    owns = ("torch._dynamo.*", "torch.compiler.*")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name == "disabled":
            if _is_of_optimizer(event):
                return
            what = "a function under `torch.compiler.disable` is called"
        else:
            what = f"`{event.name}` is called"
        if "comptime" in event.name and event.method not in ("graph_break",):
            return
        on_purpose = event.name == "torch._dynamo.graph_break" and roles.is_test(event.module.path)
        fullgraph = event.site is not None and event.site.fullgraph is True
        yield self.finding(
            event,
            f"{what}; Dynamo breaks the graph here{whole_frame(event)}",
            confidence=Confidence.LOW if on_purpose else Confidence.HIGH,
            severity=Severity.HIGH if fullgraph else Severity.LOW,
            help="keep it in the eager caller, or make it a torch.library.custom_op",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        assert isinstance(event, Call)
        if event.method in ("graph_break", "skip_frame", "step_unsupported"):
            return remove_statement(
                event, event.node, "remove the deliberate break", "somebody put it there for a reason"
            )
        if event.method == "cudagraph_mark_step_begin":
            return skip_while_compiling(
                event, event.node, "the step is no longer marked here: mark it in the eager caller"
            )
        if event.method == "allow_in_graph" and isinstance(event.node, ast.Call):
            return compute_at_import(event, event.node, "asked once, when the file is imported")
        return _enabled(event) if event.name == "disabled" else None


def _is_of_optimizer(event: Call) -> bool:
    """Whether an optimizer calls on itself what Dynamo does for it: `self._init_group(…)`."""
    func = event.node.func if isinstance(event.node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr not in _DONE or event.cls is None:
        return False
    return text(func.value) == "self" and event.ask.external_base(event.cls).startswith("torch.optim.")


def _enabled(event: Call) -> Fix | None:
    """The decorator that disables a function of the file, taken away."""
    disabled = event.receiver
    target = disabled.args if isinstance(disabled, Object) else None
    if not isinstance(target, FunctionValue) or target.function.module.path != event.module.path:
        return None
    place = Place(event, target.function.node)
    found = [d for d in target.function.decorators if _disables(place, d)]
    if len(found) != 1:
        return None
    decorator = found[0]
    first, last = decorator.lineno, decorator.end_lineno or decorator.lineno
    if not place.lines[first - 1].lstrip().startswith("@") or _is_explained(event, place, target.function):
        return None
    edit = Edit(place.path, Span(first, 1, last + 1, 1), "")
    note = "somebody put it there for a reason: wrong where the function cannot be traced, or only works in eager mode"
    return Fix(f"let Dynamo trace `{target.function.name}`", Applicability.UNSAFE, (edit,), note)


def _is_explained(event: Call, place: Place, function: Function) -> bool:
    """Whether a comment gives the reason: where the function begins, or where it is called."""
    node = function.node
    first = min(decorator.lineno for decorator in function.decorators)
    call = Place(event).statement
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return place.is_explained(first, node.body[0].lineno - 1) or (
        call is not None and place.is_explained(call.lineno, call.lineno)
    )


def _disables(place: Place, decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return place.source(called).rpartition(".")[2] == "disable"
