"""One of a few values, and how values are joined into one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from tclint.torch_facts import facts
from tclint.values.constant import Const, fold_compare, is_none
from tclint.values.library import MODELS
from tclint.values.scalar import BOOL, ENVIRONMENT, NUMBERS, Scalar
from tclint.values.tensor import NAMED, Tensor
from tclint.values.value import NUMBER, OBJECT, ONE_OF, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.values.origin import Origin
    from tclint.values.region import CompileSite

_MAX_UNION: Final = 8
_MAX_CODE: Final = 32
"""Of what a factory may build each is something of its own: all that a registry may hold, as long as it is told."""
_SPREAD: Final = frozenset(facts.named("wraps a module for several devices"))


class Union(Value):
    """One of a few values. An operation gives what it gives for each of them."""

    __slots__ = ("_options", "depth", "key")
    rank = ONE_OF

    def __init__(self, options: tuple[Value, ...]) -> None:
        self._options = options
        self.depth: int = max([o.depth for o in options])
        self.key = ("u", frozenset([o.key for o in options]))

    @property
    def options(self) -> tuple[Value, ...]:
        return self._options

    def __repr__(self) -> str:
        return f"Union{self._options}"

    def nesting(self) -> int:
        return max([option.nesting() for option in self._options])

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return join_all(o.attribute(frame, node, name, quiet) for o in self.without_none().options)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        callables: Sequence[Value] = [o for o in self._options if type(o) is not Const]
        if not open_ended and len(callables) > 1:
            callables = frame.interp.objects.meant(callables, "", args, keywords)
        several = frame.region is None and len(callables) > 1
        frame.maybe += several  # each of them may be the one that does not run
        choosing = several and sum(o.holds_compiled() for o in callables) > 1
        frame.interp.account.choosing += choosing
        mixed = frame.region is not None and any(o.is_code and not o.is_outside for o in callables)
        disabled = [o for o in callables if mixed and frame.interp.functions.is_disabled(o)]
        traced = len(disabled) < len(callables)
        choosable = len(callables) > 1 and frame.becomes_graph
        results = []
        for option in callables:
            # Beside code of the program, `identity if plain else spectral_norm`, or beside what it may wrap, `FSDP(net) if many
            # else net`, a library's may never be what runs; nor may what is under `disable`, beside what Dynamo traces: which
            # one it is, the program's settings say.
            aside = mixed or UNKNOWN in callables and option.maker in _SPREAD
            rare = aside and option.is_outside and option not in disabled or traced and option in disabled
            chosen = frame.interp.objects.choice(frame, node, option, callables) if choosable else None
            provided = frame.provided_that(chosen) if chosen is not None else nullcontext()
            with frame.rarely() if rare else nullcontext(), provided:
                results.append(option.call(frame, node, args, keywords, open_ended))
        frame.interp.account.choosing -= choosing
        frame.maybe -= several
        return join_all(results)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        options: Sequence[Value] = self.without_none().options
        if not open_ended and len(options) > 1:
            options = frame.interp.objects.meant(options, name, args, keywords)
        several = frame.region is None and len(options) > 1
        frame.maybe += several
        with frame.interp.account.one_of_several() if several else nullcontext():
            results = []
            choosable = len(options) > 1 and frame.becomes_graph
            for option in options:
                chosen = frame.interp.objects.choice(frame, node, option, options) if choosable else None
                with frame.provided_that(chosen) if chosen is not None else nullcontext():
                    results.append(option.call_method(frame, node, name, args, keywords, open_ended))
        frame.maybe -= several
        return join_all(results)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        return join_all([o.item(frame, node, index) for o in self._options if not is_none(o)])

    def iterate(self, frame: Frame, node: ast.AST) -> Value:
        return join_all(o.iterate(frame, node) for o in self.without_none().options)

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        tensor, other = tensor_of(left), right
        if tensor is None:
            tensor, other = tensor_of(right), left
        if tensor is None:
            return UNKNOWN
        number = _number_in(self) if other.rank == NUMBER else None
        if number is None and _number_in(self) is not None and type(other) is not Tensor:
            tensor = tensor.with_(conf=NAMED)
        result = MODELS.tensors.arithmetic(frame, node, operator, tensor, other)
        # Beside a number, what is a tensor or a number gives either again.
        return join(result, number.operate(frame, node, operator, number, other)) if number is not None else result

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value | None:
        either = tensor_of(left) or tensor_of(right)
        if either is not None:
            mixed = next((n for n in map(_number_in, (left, right)) if n is not None), None)
            sure = type(left) is Tensor or type(right) is Tensor
            doubtful = mixed is not None and not sure
            tensor = Tensor(NAMED if doubtful else either.conf, "b", either.ndim, 0, frame.origin(node))
            return join(tensor, BOOL if doubtful else UNKNOWN)
        if left.rank == OBJECT or right.rank == OBJECT:
            frame.interp.emitter.operation(frame, node, operator, left, right)
        elif any(option.source == ENVIRONMENT for option in self._options):
            # What it comes to by default stays apart from what it comes to where the variable is set.
            pairs = [(one, other) for one in left.options for other in right.options]
            return join_all(_compared(frame, node, operator, one, other) for one, other in pairs)
        if operator in ("Eq", "NotEq"):
            return compare_each(operator, left, right)
        return None

    def truth(self) -> bool | None:
        return _agreed(o.truth() for o in self._options)

    def is_none(self) -> bool | None:
        return _agreed(o.is_none() for o in self._options)

    def may_be_none(self) -> bool:
        return any(is_none(o) for o in self._options)

    def without_none(self) -> Value:
        rest = [o for o in self._options if not is_none(o)]
        return one_of(rest) if rest else UNKNOWN

    def is_a(self, wanted: Value) -> bool | None:
        return _agreed(o.is_a(wanted) for o in self._options)

    def narrow(self, wanted: Value) -> Value | None:
        kept = [o for o in self._options if o.instance_of(wanted) is not False and o is not UNKNOWN]
        sure = [narrowed for o in kept if (narrowed := o.narrow(wanted)) is not None]
        return one_of(sure) if sure else None

    def contains(self, flag: int, depth: int = 3) -> Tensor | None:
        return first_containing(self._options, flag, depth)

    def holds_compiled(self) -> bool:
        return any(o.holds_compiled() for o in self._options)

    def decides_code(self) -> bool:
        return any(o.decides_code() for o in self._options)

    def owned(self, flags: int, site: CompileSite | None, origin: Origin) -> Value:
        return Union(tuple(o.owned(flags, site, origin) for o in self._options))

    def mapped(self, of: int, change: Callable[[Tensor], Tensor]) -> Value:
        return Union(tuple(o.mapped(of, change) for o in self._options)) if self.contains(of) is not None else self

    def as_input(self, name: str, origin: Origin) -> Value:
        return Union(tuple(o.as_input(name, origin) for o in self._options))

    def widen(self) -> Value:
        return join_all(o.widen() for o in self._options)


def _agreed(answers: Iterable[bool | None]) -> bool | None:
    """What all options say, None where they differ."""
    found = set(answers)
    return found.pop() if len(found) == 1 else None


def one_of(options: Sequence[Value]) -> Value:
    """One of some values that are known to differ."""
    return options[0] if len(options) == 1 else Union(tuple(options))


def join(a: Value, b: Value) -> Value:
    """The value that covers both."""
    if a is b:
        return a
    merged = _join_alike(a, b)
    if merged is not None:
        return merged
    options: list[Value] = list(a.options)
    for option in b.options:
        _merge(options, option)
    if len(options) == 1:
        return options[0]
    if len(options) > _MAX_UNION and not _are_code(options):
        return UNKNOWN
    return Union(tuple(options))


def _are_code(options: Sequence[Value]) -> bool:
    """Whether values are so many classes or functions of the program, what is made of such a class, or something nobody knows."""
    return len(options) <= _MAX_CODE and all(o.is_code or o is UNKNOWN or is_none(o) for o in options)


def join_all(values: Iterable[Value]) -> Value:
    """The value that covers all, Unknown where there is none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def _join_alike(a: Value, b: Value) -> Value | None:
    """One value for two of the same kind, None where only a union covers them."""
    if (a.source == ENVIRONMENT) != (b.source == ENVIRONMENT):
        return None
    if type(a) is type(b):
        return a.join_alike(b)
    if type(a) is Scalar:
        if type(b) is Const and b.value is not None:
            return a.join_constant(b.value)
    elif type(a) is Const and type(b) is Scalar and a.value is not None:
        return b.join_constant(a.value)
    return None


def _merge(options: list[Value], new: Value) -> None:
    for i, old in enumerate(options):
        merged = _join_alike(old, new)
        if merged is not None:
            options[i] = merged
            return
    options.append(new)


def first_containing(values: Iterable[Value], flag: int, depth: int) -> Tensor | None:
    """The first tensor with the flag inside one of the values, so many containers deep."""
    if depth == 0:
        return None
    for value in values:
        found = value.contains(flag, depth - 1)
        if found is not None:
            return found
    return None


def tensor_of(value: Value) -> Tensor | None:
    """The tensor that a value is or may be, if any."""
    if type(value) is Tensor:
        return value
    if type(value) is Union:
        for option in value.options:
            if type(option) is Tensor:
                return option
    return None


def equal(one: Value, other: Value) -> bool | None:
    """Whether two plain values are equal, whichever of them knows."""
    same = one.equals(other)
    return other.equals(one) if same is None else same


def compare_each(operator: str, left: Value, right: Value) -> Value | None:
    """What a comparison of two values comes to of which each can be one of a few, None where that is not certain."""
    some, others = values_of(left), values_of(right)
    if some is None or others is None or len(some) == len(others) == 1:
        return None
    told: set[bool | None] = set()
    for one in some:
        for other in others:
            if operator in ("Eq", "NotEq"):
                same = equal(one, other)
                told.add(None if same is None else same is (operator == "Eq"))
            elif type(one) is Const and type(other) is Const:
                told.add(fold_compare(operator, one.value, other.value).truth())
            else:
                return None
    found = told.pop() if len(told) == 1 else None
    return Const(found) if found is not None else None


def values_of(value: Value) -> tuple[Value, ...] | None:
    """The few values that something can be, None where it can be others."""
    if type(value) is Scalar and value.among:
        return tuple(map(Const, value.among))
    if type(value) is Union:
        each = [values_of(option) for option in value.options]
        found = [one for one in each if one is not None]
        return tuple([one for some in found for one in some]) if len(found) == len(each) else None
    return (value,) if type(value) is Const or value.equals(value) is True else None


_COUNTS: Final = NUMBERS - {"bool"}


def spoken_of(value: Value) -> Tensor | None:
    """The tensor that a rule may speak of: one that may as well be a number is a tensor by name only."""
    tensor = tensor_of(value)
    return tensor.with_(conf=NAMED) if tensor is not None and _number_in(value) is not None else tensor


def _number_in(value: Value) -> Value | None:
    """The option of a union that is a number of Python's, if any. A flag is none: `training and p < drop` is either in turn."""
    return next((o for o in value.options if o.python_type in _COUNTS), None) if type(value) is Union else None


def _compared(frame: Frame, node: ast.AST, operator: str, one: Value, other: Value) -> Value:
    answer = (one if one.rank >= other.rank else other).compare(frame, node, operator, one, other)
    return answer if answer is not None else Scalar("bool", one.source or other.source, frame.origin(node))
