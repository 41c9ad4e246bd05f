"""TCL513: a bounded deque that outlives the call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Assignment
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes, text
from tclint.torch_facts import facts

_APPENDS = facts.named("appends")


class DequeMaxlenOnSelf(Rule):
    """Appending to a full `deque(maxlen=n)` on self or in a global: compiled code keeps the wrong elements.

    Inside the graph Dynamo drops the oldest element, but it does not put the shortened deque back as Python would:
    after the deque is full the history and everything computed from it are silently wrong. A deque made in the same
    call is fine.

    Bad::

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.history = collections.deque(maxlen=3)

            def forward(self, x):
                self.history.append(x)
                return sum(self.history)

    Good::

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("history", torch.zeros(3))

            def forward(self, x):
                self.history.copy_(torch.cat([self.history[1:], x.reshape(1)]))
                return self.history.sum()

    Fix: a tensor buffer; or `popleft()` before the append; or keep the history in the eager caller.
    """

    code, name = "TCL513", "deque-maxlen-on-self"
    effect, severity = Effect.SILENT, Severity.HIGH
    calls = tuple(f"{kind}.{name}" for kind in ("list", "?", "collections.deque") for name in _APPENDS)

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return
        target = node.func.value
        if not _is_bounded_deque(event, target) or _makes_room(event, target):
            return
        yield self.finding(
            event,
            f"`{text(target)}` is a deque with maxlen: once it is full, compiled code keeps the wrong elements",
            confidence=Confidence.HIGH,
            help="use a tensor buffer, or popleft() first",
        )


def _is_bounded_deque(event: Call, target: ast.expr) -> bool:
    if isinstance(target, ast.Name):
        if event.ask.local(target.id) is not None:
            return False
        definition = event.module.named(target.id)
        if not isinstance(definition, Assignment) or definition.path:
            return False
        return _makes_deque(getattr(event.module.node(definition.ordinal), "value", None))
    if not isinstance(target, ast.Attribute) or text(target.value) != "self" or event.cls is None:
        return False
    for cls in event.ask.mro(event.cls):
        init = cls.methods.get("__init__")
        bound = init.node_index(_bound) if init is not None else {}
        if text(target) in bound:
            return _makes_deque(bound[text(target)])
    return False


def _bound(constructor: ast.AST) -> dict[str, ast.expr | None]:
    """What a constructor binds first to each of its targets."""
    found: dict[str, ast.expr | None] = {}
    for node in ast.walk(constructor):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                found.setdefault(text(target), node.value)
    return found


def _makes_deque(node: ast.expr | None) -> bool:
    if not isinstance(node, ast.Call) or text(node.func) not in ("deque", "collections.deque"):
        return False
    bound = next((k.value for k in node.keywords if k.arg == "maxlen"), node.args[1] if len(node.args) > 1 else None)
    return bound is not None and not (isinstance(bound, ast.Constant) and bound.value is None)


def _makes_room(event: Call, target: ast.expr) -> bool:
    """Whether an element is taken out in the function before this one goes in."""
    line = event.ask.of_scope(_first_taken).get(text(target))
    return line is not None and line < getattr(event.node, "lineno", 0)


def _first_taken(root: ast.AST) -> dict[str, int]:
    """By container, the first line that takes something out of it."""
    found: dict[str, int] = {}
    for node in nodes(root):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in facts.named("takes out of a container"):
                name = text(node.func.value)
                found[name] = min(node.lineno, found.get(name, node.lineno))
    return found
