"""`torch.cuda.make_graphed_callables`: captures of callables that torch makes, and what it refuses to capture or to run.

As `torch/cuda/graphs.py` has it. A call copies its tensors into the samples and replays; parameters and what else the
callable reads stay what they were at the capture. A module runs as before where it is trained and was captured under
`eval()`, or the other way round.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import Final

from tclint import events
from tclint.interpreter.bindings import owner_of
from tclint.interpreter.frame import Frame
from tclint.interpreter.gradients import is_frozen
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords
from tclint.interpreter.models.torch_functions import function
from tclint.interpreter.recorded import Recorded
from tclint.torch_facts import facts
from tclint.values import Const, Instance, Object, Scalar, Seq, Tensor, Value

NAME: Final = "torch.cuda.make_graphed_callables"
_WHEN: Final = ("before", "after", "backward")
_DEPTH: Final = 4


def make(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """The callables with graphs for each: a tuple where a tuple is given."""
    target = args[0] if args else keywords.get("callables")
    if target is None:
        return function(frame, node, name, args, keywords)
    unused = args[3] if len(args) > 3 else keywords.get("allow_unused_input")
    allowed = unused is not None and not (isinstance(unused, Const) and unused.value is False)
    _record(frame, node, target, args[1] if len(args) > 1 else keywords.get("sample_args"), allowed)
    if isinstance(target, Seq) and target.items is not None:
        return Seq("tuple", tuple(Object(name, frame.origin(node), "graphed", each) for each in target.items))
    return Object(name, frame.origin(node), "graphed", target)


def _record(frame: Frame, node: ast.AST, target: Value, samples: Value | None, unused: bool) -> None:
    """Each callable runs on its samples, and that is captured."""
    if frame.region is not None or samples is None:
        return
    several = isinstance(target, Seq)
    targets = target.known_items(frame) if several else (target,)
    given = samples.known_items(frame) if several else (samples,)
    if targets is None or given is None or len(targets) != len(given):
        return
    if _caches_casts(frame):
        _refuse(frame, node, "autocast")
    before, frame.capturing = frame.capturing, True
    try:
        for each, sample in zip(targets, given, strict=True):
            arguments = sample.known_items(frame)
            if arguments is not None:
                _capture(frame, node, each, arguments, unused)
    finally:
        frame.capturing = before


def _capture(frame: Frame, node: ast.AST, target: Value, sample: tuple[Value, ...], unused: bool) -> None:
    recordings = frame.interp.recordings
    if any(isinstance(each, (Const, Scalar)) for each in sample):
        _refuse(frame, node, "numbers")
        return
    if any(recordings.hooks.of(frame, owner_of(target), when) for when in _WHEN):
        _refuse(frame, node, "hooks")
        return
    graph = _graph(frame.origin(node), target)
    recordings.do("capture", graph, frame, node)
    target.call(frame, node, list(sample), {})
    recordings.do("end", graph, frame, node)
    recorded = recordings.recorded(graph)
    if recorded is None:
        return
    recorded.samples = sample
    if not unused and frame.grad is not False and not is_frozen(frame, target):
        left_out = next(_left_out(frame, target, recorded, "", _DEPTH), None)
        if left_out is not None:
            _refuse(frame, node, "unused", left_out)


def _left_out(frame: Frame, module: Value, recorded: Recorded, path: str, depth: int) -> Iterator[str]:
    """The layers of a module that its forward has not run, so that no gradient reaches their parameters."""
    held: list[tuple[str, Value]] = []
    if isinstance(module, Instance) and depth and frame.interp.classes.is_nn_module(module.cls):
        held = list(frame.interp.instance_attributes.of(module).items())
    elif isinstance(module, Object) and isinstance(module.args, Seq) and module.args.items is not None and depth:
        held = [(str(i), each) for i, each in enumerate(module.args.items)]
    for name, value in held:
        inner = f"{path}.{name}" if path else name
        if isinstance(value, Object) and value.name in facts.named("has parameters of its own"):
            if not _is_used(recorded, owner_of(value)) and not is_frozen(frame, value):
                yield inner
        elif isinstance(value, (Instance, Object)):
            yield from _left_out(frame, value, recorded, inner, depth - 1)


def _is_used(recorded: Recorded, module: Hashable | None) -> bool:
    """Whether a module was run, or what it holds was read: `F.linear(x, self.fc.weight)`. What is not told apart, may be."""
    return module is None or module in recorded.ran or any(place.owner == module for place in recorded.reads)


def _caches_casts(frame: Frame) -> bool:
    """Whether autocast is in force, and keeps its casts from one call to the next."""
    for mode in frame.modes:
        given = mode.node
        if mode.name != "autocast" or not isinstance(given, ast.Call):
            continue
        told = {keyword.arg: keyword.value for keyword in given.keywords}
        wanted = [told[name] for name in ("enabled", "cache_enabled") if name in told]
        on = all(isinstance(n, ast.Constant) and n.value is True for n in wanted)
        cpu = any(isinstance(n, ast.Constant) and n.value == "cpu" for n in (*given.args, *told.values()))
        if on and not cpu and None not in told:
            return True
    return False


def _graph(origin: object, target: Value) -> tuple[object, ...]:
    """What tells the graph of one callable from that of another."""
    return (origin, target.key)


def _call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    assert func.args is not None
    inner = func.args.call(frame, node, args, keywords, open_ended)
    graph = _graph(func.origin, func.args)
    recorded = frame.interp.recordings.recorded(graph)
    if recorded is not None and frame.region is None and not frame.interp.recordings.in_other_mode(recorded):
        _check(frame, node, recorded, args, keywords, open_ended)
        frame.interp.recordings.do("replay", graph, frame, node)
    frame.interp.emitter.call(frame, node, func.name + ".__call__", args, keywords, func, inner)
    return frame.interp.compile_sites.own(inner, frame, node, func)


def _check(frame: Frame, node: ast.AST, recorded: Recorded, args: Args, keywords: Keywords, open_ended: bool) -> None:
    """Whether a call has what the samples had: tensors by position, of the same sizes."""
    if keywords and not open_ended:
        _refuse(frame, node, "keywords", ", ".join(sorted(keywords)))
        return
    for sample, given in zip(recorded.samples, args, strict=False):
        if not isinstance(sample, Tensor) or not isinstance(given, Tensor) or not _known(sample.shape):
            continue
        shapes = given.shape if isinstance(given.shape, frozenset) else frozenset({given.shape})
        other = sorted(shape for shape in shapes if _known(shape) and shape != sample.shape)  # type: ignore[type-var]
        if other:
            _refuse(frame, node, "sizes", f"{_sizes(other[0])}, captured with {_sizes(sample.shape)}")
            return


def _known(shape: object) -> bool:
    return isinstance(shape, tuple) and all(isinstance(size, int) for size in shape)


def _sizes(shape: object) -> str:
    assert isinstance(shape, tuple)
    return "×".join(map(str, shape)) or "no dimension"


def _refuse(frame: Frame, node: ast.AST, why: events.Refusal, about: str = "") -> None:
    frame.interp.emitter.emit(events.Refused, frame, node, why, about)


def _method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    """A module that is graphed is still that module."""
    target = receiver.args
    assert target is not None
    if name in ("forward", "__call__"):
        return receiver.call(frame, node, args, keywords, open_ended)
    if not isinstance(target, (Instance, Object)):
        return None
    result = target.call_method(frame, node, name, args, keywords, open_ended)
    return receiver if result.key == target.key else result


def _attribute(frame: Frame, node: ast.AST, receiver: Object, name: str) -> Value:
    target = receiver.args
    assert target is not None
    return target.attribute(frame, node, name, quiet=True)


objects.register("graphed", call=_call, method=_method, attribute=_attribute)
