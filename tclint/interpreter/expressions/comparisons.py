"""Comparisons."""

from __future__ import annotations

import ast
from typing import Final

from tclint import events
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.frame import Frame
from tclint.torch_facts import facts
from tclint.values import (
    BOOL,
    FALSE,
    NAMED,
    TRUE,
    Const,
    External,
    Instance,
    Member,
    Object,
    Scalar,
    Seq,
    Tensor,
    Value,
    join,
    join_all,
    tensor_of,
)
from tclint.values.constant import is_none
from tclint.values.operators import asked
from tclint.values.scalar import ADDRESSES, ENVIRONMENT, computed
from tclint.values.union import compare_each, values_of
from tclint.values.value import NUMBER

_ORDERINGS: Final = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"})
_SAME: Final = (ast.Is, ast.Eq, ast.In)
_IDENTITY: Final = (ast.Is, ast.IsNot)
_VIEWS: Final = facts.named("gives a view of a dict")


def _compare(frame: Frame, node: ast.Compare) -> Value:
    looks = frame.region is None and type(node.ops[0]) in _IDENTITY
    left = _looked_at(frame, node.left) if looks else evaluate(frame, node.left)
    if len(node.ops) == 1:
        right = evaluate(frame, node.comparators[0])
        result = compare(frame, node, type(node.ops[0]).__name__, left, right)
        same = _is_of_type(frame, node, right) if result is BOOL else None
        return result if same is None else TRUE if same is (type(node.ops[0]) in _SAME) else FALSE
    result = TRUE
    told: set[object] = set()
    for i, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = evaluate(frame, comparator)
        result = compare(frame, node, type(op).__name__, left, right)
        if i < len(node.ops) - 1 and result.key not in told:
            # The whole chain is what branches: once for all links that are alike.
            told.add(result.key)
            frame.interp.emitter.branch(frame, node, result, "comparison chain")
        left = right
    return result


def _is_of_type(frame: Frame, node: ast.Compare, wanted: Value) -> bool | None:
    """`type(n) is int`, `type(n) in [int, float]`: whether a value is of one of these types and no other, where that is certain."""
    asked_of = of_type(node)
    if asked_of is None:
        return None
    with frame.interp.emitter.silence:
        value = evaluate(frame, asked_of)
    answers = [value.is_a(each) for each in wanted.types()]
    if answers and all(answer is False for answer in answers):
        return False
    exact = any(isinstance(each, External) and each.name == f"builtins.{value.python_type}" for each in wanted.types())
    return True if exact and value.is_none() is not None else None


def of_type(node: ast.Compare) -> ast.expr | None:
    """What is asked for its type in `type(x) is …`."""
    called = node.left
    if isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id == "type":
        return called.args[0] if len(called.args) == 1 and not called.keywords else None
    return None


def _looked_at(frame: Frame, node: ast.expr) -> Value:
    """What a name or an attribute holds. `self.last is None` reads nothing of what a graph has overwritten."""
    if type(node) is ast.Name:
        value = frame.env.get(node.id)
        return value if value is not None else evaluate(frame, node)
    if type(node) is ast.Attribute and type(node.value) is ast.Name:
        value = frame.env.get(f"{node.value.id}.{node.attr}") if node.value.id in frame.paths else None
        if value is None:
            value = frame.interp.graph_memory.held(evaluate(frame, node.value), node.attr)
        if value is not None:
            return value
    return evaluate(frame, node)


def compare(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """The value of `left operator right`, the operator by the name of its node."""
    if operator in _ORDERINGS:
        if (
            frame.region is not None
            and isinstance(left, External)
            and left.name == "numpy.dtype()"
            and not _of_torch(right)
        ):
            frame.interp.emitter.feature(frame, node, "comparison with a dtype of numpy")
        # A part of it, as in `sys.version_info[:2]`, is a plain tuple.
        if frame.region is not None and isinstance(left.options[0], External) and not _is_part(node):
            if all(isinstance(option, External) for option in left.options):  # whichever it is, it is asked
                frame.interp.emitter.feature(frame, node, f"comparison of {left.options[0].name}")
        if operator in ("Eq", "NotEq") and _is_word_asked(left, right):
            return BOOL
        strongest = left if left.rank >= right.rank else right
        if isinstance(right if strongest is left else left, Instance) and not isinstance(strongest, Instance):
            # The tensor decides what comes out; an object of the program is asked all the same.
            frame.interp.emitter.operation(frame, node, operator, left, right)
        answer = _versions(frame, operator, left, right)
        if answer is None:
            answer = strongest.compare(frame, node, operator, left, right)
        if answer is None and strongest.rank == NUMBER:
            answer = compare_each(operator, left, right)
        return answer if answer is not None else _plain(frame, node, left, right)
    if operator in ("Is", "IsNot"):
        if any(option.source == ENVIRONMENT for option in left.options[1:]) and is_none(right):
            return join_all(
                Scalar("bool", ENVIRONMENT, frame.origin(node))
                if option.source
                else compare(frame, node, operator, option, right)
                for option in left.options
            )
        same = _identical(left, right)
        if same is None:
            return BOOL
        return TRUE if same is (operator == "Is") else FALSE
    if any(option.source == ENVIRONMENT for option in left.options[1:]):
        return join_all(compare(frame, node, operator, option, right) for option in left.options)
    if left.source == ENVIRONMENT:
        return Scalar("bool", ENVIRONMENT, frame.origin(node))
    if isinstance(right, External) and right.name == "os.environ":
        frame.interp.emitter.emit(events.Operation, frame, node, operator, left, right)
        return join(FALSE if operator == "In" else TRUE, Scalar("bool", ENVIRONMENT, frame.origin(node)))
    answers = {right.has(option) for option in values_of(left) or left.options}
    if len(answers) == 1 and (found := answers.pop()) is not None:
        if frame.region is not None and (part := _view(node)):  # Dynamo walks it, however well it is known
            frame.interp.emitter.feature(frame, node, f"member of the {part} of a dict")
        return TRUE if found is (operator == "In") else FALSE
    frame.interp.emitter.emit(events.Operation, frame, node, operator, left, right)
    if isinstance(right, Instance) and frame.interp.classes.find_method(right.cls, "__contains__") is not None:
        right.call_method(frame, node, "__contains__", [left], {})
    if isinstance(right, Object):
        asked(frame, node, right, right.name, operator, left)
    if frame.region is not None and isinstance(right, Seq) and isinstance(left, Instance):
        if isinstance(held := right.element(), Instance):
            _ask_equal(frame, node, held, left)
    return BOOL


def _versions(frame: Frame, operator: str, left: Value, right: Value) -> Value | None:
    """`sys.version_info >= (3, 8)`, as the Python that runs the program answers."""
    runs = frame.interp.options.python
    asked = (
        right.known_items(frame) if isinstance(left, External) and left.name == "sys.version_info" and runs else None
    )
    numbers = [each.value for each in asked or () if isinstance(each, Const) and type(each.value) is int]
    if asked is None or len(numbers) != len(asked) or operator not in ("Lt", "GtE"):
        return None
    return TRUE if (runs < tuple(numbers[:2])) is (operator == "Lt") else FALSE


def _of_torch(value: Value) -> bool:
    """Whether a value is one of torch's own: `mask.dtype == torch.bool` is asked of a tensor, whatever else it may be."""
    return isinstance(value, External) and value.name.startswith("torch.")


def _view(node: ast.AST) -> str:
    """`values` where what is asked is `d.values()`."""
    asked_of = node.comparators[0] if isinstance(node, ast.Compare) else None
    func = asked_of.func if isinstance(asked_of, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) and func.attr in _VIEWS else ""


def _is_part(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Subscript)


def _ask_equal(frame: Frame, node: ast.AST, held: Instance, wanted: Instance) -> None:
    """A search in a list asks what it holds whether it is equal."""
    if frame.interp.classes.find_method(held.cls, "__eq__") is not None:
        held.call_method(frame, node, "__eq__", [wanted], {})


def _is_word_asked(left: Value, right: Value) -> bool:
    """`scale == "auto"`, `k1 == None` of what may be a tensor: of one it is False without a look at its values."""
    word, other = (right, left) if isinstance(right, Const) else (left, right)
    if not (is_none(word) or word.python_type == "str" and isinstance(word, Const)) or tensor_of(other) is None:
        return False
    return not isinstance(other, Tensor) or other.conf <= NAMED


def _plain(frame: Frame, node: ast.AST, left: Value, right: Value) -> Value:
    """A bool that comes from where the values come from."""
    if not ADDRESSES.isdisjoint((left.source, right.source)):
        frame.interp.emitter.operation(frame, node, type(node).__name__, left, right)
        return BOOL
    source = "size" if "size" in (left.source, right.source) else left.source or right.source
    if not source:
        return BOOL
    return Scalar("bool", source, frame.origin(node), computed(left.ref if left.ref is not None else right.ref))


def _identical(left: Value, right: Value) -> bool | None:
    """`left is right`, where that is certain."""
    if isinstance(right, Const) and isinstance(left, Const):
        if right.value is None or left.value is None or isinstance(right.value, bool):
            return left.value is right.value
        return None
    if Member in (type(left), type(right)):
        return _is_member(left, right)
    if is_none(right):
        return left.is_none()
    return right.is_none() if is_none(left) else None


def _is_member(left: Value, right: Value) -> bool | None:
    """`mode is Mode.FAST`: there is one object for each member, and no plain value is one."""
    member, other = (left, right) if isinstance(left, Member) else (right, left)
    answers = {False if type(each) is Const else each.equals(member) for each in other.options}
    return answers.pop() if len(answers) == 1 else None


handles(ast.Compare, _compare)
