"""TCL204: float arguments that an operation specialises on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint import variation
from tclint.events import Call, Event, Operation
from tclint.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rewrite import display
from tclint.rule import Rule
from tclint.rules._scope import argument
from tclint.rules._state import changing
from tclint.values import Const, Scalar, Tensor, Value

# Measured (aot_eager, 2.13): keyword names and positions of the float that is burnt into the graph.
_OPS: Final[dict[str, tuple[tuple[int, ...], tuple[str, ...]]]] = {
    "Tensor.clamp": ((0, 1), ("min", "max")),
    "torch.clamp": ((1, 2), ("min", "max")),
    "Tensor.add": ((), ("alpha",)),
    "torch.add": ((), ("alpha",)),
    "Tensor.sub": ((), ("alpha",)),
    "torch.full": ((1,), ("fill_value",)),
    "torch.full_like": ((1,), ("fill_value",)),
    "torch.tensor": ((0,), ("data",)),
    "torch.as_tensor": ((0,), ("data",)),
    "torch.linspace": ((0, 1), ("start", "end")),
    "torch.quantile": ((1,), ("q",)),
    "Tensor.quantile": ((0,), ("q",)),
    "torch.nn.functional.scaled_dot_product_attention": ((), ("scale", "dropout_p")),
    "torch.nn.functional.dropout": ((1,), ("p",)),
    "torch.nn.functional.layer_norm": ((4,), ("eps",)),
    "torch.nn.functional.leaky_relu": ((1,), ("negative_slope",)),
    "torch.nn.functional.elu": ((1,), ("alpha",)),
    "torch.nn.functional.rms_norm": ((3,), ("eps",)),
    "torch.nn.functional.group_norm": ((4,), ("eps",)),
    "torch.nn.functional.interpolate": ((), ("scale_factor",)),
    "math.exp": ((0,), ()),
    "math.log": ((0, 1), ()),
    "math.log2": ((0,), ()),
    "math.log10": ((0,), ()),
    "math.pow": ((0, 1), ()),
    "builtins.int": ((0,), ()),
    "builtins.round": ((0,), ()),
    "math.ceil": ((0,), ()),
    "math.floor": ((0,), ()),
}


class FloatSpecialised(Rule):
    """A float argument used outside plain arithmetic: one compilation for every new value.

    A float that is only added, subtracted, multiplied or divided becomes a graph input after one recompile. `clamp(max=f)`,
    `torch.full(…, f)`, `torch.tensor(f)`, attention's `scale`, dropout's `p`, `math.exp(f)`, `int(f)` burn it into the graph.

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
    calls = tuple(_OPS)

    def on_call(self, event: Call) -> Iterator[Finding]:
        places, names = _OPS[event.name]
        values = [(event.args[i], argument(event.node, "", i)) for i in places if i < len(event.args)]
        values += [(event.keywords[n], argument(event.node, n)) for n in names if n in event.keywords]
        short = event.name.removeprefix("builtins.").removeprefix("torch.nn.functional.")
        for value, node in values:
            yield from self._check(event, short, value, node)

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        node = event.node
        if event.operator == "Pow" and isinstance(event.left, Tensor) and isinstance(node, ast.BinOp):
            yield from self._check(event, "**", event.right, node.right)

    def _check(self, event: Event, what: str, value: Value, node: ast.expr | None) -> Iterator[Finding]:
        known = isinstance(value, Const) and isinstance(value.value, float)
        if not known and not (isinstance(value, Scalar) and value.type in ("float", "number")):
            return
        if isinstance(value, Scalar) and value.source == "arg":
            confidence = variation.confidence(event, value)
            name = value.ref[0] if value.ref else "the argument"
        else:
            name = changing(event, node) if node is not None and not isinstance(node, ast.Constant) else ""
            confidence = Confidence.HIGH if name else None
        if confidence is not None:
            yield self.finding(
                event,
                f"`{what}` specialises on the float `{name}`: each new value compiles again",
                confidence=confidence,
                help="pass it as a 0-d tensor, or compute it in the caller",
            )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        return display("pass it as a 0-d tensor", "torch.minimum(x, limit) for clamp(max=limit), and so on")
