"""The search for arguments with which a target runs: a guess, what its errors say of it, and what kinds of modules take.

It runs on the meta device, where a wrong shape costs microseconds, and moves to the real one when a guess gets through.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from tclint.verify import guess
from tclint.verify.child import alone
from tclint.verify.child.blame import blamed, looked_into, reached
from tclint.verify.child.inputs import NoInputs, consumed
from tclint.verify.child.nested import call_of, parts_of
from tclint.verify.child.wishes import Wish, wishes
from tclint.verify.complaints import replaced, scaled
from tclint.verify.forks import leave_if_copy
from tclint.verify.guess import WIDTH, Several, TensorSpec
from tclint.verify.otherwise import families, otherwise
from tclint.verify.repair import repairs

TRIES = 240
KINDS = 2
"""At what depth the shapes that kinds of modules take come in."""
SECONDS = 3.0
SQUARES = ((WIDTH, WIDTH), (guess.BATCH, WIDTH, WIDTH))
NEAREST = 4
"""Most sets of arguments that are kept of a search without an end: each brought the target to another line."""
SAME = 5
"""Times that the same complaint is heard before the inputs are not to blame."""
_NOT_INPUTS = (AssertionError, AttributeError, NameError, NotImplementedError, ImportError)
"""Complaints that mean something else, where every guess brings the same."""
ELEMENTS = 1 << 21
"""Numbers in the inputs of a guess: one convolution over more of them takes as long as the whole search."""
PARAMETERS = 400_000_000
"""Models larger than this are not built by guessing."""


@dataclasses.dataclass(frozen=True)
class _Try:
    """Arguments that are worth a try: those of the least depth come first."""

    depth: int
    inputs: dict[str, Any]
    reached: tuple[int, ...] = ()
    """How far the arguments got that these were made from."""


def widths_of(model: Any) -> tuple[int, ...]:
    """How wide the inputs of a module may be, from its first layers on."""
    found: list[int] = []
    if isinstance(model, nn.Module):
        for layer in model.modules():
            for name in ("in_features", "in_channels", "input_size", "num_features", "embedding_dim", "embed_dim"):
                width = getattr(layer, name, None)
                if isinstance(width, int) and width > 0:
                    found.append(width)
            shape = getattr(layer, "normalized_shape", None)
            if isinstance(shape, (tuple, list)) and shape and isinstance(shape[-1], int):
                found.append(int(shape[-1]))
    return tuple(dict.fromkeys(found))[:4]


def search(
    build: Callable[[], Any],
    function_of: Callable[[Any], Any],
    start: Mapping[str, Any],
    optional: Mapping[str, Any],
    seconds: float = SECONDS,
    spare: Sequence[str] = (),
    also: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Arguments by name with which the target runs. Raises NoInputs with the last error where none were found.

    `spare` names those of `start` that the target asks whether they are None, `also` is as likely as what `start` has.
    """
    model = build()
    if isinstance(model, nn.Module):
        if sum(parameter.numel() for parameter in model.parameters()) > PARAMETERS:
            raise NoInputs("the model is too large to try inputs on")
        model.eval()
    real = function_of(model)
    meta = _on_meta(model, function_of)
    end = time.thread_time() + seconds
    waiting = [
        _Try(0, dict(start)),
        *([_Try(1, {**start, **also})] if also else []),
        *_later(model, start, optional, spare),
    ]
    same = 0
    heard: Counter[str] = Counter()
    seen = {repr(sorted(start.items(), key=str))}
    count = 0
    last: Exception | None = None
    first: Exception | None = None
    furthest: Exception | None = None
    ends: dict[tuple[int, ...], dict[str, Any]] = {}
    while waiting:
        now = waiting.pop(0)
        count += 1
        if count > TRIES or time.thread_time() > end:
            break
        failure = _attempt(meta, now.inputs, "meta") if meta is not None else None
        if failure is None or _only_meta(failure.error) or _DULL.search(str(failure.error)):
            failure = _attempt(real, now.inputs, "cpu")
        while failure is not None and alone.found_missing(failure.error):
            failure = _attempt(real, now.inputs, "cpu")
        if failure is None:
            return now.inputs
        error = failure.error
        same = same + 1 if last is not None and _complaint(error) == _complaint(last) else 0
        last = error
        first = first or error
        far = reached(error)
        ends.setdefault(far, now.inputs)
        heard[_complaint(error)] += 1
        if isinstance(error, ImportError) and heard[_complaint(error)] > SAME:
            # A package is missing.
            break
        if same >= SAME and len(heard) == 1 and isinstance(error, _NOT_INPUTS):
            # It fails whatever it is given: something must be done before it is called.
            break
        furthest = error if furthest is None or far > reached(furthest) else furthest
        # A repair after which the target gets further is on the right way; one that makes it fail earlier is not.
        depth = now.depth + (0 if far > now.reached else 1 if far == now.reached else 2)
        fresh = []
        for position, changed in enumerate(_changes(failure, now.inputs, optional)):
            key = repr(sorted(changed.items(), key=str))
            if key not in seen and _elements(changed) <= ELEMENTS:
                seen.add(key)
                fresh.append(_Try(depth + position // 4, changed, far))
        waiting = sorted([*fresh, *waiting], key=lambda one: one.depth)
    told = f"{type(first or last).__name__}: {str(first or last)[:200]}"
    raise NoInputs(
        f"no inputs were found that run it ({count} tried); the first error was {told}",
        heard=tuple(dict.fromkeys(error for error in (first, furthest) if error is not None)),
        nearest=tuple(ends[far] for far in sorted(ends, reverse=True)[:NEAREST]),
    )


def _later(model: Any, start: Mapping[str, Any], optional: Mapping[str, Any], absent: Sequence[str] = ()) -> list[_Try]:
    """What is tried when errors lead nowhere: nothing, where that is asked for; what kinds of modules take, optional tensors
    that no error asks for by name, square matrices for functions, which often want them all alike."""
    found = [_Try(0, _without(start, absent))] if absent else []
    found += [_Try(2, _without(start, [name])) for name in absent if len(absent) > 1]
    found += [_Try(KINDS + index // 6, item) for index, item in enumerate(families(start, widths_of(model)))]
    spare = [name for name, value in optional.items() if isinstance(value, TensorSpec) and name not in start]
    found += [_Try(5, {**start, name: optional[name]}) for name in spare[:4]]
    if not isinstance(model, nn.Module):
        floats = {
            name: value for name, value in start.items() if isinstance(value, TensorSpec) and value.dtype == "float32"
        }
        found += [
            _Try(2, {**start, **{name: dataclasses.replace(v, shape=s) for name, v in floats.items()}})
            for s in SQUARES
            if floats
        ]
    return sorted(found, key=lambda one: one.depth)


def _without(inputs: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The inputs with nothing in place of some of them, and of their parts."""
    kept = {name: value for name, value in inputs.items() if re.split(r"[.\[]", name)[0] not in names}
    return {**kept, **dict.fromkeys(names)}


def _on_meta(model: Any, function_of: Callable[[Any], Any]) -> Any:
    if not isinstance(model, nn.Module):
        return None
    try:
        return function_of(copy.deepcopy(model).to("meta"))
    except Exception:
        # Modules that hold what cannot be copied or moved are tried on the real device only.
        return None


@dataclasses.dataclass(frozen=True)
class _Failure:
    """What a call raised, and the objects that it was given."""

    error: Exception
    given: dict[str, Any]


def _attempt(function: Any, inputs: Mapping[str, Any], device: str) -> _Failure | None:
    from tclint.verify.child import compiling

    given: dict[str, Any] = {}
    try:
        torch.manual_seed(0)
        with torch.no_grad(), compiling.uncompiled():
            call = call_of(inputs, device)
            given = parts_of(inputs, call)
            consumed(function(*call.args, **call.kwargs))
    except Exception as error:
        leave_if_copy()
        return _Failure(error, given)
    leave_if_copy()
    return None


def _changes(failure: _Failure, inputs: dict[str, Any], optional: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the error says of the inputs, those that the failing line speaks of first; then other kinds of these."""
    lists = {name: value for name, value in inputs.items() if isinstance(value, Several) and _is_uniform(value)}
    guilty = blamed(failure.error, failure.given)
    # What is said of the elements of a list is said of each of them.
    each = {**inputs, **{name: value.items[0] for name, value in lists.items()}}
    words = dict.fromkeys(looked_into(failure.error, failure.given))
    found: list[dict[str, Any]] = []
    for name, word in words:
        rest = {other: value for other, value in each.items() if other != name}
        found.append({**rest, f"{name}[{word}]": guess.value_for(word)})
    found += [changed for wish in wishes(failure.error) for changed in _wished(wish, each, guilty)]
    found += repairs(_complaint(failure.error), each, optional)
    found.sort(
        key=lambda changed: not any(
            changed.get(name) is not each[name] for name in {*guilty, *(name for name, _ in words)}
        )
    )
    found += (changed for name in guilty[:2] for changed in otherwise(each, name))
    if not lists:
        return found
    whole = repairs(_complaint(failure.error), inputs, optional)
    return [*({**changed, **_listed(changed, each, lists)} for changed in found), *whole]


def _elements(inputs: Mapping[str, Any]) -> int:
    specs = (item for value in inputs.values() for item in (value.items if isinstance(value, Several) else (value,)))
    return sum(math.prod(spec.shape) for spec in specs if isinstance(spec, TensorSpec))


def _is_uniform(value: Several) -> bool:
    return bool(value.items) and all(isinstance(item, TensorSpec) and item == value.items[0] for item in value.items)


def _listed(changed: Mapping[str, Any], each: Mapping[str, Any], lists: Mapping[str, Several]) -> dict[str, Any]:
    """The lists again, of changed elements; what is no tensor any more, or has become a list itself, stays as it is."""
    found: dict[str, Any] = {}
    for name, value in lists.items():
        item = changed.get(name)
        if isinstance(item, TensorSpec):
            found[name] = dataclasses.replace(value, items=(item,) * len(value.items))
        elif isinstance(item, Several) and item.items[0] == each[name]:
            found[name] = dataclasses.replace(value, items=item.items)
    return found


def _wished(wish: Wish, inputs: dict[str, Any], guilty: list[str]) -> Iterator[dict[str, Any]]:
    """Inputs of which a condition would hold that did not."""
    for name, value in inputs.items():
        if isinstance(value, TensorSpec) and value.shape == wish.had and isinstance(wish.want, tuple):
            yield {**inputs, name: dataclasses.replace(value, shape=wish.want)}
        elif (
            isinstance(value, TensorSpec) and type(wish.had) is int and wish.had == len(value.shape) and name in guilty
        ):
            yield {**inputs, name: value.with_rank(wish.want)}
        elif type(value) is int and value == wish.had:
            yield {**inputs, name: wish.want}
    if type(wish.had) is int:
        yield from replaced(inputs, wish.had, wish.want)
        yield from scaled(inputs, wish.had, wish.want)


def _complaint(error: Exception) -> str:
    """What went wrong, with the condition that did not hold where an assertion says it."""
    text = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, AssertionError) and frames and frames[-1].line:
        return f"{text} [{frames[-1].line}]"
    return text


_DULL = re.compile(r"Invalid channel dimensions|Attempting to broadcast|must be the same as|not a valid")
"""What the meta device says without the numbers that the real one tells."""


def _only_meta(error: Exception) -> bool:
    """Whether the meta device is to blame: it has no values, and buffers made in a call are not on it."""
    text = str(error).lower()
    return isinstance(error, NotImplementedError) or "meta" in text or "data-dependent" in text or "autocast" in text
