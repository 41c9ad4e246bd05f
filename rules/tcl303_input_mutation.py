"""TCL303: inputs changed in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event, Store
from tclint.fixes.recipes import functional_form
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.torch_facts import traits
from tclint.values import INPUT, PARAMETER, PINNED, Const, Instance, Object, Tensor, tensor_of

_IN_PLACE: Final = frozenset(n for n in traits.in_place() if n not in ("Tensor.requires_grad_", "Tensor.detach_"))
_IN_PLACE_FUNCTIONS: Final = frozenset(n.replace("Tensor.", "torch.") for n in _IN_PLACE)


class InputMutation(Rule):
    """An input of the compiled callable is changed in place: Inductor gives up CUDA graphs ("mutated inputs").

    `x += 1`, `x.add_(1)`, `x[0] = 0`, `buf.copy_(y)`, `torch.mm(a, b, out=buf)`, `nn.ReLU(inplace=True)` on an argument (or a view
    of one), or on a tensor that the function takes from outside: a global, a variable of the function around it, an attribute of
    an object that is no module. In default mode it costs a copy; with CUDA graphs the graph is skipped. Parameters,
    buffers and other tensors of the module may be changed, and tensors that `torch._dynamo.mark_static_address` was called on.

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
    calls = (*_IN_PLACE, "torch.*")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if not event.cudagraphs:
            return
        if event.name in _IN_PLACE:
            tensor = tensor_of(event.receiver) if event.receiver is not None else None
            yield from self._check(event, tensor, f"`.{event.method}()` changes", _receiver(event.node))
            return
        out = event.keywords.get("out")
        if out is not None:
            yield from self._check(event, tensor_of(out), f"`out=` of `{event.name}` changes", None)
        elif event.args and _works_in_place(event):
            what = f"`{event.name.removesuffix('.forward')}` works in place: this changes"
            yield from self._check(event, tensor_of(event.args[0]), what, None)

    def on_store(self, event: Store) -> Iterator[Finding]:
        target = getattr(event.node, "targets", [getattr(event.node, "target", None)])[0]
        if event.target == "subscript" and isinstance(target, ast.Subscript):
            what = "an assignment to elements changes"
            yield from self._check(event, tensor_of(event.receiver), what, target.value)
        elif event.target == "name" and event.augmented and event.old is not None:
            what = f"`{event.name}` is changed in place: this changes"
            yield from self._check(event, tensor_of(event.old), what, None)

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        return functional_form(event)

    def _check(self, event: Event, tensor: Tensor | None, what: str, node: ast.expr | None) -> Iterator[Finding]:
        if tensor is None or tensor.flags & (PARAMETER | PINNED) or not event.cudagraphs:
            return
        if tensor.flags & INPUT:
            changed = f"the input `{tensor.base}`"
        elif node is not None and _from_outside(event, node):
            changed = f"`{text(node)}`, which the compiled function takes from outside"
        else:
            return
        yield self.finding(
            event,
            f"{what} {changed}; CUDA graphs are skipped (mutated inputs)",
            about=tensor,
            confidence=Confidence.HIGH if tensor.conf > 1 else None,
            help="use the functional form",
        )


def _receiver(node: ast.AST) -> ast.expr | None:
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def _works_in_place(event: Call) -> bool:
    """`torch.clamp_(x)`, `F.relu(x, inplace=True)`, `nn.ReLU(inplace=True)(x)`; dropout that is off changes nothing."""
    if event.name in _IN_PLACE_FUNCTIONS:
        return True
    asked = event.keywords.get("inplace")
    if isinstance(event.receiver, Object):
        made = event.receiver.origin.node
        given = [k.value for k in made.keywords if k.arg == "inplace"] if isinstance(made, ast.Call) else []
        if given and isinstance(given[0], ast.Constant):
            asked = Const(given[0].value)
    return isinstance(asked, Const) and asked.value is True and "dropout" not in event.name.lower()


def _from_outside(event: Event, node: ast.expr) -> bool:
    """Whether a tensor is a global, a variable of the function around, or an attribute of an object that is no module."""
    if isinstance(node, ast.Name):
        if event.ask.local(node.id) is not None:
            return False
        return event.ask.captures(node.id) or isinstance(event.ask.module_value(node.id), Tensor)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = event.ask.evaluate(node.value)
        return isinstance(owner, Instance) and not event.ask.is_nn_module(owner.cls)
    return False
