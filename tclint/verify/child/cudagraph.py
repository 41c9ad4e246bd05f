"""CUDA graphs under the real mode: several steps, then a read of what was kept, against an eager reference.

An output that is kept and read too late raises while the graph is still being recorded, and is silently wrong once it
replays.
So both are watched: the error, and the values. What Inductor decided (skips, partitions, recordings) is in its
counters.
"""

from __future__ import annotations

import ast
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch._dynamo.utils import counters

from tclint.model.finding import Compiled, Step
from tclint.verify.child import compiling, session
from tclint.verify.child.experiments import EagerFailed, Setup, difference, fault_of, fresh
from tclint.verify.child.inputs import Call, Example, consumed
from tclint.verify.child.listen import listening
from tclint.verify.cover import covering
from tclint.verify.heard import Cut, Fault, Graphs, Run
from tclint.verify.trace import steps_of

OVERWRITTEN = "accessing tensor output of CUDAGraphs that has been overwritten"
STEPS = 5
"""Warm-up, recording, and a few replays."""
RECORDINGS = 3
"""A few buckets are recorded once each; one function recorded more often than this is recorded anew for every shape."""


@dataclass
class Seen:
    """What was noticed while the program ran."""

    skips: list[str] = field(default_factory=list)
    recorded: Counter[Any] = field(default_factory=Counter)
    ran: Counter[Any] = field(default_factory=Counter)
    captures: int = 0
    sized: int = 0
    cuts: dict[tuple[str, tuple[Step, ...]], Cut] = field(default_factory=dict)


class _SkipEar(logging.Handler):
    def __init__(self, seen: Seen) -> None:
        super().__init__(level=logging.DEBUG)
        self.seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if "recording cudagraph tree for symint key" in text.lower():
            # The sizes are arguments of the compiled graph: a tree of its own for each of them.
            self.seen.sized += 1
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
            "scheduler.__cudagraphs",
            "scheduler.__perf_hints",
            "utils.__perf_hints",
        ):
            logger = logging.getLogger(f"torch._inductor.{name}")
            kept = (logger.level, logger.propagate)
            logger.addHandler(ear)
            logger.setLevel(logging.DEBUG)
            logger.propagate = False
            stack.callback(_put_back, logger, ear, *kept)
        stack.enter_context(_counting_recordings(seen))
        stack.enter_context(_counting_captures(seen))
        stack.enter_context(_hearing_cuts(seen))
        stack.enter_context(_compiling_anew())
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

    def make_run(real: Any) -> Any:
        def run(self: Any, new_inputs: Any, function_id: Any) -> Any:
            seen.ran[str(function_id)] += 1
            return real(self, new_inputs, function_id)

        return run

    manager = cudagraph_trees.CUDAGraphTreeManager
    with _patched(manager, "record_function", make), _patched(manager, "run", make_run):
        yield


@contextmanager
def _counting_captures(seen: Seen) -> Iterator[None]:
    def make(real: Any) -> Any:
        def capture_begin(self: Any, *args: Any, **kwargs: Any) -> Any:
            seen.captures += 1
            return real(self, *args, **kwargs)

        return capture_begin

    def make_replay(real: Any) -> Any:
        def replay(self: Any, *args: Any, **kwargs: Any) -> Any:
            seen.ran[f"by hand {id(self)}"] += 1
            return real(self, *args, **kwargs)

        return replay

    graph = torch.cuda.CUDAGraph
    with _patched(graph, "capture_begin", make), _patched(graph, "replay", make_replay):
        yield


@contextmanager
def _hearing_cuts(seen: Seen) -> Iterator[None]:
    """Which operations Inductor's scheduler keeps out of the graph, from the function in which it decides.

    The counter `cudagraph_partitions` only tells of graphs with more than one part, and not whose line it was: an
    operation behind a break has a graph of its own and would go unheard.
    """
    from torch._inductor import config, scheduler

    def make(real: Any) -> Any:
        def should_partition(self: Any, node: Any, *args: Any, **kwargs: Any) -> Any:
            answer = real(self, node, *args, **kwargs)
            if answer and config.triton.cudagraphs:
                cut = _cut(node, answer)
                seen.cuts.setdefault((cut.words, cut.stack), cut)
            return answer

        return should_partition

    with _patched(scheduler.Scheduler, "should_partition", make):
        yield


def _cut(node: Any, answer: Any) -> Cut:
    """Older releases answer with yes or no, newer ones with the reason."""
    inner = getattr(node, "node", None)
    origin = _origin(inner)
    name = str(getattr(origin, "target", "")) or type(inner).__name__
    reason = f" ({answer})" if isinstance(answer, str) else ""
    trace = str(getattr(origin, "meta", {}).get("stack_trace") or "") if origin is not None else ""
    return Cut(f"Inductor keeps {name} out of the CUDA graph{reason}", steps_of(trace))


def _origin(inner: Any) -> Any:
    """The operation that a node stands for: the last of those it was made from."""
    found = inner.get_origin_node() if hasattr(inner, "get_origin_node") else None
    if found is not None:
        return found
    origins = list(getattr(inner, "origins", None) or ())
    return next((one for one in origins if not any(user in origins for user in getattr(one, "users", ()))), None)


@contextmanager
def _compiling_anew() -> Iterator[None]:
    """A graph from a cache is not scheduled again, and nothing would be heard of it."""
    from torch._functorch import config as functorch
    from torch._inductor import config as inductor

    with ExitStack() as stack:
        for config, name in ((inductor, "fx_graph_cache"), (functorch, "enable_autograd_cache")):
            if hasattr(config, name):
                stack.enter_context(config.patch({name: False}))
        yield


def kept_by(target: Any) -> dict[str, Any]:
    """Tensors that a module holds beside its parameters and buffers: what a forward stored away."""
    found: dict[str, Any] = {}
    if isinstance(target, torch.nn.Module):
        for prefix, module in compiling.unwrapped(target).named_modules():
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
        outputs.append(consumed(function(*call.args, **call.kwargs), _copied))
    return [*outputs, _copied(kept_by(target))]


def run_cudagraphs(setup: Setup, example: Example) -> Run:
    """One example under CUDA graphs. Raises EagerFailed where it does not run without them."""
    mode = "eval" if example.wrap else ""
    site = site_arguments(setup.compiled)
    with watching() as plain, covering(setup.wanted) as coverage:
        try:
            target, calls = _prepared(setup, example, mode)
            with compiling.uncompiled(), _grad(example):
                expected = _steps(target, calls, target, marks=False)
        except (Exception, SystemExit) as error:
            if plain.captures:
                # Compiled callables run eagerly here: whoever captured did it by hand, and this is what came of it.
                return _finished(setup, example, coverage.lines, 0, _failed(error, setup))
            raise EagerFailed(fault_of("eager", error, setup.wanted)) from error
    if plain.captures:
        if example.reference is None:
            return _finished(setup, example, coverage.lines, len(calls), None, _NO_REFERENCE)
        expected = [_copied(example.reference()), *expected[len(calls) :]]
    session.anew()
    counters.clear()
    target, calls = _prepared(setup, example, mode)
    fault = None
    graphs: Graphs | None = None
    with watching() as seen, listening(setup.wanted) as heard:
        try:
            with _grad(example):
                function = torch.compile(target, **site) if example.wrap else target
                got = _steps(function, calls, target, marks=example.wrap)
        except (Exception, SystemExit) as error:
            if OVERWRITTEN in str(error):
                words = str(error).strip().split("To prevent overwriting")[0].strip()
                told = fault_of("compiled", error, setup.wanted)
                graphs = Graphs("error", words, counters=graph_counters(), stack=(*steps_of(str(error)), *told.stack))
            elif plain.captures:
                graphs = _failed(error, setup)
            else:
                fault = fault_of("compiled", error, setup.wanted)
        else:
            graphs = _outcome(expected, got, seen)
    if graphs is not None:
        graphs = replace(graphs, cuts=tuple(seen.cuts.values()), runs=max(seen.ran.values(), default=0))
    run = _finished(setup, example, coverage.lines, len(calls), graphs, fault)
    return replace(run, breaks=heard.breaks, frames=heard.frames, chosen=example.given)


def site_arguments(site: Compiled) -> dict[str, Any]:
    """The arguments of `torch.compile` as the site has them; where they turn no CUDA graphs on, those that do."""
    options = {name: ast.literal_eval(value) for name, value in site.options}
    found: dict[str, Any] = {"dynamic": site.dynamic, "fullgraph": site.fullgraph}
    if site.backend == "cudagraphs":
        return {**found, "backend": "cudagraphs"}
    if options.get("triton.cudagraphs"):
        return {**found, "options": options}
    modes = ("reduce-overhead", "max-autotune")
    return {**found, "mode": site.mode if site.mode in modes else "reduce-overhead"}


def _finished(
    setup: Setup,
    example: Example,
    covered: Mapping[str, tuple[int, ...]],
    calls: int,
    graphs: Graphs | None,
    fault: Fault | None = None,
) -> Run:
    return Run(
        experiment="cudagraphs",
        label=f"{_told(setup.compiled)}, inference" if example.wrap else "the program's own mode",
        source=example.source,
        target=setup.title,
        compiled=setup.head if example.wrap else None,
        given=example.by_hand,
        covered=covered,
        calls=calls,
        fault=fault,
        graphs=graphs,
    )


def _told(site: Compiled) -> str:
    found = site_arguments(site)
    how = found.get("mode") or found.get("backend") or f"options={found['options']}"
    return ", ".join([str(how), *(f"{k}={found[k]}" for k in ("dynamic", "fullgraph") if found[k])])


def _failed(error: BaseException, setup: Setup) -> Graphs:
    """A capture that failed. Leaving it raises once more, so the first error tells where it happened."""
    first = error
    while first.__context__ is not None:
        first = first.__context__
    told = [fault_of("capture", each, setup.wanted) for each in dict.fromkeys((first, error))]
    words = "; then ".join(f"{fault.kind}: {fault.message.strip().splitlines()[0]}" for fault in told if fault.message)
    return Graphs("error", f"the capture failed: {words}", stack=tuple(step for fault in told for step in fault.stack))


_NO_REFERENCE = Fault(
    "compiled",
    "no reference",
    "a graph captured by hand cannot be switched off: write `reference(device)` beside `main(device)`, "
    "giving the values that it should give",
)


@contextmanager
def _grad(example: Example) -> Iterator[None]:
    """Our own wrapping is inference; a program that runs by itself decides for itself."""
    if example.wrap:
        with torch.no_grad():
            yield
    else:
        yield


def _prepared(setup: Setup, example: Example, mode: str) -> tuple[Any, list[Call]]:
    target, calls = fresh(setup, example, mode, None)
    if not example.given and calls:
        # One call is no test of what survives the next one.
        calls = [calls[0]] + [fresh(setup, example, mode, None)[1][0] for _ in range(STEPS - 1)]
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
    most = max(*seen.recorded.values(), seen.sized, 0)
    if most > RECORDINGS:
        return Graphs(
            "rerecord", f"one function was recorded {most} times: a new CUDA graph for every shape", skips, numbers
        )
    return Graphs("fine", "", skips, numbers)
