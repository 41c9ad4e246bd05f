"""TCL120: Python that Dynamo does not trace."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import Final

from tclint.events import (
    Apart,
    Assert,
    Attribute,
    Branch,
    Call,
    Compile,
    Define,
    Enter,
    Event,
    Feature,
    Format,
    GraphBreak,
    Loop,
    Operation,
    ProgramCall,
    Return,
    Store,
    Subscript,
    Use,
)
from tclint.fixes.places import Place, node_at
from tclint.fixes.recipes import compute_once, skip_unread_store
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules import (
    _answered_in_c,
    _construction,
    _cycles,
    _generators,
    _hooks,
    _keys,
    _language,
    _operators,
    _protocols,
    _refused,
    _registered_ops,
    _script_objects,
    _subclasses,
    _unfit,
    _uses,
)
from tclint.rules._bound import method_of_made
from tclint.rules._scope import header
from tclint.rules._spellings import class_of_file, plain_class, plain_property
from tclint.ruleset.rule import Rule, whole_frame
from tclint.sources.tree import yields
from tclint.torch_facts import calls as asked
from tclint.torch_facts import facts, features, objects
from tclint.values import (
    UNKNOWN,
    ClassValue,
    Dict,
    External,
    FunctionValue,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Value,
    tensor_of,
)
from tclint.values.operators import METHODS

# Objects implemented in C whose operators and methods have no tracing rule.
_LEAVES: Final = "exception that leaves the compiled function"
_OPAQUE: Final = facts.named("has no tracing rule for its operators")

_BOUND: Final = "types.MethodType"
_UNNAMED: Final = "GB0092"
_PLAIN: Final = "use plain Python numbers, lists and tensors in the region"
_READ: Final = "number of a tensor as a key"
_RAISING: Final = (_language.NO_FAKE, _script_objects.LACKING, _script_objects.DATA, _script_objects.WRITTEN)
"""No graph is made where one of these is met."""
_REFUSED: Final = "operation on sizes that do not fit"


class UnsupportedPython(Rule):
    """Python that Dynamo has no rule for.

    A class defined in the region, a generator as the compiled function, objects implemented in C, writing `__class__` or a
    function's attributes, formatting containers of tensors: each ends the graph. So does a comprehension in a function that
    another break has left to eager mode, on Python until 3.11 (`target-python`): there it is a function of its own.

    Bad::

        def f(x):
            class State:
                scale = 2
            return x * State.scale

    Good::

        SCALE = 2

        def f(x):
            return x * SCALE

    Fix: define it at module level; use plain numbers, lists and tensors in the region. `--unsafe-fixes` asks once, in
    `__init__` or at the top of the file: wrong where the object changes later. It also moves a class to the top level,
    calls `Box(x)` for `Box[T](x)`, and makes a `cached_property` a plain one.
    """

    code, name = "TCL120", "unsupported-python"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    subjects = {
        "subscript": (Object, Dict, Seq, External, Instance),
        "branch": (Instance,),
        "program_call": (ClassValue, FunctionValue),
        "loop": (Seq, Instance, ClassValue, Object),
        "attribute": (Object, Tensor),
        "return": (Object, Seq, Tensor, Instance, type(UNKNOWN)),
    }
    graph_breaks = (
        "GB8977",
        "GB0003",
        "GB4271",
        "GB0467",
        "GB6012",
        "GB0808",
        "GB4411",
        "GB7786",
        "GB4880",
        "GB0162",
        "GB3383",
        "GB8335",
        "GB7312",
        "GB1220",
        "GB4315",
        _UNNAMED,
    )
    calls = facts.named("has ways of calling that are features of the language")

    def __init__(self) -> None:
        super().__init__()
        self._changed: deque[object] = deque(maxlen=16)
        """The last runs of compiled functions in which a dict is written that was there before."""
        self._broken: deque[tuple[object, ast.AST]] = deque(maxlen=16)
        """The last graph breaks: the run of the function, and what breaks there."""

    def on_define(self, event: Define) -> Iterator[Finding]:
        if event.what == "class" and not event.configured("enable_trace_load_build_class"):
            yield from self._of_language(event, "class in a function")

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        if not event.at_entry or b"yield" not in event.module.raw:
            return
        if isinstance(event.node, ast.FunctionDef) and yields(event.node):
            # To Python, and so to Dynamo, a function begins with its decorators.
            yield self._finding(
                event, "the compiled function is a generator", next(iter(event.node.decorator_list), None)
            )

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target == "attribute":
            if event.name == "__class__":
                yield from self._of_language(event, "write of __class__")
            elif isinstance(event.receiver, ClassValue):
                yield from self._of_language(event, "write of an attribute of a class")
                base = event.ask.external_base(event.receiver.cls)
                yield from self._of_language(event, f"write of data of a class below {base}")
            elif isinstance(event.receiver, FunctionValue) and event.name and event.receiver.function.parent is None:
                # One that the region makes is its own: nobody else sees the attribute.
                yield from self._of_language(event, "write of an attribute of a function")
        elif event.target == "subscript" and _opaque(event.receiver):
            yield self._finding(event, "an element of a C object is written")
        elif event.target == "subscript":
            yield from self._of_key(event)
            if isinstance(event.receiver, Dict) and _uses.writes_held(event):
                self._changed.append(event.ask.this_run())
        written = _language.of_write(event) or _hooks.of_store(event) or _protocols.of_store(event)
        yield from self._of_language(event, written or _subclasses.of_store(event))

    def _of_key(self, event: Store | Subscript) -> Iterator[Finding]:
        name = _keys.of_key(event)
        read = asked.verdict("Tensor.tolist", self.release) if name == _READ else None
        if read is None or read.breaks != "always":  # else the graph ends where the number is read
            yield from self._of_language(event, name)

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        if _opaque(event.receiver):
            yield self._finding(event, "an element of a C object is read")
        yield from self._of_key(event)
        yield from self._of_language(event, _answered_in_c.of_item(event) or _protocols.of_item(event))

    def on_feature(self, event: Feature) -> Iterator[Finding]:
        if event.name == _LEAVES:  # a program for it would fail: no release was asked
            yield self._finding(event, "an exception leaves the compiled function")
        yield from self._of_language(event, event.name)

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        read = _language.of_exception(event) or _subclasses.of_attribute(event)
        yield from self._of_language(
            event, _script_objects.of_attribute(event) or read or _language.of_attribute(event)
        )

    def on_assert(self, event: Assert) -> Iterator[Finding]:
        yield from self._of_language(event, _language.of_assert(event))

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        yield from self._of_language(event, _answered_in_c.of_branch(event))
        if event.keyword == "not" and isinstance(event.test, Instance) and event.ask.method(event.test.cls, "__bool__"):
            yield from self._of_language(event, "__bool__ in not")
        elif isinstance(event.test, Instance):
            who = event.ask.below(event.test, getattr(event.node, "test", event.node), "__bool__", "__len__")
            yield from self._of_language(event, f"truth of {who}")

    def on_format(self, event: Format) -> Iterator[Finding]:
        if tensor_of(event.value) is not None and getattr(event.node, "conversion", -1) == ord("r"):
            yield from self._of_language(event, "tensor in an f-string with !r")
        yield from self._of_language(event, _language.of_format(event) or _language.of_exception(event))

    def _of_language(self, event: Event, name: str | None) -> Iterator[Finding]:
        words = _language.told(name, self.release) if name is not None else ""
        if words and name in _RAISING:
            yield self.finding(
                event,
                f"{words}: torch.compile raises here",
                confidence=Confidence.HIGH,
                effect=Effect.ERROR,
                help=_language.advice(name, self.release) or _PLAIN,
            )
        elif words and name == _REFUSED:
            # An id of the registry, and yet no graph is made: the error is one of the compiler's own.
            yield self.finding(
                event,
                f"{words}: until 2.14 torch.compile raises here, and the handler is not entered",
                confidence=Confidence.HIGH,
                graph_breaks=self.ids("GB4315"),
                help=_language.advice(name, self.release),
            )
        elif words and name is not None:
            # Whether a package is there, source does not show: where it is, nothing breaks.
            sure = Confidence.LOW if name == _language.MISSING else Confidence.HIGH
            yield self._finding(event, words, help=_language.advice(name, self.release) or _PLAIN, confidence=sure)

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        yield from self._of_language(event, _answered_in_c.of_operation(event))
        hashed = event.operator in ("key", "member", "In", "NotIn")
        if _is_compared(event):
            return  # asked for itself: a call of the method that compares
        compared = _operators.of_comparison(event)
        if compared is not None:
            yield from self._of_language(event, compared)
        elif _opaque(event.right) or (_opaque(event.left) and not hashed):
            yield self._finding(event, "an operator on a C object")
        else:
            yield from self._of_language(event, _operators.of_operation(event))

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        known = _language.of_call(event) or _language.of_exception(event)
        for feature in dict.fromkeys(
            (
                known or _subclasses.of_call(event) or _registered_ops.of_call(event),
                _unfit.of_call(event) or _script_objects.of_call(event),
                _hooks.of_call(event) or _protocols.of_call(event) or _refused.of_call(event),
                _answered_in_c.of_call(event),
            )
        ):
            yield from self._of_language(event, feature)
        if event.args and _opaque(event.args[0]) and _language.walks(event):
            yield self._finding(event, "a C object is gone through")
        elif name == "builtins.len":
            if event.args and _opaque(event.args[0]):
                yield self._finding(event, "`len` of a C object")
            elif event.args and _is_set_of_tensors(event.args[0]):
                yield self._finding(event, "a set of tensors is counted")
            elif (
                event.args
                and isinstance(text := event.args[0], Scalar)
                and text.type == "str"
                and text.source == "tensor"
            ):
                yield self._finding(event, "`len` of a tensor's text")
        elif name in ("builtins.str", "builtins.repr"):
            value = event.args[0] if event.args else None
            tensor = tensor_of(value) if value is not None else None
            if tensor is None and isinstance(value, (Seq, Dict)):
                tensor = tensor_of(value.element())
            if tensor is not None:
                yield self._finding(event, f"`{name[9:]}()` of a tensor")
        elif name == "super.__init__" and not event.constructing:
            yield self._finding(event, "`__init__` is run again")
        elif name == "dataclasses.fields":
            if event.args and isinstance(event.args[0], ClassValue):
                yield self._finding(event, "`dataclasses.fields` of a class")
        elif name == "builtins.sorted":
            values = event.args[0] if event.args else None
            if isinstance(values, Seq) and "key" not in event.keywords and _has_object(values.element()):
                yield from self._of_language(event, "sorted() of objects")
        elif name.startswith("pydantic."):
            yield self._finding(event, f"`{name}`")

    def on_program_call(self, event: ProgramCall) -> Iterator[Finding]:
        if isinstance(event.function, ClassValue):
            base = event.ask.external_base(event.function.cls)
            if _construction.is_pydantic(event):
                yield self._finding(event, "a pydantic model is built")
            elif _construction.is_partial_dict(event):
                yield self._finding(event, "a TypedDict with optional keys is built")
            elif base == "torch.Tensor" and _construction.is_built_from_sizes(event):
                yield self._finding(event, "a tensor subclass is built from sizes")
            else:
                for feature in _construction.of_construction(event):
                    yield from self._of_language(event, feature)
        elif isinstance(event.function, FunctionValue) and event.function.function.decorators:
            for feature in _language.of_decorators(event, event.function.function):
                yield from self._of_language(event, feature)
        for feature in _protocols.of_program_call(event):
            yield from self._of_language(event, feature)

    def on_return(self, event: Return) -> Iterator[Finding]:
        if event.at_entry and isinstance(event.node, ast.Return):
            for feature in (*_hooks.of_return(event), *_protocols.of_return(event), _cycles.of_return(event)):
                yield from self._of_language(event, feature)
            for feature, where in _generators.of_return(event):
                if words := _language.told(feature, self.release):
                    yield self._finding(event, words, where, help=_language.advice(feature, self.release))

    def on_graph_break(self, event: GraphBreak) -> Iterator[Finding]:
        unhanded = facts.at(self.release).named("cannot be handed over at a graph break")
        unmade = facts.at(self.release).named("is of an object that cannot be made again at a graph break")
        methods = {name.rpartition(".")[2] for name in unhanded}
        if event.function is None and event.at.sure and event.resumes:
            self._broken.append((event.ask.this_run(), event.node))
        # Where only some runs get to the break, the others hand nothing over: a switch may be off for good.
        if event.function is None or not event.at.sure:
            return
        if given := _language.given_by_method(event.node, methods):
            yield self._finding(event, f"`{given}` is handed to a function in which the graph breaks")
        elif _BOUND in unmade and (method := method_of_made(event)):
            yield self._finding(
                event,
                f"the graph breaks in `{method}`, a method of an object that compiled code makes, which cannot be handed over there",
                help="mend the break in the method, or make the object before the region and hand it in",
                graph_breaks=self.ids(_UNNAMED),
            )

    def on_use(self, event: Use) -> Iterator[Finding]:
        left = any(_uses.is_left_by(event, run, node) for run, node in self._broken)
        if not left and not _uses.is_held(event):
            return  # what compiled code makes itself nobody was asked about
        made = "a graph break has made" if left else "was made outside"
        if any(each is event.ask.this_run() for each in self._changed):
            yield from self._of_language(event, f"read of a {event.value.maker} after a write to a dict")
        operation, node = _uses.of_use(event)
        if operation == "Eq" and f"comparison of a {event.value.maker}" in features.table().features:
            return  # told where it is compared
        happens = next(
            filter(None, (objects.broken(event.value.maker, each, self.release) for each in (operation, _uses.READ))),
            "",
        )
        if happens:
            yield self._finding(event, f"a `{event.value.maker}` that {made} {happens}", node)
        elif failing := objects.broken(event.value.maker, operation, self.release, raises=True):
            yield self.finding(
                event,
                f"a `{event.value.maker}` that {made} {failing}: torch.compile raises here",
                node=node,
                confidence=Confidence.HIGH,
                effect=Effect.ERROR,
                help=_PLAIN,
            )

    def on_apart(self, event: Apart) -> Iterator[Finding]:
        if not event.ask.calls_comprehensions() or not objects.broken(event.iterator, "loop", self.release):
            return
        yield self.finding(
            event,
            f"a graph break leaves this function to eager mode{'' if event.at.leaves else ' in training'}, where Python until 3.11 calls a comprehension as a function of its"
            " own; Dynamo does not go through the iterator that it gets, and breaks here too",
            severity=Severity.LOW,
            confidence=Confidence.HIGH,
            help="mend that break: then the comprehension is traced with its function; or use a loop",
        )

    def on_loop(self, event: Loop) -> Iterator[Finding]:
        values = event.iterable
        if _opaque(values):
            yield self._finding(event, "a loop over a C object")
            return
        yield from self._of_language(event, _answered_in_c.of_loop(event) or _language.of_loop(event))
        if isinstance(values, Seq) and values.kind == "set" and tensor_of(values.element()) is not None:
            # A set that comes from outside must be guarded on; one that the function makes is nobody else's.
            walked = event.node.iter if isinstance(event.node, ast.For) else event.node
            if isinstance(walked, ast.Attribute) or _language.is_handed_in(values):
                yield self._finding(event, "a set of tensors is iterated")

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        if event.positional > 1:
            yield self._finding(event, "`torch.compile` with more than one positional argument")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Store):
            return skip_unread_store(event, event.node) if isinstance(event.receiver, FunctionValue) else None
        if isinstance(event, Define):
            return class_of_file(event)
        if isinstance(event, ProgramCall) and not _construction.is_pydantic(event):
            return _as_dict(event) if _construction.is_partial_dict(event) else plain_class(event)
        if (found := plain_property(event)) is not None:
            return found
        if isinstance(event, (Call, ProgramCall, Operation, Use)) and isinstance(event.node, ast.expr):
            note = "the value is the one at start-up: wrong where the object changes, or where it is changed"
            # An object is read by its name; what breaks is what is done to it.
            return compute_once(event, note, node_at(event, finding.span, ast.expr) if isinstance(event, Use) else None)
        return None

    def _finding(
        self,
        event: Event,
        what: str,
        where: ast.AST | None = None,
        help: str = _PLAIN,
        confidence: Confidence = Confidence.HIGH,
        graph_breaks: tuple[str, ...] | None = None,
    ) -> Finding:
        node = where or event.node
        return self.finding(
            event,
            f"{what}; Dynamo does not trace it and breaks the graph{whole_frame(event)}",
            node=header(node.iter if isinstance(node, ast.For) else node),
            confidence=confidence,
            help=help,
            graph_breaks=graph_breaks,
        )


def _has_object(element: Value, deep: int = 3) -> bool:
    """Whether what is sorted is an object, or a tuple with one: Dynamo asks for constants, also where the first parts decide."""
    if isinstance(element, Seq) and element.kind == "tuple":
        return deep > 0 and any(_has_object(part, deep - 1) for part in element.items or ())
    return isinstance(element, Instance) or (isinstance(element, Object) and element.name.startswith("torch.nn."))


def _is_set_of_tensors(value: Value) -> bool:
    """Whether this is a set of tensors that somebody hands in: Dynamo must guard on it and cannot."""
    if not isinstance(value, Seq) or value.kind != "set" or not _language.is_handed_in(value):
        return False
    return tensor_of(value.element()) is not None


def _is_compared(event: Operation) -> bool:
    """Whether the facts know what comparing an object does."""
    method = METHODS.get(event.operator, "")
    names = [value.name for value in (event.left, event.right) if isinstance(value, Object)]
    return isinstance(event.node, ast.Compare) and any(asked.key_of(f"{name}.__{method}__") for name in names)


def _opaque(value: Value) -> bool:
    return isinstance(value, Object) and value.name.startswith(_OPAQUE)


def _as_dict(event: ProgramCall) -> Fix | None:
    """`{"h": x}` for `Out(h=x)`: a TypedDict is a dict."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Call) or node.args or any(k.arg is None for k in node.keywords):
        return None
    items = ", ".join(f'"{k.arg}": {place.source(k.value)}' for k in node.keywords)
    return Fix("write the dict", Applicability.SAFE, (place.replace(node, f"{{{items}}}"),), "")
