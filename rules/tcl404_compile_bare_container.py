"""TCL404: `module.compile()` where there is nothing to compile."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import compiles_in_place, target_of
from tclint.ruleset.rule import Rule
from tclint.torch_facts import facts
from tclint.values import Instance, Object, Seq, Value

_NEVER_CALLED = facts.named("holds modules and has no forward")


class CompileBareContainer(Rule):
    """`module.compile()` on a module of `torch.nn` itself compiles nothing, and says nothing.

    `module.compile()` compiles the module's own call; Dynamo skips frames of torch's own files, so that a bare
    `nn.Linear`, an `nn.Sequential` of torch's layers, `nn.TransformerEncoder` or a subclass without a `forward` of
    its own stays eager. (An `nn.Sequential` of your modules compiles each of them by itself.) An `nn.ModuleList` is
    never called at all. `torch.compile(module)` does compile them.

    Bad::

        net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
        net.compile()

    Good::

        net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
        net = torch.compile(net)

    Fix: `torch.compile(net)`, or `compile()` on the module with a `forward` of yours that holds it; for a ModuleList
    `for block in blocks: block.compile()`.
    """

    code, name = "TCL404", "compile-bare-container"
    effect, severity = Effect.SILENT, Severity.HIGH
    scope = "eager"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        if not compiles_in_place(event) or _is_one_of_several(event):
            return
        if isinstance(event.target, Object) and event.target.name in _NEVER_CALLED:
            kind = event.target.name.removeprefix("torch.")
            what, help = f"an `{kind}` is never called", "compile its elements: `for block in blocks: block.compile()`"
        elif _is_torch_code(event, event.target):
            kind = event.target.name.removeprefix("torch.") if isinstance(event.target, Object) else "module"
            what, help = f"a bare `{kind}` has no Python code of yours to compile", "use `torch.compile(module)`"
        else:
            return
        yield self.finding(
            event, f"`.compile()` does nothing here: {what}; it runs eager", confidence=Confidence.HIGH, help=help
        )


def _is_one_of_several(event: Compile) -> bool:
    """Whether the site compiles this one or another: `block.compile()` for blocks of which some are placeholders."""
    target = target_of(event)
    if not isinstance(target, ast.Name):
        return False
    held = event.ask.local(target.id)
    return held is not None and any(option.key != event.target.key for option in held.options)


def _is_torch_code(event: Compile, value: Value) -> bool:
    if isinstance(value, Object) and value.name.startswith("torch.nn."):
        if value.name == "torch.nn.Sequential":
            items = value.args.items if isinstance(value.args, Seq) else None
            return bool(items) and all(_is_torch_code(event, item) for item in items or ())
        return value.args is None and value.name != "torch.nn.Module"
    if isinstance(value, Instance):
        base = event.ask.external_base(value.cls)
        own = event.ask.method(value.cls, "forward") or event.ask.method(value.cls, "__call__")
        return own is None and base.startswith("torch.nn.") and base not in ("torch.nn.Module", "torch.nn.Sequential")
    return False
