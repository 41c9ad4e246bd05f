"""Eager against compiled values, outputs and gradients, by dtype; float64 tells which of the two is further off."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo
import torch.utils._pytree as pytree

from tclint.diagnose.child.clock import NoGradient, loss_of, sync
from tclint.diagnose.child.target import Subject
from tclint.diagnose.measurement import NumericRow, Numerics
from tclint.diagnose.shortening import shortened

TOLERANCES = {torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 4e-3}
"""Relative error (root mean square) that is rounding, not a fault."""
TIMES = 3.0
"""A compiled error is also fine where it is below this many times the error of eager."""

Values = dict[str, list[torch.Tensor]]


def measure_numerics(subject: Subject) -> Numerics:
    rows: list[NumericRow] = []
    notes: list[str] = []
    exact = _try(subject, torch.float64, False, notes) if subject.example.wrap else None
    dtypes = list(TOLERANCES) if subject.example.wrap else [torch.float32]
    for dtype in dtypes[:1] if subject.order.quick else dtypes:
        name = str(dtype).removeprefix("torch.")
        if rows and subject.seconds_left < 0:
            rows.append(NumericRow(name, "outputs", "not run", words="no time was left"))
            continue
        try:
            eager, compiled = _run(subject, dtype, False), _run(subject, dtype, True)
        except (Exception, SystemExit) as error:
            # Not every model runs in every dtype: that is the row.
            words = f"{type(error).__name__}: {shortened(str(error))}"
            rows.append(NumericRow(name, "outputs", "not run", words=words))
            continue
        rows += [
            _compared(name, what, eager[what], compiled.get(what, []), (exact or {}).get(what), TOLERANCES[dtype])
            for what in eager
        ]
        subject.save(Numerics(tuple(rows), tuple(notes)))
    return Numerics(tuple(rows), tuple(notes))


def outputs_of(eager: Callable[[], Any], compiled: Callable[[], Any]) -> Numerics:
    """The outputs of a step that is there already, without a reference in float64."""
    one, other = _floats(eager()), _floats(compiled())
    notes = ("only the outputs in the dtype of the model: --quick",)
    return Numerics((_compared("as it is", "outputs", one, other, None, TOLERANCES[torch.float32]),), notes)


def _try(subject: Subject, dtype: torch.dtype, compile_: bool, notes: list[str]) -> Values | None:
    try:
        return _run(subject, dtype, compile_)
    except Exception as error:
        notes.append(f"no float64 reference: {type(error).__name__}: {shortened(str(error))}")
        return None


def _run(subject: Subject, dtype: torch.dtype, compile_: bool) -> Values:
    """Outputs, and gradients where there are any, of a fresh target in inference mode: no dropout, no statistics."""
    with subject.turn.compiling():
        return _values(subject, dtype, compile_)


def _values(subject: Subject, dtype: torch.dtype, compile_: bool) -> Values:
    torch._dynamo.reset()
    target, call = subject.made("eval", dtype)
    function = subject.compiled(target) if compile_ else subject.eager(target)
    output = function(*call.args, **call.kwargs)
    found: Values = {"outputs": _floats(output)}
    try:
        loss_of(output).backward()
    except NoGradient:
        return found
    sync(subject.device)
    if isinstance(target, torch.nn.Module):
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in target.parameters()]
        if grads:
            found["gradients"] = _floats(grads)
    return found


def _floats(value: Any) -> list[torch.Tensor]:
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, dict):
        value = [getattr(value, name, None) for name in value.__dataclass_fields__]
    return [
        leaf.detach().to("cpu", torch.float64)
        for leaf in pytree.tree_leaves(value)
        if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.dtype == torch.int64)
    ]


def _compared(
    dtype: str,
    what: str,
    eager: list[torch.Tensor],
    compiled: list[torch.Tensor],
    exact: list[torch.Tensor] | None,
    tolerance: float,
) -> NumericRow:
    if not eager:
        return NumericRow(dtype, what, "not run", words="no floating-point tensors to compare")
    if [t.shape for t in eager] != [t.shape for t in compiled]:
        return NumericRow(dtype, what, "differs", words="other shapes than in eager mode")
    nan = any(bool((torch.isnan(a) != torch.isnan(b)).any()) for a, b in zip(eager, compiled, strict=True))
    if nan:
        return NumericRow(dtype, what, "differs", words="NaN where eager has none, or the other way round")
    most = max((float((a - b).abs().nan_to_num().max()) for a, b in zip(eager, compiled, strict=True) if a.numel()))
    apart = _error(eager, compiled)
    told = exact if exact is not None and [t.shape for t in exact] == [t.shape for t in eager] else None
    eager_error = _error(told, eager) if told else None
    compiled_error = _error(told, compiled) if told else None
    fine = apart <= tolerance
    if eager_error is not None and compiled_error is not None:
        fine = fine or compiled_error <= TIMES * eager_error
    words = "" if fine else f"relative difference {apart:.1e}, {tolerance:.0e} is allowed"
    return NumericRow(dtype, what, "ok" if fine else "differs", most, eager_error, compiled_error, words)


def _error(reference: list[torch.Tensor], values: list[torch.Tensor]) -> float:
    """The root mean square difference, relative to the size of the reference."""
    square = sum(float((a - b).nan_to_num().square().sum()) for a, b in zip(reference, values, strict=True))
    size = sum(float(a.nan_to_num().square().sum()) for a in reference)
    return math.sqrt(square / size if size else square)
