"""TCL126: functions that a higher-order operator does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules import _operands
from tclint.ruleset.rule import Rule
from tclint.torch_facts import facts, traits
from tclint.torch_facts.operators import OPERATORS
from tclint.values import Const, FunctionValue, Instance, Object, Seq, Tensor, Value

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class HigherOrderOp(Rule):
    """A branch of `torch.cond`, or the body of a loop, that the operator cannot take.

    `torch.cond` and `while_loop` become one node of the graph with a graph for each function. A function that returns
    what it was given, changes it in place, or returns something of another structure than its twin has no such graph:
    torch raises `UncapturedHigherOrderOpError`.

    Bad::

        def f(x):
            return torch.cond(x.sum() > 0, lambda t: t, lambda t: t + 1, (x,))

    Good::

        def f(x):
            return torch.cond(x.sum() > 0, lambda t: t.clone(), lambda t: t + 1, (x,))

    Fix: `.clone()` what is returned as it came, write out of place, return the same structure from both, and give the
    operands as a tuple.
    """

    code, name = "TCL126", "higher-order-op"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    torch = ">=2.8"
    graph_breaks = (
        *(
            "GB0040",
            "GB0041",
            "GB0301",
            "GB0302",
            "GB0303",
            "GB0304",
            "GB0309",
            "GB0310",
            "GB0311",
            "GB0312",
            "GB0313",
            "GB0314",
        ),
        *("GB0315", "GB0316", "GB0317", "GB0318", "GB0319", "GB0320", "GB0321", "GB0322", "GB0323", "GB0324", "GB0325"),
        *("GB0326", "GB0339", "GB0340", "GB0341", "GB0342", "GB0343", "GB0350", "GB0351"),
    )
    calls = (*facts.named("chooses between functions"), *facts.named("repeats a function"), *OPERATORS)

    def on_call(self, event: Call) -> Iterator[Finding]:
        what, ids = self._wrong(event), None
        told = _operands.refused(event, self.release) if what is None and event.name in OPERATORS else None
        if told is not None:
            what, ids = told
        if what is not None:
            yield self.finding(
                event,
                f"{what}; `{event.method}` cannot be captured and raises",
                confidence=Confidence.HIGH,
                graph_breaks=ids,
                help="clone what is returned as it came, write out of place, give the operands as a tuple",
            )

    def _wrong(self, event: Call) -> str | None:
        chooses = event.name in facts.named("chooses between functions")
        if not chooses and event.name not in facts.named("repeats a function"):
            return None
        first = 1 if chooses else 0
        functions = event.args[first : first + 2]
        if len(functions) != 2:
            return None
        operands = event.args[first + 2] if len(event.args) > first + 2 else None
        return _wrong(functions, operands, chooses)


def _wrong(functions: Sequence[Value], operands: Value | None, chooses: bool) -> str | None:
    """What is wrong with the functions or the operands, as far as it shows."""
    for each in functions:
        if isinstance(each, (Const, Tensor)):
            return "what stands for a function cannot be called"
    if chooses and isinstance(operands, Tensor):
        return "the operands are a tensor and not a tuple"
    if chooses and isinstance(operands, Seq) and any(_is_no_data(each) for each in operands.items or ()):
        return "an operand is an object, and neither a tensor nor a number"
    nodes = [each.function.node for each in functions if isinstance(each, FunctionValue)]
    if len(nodes) != 2:
        return None
    if not chooses and _returned(nodes[0]) and all(_is_true(each) for each in _returned(nodes[0])):
        return "the condition is always true"
    for node in nodes[0 if chooses else 1 :]:
        own = _parameters(node)
        if any(isinstance(part, ast.Name) and part.id in own for each in _returned(node) for part in _parts(each)):
            return "a function returns what it was given"
        if any(_is_view(part, own) for each in _returned(node) for part in _parts(each)):
            return "a function returns a view of what it was given"
    for node in nodes:
        if _writes(node, _parameters(node)):
            return "a function changes what it was given in place"
    if any(_writes(each.function.node, _captured(each)) for each in functions if isinstance(each, FunctionValue)):
        return "a function changes in place what it captures"
    if any(_is_no_number(part) for node in nodes for each in _returned(node) for part in _parts(each)):
        return "a function returns what is neither a tensor nor a whole number"
    if chooses and len({_structure(each) for node in nodes for each in _returned(node)} - {None}) > 1:
        return "the two functions return different structures"
    return None


def _is_no_data(value: Value) -> bool:
    """Whether this is a module, a function or an object of the program: the graph has no such inputs."""
    module = isinstance(value, Object) and value.name.startswith("torch.nn.")
    return module or isinstance(value, (Instance, FunctionValue))


def _captured(value: FunctionValue) -> frozenset[str]:
    """The names of the function around that a function reads and that hold tensors."""
    around = value.closure or {}
    return frozenset(name for name in value.function.free_names() if isinstance(around.get(name), Tensor))


def _returned(node: _FunctionNode) -> list[ast.expr]:
    if isinstance(node, ast.Lambda):
        return [node.body]
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None]


def _parts(value: ast.expr) -> list[ast.expr]:
    return list(value.elts) if isinstance(value, (ast.Tuple, ast.List)) else [value]


def _is_view(value: ast.expr, own: frozenset[str]) -> bool:
    """`t.view(-1)`, `t[:2]`, `t.T` of a parameter."""
    if isinstance(value, ast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        plain = all(isinstance(part, (ast.Slice, ast.Constant)) for part in parts)
        return plain and isinstance(value.value, ast.Name) and value.value.id in own
    method = value.func if isinstance(value, ast.Call) else None
    owner = method.value if isinstance(method, ast.Attribute) else None
    views = isinstance(method, ast.Attribute) and traits.is_view(method.attr)
    return views and isinstance(owner, ast.Name) and owner.id in own


def _parameters(node: _FunctionNode) -> frozenset[str]:
    """The parameters that keep what they were given."""
    given = {each.arg for each in (*node.args.posonlyargs, *node.args.args)}
    bound = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return frozenset(given - bound)


def _writes(node: _FunctionNode, own: frozenset[str]) -> bool:
    """Whether a method with `_` at its end is called on a parameter, or an element of one is written."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            method, owner = each.func.attr, each.func.value
            in_place = method.endswith("_") and not method.endswith("__")
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            in_place, owner = True, each.value
        else:
            continue
        if in_place and isinstance(owner, ast.Name) and owner.id in own:
            return True
    return False


def _structure(value: ast.expr) -> int | None:
    """How many values come out: those of a display, one of an operation; None where that is not certain."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return len(value.elts) if not any(isinstance(each, ast.Starred) for each in value.elts) else None
    return 1 if isinstance(value, (ast.BinOp, ast.UnaryOp)) else None


def _is_no_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is not None and not isinstance(value.value, int)


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True
