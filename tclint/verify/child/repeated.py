"""The calls of a target repeated with something changed: sizes, arguments, attributes. How often is it compiled?"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from tclint.verify.child.compiling import uncompiled, unwrapped
from tclint.verify.child.experiments import EagerFailed, Setup, fresh, run_eager, run_recompiles
from tclint.verify.child.inputs import Call, Example
from tclint.verify.child.sweep import SETTLED, Sweep, sweeps
from tclint.verify.heard import Run

SOON = 5.0
"""Seconds that the calls may take on the CPU, so that sizes are tried there before they are tried on a GPU."""


def recompile_runs(
    example: Example,
    setup: Setup,
    swept_calls: dict[str, list[Call]] | None = None,
    names: Sequence[str] = (),
    passed: Mapping[str, Sequence[Any]] | None = None,
) -> Iterator[Run]:
    """The example's own calls in order; or every sweep that it takes, noted in `swept_calls`.

    `names` are what findings say changes: attributes among them are changed between calls. `passed` holds the values that
    the program passes for an argument. Raises EagerFailed where it never runs.
    """
    if example.given:
        yield run_recompiles(setup, example, f"{example.source}, in order", SETTLED)
        return
    run_eager(setup, example, "eval")
    # With `dynamic=False` every new value is a program of its own.
    excused = setup.compiled.dynamic is not False
    made = sweeps(example.calls()[0], parameters_of(example), passed, "keys" in names)
    for sweep in sorted(made, key=lambda s: _is_named(s, names)):
        working = working_calls(example, sweep, setup)
        if len(working) > (SETTLED if excused else 1):
            swept = replace(example, calls=partial(_chosen, example, sweep, working))
            allowed = sweep.allowed if excused or not sweep.varied else 1
            yield run_recompiles(setup, swept, sweep.label, allowed, "eval", sweep.varied)
            if swept_calls is not None:
                swept_calls[sweep.label] = fresh(setup, swept, "eval", None)[1]
    for name in names:
        attribute = name.removeprefix("self.")
        if attribute == name or (change := attribute_change(example, attribute)) is None:
            continue
        again = replace(example, calls=lambda: example.calls()[:1] * (SETTLED + 1))
        if _changes_itself(setup, example, attribute):
            # Whoever adds to it what the program does not makes a counter of what is set once.
            yield run_recompiles(setup, again, f"{name} as the calls change it", SETTLED, "eval", (name,))
        else:
            yield run_recompiles(setup, again, f"{name} changed between calls", 1, "eval", (name,), change)


def _is_named(sweep: Sweep, names: Sequence[str]) -> bool:
    """False for sweeps of what a finding names: they come first."""
    return not set(sweep.varied) & set(names)


def parameters_of(example: Example) -> list[str]:
    """The names of the positional arguments of what the example builds."""
    made = unwrapped(example.build())
    try:
        signature = inspect.signature(made.forward if isinstance(made, torch.nn.Module) else made)
    except (TypeError, ValueError):
        return []
    return [p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _can_change(part: Any, name: str) -> bool:
    own = getattr(part, "__dict__", {}).get(name)
    described = inspect.getattr_static(type(part), name, None)
    if isinstance(described, property) and described.fset is not None:
        own = getattr(part, name, None)
    return type(own) in (int, float, bool)


def _holders(made: Any, name: str) -> list[Any]:
    """The parts of a target that have an attribute which can be changed."""
    owner = getattr(made, "__self__", made)
    parts = list(owner.modules()) if isinstance(owner, torch.nn.Module) else [owner]
    return [part for part in parts if _can_change(part, name)]


def _changes_itself(setup: Setup, example: Example, name: str) -> bool:
    """Whether a call of the target changes an attribute of its own."""
    made, calls = fresh(setup, example, "eval", None)
    parts = _holders(unwrapped(made), name)
    before = [getattr(part, name) for part in parts]
    with uncompiled():
        made(*calls[0].args, **calls[0].kwargs)
    return before != [getattr(part, name) for part in parts]


def attribute_change(example: Example, name: str) -> Callable[[Any, int], None] | None:
    """Changes an attribute of the target's modules to another value of its kind; None where there is none to change."""

    def change(made: Any, turn: int) -> None:
        for part in _holders(made, name):
            value = getattr(part, name)
            try:
                setattr(part, name, not value if type(value) is bool else value + 1)
            except (ValueError, AssertionError):
                # A setter that knows a largest value.
                setattr(part, name, value - 1)

    return change if _holders(unwrapped(example.build()), name) else None


def _chosen(example: Example, sweep: Sweep, working: list[int]) -> list[Call]:
    calls = sweep.calls(example.calls()[0])
    return [calls[number] for number in working]


def working_calls(example: Example, sweep: Sweep, setup: Setup) -> list[int]:
    """Which calls of a sweep run in eager mode: a length the model does not take is no finding."""
    calls = sweep.calls(example.calls()[0])

    def running(numbers: Sequence[int], where: Setup) -> list[int]:
        found: dict[int, bool] = {}
        for number in numbers:
            if id(calls[number]) not in found:  # the same call several times runs once
                chosen = replace(example, calls=partial(_chosen, example, sweep, [number]))
                found[id(calls[number])] = _runs(chosen, where)
        return [number for number in numbers if found[id(calls[number])]]

    numbers: Sequence[int] = range(len(calls))
    host = replace(setup, device="cpu")
    if setup.device != host.device:
        with _every_core():
            if _runs_soon(example, host):
                # An index out of range is an exception on a CPU. On a GPU it is an assertion in a kernel, after which
                # nothing runs in this process any more.
                numbers = running(numbers, host)
    return running(numbers, setup)


def _runs(example: Example, setup: Setup) -> bool:
    try:
        run_eager(setup, example, "eval")
    except EagerFailed:
        return False
    return True


@contextmanager
def _every_core() -> Iterator[None]:
    """A large image on one core takes longer than all that is to be learned from it."""
    before = torch.get_num_threads()
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _runs_soon(example: Example, setup: Setup) -> bool:
    """Whether the example's own calls run there, in a time that can be spent on every size."""
    start = time.perf_counter()
    return _runs(example, setup) and time.perf_counter() - start < SOON
