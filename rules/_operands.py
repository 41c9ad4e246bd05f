"""The operands and results that a higher-order operator refuses, as far as values and the functions' text show them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from tclint.events import Call
from tclint.rules._protocols import registered
from tclint.torch_facts import facts
from tclint.torch_facts.operators import OPERATORS, Operator, Place
from tclint.values import ClassValue, Const, Dict, FunctionValue, Instance, Partial, Seq, Tensor, Value

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SYMBOLIC = "not assume_static_by_default"


Wrong = tuple[str, str]
"""What is wrong, and under which word the operator has the graph break."""


def refused(event: Call, release: str) -> tuple[str, tuple[str, ...]] | None:
    """What is wrong with a call of a higher-order operator, in words, and the graph break that tells it."""
    operator = OPERATORS[event.name]
    call = event.node
    if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    if any(each.arg is None for each in call.keywords):
        return None
    wrong = _wrong(event, operator)
    if wrong is None:
        return None
    text, word = wrong
    if word == "row" and not facts.holds(operator.rows, int(release.split(".")[1])):
        return None
    return text, (operator.ids[word],) if word in operator.ids else ()


def _wrong(event: Call, operator: Operator) -> Wrong | None:
    names = [place.name for place in operator.places]
    if event.keywords and not operator.keywords:
        return "its arguments are given by name", "arguments"
    if operator.exact and _is_other_number(operator, event.args, event.keywords):
        return f"it takes {len(names)} arguments, {', '.join(f'`{name}`' for name in names)}", "arguments"
    given = {**dict(zip(names, event.args, strict=False)), **event.keywords}
    for place in operator.places:
        value = given.get(place.name)
        wrong = _misplaced(place, value, len(event.args)) if value is not None else None
        if wrong is not None:
            return f"`{place.name}` {wrong[0]}", wrong[1]
    if operator.rest == "values" and any(_is_foreign(event, each) for each in event.args[len(names) :]):
        return "an object is among what every turn gets, and only tensors and numbers can be", "rest"
    functions = [each for each in given.values() if isinstance(each, FunctionValue)]
    return next((wrong for each in functions if (wrong := _returned_wrong(event, operator, each))), None)


def _is_other_number(operator: Operator, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    names = [place.name for place in operator.places]
    return len(args) + len(keywords) > len(names) or any(
        place.needed and place.name not in keywords for place in operator.places[len(args) :]
    )


def _misplaced(place: Place, value: Value, ordered: int) -> Wrong | None:
    """What is wrong with an argument where it stands, among so many that are given in order."""
    if place.takes == "predicate" and isinstance(value, (Seq, Dict, FunctionValue, Partial, ClassValue)):
        return "is neither a tensor nor a flag", place.name
    if place.takes == "wrapped" and isinstance(value, FunctionValue):
        return "is not a `functools.partial`", place.name
    if place.takes == "bare" and isinstance(value, Partial) and ordered != 2:
        return "is a `functools.partial`", place.name
    if place.takes not in ("several", "tensors", "leaves", "rows"):
        return None
    if isinstance(value, Tensor) or (isinstance(value, Const) and value.value is None):
        return "is not a list or a tuple", place.name
    items = value.items if isinstance(value, Seq) and value.kind in ("list", "tuple") else None
    if items is None or place.takes == "several":
        return None
    if place.takes == "leaves" and not items:
        return "holds no tensor", "empty"
    if any(isinstance(each, Const) for each in items):
        return "holds what is no tensor", "leaf"
    if place.takes == "rows" and items and isinstance(items[0], Tensor) and _has_no_row(items[0]):
        return "begins with a tensor that has no row", "row"
    return None


def _has_no_row(value: Tensor) -> bool:
    return value.ndim == 0 or (isinstance(value.shape, tuple) and bool(value.shape) and value.shape[0] == 0)


def _is_foreign(event: Call, value: Value) -> bool:
    """Whether it is an object of a class of the program's own that stands below nothing: torch takes no such thing apart."""
    if not isinstance(value, Instance) or value.cls.node.bases or value.cls.node.decorator_list:
        return False
    return value.cls.name not in event.ask.of_file(registered)


def _returned_wrong(event: Call, operator: Operator, value: FunctionValue) -> Wrong | None:
    results = list(returned(value.function.node))
    if operator.returns == "pair" and any(_count(each) not in (None, 2) for each in results):
        return "the function does not return the carry and an output, a pair", "pair"
    if operator.returns == "like" and any(_is_nothing(each) for each in results):
        return "the function returns nothing", "nothing"
    if operator.returns == "like" and any(_is_no_tuple(each) for each in results):
        return "the function does not return a tuple as the operands are one", "like"
    if not operator.plain:
        return None
    parts = [part for each in results for part in (each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each])]
    if any(isinstance(part, ast.Constant) and part.value is None for part in parts):
        return "a function returns None", "none"
    symbolic = event.configured(_SYMBOLIC) or (event.site is not None and event.site.dynamic is True)
    if symbolic and any(_is_size(part, value.function.node) for part in parts):
        return "a function returns a size, and sizes are symbols here", "size"
    return None


def returned(node: FunctionNode) -> Iterator[ast.expr]:
    """What a function returns, as it is written."""
    if isinstance(node, ast.Lambda):
        yield node.body
        return
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(each, ast.Return) and each.value is not None:
            yield each.value
        waiting += ast.iter_child_nodes(each)


def _count(value: ast.expr) -> int | None:
    """How many values come out, where the text says so: those of a display, one of an operation."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return len(value.elts) if not any(isinstance(each, ast.Starred) for each in value.elts) else None
    return 1 if isinstance(value, (ast.BinOp, ast.UnaryOp)) else None


def _is_nothing(value: ast.expr) -> bool:
    return isinstance(value, ast.Tuple) and not value.elts


def _is_no_tuple(value: ast.expr) -> bool:
    return isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Dict, ast.Constant))


def _is_size(value: ast.expr, node: FunctionNode) -> bool:
    """`t.shape[0]` of a parameter, `t.size(0)`."""
    own = {each.arg for each in (*node.args.posonlyargs, *node.args.args)}
    if isinstance(value, ast.Subscript):
        whole = value.value
        is_size = isinstance(whole, ast.Attribute) and whole.attr == "shape" and isinstance(value.slice, ast.Constant)
    elif isinstance(value, ast.Call):
        whole = value.func
        is_size = isinstance(whole, ast.Attribute) and whole.attr == "size" and len(value.args) == 1
    else:
        return False
    return is_size and isinstance(whole, ast.Attribute) and isinstance(whole.value, ast.Name) and whole.value.id in own
