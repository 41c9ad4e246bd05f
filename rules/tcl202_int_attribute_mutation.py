"""TCL202: Python state on the module that changes in every call."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from tclint.events import Attribute, Call, Event, Store, variation
from tclint.fixes.recipes import display
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.program import Function
from tclint.rules._grown import bounded, is_begun_anew
from tclint.rules._held import holder, object_of
from tclint.rules._scope import of_file
from tclint.rules._state import object_difference
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes
from tclint.timeline.policy import LIMIT
from tclint.torch_facts import facts
from tclint.values import Instance, Object, Scalar, Seq


class IntAttributeMutation(Rule):
    """A number or a list on the module that forward changes: one compilation for every new value.

    Dynamo guards on Python attributes of modules. `self.step += 1` makes the guard fail at every call, until the recompile
    limit (8) is hit and the function runs eagerly for good. So does an integer of an object that the module holds
    (`self.schedule.step += 1`), and a list that grows, through its length. (As a function argument an integer settles after one
    recompile, and so it does on an object that is an argument or captured; a float that compiled code changes does not.) Layers that are
    compiled one by one share their code: a number that differs from layer to layer, or another size of their parameters, is
    a compilation for each. (Models of several sizes that a script compiles one by one need a program each in any case; that is
    told where there are more of them than the limit allows.)

    Bad::

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.step = 0

            def forward(self, x):
                self.step += 1
                return x * self.step

    Good::

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("step", torch.zeros(()))

            def forward(self, x):
                self.step.add_(1)
                return x * self.step

    Fix: count in the caller, or keep the counter in a tensor buffer and add to it in place. Not applied by itself: who
    reads the counter would get a tensor.

    Versions: 2.4 recompiles 4 times in 6 calls, 2.6 twice, 2.9 and later at every call.
    """

    code, name = "TCL202", "int-attribute-mutation"
    effect, severity = Effect.RECOMPILE, Severity.HIGH
    subjects = {"attribute": (Instance,)}
    scope = "any"
    calls = tuple(name for name in facts.named("writes a container") if name.startswith("list."))

    def on_store(self, event: Store) -> Iterator[Finding]:
        if not event.compiled or event.target != "attribute" or event.constructing:
            return
        if not isinstance(event.receiver, Instance):
            return
        of_module = event.ask.is_nn_module(event.receiver.cls)
        if not of_module and holder(event) not in _NEVER_DYNAMIC.get(event.value.python_type, ()):
            return
        if event.inside:
            return  # TCL125: nothing is compiled that could be compiled again
        if not (isinstance(event.value, Scalar) and event.value.type in ("int", "float", "number")):
            return
        node = event.node
        if event.ask.once(node) is not None:
            return
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            if event.ask.of_scope(_read_as_they_are).get(node.value.id) == {event.name}:
                return  # what it was before is put back
            if node.value.id in event.ask.of_scope(_searched_for):
                return  # the next call begins with what was found
        reads_itself = event.augmented or (
            isinstance(node, ast.Assign) and _comes_from(event, node.value) and event.value.source in ("attr", "size")
        )
        if reads_itself and event.value.source != "data":
            held = object_of(event)
            place = f"{ast.unparse(held)}.{event.name}" if held is not None and not of_module else f"self.{event.name}"
            yield self._finding(event, f"`{place}` changes in every call")
        elif event.value.source == "size" and _decides(event):
            confidence, said = variation.of_sizes(event, [event.value])
            if confidence is not None:
                what = f"`self.{event.name}` keeps a size for the next call{variation.told(said)}"
                yield self._finding(event, what, confidence)

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        if (
            event.inside
            or not event.compiled
            or not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
            or not isinstance(event.receiver, Seq)
        ):
            return
        place = node.func.value
        if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name) and event.cls is not None:
            owner = event.ask.local(place.value.id)
            if event.ask.once(node) is not None or event.constructing or _made_in_call(event, place.value):
                return
            if is_begun_anew(event, place.attr) or place.attr in event.ask.of_scope(bounded):
                return
            if isinstance(owner, Instance) and place.attr in event.ask.attributes(owner):
                yield self._finding(event, f"`{place.value.id}.{place.attr}` grows in every call")
        elif isinstance(place, ast.Name) and _outlives(event, place.id):
            yield self._finding(event, f"`{place.id}` outlives the call and grows in every one")

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        """What differs from object to object, read in code that is compiled once for all of them."""
        if not event.compiled or not isinstance(event.receiver, Instance) or event.site is None:
            return
        value = event.ask.attributes(event.receiver).get(event.name)
        if value is None or value.python_type == "float":
            return  # becomes dynamic, unless an operation burns it in: TCL204
        varied = object_difference(event, event.receiver, event.name)
        if not varied.hazard:
            return
        if isinstance(value, Object):
            if not (event.site.decorator or event.site.own) and varied.programs <= LIMIT:
                # Each was compiled for its own sake: parameters of another size need a program of their own. What a model
                # compiles of itself are its layers, which could be one program, of the whole.
                return
            what = f"`self.{event.name}` has another size in every object ({varied.said}): parameters are static"
        else:
            what = f"`self.{event.name}` differs from object to object ({varied.said})"
        yield self.finding(
            event,
            f"{what}, and the compiled code is one for all: one compilation for every value, up to the limit",
            confidence=Confidence.HIGH,
            help="keep it in a tensor buffer, or compile the whole model that holds these objects",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Store):
            name = event.name
            title = f'register_buffer("{name}", torch.zeros((), dtype=torch.int64)) and self.{name}.add_(1)'
            return display(title, "who reads it then gets a tensor")
        return None

    def _finding(self, event: Event, what: str, confidence: Confidence = Confidence.HIGH) -> Finding:
        return self.finding(
            event,
            f"{what}; Dynamo guards on it and compiles again each time, up to the recompile limit",
            confidence=confidence,
            help="keep it in a tensor buffer, or do it in the caller",
        )


_NEVER_DYNAMIC = {"int": ("module",), "float": ("module", "caller")}
"""By type of a number that compiled code changes, whose it never becomes dynamic. Of the file's: TCL203."""


def _decides(event: Store) -> bool:
    """Whether the function compares the attribute with something."""
    return event.enclosing is not None and event.name in event.ask.of_scope(_compared)


def _compared(root: ast.AST) -> frozenset[str]:
    """The attributes that are part of a comparison."""
    parts = (part for node in nodes(root) if isinstance(node, ast.Compare) for part in (node.left, *node.comparators))
    return frozenset(n.attr for part in parts for n in nodes(part) if isinstance(n, ast.Attribute))


def _comes_from(event: Store, value: ast.expr) -> bool:
    """Whether a value is computed from the attribute that it is stored in, perhaps by way of a local name."""
    if _reads(value, event.name):
        return True
    return isinstance(value, ast.Name) and event.name in event.ask.of_scope(_computed).get(value.id, ())


def _computed(root: ast.AST) -> dict[str, set[str]]:
    """The attributes that local names are computed from."""
    found: dict[str, set[str]] = {}
    for node in nodes(root):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name):
                assert isinstance(node, ast.Assign)
                attributes = {part.attr for part in nodes(node.value) if isinstance(part, ast.Attribute)}
                found.setdefault(target.id, set()).update(attributes)
    return found


def _searched_for(root: ast.AST) -> frozenset[str]:
    """The names that a `while` changes until they pass its test: from a number that passes, nothing is changed."""
    found: set[str] = set()
    for node in nodes(root):
        if isinstance(node, ast.While):
            asked = {part.id for part in nodes(node.test) if isinstance(part, ast.Name)}
            changed = (n.target for n in nodes(node) if isinstance(n, ast.AugAssign))
            found.update(target.id for target in changed if isinstance(target, ast.Name) and target.id in asked)
    return frozenset(found)


def _read_as_they_are(root: ast.AST) -> dict[str, set[str]]:
    """By name, the attributes that are bound to it and nothing else; an empty text where it is something else."""
    found: dict[str, set[str]] = {}
    for node in nodes(root):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            attr = node.value.attr if isinstance(node.value, ast.Attribute) else ""
            found.setdefault(node.targets[0].id, set()).add(attr)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, set()).add("")
    return found


def _reads(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == name for n in ast.walk(node))


def _made_in_call(event: Call, owner: ast.Name) -> bool:
    """Whether compiled code makes an object whose list grows: it is gone when the call ends."""
    return event.ask.is_made_here(owner) and owner.id not in event.ask.of_scope(_other_names)


def _other_names(root: ast.AST) -> frozenset[str]:
    """The names that are bound to what an attribute holds, or another name: `state = self.state`."""
    found = (node for node in nodes(root) if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call))
    return frozenset(target.id for node in found for target in node.targets if isinstance(target, ast.Name))


def _made_here(event: Call, function: Function) -> bool:
    """Whether the function around is compiled too, in the same call: what is its own ends with it."""
    compiled = itertools.takewhile(lambda caller: caller.region is not None, event.ask.callers())
    return any(caller.function is not None and caller.function is function.parent for caller in compiled)


def _outlives(event: Call, name: str) -> bool:
    """Whether a name is a mutable default, or belongs to an enclosing scope or the module."""
    function = event.enclosing
    if function is None:
        return False
    if event.ask.captures(name):
        return not _made_here(event, function)
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    for argument, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        if argument.arg == name and isinstance(default, (ast.List, ast.Dict)):
            # Bound anew (`seen = seen[:]`, `seen = seen or []`) it may be another list by now.
            return name not in function.stored_names()
    return of_file(event, name)
