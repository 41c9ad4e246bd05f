"""The target of a diagnosis: found, built, and seen to run in eager mode."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import torch

from tclint.diagnose.child.turn import Turn
from tclint.diagnose.order import Order
from tclint.diagnose.shortening import first_line, shortened
from tclint.verify.child import compiling
from tclint.verify.child.experiments import EagerFailed, Setup, fresh, run_eager
from tclint.verify.child.inputs import BadFactory, Call, Example, NoInputs, as_calls
from tclint.verify.child.load import find, load
from tclint.verify.child.sources import sources
from tclint.verify.child.sweep import resized
from tclint.verify.cover import is_project
from tclint.verify.guess import TensorSpec
from tclint.verify.job import Candidate, Job

_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "")
IMAGES = 8
"""Batch of an image model that names its own input size."""


class NoTarget(Exception):
    """The target cannot be run; the words say what was tried and what to write."""


class NotApplicable(Exception):
    """The diagnostic makes no sense for this target; the words say why."""


@dataclass(frozen=True)
class Subject:
    """A target that runs, and what every diagnostic needs to know."""

    order: Order
    example: Example
    setup: Setup
    file: str
    parameters: int
    began: float
    save: Callable[[Any], None] = lambda part: None
    """Keeps a result of which only a part is done, in case the rest is never reached."""
    share: Callable[[Callable[[], Any], Callable[[], Any]], None] = lambda eager, compiled: None
    """Offers a warm eager and compiled step to the other diagnostics of the order."""
    turn: Turn = field(default_factory=Turn)

    @property
    def device(self) -> str:
        return self.order.device

    @property
    def seconds_left(self) -> float:
        """Seconds until nothing more should be begun."""
        return self.order.budget - (time.monotonic() - self.began)

    def made(self, mode: str = "eval", dtype: torch.dtype | None = None) -> tuple[Any, Call]:
        """The target, fresh, and its first call."""
        target, calls = fresh(self.setup, self.example, mode if self.example.wrap else "", dtype)
        return target, calls[0]

    def compiled(self, target: Any, **options: Any) -> Callable[..., Any]:
        """The target compiled; a program that compiles by itself is taken as it is."""
        if not self.example.wrap:
            plain: Callable[..., Any] = target
            return plain
        function: Callable[..., Any] = torch.compile(target, **options)
        return function

    def eager(self, target: Any) -> Callable[..., Any]:
        """The target without Dynamo."""
        if self.example.wrap:
            plain: Callable[..., Any] = compiling.unwrapped(target)
            return plain

        def run(*args: Any, **kwargs: Any) -> Any:
            with compiling.uncompiled():
                return target(*args, **kwargs)

        return run

    def sources(self) -> list[str]:
        """The user's files that the target drew in."""
        found = {self.file} if self.file else set()
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and self.setup.wanted(os.path.realpath(path)):
                found.add(os.path.realpath(path))
        return sorted(found)


def subject_of(order: Order) -> Subject:
    began = time.monotonic()
    module, path = _module(order)
    candidate = Candidate(path, order.name)
    job = Job(order.root, (candidate,), (), order.device, order.seed, order.factories, order.threads)
    folder = os.path.dirname(path)
    top = order.root if not order.module or order.path else _package(folder)
    setup = Setup(
        device=order.device,
        seed=order.seed,
        wanted=lambda p: p == path
        or (not p.startswith(_OWN) and (is_project(p, order.root) or (top != order.root and is_project(p, top)))),
        title=order.name,
    )
    tried: list[str] = []
    for example in _examples(job, candidate, module):
        if isinstance(example, NoInputs):
            tried.append(str(example))
            continue
        chosen = _with_batch(example, order.batch)
        try:
            run_eager(setup, chosen, "eval" if chosen.wrap else "")
        except EagerFailed as failed:
            if isinstance(failed.__cause__, BadFactory):
                raise NoTarget(f"the configured factory of {failed.__cause__}") from failed
            tried.append(f"{example.source}: {failed.fault.kind}: {first_line(failed.fault.message)}")
            continue
        target, calls = fresh(setup, chosen, "", None)
        parameters = sum(p.numel() for p in target.parameters()) if isinstance(target, torch.nn.Module) else 0
        inputs = _shown(calls[0])
        shown = chosen if inputs in chosen.source else replace(chosen, source=f"{chosen.source}: {inputs}")
        return Subject(order, shown, setup, path, parameters, began)
    owner = order.name.split(".")[0]
    raise NoTarget(
        f"no inputs run {order.name}: {'; '.join(tried) or 'nothing to try'}. write @tclint.example({owner}) above a "
        f"function returning ({owner}(...), [(inputs, ...)]), or name a factory in [tool.tclint.verify.factories]"
    )


def _package(folder: str) -> str:
    """The folder of the top package."""
    while os.path.isfile(os.path.join(os.path.dirname(folder), "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def _module(order: Order) -> tuple[ModuleType, str]:
    try:
        if order.path:
            return load(order.path, order.root), order.path
        if order.root not in sys.path:
            sys.path.insert(0, order.root)
        module = importlib.import_module(order.module)
    except (Exception, SystemExit) as error:
        raise NoTarget(f"{order.path or order.module} cannot be imported: {type(error).__name__}: {error}") from error
    return module, os.path.realpath(module.__file__ or "")


def _examples(job: Job, candidate: Candidate, module: ModuleType) -> Any:
    """Where a target and its calls may come from, best first: a factory is called, the rest is as verify does it."""
    try:
        target, method = find(module, candidate.name)
    except LookupError as missing:
        raise NoTarget(str(missing)) from missing
    made = None if method else _made_by(target)
    if made is not None:
        yield from _from_made(target, candidate.name, made)
    if isinstance(target, torch.nn.Module):
        yield from _from_made(lambda: target, candidate.name, target)
    try:
        yield from sources(job, candidate, module)
    except BadFactory as error:
        raise NoTarget(f"the configured factory of {error}") from error


def _made_by(target: Any) -> Any:
    """What a function without required arguments returns, where that is a model; None for anything else."""
    if not inspect.isfunction(target):
        return None
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    try:
        made = target()
    except (Exception, SystemExit) as error:
        return NoInputs(f"{target.__name__}() raised {type(error).__name__}: {shortened(str(error))}")
    pair = isinstance(made, tuple) and len(made) == 2 and callable(made[0])
    return made if pair or isinstance(made, (torch.nn.Module, NoInputs)) else None


class _Pair:
    """A factory of a model and its calls, asked once for both where one is wanted after the other: models take seconds."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self._factory = factory
        self._kept: list[Any] = []

    def model(self) -> Any:
        made, calls = self._factory()
        self._kept = [calls]
        return made

    def calls(self) -> list[Call]:
        return as_calls(self._kept.pop() if self._kept else self._factory()[1])


def _from_made(factory: Callable[[], Any], name: str, made: Any) -> Any:
    if isinstance(made, NoInputs):
        yield made
        return
    wrap = bool(getattr(factory, "wrap", True))
    if isinstance(made, tuple):
        pair = _Pair(factory)
        yield Example(f"{name}()", pair.model, pair.calls, wrap=wrap, given=True)
        return
    from tclint.verify.child.infer import example_of
    from tclint.verify.child.nested import realize

    size = _input_size(made)
    if size is not None:
        spec = TensorSpec((IMAGES, *size))
        yield Example(f"{name}()", factory, lambda: [Call((realize(spec, "cpu"),))], wrap=wrap)
    try:
        yield replace(example_of(factory, type(made), "", f"{name}()"), wrap=wrap)
    except NoInputs as missing:
        yield missing


def _input_size(model: Any) -> tuple[int, ...] | None:
    """The input that a model of timm says it takes."""
    for holder in ("pretrained_cfg", "default_cfg"):
        config = getattr(model, holder, None)
        size = config.get("input_size") if isinstance(config, dict) else getattr(config, "input_size", None)
        if isinstance(size, (tuple, list)) and len(size) == 3 and all(isinstance(side, int) for side in size):
            return tuple(size)
    return None


def _with_batch(example: Example, batch: int) -> Example:
    if not batch:
        return example

    def calls() -> list[Call]:
        found = []
        for call in example.calls():
            rows = next((int(t.shape[0]) for t in _tensors(call) if t.dim() > 1), 0)
            found.append(resized(call, rows, batch, (0,)) if rows else call)
        return found

    return replace(example, calls=calls)


def _tensors(call: Call) -> list[torch.Tensor]:
    import torch.utils._pytree as pytree

    leaves = pytree.tree_leaves((call.args, dict(call.kwargs)))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def _shown(call: Call) -> str:
    shown = [_one(value) for value in call.args] + [f"{name}={_one(value)}" for name, value in call.kwargs.items()]
    return ", ".join(shown) or "no arguments"


def _one(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return repr(value)[:40]
