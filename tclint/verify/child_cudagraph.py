"""CUDA graphs under the real mode: several steps, then a read of what was kept, against an eager reference.

An output that is kept and read too late raises while the graph is still being recorded, and is silently wrong once it
replays.
So both are watched: the error, and the values. What Inductor decided (skips, partitions, recordings) is in its
counters.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.utils import counters

from tclint.verify import child_compile
from tclint.verify.child_experiments import Bench, EagerFailed, difference, fault_of, fresh
from tclint.verify.child_inputs import Call, Example
from tclint.verify.cover import covering
from tclint.verify.heard import Graphs, Run
from tclint.verify.trace import steps_of

OVERWRITTEN = "accessing tensor output of CUDAGraphs that has been overwritten"
STEPS = 5
"""Warm-up, recording, and a few replays."""
RECORDINGS = 3
"""One function recorded this often is recorded anew for every shape."""


@dataclass
class Seen:
    """What was noticed while the program ran."""

    skips: list[str] = field(default_factory=list)
    recorded: Counter[Any] = field(default_factory=Counter)
    replayed_by_hand: int = 0


class _SkipEar(logging.Handler):
    def __init__(self, seen: Seen) -> None:
        super().__init__(level=logging.DEBUG)
        self.seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if "skipping cudagraph" in text.lower() or "CUDAGraph supports dynamic shapes" in text:
            self.seen.skips.append(text[:2000])


@contextmanager
def watching() -> Iterator[Seen]:
    """Notes skips, recordings and replays inside the block."""
    seen = Seen()
    ear = _SkipEar(seen)
    with ExitStack() as stack:
        for name in (
            "cudagraph_utils.__cudagraphs",
            "cudagraph_trees.__cudagraphs",
            "compile_fx.__perf_hints",
            "cudagraph_utils.__perf_hints",
        ):
            logger = logging.getLogger(f"torch._inductor.{name}")
            kept = (logger.level, logger.propagate)
            logger.addHandler(ear)
            logger.setLevel(logging.DEBUG)
            logger.propagate = False
            stack.callback(_put_back, logger, ear, *kept)
        stack.enter_context(_counting_recordings(seen))
        stack.enter_context(_counting_replays(seen))
        yield seen


def _put_back(logger: logging.Logger, ear: logging.Handler, level: int, propagate: bool) -> None:
    logger.removeHandler(ear)
    logger.setLevel(level)
    logger.propagate = propagate


@contextmanager
def _patched(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    real = getattr(owner, name, None)
    if real is None:
        # Another release has no such method: the outcome it would have told is not told.
        yield
        return
    setattr(owner, name, make(real))
    try:
        yield
    finally:
        setattr(owner, name, real)


@contextmanager
def _counting_recordings(seen: Seen) -> Iterator[None]:
    from torch._inductor import cudagraph_trees

    def make(real: Any) -> Any:
        def record_function(self: Any, new_inputs: Any, function_id: Any) -> Any:
            seen.recorded[str(function_id)] += 1
            return real(self, new_inputs, function_id)

        return record_function

    with _patched(cudagraph_trees.CUDAGraphTreeManager, "record_function", make):
        yield


@contextmanager
def _counting_replays(seen: Seen) -> Iterator[None]:
    def make(real: Any) -> Any:
        def replay(self: Any) -> Any:
            seen.replayed_by_hand += 1
            return real(self)

        return replay

    with _patched(torch.cuda.CUDAGraph, "replay", make):
        yield


def kept_by(target: Any) -> dict[str, Any]:
    """Tensors that a module holds beside its parameters and buffers: what a forward stored away."""
    found: dict[str, Any] = {}
    if isinstance(target, torch.nn.Module):
        for prefix, module in child_compile.unwrapped(target).named_modules():
            for name, value in vars(module).items():
                if not name.startswith("_") or name.startswith("_cache"):
                    tensors = _only_tensors(value)
                    if tensors is not None:
                        found[f"{prefix}.{name}".lstrip(".")] = tensors
    return found


def _only_tensors(value: Any, depth: int = 0) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    if depth < 3 and isinstance(value, (list, tuple)):
        items = [item for item in (_only_tensors(part, depth + 1) for part in value) if item is not None]
        return items or None
    if depth < 3 and isinstance(value, Mapping):
        parts = {key: found for key, part in value.items() if (found := _only_tensors(part, depth + 1)) is not None}
        return parts or None
    return None


def _copied(value: Any) -> Any:
    """The values as they are now, on the host: reading them is the experiment."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, (list, tuple)):
        return [_copied(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return value


def _steps(function: Callable[..., Any], calls: list[Call], target: Any, marks: bool) -> list[Any]:
    """Run the calls, reading each output at once as a correct caller does; then read what the target kept."""
    outputs = []
    for call in calls:
        if marks:
            torch.compiler.cudagraph_mark_step_begin()
        outputs.append(_copied(function(*call.args, **call.kwargs)))
    return [*outputs, _copied(kept_by(target))]


def run_cudagraphs(bench: Bench, example: Example) -> Run:
    """One example under CUDA graphs. Raises EagerFailed where it does not run without them."""
    mode = "eval" if example.wrap else ""
    try:
        target, calls = _prepared(bench, example, mode)
        with child_compile.uncompiled(), covering(bench.wanted) as coverage, _grad(example):
            expected = _steps(target, calls, target, marks=False)
    except (Exception, SystemExit) as error:
        raise EagerFailed(fault_of("eager", error, bench.wanted)) from error
    torch._dynamo.reset()
    counters.clear()
    target, calls = _prepared(bench, example, mode)
    fault = None
    graphs: Graphs | None = None
    with watching() as seen:
        try:
            with _grad(example):
                function = torch.compile(target, mode="reduce-overhead") if example.wrap else target
                got = _steps(function, calls, target, marks=example.wrap)
        except (Exception, SystemExit) as error:
            if OVERWRITTEN in str(error):
                words = str(error).strip().split("To prevent overwriting")[0].strip()
                told = fault_of("compiled", error, bench.wanted)
                graphs = Graphs("error", words, counters=graph_counters(), stack=(*steps_of(str(error)), *told.stack))
            else:
                fault = fault_of("compiled", error, bench.wanted)
        else:
            graphs = _outcome(expected, got, seen)
    if graphs is not None and graphs.outcome == "fine" and seen.replayed_by_hand and not seen.recorded:
        graphs = None
        words = "a graph captured by hand has no eager reference to compare with"
        fault = fault_of("compiled", RuntimeError(words), bench.wanted)
    return Run(
        experiment="cudagraphs",
        label="reduce-overhead, inference" if example.wrap else "the program's own mode",
        source=example.source,
        target=bench.title,
        covered=coverage.lines,
        calls=len(calls),
        fault=fault,
        graphs=graphs,
    )


@contextmanager
def _grad(example: Example) -> Iterator[None]:
    """Our own wrapping is inference; a program that runs by itself decides for itself."""
    if example.wrap:
        with torch.no_grad():
            yield
    else:
        yield


def _prepared(bench: Bench, example: Example, mode: str) -> tuple[Any, list[Call]]:
    target, calls = fresh(bench, example, mode, None)
    if not example.given and calls:
        # One call is no test of what survives the next one.
        calls = [calls[0]] + [fresh(bench, example, mode, None)[1][0] for _ in range(STEPS - 1)]
        calls = [noisy(call, number) for number, call in enumerate(calls)]
    return target, calls


def noisy(call: Call, number: int) -> Call:
    """The same shapes with other values in every step: equal values would hide an overwritten output."""

    def change(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value + 0.25 * number
        if type(value) in (list, tuple):
            return type(value)(change(item) for item in value)
        return value

    return Call(change(call.args), {name: change(value) for name, value in call.kwargs.items()})


def graph_counters() -> dict[str, int]:
    return {name: int(count) for name, count in counters["inductor"].items() if "cudagraph" in name}


def _outcome(expected: Any, got: Any, seen: Seen) -> Graphs:
    """What became of the graphs, the worst first."""
    numbers = graph_counters()
    skips = tuple(dict.fromkeys(seen.skips))
    if found := difference(_copied(expected), _copied(got), "what was kept", tolerance=1e-2):
        return Graphs("wrong", f"silently wrong: {found}", skips, numbers)
    skipped = [text for text in skips if "skipping cudagraph" in text.lower()]
    if skipped or numbers.get("cudagraph_skips"):
        words = skipped[0].strip() if skipped else f"CUDA graphs skipped ({numbers.get('cudagraph_skips')} times)"
        return Graphs("skip", words, skips, numbers, steps_of(words))
    if (count := numbers.get("cudagraph_partitions", 0)) > 1:
        return Graphs("partition", f"the CUDA graph is cut into {count} partitions", skips, numbers)
    most = max(seen.recorded.values(), default=0)
    if most >= RECORDINGS:
        return Graphs(
            "rerecord", f"one function was recorded {most} times: a new CUDA graph for every shape", skips, numbers
        )
    return Graphs("fine", "", skips, numbers)
