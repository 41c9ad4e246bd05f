"""Events on their way to the rules."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint import events
from tclint.events import asked
from tclint.events.broken import seen_from
from tclint.interpreter.frame import Frame
from tclint.interpreter.handles import may_set_up, use
from tclint.interpreter.modes import ask_gradients, enter_stacked, set_mode, sets_mode, train, trains
from tclint.interpreter.streams import wait, waits
from tclint.torch_facts import callers, objects
from tclint.torch_facts.modes import STACKED
from tclint.values import TRUE, FunctionValue, Instance, Object, Scalar, Seq, Tensor, Union, Value

if TYPE_CHECKING:
    from tclint.events.dispatch import Dispatcher


_GRADIENTS: Final = "Tensor.requires_grad_"


@functools.cache
def _is_followed(name: str) -> bool:
    """Whether a call by this name in eager code may matter to what compiled code, or a capture, depends on: most do not."""
    changes = name.startswith("torch.") and (sets_mode(name) or waits(name)) or name in (STACKED, _GRADIENTS)
    return changes or may_set_up(name) or trains(name)


class _Silence:
    """`with` this no event is emitted; may be nested."""

    __slots__ = ("_emitter",)

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter

    def __enter__(self) -> None:
        self._emitter.quiet += 1

    def __exit__(self, *exception: object) -> None:
        self._emitter.quiet -= 1


class Emitter:
    """Hands events to the rules that listen, except where code is only asked what it gives."""

    __slots__ = ("dispatcher", "quiet", "silence")

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self.quiet = 0
        """How many of those around us want no events."""
        self.silence = _Silence(self)

    def emit(self, kind: type[events.Event], frame: Frame, node: ast.AST, *details: Any) -> None:
        if self.quiet:
            return
        handlers = self.dispatcher.handlers(kind, frame.region, type(details[0]) if kind.subject else None)
        if handlers:
            self.dispatcher.dispatch(handlers, kind(frame, node, *details))

    def branch(self, frame: Frame, node: ast.AST, value: Value, keyword: str) -> None:
        """Python asks a value whether it is true."""
        kind = type(value)
        if kind is Instance:
            # `if instance:` runs its `__bool__` or `__len__`, and asks what comes out.
            answer = frame.interp.objects.ask(frame, node, value, "__bool__", "__len__")  # type: ignore[arg-type]
            if type(answer) is Scalar and answer.source == "data":
                self.emit(events.Branch, frame, node, answer, keyword)
        if kind is Tensor or kind is Scalar or kind is Union or kind is Instance or kind is Object or kind is Seq:
            self.emit(events.Branch, frame, node, value, keyword)

    def feature(self, frame: Frame, node: ast.AST, name: str) -> None:
        """Something of the language that has no event of its own, by its name in the facts."""
        self.emit(events.Feature, frame, node, name)

    def use(self, frame: Frame, node: ast.AST, value: Value) -> None:
        """Compiled code reads a value of a type that torch was asked about."""
        if value.maker in objects.types():
            self.emit(events.Use, frame, node, value)

    def walk(self, frame: Frame, node: ast.AST, how: str, value: Value, given: ast.AST | None) -> None:
        """An object of the program is gone through: `how` as the facts say it, and the expression that gave the object."""
        if frame.region is not None and isinstance(value, Instance) and (who := asked.walked(frame, value, given)):
            self.feature(frame, node, f"{how} {who}")

    def spread(self, frame: Frame, node: ast.AST, how: str, value: Value) -> None:
        """An object of the program is unpacked by its keys."""
        if frame.region is None or not isinstance(value, Instance):
            return
        own = frame.interp.classes.find_method(value.cls, "keys") is not None
        if who := "an object with keys" if own else asked.below(frame, value, node):
            self.feature(frame, node, f"{how} {who}")

    def broke(
        self, frame: Frame, node: ast.AST | None, at: events.Break, function: FunctionValue, given: Mapping[str, Value]
    ) -> None:
        """The graph breaks in a function that compiled code calls."""
        if self.quiet or node is None or frame.region is None or frame.stands_outside(node):
            return
        frame.broken = seen_from(frame, at, called=node)
        if at.sure:
            frame.handed_on()
        self.emit(events.GraphBreak, frame, node, at, function, given)

    def operation(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> None:
        self.emit(events.Operation, frame, node, operator, left, right)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        receiver: Value | None,
        result: Value,
    ) -> None:
        """A call of something outside the program, by its dotted name."""
        if frame.region is None:
            if _is_followed(name):
                self._follow(frame, node, name, args, keywords, receiver)
        elif frame.region.site is None and frame.interp.learned.sites and name in callers.NAMES:
            # Where nothing is compiled yet, nothing is marked for it: there the mark is the hazard.
            frame.interp.results.calls_compiled = True
        if self.quiet:
            return
        if frame.region is not None and name.startswith(("torch.", "Tensor.")):
            self._hand_over(frame, node, args, keywords)
        handlers = self.dispatcher.call_handlers(name, frame.region)
        if handlers:
            self.dispatcher.dispatch(handlers, events.Call(frame, node, name, args, keywords, receiver, result))

    @staticmethod
    def _follow(
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        receiver: Value | None,
    ) -> None:
        """What a call in eager code does to what compiled code, or a capture, depends on."""
        if may_set_up(name):
            use(frame, node, name, (*args, *keywords.values()))
        if name.startswith("torch."):
            set_mode(frame, node, name, args, receiver)
            wait(frame, node, name, args)
        elif name == STACKED:
            enter_stacked(frame, node, args)
        if trains(name):
            train(frame, node, name, keywords, receiver)
        if name == _GRADIENTS and receiver is not None:
            ask_gradients(frame, node, receiver, args[0] if args else TRUE)

    def _hand_over(self, frame: Frame, node: ast.AST, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        """Objects of the program that torch is given: one below a tuple is no tuple to the graph."""
        if Instance not in map(type, args) and Instance not in map(type, keywords.values()):
            return
        if not isinstance(node, ast.Call):
            return
        given = [*zip(args, node.args, strict=False)] if len(args) == len(node.args) else []
        given += [(keywords[k.arg], k.value) for k in node.keywords if k.arg is not None and k.arg in keywords]
        if "try" in frame.blocks and any(asked.refuses(frame, each) for each, _ in given):
            self.feature(frame, node, "__torch_function__ that refuses")
        for value, written in given:
            if who := asked.below(frame, value, written) or asked.number(frame, value):
                self.feature(frame, node, f"hand to torch of {who}")
