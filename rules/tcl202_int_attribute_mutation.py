"""TCL202: Python state on the module that changes in every call."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from tclint.events import Attribute, Call, Event, ProgramCall, Store
from tclint.events.variation import SETTLES
from tclint.fixes.recipes import display
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.program import Class, Function
from tclint.rules._scope import of_file
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes
from tclint.values import ClassValue, Const, Instance, Object, Scalar, Seq


class IntAttributeMutation(Rule):
    """A number or a list on the module that forward changes: one compilation for every new value.

    Dynamo guards on Python attributes of modules. `self.step += 1` makes the guard fail at every call, until the recompile
    limit (8) is hit and the function runs eagerly for good. A list that grows does the same through its length. (As a
    function argument an integer settles after one recompile, and so it does on an object that is no module.) Layers that are
    compiled one by one share their code: a number that differs from layer to layer, or another size of their parameters, is
    a compilation for each.

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
    subjects = {"attribute": (Instance,), "program_call": (ClassValue,)}
    scope = "any"
    calls = ("list.append", "list.extend", "list.insert")

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[tuple[str, str, str], set[int | str]] = {}
        """What the constructors of classes were given, by parameter."""
        self._read: dict[tuple[str, str], dict[tuple[str, int, int], Attribute]] = {}
        """Where compiled methods of a class read attributes."""

    def on_store(self, event: Store) -> Iterator[Finding]:
        if not event.compiled or event.target != "attribute" or event.constructing:
            return
        if not isinstance(event.receiver, Instance) or not event.ask.is_nn_module(event.receiver.cls):
            return  # of other objects it becomes dynamic
        if event.inside:
            return  # TCL125: nothing is compiled that could be compiled again
        if not (isinstance(event.value, Scalar) and event.value.type in ("int", "float", "number")):
            return
        node = event.node
        reads_itself = event.augmented or (
            isinstance(node, ast.Assign) and _reads(node.value, event.name) and event.value.source in ("attr", "size")
        )
        if reads_itself and event.value.source != "data":
            yield self._finding(event, f"`self.{event.name}` changes in every call")
        elif event.value.source == "size" and _decides(event):
            yield self._finding(event, f"`self.{event.name}` keeps a size for the next call")

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
            if isinstance(owner, Instance) and place.attr in event.ask.attributes(owner):
                yield self._finding(event, f"`{place.value.id}.{place.attr}` grows in every call")
        elif isinstance(place, ast.Name) and _outlives(event, place.id):
            yield self._finding(event, f"`{place.id}` outlives the call and grows in every one")

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        """A number that differs from layer to layer, read in a block that is compiled layer by layer."""
        if not event.compiled or not isinstance(event.receiver, Instance) or event.site is None:
            return
        if event.site.decorator:
            cls = event.receiver.cls
            place = (event.name, getattr(event.node, "lineno", 0), getattr(event.node, "col_offset", 0))
            self._read.setdefault(_place(cls), {}).setdefault(place, event)
            yield from self._shared(cls)
        if not event.site.many:
            return
        value = event.ask.attributes(event.receiver).get(event.name)
        if isinstance(value, Object) and self._sized(event.receiver.cls, event.name):
            yield self.finding(
                event,
                f"`self.{event.name}` has another size in every layer, and each layer is compiled by itself"
                f" ({event.site.path}:{event.site.line}): parameters are static, one compilation for every size",
                confidence=Confidence.HIGH,
                help="compile the stack of layers as one",
            )
            return
        # A float becomes dynamic, unless an operation burns it in: TCL204.
        if isinstance(value, Scalar) and value.type in ("int", "number") and not value.source:
            yield self.finding(
                event,
                f"`self.{event.name}` differs from layer to layer, and each layer is compiled by itself"
                f" ({event.site.path}:{event.site.line}): one compilation for every value, up to the limit",
                confidence=Confidence.HIGH,
                help="keep it in a tensor buffer, or compile the stack of layers as one",
            )

    def on_program_call(self, event: ProgramCall) -> Iterator[Finding]:
        """What the layers of a class were made with."""
        assert isinstance(event.function, ClassValue)
        cls = event.function.cls
        init = event.ask.method(cls, "__init__")
        if init is None:
            return
        names = [argument.arg for argument in init.node.args.args[1:]]
        for name, value in (*zip(names, event.args, strict=False), *event.keywords.items()):
            if isinstance(value, Const) and type(value.value) in (int, str):
                self._made.setdefault((*_place(cls), name), set()).add(value.value)
        yield from self._shared(cls)

    def _shared(self, cls: Class) -> Iterator[Finding]:
        """A method that is compiled once for all objects of a class, which differ in what it reads."""
        for event in self._read.get(_place(cls), {}).values():
            if self._configured(cls, event.name):
                yield self.finding(
                    event,
                    f"`self.{event.name}` differs from object to object, and the compiled method is one for all:"
                    " one compilation for every value, up to the limit",
                    confidence=Confidence.HIGH,
                    help="compile the whole model that holds these objects",
                )

    def _configured(self, cls: Class, attribute: str) -> bool:
        """Whether an attribute keeps a parameter of the constructor that was given three values or more."""
        value = _assigned(cls, attribute)
        return isinstance(value, ast.Name) and self._differs(cls, value)

    def _sized(self, cls: Class, attribute: str) -> bool:
        """Whether a layer of the constructor takes its size from such a parameter."""
        value = _assigned(cls, attribute)
        return isinstance(value, ast.Call) and self._differs(cls, value)

    def _differs(self, cls: Class, value: ast.expr) -> bool:
        given = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
        return any(len(self._made.get((*_place(cls), name), ())) > SETTLES for name in given)

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Store):
            name = event.name
            title = f'register_buffer("{name}", torch.zeros((), dtype=torch.int64)) and self.{name}.add_(1)'
            return display(title, "who reads it then gets a tensor")
        return None

    def _finding(self, event: Event, what: str) -> Finding:
        return self.finding(
            event,
            f"{what}; Dynamo guards on it and compiles again each time, up to the recompile limit",
            confidence=Confidence.HIGH,
            help="keep it in a tensor buffer, or do it in the caller",
        )


def _place(cls: Class) -> tuple[str, str]:
    return cls.module.path, cls.qualname


def _assigned(cls: Class, attribute: str) -> ast.expr | None:
    """What the constructor binds an attribute to."""
    init = cls.methods.get("__init__")
    return init.node_index(_bound).get(attribute) if init is not None else None


def _bound(constructor: ast.AST) -> dict[str, ast.expr]:
    """What a constructor binds first to each attribute."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(constructor):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute):
                assert isinstance(node, ast.Assign)
                found.setdefault(target.attr, node.value)
    return found


def _decides(event: Store) -> bool:
    """Whether the function compares the attribute with something."""
    return event.enclosing is not None and event.name in event.ask.of_scope(_compared)


def _compared(root: ast.AST) -> frozenset[str]:
    """The attributes that are part of a comparison."""
    parts = (part for node in nodes(root) if isinstance(node, ast.Compare) for part in (node.left, *node.comparators))
    return frozenset(n.attr for part in parts for n in nodes(part) if isinstance(n, ast.Attribute))


def _reads(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == name for n in ast.walk(node))


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
            return True
    return of_file(event, name)
