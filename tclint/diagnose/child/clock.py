"""Times warm steps: candidates take turns in short blocks, so that a drifting clock hits all alike, and blocks during
which a neighbour held the host do not count."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree

from tclint.diagnose.child.host import Host
from tclint.diagnose.measurement import Timing
from tclint.verify.child.inputs import Call

Step = Callable[[], Any]
LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch"}


@dataclass(frozen=True, slots=True)
class Effort:
    """How much measuring there is to be."""

    seconds: float
    """For all candidates together, after the warm-up."""
    warm: float
    block: float
    """Seconds of one block: long against one synchronisation, short enough to fit between two turns of a neighbour."""
    least: int = 11
    """Blocks of each candidate, however long they take."""


@dataclass(frozen=True, slots=True)
class Block:
    step: float
    """Seconds of one of its steps."""
    launch: float | None
    """Seconds of an empty launch just before it."""


FULL = Effort(seconds=3.0, warm=0.5, block=0.005)
QUICK = Effort(seconds=1.5, warm=0.2, block=0.005, least=7)
PROFILED = 5
"""Steps that the profiler looks at, on a GPU."""
QUIET = 8
"""One block in so many counts, the fastest: what disturbs a step only ever adds to it, and on a shared host it is there
most of the time."""


def effort(quick: bool) -> Effort:
    return QUICK if quick else FULL


def sync(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def seconds(step: Step, device: str) -> float:
    """One step, from an idle device to an idle device."""
    sync(device)
    start = time.perf_counter()
    step()
    sync(device)
    return time.perf_counter() - start


def timings(
    steps: Mapping[str, Step],
    device: str,
    how: Effort,
    around: Mapping[str, Callable[[], AbstractContextManager[Any]]] | None = None,
) -> dict[str, Timing]:
    """The warm time of each step. `around` gives a context to run a candidate's blocks in."""
    contexts = around or {}
    counts: dict[str, int] = {}
    for name, step in steps.items():
        with contexts.get(name, nullcontext)():
            counts[name] = _warmed(step, device, how)
    names = list(steps)
    blocks: dict[str, list[Block]] = {name: [] for name in names}
    host = Host(device, how.seconds)
    with _no_collection(), host.settled():
        start = time.perf_counter()
        while (elapsed := time.perf_counter() - start) < how.seconds or len(blocks[names[0]]) < how.least:
            host.visit(elapsed)
            for name in names:
                launch = host.launch()
                with contexts.get(name, nullcontext)():
                    blocks[name].append(Block(_block(steps[name], counts[name], device), launch))
            names.reverse()
    return {name: _timing(blocks[name], counts[name], how.least) for name in steps}


def _warmed(step: Step, device: str, how: Effort) -> int:
    """Warm up, and find how many steps fill a block."""
    for _ in range(3):
        step()
    sync(device)
    best, end = math.inf, time.perf_counter() + how.warm
    while True:
        best = min(best, seconds(step, device))
        if time.perf_counter() > end:
            return max(1, min(1000, math.ceil(how.block / max(best, 1e-7))))


def _block(step: Step, count: int, device: str) -> float:
    step()  # the other candidate's data is in the caches; not counted
    sync(device)
    start = time.perf_counter()
    for _ in range(count):
        step()
    sync(device)
    return (time.perf_counter() - start) / count


def _timing(blocks: Sequence[Block], steps: int, least: int) -> Timing:
    quiet = sorted(blocks, key=lambda block: block.step)[: max(least, len(blocks) // QUIET)]
    low, middle, high = statistics.quantiles([block.step for block in quiet], n=4)
    launches = [block.launch for block in quiet if block.launch is not None]
    return Timing(
        middle * 1e3,
        (high - low) * 1e3,
        len(quiet),
        steps,
        disturbed=len(blocks) - len(quiet),
        launch_us=statistics.median(launches) * 1e6 if launches else None,
    )


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# --- steps ------------------------------------------------------------------------------------------------------------


def forward(function: Callable[..., Any], call: Call) -> Step:
    def step() -> Any:
        with torch.no_grad():
            return function(*call.args, **call.kwargs)

    return step


def training(function: Callable[..., Any], call: Call, parameters: list[torch.nn.Parameter]) -> Step:
    def step() -> None:
        loss_of(function(*call.args, **call.kwargs)).backward()
        for parameter in parameters:
            parameter.grad = None

    return step


class NoGradient(Exception):
    """The output has nothing to differentiate."""


def loss_of(output: Any) -> torch.Tensor:
    """A number that depends on every output that has a gradient."""
    leaves = [
        leaf
        for leaf in pytree.tree_leaves(_opened(output))
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad and leaf.is_floating_point()
    ]
    if not leaves:
        raise NoGradient("no output has a gradient: only the forward pass is measured")
    return torch.stack([leaf.float().mean() for leaf in leaves]).sum()


def _opened(output: Any) -> Any:
    """Dataclasses that pytree does not know, as dicts."""
    if hasattr(output, "__dataclass_fields__") and not isinstance(output, type):
        return {name: getattr(output, name, None) for name in output.__dataclass_fields__}
    return output


def parameters_of(target: Any) -> list[torch.nn.Parameter]:
    return list(target.parameters()) if isinstance(target, torch.nn.Module) else []


# --- memory and launches ----------------------------------------------------------------------------------------------


def allocated(device: str) -> int:
    """Bytes that tensors take on a GPU now."""
    return int(torch.cuda.memory_allocated()) if device.startswith("cuda") else 0


def peak_mb(step: Step, device: str, before: int = 0) -> float | None:
    """The most memory that tensors take during a step, without what was there `before`. None where it cannot be told.

    On a GPU the model counts; on a CPU only what the step itself allocates, since nothing else is told.
    """
    if device.startswith("cuda"):
        step()
        sync(device)
        torch.cuda.reset_peak_memory_stats()
        step()
        sync(device)
        return float((torch.cuda.max_memory_allocated() - before) / 2**20)
    step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        step()
    results = getattr(profile.profiler, "kineto_results", None)
    if results is None:
        return None
    changes = [event for event in results.events() if event.name() == "[memory]"]
    now = most = 0
    for event in sorted(changes, key=lambda item: item.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most / 2**20 if changes else None


@dataclass(frozen=True, slots=True)
class Work:
    """What one step gives the device to do."""

    launches: int
    """Kernel launches; on a CPU the operators that are dispatched."""
    gpu_ms: float | None = None
    """How long the GPU works. The rest of the step it waits for the host."""


def work_of(step: Step, device: str) -> Work:
    activity = torch.profiler.ProfilerActivity
    cuda = device.startswith("cuda")
    # One kernel is short and its time varies: on a GPU several steps are cheap.
    steps = PROFILED if cuda else 1
    step()
    sync(device)
    with torch.profiler.profile(activities=[activity.CPU, *([activity.CUDA] if cuda else [])]) as profile:
        for _ in range(steps):
            step()
        sync(device)
    events = profile.events() or []
    if cuda:
        on_gpu = [event for event in events if event.device_type == torch.autograd.DeviceType.CUDA]
        # What a range of the host covers on the GPU is no work of the GPU.
        spans = [(e.time_range.start, e.time_range.end) for e in on_gpu if not getattr(e, "is_user_annotation", False)]
        return Work(sum(event.name in LAUNCHES for event in events) // steps, covered(spans) / steps / 1e3)
    return Work(
        sum(
            event.name.startswith("aten::")
            and (event.cpu_parent is None or not event.cpu_parent.name.startswith("aten::"))
            for event in events
        )
    )


def covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length of all spans together: kernels of two streams at the same time count once."""
    length, reached = 0.0, -math.inf
    for start, end in sorted(spans):
        length += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return length
