"""TCL501: hooks that come too late."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Compile, CompiledCall
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import place, scope, target_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import ancestors, nodes, text
from tclint.torch_facts import facts

_HOOKS = ("register_forward_hook", "register_forward_pre_hook")
_WALKS = facts.named("walks the modules in a module")


class HookAfterFirstCall(Rule):
    """A forward hook put on a submodule after the compiled model has been called is never run.

    Dynamo looks at the hooks of the submodules while it traces, and guards on none of them
    (`skip_nnmodule_hook_guards`). What is registered later does not recompile and does not run: no activation is
    recorded, no output changed, no warning given. Hooks on the compiled module itself run in Python around the
    graph and are not concerned.

    Bad::

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.inner(x)

        def watch(x, hook):
            net = Net()
            fast = torch.compile(net)
            fast(x)
            net.inner.register_forward_hook(hook)
            return fast(x)

    Good::

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.inner(x)

        def watch(x, hook):
            net = Net()
            net.inner.register_forward_hook(hook)
            fast = torch.compile(net)
            return fast(x)

    Fix: register before the first call; or call `torch._dynamo.reset()` after registering; or set
    `torch._dynamo.config.skip_nnmodule_hook_guards = False`.

    Versions: measured from 2.6 to 2.15.
    """

    code, name = "TCL501", "hook-after-first-call"
    effect, severity = Effect.SILENT, Severity.HIGH
    torch = ">=2.6"
    scope = "eager"
    calls = ("torch.nn.*", "compiled.*", *("?." + hook for hook in _HOOKS))

    def __init__(self) -> None:
        super().__init__()
        self._targets: dict[tuple[str, int], str] = {}
        self._called: dict[tuple[str, str], dict[str, int]] = {}

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        site = (event.module.path, getattr(event.node, "lineno", 0))
        self._targets.setdefault(site, text(target_of(event)))
        return iter(())

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        node = event.node
        if isinstance(node, ast.Call):
            site = event.callee.site
            names = {text(node.func)}
            if site.path == event.module.path:
                names.add(self._targets.get((site.path, site.line), ""))
            called = self._called.setdefault(place(event), {})
            for name in names:
                called[name] = min(node.lineno, called.get(name, node.lineno))
        return iter(())

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        if event.method not in _HOOKS or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return
        called = self._called.get(place(event))
        if not called or _resets(event, node):
            return
        owner = _owner(event, node.func.value)
        line = called.get(owner, node.lineno)
        if not owner or line >= node.lineno:
            return
        yield self.finding(
            event,
            f"the compiled model was called before (line {line}): this hook on a submodule never runs",
            confidence=Confidence.HIGH,
            help="register it before the first call, or call torch._dynamo.reset() afterwards",
        )


def _owner(event: Call, node: ast.expr) -> str:
    """The model a submodule expression begins with: `net` of `net.blocks[0].attn`, and of `for m in net.modules()`."""
    if isinstance(node, ast.Name):
        for loop in ancestors(scope(event), event.node):
            if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
                continue
            walk = loop.iter.func
            bound = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
            if node.id in bound and isinstance(walk, ast.Attribute) and walk.attr in _WALKS:
                return text(walk.value)
        return ""
    inner = node
    while isinstance(inner, (ast.Attribute, ast.Subscript)):
        inner = inner.value
        if isinstance(inner, ast.Attribute) and text(inner.value) == "self":
            return text(inner)
    return text(inner) if isinstance(inner, ast.Name) and inner.id != "self" else ""


def _resets(event: Call, node: ast.Call) -> bool:
    """Whether the function starts compilation afresh after the hook."""
    return event.ask.of_scope(_last_reset) > node.lineno or b"skip_nnmodule_hook_guards" in event.module.data


def _last_reset(root: ast.AST) -> int:
    """The last line that starts compilation afresh; 0 where none does."""
    made = (n for n in nodes(root) if isinstance(n, ast.Call) and text(n.func) in _RESETS)
    return max((n.lineno for n in made), default=0)


_RESETS = ("torch._dynamo.reset", "torch.compiler.reset")
