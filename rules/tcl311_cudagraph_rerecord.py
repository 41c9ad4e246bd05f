"""TCL311: inputs of a CUDA graph that vary from call to call."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Final

from tclint.events import Attribute, CompiledCall, Rerun, Store
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._moves import Moves
from tclint.ruleset.rule import Rule
from tclint.sources.tree import names_read, nodes, text
from tclint.torch_facts import facts
from tclint.values import (
    PARAMETER,
    UNKNOWN,
    Const,
    Dict,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    tensor_of,
)
from tclint.values.constant import is_none

_DYNAMIC: Final = 2
"""The sizes that one program for all sizes is recorded for before that is a habit."""
_LOOPS: Final = ("for", "while")
_STATIC: Final = 3
"""The same where the first size is compiled by itself."""


class CudagraphRerecord(Rule):
    """A CUDA-graph callable gets inputs that vary: a new recording for every shape, or none at all.

    A CUDA graph is one fixed piece of work. Every new shape is recorded anew (a warning after 8), also where `dynamic=True`
    or a mark makes one program serve them all; so is every new value of a Python int (a counted position); a Python float
    that varies becomes a CPU input, which skips the graph; a parameter whose `.data` is replaced, or a buffer that is bound to another
    tensor, moves to another address, which records again.

    Bad::

        @torch.compile(mode="reduce-overhead")
        def f(x, scale: float):
            return x * scale

        @torch.no_grad()
        def caller(x):
            for step in range(100):
                f(x, 0.1 / (1 + step))

    Good::

        @torch.compile(mode="reduce-overhead")
        def f(x):
            return x * 2

        @torch.no_grad()
        def caller(x):
            for step in range(100):
                f(x) * (0.1 / (1 + step))

    Fix: pad to a few fixed shapes; pass a device tensor for the number; `p.data.copy_(new)`; or drop `reduce-overhead`.
    """

    code, name = "TCL311", "cudagraph-rerecord"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    scope = "any"
    subjects = {"attribute": (Instance,)}

    def __init__(self) -> None:
        super().__init__()
        self._passed: dict[tuple[object, ...], list[object]] = {}
        """The numbers and shapes that a call passes, by its place, the entry and the argument: a loop passes one after the other."""
        self._moves = Moves()
        self._read: set[tuple[str, str, str]] = set()
        """The attributes that graphs read and eager code binds."""

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        if event.compiled and event.cudagraphs and isinstance(event.receiver, Instance):
            self._read.add(_place(event.receiver, event.name))
        return iter(())

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        if not event.callee.site.cudagraphs or not isinstance(event.node, ast.Call):
            return
        for moved in self._moves.at_run(event):
            yield self._finding(moved, _moved(moved))
        goes_on = any(first <= event.node.lineno <= last for first, last in event.ask.of_scope(_counting_loops))
        limit = _DYNAMIC if event.callee.site.dynamic is True else _STATIC
        # What two entries pass, a test and a script perhaps, need not be passed in one run.
        place = (event.module.path, event.node.lineno, event.node.col_offset, event.callee.key, event.ask.root())
        for argument, given in (*enumerate(event.args), *event.keywords.items()):
            value = _present(given)
            if isinstance(value, Scalar) and _in_loop(event):
                made = value.type == "float" and not value.source and _made_in_loop(event, argument)
                if value.source in ("counted", "random") or made:
                    yield self._finding(event, f"a Python {value.type} that varies is passed to a CUDA-graph callable")
                    return
            if isinstance(value, (Seq, Dict)) and event.evidence is not None:
                name = f"argument {argument}" if isinstance(argument, int) else str(argument)
                many = event.evidence.lengths(name)
                if many > _STATIC:
                    said = event.evidence.shown(name)
                    yield self._finding(event, f"a CUDA-graph callable gets a container of {many} lengths ({said})")
                    return
            seen = self._passed.setdefault((*place, argument), [])
            if isinstance(value, Const) and type(value.value) in (int, float) and value.value not in seen:
                seen.append(value.value)
                # The second float is an input already, and one on the CPU.
                if len(seen) > (limit if type(value.value) is int else 1) or goes_on and _counts_up(seen):
                    numbers = ", ".join(map(str, seen))
                    kind = type(value.value).__name__
                    yield self._finding(
                        event, f"a Python {kind} that varies ({numbers}, …) is passed to a CUDA-graph callable"
                    )
                    return
            if isinstance(value, Tensor) and value.shape is not None:
                shapes = value.shape if isinstance(value.shape, frozenset) else {value.shape}
                seen.extend(shape for shape in shapes if shape not in seen)
                if len(seen) > (_DYNAMIC if value.marks else limit) or goes_on and _counts_up(seen):
                    some = ", ".join(map(_sizes, sorted(map(str, seen))[:3]))
                    yield self._finding(
                        event, f"a CUDA-graph callable gets {len(seen)} shapes ({some}, …), each recorded anew"
                    )
                    return
            if isinstance(value, Tensor) and value.marks and value.shape is None:
                yield self._finding(event, "a CUDA-graph callable gets a tensor with a dimension marked dynamic")
                return
            if isinstance(value, Tensor) and _in_loop(event) and _sized_at_random(event, value):
                yield self._finding(event, "a CUDA-graph callable gets a tensor of a random size in every turn")
                return
        growing = event.ask.of_scope(_grown) if event.enclosing is not None else {}
        for argument in event.node.args:
            grown = growing.get(argument.id) if isinstance(argument, ast.Name) else None
            if grown is not None:
                yield self._finding(event, "an input of a CUDA-graph callable grows in every call", grown)
                return

    def on_rerun(self, event: Rerun) -> Iterator[Finding]:
        for moved in self._moves.at_run(event):
            yield self._finding(moved, _moved(moved))

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.compiled or event.constructing or event.augmented or event.target != "attribute":
            return
        if self._binds_parameter(event) and self._moves.at_store(event):
            yield self._finding(event, _moved(event))

    def _binds_parameter(self, event: Store) -> bool:
        """Whether a parameter or buffer that a graph reads is bound to another tensor, or its memory is."""
        owner, tensor = event.receiver, tensor_of(event.receiver)
        if event.name == "data" and tensor is not None:
            return bool(tensor.flags & PARAMETER)
        if tensor_of(event.value) is None:
            return False
        if isinstance(owner, Object):
            return owner.kind == "module" and event.name in facts.named("is a parameter or buffer of torch's modules")
        if not isinstance(owner, Instance) or not event.ask.is_nn_module(owner.cls):
            return False
        held = tensor_of(event.ask.attributes(owner).get(event.name, UNKNOWN))
        return held is not None and _place(owner, event.name) in self._read

    def _finding(self, event: CompiledCall | Store, what: str, node: ast.AST | None = None) -> Finding:
        return self.finding(
            event,
            f"{what}: each variation records a new graph or skips it",
            node=node,
            confidence=Confidence.HIGH,
            help="pad to fixed shapes, pass device tensors, write parameters in place",
        )


def _present(value: Value) -> Value:
    """What is passed where it is not None: `n if … else None` is one or the other for the whole run."""
    if isinstance(value, Union):
        present = [option for option in value.options if not is_none(option)]
        return present[0] if len(present) == 1 else value
    return value


def _made_in_loop(event: CompiledCall, argument: object) -> bool:
    """Whether what is passed is computed in the loop around the call; what comes from outside stays the same."""
    call = event.node
    assert isinstance(call, ast.Call)
    if isinstance(argument, str):
        node = next((keyword.value for keyword in call.keywords if keyword.arg == argument), None)
    else:
        node = call.args[argument] if isinstance(argument, int) and argument < len(call.args) else None
    if node is None or isinstance(node, ast.Starred):
        return False
    loops = [n for n in event.ask.of_scope(_loops) if n.lineno <= call.lineno <= (n.end_lineno or 0)]
    bound = {n.id for loop in loops for n in nodes(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return not isinstance(node, (ast.Name, ast.Attribute)) or bool(names_read([node]) & bound)


def _loops(root: ast.AST) -> list[ast.For | ast.While]:
    return [node for node in nodes(root) if isinstance(node, (ast.For, ast.While))]


def _sizes(shape: str) -> str:
    return shape.replace("None", "?").strip("(),").replace(", ", "×")


def _counting_loops(root: ast.AST) -> list[tuple[int, int]]:
    """The lines of loops that count, and nobody knows how far: of these only the first turns are walked."""
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in nodes(root)
        if isinstance(node, ast.While)
        or isinstance(node, ast.For)
        and isinstance(node.iter, ast.Call)
        and text(node.iter.func) in ("range", "enumerate", "itertools.count", "count", "tqdm")
        and not _few_turns(node.iter)
    ]


def _few_turns(loop: ast.Call) -> bool:
    """`range(3)`: fewer than four, written out."""
    bounds = [argument.value for argument in loop.args if isinstance(argument, ast.Constant)]
    if text(loop.func) != "range" or len(bounds) != len(loop.args) or not all(isinstance(b, int) for b in bounds):
        return False
    return 0 not in bounds[2:] and len(range(*bounds)) <= _STATIC  # type: ignore[arg-type]


def _counts_up(seen: list[object]) -> bool:
    """Whether three numbers or more, or one size of as many shapes, go up or down in equal steps."""
    if len(seen) <= _DYNAMIC:
        return False
    rows = [value if isinstance(value, tuple) else (value,) for value in seen]
    columns = [set(column) for column in zip(*rows, strict=False)]
    varying = [i for i, column in enumerate(columns) if len(column) > 1]
    if len(varying) != 1 or len({len(row) for row in rows}) != 1:
        return False
    numbers = [row[varying[0]] for row in rows]
    if not all(isinstance(number, int) for number in numbers):
        return False
    return len({b - a for a, b in itertools.pairwise(numbers)}) == 1


def _sized_at_random(event: CompiledCall, value: Tensor) -> bool:
    """Whether the expression that made a tensor uses a random number for a size: `torch.randn(2, n)`, `x[:, :n]`."""
    made = value.origin.node
    if value.shape is None or None not in value.shape or not isinstance(made, (ast.Call, ast.Subscript)):
        return False
    names = (node.id for node in ast.walk(made) if isinstance(node, ast.Name))
    return any(isinstance(size := event.ask.local(name), Scalar) and size.source == "random" for name in names)


def _moved(event: Store) -> str:
    if event.name == "data":
        return "a parameter is moved to another address (`.data = …`)"
    return f"`.{event.name}` is bound to another tensor, at another address"


def _place(owner: Instance, name: str) -> tuple[str, str, str]:
    return (owner.cls.module.path, owner.cls.qualname, name)


def _in_loop(event: CompiledCall) -> bool:
    return any(b in _LOOPS for b in event.blocks)


def _grown(root: ast.AST) -> dict[str, ast.AST]:
    """By name, `name = torch.cat([name, …])` in a loop."""
    found: dict[str, ast.AST] = {}
    for loop in ast.walk(root):
        for node in ast.walk(loop) if isinstance(loop, (ast.For, ast.While)) else ():
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
                called, target, parts = node.value.func, node.targets[0], node.value.args[0]
                names = {p.id for p in getattr(parts, "elts", ()) if isinstance(p, ast.Name)}
                if isinstance(called, ast.Attribute) and called.attr in ("cat", "concat"):
                    if isinstance(target, ast.Name) and target.id in names:
                        found.setdefault(target.id, node)
    return found
