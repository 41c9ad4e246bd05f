"""Other constructor arguments, from what an error says of those that were given: when the class was made, or when the
object was called."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from torch import nn

from tclint.verify import guess
from tclint.verify.assertions import solved
from tclint.verify.child.blame import blamed, compared_with, failing, is_plain, looked_up
from tclint.verify.child.made_up import Settings, Through
from tclint.verify.child.signatures import Parameter
from tclint.verify.child.wishes import wishes

Arguments = dict[str, Any]
Alternatives = Callable[[Parameter, int], list[Any]]
"""So many values that are thought of for an argument, the likeliest first."""

LENGTHS = (1, 2, 3, 4, 5)
LARGEST = 24
"""Most keys that a dict of settings is given, one by one."""
FEW = 4
"""Values that are looked at for each argument, where all of them are suspected alike."""
MANY = 8
"""Most values that are looked at for one of another kind."""
_NETWORK = ("URLError", "ConnectionError", "OfflineMode", "LocalEntryNotFound", "Max retries", "load weights")
_FETCHED = re.compile(r"pretrain|weights|download|load")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w.])")
_COUNTED = re.compile(
    r"not subscriptable|not iterable|has no len|non-iterable|must be (?:a )?(?:list|tuple|sequence)|an iterable"
)
_MAPPED = re.compile(r"has no attribute '(?:items|keys|values|get|update|pop|copy)'|must be a mapping")


@dataclass(frozen=True)
class Failed:
    """Arguments with which a class could not be made, or with which what was made does not run."""

    error: Exception
    attempt: Arguments
    given: Arguments
    """The objects themselves, which the failing statement may speak of."""
    parameters: list[Parameter]
    think: Alternatives


def amendments(failed: Failed) -> Iterator[Arguments]:
    """Arguments worth a try after an error, the plainest reading of it first."""
    settled = False
    for change in chain(_by_signature(failed), _by_part(failed)):
        settled = True
        yield change
    if settled:
        return
    yield from _by_words(failed)
    yield from _by_condition(failed)
    yield from _by_blame(failed)
    yield from _by_numbers(failed)
    yield from _by_absence(failed)


def revisions(failed: Failed) -> Iterator[Arguments]:
    """Arguments with which an object might run that does not run whatever it is called with."""
    attempt, text = failed.attempt, str(failed.error)
    yield from _by_part(failed)
    yield from _by_condition(failed)
    numbers = list(dict.fromkeys(int(number) for number in _NUMBER.findall(text)))[:6]
    axis = re.search(r"in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)", text)
    sizes = {name: value for name, value in attempt.items() if type(value) is int and value in numbers}
    for name, value in sizes.items():
        others = (1, -1, 0) if axis else [number for number in numbers if 0 < number <= 4096]
        yield from ({**attempt, name: other} for other in others if other != value)
    yield from _by_blame(failed)
    yield from _by_words(failed)
    if "None" in text:
        yield from _by_absence(failed)


def variations(attempt: Arguments, parameters: list[Parameter], think: Alternatives) -> Iterator[Arguments]:
    """One argument changed at a time: what is switched on or off by default the other way; lists longer and shorter; the
    next values that are thought of, one of every argument before the next of any."""
    for rest in [p for p in parameters if p.kind is p.VAR_POSITIONAL]:
        yield from ({**attempt, f"*{rest.name}": value} for value in think(rest, FEW))
    for parameter in [p for p in parameters if type(p.default) is bool and p.name not in attempt]:
        yield {**attempt, parameter.name: not parameter.default}
    lists = {name: value for name, value in attempt.items() if type(value) in (list, tuple) and value}
    if len(lists) > 1:
        yield {**attempt, **{name: value[:1] for name, value in lists.items()}}
    for name, value in lists.items():
        yield from ({**attempt, name: type(value)([value[0]] * length)} for length in (1, 3) if length != len(value))
    given = [p for p in parameters if p.name in attempt]
    for number in range(1, FEW):
        for parameter in given:
            yield from ({**attempt, parameter.name: value} for value in think(parameter, number + 1)[number:])


def _by_signature(failed: Failed) -> Iterator[Arguments]:
    """An argument is missing; or one is not wanted."""
    attempt, text = failed.attempt, str(failed.error)
    by_name = {p.name: p for p in failed.parameters}
    if missing := re.search(r"__init__\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.*)", text):
        names = [name for name in re.findall(r"'(\w+)'", missing[1]) if name not in attempt]
        known = {name: by_name.get(name) or Parameter(name, Parameter.KEYWORD_ONLY) for name in names}
        if known:
            yield {**attempt, **_firsts(known.values(), failed.think)}
    if refused := re.search(r"got (?:multiple values for|an unexpected)(?: keyword)? argument '(\w+)'", text):
        # A parameter of a class above it, which the class itself decides.
        if refused[1] in attempt:
            yield {name: value for name, value in attempt.items() if name != refused[1]}


def _by_part(failed: Failed) -> Iterator[Arguments]:
    """What stands in for a model was asked for one of its parts, or for a size of one."""
    wanted = re.match(rf"'{Through.__name__}' object has no attribute '(\w+)'", str(failed.error))
    models = {name: value for name, value in failed.attempt.items() if isinstance(value, Through)}
    if wanted and models:
        yield {**failed.attempt, **{name: Through(value.parts | {wanted[1]}) for name, value in models.items()}}


def _firsts(parameters: Any, think: Alternatives) -> Arguments:
    return {p.name: value for p in parameters for value in think(p, 1)}


def _by_words(failed: Failed) -> Iterator[Arguments]:
    """What the message itself says."""
    error, attempt, text = failed.error, failed.attempt, str(failed.error)
    if "tuple" in text and any(type(value) is list for value in attempt.values()):
        yield {name: tuple(value) if type(value) is list else value for name, value in attempt.items()}
    if short := re.search(r"not enough values to unpack \(expected (\d+)", text):
        lists = {name: value for name, value in attempt.items() if isinstance(value, (list, tuple)) and value}
        if lists:
            yield {**attempt, **{name: [value[0]] * int(short[1]) for name, value in lists.items()}}
    if re.search(r"'tuple' object|not tuple", text):
        yield {**{p.name: list(p.default) for p in failed.parameters if isinstance(p.default, tuple)}, **attempt}
    if any(word in f"{type(error).__name__} {text}" for word in _NETWORK):
        fetched = [p for p in failed.parameters if p.default is True and _FETCHED.search(p.name)]
        if any(attempt.get(p.name) is not False for p in fetched):
            yield {**attempt, **{p.name: False for p in fetched}}
    yield from _by_keys(failed)
    if made := re.match(r"(\w+)\.forward\(\) missing \d+ required positional argument", text):
        # A layer was given where its class is wanted.
        for name, value in attempt.items():
            if isinstance(value, nn.Module) and type(value).__name__ == made[1]:
                yield {**attempt, name: type(value)}
    yield from _offered(failed)


def _by_keys(failed: Failed) -> Iterator[Arguments]:
    """Settings that must be a dict; and what a dict of settings, or a copy of it, does not hold."""
    attempt, text = failed.attempt, f"{type(failed.error).__name__}: {failed.error}"
    if re.search(r"config type|(?:not|must be) a (?:dict|mapping)", text):
        made_up = [name for name, value in attempt.items() if isinstance(value, Settings)]
        if made_up:
            yield {**attempt, **{name: {} for name in made_up}}
    missing = re.search(
        r"KeyError: '(\w+)'|\w*[Dd]ict\w*' object has no attribute '(\w+)'|Missing attribute \W(\w+)", text
    )
    key = next((group for group in missing.groups() if group), "") if missing else ""
    for name, value in attempt.items():
        if type(value) is dict and key and key not in value and len(value) < LARGEST:
            number = guess.number_for(key)
            yield {**attempt, name: {**value, key: number if number is not None else guess.word_for(key) or 4}}


def _offered(failed: Failed) -> Iterator[Arguments]:
    """A word or a number that is not among those that the error lists, or that the dict holds it was looked up in: one of
    those."""
    attempt, text = {**_defaults(failed, str), **failed.attempt}, str(failed.error)
    keys = looked_up(failed.error)
    words = [key for key in keys if isinstance(key, str)] or list(
        dict.fromkeys(re.findall(r"['\"`]([A-Za-z][\w.-]*)['\"`]", text))
    )
    for name, value in attempt.items():
        many = isinstance(value, list) and bool(value) and isinstance(value[0], str)
        given = value[0] if many else value
        if isinstance(given, str) and (given in words or name in text or (keys and failed.error.args[0] == given)):
            for word in [word for word in words if word not in (given, name)][:3]:
                yield {**failed.attempt, name: [word] * len(value) if many else word}
            if not words and re.search(rf"\b{re.escape(given)}\b", text):
                # `norm must be either L1 or L2, got layer`
                for word in re.findall(r"\b(?:either|one of|in|or|be)\W+(\w+)", text)[:4]:
                    yield {**failed.attempt, name: word}
        if isinstance(given, str) and not words:
            for word in compared_with(failed.error, given)[:6]:
                yield {**failed.attempt, name: [word] * len(value) if many else word}
    numbers = [key for key in keys if type(key) is int] or [int(number) for number in _NUMBER.findall(text)]
    for name, value in failed.attempt.items():
        if type(value) is int and value not in numbers and (keys or re.search(rf"\b{re.escape(name)}\b", text)):
            yield from ({**failed.attempt, name: number} for number in numbers[:3])


def _defaults(failed: Failed, kind: type) -> Arguments:
    return {p.name: p.default for p in failed.parameters if type(p.default) is kind}


def _by_blame(failed: Failed) -> Iterator[Arguments]:
    """Another value for what the failing statement speaks of: of the kind that it wants, where the error says it."""
    attempt, text = failed.attempt, f"{type(failed.error).__name__}: {failed.error}"
    by_name = {p.name: p for p in failed.parameters}
    defaults = {p.name: p.default for p in failed.parameters if p.default is not p.empty}
    guilty = [name for name in blamed(failed.error, {**defaults, **failed.given}) if not name.startswith("*")]
    lists = {name: attempt[name] for name in guilty if type(attempt.get(name)) in (list, tuple) and attempt[name]}
    if isinstance(failed.error, (AssertionError, ValueError, IndexError)):
        for length in LENGTHS if lists else ():
            yield {**attempt, **{name: type(value)([value[0]] * length) for name, value in lists.items()}}
    key = failed.error.args[0] if isinstance(failed.error, KeyError) and failed.error.args else None
    for name in guilty[:4]:
        value = attempt.get(name, defaults.get(name))
        if isinstance(value, dict) and isinstance(key, str):
            number = guess.number_for(key)
            yield {**attempt, name: {**value, key: number if number is not None else guess.word_for(key) or 4}}
        parameter = by_name.get(name) or Parameter(name, Parameter.KEYWORD_ONLY)
        for other in _of_kind(text, value, failed.think(parameter, MANY)):
            yield {**attempt, name: other}
    for name, value in attempt.items():
        if isinstance(value, Settings) and (read := _settings(failed, text)):
            yield {**attempt, name: value.read_as(**read)}


def _of_kind(text: str, value: Any, thought: list[Any]) -> list[Any]:
    """Those values that are of the kind which the error asks for: all but the one there was, where it names none."""
    if _COUNTED.search(text):
        made = [[value] * length for length in (2, 4, 3)] if type(value) in (int, float) else []
        if isinstance(value, (list, tuple)) and value and type(value[0]) in (int, float):
            made = [[[value[0]] * length] * len(value) for length in (2, 4, 3)]
        return [*(other for other in thought if isinstance(other, (list, tuple)))][:3] + made
    if _MAPPED.search(text):
        return [other for other in thought if isinstance(other, Mapping)][:2] or [{}]
    if "ndarray" in text:
        import numpy as np

        return [np.linspace(0.0, 1.0, guess.WIDTH, dtype=np.float32)]
    if "Module subclass" in text:
        parts = [other for other in thought if isinstance(other, nn.Module)][:2] or [Through()]
        return (
            [[part] * max(len(value), 2) for part in parts]
            if isinstance(value, (list, tuple))
            else [*parts, [Through()] * 2]
        )
    if re.search(r"must be (?:a )?str|expected str|str expected", text):
        return [*[other for other in thought if isinstance(other, str)][:2], "mean", "a"]
    if "not callable" in text:
        return [other for other in thought if callable(other)][:3]
    if wanted := re.search(r"object has no attribute '(\w+)'", text):
        return [other for other in thought if _has(other, wanted[1])][:3]
    if value is True or value is False:
        return [not value]
    found = [other for other in thought if not is_plain(other) or type(other) is not type(value) or other != value]
    return [*found[:3], *([1, 2, 4] if type(value) is int else [])]


def _has(value: Any, attribute: str) -> bool:
    try:
        return hasattr(value, attribute)
    except Exception:
        # A property of the program's that fails: it is there.
        return True


def _settings(failed: Failed, text: str) -> dict[str, str]:
    """How a setting must be read that the failing statement asks for what a number does not have."""
    wanted = re.search(r"'(?:int|float|str|bool|NoneType)' object has no attribute '(\w+)'", text)
    for _, statement in failing(failed.error):
        if wanted:
            holder = re.search(rf"(\w+)(?:\(\))?\.{wanted[1]}\b", statement)
            return {"mapped" if _MAPPED.search(text) else "holders": holder[1]} if holder else {}
        if _COUNTED.search(text):
            held = re.findall(r"\.(\w+)(?![\w(.])", statement)
            return {"counted": held[-1]} if held else {}
    return {}


def _by_condition(failed: Failed) -> Iterator[Arguments]:
    """The numbers that the failed condition compares, each as the other wants it; lists by their length."""
    for wish in wishes(failed.error):
        for name, value in failed.attempt.items():
            if type(wish.want) is not int:
                continue
            if type(value) is int and value == wish.had:
                yield {**failed.attempt, name: wish.want}
            elif isinstance(value, list) and value and len(value) == wish.had and 0 < wish.want <= 64:
                yield {**failed.attempt, name: [value[0]] * wish.want}


def _by_numbers(failed: Failed) -> Iterator[Arguments]:
    """Numbers that a condition wants otherwise."""
    error, attempt, text = failed.error, failed.attempt, str(failed.error)
    frames = traceback.extract_tb(error.__traceback__)
    lines = " ".join(frame.line or "" for frame in frames[-2:])
    if isinstance(error, AssertionError) and frames:
        defaults = {p.name: p.default for p in failed.parameters}
        numbers = {name: value for name, value in {**defaults, **attempt}.items() if type(value) is int}
        yield from ({**attempt, **change} for change in solved(frames[-1].line or "", numbers))
    if isinstance(error, (AssertionError, ValueError)):
        for name, value in attempt.items():
            if type(value) is int and re.search(rf"\b{re.escape(name)}\b", f"{text} {lines}"):
                yield from ({**attempt, name: other} for other in (1, 2, 3, guess.WIDTH) if other != value)
    if isinstance(error, (AssertionError, ValueError, RuntimeError, ZeroDivisionError)):
        # A size that is nothing by default: somebody must always give it.
        left = [p for p in failed.parameters if p.name not in attempt and type(p.default) is int and p.default <= 0]
        sizes = {p.name: number for p in left if (number := guess.number_for(p.name)) and number > 2}
        if sizes:
            yield {**attempt, **sizes}


def _by_absence(failed: Failed) -> Iterator[Arguments]:
    """Arguments that were left to their defaults: one must not be None, one be set."""
    attempt, text = failed.attempt, str(failed.error)
    frames = traceback.extract_tb(failed.error.__traceback__)
    lines = " ".join(frame.line or "" for frame in frames[-2:])
    left = [p for p in failed.parameters if p.name not in attempt]
    for parameter in [p for p in left if re.search(rf"\b{re.escape(p.name)}\b", f"{text} {lines}")]:
        if parameter.default is False:
            yield {**attempt, parameter.name: True}
        elif parameter.default is None:
            for value in failed.think(parameter, 3):
                yield {**attempt, parameter.name: value}
    if "None" in text:
        absent = [p for p in left if p.default is None]
        counts = [p for p in absent if guess.number_for(p.name) is not None]
        for some in (counts, absent):
            if some:
                yield {**attempt, **_firsts(some, failed.think)}
        for parameter in absent:
            yield {**attempt, **_firsts([parameter], failed.think)}
