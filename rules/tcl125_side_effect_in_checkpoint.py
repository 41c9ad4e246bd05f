"""TCL125: side effects inside a checkpointed function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tclint.events import Call, Event, Store
from tclint.fixes.recipes import skip_unread_store
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rules._scope import of_file
from tclint.ruleset.rule import Rule
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Const, Dict, Instance, Seq, Value, tensor_of

_CHECKPOINT: Final = "torch.utils.checkpoint."
_TRACED: Final = facts.named("traces the function it is given")
_CAPTURED: Final = facts.named("captures functions as graphs of their own")


class SideEffectInCheckpoint(Rule):
    """A function under `torch.utils.checkpoint` that writes to something outside of it.

    The function runs a second time in the backward pass, so Dynamo takes it as a graph of its own without side effects.
    An attribute of the module that is set in it, a list from outside that it appends to, a global or nonlocal name: the
    graph breaks, and the function that calls `checkpoint` runs eagerly as a whole. In eager mode the side effect happens
    twice.

    Bad::

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)
                self.last = None

            def block(self, x):
                y = self.fc(x)
                self.last = y
                return y.relu()

            def forward(self, x):
                return torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)

    Good::

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)
                self.last = None

            def block(self, x):
                y = self.fc(x)
                return y.relu(), y

            def forward(self, x):
                out, self.last = torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)
                return out

    Fix: return the value from the checkpointed function, and store it after the checkpoint. Writing into a buffer in place
    (`self.count.add_(1)`) is fine for Dynamo. `--unsafe-fixes` leaves an attribute that nobody in the file reads alone in
    compiled runs.

    Not said where the checkpoint is under a flag that may be off.
    """

    code, name = "TCL125", "side-effect-in-checkpoint"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0067", "GB4413")
    calls = facts.named("writes a container")

    def on_store(self, event: Store) -> Iterator[Finding]:
        if not _is_closed(event):
            return
        target = _target(event.node)
        if event.target in ("global", "nonlocal"):
            yield self._finding(event, f"`{event.name}`, which is {event.target},")
        elif event.target == "attribute" and isinstance(event.receiver, Instance):
            if _is_kept(event) and _from_outside(event, target):
                what = f"`{ast.unparse(target)}`" if target is not None else f"`{event.name}`"
                yield self._of_value(event, what) if _is_python(event) else self._finding(event, what)
        elif (
            event.target == "subscript"
            and isinstance(event.receiver, (Dict, Seq))
            and isinstance(target, ast.Subscript)
        ):
            if _from_outside(event, target.value):
                yield self._finding(event, f"`{ast.unparse(target.value)}`")

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        if not _is_closed(event):
            return
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            return
        if _from_outside(event, node.func.value):
            yield self._finding(event, f"`{ast.unparse(node.func.value)}`")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        return skip_unread_store(event, event.node) if isinstance(event, Store) else None

    def _of_value(self, event: Store, what: str) -> Finding:
        """A number, a word or a list of them may be written; that it is another one afterwards ends the graph, at the call."""
        handed = event.ask.handed_over_at()
        if handed is None or handed[0].module is not event.module or handed[0].function is None:
            return self._finding(event, what)
        found = self._finding(event, what, handed[1])
        return replace(found, function=handed[0].function.qualname)

    def _finding(self, event: Event, what: str, node: ast.AST | None = None) -> Finding:
        if event.inside in _CAPTURED:
            operator = event.inside.rpartition(".")[2]
            where, follows = (
                f"a function that `{operator}` captures",
                "that has no graph of its own, and torch.compile raises",
            )
            help_ = "return the value from the function, and store it behind the operator"
        else:
            hook = event.inside in _TRACED
            where, follows, help_ = _TOLD[hook], "Dynamo breaks the graph and the caller runs eagerly", _HELP[hook]
        return self.finding(
            event,
            f"{what} is changed inside {where}; {follows}",
            node=node,
            confidence=Confidence.HIGH,
            help=help_,
        )


_TOLD: Final = {False: "a checkpointed function", True: "the hook of a tensor"}
_HELP: Final = {
    False: "return the value from the checkpointed function and store it after the checkpoint",
    True: "register the hook outside the compiled region, or on an input or a parameter",
}


def _is_closed(event: Event) -> bool:
    """Whether what happens here must not be seen outside."""
    return event.inside.startswith(_CHECKPOINT) or event.inside in _TRACED or event.inside in _CAPTURED


def _is_kept(event: Store) -> bool:
    """Whether the graph ends: of a number that a hook writes Dynamo names the line that registers the hook, and what is
    written again as it was is no change."""
    if event.inside in _TRACED:
        return tensor_of(event.value) is not None
    if not isinstance(event.value, Const) or not isinstance(event.receiver, Instance):
        return True
    before = event.ask.attributes(event.receiver).get(event.name)
    return before is not None and before is not UNKNOWN and before.key != event.value.key


def _is_python(event: Store) -> bool:
    """Whether what is written holds no tensor."""
    if event.inside in _TRACED or event.value is UNKNOWN:
        return False
    return tensor_of(event.value) is None and not any(tensor_of(part) is not None for part in _parts(event.value))


def _parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Seq):
        return value.items if value.items is not None else (value.element(),)
    return (*value.items.values(), value.element()) if isinstance(value, Dict) else ()


def _target(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0]
    return node.target if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else None


def _from_outside(event: Event, place: ast.expr | None) -> bool:
    """Whether what is changed belongs to a module, to an enclosing function or to the file."""
    parts = 0
    while isinstance(place, (ast.Attribute, ast.Subscript)):
        place = place.value
        parts += 1
    if not isinstance(place, ast.Name) or event.enclosing is None:
        return False
    owner = event.ask.local(place.id)
    if parts and isinstance(owner, Instance) and event.ask.is_nn_module(owner.cls):
        return True
    if of_file(event, place.id) or (parts and _is_held_by_module(event, place.id)):
        return True
    # Only of the checkpointed function itself: what encloses a function that it calls may be made by it.
    return event.ask.handed_over() and event.ask.captures(place.id)


def _is_held_by_module(event: Event, name: str) -> bool:
    """Whether a name is the object whose method this is, and a module holds that: `self.losses.add(x)`."""
    parameters = event.enclosing.node.args.args if event.enclosing is not None else []
    caller, call = next(event.ask.calls_here(), (None, None))
    if not parameters or parameters[0].arg != name or caller is None or not isinstance(call, ast.Call):
        return False
    held = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    if event.ask.handed_over():
        held = list(call.args[:1])
    for place in held:
        if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name):
            owner = event.ask.local(place.value.id, caller)
            return isinstance(owner, Instance) and event.ask.is_nn_module(owner.cls)
    return False
