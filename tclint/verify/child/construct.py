"""Instances of classes nobody described: constructor arguments from annotations, use, names, defaults and the program's own."""

from __future__ import annotations

import copy
import inspect
import re
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import torch

from tclint.verify import guess, usage
from tclint.verify.assertions import solved
from tclint.verify.child import alone
from tclint.verify.child.arguments import Wanted, is_described, values_for
from tclint.verify.child.inputs import NoInputs
from tclint.verify.child.shrunk import is_config, shrunk
from tclint.verify.child.signatures import Parameter, hints_of, own_parameters, parameters_of

DEPTH = 3
"""How deep an argument may be an instance that has to be made itself."""
CHOICES = 12
"""Most values that are thought of for one argument."""
SECONDS = 3.0
"""Of the processor, to find arguments with which a class can be made."""
LARGE = guess.WIDTH * 4
"""Sizes above this make a model slow."""
FEW = 4
"""Numbers up to this are counts rather than sizes."""
AMENDED = 12
"""Most attempts that follow from what errors say."""

_NETWORK = ("URLError", "ConnectionError", "OfflineMode", "LocalEntryNotFound", "Max retries", "load weights")
_FETCHED = re.compile(r"pretrain|weights|download|load")

Arguments = dict[str, Any]


def maker_of(target: type, root: str = "", rich: bool = False, channels: int = 0) -> Callable[[], Any]:
    """Makes instances with the same guessed arguments, which are looked for once. `channels` is what every argument that
    counts channels is given, where the guesses did not fit each other."""
    found: list[Arguments] = []

    def make() -> Any:
        if not found:
            made, arguments = _constructed(target, 0, root, rich, channels=channels)
            found.append(arguments)
            return made
        torch.manual_seed(0)
        return target(**copy.deepcopy(found[0]))

    return make


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


def _constructed(
    target: type, depth: int, root: str, rich: bool, end: float = 0.0, channels: int = 0
) -> tuple[Any, Arguments]:
    end = end or time.process_time() + SECONDS
    parameters = parameters_of(target)
    hints = hints_of(inspect.getattr_static(target, "__init__"))
    # What is only handed on to the class above is given when it says that it is missing: this one may decide it itself.
    own_names = own_parameters(target)
    required = [p for p in parameters if p.default is p.empty and p.name in own_names]
    passed = usage.literals_of(target.__name__, [p.name for p in parameters], root) if root else {}

    too_large = any(type(value) is int and value > LARGE for values in passed.values() for value in values)

    def make(wanted: type) -> Iterator[Any]:
        if depth >= DEPTH or time.process_time() > end:
            return
        try:
            yield shrunk(wanted) if is_config(wanted) else _constructed(wanted, depth + 1, root, rich, end)[0]
        except Exception:
            # The next alternative stands in for it.
            return

    def thought_of(parameter: Parameter) -> _Choices:
        given = passed.get(parameter.name, ())
        # The program's own sizes fit each other: where some of them are too large to be used, none are.
        own = [value for value in given if not (type(value) is int and (value > LARGE or (too_large and value > FEW)))]
        wanted = Wanted(parameter, hints.get(parameter.name, parameter.annotation), target, make, root)
        alike = [channels] if channels and guess.is_channels(parameter.name) else []
        return _Choices(chain(alike, own[:2], values_for(wanted)))

    choices = {p.name: thought_of(p) for p in required}
    if is_described(target):
        choices |= {name: _Choices(values) for name, values in _small_fields(parameters, rich).items()}
        # A field whose default is only a mark that somebody must give it.
        choices |= {p.name: thought_of(p) for p in parameters if p.name not in choices and _is_unset(p, hints)}
    picks = _first(choices)
    first: Exception | None = None
    waiting = _combinations(picks, choices, depth)
    amended: list[Arguments] = []
    heard = 0
    while True:
        attempt = amended.pop(0) if amended else next(waiting, None)
        if attempt is None or (first is not None and time.process_time() > end):
            break
        try:
            torch.manual_seed(0)
            return target(**copy.deepcopy(attempt)), attempt
        except Exception as error:
            if alone.found_missing(error):
                amended.insert(0, attempt)
                continue
            first = first or error
            if heard < AMENDED:
                heard += 1
                amended += _amendments(error, attempt, parameters, thought_of)
    needed = ", ".join(p.name for p in required) or "nothing"
    raise NoInputs(f"{target.__name__}({needed}) cannot be made: {type(first).__name__}: {str(first)[:200]}")


def _first(choices: Mapping[str, _Choices]) -> Arguments:
    return {name: value for name, values in choices.items() for value in values.some(0, 1)}


def _amendments(
    error: Exception, attempt: Arguments, parameters: list[Parameter], thought_of: Callable[[Parameter], _Choices]
) -> Iterator[Arguments]:
    """What an error says of arguments that were left to their defaults: one is missing, one must not be None, one be set."""
    text = str(error)
    by_name = {p.name: p for p in parameters}
    if missing := re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", text):
        names = re.findall(r"'(\w+)'", missing[1])
        known = {name: by_name.get(name) or Parameter(name, Parameter.KEYWORD_ONLY) for name in names}
        yield {**attempt, **_first({name: thought_of(p) for name, p in known.items() if name not in attempt})}
        return
    if refused := re.search(r"got (?:multiple values for|an unexpected)(?: keyword)? argument '(\w+)'", text):
        # A parameter of a class above it, which the class itself decides.
        if refused[1] in attempt:
            yield {name: value for name, value in attempt.items() if name != refused[1]}
        return
    if "tuple" in text and any(type(value) is list for value in attempt.values()):
        yield {name: tuple(value) if type(value) is list else value for name, value in attempt.items()}
    if short := re.search(r"not enough values to unpack \(expected (\d+)", text):
        lists = {name: value for name, value in attempt.items() if isinstance(value, (list, tuple)) and value}
        yield {**attempt, **{name: [value[0]] * int(short[1]) for name, value in lists.items()}}
    if re.search(r"'tuple' object|not tuple", text):
        yield {**{p.name: list(p.default) for p in parameters if isinstance(p.default, tuple)}, **attempt}
    if any(word in f"{type(error).__name__} {text}" for word in _NETWORK):
        fetched = [p for p in parameters if p.default is True and _FETCHED.search(p.name)]
        if any(attempt.get(p.name) is not False for p in fetched):
            yield {**attempt, **{p.name: False for p in fetched}}
    yield from _offered(text, attempt)
    frames = traceback.extract_tb(error.__traceback__)
    lines = " ".join(frame.line or "" for frame in frames[-2:])
    left = [p for p in parameters if p.name not in attempt]
    named = [p for p in left if re.search(rf"\b{re.escape(p.name)}\b", f"{text} {lines}")]
    for parameter in named:
        if parameter.default is False:
            yield {**attempt, parameter.name: True}
        elif parameter.default is None:
            for value in thought_of(parameter).some(0, 3):
                yield {**attempt, parameter.name: value}
    if isinstance(error, AssertionError) and frames:
        defaults = {p.name: p.default for p in parameters}
        numbers = {name: value for name, value in {**defaults, **attempt}.items() if type(value) is int}
        yield from ({**attempt, **change} for change in solved(frames[-1].line or "", numbers))
    if isinstance(error, (AssertionError, ValueError)):
        for name, value in attempt.items():
            if type(value) is int and re.search(rf"\b{re.escape(name)}\b", f"{text} {lines}"):
                yield from ({**attempt, name: other} for other in (1, 2, 3, guess.WIDTH) if other != value)
    if isinstance(error, (AssertionError, ValueError, RuntimeError, ZeroDivisionError)):
        # A size that is nothing by default: somebody must always give it.
        nothing = {p.name: guess.number_for(p.name) for p in left if type(p.default) is int and p.default <= 0}
        sizes = {name: number for name, number in nothing.items() if number and number > 2}
        if sizes:
            yield {**attempt, **sizes}
    if "None" in text:
        absent = [p for p in left if p.default is None]
        counts = [p for p in absent if guess.number_for(p.name) is not None]
        for some in (counts, absent):
            if some:
                yield {**attempt, **_first({p.name: thought_of(p) for p in some})}
        for parameter in absent:
            yield {**attempt, **_first({parameter.name: thought_of(parameter)})}


def _offered(text: str, attempt: Arguments) -> Iterator[Arguments]:
    """A word that is not among those that the error lists: one of those."""
    words = list(dict.fromkeys(re.findall(r"['\"]([A-Za-z][\w.-]*)['\"]", text)))
    for name, value in attempt.items():
        many = isinstance(value, list) and bool(value) and isinstance(value[0], str)
        given = value[0] if many else value
        if isinstance(given, str) and (given in words or name in text):
            for word in [word for word in words if word not in (given, name)][:3]:
                yield {**attempt, name: [word] * len(value) if many else word}


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
