"""The experiments: one example run eagerly for its lines, then under Dynamo while somebody listens."""

from __future__ import annotations

import random
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from tclint.model.finding import Compiled, Step
from tclint.verify.child import compiling
from tclint.verify.child.inputs import Call, Example, consumed, module_of, on_device
from tclint.verify.child.session import compiled_for
from tclint.verify.cover import Coverage, covering
from tclint.verify.forks import leave_if_copy
from tclint.verify.heard import Fault, Frame, Run
from tclint.verify.spans import outline
from tclint.verify.trace import own_name, steps_of

CALLS = 24
"""Most calls made in one experiment."""


@dataclass(frozen=True)
class Setup:
    """What every experiment of one job shares."""

    device: str
    seed: int
    wanted: Callable[[str], bool]
    """Whether a file is the user's."""
    title: str
    compiled: Compiled = field(default_factory=Compiled)
    """The compile site of the region."""
    head: Step | None = None
    """What is compiled where the program does not do it by itself: its file and name."""

    def wrapped(self, target: Any, *, fullgraph: bool = False) -> Any:
        """The target as the site compiles it, as far as Dynamo is concerned."""
        return compiling.compiled(target, fullgraph=fullgraph, dynamic=self.compiled.dynamic)


class EagerFailed(Exception):
    """The call does not even run without Dynamo: the inputs are wrong, not the line."""

    def __init__(self, fault: Fault, covered: Mapping[str, tuple[int, ...]] | None = None) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.covered = covered or {}
        """The lines that ran before it."""


def seeded(seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def fault_of(act: str, error: BaseException, wanted: Callable[[str], bool]) -> Fault:
    """An exception as data. Dynamo's own errors name the user's frames in their text, others in the traceback."""
    text = str(error)
    _, told, below = text.partition("from user code:")
    stack = steps_of(below) if told else ()
    if not stack:
        frames = traceback.extract_tb(error.__traceback__)
        stack = tuple(Step(f.filename, f.lineno or 0, own_name(f.name)) for f in frames if wanted(f.filename))
    inner = error.__cause__ or error.__context__
    kind = type(error).__name__
    if kind in ("InternalTorchDynamoError", "BackendCompilerFailed") and inner is not None:
        kind = f"{kind} ({type(inner).__name__})"
    return Fault(act, kind, text[:4000], stack)


def fresh(setup: Setup, example: Example, mode: str, dtype: torch.dtype | None) -> tuple[Any, list[Call]]:
    """The target and its calls, made anew from the seed, so that no run sees the state another left."""
    seeded(setup.seed)
    target = on_device(example.build(), setup.device, dtype)
    if mode and (module := module_of(target)) is not None:
        module.train(mode == "train")
    seeded(setup.seed + 1)
    calls = [
        Call(on_device(call.args, setup.device, dtype), on_device(dict(call.kwargs), setup.device, dtype))
        for call in example.calls()[:CALLS]
    ]
    seeded(setup.seed + 2)
    return target, calls


def _label(mode: str, dtype: torch.dtype | None) -> str:
    return ", ".join(part for part in (mode, str(dtype).removeprefix("torch.") if dtype else "") if part)


def run_eager(
    setup: Setup, example: Example, mode: str = "", dtype: torch.dtype | None = None
) -> tuple[Mapping[str, tuple[int, ...]], list[Any]]:
    """The lines an eager run executes, and what it returns. Raises EagerFailed where it does not run."""
    outputs: list[Any] = []
    coverage = Coverage()
    try:
        with ExitStack() as stack:
            stack.enter_context(compiling.uncompiled())
            if not example.wrap:
                # The program's own set-up is part of what it compiles.
                coverage = stack.enter_context(covering(setup.wanted))
            target, calls = fresh(setup, example, mode, dtype)
            if example.wrap:
                coverage = stack.enter_context(covering(setup.wanted))
            for call in calls:
                outputs.append(consumed(target(*call.args, **call.kwargs)))
                leave_if_copy()
    except (Exception, SystemExit) as error:
        leave_if_copy()
        raise EagerFailed(fault_of("eager", error, setup.wanted), coverage.lines) from error
    return coverage.lines, outputs


def run_breaks(
    setup: Setup, example: Example, mode: str = "", dtype: torch.dtype | None = None, fullgraph: bool = False
) -> Run:
    """Graph breaks and compile errors of the example's calls."""
    covered, expected = run_eager(setup, example, mode, dtype)
    label = ", ".join(part for part in (_label(mode, dtype), "fullgraph" if fullgraph else "") if part)
    return _compiled(setup, example, mode, dtype, "eager", "breaks", label, covered, expected, fullgraph=fullgraph)


def run_partly(setup: Setup, example: Example, mode: str = "") -> Run:
    """The breaks of calls that raise in the end, compiled or not: those before the statement that raises.

    What Dynamo says of that statement, and of those that called it, may be said of the error. Such a run shows what
    happens; what does not happen in it may happen in one that gets further.
    """
    try:
        return run_breaks(setup, example, mode)
    except EagerFailed as failed:
        if not failed.covered:
            raise
        run = _compiled(setup, example, mode, None, "eager", "breaks", _label(mode, None), failed.covered, [])
        ended = {(step.path, line) for step in failed.fault.stack for line in _statement(step)}
        told = tuple(item for item in run.breaks if not ended & {(item.path, item.line), *_last(item.stack)})
        return replace(
            run,
            covered=_without(run.covered, ended),
            traced=_without(run.traced, ended),
            breaks=told,
            fault=None,
            unsure=True,
            label=f"{run.label}, until it raises {failed.fault.kind}".removeprefix(", "),
        )


def _statement(step: Step) -> range:
    return outline(step.path).statement(step.line, step.line)


def _last(stack: tuple[Step, ...]) -> set[tuple[str, int]]:
    return {(step.path, step.line) for step in stack[-1:]}


def _without(lines: Mapping[str, tuple[int, ...]], ended: set[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    return {path: tuple(line for line in own if (path, line) not in ended) for path, own in lines.items()}


def run_recompiles(
    setup: Setup,
    example: Example,
    label: str,
    allowed: int,
    mode: str = "",
    varied: tuple[str, ...] = (),
    between: Callable[[Any, int], None] | None = None,
) -> Run:
    """How often each code object is compiled over the example's calls.

    `between` changes the target before each call but the first. A call that this breaks is no fault: the guard has
    spoken by then.
    """
    covered, expected = run_eager(setup, example, mode)
    run = _compiled(
        setup, example, mode, None, "aot_eager", "recompiles", label, covered, expected, allowed, between=between
    )
    fault = None if between is not None and run.calls > 1 else run.fault
    # A program that compiles by itself makes its own calls: ours say nothing about them.
    alike = example.wrap and between is None and len({_guarded(call) for call in example.calls()[:CALLS]}) < 2
    return replace(run, varied=varied, chosen=example.given, fault=fault, alike=alike)


def _guarded(value: Any) -> str:
    """What guards on an argument can see of it."""
    if isinstance(value, Call):
        return _guarded((value.args, dict(value.kwargs)))
    if isinstance(value, torch.Tensor):
        layout = value.stride() if value.layout is torch.strided else value.layout
        return f"{tuple(value.shape)} {layout} {value.dtype} {value.device} {value.requires_grad}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}[{', '.join(map(_guarded, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_guarded(each)}' for key, each in value.items())}}}"
    return repr(value) if isinstance(value, (bool, int, float, str, bytes, type(None))) else type(value).__name__


def _compiled(
    setup: Setup,
    example: Example,
    mode: str,
    dtype: torch.dtype | None,
    backend: str,
    experiment: str,
    label: str,
    covered: Mapping[str, tuple[int, ...]],
    expected: list[Any],
    allowed: int = 2,
    fullgraph: bool = False,
    between: Callable[[Any, int], None] | None = None,
) -> Run:
    fault: Fault | None = None
    outputs: list[Any] = []
    made = 0
    target, calls = fresh(setup, example, mode, dtype)
    with compiled_for(example, backend, setup.wanted, len(calls)) as session:
        try:
            function = setup.wrapped(target, fullgraph=fullgraph) if example.wrap else target
            for call in calls:
                if between is not None and made:
                    between(compiling.unwrapped(target), made)
                made += 1
                outputs.append(consumed(function(*call.args, **call.kwargs)))
                leave_if_copy()
        except (Exception, SystemExit) as error:
            leave_if_copy()
            fault = fault_of("compiled", error, setup.wanted)
    heard = session.heard
    misplaced = _misplaced(heard.frames, covered)
    return Run(
        experiment=experiment,
        label=label,
        source=example.source,
        dtype=_dtype_of(target, calls),
        target=setup.title,
        compiled=setup.head if example.wrap else None,
        given=example.by_hand,
        covered=covered,
        traced=_without({path: lines for path, lines in heard.traced.items() if setup.wanted(path)}, misplaced),
        breaks=tuple(item for item in heard.breaks if (item.path, item.line) not in misplaced),
        frames=tuple(_own_lines(frame, setup.wanted) for frame in heard.frames),
        expected=allowed,
        calls=made,
        fault=fault,
        unsure=example.unsure,
        differs=difference(expected, outputs) if fault is None and between is None and mode != "train" else "",
    )


def _misplaced(frames: Sequence[Frame], covered: Mapping[str, tuple[int, ...]]) -> set[tuple[str, int]]:
    """Lines that nobody has run, told of the rest of a function behind a break: Dynamo makes a function of that, whose line
    numbers go astray behind a statement of several lines (torch 2.13)."""
    rests = [frame for frame in frames if own_name(frame.name) != frame.name]
    told = {(frame.path, line) for frame in rests for line in frame.traced.get(frame.path, ())}
    whole = {
        (path, line) for frame in frames if frame not in rests for path, lines in frame.traced.items() for line in lines
    }
    ran = {(path, line) for path, lines in covered.items() for line in lines}
    return told - ran - whole


def _own_lines(frame: Frame, wanted: Callable[[str], bool]) -> Frame:
    return replace(frame, traced={path: lines for path, lines in frame.traced.items() if wanted(path)})


def _dtype_of(target: Any, calls: list[Call]) -> str:
    """The floating type the run computed in."""
    if isinstance(target, torch.nn.Module):
        for parameter in target.parameters():
            if parameter.is_floating_point():
                return str(parameter.dtype).removeprefix("torch.")
    for call in calls:
        for value in (*call.args, *call.kwargs.values()):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                return str(value.dtype).removeprefix("torch.")
    return ""


def difference(eager: Any, other: Any, at: str = "output", tolerance: float = 1e-3) -> str:
    """Where two nested results differ in a tensor's shape or values, in words; empty where they do not."""
    if isinstance(eager, torch.Tensor) and isinstance(other, torch.Tensor):
        if eager.shape != other.shape:
            return f"{at} has shape {tuple(other.shape)}, eager {tuple(eager.shape)}"
        if eager.is_meta or other.is_meta or eager.layout != torch.strided or other.layout != torch.strided:
            return ""
        left, right = eager.detach(), other.detach()
        if left.is_quantized or right.is_quantized:
            return ""
        if left.is_floating_point() or left.is_complex():
            same = torch.allclose(left, right.to(left.dtype), rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            same = bool(torch.equal(left, right.to(left.dtype)))
        return "" if same else f"{at} differs from the eager values"
    if isinstance(eager, Mapping) and isinstance(other, Mapping):
        for key in eager:
            if key in other and (found := difference(eager[key], other[key], f"{at}[{key!r}]", tolerance)):
                return found
        return ""
    if isinstance(eager, (list, tuple)) and isinstance(other, (list, tuple)):
        for index, (left, right) in enumerate(zip(eager, other, strict=False)):
            if found := difference(left, right, f"{at}[{index}]", tolerance):
                return found
        return ""
    if isinstance(eager, float) and isinstance(other, (int, float)):
        return (
            ""
            if abs(eager - other) <= tolerance * max(1.0, abs(eager)) or eager != eager
            else (f"{at} is {other!r}, eager {eager!r}")
        )
    return ""
