"""TCL103: a Python number taken out of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event
from tclint.fixes.places import Place
from tclint.fixes.recipes import skip_unread_store
from tclint.fixes.switches import switch_on
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._buffers import in_buffer
from tclint.rules._checks import asynchronous
from tclint.rules._conditions import truth_only
from tclint.rules._numbers import keep_tensor, numpy_on_sizes, torch_math, walk_tensor
from tclint.rules._parted import parted
from tclint.rules._unbacked import needs_no_value
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import calls as asked
from tclint.torch_facts import causal, facts
from tclint.values import ARRAY, CONSTANT, DATA_SIZED, FOLDED, NONE, Seq, Tensor, spoken_of

_SWITCH: Final = "capture_scalar_outputs"
_SIZES_SWITCH: Final = "capture_dynamic_output_shape_ops"
_NUMBERS: Final = facts.places("takes a number")


class ScalarExtraction(Rule):
    """`.item()`, `.tolist()`, `int(t)`, `float(t)` or `math.f(t)` turn a tensor into Python numbers.

    The number does not exist while Dynamo traces. It ends the graph, waits for the device, and goes on in a new graph with
    a number that may change at every step. The same happens unseen in `torch.equal`, `torch.allclose` and `numpy` reads, and
    where an operator takes a number and gets a tensor: `x.add(update, alpha=-rate)`.

    Bad::

        def f(x):
            scale = x.abs().max().item()
            return x / scale

    Good::

        def f(x):
            scale = x.abs().max()
            return x / scale

    Fix: keep the 0-d tensor; arithmetic with it gives the same result. Wrong where a Python number is really needed (a
    size, a loop count): then take it outside the region. `--unsafe-fixes` drops `.item()`, `float()`, `int()`, `.tolist()` in a loop and turns
    `math.f` into `torch.f` where only arithmetic uses the value (also through a list that becomes a tensor, what a module keeps, the text of
    an exception, an index or the beginning of a slice, which then select by an index), and `torch._check_tensor_all` into a check in the graph; `--fix` turns `int(np.prod(x.shape))` into
    `math.prod(x.shape)`. Where nothing on the line helps, `--unsafe-fixes` sets `capture_scalar_outputs` in the file that
    compiles, once for all findings: the number stays in the graph, the wait stays too, and the switch holds for the process. A crop
    that starts at such numbers in several dimensions is then made one dimension after the other, as torch 2.13 fails on it otherwise.

    Versions: with `fullgraph=True`, torch 2.10 and later keep `.item()` in the graph; in default mode it breaks on all.
    """

    code, name = "TCL103", "scalar-extraction"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    elsewhere = "read it there and pass the number"
    graph_breaks = ("GB0124", "GB0033", "GB0109", "GB0213")
    calls = (*facts.named("reads a value out of a tensor"), *causal.MODULES, *_NUMBERS)
    owns = (
        *(
            name
            for name in calls
            if name not in _NUMBERS and (name.startswith("Tensor.") or name in asked.breaking_with("GB0033"))
        ),
        "torch._check*",
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        if name in causal.MODULES:
            yield from self._causal(event)
            return
        if name in _NUMBERS:
            yield from self._as_number(event)
            return
        if event.method == "tolist" and self._is_held(event) and not _is_list_of_others(event):
            yield self._raises(event)
            return
        if self.captured(event, _SWITCH) and _is_read(event) and not _is_list_of_others(event):
            return
        if name.startswith("?."):
            if event.args or event.keywords:
                return
            yield self._finding(event, None, f"`.{event.method}()`", Confidence.MEDIUM)
            return
        if name.startswith(("Tensor.", "ndarray.")):
            receiver = spoken_of(event.receiver) if event.receiver else None
            verdict = self.verdict(event) if name.startswith("Tensor.") else None
            traced = verdict.breaks if verdict is not None else "always"
            if traced != "never" and (receiver is None or not receiver.is_known_number):
                # A release may trace it for one dtype and not for another.
                unsure = Confidence.LOW if traced == "sometimes" else None
                yield self._finding(event, receiver, f"`.{event.method}()`", unsure)
            return
        values = [*event.args, *event.keywords.values()]
        tensor = next((t for v in values if (t := spoken_of(v)) is not None), None)
        if tensor is None and name in ("math.prod", "math.fsum") and values and isinstance(values[0], Seq):
            tensor = spoken_of(values[0].element())
        if tensor is None or tensor.is_known_number:
            return
        if name == "builtins.round":
            return
        if name.startswith("math.") and isinstance(event.result, Seq):
            # Those that give several numbers keep a tensor of integers in the graph, and no other.
            verdict = self.verdict(event)
            if tensor.dtype == "i" or tensor.flags & FOLDED or verdict is None or verdict.breaks == "never":
                return
        short = name.removeprefix("builtins.")
        yield self._finding(event, tensor, f"`{short}` of a tensor")

    def _as_number(self, event: Call) -> Iterator[Finding]:
        """A tensor where an operator takes a number: `x.add(update, alpha=-rate)`. Of integers Dynamo knows those it is given."""
        if self.captured(event, _SWITCH):
            return
        for tensor in map(spoken_of, _NUMBERS[event.name].given(event.args, event.keywords)):
            known = tensor is None or tensor.is_known_number or tensor.flags & (FOLDED | CONSTANT)
            if tensor is not None and not known and tensor.dtype not in ("b", "i"):
                yield self.finding(
                    event,
                    f"`{event.method}` takes a number where it gets a tensor, and reads it out of the graph; Dynamo breaks"
                    f" here{whole_frame(event)}",
                    about=tensor,
                    help="multiply by the 0-d tensor instead, or pass a number in, or set capture_scalar_outputs (it still waits)",
                )
                return

    def _is_held(self, event: Call) -> bool:
        """Whether the tensor's size is one that the graph holds and nobody knows."""
        tensor = event.receiver
        sized = isinstance(tensor, Tensor) and bool(tensor.flags & DATA_SIZED) and tensor.ndim != 0
        return sized and self.captured(event, _SIZES_SWITCH)

    def _raises(self, event: Call) -> Finding:
        """Asked of torch 2.13, which does not resume behind it."""
        return self.finding(
            event,
            "`.tolist()` of a tensor whose size only the graph knows; torch.compile raises here",
            about=spoken_of(event.receiver) if event.receiver else None,
            effect=Effect.ERROR,
            help="keep the tensor, or compute the list outside the compiled region and pass it in",
        )

    def _causal(self, event: Call) -> Iterator[Finding]:
        """A module that finds out by itself whether its mask is the causal one."""
        for asked_of in causal.MODULES[event.name]:
            at = asked_of.position
            mask = event.args[at] if at < len(event.args) else event.keywords.get(asked_of.keyword)
            told = event.keywords.get(asked_of.unless)
            if isinstance(mask, Tensor) and (told is None or told is NONE) and not self.captured(event, _SWITCH):
                module = event.name.removeprefix("torch.").removesuffix(".forward")
                yield self.finding(
                    event,
                    f"`{module}` asks `{asked_of.keyword}` whether it is causal; Dynamo breaks the graph there{whole_frame(event)}",
                    about=mask,
                    help=f"say it: `{asked_of.unless}=True`, or `False` for another mask",
                )
                return

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        assert isinstance(event, Call)
        node = event.node
        if not isinstance(node, ast.Call) or event.name in causal.MODULES or event.name in _NUMBERS:
            return None
        switched = _is_read(event) and _is_traced(event) and not _is_list_of_others(event) and not self._is_held(event)
        here = skip_unread_store(event, node, counted=True) or self._on_the_line(event, node)
        here = here or skip_unread_store(event, node) or _kept(event, node)
        if here is not None or not switched or not needs_no_value(event):
            return here
        return parted(event, switch_on(event, _SWITCH))

    def _on_the_line(self, event: Call, node: ast.Call) -> Fix | None:
        name = event.name
        if event.method == "item" and isinstance(node.func, ast.Attribute) and not node.args:
            return keep_tensor(event, node.func.value)
        if event.method == "tolist" and isinstance(node.func, ast.Attribute) and not node.args:
            return walk_tensor(event, node.func.value)
        if name in ("builtins.int", "builtins.float") and len(node.args) == 1:
            tensor = spoken_of(event.args[0]) if event.args else None
            if tensor is not None and tensor.flags & ARRAY:
                return numpy_on_sizes(event, node) or keep_tensor(event, node.args[0])
            suffix = ".long()" if name == "builtins.int" and (tensor is None or tensor.dtype != "i") else ""
            return keep_tensor(event, node.args[0], suffix)
        if name.startswith("math."):
            return torch_math(event, event.method)
        if event.method in ("equal", "allclose") and not name.startswith("numpy."):
            return _compared(event, node)
        if name == "torch._check_tensor_all":
            return asynchronous(Place(event), node, every=True)
        return None

    def _finding(self, event: Call, tensor: Tensor | None, what: str, confidence: Confidence | None = None) -> Finding:
        of_tensor = _of_tensor(event)
        waits = " and the device is waited for" if of_tensor else ""
        kept = f"keep the {'' if event.method == 'tolist' else '0-d '}tensor"
        if _is_read(event) and not _is_list_of_others(event) and not self.captured(event, _SWITCH):
            kept += ", or set capture_scalar_outputs (it still waits)"
        return self.finding(
            event,
            f"{what} reads a value out of the graph; Dynamo breaks here{waits}{whole_frame(event)}",
            about=tensor,
            confidence=confidence,
            help=kept if of_tensor else "compute it outside the compiled region and pass the numbers in",
        )


def _kept(event: Call, node: ast.Call) -> Fix | None:
    """`self.mean = 0.9 * self.mean + 0.1 * x.mean().item()`"""
    if event.method == "item" and isinstance(node.func, ast.Attribute) and not node.args:
        return in_buffer(event, node.func.value)
    return in_buffer(event, node.args[0]) if event.name == "builtins.float" and len(node.args) == 1 else None


def _is_read(event: Call) -> bool:
    """Whether the number is what the call is for: Dynamo can hold it. What compares or computes with it needs its value."""
    return event.name in ("builtins.int", "builtins.float") or event.method in ("item", "tolist")


def _is_list_of_others(event: Call) -> bool:
    """`tolist` of floats or Booleans, which Dynamo does not hold, whatever is switched on."""
    tensor = spoken_of(event.receiver) if event.receiver is not None else None
    return event.method == "tolist" and tensor is not None and tensor.dtype in ("f", "b")


def _is_traced(event: Call) -> bool:
    """Whether it is a tensor that is read, or an array, which Dynamo traces as one."""
    value = event.args[0] if event.args else event.receiver
    return _of_tensor(event) or (value is not None and spoken_of(value) is not None)


def _of_tensor(event: Call) -> bool:
    """Whether it is a tensor that is read, on a device that may be waited for. `tolist` of what is unknown may be numpy's."""
    value = event.args[0] if event.args else event.receiver
    tensor = spoken_of(value) if value is not None else None
    if event.name.startswith("ndarray.") or (tensor is None and event.method == "tolist"):
        return False
    return tensor is None or not tensor.flags & ARRAY


def _compared(event: Call, node: ast.Call) -> Fix | None:
    """`(a == b).all()` for `torch.equal(a, b)`, where a tensor is as good as a bool."""
    place = Place(event)
    torch = place.importing("torch")
    sides = [
        *([node.func.value] if event.name.startswith("Tensor.") and isinstance(node.func, ast.Attribute) else []),
        *node.args,
    ]
    if torch is None or len(sides) != 2 or not truth_only(place):
        return None
    if event.method == "equal":
        text = f"({place.operand(sides[0])} == {place.operand(sides[1])}).all()"
    else:
        rest = "".join(f", {place.source(k)}" for k in node.keywords)
        text = f"{torch[0]}.isclose({place.argument(sides[0])}, {place.argument(sides[1])}{rest}).all()"
    note = "wrong where the shapes may differ, or where a Python bool is needed"
    return Fix("compare as tensors", Applicability.UNSAFE, (*torch[1], place.replace(node, text)), note)
