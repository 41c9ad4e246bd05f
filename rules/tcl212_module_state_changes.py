"""TCL212: parameters, buffers and submodules that change after compilation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Attribute, Event, Loop, Operation, Store
from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._state import attribute_change
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes
from tclint.values import PARAMETER, Dict, Instance, Object, Scalar, Seq, Tensor


class ModuleStateChanges(Rule):
    """A buffer of another shape, a ModuleList that grows, a new stage or adapter, a cache keyed by a size: each compiles again.

    Dynamo guards on the parameters, buffers and submodules it saw. Writing into a buffer in place is free; binding another
    tensor to its name is not.

    Bad::

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("table", torch.ones(4, 8))

            def forward(self, x):
                self.table = torch.ones(x.shape[1], 8)
                return x + self.table

    Good::

        class Model(nn.Module):
            def forward(self, x):
                table = torch.ones(x.shape[1], 8)
                return x + table

    Fix: `copy_` into a buffer of fixed size, a local variable, or build all blocks before compiling. `--unsafe-fixes`
    writes `copy_`: wrong where the new tensor has another shape or must carry a gradient.
    """

    code, name = "TCL212", "module-state-changes"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    subjects = {"attribute": (Instance,), "loop": (Object,)}

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        """An attribute that eager code binds anew between calls."""
        if event.evidence is None or not isinstance(event.receiver, Instance):
            return
        varied = attribute_change(event, event.receiver, event.name)
        if varied.hazard:
            yield self._finding(event, f"`self.{event.name}` is {varied.said}")

    def on_loop(self, event: Loop) -> Iterator[Finding]:
        """A ModuleList that forward walks and eager code extends between calls."""
        node = event.node.iter if isinstance(event.node, ast.For) else event.node
        if event.evidence is None or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return
        owner = event.ask.local(node.value.id)
        if isinstance(owner, Instance) and isinstance(event.iterable, Object):
            varied = attribute_change(event, owner, node.attr)
            if varied.hazard:
                yield self._finding(event, f"`{ast.unparse(node)}` is {varied.said}", node)

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target != "attribute" or not isinstance(event.receiver, Instance) or event.constructing:
            return
        old = event.ask.attributes(event.receiver).get(event.name)
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
        parts = event.left.items or () if isinstance(event.left, Seq) else (event.left,)
        sized = any(isinstance(part, Scalar) and part.source == "size" for part in parts)
        if sized and isinstance(event.right, Dict) and isinstance(place, ast.Attribute):
            yield self._finding(event, f"`{ast.unparse(place)}` is a cache keyed by a size")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        place = Place(event)
        node = place.node
        if not isinstance(event, Store) or not isinstance(node, ast.Assign) or len(node.targets) != 1:
            return None
        if not isinstance(node.targets[0], ast.Attribute):
            return None
        text = f"{place.source(node.targets[0])}.copy_({place.argument(node.value)})"
        note = "wrong where the new tensor has another shape, or must carry a gradient"
        return Fix("copy into the buffer", Applicability.UNSAFE, (place.replace(node, text),), note)

    def _finding(self, event: Event, what: str, node: ast.AST | None = None) -> Finding:
        return self.finding(
            event,
            f"{what}; each change compiles again",
            node=node,
            confidence=Confidence.HIGH,
            help="copy_ into a buffer of fixed size, or use a local variable",
        )


def _reads(event: Store, name: str) -> bool:
    """Whether the function also reads the attribute: a value that is only written costs nothing."""
    return event.enclosing is not None and name in event.ask.of_scope(_attributes_read)


def _attributes_read(root: ast.AST) -> frozenset[str]:
    return frozenset(n.attr for n in nodes(root) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))


def _extended(method: ast.AST) -> frozenset[str]:
    """The attributes that a method makes longer, `self.<attribute>.append(…)` or the like."""
    calls = (n.func for n in nodes(method) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    owners = (func.value for func in calls if func.attr in ("append", "extend", "insert"))
    return frozenset(owner.attr for owner in owners if isinstance(owner, ast.Attribute))
