"""Modes of torch that code enters: Dynamo guards on those that are in force at a call."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final

from tclint import events
from tclint.interpreter import bindings
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.interpreter.gradients import freeze
from tclint.sources.tree import nodes
from tclint.torch_facts import dtypes
from tclint.torch_facts import modes as facts
from tclint.values import (
    NONE,
    PARAMETER,
    PROVEN,
    UNKNOWN,
    Const,
    External,
    FunctionValue,
    Instance,
    Object,
    Tensor,
    Value,
)
from tclint.values.moments import Mode

_EXPECTING_METHODS: Final = frozenset({"assertRaises", "assertRaisesRegex"})
_EVERY: Final = "parameters"
"""Stands for the parameters that are not told apart."""


def enter_mode(frame: Frame, context: ast.expr, decorates: bool = False, value: Value = UNKNOWN) -> None:
    """`with torch.no_grad():` and the like, also as a decorator; `value` is what is entered, where it was made elsewhere."""
    if isinstance(value, Object) and value.made is not None and facts.GIVEN in value.made:
        _enter(frame, value.name.rpartition(".")[2], value.made[facts.GIVEN], context, decorates)
        return
    entered, name = context, _name(context)
    if name not in facts.CONTEXTS:
        context = _made_by(frame, context)
        name = _name(context)
    if name not in facts.CONTEXTS:
        return
    given: list[Value] = []
    if isinstance(context, ast.Call):
        with frame.interp.emitter.silence:
            given = [evaluate(frame, node) for node in (*context.args, *(each.value for each in context.keywords))]
    _enter(frame, name, given, entered, decorates)


def _enter(frame: Frame, name: str, given: Sequence[Value], entered: ast.expr, decorates: bool) -> None:
    if name in facts.NO_GRAD:
        frame.grad = False
    elif name == "enable_grad":
        frame.grad = True
    elif name == "set_grad_enabled":
        first = given[0] if given else UNKNOWN
        frame.grad = first.value if isinstance(first, Const) and isinstance(first.value, bool) else None
    if frame.region is not None:
        return
    told = tuple(value.key if isinstance(value, (Const, External)) else None for value in given)
    frame.modes = (*frame.modes, Mode(name, told, frame.module.path, entered, decorates))


def made_context(
    frame: Frame, node: ast.AST, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Object:
    """What `torch.autocast(…)` makes, with what it was given: whoever enters it may stand elsewhere."""
    given = (*args, *keywords.values())
    kind = ", ".join(f"{value.key}" if isinstance(value, (Const, External)) else "?" for value in given)
    return Object(name, frame.origin(node), kind, made={facts.GIVEN: given})


def enter_stacked(frame: Frame, node: ast.AST, args: Sequence[Value]) -> None:
    """`stack.enter_context(torch.no_grad())`: in force until the block of the stack is left."""
    if isinstance(node, ast.Call) and node.args and args:
        enter_mode(frame, node.args[0], value=args[0])


def _name(context: ast.expr) -> str:
    called = context.func if isinstance(context, ast.Call) else context
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _made_by(frame: Frame, context: ast.expr) -> ast.expr:
    """What `with made():` enters, where `made` is a `lambda: torch.autocast(…)` that a table or a variable holds."""
    if isinstance(context, ast.Call) and isinstance(context.func, ast.Name) and not context.args:
        maker = frame.env.get(context.func.id)
        if isinstance(maker, FunctionValue) and isinstance(maker.function.node, ast.Lambda):
            return maker.function.node.body
    return context


def runs_eagerly(frame: Frame, context: ast.expr) -> bool:
    """`with torch.compiler.set_stance("force_eager"):` nothing is compiled, and no graph runs."""
    if not isinstance(context, ast.Call) or not isinstance(context.func, (ast.Attribute, ast.Name)):
        return False
    name = context.func.attr if isinstance(context.func, ast.Attribute) else context.func.id
    if name != "set_stance" or not context.args:
        return False
    with frame.interp.emitter.silence:
        stance = evaluate(frame, context.args[0])
    return isinstance(stance, Const) and stance.value == "force_eager"


def expects_an_exception(frame: Frame, context: ast.expr) -> bool:
    """`with pytest.raises(…):` what happens there fails, and is meant to: a program that works does nothing of the kind."""
    if frame.region is not None or not isinstance(context, ast.Call) or not context.args:
        return False
    if isinstance(context.func, ast.Attribute) and context.func.attr in _EXPECTING_METHODS:
        return True
    if not isinstance(context.func, (ast.Attribute, ast.Name)):
        return False
    with frame.interp.emitter.silence:
        called = evaluate(frame, context.func)
    return isinstance(called, External) and called.name == "pytest.raises"


def _change(frame: Frame, node: ast.AST, owner: str, what: str, value: Value, again: str = "") -> None:
    """Eager code changes a mode of `owner`, or of all that runs."""
    frame.interp.account.write(frame, node, ("mode", "", owner, what), value, again)


@functools.cache
def sets_mode(name: str) -> bool:
    """Whether a call by this name may change a mode, or throw every program away."""
    method = name.rpartition(".")[2]
    if name in facts.STEP_MARKS or name in facts.RESETS or name in facts.SETTERS or method == "set_grad_enabled":
        return True
    of_module = method in facts.TRAINING or method in facts.DTYPES or method in ("requires_grad_", "to")
    return of_module and name.startswith("torch.nn.")


def set_mode(frame: Frame, node: ast.AST, name: str, args: Sequence[Value], receiver: Value | None) -> None:
    """A call that changes a mode, or throws every program away."""
    method = name.rpartition(".")[2]
    if name in facts.STEP_MARKS:
        frame.interp.graph_memory.mark()
    elif method == "set_grad_enabled" and args and isinstance(args[0], Const):
        frame.grad = bool(args[0].value)
    elif name in facts.RESETS:
        _change(frame, node, "", "reset", UNKNOWN, "reset")
    elif name in facts.SETTERS:
        _change(frame, node, "", name, args[0] if args else UNKNOWN)
    elif name.startswith("torch.nn.") and isinstance(receiver, (Instance, Object)):
        owner = receiver.cls.qualname if isinstance(receiver, Instance) else receiver.name
        if method in facts.TRAINING:
            value = args[0] if args else Const(facts.TRAINING[method])
            _change(frame, node, owner, "training", value)
            frame.interp.recordings.do("mode", bindings.owner_of(receiver), frame, node, value)
        elif method == "requires_grad_":
            _change(frame, node, owner, "requires_grad", args[0] if args else Const(True))
            freeze(frame, receiver, args[0] if args else Const(True))
        elif method in facts.DTYPES:
            _change(frame, node, owner, "dtype", External(f"torch.{method}"))
        elif method == "to" and args and isinstance(args[0], External) and dtypes.exact(args[0].name):
            _change(frame, node, owner, "dtype", args[0])


def ask_gradients(frame: Frame, node: ast.AST, receiver: Value, wanted: Value) -> None:
    """`p.requires_grad_(False)` for a parameter: which ones require a gradient is guarded."""
    if frame.region is None and isinstance(receiver, Tensor) and receiver.flags & PARAMETER:
        _change(frame, node, _group(frame, receiver), "requires_grad", wanted)


def _group(frame: Frame, parameter: Tensor) -> str:
    """Whose parameter it is, as the loop over them says: `net[0]` of `for p in net[epoch].parameters()` in the first turn."""
    made = parameter.origin.node
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
        return _EVERY
    if made.func.attr not in ("parameters", "named_parameters"):
        return _EVERY
    text = ast.unparse(made.func.value)
    for name in sorted({part.id for part in nodes(made.func.value) if isinstance(part, ast.Name)}):
        value = frame.env.get(name)
        if isinstance(value, Const):
            text = re.sub(rf"\b{name}\b", repr(value.value), text)
    return text


@functools.cache
def trains(name: str) -> bool:
    """Whether a call by this name may be a part of a training step."""
    return name.rpartition(".")[2] in _STEPS or name in facts.BACKWARD


def train(frame: Frame, node: ast.AST, name: str, keywords: Mapping[str, Value], receiver: Value | None = None) -> None:
    """A call of a training step, whatever library or optimizer it belongs to."""
    method = name.rpartition(".")[2]
    recordings = frame.interp.recordings
    if method == "backward" or name in facts.BACKWARD:
        recordings.do("backward", None, frame, node)
        added_to = frame.interp.graph_memory.backward(frame, frame.origin(node))
        if added_to is not None and name == "Tensor.backward":
            frame.interp.emitter.emit(events.Reuse, frame, node, events.GRADIENTS, added_to)
    elif method == "zero_grad":
        kept = keywords.get("set_to_none")
        if not (isinstance(kept, Const) and kept.value is False):
            frame.interp.graph_memory.drop_gradients()
            recordings.do("drop", None, frame, node, NONE)
    elif method == "load_state_dict" and receiver is not None:
        assign = keywords.get("assign")
        if isinstance(assign, Const) and assign.value is True:
            place = bindings.of_attribute(frame, receiver, "*")
            recordings.bind(frame, place, node, Tensor(PROVEN, origin=frame.origin(node)))
    elif method == "step" and name.startswith("torch.optim.lr_scheduler."):
        recordings.do("rate", None, frame, node)
    elif method == "step" and name.startswith("torch.optim."):
        recordings.do("step", None, frame, node, receiver if receiver is not None else UNKNOWN)


_STEPS: Final = frozenset({"backward", "zero_grad", "load_state_dict", "step"})
"""What the parts of a training step are called."""


def is_training(test: ast.expr) -> bool:
    """`if self.training:`"""
    return isinstance(test, ast.Attribute) and test.attr == "training"
