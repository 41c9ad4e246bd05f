"""Instances of classes nobody described: constructor arguments from annotations, use, names, defaults and the program's own."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import torch

from tclint.verify import guess, usage
from tclint.verify.child import alone
from tclint.verify.child.amend import Arguments, Failed, amendments, revisions, variations
from tclint.verify.child.arguments import Wanted, is_described, values_for
from tclint.verify.child.blame import reached
from tclint.verify.child.inputs import NoInputs
from tclint.verify.child.limits import within
from tclint.verify.child.shrink import PARAMETERS
from tclint.verify.child.shrink import parameters_of as sizes_of
from tclint.verify.child.shrunk import is_config, shrunk
from tclint.verify.child.signatures import Parameter, hints_of, maker_of, own_parameters, parameters_of, rest_parameter

DEPTH = 3
"""How deep an argument may be an instance that has to be made itself."""
CHOICES = 12
"""Most values that are thought of for one argument."""
SECONDS = 3.0
"""Of the processor, to find arguments with which a class can be made."""
SLOW = 10.0
"""Of the processor, for one instance: what takes longer takes too long for everything that follows."""
LARGEST = PARAMETERS * 10
"""Parameters of an instance that is taken where no smaller one can be made."""
LARGE = guess.WIDTH * 4
"""Sizes above this make a model slow."""
FEW = 4
"""Numbers up to this are counts rather than sizes."""
AMENDED = 24
"""Most attempts that follow from what one error says."""
DIRECTED = 120
"""Most attempts that follow from errors at all, before plain combinations are left."""


class TooLarge(Exception):
    """What was made would take the time and the memory of everything else."""


class Making:
    """Makes instances with the same guessed arguments, which are looked for once.

    `channels` is what every argument that counts channels is given, where the guesses did not fit each other.
    """

    def __init__(self, target: type, root: str = "", rich: bool = False, channels: int = 0) -> None:
        self.target = target
        self.root = root
        self.rich = rich
        self.channels = channels
        self.arguments: Arguments | None = None

    def __call__(self) -> Any:
        if self.arguments is None:
            made, self.arguments = _constructed(self.target, 0, self.root, self.rich, channels=self.channels)
            return made
        torch.manual_seed(0)
        return _made(self.target, copy.deepcopy(self.arguments))

    def revised(self, error: Exception) -> Iterator[Making]:
        """Others, with arguments that an error suggests which what was made raised when it was called."""
        if self.arguments is None:
            return
        parameters = parameters_of(self.target)
        given = {p.name: p.default for p in parameters if p.default is not p.empty} | self.arguments
        think = _thinker(self.target, self.root, self.rich, time.thread_time() + SECONDS)
        yield from self._others(revisions(Failed(error, self.arguments, given, parameters, _some(think))))

    def varied(self) -> Iterator[Making]:
        """Others, with one argument otherwise: where no error says which of them is at fault, each in its turn."""
        if self.arguments is not None:
            think = _thinker(self.target, self.root, self.rich, time.thread_time() + SECONDS)
            parameters = [*parameters_of(self.target), *_rest(self.target)]
            yield from self._others(variations(self.arguments, parameters, _some(think)))

    def _others(self, changed: Iterable[Arguments]) -> Iterator[Making]:
        seen = {repr(sorted((self.arguments or {}).items()))}
        for arguments in changed:
            other = Making(self.target, self.root, self.rich, self.channels)
            other.arguments = arguments
            key = repr(sorted(arguments.items()))
            if key not in seen:
                seen.add(key)
                yield other


def _rest(target: type) -> list[Parameter]:
    found = rest_parameter(target)
    return [found] if found is not None else []


def _made(target: type, given: Arguments) -> Any:
    """An instance. What stands under `*name` is handed over by position, behind all that comes before it."""
    rest = next((name for name in given if name.startswith("*")), "")
    if not rest:
        return target(**given)
    before = [p for p in parameters_of(target) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    args = [given.get(p.name, p.default) for p in before]
    named = {name: value for name, value in given.items() if name != rest and name not in {p.name for p in before}}
    return target(*args, *given[rest], **named)


def construct(target: type, depth: int = 0, root: str = "", rich: bool = False) -> Any:
    """An instance with guessed arguments. Raises NoInputs with the first error where none fits."""
    return _constructed(target, depth, root, rich)[0]


class _Choices:
    """Values for one argument, thought of when they are asked for: some of them have to be made first."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._coming = islice(values, CHOICES)
        self._known: list[Any] = []

    def some(self, first: int, last: int) -> Iterator[Any]:
        for number in range(first, last):
            while len(self._known) <= number:
                try:
                    self._known.append(next(self._coming))
                except StopIteration:
                    return
            yield self._known[number]


def _thinker(
    target: type, root: str, rich: bool, end: float, depth: int = 0, channels: int = 0
) -> Callable[[Parameter], _Choices]:
    """What thinks of values for an argument of a constructor."""
    hints = hints_of(maker_of(target))
    names = [p.name for p in parameters_of(target)]
    passed = usage.literals_of(target.__name__, names, root) if root else {}
    too_large = any(type(value) is int and value > LARGE for values in passed.values() for value in values)

    def make(wanted: type) -> Iterator[Any]:
        if depth >= DEPTH or time.thread_time() > end:
            return
        now = time.thread_time()
        # Whoever spends all the time on one argument has none left to do without it.
        half = now + (end - now) / 2
        try:
            yield shrunk(wanted) if is_config(wanted) else _constructed(wanted, depth + 1, root, rich, half)[0]
        except Exception:
            # The next alternative stands in for it.
            return

    def think(parameter: Parameter) -> _Choices:
        given = passed.get(parameter.name, ())
        # The program's own sizes fit each other: where some of them are too large to be used, none are.
        own = [value for value in given if not (type(value) is int and (value > LARGE or (too_large and value > FEW)))]
        wanted = Wanted(parameter, hints.get(parameter.name, parameter.annotation), target, make, root)
        alike = [channels] if channels and guess.is_channels(parameter.name) else []
        return _Choices(chain(alike, own[:2], values_for(wanted)))

    return think


def _some(think: Callable[[Parameter], _Choices]) -> Callable[[Parameter, int], list[Any]]:
    """The same, each argument thought of once."""
    known: dict[str, _Choices] = {}

    def some(parameter: Parameter, count: int) -> list[Any]:
        if parameter.name not in known:
            known[parameter.name] = think(parameter)
        return list(known[parameter.name].some(0, count))

    return some


@dataclass(frozen=True)
class _Try:
    """Arguments that are worth a try: those of the least depth come first."""

    depth: int
    arguments: Arguments
    reached: tuple[int, ...] = ()
    """How far the arguments got that these were made from."""


def _constructed(
    target: type, depth: int, root: str, rich: bool, end: float = 0.0, channels: int = 0
) -> tuple[Any, Arguments]:
    end = end or time.thread_time() + SECONDS
    parameters = parameters_of(target)
    hints = hints_of(maker_of(target))
    # What is only handed on to the class above is given when it says that it is missing: this one may decide it itself.
    own_names = own_parameters(target)
    required = [p for p in parameters if p.default is p.empty and p.name in own_names]
    think = _thinker(target, root, rich, end, depth, channels)
    choices = {p.name: think(p) for p in required}
    if is_described(target):
        choices |= {name: _Choices(values) for name, values in _small_fields(parameters, rich).items()}
        # A field whose default is only a mark that somebody must give it.
        choices |= {p.name: think(p) for p in parameters if p.name not in choices and _is_unset(p, hints)}
    first: Exception | None = None
    picks = _first(choices)
    further = [{**picks, f"*{p.name}": value} for p in _rest(target) for value in think(p).some(0, FEW)]
    rest = chain([picks], further, _combinations(picks, choices, depth))
    some = _some(think)
    waiting: list[_Try] = []
    seen: set[str] = set()
    directed = 0
    large: Arguments | None = None
    while first is None or time.thread_time() < end:
        if waiting and directed < (DIRECTED if depth == 0 else FEW):
            now = waiting.pop(0)
            directed += 1
        elif (plain := next(rest, None)) is not None:
            now = _Try(0, plain)
        else:
            break
        key = repr(sorted(now.arguments.items()))
        if key in seen:
            continue
        seen.add(key)
        given = now.arguments
        try:
            given = copy.deepcopy(now.arguments)
            torch.manual_seed(0)
            with within(SLOW):
                made = _made(target, given)
            if (count := sizes_of(made)) <= PARAMETERS:
                return made, now.arguments
            del made
            if count <= LARGEST:
                large = large or now.arguments
            raise TooLarge(f"it has {count:,} parameters")
        except Exception as error:
            if alone.found_missing(error):
                seen.discard(key)
                waiting.insert(0, now)
                continue
            first = first or error
            far = reached(error)
            # A change after which the class gets further is on the right way; one that makes it fail earlier is not.
            level = now.depth + (0 if far > now.reached else 1 if far == now.reached else 2)
            found = islice(amendments(Failed(error, now.arguments, given, parameters, some)), AMENDED)
            fresh = [_Try(level + position // 4, change, far) for position, change in enumerate(found)]
            waiting = sorted([*fresh, *waiting], key=lambda one: one.depth)
    if large is not None:
        # Nothing smaller was found.
        torch.manual_seed(0)
        return _made(target, copy.deepcopy(large)), large
    needed = ", ".join(p.name for p in required) or "nothing"
    raise NoInputs(f"{target.__name__}({needed}) cannot be made: {type(first).__name__}: {str(first)[:200]}")


def _first(choices: Mapping[str, _Choices]) -> Arguments:
    return {name: value for name, values in choices.items() for value in values.some(0, 1)}


def _is_unset(parameter: Parameter, hints: Mapping[str, Any]) -> bool:
    """Whether a field is described by a class of its own, and its default is no instance of that."""
    wanted = hints.get(parameter.name)
    return isinstance(wanted, type) and is_described(wanted) and type(parameter.default) is str


def _small_fields(parameters: list[Parameter], rich: bool) -> dict[str, list[Any]]:
    """Defaults of a config that would make a model too large to run here, replaced by small ones."""
    found: dict[str, list[Any]] = {}
    for parameter in parameters:
        default = parameter.default
        if rich and type(default) is int and default == 0 and guess.number_for(parameter.name) in (2, 4):
            # A part that is left out by default: experts, adapters, memory tokens.
            found[parameter.name] = [guess.number_for(parameter.name), 0]
        elif isinstance(default, int) and not isinstance(default, bool) and default > 64:
            number = guess.number_for(parameter.name)
            if number:
                found[parameter.name] = [int(number), default]
        elif isinstance(default, int) and not isinstance(default, bool) and default > 4:
            few = guess.number_for(parameter.name)
            if few in (2, 4, 8) and few < default:
                found[parameter.name] = [int(few), default]
    return found


def _combinations(picks: Arguments, choices: Mapping[str, _Choices], depth: int) -> Iterator[Arguments]:
    """The first choices, then one changed at a time, then two: for what is only an argument of another, less."""
    yield picks
    for name, values in choices.items():
        for value in values.some(1, 5 if depth == 0 else 3):
            yield {**picks, name: value}
    names = list(choices) if depth == 0 else []
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            for left in choices[first].some(1, 3):
                for right in choices[second].some(1, 3):
                    yield {**picks, first: left, second: right}
