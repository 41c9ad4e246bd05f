"""A statement that is not compiled itself, run with the least of the program that it needs.

What is flagged there is what the statement does: it changes a setting of torch, or it reads something of a compiled object
that an uncompiled one gives otherwise. So the settings are read before and after it, and what is marked is computed with the
compiler and without it.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tclint.verify import usage
from tclint.verify.child import standin
from tclint.verify.child.alone import found_missing, launched_alone
from tclint.verify.child.experiments import difference, fault_of
from tclint.verify.child.hosted import hosted
from tclint.verify.child.limits import within
from tclint.verify.child.load import dotted_name, package_at_fault, search_path
from tclint.verify.child.unloaded import missing_operators
from tclint.verify.child.weightless import weightless
from tclint.verify.heard import Fault, Run
from tclint.verify.job import Goal, Job
from tclint.verify.placed import Placed, needed_by, placed_at

SECONDS = 10
"""Of the processor, for what a statement needs."""
_OUTSIDE = frozenset({"silent", "slow"})
"""Effects that no graph break and no guard shows."""


def statement_runs(job: Job, wanted: Callable[[str], bool]) -> Iterator[Run | Fault]:
    """What the statements of findings do that stand outside of compiled code, or why they cannot be run by themselves."""
    for place in job.places:
        if place.effect not in _OUTSIDE or not place.column:
            continue
        placed = placed_at(place.path, place.mark, place.mark_end, place.column)
        if placed is None:
            continue
        try:
            run = _settings(job, place, placed) or _values(job, place, placed)
        except (Exception, SystemExit) as error:
            yield fault_of("statement", error, wanted)
            continue
        if run is not None:
            yield run


def _run(job: Job, place: Goal, label: str, **found: Any) -> Run:
    where = f"{os.path.relpath(place.path, job.root)}:{place.mark}, run by itself"
    lines = {place.path: tuple(range(place.line, place.end_line + 1))}
    return Run("statement", label, where, target="<statement>", covered=lines, calls=1, **found)


def _settings(job: Job, place: Goal, placed: Placed) -> Run | None:
    """What an assignment to settings of torch that the finding names makes of them."""
    if not isinstance(placed.statement, (ast.Assign, ast.AnnAssign)):
        return None
    before = _configured(place.names)
    if not before:
        return None
    needed = needed_by(placed, placed.statement)
    if _unknown(needed):
        return None
    try:
        with _surrounded(job, placed), _namespace(placed, needed, job.root) as namespace:
            exec(_code(placed.statement, placed.path), namespace)
        after = _configured(place.names)
    finally:
        # The other experiments of this process are made under torch's own settings.
        for name, value in before.items():
            module, _, setting = name.rpartition(".")
            setattr(sys.modules[module], setting, value)
    told = {name: (repr(value), repr(after[name])) for name, value in before.items() if name in after}
    return _run(job, place, "settings", settings=told)


def _values(job: Job, place: Goal, placed: Placed) -> Run | None:
    """What the marked expression gives with the compiler and without it. Sizes do not matter to names: weights are not made."""
    if placed.marked is None or not isinstance(placed.marked, ast.Call):
        return None
    needed = needed_by(placed, placed.marked)
    if _unknown(needed):
        return None
    code = compile(ast.Expression(hosted(placed.marked)), placed.path, "eval")
    results = []
    for compiling in (False, True):
        with ExitStack() as stack:
            stack.enter_context(_surrounded(job, placed))
            stack.enter_context(weightless())
            if not compiling:
                stack.enter_context(_without_compiler())
            results.append(eval(code, stack.enter_context(_namespace(placed, needed, job.root))))
    differs = unlike(*results)
    return _run(job, place, "with and without the compiler", differs=differs) if differs else None


def unlike(plain: Any, compiled: Any) -> str:
    """How what the compiler's object gives differs from what the plain one gives, in words; empty where it does not."""
    if isinstance(plain, Mapping) and isinstance(compiled, Mapping):
        gone = [key for key in plain if key not in compiled]
        new = [key for key in compiled if key not in plain]
        if gone and new:
            return f"{len(new)} of {len(compiled)} keys are others, {new[0]!r} for {gone[0]!r}"
        if gone or new:
            return f"{'without' if gone else 'with'} the key {(gone or new)[0]!r}"
    return difference(plain, compiled, "the value")


@contextmanager
def _surrounded(job: Job, placed: Placed) -> Iterator[None]:
    """The import path and the environment that the program would find, and a limit of time."""
    own = search_path(Path(placed.path), job.root)
    sys.path[:] = [*own, *(entry for entry in sys.path if entry not in own)]
    with launched_alone(), standin.importing(), missing_operators(), within(SECONDS):
        yield


def _unknown(needed: usage.Slice) -> frozenset[str]:
    """Names that a caller would give."""
    return needed.unbound - set(vars(builtins)) - {"__file__", "__name__"}


@contextmanager
def _namespace(placed: Placed, needed: usage.Slice, root: str) -> Iterator[dict[str, Any]]:
    """The names that a slice binds. What fails in it is left out, and is what is wrong where somebody misses its name."""
    module = ModuleType("tclint_statement")
    namespace = vars(module)
    namespace.update(__file__=placed.path, __package__=dotted_name(Path(placed.path))[0].rpartition(".")[0])
    sys.modules[module.__name__] = module  # dataclasses look their module up
    left_out: list[BaseException] = []
    for statement in needed.statements:
        error = _tolerantly(_code(statement, placed.path), namespace, root)
        if error is not None and not isinstance(error, NameError):
            left_out.append(error)
    try:
        yield namespace
    except NameError:
        if left_out:
            raise left_out[-1] from None
        raise


def _tolerantly(code: Any, namespace: dict[str, Any], root: str) -> BaseException | None:
    for _ in range(standin.MOST):
        try:
            exec(code, namespace)
        except (Exception, SystemExit) as error:
            if found_missing(error) or (
                isinstance(error, ImportError) and standin.replace(package_at_fault(error, root))
            ):
                continue
            return error
        return None
    return None


def _code(statement: ast.stmt, path: str) -> Any:
    return compile(ast.Module([hosted(statement)], []), path, "exec")


@contextmanager
def _without_compiler() -> Iterator[None]:
    """`torch.compile` gives back what it is given."""

    def plain(model: Any = None, **_: Any) -> Any:
        return (lambda decorated: decorated) if model is None else model

    before = torch.compile
    torch.compile = plain
    try:
        yield
    finally:
        torch.compile = before


def _configured(names: tuple[str, ...]) -> dict[str, Any]:
    """The values of these settings of torch, under the full names of those modules that hold settings."""
    from torch.utils import _config_module

    found: dict[str, Any] = {}
    for path, module in sorted(sys.modules.items()):
        if isinstance(module, _config_module.ConfigModule) and path.startswith("torch."):
            for name in names:
                if hasattr(module, name):
                    found[f"{path}.{name}"] = getattr(module, name)
    return found
