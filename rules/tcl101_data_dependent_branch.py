"""TCL101: Python control flow on a tensor's value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.events import Assert, Branch, Call, Event, Operation
from tclint.fixes.places import Place
from tclint.fixes.recipes import display
from tclint.fixes.switches import switch_on
from tclint.model.finding import Effect, Finding, Fix, Severity
from tclint.rules._branches import fix_branch
from tclint.rules._conditions import DRAWN
from tclint.rules._numbers import DRAW_OUTSIDE, DRAWN_NUMBER
from tclint.rules._truths import contains_fix, without_bool
from tclint.rules._unbacked import is_size_of_found, needs_no_value
from tclint.ruleset.rule import Rule, whole_frame
from tclint.sources.tree import position
from tclint.torch_facts import facts, features
from tclint.values import ARRAY, INPUT, PROVEN, UNKNOWN, Dict, Scalar, Seq, Tensor, Union, Value, spoken_of
from tclint.values.constant import is_none
from tclint.values.scalar import NUMBERS, is_drawn

_SWITCH: Final = "capture_scalar_outputs"
_COUNT: Final = "count"
_WHOLE: Final = facts.methods("compares whole tensors")
_FIRST: Final = "member of a list whose first is the very tensor"


class DataDependentBranch(Rule):
    """`if` on a tensor's value makes Dynamo leave the graph to ask Python which way to go.

    Dynamo traces with tensors whose values it does not know. Where Python needs the truth of one (`if`, `elif`, `while`,
    `and`, `or`, `not`, a conditional expression, a comprehension's condition, `bool()`, `x in [...]`, `match`), it ends the
    graph, runs that line in Python, waits for the device, and starts another graph. Inside a loop, a `with` or a `try` the
    function cannot be resumed: all of it runs eagerly.

    Shapes, dtypes, devices, `is None`, `isinstance`, flags and `self.training` are known while tracing and are not flagged.

    Bad::

        def f(x, limit: float = 4.0):
            if x.max() > limit:
                x = x / 2
            return x

    Good::

        def f(x, limit: float = 4.0):
            return torch.where(x.max() > limit, x / 2, x)

    Fix: `torch.where` for two cheap alternatives, `torch.cond` for expensive ones, an `assert` for a check that only
    raises, or take the decision outside the compiled region. `torch.where` computes both sides: wrong where one of them
    is undefined or has side effects. `--unsafe-fixes` writes `torch.where` for assignments and returns of call-free or
    known pure expressions, an `assert` for a raise, `copy_` of the old or new value for a buffer written under the
    branch, one or the other for `out[i]`, and a guard where the branch only logs or notes something down that nobody else reads. A number of the module
    that the branch changes becomes a buffer. A loop of known turns that a tensor ends (`if t: break`, `if t: return x`,
    `while t and n < most`) makes all its turns and keeps what was there at the end. Wrong where a side fails on the other's
    inputs, where the sides differ in shape or dtype, or where callers catch the exception.

    Ignore it where the branch is taken once per run, outside the hot path.
    """

    code, name = "TCL101", "data-dependent-branch"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    elsewhere = "decide there and pass a flag, or call one of two functions"
    subjects = {"branch": (Tensor, Union, Scalar)}
    graph_breaks = ("GB0170", "GB0124", "GB0207")
    calls = ("builtins.bool", "builtins.sorted", "list.remove", "list.index", "list.count", "list.sort")

    def __init__(self) -> None:
        super().__init__()
        # Every tensor whose truth is asked for, by file and position: a fix must know all parts of a condition.
        self._tests: dict[str, dict[tuple[int, int, int, int], str]] = {}

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        tensor, it = spoken_of(event.test), "a tensor"
        if is_drawn(event.test):
            # Dynamo draws Python's random numbers inside the graph, as tensors.
            tensor, it = Tensor(PROVEN, origin=event.test.origin), DRAWN_NUMBER
            self._tests.setdefault(event.module.path, {})[position(event.node)] = DRAWN
        if isinstance(event.test, Scalar) and self._kept_number(event, event.test):
            tensor, it = Tensor(PROVEN, origin=event.test.origin), "a number of a tensor that stays in the graph"
            if not isinstance(event.node, ast.Compare) and event.test.python_type != "bool":
                yield self._refused(event, tensor)
                return
        if (
            isinstance(event.test, Scalar)
            and isinstance(event.node, ast.Compare)
            and self._kept_size(event, event.node)
        ):
            tensor, it = Tensor(PROVEN, origin=event.test.origin), "a size that only the graph knows"
        if tensor is None or (
            isinstance(event.node, (ast.Name, ast.Attribute)) and _asks_whether_there(event.test, tensor)
        ):
            return
        if isinstance(event.test, Tensor) and not tensor.flags & ARRAY:
            self._tests.setdefault(event.module.path, {})[position(event.node)] = tensor.dtype
        yield self._finding(event, tensor, f"`{event.keyword}` on {it}")

    def on_assert(self, event: Assert) -> Iterator[Finding]:
        """The last operand of an assert's condition stays in the graph; a fix of those before it has to know that too."""
        last = event.node.test if isinstance(event.node, ast.Assert) else None
        while isinstance(last, ast.BoolOp):
            last = last.values[-1]
        if last is not None and isinstance(event.test, Tensor) and not event.test.flags & ARRAY:
            self._tests.setdefault(event.module.path, {})[position(last)] = event.test.dtype
        return iter(())

    def _kept_number(self, event: Branch, test: Scalar) -> bool:
        """Whether a number is asked for that was read out of a tensor and stays in the graph."""
        asked = isinstance(event.node, ast.Compare) or test.python_type in NUMBERS - {"number"}
        made = test.origin.node
        if isinstance(made, ast.Call) and getattr(made.func, "attr", "") in _WHOLE:
            return False  # the graph broke where it was asked; what came out is a plain bool
        return test.source == "data" and asked and self.captured(event, _SWITCH)

    def _kept_size(self, event: Branch, node: ast.Compare) -> bool:
        """Whether it is asked how much `x[mask]` or `nonzero()` found, where that stays in the graph."""
        if event.test.source != "size" or not self.captured(event, "capture_dynamic_output_shape_ops"):
            return False
        return any(is_size_of_found(event, each) for each in (node.left, *node.comparators))

    def _refused(self, event: Branch, number: Tensor) -> Finding:
        """`if n:` on such a number: tried on torch 2.13, which does not resume behind it."""
        return self.finding(
            event,
            f"`{event.keyword}` on a number that stays in the graph{_source(event, number)}; torch.compile raises here",
            about=number,
            effect=Effect.ERROR,
            help="compare it: `if n != 0`, which only breaks the graph; or decide outside the compiled region",
        )

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        if event.operator not in ("In", "NotIn"):
            return
        left, right = spoken_of(event.left), spoken_of(event.right)
        if left is not None and isinstance(event.right, Seq) and event.right.kind not in ("set", "frozenset"):
            if event.right.element().python_type == "str":
                return  # no tensor equals a word: nothing looks at its values
            if not self._is_found(event.right, event.left):
                yield self._finding(event, left, "`in` compares a tensor with each element")
        elif right is not None:
            if event.left.python_type == "str" or (right.flags & INPUT and not _may_be_number(event.left)):
                return  # what is asked for a key is a dict, whatever else says that it is a tensor: that raises
            yield self._finding(event, right, "`in` on a tensor asks for its values")
        elif (
            isinstance(event.right, Seq)
            and isinstance(event.right.element(), Tensor)
            and event.right.kind not in ("set", "frozenset")
        ):
            element = spoken_of(event.right.element())
            if element is not None and isinstance(event.left, Tensor):
                yield self._finding(event, element, "`in` compares tensors")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name == "builtins.bool":
            tensor = spoken_of(event.args[0]) if event.args else None
            if tensor is not None and not self.captured(event, _SWITCH):
                yield self._finding(event, tensor, "`bool()` of a tensor")
            return
        values = event.args[0] if event.name == "builtins.sorted" and event.args else event.receiver
        if event.name == "builtins.sorted" and isinstance(values, Tensor) and "key" not in event.keywords:
            if not (values.flags & INPUT and values.conf < PROVEN):  # an argument may well be a dict of tensors
                yield self._finding(event, values, "`sorted` compares what a tensor holds")
            return
        if not isinstance(values, Seq) or "key" in event.keywords:
            return
        element = _compared(values.element())
        if event.method == _COUNT and features.broken(f"{_COUNT}() of a list of tensors", self.release) is None:
            return
        if event.args and event.receiver is values and event.method != _COUNT and self._is_found(values, event.args[0]):
            return
        if element is not None and (
            event.name in ("builtins.sorted", "list.sort") or spoken_of(event.args[0] if event.args else values)
        ):
            yield self._finding(event, element, f"`{event.method}` compares tensors")

    def _is_found(self, values: Seq, wanted: Value) -> bool:
        """Whether a search ends at the first of the values, which is the one that is looked for, on a release that sees it."""
        first = values.items[0] if values.items else None
        return first is wanted and features.broken(_FIRST, self.release) is None

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Operation):
            return contains_fix(event) if isinstance(event.right, Tensor) or _of_numbers(event.right) else None
        if isinstance(event, Call):
            tensor = spoken_of(event.args[0]) if event.args else None
            if event.name != "builtins.bool" or tensor is None:
                return None
            kept = without_bool(event, tensor.dtype)
            return kept or (switch_on(event, _SWITCH) if needs_no_value(event) else None)
        assert isinstance(event, Branch)
        if isinstance(event.test, Scalar) and event.test.source == "data":
            return None
        found = fix_branch(event, self._tests.get(event.module.path, {}))
        if found is None and isinstance(event.test, Scalar):
            return display("draw with torch.rand and select with torch.where", "the random stream changes")
        return found

    def _finding(self, event: Branch | Operation | Call, tensor: Tensor, what: str) -> Finding:
        because = _source(event, tensor)
        return self.finding(
            event,
            f"{what}{because}; Dynamo breaks the graph here{whole_frame(event)}",
            about=tensor,
            help=_instead(event),
        )


def _compared(element: Value) -> Tensor | None:
    """The tensor that is compared where elements are: the element, or a part of a tuple."""
    parts = element.items or () if isinstance(element, Seq) and element.kind == "tuple" else (element,)
    return next((tensor for part in parts if (tensor := spoken_of(part)) is not None), None)


def _asks_whether_there(test: Value, tensor: Tensor) -> bool:
    """Whether `if self.bias:` asks for None or an empty list: Python raises on a tensor of several elements there."""
    others = (is_none(option) or isinstance(option, (Seq, Dict)) for option in test.options)
    return tensor.ndim != 0 and any(others)


def _of_numbers(value: Value) -> bool:
    """A list or tuple of integers."""
    return isinstance(value, Seq) and value.kind in ("list", "tuple") and value.element().python_type == "int"


def _may_be_number(value: Value) -> bool:
    return spoken_of(value) is not None or value.python_type not in ("", "str")


def _instead(event: Branch | Operation | Call) -> str:
    """What to write: a loop becomes no `where`, a number is nothing to select by, and an assert needs no truth."""
    outside = "decide outside the compiled region"
    if isinstance(event, Branch) and event.keyword == "while":
        return f"make a fixed number of turns and mask what is done, or {outside}"
    if isinstance(event, Branch) and isinstance(event.test, Scalar):
        return DRAW_OUTSIDE if is_drawn(event.test) else outside
    if isinstance(event, Call) and event.name == "builtins.bool" and isinstance(Place(event).parent, ast.Assert):
        return "leave `bool()` out: an assert on a tensor, with a constant message, stays in the graph as a check"
    return f"use torch.where, or {outside}"


def _source(event: Branch | Operation | Call, tensor: Tensor) -> str:
    """Where the value comes from: the name in the condition that holds a tensor, and the line that made it one."""
    line = getattr(event.node, "lineno", 0)
    for node in ast.walk(event.node):
        if isinstance(node, ast.Name):
            held = spoken_of(event.ask.local(node.id) or UNKNOWN)
            if held is not None and held.origin.line != line and _is_here(event, held):
                text = held.origin.text()
                if text and not text.startswith(node.id):
                    return f": `{node.id}` comes from `{text}` (line {held.origin.line})"
    if tensor.origin.line != line and _is_here(event, tensor):
        text = tensor.origin.text()
        return f": the value comes from `{text}` (line {tensor.origin.line})" if text else ""
    text = ast.unparse(event.node)
    return f": `{text}`" if len(text) <= 60 else ""


def _is_here(event: Branch | Operation | Call, tensor: Tensor) -> bool:
    """Whether a tensor was made in this file: a caller in another one has lines with the same numbers."""
    line, column, text = tensor.origin.line, getattr(tensor.origin.node, "col_offset", 0), tensor.origin.text()
    word = re.match(r"\w+", text)
    there = event.module.text_of(line, line)[column:] if line else b""
    return bool(there) and (word is None or there.startswith(word[0].encode()))
