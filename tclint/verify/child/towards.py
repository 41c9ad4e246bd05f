"""An example that runs a line which another one passes by: what the conditions before the line ask is given otherwise."""

from __future__ import annotations

import copy
import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from itertools import combinations, islice
from typing import Any

import torch

from tclint.verify import guess
from tclint.verify.child.arguments import Wanted, values_for
from tclint.verify.child.compiling import unwrapped
from tclint.verify.child.construct import construct
from tclint.verify.child.experiments import EagerFailed, Setup, run_eager
from tclint.verify.child.inputs import Call, Example, NoInputs
from tclint.verify.child.limits import TooLong, within
from tclint.verify.child.nested import realize
from tclint.verify.child.signatures import Parameter, hints_of, is_tensor, plain, signature_of
from tclint.verify.guess import Several, TensorSpec
from tclint.verify.job import Goal
from tclint.verify.preconditions import Asked, asked_before

SECONDS = 12.0
"""Of the processor, for all lines of one example."""
SOON = 3.0
"""For one attempt."""
NAMES = 6
"""Most parameters that are looked at for one line."""
VALUES = 4
"""Most other values of one parameter."""


@dataclass(frozen=True)
class _Change:
    """Another value for a parameter: of the constructors that take it, or of the call."""

    name: str
    value: Any
    of_call: bool

    def __str__(self) -> str:
        return f"{self.name}={_shown(self.value)}"


def towards(example: Example, places: Sequence[Goal], setup: Setup) -> Iterator[Example]:
    """Examples that run lines which the given one does not, each found by running it without the compiler. Where none
    runs to its end, one that raises behind the line."""
    end = time.thread_time() + SECONDS
    left = list(places)
    while left and time.thread_time() < end:
        place = left.pop(0)
        partial: Example | None = None
        # One line that nothing reaches must not take the time of the others.
        share = time.thread_time() + (end - time.thread_time()) / (len(left) + 1)
        for changes in _changes(example, place, setup):
            if time.thread_time() > share:
                break
            other = _changed(example, changes, setup)
            ran, whole = ran_by(other, [place, *left], setup)
            if place in ran and not whole:
                partial = partial or replace(other, unsure=True, partial=True)
            elif place in ran:
                left = [goal for goal in left if goal not in ran]
                begun = time.thread_time()
                yield other
                # What others do with the example is not part of the search.
                end += time.thread_time() - begun
                partial = None
                break
        if partial is not None:
            yield partial


def ran_by(
    example: Example, places: Sequence[Goal], setup: Setup, modes: tuple[str, ...] = ("train", "eval")
) -> tuple[list[Goal], bool]:
    """Which places an example runs, in training or in evaluation, and whether it runs to its end there."""
    host = replace(setup, device="cpu")
    before: list[Goal] = []
    for mode in modes if places else ():
        try:
            with within(SOON):
                covered, _ = run_eager(host, example, mode)
        except TooLong:
            continue
        except EagerFailed as failed:
            raised = {(step.path, step.line) for step in failed.fault.stack}
            before = before or [p for p in among(places, failed.covered) if not _is_any(p, raised)]
            continue
        if found := among(places, covered):
            return found, True
    return before, False


def among(places: Sequence[Goal], covered: Mapping[str, tuple[int, ...]]) -> list[Goal]:
    return [p for p in places if any(p.line <= line <= p.end_line for line in covered.get(p.path, ()))]


def _is_any(place: Goal, lines: set[tuple[str, int]]) -> bool:
    return any((place.path, line) in lines for line in range(place.line, place.end_line + 1))


def _changes(example: Example, place: Goal, setup: Setup) -> Iterator[tuple[_Change, ...]]:
    """Single changes, then the first ones of all parameters together, then pairs."""
    alternatives: list[list[_Change]] = []
    for asked in asked_before(place.path, place.line):
        found = list(islice(_alternatives(example, asked, setup), VALUES))
        if found:
            alternatives.append(found)
        if len(alternatives) == NAMES:
            break
    yield ()  # in the other mode, it may be all that was missing
    for changes in alternatives:
        yield from ((change,) for change in changes)
    for count in range(len(alternatives), 1, -1):
        yield tuple(changes[0] for changes in alternatives[:count])
        if any(_certain(changes) is not changes[0] for changes in alternatives[:count]):
            yield tuple(_certain(changes) for changes in alternatives[:count])
    for left, right in combinations(alternatives, 2):
        for first in left:
            for second in right:
                yield (first, second)


def _certain(changes: Sequence[_Change]) -> _Change:
    """The change that leaves least to chance: a probability of one, where there is one."""
    return next((one for one in changes if type(one.value) is float and one.value == 1.0), changes[0])


def _alternatives(example: Example, asked: Asked, setup: Setup) -> Iterator[_Change]:
    made = unwrapped(example.build())
    function = made.forward if isinstance(made, torch.nn.Module) else made
    try:
        taken = {parameter.name: parameter for parameter in signature_of(function)}
    except NoInputs:
        taken = {}
    if asked.name in taken:
        call = example.calls()[0]
        for value in _call_values(taken[asked.name], hints_of(function), call, asked):
            yield _Change(asked.name, value, True)
        return
    for owner in _makers(asked.name, setup.wanted):
        parameter = inspect.signature(vars(owner)["__init__"]).parameters[asked.name]
        hints = hints_of(inspect.getattr_static(owner, "__init__"))
        wanted = Wanted(parameter, hints.get(asked.name, parameter.annotation), owner, _make)
        for value in _values(wanted, asked):
            yield _Change(asked.name, value, False)
        return


def _make(wanted: type) -> Iterator[Any]:
    try:
        yield construct(wanted)
    except Exception:
        # A class that cannot be made is no value.
        return


def _makers(name: str, wanted: Callable[[str], bool]) -> list[type]:
    """The classes of the program whose own constructor takes a parameter of this name."""
    found: dict[type, None] = {}
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not wanted(path):
            continue
        for value in list(vars(module).values()):
            maker = vars(value).get("__init__") if isinstance(value, type) else None
            if inspect.isfunction(maker) and value.__module__ == module.__name__ and _takes(maker, name):
                found[value] = None
    return list(found)


def _takes(function: Any, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _values(wanted: Wanted, asked: Asked) -> Iterator[Any]:
    """Other values than the default, those that the condition speaks of first."""
    default = wanted.parameter.default
    known = [default]
    for value in _thought(wanted, asked, default):
        if not any(value is one or (type(value) is type(one) and value == one) for one in known):
            known.append(value)
            yield value


def _thought(wanted: Wanted, asked: Asked, default: Any) -> Iterator[Any]:
    kind = plain(wanted.annotation)
    if type(default) is bool or kind is bool:
        yield not default if type(default) is bool else True
        return
    numbers = [value for value in asked.values if type(value) in (int, float)]
    if type(default) in (int, float) or kind in (int, float):
        exact = type(default) is int or kind is int
        for number in numbers or [0]:
            assert isinstance(number, (int, float))
            # What is drawn by chance against a probability of one is always less.
            yield from (number + 1, number + 2, number) if exact else (number + 0.5, number + 1, number - 0.5, number)
        if type(default) in (int, float):
            yield default + 1 if exact else default / 2
        return
    yield from (value for value in asked.values if type(value) is str)
    yield from (value for value in islice(values_for(wanted), VALUES) if value is not None)


def _call_values(parameter: Parameter, hints: Mapping[str, Any], call: Call, asked: Asked) -> Iterator[Any]:
    """What a call may be given for a parameter that it leaves out; tensors as long as the one that it is given."""
    default = parameter.default
    if default is parameter.empty or parameter.name in call.kwargs:
        return
    if type(default) is bool:
        yield not default
        return
    yield from (value for value in asked.values if type(value) is type(default) and value != default)
    if default is not None:
        return
    annotation = plain(hints.get(parameter.name, parameter.annotation))
    if annotation in (int, float, str, bool):
        fit = [value for value in asked.values if type(value) is annotation]
        yield from fit or ([True] if annotation is bool else [guess.number_for(parameter.name) or 2])
        return
    first = next((v for v in (*call.args, *call.kwargs.values()) if isinstance(v, torch.Tensor)), None)
    value = guess.value_for(parameter.name)
    if isinstance(value, TensorSpec) or is_tensor(annotation):
        spec = value if isinstance(value, TensorSpec) else guess.tensor_for(parameter.name)
        if guess.is_mask(parameter.name):
            spec = replace(spec, dtype="bool")
        if first is not None:
            for rank in dict.fromkeys((len(spec.shape), 2, first.dim(), 1)):
                if rank <= first.dim():
                    yield realize(replace(spec, shape=tuple(first.shape[:rank])), "cpu")
        yield realize(spec, "cpu")
    elif isinstance(value, Several):
        yield realize(value, "cpu")
    elif value is not None:
        yield value


def _is_unsure(change: _Change) -> bool:
    """A tensor or an object may be of the wrong kind; the flags and numbers of the program's own parameters are not."""
    return not isinstance(change.value, (bool, int, float, str))


def _changed(example: Example, changes: Sequence[_Change], setup: Setup) -> Example:
    makers = [change for change in changes if not change.of_call]
    extra = {change.name: change.value for change in changes if change.of_call}

    def build() -> Any:
        with ExitStack() as stack:
            for change in makers:
                stack.enter_context(_given(change, setup.wanted))
            return example.build()

    def calls() -> list[Call]:
        return [Call(call.args, {**call.kwargs, **copy.deepcopy(extra)}) for call in example.calls()]

    told = ", ".join(map(str, changes))
    source = f"{example.source}; with {told}" if told else example.source
    return replace(example, source=source, build=build, calls=calls, unsure=any(map(_is_unsure, changes)))


@contextmanager
def _given(change: _Change, wanted: Callable[[str], bool]) -> Iterator[None]:
    """Inside the block every constructor of the program that takes the parameter is given this value for it."""
    before: dict[Any, Any] = {}
    for owner in _makers(change.name, wanted):
        before[owner] = vars(owner)["__init__"]
        owner.__init__ = _giving(before[owner], change)  # type: ignore[misc]
    try:
        yield
    finally:
        for owner, maker in before.items():
            owner.__init__ = maker


def _giving(maker: Any, change: _Change) -> Callable[..., None]:
    signature = inspect.signature(maker)

    @wraps(maker)
    def __init__(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind_partial(*args, **kwargs)
        bound.arguments[change.name] = copy.deepcopy(change.value)
        maker(*bound.args, **bound.kwargs)

    return __init__


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return repr(value)[:40]
