"""TCL415: pickling a module whose forward was replaced by a compiled one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Store
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.torch_facts import facts
from tclint.values import Compiled


class CompilePickle(Rule):
    """`m.forward = torch.compile(m.forward)` puts a function on the instance that pickle refuses.

    `torch.save(m)` and `pickle.dumps(m)` then raise `PicklingError: Can't pickle <function ...>: it's not the same
    object`. `torch.compile(m)` and `m.compile()` can both be pickled, and so can the state_dict.

    Bad::

        class Net(torch.nn.Module):
            def forward(self, x):
                return x * 2

        net = Net()
        net.forward = torch.compile(net.forward)
        torch.save(net, "net.pt")

    Good::

        class Net(torch.nn.Module):
            def forward(self, x):
                return x * 2

        net = Net()
        net.compile()
        torch.save(net, "net.pt")

    Fix: `m.compile()`; or save `m.state_dict()`.
    """

    code, name = "TCL415", "compile-pickle"
    effect, severity = Effect.ERROR, Severity.MEDIUM
    scope = "eager"
    calls = facts.named("pickles")

    def __init__(self) -> None:
        super().__init__()
        self._patched: dict[tuple[str, str, str], int] = {}

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target == "attribute" and event.name == "forward" and isinstance(event.value, Compiled):
            for target in getattr(event.node, "targets", ()):
                if isinstance(target, ast.Attribute) and target.attr == "forward":
                    self._patched[_key(event, text(target.value))] = target.lineno
        return iter(())

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        if not isinstance(node, ast.Call) or not node.args:
            return
        what = text(node.args[0])
        line = self._patched.get(_key(event, what))
        if line is None or (line > node.lineno and not what.startswith("self.")):
            return
        yield self.finding(
            event,
            f"`{event.name}` of `{what}`, whose forward was replaced by a compiled one (line {line}): PicklingError",
            confidence=Confidence.HIGH,
            help="compile with `.compile()`, or save the state_dict",
        )


def _key(event: Call | Store, what: str) -> tuple[str, str, str]:
    """A local name belongs to its function, an attribute of self to its class."""
    function = event.enclosing
    if function is None:
        owner = ""
    elif what.startswith("self.") and function.cls is not None:
        owner = function.cls.qualname
    else:
        owner = function.qualname
    return event.module.path, owner, what
