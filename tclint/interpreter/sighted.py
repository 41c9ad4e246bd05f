"""A call in sight as a witness: what expressions of compiled code come to in it, and which of them torch refuses there."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tclint.interpreter import assigned, exceptions, made_on
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.sources.tree import nodes
from tclint.torch_facts import facts, layouts, refused_sizes, sizes, traits
from tclint.torch_facts.layouts import Layout
from tclint.values import INPUT, RAW, Const, External, Object, Scalar, Seq, Tensor, Value

_UNKNOWN: Final = "?"
"""As the layouts have it: nobody knows."""
_DEPTH: Final = 12
_ARITHMETIC: Final[Mapping[type[ast.AST], tuple[Callable[[Any, Any], Any], str]]] = {
    ast.Add: (operator.add, "add"),
    ast.Sub: (operator.sub, "sub"),
    ast.Mult: (operator.mul, "mul"),
    ast.Div: (operator.truediv, "div"),
    ast.Mod: (operator.mod, "remainder"),
    ast.FloorDiv: (operator.floordiv, "floor_divide"),
    ast.MatMult: (operator.matmul, "matmul"),
    ast.Eq: (operator.eq, "eq"),
    ast.NotEq: (operator.ne, "ne"),
    ast.Lt: (operator.lt, "lt"),
    ast.LtE: (operator.le, "le"),
    ast.Gt: (operator.gt, "gt"),
    ast.GtE: (operator.ge, "ge"),
}
_RANKS: Final = facts.methods("counts the dimensions of a tensor")
_PLAIN: Final = (int, float, bool, str, tuple, type(None))


class Refused(Exception):
    """Torch refuses the sizes."""


def ways(frame: Frame, test: ast.expr) -> frozenset[bool]:
    """What a test comes to in the calls in sight; nothing where one of them does not tell."""
    found: set[bool] = set()
    for each in _each(frame, test):
        if not isinstance(each, _PLAIN) or isinstance(each, Layout) or each == _UNKNOWN:
            return frozenset()  # the other calls need not be asked
        found.add(bool(each))
    return frozenset(found)


def numbers(frame: Frame, node: ast.expr) -> Sequence[int | float | bool] | None:
    """What an expression comes to in each of the calls in sight; None where one of them does not tell, or it is no number."""
    answers = _answers(frame, node)
    return answers if answers and all(type(each) in (int, float, bool) for each in answers) else None


def refused(frame: Frame, statement: ast.stmt) -> ast.expr | None:
    """The first operation of a statement that torch refuses in every call in sight."""
    for node in nodes(statement):
        if isinstance(node, (ast.BinOp, ast.Compare, ast.Call, ast.Subscript)):
            answers = _answers(frame, node)
            if answers and all(each is Refused for each in answers):
                return node
    return None


def tells_refused(frame: Frame, node: ast.Try) -> bool:
    """Whether torch refuses an operation of the block in every call in sight; told where a handler is surely reached then."""
    if not exceptions.caught(frame):
        return False
    for statement in node.body:
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)):
            found = refused(frame, statement)
            if found is not None:
                exceptions.fails(frame, found, "operation on sizes that do not fit")
                return True
            found = made_on.mixed(frame, statement)
            if found is not None:
                exceptions.fails(frame, found, "operation on tensors of two devices")
                return True
    return False


def is_other_than_out(frame: Frame, node: ast.Call) -> bool:
    """Whether in every call in sight what an operation gives is of another size than the tensor it is to be written to."""
    out = next((each.value for each in node.keywords if each.arg == "out"), None)
    pairs = list(zip(_answers(frame, node), _answers(frame, out) if out is not None else (), strict=False))
    return bool(pairs) and all(
        isinstance(a, Layout) and isinstance(b, Layout) and None not in (*a.sizes, *b.sizes) and a.sizes != b.sizes
        for a, b in pairs
    )


def unbound(frame: Frame, read: ast.Name) -> bool:
    """Whether in every call in sight all that would bind a name is left out before it is read."""
    function = frame.function
    if function is None or read.id not in function.index(assigned.doubtful):
        return False
    found = assigned.guards(function, read, read.id)
    return bool(found) and all(any(_is_left_out(frame, *guard) for guard in each) for each in found)


def _is_left_out(frame: Frame, statement: ast.stmt, block: str) -> bool:
    if isinstance(statement, (ast.If, ast.While)):
        return ways(frame, statement.test) == {block != "body"}
    if not isinstance(statement, ast.For) or block != "body":
        return False
    walked = statement.iter
    counts = isinstance(walked, ast.Call) and isinstance(walked.func, ast.Name) and walked.func.id == "range"
    if isinstance(walked, ast.Call) and counts and len(walked.args) == 1:
        return all(type(each) is int and each <= 0 for each in _answers(frame, walked.args[0]) or [1])
    return all(each == () for each in _answers(frame, walked) or [None])


def _answers(frame: Frame, node: ast.expr) -> list[Any]:
    return list(_each(frame, node))


def _each(frame: Frame, node: ast.expr) -> Iterator[Any]:
    """What an expression comes to, call by call."""
    evidence = frame.region.evidence if frame.region is not None else None
    for row in evidence.rows if evidence is not None else ():
        with frame.interp.emitter.silence:
            try:
                found = _Witness(row).value(frame, node)
            except Refused:
                found = Refused
            except (ArithmeticError, IndexError, TypeError, ValueError):
                found = _UNKNOWN
        yield found


class _Witness:
    """One call: what each parameter of the compiled function is in it. A value is plain Python, of a tensor its layout."""

    def __init__(self, row: Mapping[str, Value]) -> None:
        self._row = row
        self._depth = 0
        self._read: dict[tuple[int, int, int], Any] = {}
        """What names hold, by frame, place and depth: an expression that reads one twice would ask all behind it twice, and so on."""

    def value(self, frame: Frame, node: ast.expr) -> Any:
        self._depth += 1
        try:
            return self._value(frame, node) if self._depth < _DEPTH else _UNKNOWN
        finally:
            self._depth -= 1

    def _value(self, frame: Frame, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, _PLAIN) else _UNKNOWN
        if isinstance(node, ast.Name):
            return self._name(frame, node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(self.value(frame, each) for each in node.elts)
        if isinstance(node, ast.BinOp):
            return self._both(node.op, self.value(frame, node.left), self.value(frame, node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return self._member(node.ops[0], self.value(frame, node.left), self.value(frame, node.comparators[0]))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            none = self._is_none(frame, node.left) if _is_none_itself(node.comparators[0]) else _UNKNOWN
            return none if none == _UNKNOWN else none is isinstance(node.ops[0], ast.Is)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._both(node.ops[0], self.value(frame, node.left), self.value(frame, node.comparators[0]))
        if isinstance(node, ast.BoolOp):
            return self._chain(frame, node)
        if isinstance(node, ast.UnaryOp):
            operand = self.value(frame, node.operand)
            if isinstance(node.op, ast.Not):
                return not operand if _is_plain(operand) else _UNKNOWN
            return -operand if isinstance(node.op, ast.USub) and type(operand) in (int, float) else _UNKNOWN
        if isinstance(node, ast.Attribute):
            return self._attribute(frame, node)
        if isinstance(node, ast.Subscript):
            return self._item(self.value(frame, node.value), self.value(frame, node.slice))
        if isinstance(node, ast.Call):
            return self._call(frame, node)
        return _UNKNOWN

    def _name(self, frame: Frame, node: ast.Name) -> Any:
        key = (id(frame), id(node), self._depth)
        if key not in self._read:
            self._read[key] = self._held(frame, node)
        return self._read[key]

    def _held(self, frame: Frame, node: ast.Name) -> Any:
        function = frame.function
        bound = assigned.seen(function, node, node.id) if function is not None else None
        if isinstance(bound, assigned.Binding):
            return self.value(frame, bound.value) if bound.value is not None else _UNKNOWN
        if bound is None:
            return _UNKNOWN
        entered = frame.parent is None or frame.parent.region is None
        if entered and node.id in self._row:
            return self._plain(self._row[node.id])
        given = None if entered or frame.parent is None else _argument(frame, node.id)
        if given is not None and frame.parent is not None:
            return self.value(frame.parent, given)
        return self._known(frame, node)

    def _is_none(self, frame: Frame, node: ast.expr) -> Any:
        """Whether an argument is None: of a tensor that is known without its sizes."""
        if isinstance(node, ast.Name) and frame.function is not None:
            bound = assigned.seen(frame.function, node, node.id)
            entered = frame.parent is None or frame.parent.region is None
            if bound is not None and not isinstance(bound, assigned.Binding) and entered and node.id in self._row:
                known = self._row[node.id].is_none()
                return _UNKNOWN if known is None else known
        value = self.value(frame, node)
        return _UNKNOWN if value == _UNKNOWN else value is None

    def _known(self, frame: Frame, node: ast.expr) -> Any:
        """What the interpreter itself knows: constants, and which argument of the compiled function this is."""
        value = evaluate(frame, node)
        if isinstance(value, Tensor) and value.flags & (INPUT | RAW) == INPUT | RAW and value.base in self._row:
            return self._plain(self._row[value.base])
        if isinstance(value, Scalar) and value.argument in self._row:
            return self._plain(self._row[value.argument])
        return self._plain(value) if isinstance(value, Const) else _UNKNOWN

    def _plain(self, value: Value) -> Any:
        if isinstance(value, Tensor):
            return Layout(value.shape, value.strides) if isinstance(value.shape, tuple) else _UNKNOWN
        if isinstance(value, Const):
            return value.value if isinstance(value.value, _PLAIN) else _UNKNOWN
        if isinstance(value, Seq) and value.items is not None and value.kind in ("list", "tuple"):
            return tuple(map(self._plain, value.items))
        return _UNKNOWN

    def _both(self, how: ast.AST, left: Any, right: Any) -> Any:
        apply, name = _ARITHMETIC.get(type(how), (None, ""))
        if apply is None or _UNKNOWN in (left, right):
            return _UNKNOWN
        if isinstance(left, Layout):
            return _made(name, left, (right,), {})
        if isinstance(right, Layout):
            return _made(name, right, (left,), {}) if type(left) in (int, float) else _UNKNOWN
        alike = type(left) is type(right) or {type(left), type(right)} <= {int, float, bool}
        compared = name in ("eq", "ne") and None in (left, right)
        whole = not (isinstance(left, tuple) and _UNKNOWN in (*left, *right))
        return apply(left, right) if (alike and whole) or compared else _UNKNOWN

    def _member(self, how: ast.cmpop, element: Any, group: Any) -> Any:
        plain = _is_plain(element) and isinstance(group, tuple) and not isinstance(group, Layout)
        if not plain or not all(_is_plain(each) for each in group):
            return _UNKNOWN
        return (element in group) is isinstance(how, ast.In)

    def _chain(self, frame: Frame, node: ast.BoolOp) -> Any:
        ends = isinstance(node.op, ast.Or)
        unknown = False
        for operand in node.values:
            value = self.value(frame, operand)
            if not _is_plain(value):
                unknown = True
            elif bool(value) is ends:
                return _UNKNOWN if unknown else ends
        return _UNKNOWN if unknown else not ends

    def _attribute(self, frame: Frame, node: ast.Attribute) -> Any:
        owner = self.value(frame, node.value)
        if not isinstance(owner, Layout):
            return self._known(frame, node)
        if node.attr == "shape":
            return owner.sizes if None not in owner.sizes else _UNKNOWN
        if node.attr in _RANKS:
            return len(owner.sizes)
        return layouts.of_method(node.attr, owner, (), {}) or _UNKNOWN

    def _item(self, owner: Any, key: Any) -> Any:
        if isinstance(owner, Layout) and type(key) is int and owner.sizes and owner.sizes[0] is not None:
            if not -owner.sizes[0] <= key < owner.sizes[0]:
                raise Refused
            return Layout(owner.sizes[1:], layouts.UNKNOWN_STRIDES)
        if isinstance(owner, Layout) or not isinstance(owner, tuple) or type(key) is not int:
            return _UNKNOWN
        return owner[key]

    def _call(self, frame: Frame, node: ast.Call) -> Any:
        if any(isinstance(each, ast.Starred) for each in node.args) or any(k.arg is None for k in node.keywords):
            return _UNKNOWN
        args = [self.value(frame, each) for each in node.args]
        keywords = {each.arg or "": self.value(frame, each.value) for each in node.keywords if each.arg != "out"}
        if isinstance(node.func, ast.Attribute):
            owner = self.value(frame, node.func.value)
            if isinstance(owner, Layout):
                return _asked(node.func.attr, owner, args, keywords)
        called = evaluate(frame, node.func)
        if isinstance(called, Object) and called.made is not None and args and isinstance(args[0], Layout):
            return _given_by(called, args[0])
        name = called.name if isinstance(called, External) else ""
        if name in layouts.JOINS and args:
            dim = args[1] if len(args) > 1 else keywords.get("dim", 0)
            return _joined(args[0], dim, layouts.JOINS[name])
        if name == "builtins.len" and args and _is_plain(args[0]) and isinstance(args[0], tuple):
            return len(args[0])
        if name == "builtins.len" and args and isinstance(args[0], Layout) and args[0].sizes:
            return args[0].sizes[0]
        if args and traits.is_shaped_by_numbers(name):
            wanted = args[0] if len(args) == 1 and isinstance(args[0], tuple) else tuple(args)
            plain = not isinstance(wanted, Layout) and all(type(each) is int for each in wanted)
            return Layout(wanted) if plain else _UNKNOWN
        if name.startswith("torch.") and args and isinstance(args[0], Layout):
            return _made(name.rpartition(".")[2], args[0], args[1:], keywords)
        return _UNKNOWN


def _is_none_itself(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) and not isinstance(value, Layout) and value != _UNKNOWN


def _asked(name: str, owner: Layout, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """A method of a tensor: of its sizes, or what gives another one."""
    if name == "size" and not keywords:
        if None in owner.sizes:
            return _UNKNOWN
        return owner.sizes[args[0]] if args and type(args[0]) is int else owner.sizes if not args else _UNKNOWN
    if name in _RANKS:
        return len(owner.sizes)
    return _made(name, owner, args, keywords)


def _made(name: str, first: Layout, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    if refused_sizes.refused(name, first, args, keywords):
        raise Refused
    several = any(isinstance(each, Layout) for each in (*args, *keywords.values()))
    return (sizes.of_several if several else layouts.of_method)(name, first, args, keywords) or _UNKNOWN


def _given_by(module: Object, layout: Layout) -> Any:
    """What a module of torch gives for a tensor."""
    assert module.made is not None
    if refused_sizes.refused_by(module.name, module.made, layout):
        raise Refused
    given = sizes.given_by(module.name, module.made, layout.sizes)
    return Layout(given, layouts.UNKNOWN_STRIDES) if given is not None else _UNKNOWN


def _joined(parts: Any, dim: Any, stacked: bool) -> Any:
    if not isinstance(parts, tuple) or isinstance(parts, Layout):
        return _UNKNOWN
    known = [each for each in parts if isinstance(each, Layout)]
    if len(known) != len(parts):
        return _UNKNOWN
    if refused_sizes.cannot_be_joined(known, dim, stacked):
        raise Refused
    return layouts.joined(known, dim, stacked) or _UNKNOWN


def _argument(frame: Frame, name: str) -> ast.expr | None:
    """What a call in sight hands over for a parameter of a plain function of the program."""
    call, function = frame.call_node, frame.function
    if not isinstance(call, ast.Call) or function is None or function.cls is not None or function.decorators:
        return None
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    names = [each.arg for each in (*function.node.args.posonlyargs, *function.node.args.args)]
    if name in names and names.index(name) < len(call.args):
        return call.args[names.index(name)]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
