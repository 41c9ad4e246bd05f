"""TCL212: parameters, buffers and submodules that change after compilation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Attribute, Event, Operation, Store
from tclint.finding import Confidence, Effect, Finding, Severity
from tclint.rule import Rule
from tclint.values import PARAMETER, Dict, Instance, Scalar, Tensor


class ModuleStateChanges(Rule):
    """A buffer rebound to another shape, a ModuleList that grows, a cache keyed by a size: each change compiles again.

    Dynamo guards on the parameters, buffers and submodules it saw. Writing into a buffer in place is free; binding another
    tensor to its name is not.

    Bad::

        def f(self, x):
            self.table = torch.ones(x.shape[1], 8)
            return x + self.table

    Good::

        def f(self, x):
            table = torch.ones(x.shape[1], 8)
            return x + table

    Fix: `copy_` into a buffer of fixed size, a local variable, or build all blocks before compiling.
    """

    code, name = "TCL212", "module-state-changes"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        if not isinstance(event.receiver, Instance):
            return
        cls = event.receiver.cls
        held = event.frame.interp.attributes(event.receiver).get(event.name)
        if isinstance(held, Scalar):
            return
        if (cls.module.path, cls.qualname, event.name) in event.frame.interp.rebound:
            yield self._finding(event, f"`self.{event.name}` is changed by eager code after compilation")

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target != "attribute" or not isinstance(event.receiver, Instance) or event.frame.constructing:
            return
        old = event.frame.interp.attributes(event.receiver).get(event.name)
        if isinstance(old, Tensor) and old.flags & PARAMETER and isinstance(event.value, Tensor):
            new = event.value
            if new.flags & PARAMETER or event.augmented or not _reads(event, event.name):
                return
            yield self._finding(event, f"`self.{event.name}` is bound to another tensor in every call")

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        """`if n not in self.masks` with a size as the key."""
        if event.operator not in ("In", "NotIn") or not isinstance(event.node, ast.Compare):
            return
        place = event.node.comparators[0]
        sized = isinstance(event.left, Scalar) and event.left.source == "size"
        if sized and isinstance(event.right, Dict) and isinstance(place, ast.Attribute):
            yield self._finding(event, f"`{ast.unparse(place)}` is a cache keyed by a size")

    def _finding(self, event: Event, what: str) -> Finding:
        return self.finding(
            event,
            f"{what}; each change compiles again",
            confidence=Confidence.HIGH,
            help="copy_ into a buffer of fixed size, or use a local variable",
        )


def _reads(event: Store, name: str) -> bool:
    """Whether the function also reads the attribute: a value that is only written costs nothing."""
    function = event.frame.function
    if function is None:
        return False
    return any(
        isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Load) for n in ast.walk(function.node)
    )
