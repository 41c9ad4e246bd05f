"""TCL104: a tensor where Python needs an integer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event, Loop, Operation, Store, Subscript
from tclint.fixes.switches import switch_on
from tclint.model.finding import Effect, Finding, Fix, Severity
from tclint.rules._numbers import DRAW_OUTSIDE, DRAWN_NUMBER
from tclint.rules._parted import one_by_one
from tclint.rules._windows import narrowed, picked, window
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import calls as asked
from tclint.torch_facts import facts
from tclint.values import (
    ARRAY,
    CONSTANT,
    DATA_SIZED,
    FOLDED,
    NAMED,
    PARAMETER,
    PROVEN,
    RAW,
    Object,
    Scalar,
    Seq,
    Tensor,
    Value,
    parts_of,
    spoken_of,
    tensor_of,
)
from tclint.values.constant import is_none
from tclint.values.flags import DRAWN
from tclint.values.scalar import is_drawn

_SIZES: Final = facts.places("takes sizes")
_POSITIONS: Final = facts.places("refuses a tensor as a position")
_ASKS_NUMBERS: Final = frozenset(facts.named("asks for the value of a number"))
_ASKS_SIZES: Final = frozenset(facts.named("asks how large a tensor is"))
_SWITCH: Final = "capture_scalar_outputs"
_SEVERAL: Final = "several dimensions are cut at numbers that stay in the graph"
_SIZES_SWITCH: Final = "capture_dynamic_output_shape_ops"
_OF_NUMBERS: Final = ("builtins.range", "builtins.slice")


class TensorAsSize(Rule):
    """A tensor used as a size, a position or a count: Python needs the integer, and the graph ends.

    `x[:n]`, `[0] * n`, `range(n)`, `names[n]`, `x.view(n, -1)`, `torch.arange(n)`, `x.split(n)` with a tensor `n` that was
    computed in the region all read its value. Tensors as an index tensor (`x[idx]` with one dimension or more) are fine.

    Bad::

        def f(x: torch.Tensor, lengths: torch.Tensor):
            longest = lengths.max()
            return x[:, :longest]

    Good::

        def f(x: torch.Tensor, lengths: torch.Tensor):
            keep = torch.arange(x.shape[1]) < lengths.max()
            return x * keep

    With `capture_scalar_outputs`, `capture_dynamic_output_shape_ops` or `fullgraph=True` the graph holds numbers and sizes that
    nobody knows while it is traced. What needs one of them all the same breaks it (`x.chunk(n)`, a loop over `x[mask]`,
    attention over it), and `names[n]` on a list raises, as does a cut that starts at them in several dimensions
    (`x[:, a:b, c:d]`; torch 2.13).

    Fix: a static upper bound and a mask; or pass the integer in from outside. `--unsafe-fixes` selects by an index where
    slices begin at tensors and their lengths are known (`x[:, i : i + 2]`, `x[:, i : i + h, j : j + w]`, `x.narrow(1, i, 2)`) and where the
    tensor is the last index (`x[:, i]`, `x[0, i]`), and else sets
    `capture_scalar_outputs` in the file that compiles where that keeps a size or the bound of a slice in the graph: the
    host still waits for the number, and the switch holds for the process. `--fix` cuts one dimension after the other
    (`x[:, a:b][:, :, c:d]`) where the switch is on.
    """

    code, name = "TCL104", "tensor-as-size"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    elsewhere = "read the integer there and pass it"
    subjects = {"subscript": (Tensor, Seq, Object)}
    graph_breaks = ("GB0033", "GB0124", "GB0059")
    calls = (*_OF_NUMBERS, *_SIZES, *_ASKS_NUMBERS, *_ASKS_SIZES)
    owns = (*_OF_NUMBERS, *(name for name in calls if name in asked.breaking_with("GB0033")))

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        yield from self._index(event, event.receiver, event.index)

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target == "subscript" and event.index is not None:
            yield from self._index(event, event.receiver, event.index)

    def _index(self, event: Event, receiver: Value, index: Value) -> Iterator[Finding]:
        if isinstance(receiver, Seq) or type(receiver).__name__ == "Object":
            position = spoken_of(index) or _drawn(index)
            if position is not None and not isinstance(receiver, Tensor):
                if (
                    position.dtype == "f"
                    or isinstance(receiver, Seq)
                    or receiver.key[:2] == ("x", "torch.nn.ModuleList")
                ):
                    yield self._finding(event, position, "{it} indexes a Python list")
                return
            if isinstance(receiver, Seq) and self._kept(event) and (kept := _read_number(index)) is not None:
                yield self._raises(event, kept, "a number that stays in the graph indexes a Python list")
                return
            bounds = _slice_bound(index)
            if bounds is not None:
                yield self._finding(event, bounds, "{it} bounds a slice of a Python list")
            return
        if not isinstance(receiver, Tensor):
            return
        starts = [number for part in parts_of(index) if (number := _start(part)) is not None]
        if len(starts) > 1 and isinstance(event, Subscript) and self._kept(event):
            yield self._raises(event, starts[0], _SEVERAL)
            return
        for part in parts_of(index):
            bound = _slice_bound(part)
            if bound is not None and not (self._kept(event) and _is_read(part)):
                yield self._finding(event, bound, "{it} bounds a slice")
                return
            position = part if isinstance(part, Tensor) else _drawn(part)
            if position is None or position.flags & (RAW | FOLDED):
                continue  # no tensor, or one whose value tracing knows
            if position.ndim == 0 and position.dtype != "b":
                it = "{it}" if position.flags & DRAWN else "a 0-d tensor"
                yield self._finding(event, position, f"{it} is used as an index")
                return

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        if event.operator == "repeat":
            tensor = spoken_of(event.right) or _drawn(event.right)
            if tensor is not None and (tensor.flags & PARAMETER or tensor.dtype == "f"):
                return  # no list is repeated by a fraction: it is no list
            if tensor is None and self._kept(event):
                tensor = _read_number(event.right)
            if tensor is not None and not tensor.is_known_number:
                yield self._finding(event, tensor, "a list is repeated by {it}")

    def on_loop(self, event: Loop) -> Iterator[Finding]:
        if (tensor := self._held(event, event.iterable)) is not None:
            yield self._finding(event, tensor, "a loop over a tensor whose size only the graph knows")

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        given = (*filter(None, [event.receiver]), *event.args, *event.keywords.values())
        if name in _ASKS_SIZES:
            tensor = next((t for value in given if (t := self._held(event, value)) is not None), None)
            if tensor is not None:
                yield self._finding(event, tensor, f"`{event.method}` asks for a size that only the graph knows")
                return
        if name in _ASKS_NUMBERS and self._kept(event) and (number := _read_number(*given)) is not None:
            yield self._finding(event, number, f"`{event.method}` asks for a number that stays in the graph")
            return
        if name not in _SIZES and name not in _OF_NUMBERS:
            return
        if name in _OF_NUMBERS:
            tensor = next((t for a in event.args if (t := spoken_of(a) or _drawn(a)) is not None), None)
            if tensor is not None:
                yield self._finding(event, tensor, f"`{name[9:]}()` of {{it}}")
            elif name == "builtins.range" and self._kept(event) and (kept := _read_number(*event.args)) is not None:
                yield self._finding(event, kept, "`range()` of a number that was read out of a tensor")
            return
        if self._kept(event):
            if (position := _position(event)) is not None:
                yield self._raises(event, position, f"`{event.method}` gets a tensor as a position")
                return
            if name not in _ASKS_NUMBERS:
                return
        for value in _SIZES[name].given(event.args, event.keywords):
            if self._kept(event) and isinstance(value, Seq):
                continue  # each of several sizes may be one that the graph alone knows
            tensor = _inner(value)
            # A 0-d input, or a tensor made of constants alone, has a value that tracing knows.
            if tensor is not None and tensor.flags & RAW and name.endswith("tensor_split"):
                yield self._finding(event, tensor, "`tensor_split` gets a tensor of positions")
                return
            if tensor is not None and not tensor.flags & (RAW | (FOLDED if tensor.ndim == 0 else CONSTANT)):
                if name in ("Tensor.split", "torch.split") and tensor.ndim > 0:
                    continue
                yield self._finding(event, tensor, f"`{event.method}` gets {{it}} as a size or position")
                return

    def _kept(self, event: Event) -> bool:
        """Whether Dynamo reads the number and holds it in the graph."""
        return self.captured(event, _SWITCH)

    def _held(self, event: Event, value: Value) -> Tensor | None:
        """The tensor, where its size is one that the graph holds and nobody knows."""
        if not isinstance(value, Tensor) or not value.flags & DATA_SIZED or value.ndim == 0:
            return None
        return value if self.captured(event, _SIZES_SWITCH) else None

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Subscript) and finding.message.startswith(_SEVERAL):
            return one_by_one(event)
        if isinstance(event, Subscript) and (found := window(event)) is not None:
            return found
        if "0-d tensor" in finding.message and isinstance(event, Subscript) and isinstance(event.receiver, Tensor):
            return picked(event)
        if isinstance(event, Call) and event.method == "narrow" and (found := narrowed(event)) is not None:
            return found
        held = "the graph" in finding.message.partition(";")[0]  # it is what a switch leads to
        return switch_on(event, _SWITCH) if not held and self._cured(event) else None

    def _cured(self, event: Event) -> bool:
        """Whether the switch cures it: sizes and bounds may be numbers that only the graph knows, counts may not."""
        if isinstance(event, Call):
            if event.name not in _SIZES or _position(event) is not None:
                return False
            given = _SIZES[event.name].given(event.args, event.keywords)
            return event.name not in _ASKS_NUMBERS or all(isinstance(value, Seq) for value in given)
        # Inductor raises where a window is written whose bounds only the graph knows (2.13).
        if not isinstance(event, Subscript) or not isinstance(event.receiver, Tensor):
            return False
        parts = parts_of(event.index) if event.index is not None else ()
        bounds = [part for part in parts if _slice_bound(part) is not None]
        return bool(bounds) and all(map(_is_read, bounds))

    def _raises(self, event: Event, tensor: Tensor, what: str) -> Finding:
        """What torch 2.13 neither traces nor breaks on."""
        return self.finding(
            event,
            f"{what}; torch.compile raises here",
            about=tensor,
            effect=Effect.ERROR,
            help="select with a tensor (torch.stack and index_select), or compute the integer outside the region",
        )

    def _finding(self, event: Event, tensor: Tensor, what: str) -> Finding:
        drawn = bool(tensor.flags & DRAWN)
        said = what.format(it=DRAWN_NUMBER if drawn else "a tensor")
        return self.finding(
            event,
            f"{said}; Python needs its value, so Dynamo breaks the graph{whole_frame(event)}",
            about=tensor,
            help=DRAW_OUTSIDE if drawn else "use a static bound with a mask, or compute the integer outside the region",
        )


def _position(event: Call) -> Tensor | None:
    """The tensor that is a position and no size of what comes out."""
    places = _POSITIONS.get(event.name)
    values = places.given(event.args, event.keywords) if places is not None else []
    found = next((tensor for value in values if (tensor := _inner(value)) is not None), None)
    return found if found is not None and not found.is_known_number else None


def _slice_bound(value: Value) -> Tensor | None:
    if isinstance(value, Seq) and value.kind == "slice" and value.items is not None:
        for item in value.items:
            tensor = spoken_of(item)
            if tensor is not None and not tensor.is_known_number:
                # `x[:limit]` is written for a limit that may be None, and nobody knows whether it is.
                return tensor.with_(conf=NAMED) if any(map(is_none, item.options)) else tensor
            if (drawn := _drawn(item)) is not None:
                return drawn
    return None


def _drawn(value: Value) -> Tensor | None:
    """One of Python's random numbers, which Dynamo draws inside the graph, as the tensor that it is there."""
    return Tensor(PROVEN, "i", 0, DRAWN, value.origin) if is_drawn(value) else None


def _read_number(*values: Value) -> Tensor | None:
    """The first number that was read out of a tensor, as the tensor that it is to Dynamo."""
    found = next((v for v in values if isinstance(v, Scalar) and v.source == "data"), None)
    return Tensor(PROVEN, "i", 0, 0, found.origin) if found is not None else None


def _start(part: Value) -> Tensor | None:
    """The number that a slice starts at, where it was read out of a tensor."""
    items = part.items if isinstance(part, Seq) and part.kind == "slice" else None
    return _read_number(items[0]) if items else None


def _is_read(bounds: Value) -> bool:
    """Whether a slice is bound by tensors, and not by Python's random numbers, which Dynamo draws in the graph."""
    items = bounds.items if isinstance(bounds, Seq) and bounds.kind == "slice" else None
    return not any(is_drawn(item) for item in items or ())


def _inner(value: Value) -> Tensor | None:
    tensor = spoken_of(value) or _drawn(value)
    if tensor is not None:
        return tensor
    if not isinstance(value, Seq) or value.kind not in ("tuple", "list") and value.kind != "star":
        return None
    if value.items is not None:
        return next((t for item in value.items if (t := spoken_of(item) or _drawn(item)) is not None), None)
    # `[0, *np.arange(n)]` holds numbers of both kinds.
    held = tensor_of(value.element())
    return held if held is not None and held.flags & ARRAY else None
