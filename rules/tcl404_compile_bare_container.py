"""TCL404: `module.compile()` where there is nothing to compile."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import compiles_in_place, target_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import own, text
from tclint.torch_facts import facts
from tclint.values import External, Instance, Object, Seq, Value

_HARMLESS = frozenset({"torch", *sys.stdlib_module_names})
_FOLLOWED = 2
"""How many copies back what was copied is looked for."""
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

    A module that was handed to a function of another package, or of yours, before is not flagged: what that put into
    it (a tensor subclass of a quantization library, a hook) is Python code, and is compiled.
    """

    code, name = "TCL404", "compile-bare-container"
    effect, severity = Effect.SILENT, Severity.HIGH
    scope = "eager"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        if not compiles_in_place(event) or _is_one_of_several(event) or _may_be_another(event):
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
        # `getattr(model, name).compile()` in a loop over names: what it does to the others it does there.
        return event.begun.many and not isinstance(target, ast.Attribute)
    held = event.ask.local(target.id)
    return held is not None and any(option.key != event.target.key for option in held.options)


def _may_be_another(event: Compile) -> bool:
    """Whether somebody else had the module before: `quantize_(net)` puts tensors with code of their own into it."""
    target = target_of(event)
    return target is not None and _was_handed_over(event, text(target), target.lineno, _FOLLOWED)


def _was_handed_over(event: Compile, name: str, line: int, steps: int) -> bool:
    calls = event.ask.of_scope(_Calls)
    if any(_may_change(event.ask.evaluate(call.func)) for call in calls.given.get(name, ()) if call.lineno < line):
        return True
    made = [call for call in calls.made.get(name, ()) if call.lineno < line] if steps else []
    return any(_was_handed_over(event, text(a), line, steps - 1) for call in made for a in call.args)


def _may_change(callee: Value) -> bool:
    """Whether a function may change a module that it is given. Those of torch put modules of torch into it, if anything."""
    return not isinstance(callee, External) or callee.name.partition(".")[0] not in _HARMLESS


class _Calls:
    """The calls of a function: by what they are given, and by the name that is bound to what they return."""

    def __init__(self, root: ast.AST) -> None:
        self.given: dict[str, list[ast.Call]] = {}
        self.made: dict[str, list[ast.Call]] = {}
        for node in own(root):
            if isinstance(node, ast.Call):
                for argument in (*node.args, *(k.value for k in node.keywords)):
                    if isinstance(argument, (ast.Name, ast.Attribute)):
                        self.given.setdefault(text(argument), []).append(node)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                self.made.setdefault(text(node.targets[0]), []).append(node.value)


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
