"""TCL204: float arguments that an operation specialises on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event, Operation, Store, variation
from tclint.fixes.recipes import display
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rules._scope import argument
from tclint.rules._state import changing
from tclint.ruleset.rule import Rule
from tclint.torch_facts import calls as asked
from tclint.torch_facts.facts import Places
from tclint.values import Const, Scalar, Tensor, Value

_MORE: Final = {"builtins.int": Places((0,), ()), "builtins.round": Places((0,), ())}
"""Conversions, which the asking gave no float that varies."""
_OPERATORS: Final = {"Pow": "**", "Mod": "%", "FloorDiv": "//", "Sub": "-"}
"""Between a tensor and a float; `-` where the float stands on the left."""


class FloatSpecialised(Rule):
    """A float argument used outside plain arithmetic: one compilation for every new value.

    A float that is only added, subtracted, multiplied, divided or compared becomes a graph input after one recompile.
    `clamp(max=f)`, `torch.full(…, f)`, `torch.tensor(f)`, `x ** f`, attention's `scale`, dropout's `p`, the `delta` of a loss,
    `math.exp(f)`, `int(f)` burn it into the graph. The same holds for an attribute, a captured or a module-level variable
    that other code sets anew.

    Bad::

        @torch.compile
        def squash(x, limit: float):
            return x.clamp(max=limit)

        def train(x):
            return squash(x, 0.5), squash(x, 0.6), squash(x, 0.7)

    Good::

        @torch.compile
        def squash(x, limit: torch.Tensor):
            return torch.minimum(x, limit)

        def train(x):
            return squash(x, torch.tensor(0.5)), squash(x, torch.tensor(0.6)), squash(x, torch.tensor(0.7))

    Fix: pass a 0-d tensor; compute `math.exp(t)` in the caller and pass the result. Not applied by itself: the callers
    change too.

    The confidence is high where the calls in sight pass three or more values, low where only the signature is known.
    """

    code, name = "TCL204", "float-specialised"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    calls = (*asked.burned("float"), *_MORE)

    def on_call(self, event: Call) -> Iterator[Finding]:
        places = _MORE.get(event.name) or asked.burned("float", self.release).get(event.name)
        if places is None:
            return
        values = [(event.args[i], argument(event.node, "", i)) for i in places.within(len(event.args))]
        values += [(event.keywords[n], argument(event.node, n)) for n in places.keywords if n in event.keywords]
        short = event.name.removeprefix("builtins.").removeprefix("torch.nn.functional.")
        for value, node in values:
            yield from self._check(event, short, value, node)

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        node = event.node
        if event.operator in _OPERATORS and isinstance(node, ast.BinOp):
            tensor_first = isinstance(event.left, Tensor)
            value, place = (event.right, node.right) if tensor_first else (event.left, node.left)
            yield from self._check(event, _OPERATORS[event.operator], value, place)

    def on_store(self, event: Store) -> Iterator[Finding]:
        """`x[mask] = value`"""
        if event.target == "subscript" and isinstance(event.receiver, Tensor) and isinstance(event.node, ast.Assign):
            yield from self._check(event, "[…] =", event.value, event.node.value)

    def _check(self, event: Event, what: str, value: Value, node: ast.expr | None) -> Iterator[Finding]:
        said = ""
        known = isinstance(value, Const) and isinstance(value.value, float)
        if not known and not (isinstance(value, Scalar) and value.type in ("float", "number")):
            return
        if isinstance(value, Scalar) and value.source == "arg":
            if self._is_symbol(event, value):
                return
            confidence, said = variation.burned(event, value)
            name = value.ref[0] if value.ref else "the argument"
        elif isinstance(value, Scalar) and value.source == "data":
            if node is None or event.ask.runs_eagerly() or not (what.startswith("math.") or _resumed(event, value)):
                return  # reading it breaks the graph, which TCL103 says; in a loop what follows is not compiled
            name, confidence = ast.unparse(node), Confidence.MEDIUM
        else:
            changed = changing(event, node) if node is not None and not isinstance(node, ast.Constant) else None
            if changed is None:
                return
            name, said, confidence = changed[0], changed[1].said, Confidence.HIGH
        if confidence is not None:
            yield self.finding(
                event,
                f"`{what}` specialises on the float `{name}`{variation.told(said)}: each new value compiles again",
                confidence=confidence,
                help="pass it as a 0-d tensor, or compute it in the caller",
            )

    def _is_symbol(self, event: Event, value: Scalar) -> bool:
        """`t / 1000` of a whole number: that is a symbol, and so is what is computed of it, for all that takes symbols."""
        name = event.name if isinstance(event, Call) else ""
        if value.argument or name in asked.burned("int", self.release):
            return False
        given = event.evidence.values.get(value.ref[0], ()) if event.evidence is not None and value.ref else ()
        return bool(given) and all(isinstance(each, Const) and type(each.value) is int for each in given)

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        return display("pass it as a 0-d tensor", "torch.minimum(x, limit) for clamp(max=limit), and so on")


def _resumed(event: Event, value: Scalar) -> bool:
    """Whether a float that was read out of the graph is handed to what is compiled after the break, call by call another."""
    site = event.site
    if site is None or site.fullgraph is True or "capture_scalar_outputs" in site.settings or value.type != "float":
        return False
    return event.evidence is not None and len(event.evidence.calls) > variation.SETTLES
