"""TCL512: complex tensors in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule


class ComplexInRegion(Rule):
    """Inductor makes no kernels for complex numbers: they run as single eager operations inside the graph.

    A policy, off by default. Rotary embeddings through `view_as_complex` and `polar` are the usual case; Inductor
    warns that it "does not support code generation for complex operators" and nothing around them is fused.

    Bad::

        def f(x, freqs):
            rotated = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * freqs
            return torch.view_as_real(rotated).flatten(-2)

    Good::

        def f(x, cos, sin):
            a, b = x[..., ::2], x[..., 1::2]
            return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)

    Fix: cosine and sine in place of complex numbers.

    Ignore it where the complex part is small. Turn it on with `extend-select = ["TCL512"]`.
    """

    code, name = "TCL512", "complex-in-region"
    effect, severity = Effect.SLOW, Severity.LOW
    default = False
    calls = ("torch.view_as_complex", "torch.polar", "torch.complex")

    def on_call(self, event: Call) -> Iterator[Finding]:
        yield self.finding(
            event,
            f"`{event.name}`: Inductor makes no kernels for complex tensors and fuses nothing around them",
            confidence=Confidence.HIGH,
            help="compute with cosine and sine",
        )
