"""Whether a target computes the same before and after a change.

Two processes, as both files bear the same module name. The first runs the old source and writes a record: the weights,
the calls, and what came of them. The second gives the new source the same weights, calls and seeds, runs it eagerly and
compiled, and compares.
"""

from __future__ import annotations

import copy
import dataclasses
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from tclint.verify.child import compiling
from tclint.verify.child.compared import Compared, Values
from tclint.verify.child.experiments import EagerFailed, Setup, fault_of, fresh, seeded
from tclint.verify.child.inputs import Call, Example
from tclint.verify.child.session import compiled_for
from tclint.verify.child.sweep import SETTLED, map_tensors, sweeps, tensors_of
from tclint.verify.child.witness import Witness, watching
from tclint.verify.forks import leave_if_copy
from tclint.verify.heard import Equality, Frame, Trial

CALLS = 3
"""Fewest calls in a course."""
RUNS = 2
"""Of a program in a course: each makes all its calls, several of them most often."""
SWEEPS = 5
"""Most sweeps of one example."""
OTHER_SEED = 1000


@dataclass(frozen=True)
class Course:
    """A course of calls on one fresh target, in order."""

    label: str
    mode: str
    backend: str
    calls: tuple[Call, ...]
    seed: int
    allowed: int = SETTLED


@dataclass(frozen=True)
class Record:
    """What the old source did on one example."""

    candidate: str
    source: str
    weights: dict[str, Any]
    courses: list[Course]
    working: list[list[int]]
    """By course, which of its calls ran: for a new source that must make the calls again."""
    values: list[Values]
    trouble: str = ""


# --- the old source ---------------------------------------------------------------------------------------------------


def record(setup: Setup, candidate: str, example: Example) -> tuple[Record, tuple[Trial, ...]]:
    """Run the old source: eagerly, twice, for its values, and compiled for what Dynamo does with it."""
    target, _ = fresh(setup, example, "", None)
    made = Record(candidate, example.source, _weights(target), [], [], [])
    trials: list[Trial] = []
    for course in _courses(setup, example):
        working, values = _working(setup, example, course, made.weights)
        if len(working) < min(2, len(course.calls)):
            continue
        course = _only(course, working)
        values = values or _eager(setup, example, course, made.weights)
        found = Compared()
        found.all(values, _eager(setup, example, course, made.weights))
        if found.differs:
            return replace(made, trouble=f"it computes other values in every run: {found.differs}"), tuple(trials)
        made.courses.append(course)
        made.working.append(working)
        made.values.append(values)
        trials.append(_compiled(setup, example, course, made.weights)[0])
    return (made if made.courses else replace(made, trouble="no call runs in eager mode")), tuple(trials)


def save(path: str, records: Sequence[Record]) -> None:
    partial = f"{path}.part"
    torch.save([_storable(item) for item in records], partial)
    os.replace(partial, path)


def load(path: str) -> list[Record]:
    """The records that the other process wrote. Not before the target's module is loaded: arguments may need it."""
    found: list[Record] = torch.load(path, weights_only=False)
    return found


def _storable(item: Record) -> Record:
    """Without the calls, where these cannot be written down (a lambda, an open file): they are then made again."""
    try:
        torch.save(item.courses, io.BytesIO())
    except Exception:
        return replace(item, courses=[replace(course, calls=()) for course in item.courses])
    return item


def _only(course: Course, working: Sequence[int]) -> Course:
    return replace(course, calls=tuple(course.calls[number] for number in working))


def _courses(setup: Setup, example: Example) -> Iterator[Course]:
    """In train with other values in each call, on two seeds; in eval the same call again; then every shape there is."""
    modes = ("train", "eval") if example.wrap else ("", "")
    for seed in (setup.seed, setup.seed + OTHER_SEED):
        calls = fresh(replace(setup, seed=seed), example, "", None)[1]
        if not example.given:
            calls = _varied(calls[0])
        label = ", ".join(part for part in (modes[0], f"seed {seed}") if part)
        repeated = tuple(_repeated(calls) if example.wrap else calls * RUNS)
        yield Course(label, modes[0], "eager", repeated, seed, _settled(calls))
    calls = fresh(setup, example, "", None)[1]
    if not example.wrap:
        # Its own calls, in its own order, are all that a program is made for.
        return
    again = calls if example.given else calls[:1]
    label = f"eval, {'its calls' if example.given else 'one call'} again and again"
    yield Course(label, "eval", "aot_eager", tuple(again * CALLS), setup.seed, _settled(again))
    if example.given and _shapes(calls) > 1:
        return
    for number, sweep in enumerate(sweeps(calls[0])):
        if 0 < number <= SWEEPS:
            swept = tuple(sweep.calls(calls[0]))
            yield Course(f"eval, {sweep.label}", "eval", "aot_eager", swept, setup.seed, sweep.allowed)


def _settled(calls: Sequence[Call]) -> int:
    """How many programs a correct function may need: one, or one for each shape."""
    return _shapes(calls)


def _varied(call: Call) -> list[Call]:
    """The call, and the same shapes with values on the other side of what a program may ask about them."""

    def changed(change: Callable[[torch.Tensor], torch.Tensor]) -> Call:
        def one(tensor: torch.Tensor) -> torch.Tensor:
            if not tensor.is_floating_point() or tensor.layout != torch.strided:
                return tensor
            return change(tensor.detach()).requires_grad_(tensor.requires_grad)

        return Call(map_tensors(call.args, one), map_tensors(dict(call.kwargs), one))

    return [call, changed(lambda t: -t), changed(lambda t: t * 8 + 0.5), changed(torch.zeros_like)]


def _repeated(calls: Sequence[Call]) -> list[Call]:
    times = -(-CALLS // max(1, len(calls)))
    return list(calls) * max(1, times)


def _working(
    setup: Setup, example: Example, course: Course, weights: Mapping[str, Any]
) -> tuple[list[int], Values | None]:
    """Which calls run at all: a program may refuse a length, or zeros. What came of them where all were made together."""
    if not example.wrap:
        # Calls of a program build on each other: all, or none.
        try:
            values = _eager(setup, example, course, weights)
        except EagerFailed:
            return [], None
        return list(range(len(course.calls))), values
    found = []
    for number in range(len(course.calls)):
        try:
            _eager(setup, example, _only(course, [number]), weights)
        except EagerFailed:
            continue
        found.append(number)
    return found, None


# --- one run ----------------------------------------------------------------------------------------------------------


def _eager(setup: Setup, example: Example, course: Course, weights: Mapping[str, Any]) -> Values:
    try:
        with compiling.uncompiled():
            return _run(setup, example, course, weights, lambda target: target)
    except (Exception, SystemExit) as error:
        leave_if_copy()
        raise EagerFailed(fault_of("eager", error, setup.wanted)) from error


def _compiled(
    setup: Setup, example: Example, course: Course, weights: Mapping[str, Any]
) -> tuple[Trial, Values | None]:
    values: Values | None = None
    fault = ""
    with compiled_for(example, course.backend, setup.wanted, len(course.calls), goes_on=True) as session:
        try:
            wrap = setup.wrapped if example.wrap else (lambda target: target)
            values = _run(setup, example, course, weights, wrap)
        except (Exception, SystemExit) as error:
            leave_if_copy()
            told = fault_of("compiled", error, setup.wanted)
            fault = f"{told.kind}: {told.message.strip().splitlines()[0][:200] if told.message.strip() else ''}"
    heard = session.heard
    most = max((f for f in heard.frames if _is_theirs(f, setup)), key=lambda frame: frame.compiles, default=None)
    trial = Trial(
        label=course.label,
        calls=len(course.calls) if example.wrap else session.runs,
        # Each run of a program makes its functions anew, and calls them with what it likes.
        allowed=course.allowed if example.wrap else SETTLED * session.runs,
        compiles=most.compiles if most is not None else 0,
        reasons=most.reasons if most is not None else (),
        breaks=heard.breaks,
        traced={path: lines for path, lines in heard.traced.items() if setup.wanted(path)},
        fault=fault,
    )
    return trial, values


def _is_theirs(frame: Frame, setup: Setup) -> bool:
    return setup.wanted(frame.path) or any(setup.wanted(path) for path in frame.traced)


def _run(
    setup: Setup,
    example: Example,
    course: Course,
    weights: Mapping[str, Any],
    wrap: Callable[[Any], Any],
) -> Values:
    target, _ = fresh(replace(setup, seed=course.seed), example, course.mode, None)
    module = compiling.unwrapped(target)
    module = module if isinstance(module, torch.nn.Module) else None
    if module is not None and weights:
        module.load_state_dict(weights, strict=False)
    function = wrap(target)
    values = Values()
    for number, call in enumerate(course.calls):
        mine = _copy(call)
        seeded(course.seed + 2 + number)
        if not example.wrap:
            seen = Witness(portable, _weighted)
            with watching(seen):
                output = function(*mine.args, **mine.kwargs)
            leave_if_copy()
            values.outputs.append([portable(output), seen.returns])
            values.arguments.append(seen.arguments)
            values.gradients.update({f"{name} of run {number + 1}": g for name, g in seen.gradients.items()})
            continue
        output = function(*mine.args, **mine.kwargs)
        leave_if_copy()
        values.outputs.append(portable(output))
        if course.mode != "eval" and (loss := _weighted(output)) is not None:
            loss.backward()
        values.arguments.append(portable([list(mine.args), dict(mine.kwargs)]))
        if number == len(course.calls) - 1:
            inputs = {f"argument {n + 1}": t for n, t in enumerate(tensors_of([*mine.args, *mine.kwargs.values()]))}
            values.gradients.update(_gradients(inputs))
    if module is not None:
        values.buffers.update({name: portable(buffer) for name, buffer in module.named_buffers()})
        values.gradients.update(_gradients(dict(module.named_parameters())))
    return values


def _weights(target: Any) -> dict[str, Any]:
    module = compiling.unwrapped(target)
    if not isinstance(module, torch.nn.Module):
        return {}
    return {name: value for name, value in module.state_dict().items() if isinstance(value, torch.Tensor)}


def _copy(call: Call) -> Call:
    """A call of its own for every run: a program may write to its arguments."""
    try:
        args, kwargs = copy.deepcopy((call.args, dict(call.kwargs)))
    except Exception:
        # Not every object can be copied, nor a tensor that is no leaf; tensors are what must not be shared.
        args, kwargs = (map_tensors(part, lambda t: t.detach().clone()) for part in (call.args, dict(call.kwargs)))
    return Call(args, kwargs)


def _weighted(output: Any) -> torch.Tensor | None:
    """A weighted sum, for gradients: those of a plain one vanish behind a softmax."""
    terms = []
    for leaf in tensors_of(_opened(output)):
        if leaf.requires_grad and leaf.numel() and (leaf.is_floating_point() or leaf.is_complex()):
            real = leaf.abs() if leaf.is_complex() else leaf
            weight = torch.linspace(0.5, 1.5, leaf.numel(), device=leaf.device, dtype=torch.float32)
            terms.append((real.float().reshape(-1) * weight).sum())
    return torch.stack(terms).sum() if terms else None


def _gradients(tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    return {name: portable(t.grad) for name, t in tensors.items() if t.is_leaf and t.requires_grad}


def _opened(value: Any) -> Any:
    return list(value.values()) if isinstance(value, Mapping) else vars(value) if _is_data(value) else value


def _is_data(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def portable(value: Any, depth: int = 0) -> Any:
    """A nested result as plain data: tensors on the host, containers as lists and dicts, other objects by their type."""
    if isinstance(value, torch.Tensor):
        plain = value.detach()
        if plain.is_nested:
            return [portable(part, depth + 1) for part in plain.unbind()]
        if plain.is_quantized:
            plain = plain.dequantize()
        if plain.layout != torch.strided:
            plain = plain.to_dense()
        return plain.cpu().clone()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    if depth > 8:
        return "..."
    if isinstance(value, Mapping):
        return {str(key): portable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [portable(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if type(value).__module__ == "numpy" and hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    if _is_data(value):
        return {f.name: portable(getattr(value, f.name, None), depth + 1) for f in dataclasses.fields(value)}
    return f"<{type(value).__qualname__}>"


# --- the new source ---------------------------------------------------------------------------------------------------


def compare(setup: Setup, old: Record, example: Example) -> Equality:
    """The new source on the weights, calls and seeds of the old: eager and compiled values, against the old eager ones."""
    if old.trouble:
        return Equality(trouble=old.trouble)
    found = Compared()
    trials = []
    made: list[Call] = []
    again = {course.label: course for course in _courses(setup, example)}
    for kept, working, values in zip(old.courses, old.working, old.values, strict=True):
        course = kept if kept.calls else replace(kept, calls=_only(again[kept.label], working).calls)
        made += course.calls
        try:
            found.all(values, _eager(setup, example, course, old.weights), f" in eager mode ({course.label})")
        except EagerFailed as failed:
            words = f"{failed.fault.kind}: {failed.fault.message.strip()[:200]}"
            found.differs = found.differs or f"it fails in eager mode ({course.label}): {words}"
            break
        trial, compiled = _compiled(setup, example, course, old.weights)
        trials.append(trial)
        if compiled is not None:
            found.all(values, compiled, f" compiled ({course.label})")
        if found.differs:
            break
    return Equality(
        calls=len(made),
        shapes=_shapes(made),
        seeds=len({course.seed for course in old.courses}),
        tensors=found.tensors,
        numbers=found.numbers,
        gradients=found.gradients,
        worst=found.worst,
        differs=found.differs,
        notes=tuple(found.notes),
        trials=tuple(trials),
    )


def _shapes(calls: Sequence[Call]) -> int:
    return len({_shape([call.args, dict(call.kwargs)]) for call in calls})


def _shape(value: Any) -> Any:
    """What an input looks like, without its values: two calls of one shape differ in nothing that is guarded by size."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    if isinstance(value, Mapping):
        return tuple((str(key), _shape(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ("course", *(_shape(item) for item in value))
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__
