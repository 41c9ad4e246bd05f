"""TCL205: integer arguments that an operation specialises on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event, Operation, Store, Subscript, variation
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rules._numbers import numpy_on_sizes
from tclint.rules._scope import callee
from tclint.rules._state import changing
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes
from tclint.torch_facts import calls as asked
from tclint.torch_facts import facts
from tclint.torch_facts.facts import Places
from tclint.values import Dict, Object, Scalar, Seq, Tensor, Value
from tclint.values.evidence import Variation

_MORE: Final = {
    "Tensor.split": Places((0,), ("split_size",)),
    "torch.split": Places((1,), ("split_size_or_sections",)),
    "builtins.range": Places((0, 1, 2), ()),
}


class IntSpecialised(Rule):
    """An integer argument that an operation burns into the graph: one compilation for every new value.

    Integers as arguments usually settle after one recompile. Not where they choose a dimension, a number of chunks or
    classes, a kernel size, the count of a Python loop, an element of a ModuleList, or an index beside a slice (`x[:, i]`).
    Likewise a size: it stays a symbol in arithmetic and in `math.sqrt`, `ceil`, `floor` or `log2`, but not in `math.log`,
    `math.exp`, `math.pow` or a numpy function (`np.sqrt(x.shape[1])`), which are called with the number.

    Bad::

        @torch.compile
        def reduce(x, dim: int):
            return x.sum(dim)

        def train(x):
            return reduce(x, 0), reduce(x, 1), reduce(x, 2)

    Good::

        @torch.compile
        def reduce(x):
            return x.sum(-1)

        def train(x):
            return reduce(x)

    Fix: make it a constant; use a tensor index (`index_select`) for positions; loop in the caller; for sizes `n ** 0.5`,
    `math.sqrt`, `math.log2`.

    The confidence is high where the calls in sight pass three or more values, low where only the signature is known.
    """

    code, name = "TCL205", "int-specialised"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    subjects = {"subscript": (Tensor, Object, Dict, Seq)}
    calls = (*asked.burned("int"), *_MORE, "numpy.*")

    def on_call(self, event: Call) -> Iterator[Finding]:
        places = _MORE.get(event.name) or asked.burned("int", self.release).get(event.name)
        if event.name.startswith(("math.", "numpy.")):
            # numpy: the interpreter knows which of it is a number.
            if places is not None or event.name.startswith("numpy."):
                yield from self._folded(event)
            return
        if places is None:
            return
        floats = asked.burned("float", self.release).get(event.name, Places((), ()))
        values = [(event.args[i], i in floats.positions) for i in places.within(len(event.args))]
        values += [(event.keywords[n], n in floats.keywords) for n in places.keywords if n in event.keywords]
        # A number that may be a float, where floats are burnt in too: TCL204.
        mine = [
            value for value, shared in values if not (shared and isinstance(value, Scalar) and value.type == "number")
        ]
        yield from self._check(event, mine, event.method)
        if event.name == "builtins.range" and isinstance(event.node, ast.Call):
            yield from self._unrolled(event, event.node)

    def _unrolled(self, event: Call, node: ast.Call) -> Iterator[Finding]:
        """As many turns as something says that is no argument: state that changes, a value read out of the graph."""
        for value, place in zip(event.args, node.args, strict=False):
            if isinstance(place, ast.Constant):
                continue
            if isinstance(place, ast.Call) and callee(place) not in facts.named("chooses or cuts a number"):
                continue  # how long something is, is no value that was read
            read = isinstance(value, Scalar) and value.source == "data"
            if read and event.ask.runs_eagerly():
                return  # a break in a loop has sent the function to eager: nothing is unrolled
            changed = None if read else changing(event, place)
            if read or changed is not None:
                name = changed[0] if changed is not None else ast.unparse(place)
                yield self.finding(
                    event,
                    f"`range` is unrolled, and `{name}` {_how(changed)}: each new value compiles again",
                    confidence=Confidence.MEDIUM if read else Confidence.HIGH,
                    help="loop in eager code around a compiled step, or always make the same number of turns",
                )
                return

    def _folded(self, event: Call) -> Iterator[Finding]:
        """A size handed to a function that takes numbers alone."""
        if not isinstance(event.result, Scalar):
            return  # an array: reading it breaks the graph, which TCL103 says
        for value in event.args:
            if not (isinstance(value, Scalar) and value.source == "size"):
                continue
            sizes = event.evidence.sizes(*value.ref) if event.evidence is not None and value.ref is not None else []
            if sizes and len(set(sizes)) <= variation.SETTLES:
                continue
            said = event.evidence.sized(*value.ref) if event.evidence is not None and value.ref is not None else ""
            short = f"{event.name.partition('.')[0].replace('numpy', 'np')}.{event.method}"
            yield self.finding(
                event,
                f"`{short}` is called with the number{variation.told(said)}: each new size compiles again",
                confidence=Confidence.HIGH if sizes else Confidence.LOW,
                help="use `** 0.5`, math.sqrt, math.ceil, math.floor or math.log2, which take a symbol",
            )
            return

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Call) and event.name.startswith("numpy.") and isinstance(event.node, ast.Call):
            return numpy_on_sizes(event, event.node)
        return None

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        if isinstance(event.receiver, Object) and event.receiver.name == "torch.nn.ModuleList":
            bounds = event.index.items if isinstance(event.index, Seq) and event.index.kind == "slice" else None
            yield from self._check(event, list(bounds) if bounds else [event.index])
            if isinstance(event.index, Scalar) and event.index.source == "data" and event.index.type != "float":
                yield self.finding(
                    event,
                    f"`{_source(event.node)}` takes another module for each value that was read out of the graph:"
                    " each compiles again",
                    confidence=Confidence.MEDIUM,
                    help="choose the module in eager code, or run all of them and weight their outputs",
                )
        elif isinstance(event.receiver, Tensor):
            yield from self._position(event, event.index)
        elif isinstance(event.index, Scalar) and event.index.type == "int":
            yield from self._looked_up(event, event.index)

    def _looked_up(self, event: Subscript, index: Scalar) -> Iterator[Finding]:
        """`TABLE[x.shape[1]]`: a dict or list of Python is asked with the number."""
        if isinstance(event.receiver, Seq) and event.receiver.kind not in ("list", "tuple"):
            return
        if _is_cache(event):
            return
        if index.source == "arg":
            yield from self._check(event, [index])
        elif index.source == "size":
            help = "look it up in the caller and pass what was found, or keep a tensor and slice it"
            yield from self._sized(event, index, "looks something up with a size", help)

    def _sized(self, event: Event, size: Scalar, what: str, help: str) -> Iterator[Finding]:
        confidence, said = variation.of_sizes(event, [size])
        if confidence is Confidence.HIGH:
            yield self.finding(
                event,
                f"`{_source(event.node)}` {what}{variation.told(said)}: each new size compiles again",
                confidence=confidence,
                help=help,
            )

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        """`{n: x}`, `[x] * n`: a dict is keyed by the number, a list is as long as it says."""
        if event.operator == "key":
            yield from self._kept(event, event.left, "is the key of an entry", "let the caller name what comes out")
        elif event.operator == "repeat":
            help = "use `expand` or `repeat` of a tensor, or always the same number"
            yield from self._kept(event, event.right, "says how long a list is", help)

    def _kept(self, event: Event, number: Value | None, what: str, help: str) -> Iterator[Finding]:
        if isinstance(number, Scalar) and number.type == "int":
            if number.source == "arg":
                yield from self._check(event, [number])
            elif number.source == "size":
                yield from self._sized(event, number, what, help)

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target == "subscript" and isinstance(event.receiver, Tensor) and event.index is not None:
            yield from self._position(event, event.index)
        elif event.target == "subscript" and isinstance(event.receiver, Dict) and not _is_cache(event):
            yield from self._kept(event, event.index, "is the key of an entry", "let the caller name what comes out")

    def _position(self, event: Event, index: Value) -> Iterator[Finding]:
        """`x[:, i]` and `x[..., i]` specialise; `x[i]` and `x[:, i:i+1]` do not."""
        if isinstance(index, Seq) and index.kind == "tuple" and index.items is not None and len(index.items) > 1:
            if not isinstance(index.items[0], Scalar):
                yield from self._check(event, list(index.items[1:]))

    def _check(self, event: Event, values: list[Value], what: str = "") -> Iterator[Finding]:
        for value in values:
            if isinstance(value, Seq) and value.items and _burns_tuples(event):
                value = next((item for item in value.items if isinstance(item, Scalar)), value)
            if not (isinstance(value, Scalar) and value.source == "arg" and value.type in ("int", "number")):
                continue
            confidence, said = variation.burned(event, value)
            if confidence is None:
                continue
            name = value.ref[0] if value.ref else "the argument"
            yield self.finding(
                event,
                f"`{what or _source(event.node)}` specialises on the integer `{name}`{variation.told(said)}:"
                " each new value compiles again",
                confidence=confidence,
                help="make it a constant, or use a tensor index",
            )
            return


def _is_cache(event: Event) -> bool:
    """A dict that is asked whether it has the key: TCL212 speaks of it."""
    node = event.node.targets[0] if isinstance(event.node, ast.Assign) else event.node
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) in event.ask.of_scope(_asked_for)


def _burns_tuples(event: Event) -> bool:
    return isinstance(event, Call) and event.name in facts.named("burns the numbers of a tuple")


def _source(node: ast.AST) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else node
    text = ast.unparse(target)
    return text if len(text) <= 40 else text[:37] + "…"


def _asked_for(root: ast.AST) -> frozenset[str]:
    """The containers that a function asks whether they hold something."""
    asked = (n for n in nodes(root) if isinstance(n, ast.Compare) and isinstance(n.ops[0], (ast.In, ast.NotIn)))
    return frozenset(ast.unparse(node.comparators[0]) for node in asked)


def _how(changed: tuple[str, Variation] | None) -> str:
    if changed is None:
        return "changes from call to call"
    _, varied = changed
    return f"varies ({varied.said})" if varied.how == "passed" else f"is {varied.said}"
