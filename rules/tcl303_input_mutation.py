"""TCL303: inputs changed in place."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Call, Event, Store
from tclint.fixes.recipes import functional_form
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule
from tclint.torch_facts import traits
from tclint.values import INPUT, PARAMETER, Tensor, tensor_of


class InputMutation(Rule):
    """An input of the compiled callable is changed in place: Inductor gives up CUDA graphs ("mutated inputs").

    `x += 1`, `x.add_(1)`, `x[0] = 0`, `buf.copy_(y)` on an argument (or a view of one). In default mode it costs a copy; with
    CUDA graphs the graph is skipped. Parameters and buffers of the module may be changed.

    Bad::

        @torch.compile(mode="reduce-overhead")
        def f(x):
            x.add_(1)
            return x * 2

    Good::

        @torch.compile(mode="reduce-overhead")
        def f(x):
            x = x + 1
            return x * 2

    Fix: the functional form. `--unsafe-fixes` writes it: wrong where the caller reads the changed input.
    """

    code, name = "TCL303", "input-mutation"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    calls = tuple(n for n in traits.in_place() if n not in ("Tensor.requires_grad_", "Tensor.detach_"))

    def on_call(self, event: Call) -> Iterator[Finding]:
        tensor = tensor_of(event.receiver) if event.receiver is not None else None
        yield from self._check(event, tensor, f"`.{event.method}()` changes")

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target == "subscript":
            yield from self._check(event, tensor_of(event.receiver), "an assignment to elements changes")
        elif event.target == "name" and event.augmented and event.old is not None:
            yield from self._check(event, tensor_of(event.old), f"`{event.name}` is changed in place: this changes")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        return functional_form(event)

    def _check(self, event: Event, tensor: Tensor | None, what: str) -> Iterator[Finding]:
        if tensor is None or not tensor.flags & INPUT or tensor.flags & PARAMETER or not event.cudagraphs:
            return
        yield self.finding(
            event,
            f"{what} the input `{tensor.base}`; CUDA graphs are skipped (mutated inputs)",
            about=tensor,
            confidence=Confidence.HIGH if tensor.conf > 1 else None,
            help="use the functional form",
        )
