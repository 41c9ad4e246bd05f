"""TCL117: numpy functions that Dynamo does not know."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Attribute, Call, Event
from tclint.fixes.places import Place
from tclint.fixes.recipes import skip_unread_store
from tclint.model.finding import Applicability, Confidence, Edit, Effect, Finding, Fix, Severity
from tclint.rules import _language
from tclint.rules._numbers import numpy_on_sizes
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import facts
from tclint.values import ARRAY, Tensor, Value

_TWIN: Final = "wrong where the array has a dtype that torch does not have"

# Values or shapes are read: TCL103 and TCL105 say it.
_DATA: Final = ("GB0036", "GB0033", "GB0124", "GB0109")

# `torch._dynamo.config.trace_numpy = False`: an array is then an object like any other.
_OFF: Final = "not trace_numpy"


class NumpyUnsupported(Rule):
    """A numpy function, array method or attribute that Dynamo cannot turn into torch.

    Dynamo traces numpy through `torch._numpy`. What that does not implement (`np.interp`, `np.vectorize`, `np.pad`,
    `np.unique`, `ufunc.reduce`, `.tobytes()`, `.nbytes`, `.dtype` …) ends the graph. `np.prod(x.shape)` gives a 0-d array whose
    `int()` breaks. Under `torch._dynamo.config.trace_numpy = False` it traces none of it.

    Bad::

        def f(x):
            return torch.from_numpy(np.interp(x.numpy(), [0.0, 1.0], [0.0, 2.0]))

    Good::

        def f(x):
            return x.clamp(0, 1) * 2

    Fix: the torch function; `math.prod(x.shape)` for sizes. `--fix` writes `np.sum` for `np.add.reduce` and `math.prod`
    for `np.prod` of sizes; `--unsafe-fixes` asks a tensor of the same memory for `nbytes`, `flags` and the limits of its
    dtype.
    """

    code, name = "TCL117", "numpy-unsupported"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    subjects = {"attribute": (Tensor,)}
    graph_breaks = (
        "GB0294",
        "GB0290",
        "GB0157",
        "GB0158",
        "GB4841",
        "GB0208",
        "GB0033",
        "GB0185",
        "GB0293",
        "GB0105",
        "GB0231",
        "GB0300",
    )
    by_facts = True
    calls = ("numpy.*", "ndarray.*", "torch.*", "Tensor.*")
    owns = ("numpy.*",)

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        if event.configured(_OFF):
            yield from self._untraced(event)
            return
        if name.startswith("Tensor.") or name.partition(".")[0] == "torch":
            return
        if name.startswith("ndarray."):
            verdict = self.verdict(event)
            if verdict is not None and verdict.breaks == "always" and verdict.id not in _DATA:
                yield self._finding(event, f"`.{event.method}()` of an array", self.span(event))
            return
        rest = name.removeprefix("numpy.")
        head = rest.partition(".")[0]
        if head in ("random", "testing"):
            if head == "testing":
                yield self._finding(event, f"`{name}`")
            return
        if event.args and _is_array(event.args[0]) and _language.told(f"{name}() of an array", self.release):
            yield self._finding(event, f"`np.{head}` of an array")
            return
        verdict = self.verdict(event)
        if verdict is None:
            # A ufunc's own methods, or what torch has no twin of.
            if name not in facts.named("is of numpy, and torch has its twin"):
                shown = name.replace(".__getitem__", "[…]")
                yield self._finding(event, f"`{shown}`")
            return
        if verdict.breaks == "never" or verdict.id in _DATA or name in ("numpy.allclose", "numpy.array_equal"):
            return
        if verdict.breaks == "sometimes":
            return
        yield self._finding(event, f"`{name}`", self.span(event))

    def _untraced(self, event: Call) -> Iterator[Finding]:
        """A call of numpy, or of torch with an array, where the program switches the tracing of numpy off."""
        given = (*event.args, *event.keywords.values())
        arrays = any(isinstance(each, Tensor) and each.flags & ARRAY for each in given)
        first, _, rest = event.name.partition(".")
        told = arrays if first == "torch" else first != "Tensor" or rest == "numpy"
        if told and not rest.startswith("random."):
            yield self.finding(
                event,
                f"`{event.name}` with `trace_numpy` switched off; the graph breaks here{whole_frame(event)}",
                confidence=Confidence.HIGH,
                help="leave `torch._dynamo.config.trace_numpy` on, or use the torch function",
            )

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        receiver = event.receiver
        if (
            isinstance(receiver, Tensor)
            and receiver.flags & ARRAY
            and event.name in facts.named("is an attribute of an array that has no tensor's like")
        ):
            yield self._finding(event, f"`.{event.name}` of an array")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Attribute):
            return _of_tensor(event)
        if not isinstance(event.node, ast.Call):
            return None
        respelled = _reduction(event, event.node) or numpy_on_sizes(event, event.node)
        return respelled or skip_unread_store(event, event.node)

    def _finding(self, event: Call | Attribute, what: str, span: str = "") -> Finding:
        return self.finding(
            event,
            f"{what} is not known to Dynamo; the graph breaks here{whole_frame(event)}{span}",
            confidence=Confidence.HIGH,
            help="use the torch function",
        )


_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


def _reduction(event: Event, node: ast.Call) -> Fix | None:
    """`np.sum(a, axis=0)` for `np.add.reduce(a, axis=0)`, which takes the first axis where none is given."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != "reduce" or not isinstance(func.value, ast.Attribute):
        return None
    name = _REDUCTIONS.get(func.value.attr)
    if name is None or len(node.args) != 1 or [k.arg for k in node.keywords] not in ([], ["axis"]):
        return None
    place = Place(event)
    axis = place.source(node.keywords[0].value) if node.keywords else "0"
    text = f"{place.source(func.value.value)}.{name}({place.source(node.args[0])}, axis={axis})"
    return Fix(f"use np.{name}", Applicability.SAFE, (place.replace(node, text),), "")


def _of_tensor(event: Attribute) -> Fix | None:
    """`torch.from_numpy(a).nbytes` for `a.nbytes`, `.is_contiguous()` for `.flags["C_CONTIGUOUS"]`."""
    place = Place(event)
    node = place.node
    torch = place.importing("torch")
    if not isinstance(node, ast.Attribute) or torch is None or not isinstance(node.value, (ast.Name, ast.Attribute)):
        return None
    tensor = f"{torch[0]}.from_numpy({place.source(node.value)})"
    asked = place.parent
    if node.attr == "dtype" and isinstance(asked, ast.Call):
        return _limits(place, asked, torch)
    if node.attr == "nbytes":
        # The attribute of the same name asks for the storage, which a tensor of unknown size has not.
        edit = place.replace(node, f"({tensor}.numel() * {tensor}.element_size())")
    elif (
        node.attr == "flags"
        and isinstance(asked, ast.Subscript)
        and isinstance(asked.slice, ast.Constant)
        and asked.slice.value in ("C_CONTIGUOUS", "C")
    ):
        edit = place.replace(asked, f"{tensor}.is_contiguous()")
    else:
        return None
    return Fix("ask a tensor of the same memory", Applicability.UNSAFE, (*torch[1], edit), _TWIN)


def _limits(place: Place, call: ast.Call, torch: tuple[str, tuple[Edit, ...]]) -> Fix | None:
    """`torch.finfo(torch.from_numpy(a).dtype)` for `np.finfo(a.dtype)`."""
    func, asked = call.func, place.node
    if not isinstance(func, ast.Attribute) or func.attr not in ("finfo", "iinfo") or call.args != [asked]:
        return None
    if call.keywords or not isinstance(asked, ast.Attribute) or not isinstance(asked.value, ast.Name):
        return None
    text = f"{torch[0]}.{func.attr}({torch[0]}.from_numpy({asked.value.id}).dtype)"
    return Fix(f"use torch.{func.attr}", Applicability.UNSAFE, (*torch[1], place.replace(call, text)), _TWIN)


def _is_array(value: Value) -> bool:
    return isinstance(value, Tensor) and bool(value.flags & ARRAY)
