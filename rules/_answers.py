"""What an expression of a compiled function gives in each of the calls in sight."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.program import Function
from tclint.sources.tree import nodes
from tclint.timeline import guarded
from tclint.timeline.guarded import Guarded
from tclint.values import UNKNOWN, Const, Instance, Scalar
from tclint.values.moments import StatePlace

if TYPE_CHECKING:
    from tclint.events import Event

_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
COMPARED: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {each.__name__: each for each in (min, max, abs, int, bool)}
_DISPLAYS: Final = (ast.Tuple, ast.List, ast.Set)
_DEEP: Final = 4
"""Names that are looked through, one behind the other."""


class Unanswered(Exception):
    """Some call does not say."""


class Answers:
    """The calls of one compiled callable, and what of them the expressions asked about depend on."""

    def __init__(self, event: Event) -> None:
        assert event.evidence is not None
        self._event = event
        self._evidence = event.evidence
        self._receivers: dict[str, Instance] = {}
        self.facts: dict[str, Sequence[Guarded]] = {}
        """What was read, call by call, by its name."""

    def of(self, node: ast.expr) -> list[Any] | None:
        """What an expression gives, call by call; None where some call does not say."""
        try:
            return [self._value(node, call, _DEEP) for call in range(len(self._evidence.rows))]
        except (Unanswered, ArithmeticError, TypeError, ValueError):
            return None

    def programs(self, columns: Sequence[Sequence[Hashable]]) -> int:
        """How many programs it costs that what was read decides, call by call, what is traced."""
        told = [[guarded.Exact(answer) for answer in column] for column in columns]
        return self._evidence.decided({**self.facts, **{f"answer {i}": column for i, column in enumerate(told)}})

    def _value(self, node: ast.expr, call: int, depth: int) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return _BINARY[type(node.op)](self._value(node.left, call, depth), self._value(node.right, call, depth))
        if isinstance(node, ast.UnaryOp):
            inner = self._value(node.operand, call, depth)
            return (not inner) if isinstance(node.op, ast.Not) else -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
            sides = (self._value(node.left, call, depth), self._value(node.comparators[0], call, depth))
            return COMPARED[type(node.ops[0])](*sides)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            members = node.comparators[0].elts if isinstance(node.comparators[0], _DISPLAYS) else None
            if members is None:
                raise Unanswered
            given = self._value(node.left, call, depth)
            found = given in [self._value(each, call, depth) for each in members]
            return found is isinstance(node.ops[0], ast.In)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*(self._value(each, call, depth) for each in node.args))
        return self._read(node, call, depth)

    def _read(self, node: ast.expr, call: int, depth: int) -> Any:
        """What a name, an attribute or a size is."""
        event, evidence = self._event, self._evidence
        inside = (
            isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self._receivers
        )
        value = event.ask.evaluate(node) if not self._receivers else UNKNOWN
        if self._receivers and not inside:
            raise Unanswered
        if isinstance(value, Const):
            return value.value
        if isinstance(value, Scalar) and value.source == "size" and value.ref is not None:
            return self._size(*value.ref, call)
        if isinstance(value, Scalar) and value.argument in evidence.values and not event.at_entry:
            return self._argument(value.argument, call)  # a function that is called hands it on as it is
        if isinstance(value, Scalar) and value.source == "arg" and value.ref is not None and not event.at_entry:
            return self._computed(node, value.ref[0], call)
        function = event.enclosing
        if isinstance(node, ast.Name) and function is not None:
            made = function.index(_bound).get(node.id, ())
            if not made and event.at_entry and node.id in evidence.values:
                return self._argument(node.id, call)
            if len(made) == 1 and made[0] is not None and depth:
                return self._value(made[0], call, depth - 1)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self._receivers.get(node.value.id) or event.ask.local(node.value.id)
            if isinstance(owner, Instance):
                return self._attribute(owner, node.attr, call, depth)
        raise Unanswered

    def _argument(self, name: str, call: int) -> Any:
        given = self._evidence.rows[call].get(name)
        if not (isinstance(given, Const) and isinstance(given.value, (int, float))):
            raise Unanswered
        self.facts.setdefault(name, self._evidence.column(name))
        return given.value

    def _computed(self, node: ast.expr, name: str, call: int) -> Any:
        """What a function that is called gets of an argument: `stage_of(step / 100)`."""
        given = self._event.ask.in_calls(node)
        if given is None or name not in self._evidence.values:
            raise Unanswered
        self.facts.setdefault(name, self._evidence.column(name))
        return given[call]

    def _size(self, name: str, dim: int, call: int) -> int:
        shape = getattr(self._evidence.rows[call].get(name), "shape", None)
        if not isinstance(shape, tuple) or not -len(shape) <= dim < len(shape) or shape[dim] is None:
            raise Unanswered
        self.facts.setdefault(name, self._evidence.column(name))
        return int(shape[dim])

    def _attribute(self, owner: Instance, name: str, call: int, depth: int) -> Any:
        method = self._event.ask.method(owner.cls, name)
        if method is not None:
            return self._property(owner, method, call, depth)
        place: StatePlace = ("attribute", owner.cls.module.path, owner.cls.qualname, name)
        first = self._event.ask.attributes(owner).get(name)
        settles = not self._event.ask.is_nn_module(owner.cls)
        states = self._evidence.states(place, first, settles)
        if not isinstance(states[call], guarded.Number):
            raise Unanswered
        self.facts.setdefault(f"{owner.cls.name}.{name}", states)
        told = states[call]
        assert isinstance(told, guarded.Number)
        return told.value

    def _property(self, owner: Instance, method: Function, call: int, depth: int) -> Any:
        """A property that is one expression of what its object holds."""
        body = method.node.body if isinstance(method.node.body, list) else []
        last = body[-1] if body else None
        parameters = method.node.args.args
        if (
            not depth
            or not parameters
            or not method.decorators
            or not isinstance(last, ast.Return)
            or last.value is None
        ):
            raise Unanswered
        if sum(not isinstance(statement, ast.Expr) for statement in body) > 1 or self._receivers:
            raise Unanswered
        self._receivers[parameters[0].arg] = owner
        try:
            return self._value(last.value, call, depth - 1)
        finally:
            self._receivers.clear()


def _bound(function: Function) -> dict[str, list[ast.expr | None]]:
    """What the names of a function are bound to, None where that is no expression of its own."""
    found: dict[str, list[ast.expr | None]] = {}
    for node in nodes(function.node):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                whole = isinstance(target, ast.Name)
                for name in _names(target):
                    found.setdefault(name, []).append(node.value if whole else None)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.comprehension, ast.NamedExpr)):
            for name in _names(node.target):
                found.setdefault(name, []).append(None)
    return found


def _names(target: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
