"""TCL212: parameters, buffers and submodules that change after compilation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Attribute, Call, CompiledCall, Enter, Event, Loop, Operation, Store, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import header
from tclint.rules._state import attribute_change, layer_change, layers_in
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes
from tclint.timeline.expected import SETTLES
from tclint.values import PARAMETER, SIZE, Dict, Instance, Object, Seq, Tensor


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

        def train():
            model = torch.compile(Model())
            for length in range(4, 12):
                model(torch.randn(2, length, 8))

    Good::

        class Model(nn.Module):
            def forward(self, x):
                table = torch.ones(x.shape[1], 8)
                return x + table

    Fix: `copy_` into a buffer of fixed size, a local variable, or build all blocks before compiling. Not applied by itself:
    a tensor of the same shape costs nothing, and one of another shape cannot be copied.

    A layer of torch hands its settings to an operation, which writes them into the program: `m.p = rate` for every dropout
    between two calls compiles again for each rate. And a compiled method is compiled for each class that inherits it.

    Said only where the calls in sight make three programs or more.
    """

    code, name = "TCL212", "module-state-changes"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "any"
    calls = ("torch.nn.*",)
    subjects = {"attribute": (Instance,), "loop": (Object,)}

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        """Models of several widths, one after the other: they share the code, and parameters are static."""
        owner = event.cls
        if event.evidence is None or owner is None or event.site is None or not event.at_entry:
            return
        classes = list(dict.fromkeys(call.of for call in event.evidence.calls))
        if len(classes) > SETTLES and all(classes):
            shown = ", ".join(classes[:SETTLES]) + ", …"
            yield self.finding(
                event,
                f"`{owner.name}` and its subclasses share this code ({event.evidence.places}, of {shown}): the class of `self`"
                " is guarded, and each compiles again",
                node=header(event.node),
                confidence=Confidence.HIGH,
                help="decorate the method of each class by itself",
            )
        if not event.ask.is_nn_module(owner):
            return
        init = event.ask.method(owner, "__init__")
        for name, varied in event.evidence.made() if init is not None else ():
            assert init is not None
            if varied.hazard and name in init.node_index(_builds_with):
                yield self.finding(
                    event,
                    f"`{owner.name}` is compiled for objects made with several values of `{name}` ({varied.said}): they share"
                    " their code, parameters are static, and each size compiles again",
                    node=header(event.node),
                    confidence=Confidence.HIGH,
                    help="compile one model, or call torch.compiler.reset() when one is done with",
                )

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        """An attribute that eager code binds anew between calls."""
        if event.evidence is None or not isinstance(event.receiver, Instance):
            return
        varied = attribute_change(event, event.receiver, event.name)
        if varied.hazard:
            place = ast.unparse(event.node) if isinstance(event.node, ast.Attribute) else f"self.{event.name}"
            yield self._finding(event, f"`{place}` is {varied.said}")

    def on_call(self, event: Call) -> Iterator[Finding]:
        """A layer of torch that eager code configures anew between calls: `for m in net.modules(): m.p = p`."""
        if not event.compiled:
            return
        what, varied = layer_change(event, (event.name.removesuffix(".forward"),))
        if varied.hazard:
            yield self._finding(event, f"`{what}` is {varied.said}", help_=_OF_LAYERS)

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        """Layers of torch that are compiled by themselves: their forward is nobody's to read, so that the call stands for it."""
        evidence, target = event.evidence, event.callee.target
        if evidence is None or not isinstance(target, Object) or not evidence.is_first(event.module.path, event.node):
            return
        what, varied = layer_change(event, layers_in(target))
        if varied.hazard:
            yield self._finding(event, f"`{what}` is {varied.said}", help_=_OF_LAYERS)

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
        if not event.compiled or event.target != "attribute" or event.constructing:
            return
        if not isinstance(event.receiver, Instance):
            return
        old = event.ask.attributes(event.receiver).get(event.name)
        if isinstance(old, Tensor) and old.flags & PARAMETER and isinstance(event.value, Tensor):
            new = event.value
            if new.flags & PARAMETER or event.augmented or not _reads(event, event.name):
                return
            if old.ndim == 0 and new.ndim <= 0:
                return  # a single number has no size that could change
            # Of the same shape it costs nothing.
            confidence, said = variation.of_sizes(event, [SIZE])
            if confidence is not None:
                what = f"`self.{event.name}` is bound to another tensor in every call{variation.told(said)}"
                yield self._finding(event, what, confidence=confidence)

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        """`if n not in self.masks` with a size as the key."""
        if not event.compiled or event.operator not in ("In", "NotIn") or not isinstance(event.node, ast.Compare):
            return
        place = event.node.comparators[0]
        parts = event.left.items or () if isinstance(event.left, Seq) else (event.left,)
        if not isinstance(event.right, Dict) or not isinstance(place, ast.Attribute):
            return
        confidence, said = variation.of_sizes(event, parts)
        if confidence is not None:
            what = f"`{ast.unparse(place)}` is a cache keyed by a size{variation.told(said)}"
            yield self._finding(event, what, confidence=confidence)

    def _finding(
        self,
        event: Event,
        what: str,
        node: ast.AST | None = None,
        confidence: Confidence = Confidence.HIGH,
        help_: str = "copy_ into a buffer of fixed size, or use a local variable",
    ) -> Finding:
        return self.finding(
            event,
            f"{what}; each change compiles again",
            node=node,
            confidence=confidence,
            help=help_,
        )


_OF_LAYERS: Final = "set it once, before the first call, or compute with a tensor in its place"


def _reads(event: Store, name: str) -> bool:
    """Whether the function also reads the attribute: a value that is only written costs nothing."""
    return event.enclosing is not None and name in event.ask.of_scope(_attributes_read)


def _builds_with(constructor: ast.AST) -> frozenset[str]:
    """The names that a constructor builds what it stores from: `self.fc = nn.Linear(width, 1)`."""
    calls = (
        call
        for node in nodes(constructor)
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Attribute) for target in node.targets)
        for call in nodes(node.value)
        if isinstance(call, ast.Call)
    )
    return frozenset(
        part.id
        for call in calls
        for given in (*call.args, *(keyword.value for keyword in call.keywords))
        for part in nodes(given)
        if isinstance(part, ast.Name)
    )


def _attributes_read(root: ast.AST) -> frozenset[str]:
    return frozenset(n.attr for n in nodes(root) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
