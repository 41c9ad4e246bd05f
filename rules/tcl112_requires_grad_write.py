"""TCL112: autograd bookkeeping in compiled code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.events import Attribute, Call, Enter, Event, Feature, GraphBreak, Store
from tclint.fixes.places import Place
from tclint.fixes.recipes import display
from tclint.fixes.switches import switch_on
from tclint.model.finding import Applicability, Effect, Finding, Fix, Severity
from tclint.program import Function
from tclint.rules import _leaves
from tclint.rules._constructors import Constructors
from tclint.rules._consumed import untraced
from tclint.ruleset.rule import Rule, whole_frame
from tclint.sources.tree import nodes, same
from tclint.torch_facts import dtypes, facts
from tclint.values import INPUT, NO_GRADIENT, PARAMETER, RAW, Const, Object, Tensor, Value, tensor_of

# Making a parameter, with its id: which modules do was asked.
_PARAMETER: Final = "GB0264"
# What Dynamo meets in a constructor that it cannot trace as part of a graph.
_UNINITIALISED: Final = "GB0119"
# A leaf among the outputs, or what is computed from it.
_LEAKED: Final = "GB8985"
# What was heard for a call on torch 2.13.
# Has the gradients of `torch.autograd.grad` and `backward` in the graph. Tried on 2.13; older releases may not know it.
_SWITCH: Final = "trace_autograd_ops"
_TRACED_SINCE: Final = (2, 13)
_MADE: Final = "not graph_break_on_nn_param_ctor"
_PRICE: Final = (
    "the switch holds for everything that the process compiles; wrong where the gradient of something that comes into the "
    "compiled function is asked for and only there becomes a leaf"
)
_HOOKED: Final = "module with a backward hook"
_FREEZES: Final = re.compile(rb"requires_grad(_\(| *=)\s*(requires_grad *=)?\s*(?!True\b|\))")
"""A gradient that is switched off, or by what nobody knows."""
_MEASURED: Final = {"requires_grad_": "GB0125", "retain_grad": "GB0108"}


class RequiresGradWrite(Rule):
    """Writing `requires_grad`, calling `backward` or building leaves inside the region ends the graph.

    `x.requires_grad = True`, `x.requires_grad_()` on an input or on what is then returned, `y.retain_grad()`, `loss.backward()`,
    `torch.zeros(..., requires_grad=True)`, `nn.Parameter(...)`, a layer that is built with its parameters
    (`nn.Linear(8, 8)(x)`) and assigning `.data` change autograd state that Dynamo does not record. A module of your own that
    builds such a layer breaks the graph there, and once more at `super().__init__()`.

    Bad::

        def f(x):
            x.requires_grad_(True)
            return x * 2

    Good::

        def f(x):
            return x * 2  # the caller sets requires_grad

    Fix: move it out of the region: set `requires_grad` in the caller, call `backward` on the result. `--unsafe-fixes`
    makes a leaf that lives in one call a plain tensor: wrong where its gradient is asked for. Where a tensor of the function's own
    is only told to require a gradient under a condition, compiled runs leave that out.
    `torch.autograd.grad` of what was computed from parameters stays where it is since torch 2.13: the switch
    `torch._dynamo.config.trace_autograd_ops` has it in the graph.
    """

    code, name = "TCL112", "requires-grad-write"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    subjects = {"attribute": (Tensor,)}
    graph_breaks = (
        *("GB0206", "GB0125", "GB0123", "GB0225", "GB0264", "GB0226", "GB0056", "GB0220", "GB9186", "GB0104"),
        *("GB0108", "GB8985", "GB7324", "GB0119"),
    )
    calls = (*facts.named("touches autograd's state"), *facts.named("makes a leaf"))
    owns = facts.named("is autograd's alone")

    def __init__(self) -> None:
        super().__init__()
        self._constructors = Constructors()

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        for entered, call in self._constructors.enter(event):
            yield self._uninitialised(entered, call)

    def on_graph_break(self, event: GraphBreak) -> Iterator[Finding]:
        for entered, call in self._constructors.broke(event):
            yield self._uninitialised(entered, call)

    def _uninitialised(self, event: Event, call: ast.Call) -> Finding:
        function = event.enclosing
        assert function is not None
        assert function.cls is not None
        return self.finding(
            event,
            f"`{function.cls.name}` is built in compiled code, and the graph breaks while it is; Dynamo cannot trace a module "
            "that is not there yet, and breaks the graph here",
            node=call,
            graph_breaks=self.ids(_UNINITIALISED),
            help="build it in the constructor of the module that uses it",
        )

    def on_store(self, event: Store) -> Iterator[Finding]:
        tensor = tensor_of(event.receiver)
        if event.target != "attribute" or tensor is None:
            return
        if event.name == "requires_grad":
            yield self._finding(event, "`requires_grad` is written", tensor)
        elif event.name == "data" and not tensor.flags & (PARAMETER | INPUT):
            yield self._finding(event, "`.data` of an intermediate is written", tensor)
        elif (
            event.name == "data"
            and isinstance(event.value, Tensor)
            and event.value.dtype == "f"
            and event.value.origin.node is not None
        ):
            if _names_another_dtype(event.value.origin.node):
                yield self._finding(event, "`.data` is replaced by another dtype", tensor)

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        if event.name == "grad_fn" and isinstance(event.receiver, Tensor) and not event.receiver.flags & INPUT:
            yield self._finding(event, "`grad_fn` is read", event.receiver)

    def on_feature(self, event: Feature) -> Iterator[Finding]:
        if event.name == _HOOKED:
            yield self._finding(event, f"a {_HOOKED} is called", None)

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        if name == "Tensor.requires_grad_":
            tensor = tensor_of(event.receiver) if event.receiver else None
            verdict = self.verdict(event)
            anywhere = verdict is not None and verdict.breaks == "always" and not verdict.only_on_input
            given = event.args[0] if event.args else event.keywords.get("requires_grad")
            if tensor is not None and not anywhere and self._leaks(event, tensor, given):
                yield self._finding(event, "what `requires_grad_()` makes a leaf of is handed out", tensor, _LEAKED)
                return
            if tensor is None or not (anywhere or _is_given(tensor)):
                return
            if _stays(event, given, tensor):
                return
            what = "`requires_grad_()`" if anywhere else "`requires_grad_()` on an input or parameter"
            yield self._finding(event, what, tensor)
        elif name in facts.named("makes a leaf"):
            asked = event.keywords.get("requires_grad")
            if isinstance(asked, Const) and asked.value is True:
                yield self._finding(event, "a leaf that requires grad is created", None)
            elif asked is not None and _follows_training(event.node):
                yield self._finding(event, "a leaf that requires grad in training is created", None)
        elif name.startswith("torch.optim."):
            if event.method in ("step", "zero_grad"):
                yield self._finding(event, f"`{event.method}` of an optimizer", None)
            elif event.receiver is None and (made := self.verdict(event)) is not None and made.breaks == "always":
                yield self._finding(event, f"`{event.method}` is made", None)
        elif name == "torch.nn.Module.zero_grad":
            verdict = self.verdict(event)
            if verdict is None or verdict.breaks != "never":
                yield self._finding(event, "`zero_grad()`", None)
        elif name.startswith("torch.nn.") and event.receiver is not None:
            given = event.args[0] if event.args else event.keywords.get("requires_grad")
            if event.method == "requires_grad_" and not _stays(event, given):
                yield self._finding(event, "`requires_grad_()` of a module", None)
            elif event.method in facts.named("casts a module to another dtype"):
                yield self._finding(event, f"a module is cast with `.{event.method}()`", None)
            elif (
                event.method == "forward"
                and isinstance(event.receiver, Object)
                and event.receiver.kind == "backward-hook"
            ):
                yield self._finding(event, f"a {_HOOKED} is called", None)
        elif name.startswith("torch.nn.") and event.method == "Parameter":
            given = tensor_of(event.args[0]) if event.args else None
            if event.configured(_MADE) or given is not None and _is_given(given):
                return  # of a tensor that comes from outside Dynamo makes one before the graph begins
            known = facts.at(self.release).call(event.name)
            if known is None or any(form.fails for form in known.forms):
                yield self._finding(event, "`nn.Parameter` is created", None, _PARAMETER)
        elif name.startswith("torch.nn.") and event.receiver is None and self._makes_parameters(event):
            affine = event.keywords.get("affine", event.keywords.get("elementwise_affine"))
            if not (isinstance(affine, Const) and affine.value is False):
                yield self._finding(event, f"`nn.{event.method}` and its parameters are built", None)
        elif not name.startswith("torch.nn."):
            verdict = self.verdict(event)
            if verdict is not None and verdict.breaks == "never":
                return
            if self._differentiates(event) and event.configured(_SWITCH):
                if (left := untraced(event)) is not None:
                    yield self._finding(event, left, None)
                return
            yield self._finding(event, f"`{event.method}`", tensor_of(event.receiver) if event.receiver else None)

    def _leaks(self, event: Call, tensor: Tensor, given: Value | None) -> bool:
        """Whether a leaf that the region makes is returned with its gradient, where the release traces it otherwise."""
        function = event.enclosing
        if _is_given(tensor) or function is None or _leaves.keeps_no_gradients(function):
            return False
        if given is not None and not (isinstance(given, Const) and given.value is True):
            return False
        if event.cls is not None and event.ask.external_base(event.cls) == "torch.autograd.Function":
            return False
        node = event.node
        if not isinstance(node, ast.Call) or not _leaves.has_no_gradient(event, tensor):
            return False
        if _leaves.is_asked_for(event, function.node, node):
            # The graph ends where its gradient is asked for; until 2.15 the leaf is among what that graph gives back.
            return self.target < (2, 15) and not event.configured(_SWITCH)
        return _leaves.is_handed_out(function.node, node)

    def _makes_parameters(self, event: Call) -> bool:
        verdict = self.verdict(event)
        return verdict is not None and verdict.id == _PARAMETER

    def _differentiates(self, event: Call) -> bool:
        """Whether a gradient is computed that the release can have in the graph, where it is told to."""
        computes = event.method in ("grad", "backward") and event.name.startswith(("torch.autograd.", "Tensor."))
        return computes and self.target >= _TRACED_SINCE

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        # What `backward` leaves in `.grad` is guarded: the second call would compile again.
        gives = isinstance(event, Call) and event.method == "grad" and self._differentiates(event)
        if gives and isinstance(event, Call) and not _is_bound_to_break(event):
            return switch_on(event, _SWITCH, _PRICE)
        if isinstance(event, Call) and (found := _plain(event)) is not None:
            return found
        if isinstance(event, Attribute) and (found := _asks_for_gradient(event)) is not None:
            return found
        if isinstance(event, Store) and (found := _left_out(event)) is not None:
            return found
        return display(
            "move it to the caller", "autograd state is set before the region is entered, or after it returns"
        )

    def _finding(
        self, event: Store | Attribute | Call | Feature, what: str, tensor: Tensor | None, id_: str = ""
    ) -> Finding:
        measured = id_ or (_MEASURED.get(event.method, "") if isinstance(event, Call) else "")
        if isinstance(event, Call) and event.receiver is None and self._makes_parameters(event):
            measured = _PARAMETER
        return self.finding(
            event,
            f"{what} in compiled code; Dynamo breaks the graph here{whole_frame(event)}",
            about=tensor,
            graph_breaks=self.ids(measured),
            help="do it outside the compiled region",
        )


def _names_another_dtype(node: ast.AST) -> bool:
    """Whether an expression casts to what is not the dtype that parameters have: `.half()`, `.to(torch.float64)`."""
    read = (each.attr for each in nodes(node) if isinstance(each, ast.Attribute))
    return any({dtypes.cast(name), dtypes.exact(f"torch.{name}")} - {"", "float32"} for name in read)


def _is_given(tensor: Tensor) -> bool:
    """An argument of the region itself, or a parameter: a view or a detached one is the region's own."""
    return bool(tensor.flags & PARAMETER) or tensor.flags & (INPUT | RAW) == INPUT | RAW


def _stays(event: Call, given: Value | None, tensor: Tensor | None = None) -> bool:
    """Whether `requires_grad_` tells a tensor or a module what it is already: a parameter needs a gradient where nobody in
    the file has frozen one; what comes in, what is computed from it and a buffer need none."""
    wanted = given.value if isinstance(given, Const) else True if given is None else None
    if tensor is not None and (not tensor.flags & PARAMETER or tensor.flags & NO_GRADIENT):
        return wanted is False
    return wanted is True and not _FREEZES.search(event.module.data)


def _is_bound_to_break(event: Event) -> bool:
    """Whether this function, or one that calls it, makes a leaf or empties gradients.

    Until 2.15 the graph would have to give the leaf back; and what an optimizer does breaks it all the same.
    """
    own = event.enclosing
    functions = [own, *(frame.function for frame in event.ask.callers())]
    return any(function is not None and function.index(_touches_leaves) for function in functions)


def _touches_leaves(function: Function) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in ("requires_grad_", "zero_grad") for n in nodes(function.node))


def _follows_training(node: ast.AST) -> bool:
    """Whether `requires_grad=self.training` is written."""
    asked = [k.value for k in node.keywords if k.arg == "requires_grad"] if isinstance(node, ast.Call) else []
    return any(isinstance(value, ast.Attribute) and value.attr == "training" for value in asked)


def _plain(event: Call) -> Fix | None:
    """A leaf that is made and used in one call, as a plain tensor: `nn.Parameter(t)` and `requires_grad=True` go."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Call) or not isinstance(place.parent, ast.Assign):
        return None
    if not all(isinstance(target, ast.Name) for target in place.parent.targets):
        return None
    note = "the tensor is no leaf any more: wrong where its gradient is asked for, or where nothing that is added to it has one"
    if event.method == "Parameter" and len(node.args) == 1 and not node.keywords and isinstance(event.args[0], Tensor):
        edit = place.replace(node, place.source(node.args[0]))
        return Fix("use a plain tensor", Applicability.UNSAFE, (edit,), note)
    asked = next((k for k in node.keywords if k.arg == "requires_grad"), None)
    if asked is None or not node.args or "\n" in place.source(node):
        return None
    rest = [place.source(part) for part in (*node.args, *(k for k in node.keywords if k is not asked))]
    edit = place.replace(node, f"{place.source(node.func)}({', '.join(rest)})")
    return Fix("use a plain tensor", Applicability.UNSAFE, (edit,), note)


def _left_out(event: Store) -> Fix | None:
    """`if flag: x.requires_grad = True` with `not torch.compiler.is_compiling()`: the function does without it elsewhere too."""
    place = Place(event)
    statement, tensor = place.statement, tensor_of(event.receiver)
    true = (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is True
    )
    outer = next((n for n in reversed(place.chain) if isinstance(n, ast.If)), None)
    torch = place.importing("torch")
    if statement is None or torch is None or not true or event.name != "requires_grad":
        return None
    if tensor is None or _is_given(tensor):
        return None
    if outer is None or outer.orelse or len(outer.body) != 1 or not same(outer.body[0], statement):
        return None
    test = place.source(outer.test)
    if isinstance(outer.test, (ast.NamedExpr, ast.IfExp)) or "\n" in test:
        return None
    if isinstance(outer.test, ast.BoolOp) and isinstance(outer.test.op, ast.Or):
        test = f"({test})"
    edit = place.replace(outer.test, f"not {torch[0]}.compiler.is_compiling() and {test}")
    note = "in compiled runs it requires no gradient of its own: wrong where its gradient is asked for, or a reentrant checkpoint needs it"
    return Fix("guard it with torch.compiler.is_compiling()", Applicability.UNSAFE, (*torch[1], edit), note)


def _asks_for_gradient(event: Attribute) -> Fix | None:
    """`y.requires_grad` for `y.grad_fn is not None`."""
    place = Place(event)
    node, test = place.node, place.parent
    if not isinstance(node, ast.Attribute) or not isinstance(test, ast.Compare) or not same(test.left, node):
        return None
    if len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return None
    if not isinstance(test.comparators[0], ast.Constant) or test.comparators[0].value is not None:
        return None
    asked = f"{place.source(node.value)}.requires_grad"
    text = asked if isinstance(test.ops[0], ast.IsNot) else f"not {asked}"
    note = "wrong where the tensor may be a leaf: that one requires a gradient and has no grad_fn"
    return Fix("ask for requires_grad", Applicability.UNSAFE, (place.replace(test, text),), note)
