"""A target called as the project's own tests call it: a test is run without the compiler, and the call is kept that gets to
a line somebody asks about.

What a test makes in loops and helpers, and hands on through other objects, no slice of its statements repeats.
"""

from __future__ import annotations

import copy
import inspect
import sys
import time
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product
from types import CellType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import torch

from tclint.verify import suites
from tclint.verify.child.compiling import uncompiled, unwrapped
from tclint.verify.child.inputs import Call, Example, NoInputs, consumed
from tclint.verify.child.limits import within
from tclint.verify.child.load import find, load
from tclint.verify.child.owners import kept
from tclint.verify.cover import Coverage, covering
from tclint.verify.forks import leave_if_copy, uncounted
from tclint.verify.job import Candidate, Goal, Job
from tclint.verify.preconditions import asked_before
from tclint.verify.spans import outline

SECONDS = 30.0
"""Of the processor, for all tests of one process: every target has one of its own."""
_left = SECONDS
SOON = 6.0
"""For one test."""
TESTS = 24
"""Most tests that are run for one target, each with several sets of parameters."""
SETS = 6
"""Most sets of parameters of one test."""


_Keep = Callable[[FrameType], tuple[Any, Call] | None]
"""What to keep of a call that begins: what is called, and the call."""


class _Enough(BaseException):
    """The call that was waited for is there. No test catches it."""


@dataclass
class _Listener:
    """Which calls of a piece of code got to which places."""

    code: CodeType
    places: Sequence[Goal]
    coverage: Coverage
    calls: int = 0
    reached: dict[Goal, int] = field(default_factory=dict)
    """By place, the number of the call that got there first."""
    running: list[int] = field(default_factory=list)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code is not self.code or event not in ("call", "return"):
            return
        if event == "call":
            self.running.append(self.calls)
            self.calls += 1
            return
        number = self.running.pop() if self.running else 0
        for place in self.places:
            hits = self.coverage.hits.get(place.path, ())
            if place not in self.reached and any(line in hits for line in range(place.line, place.end_line + 1)):
                self.reached[place] = number


@dataclass
class _Keeper:
    """Keeps what the call of a number is made with, and ends the test there."""

    code: CodeType
    keep: _Keep
    number: int
    calls: int = 0
    found: tuple[Any, Call] | None = None

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code is not self.code or event != "call":
            return
        self.calls += 1
        if self.calls - 1 == self.number:
            sys.setprofile(None)
            self.found = self.keep(frame)
            raise _Enough


def overheard(job: Job, candidate: Candidate, module: ModuleType) -> Iterator[Example | NoInputs]:
    """Examples from the tests that get to one of the job's places through the candidate."""
    try:
        target, method = find(module, candidate.name)
    except LookupError:
        return
    function = _function_of(target, method)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return
    defaults = {p.name: p.default for p in inspect.signature(function).parameters.values() if p.default is not p.empty}
    for inner in _inside(code, job.places):
        yield from _listened(job, candidate, inner, _closed_over, _restored)
    kept_by = partial(_made_with, defaults=defaults)
    yield from _listened(job, candidate, code, kept_by, partial(_example, target, method))


def _listened(
    job: Job,
    candidate: Candidate,
    code: CodeType,
    keep: _Keep,
    restore: Callable[[str, Any, Call], Example],
) -> Iterator[Example]:
    """Examples from the tests in which a piece of code runs: what is kept of its call, and a call of it made from that."""
    global _left
    left = list(job.places)
    # What the conditions before a line ask, a test that runs it often sets by name.
    asked = frozenset(one.name for place in left for one in asked_before(place.path, place.line))
    for test in islice(suites.naming(_names(job, candidate), job.root, asked), TESTS):
        for act, told in _acts(test, job.root):
            if not left or _left <= 0:
                return
            begun = time.thread_time()
            for number in sorted(set(_heard(act, code, left).values())):
                keeper = _Keeper(code, keep, number)
                _perform(act, keeper)
                if keeper.found is None:
                    continue
                source = f"as {test.path.rpartition('/')[2]}:{test.line} calls it ({told})"
                example = restore(source, *keeper.found)
                reached = _heard(partial(_run, example), code, left)
                left = [place for place in left if place not in reached]
                if reached:
                    _left -= time.thread_time() - begun
                    yield replace(example, seen=True)
                    # What others do with the example is not part of the search.
                    begun = time.thread_time()
            _left -= time.thread_time() - begun


def _run(example: Example) -> None:
    made = example.build()
    for call in example.calls():
        consumed(made(*call.args, **call.kwargs))


def _names(job: Job, candidate: Candidate) -> list[str]:
    """What a test may name that calls the candidate: itself first, then what leads to it, then the classes beside it."""
    leading = [one.name.split(".")[0] for one in (candidate, *job.candidates)]
    return list(dict.fromkeys([*leading, *sorted(outline(candidate.path).classes)]))


def _function_of(target: Any, method: str) -> Any:
    """What is written in the source of what is called: without the decorators around it."""
    if isinstance(target, type):
        target = inspect.getattr_static(
            target, method or ("forward" if hasattr(target, "forward") else "__call__"), None
        )
        target = getattr(target, "__func__", target)
    try:
        return inspect.unwrap(unwrapped(target))
    except ValueError:
        return None


def _acts(test: suites.Test, root: str) -> Iterator[tuple[Callable[[], Any], str]]:
    """The test with each set of its parameters, as something to call; nothing where it asks for more than those."""
    try:
        file = load(test.path, root)
    except (Exception, SystemExit):
        # A file of tests that cannot be imported calls nothing.
        return
    owner = getattr(file, test.owner, None) if test.owner else None
    function = getattr(owner if test.owner else file, test.name, None)
    if not inspect.isfunction(function):
        return
    marks = [*getattr(function, "pytestmark", ()), *getattr(owner, "pytestmark", ())]
    names = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty][1 if owner else 0 :]
    for given in islice(_sets(marks), SETS):
        if {p.name for p in names} - given.keys():
            return
        told = ", ".join(f"{name}={repr(value)[:24]}" for name, value in given.items())
        yield _act(function, owner, given), f"{test.name}{f', {told}' if told else ''}"


def _act(function: Any, owner: Any, given: Mapping[str, Any]) -> Callable[[], Any]:
    def act() -> Any:
        if owner is None:
            return function(**copy.deepcopy(dict(given)))
        case = owner(function.__name__) if issubclass(owner, unittest.TestCase) else owner()
        for name in ("setUpClass", "setup_class", "setUp", "setup_method"):
            if callable(prepare := getattr(case, name, None)):
                prepare()
        return function(case, **copy.deepcopy(dict(given)))

    return act


def _sets(marks: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The sets of values that a test is marked with: the first of each, the last of each, then the others in turn."""
    axes: list[list[dict[str, Any]]] = []
    for mark in marks:
        if getattr(mark, "name", "") == "parametrize" and len(mark.args) >= 2:
            axes.append(_axis(mark.args[0], mark.args[1]))
    firsts: dict[str, Any] = {}
    for axis in axes:
        firsts |= axis[0] if axis else {}
    lasts = {name: value for axis in axes if axis for name, value in axis[-1].items()}
    yield firsts
    if lasts.keys() == firsts.keys() and axes:
        yield lasts
    for parts in islice(product(*axes), 1, None):
        yield {name: value for part in parts for name, value in part.items()}


def _axis(names: Any, values: Any) -> list[dict[str, Any]]:
    split = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    found = []
    for value in values:
        held = getattr(value, "values", value) if not isinstance(value, Mapping) else value
        several = type(value).__name__ == "ParameterSet" or len(split) > 1
        row = tuple(held) if several else (held,)
        if len(row) == len(split):
            found.append(dict(zip(split, row, strict=True)))
    return found


def _heard(act: Callable[[], Any], code: CodeType, places: Sequence[Goal]) -> dict[Goal, int]:
    files = {place.path for place in places}
    with covering(lambda path: path in files) as coverage:
        listener = _Listener(code, places, coverage)
        _perform(act, listener)
    return listener.reached


def _perform(act: Callable[[], Any], profile: Callable[[FrameType, str, Any], None]) -> None:
    """Run a test while somebody listens. Whether it passes is not asked."""
    torch.manual_seed(0)
    with uncounted(), _quietly(), uncompiled():
        try:
            with within(SOON):
                sys.setprofile(profile)
                try:
                    act()
                finally:
                    sys.setprofile(None)
        except KeyboardInterrupt:
            raise
        except BaseException:
            # A failure, a skip: what was heard before it counts.
            pass
    leave_if_copy()


@contextmanager
def _quietly() -> Iterator[None]:
    """What a test switches for the whole process is as it was after the block."""
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)


def _made_with(frame: FrameType, defaults: Mapping[str, Any]) -> tuple[Any, Call] | None:
    """The object and the arguments of a call that begins, without those that are left to their defaults; None where they
    cannot be kept."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    rest = list(code.co_varnames[len(names) :])
    more = values[rest.pop(0)] if code.co_flags & inspect.CO_VARARGS else ()
    kwargs = dict(values[rest.pop(0)]) if code.co_flags & inspect.CO_VARKEYWORDS else {}
    placed = [name for name in names[:count] if more or name not in defaults]
    named = [name for name in names if name not in placed and values[name] is not defaults.get(name, defaults)]
    args = [*(values[name] for name in placed), *more]
    owner = args.pop(0) if placed[:1] == ["self"] else None
    try:
        return copy.deepcopy(owner), Call(kept(tuple(args)), kept({name: values[name] for name in named} | kwargs))
    except Exception:
        # A model that cannot be copied cannot be made again and again.
        return None


def _inside(code: CodeType, places: Sequence[Goal]) -> list[CodeType]:
    """The functions defined in another one that hold a place themselves: whoever calls the outer one calls none of them."""
    found = []
    for inner in (const for const in code.co_consts if isinstance(const, CodeType)):
        found += _inside(inner, places)
        plain = not inner.co_name.startswith("<") and not inner.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        lines = {line for _, _, line in inner.co_lines() if line is not None}
        if plain and any(place.path == inner.co_filename and place.line in lines for place in places):
            found.append(inner)
    return found


def _closed_over(frame: FrameType) -> tuple[Any, Call] | None:
    """A function in a function, and the arguments of its call: the first as its code and the values of the outer names."""
    code, values = frame.f_code, frame.f_locals
    try:
        # What it is called with may be a part of what it closes over.
        closed, args = copy.deepcopy(
            (
                [values[name] for name in code.co_freevars],
                [values[name] for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]],
            )
        )
    except Exception:
        # What cannot be copied cannot be given again and again.
        return None
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    call = Call(tuple(args[: code.co_argcount]), dict(zip(names, args[code.co_argcount :], strict=True)))
    return (code, frame.f_globals, closed), call


def _restored(source: str, held: tuple[CodeType, dict[str, Any], list[Any]], call: Call) -> Example:
    code, names, closed = held

    def build() -> Any:
        cells = tuple(CellType(value) for value in copy.deepcopy(closed))
        return FunctionType(code, names, code.co_name, None, cells)

    return Example(source, build, lambda: [copy.deepcopy(call)])


def _example(target: Any, method: str, source: str, owner: Any, call: Call) -> Example:
    def build() -> Any:
        if owner is None:
            return getattr(target, method) if method else target
        made = copy.deepcopy(owner)
        return getattr(made, method) if method else made

    made = build()
    return Example(source, build, lambda: [copy.deepcopy(call)], wrap=unwrapped(made) is made)
