"""Expressions: what value each has, and which events its evaluation raises."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, Final

from tclint import events
from tclint.interpreter import calls
from tclint.interpreter.frame import RARE, Env, Frame, join_env
from tclint.interpreter.models import builtins, torch_functions
from tclint.values import (
    ARRAY,
    BOOL,
    CONSTANT,
    FALSE,
    FLOAT,
    INT,
    NONE,
    NOWHERE,
    OWNED,
    SIZE,
    STALE,
    STR,
    TRUE,
    UNKNOWN,
    USED,
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join,
    join_all,
    may_be_none,
    scalar_type,
    tensor_of,
    truth,
    without_none,
)


def evaluate(frame: Frame, node: ast.expr, quiet_store: bool = False) -> Value:
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return UNKNOWN
    return handler(frame, node)


def _constant(frame: Frame, node: ast.Constant) -> Value:
    value = node.value
    if value is None:
        return NONE
    if value is True:
        return TRUE
    if value is False:
        return FALSE
    if value is Ellipsis:
        return External("builtins.Ellipsis")
    return Const(value)


def _name(frame: Frame, node: ast.Name) -> Value:
    value = frame.env.get(node.id)
    if value is not None:
        if frame.region is None:
            stale = tensor_of(value)
            if stale is not None and stale.flags & STALE:
                frame.interp.emit(events.Reuse, frame, node, node.id, stale)
        return value
    return lookup(frame, node.id)


def lookup(frame: Frame, name: str) -> Value:
    """The value of a name: local, enclosing function, module, builtin."""
    value = frame.env.get(name)
    if value is not None:
        return value
    if frame.closure is not None:
        value = frame.closure.get(name)
        if value is not None:
            return value
    value = frame.interp.module_value(frame.module, name)
    if value is not None:
        return value
    if name in builtins.NAMES:
        return External("builtins." + name)
    return UNKNOWN


def path_of(node: ast.expr) -> str | None:
    """`x` or `self.x` as a path, None for anything longer."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    base = node.value
    if type(base) is ast.Name and base.id in frame.paths:
        value = frame.env.get(f"{base.id}.{node.attr}")
        if value is not None:
            return value
    receiver = evaluate(frame, base)
    return calls.attribute(frame, node, receiver, node.attr)


def _tuple(frame: Frame, node: ast.Tuple) -> Value:
    return _sequence(frame, node.elts, "tuple")


def _list(frame: Frame, node: ast.List) -> Value:
    return _sequence(frame, node.elts, "list")


def _set(frame: Frame, node: ast.Set) -> Value:
    return _sequence(frame, node.elts, "set")


def _sequence(frame: Frame, elements: list[ast.expr], kind: str) -> Value:
    items: list[Value] = []
    known = True
    for element in elements:
        if type(element) is ast.Starred:
            value = evaluate(frame, element.value)
            inner = value.items if isinstance(value, Seq) else None
            if inner is not None:
                items.extend(inner)
            else:
                known = False
                items.append(element_of(frame, value, element))
        else:
            items.append(evaluate(frame, element))
    if frame.region is None and len(items) > 1 and elements:
        owned = [i for i in items if isinstance(i, Tensor) and i.flags & OWNED and not i.flags & STALE]
        if len({i.origin for i in owned}) > 1 and all(isinstance(e, ast.Call) for e in elements):
            # Both outputs are made before either is used.
            frame.interp.emit(events.Reuse, frame, elements[0], ast.unparse(elements[0]), owned[0])
    if known and len(items) <= 64:
        return Seq(kind, tuple(items))
    return Seq(kind, None, join_all(items))


def _dict(frame: Frame, node: ast.Dict) -> Value:
    items: dict[Any, Value] = {}
    elem: Value | None = None
    for key, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(frame, value_node)
        if key is None:
            if isinstance(value, Dict):
                items.update(value.items)
                if value.elem is not None:
                    elem = value.elem if elem is None else join(elem, value.elem)
            else:
                elem = UNKNOWN
            continue
        name = evaluate(frame, key)
        frame.interp.emit(events.Operation, frame, key, "key", name, value)
        if isinstance(name, Const) and len(items) < 64:
            items[name.value] = value
        elif isinstance(name, (External, ClassValue, FunctionValue)) and len(items) < 64:
            items[name.key] = value
        else:
            elem = value if elem is None else join(elem, value)
    return Dict(items, elem)


def _bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    keyword = "and" if type(node.op) is ast.And else "or"
    results: list[Value] = []
    skipped: Env | None = None
    for operand in node.values[:-1]:
        then, otherwise, value = _branch_value(frame, operand, keyword)
        go, stop = (then, otherwise) if keyword == "and" else (otherwise, then)
        if stop is not None:
            # In `x or y`, x comes out only where it is true: a None on the left never does.
            results.append(without_none(value) if keyword == "or" else value)
            skipped = join_env(skipped, stop)
        if go is None:
            frame.env = skipped if skipped is not None else frame.env
            return join_all(results)
        frame.env = go
    results.append(evaluate(frame, node.values[-1]))
    merged = join_env(frame.env, skipped)
    if merged is not None:
        frame.env = merged
    return join_all(results)


def branch(frame: Frame, node: ast.expr, keyword: str) -> tuple[Env | None, Env | None]:
    """Evaluate a condition: the environments in which it is true and false (None: it cannot be)."""
    kind = type(node)
    if kind is ast.BoolOp:
        conjunction = type(node.op) is ast.And  # type: ignore[attr-defined]
        stopped: Env | None = None
        for operand in node.values:  # type: ignore[attr-defined]
            then, otherwise = branch(frame, operand, keyword)
            go, stop = (then, otherwise) if conjunction else (otherwise, then)
            stopped = join_env(stopped, stop)
            if go is None:
                return (None, stopped) if conjunction else (stopped, None)
            frame.env = go
        return (frame.env, stopped) if conjunction else (stopped, frame.env)
    if kind is ast.UnaryOp and type(node.op) is ast.Not:  # type: ignore[attr-defined]
        then, otherwise = branch(frame, node.operand, keyword)  # type: ignore[attr-defined]
        return otherwise, then
    then, otherwise, _ = _branch_value(frame, node, keyword)
    return then, otherwise


def _branch_value(frame: Frame, node: ast.expr, keyword: str) -> tuple[Env | None, Env | None, Value]:
    if type(node) is ast.BoolOp or (type(node) is ast.UnaryOp and type(node.op) is ast.Not):
        then, otherwise = branch(frame, node, keyword)
        return then, otherwise, BOOL
    value = evaluate(frame, node)
    frame.interp.emit_branch(frame, node, value, keyword)
    certain = truth(value)
    then = None if certain is False else dict(frame.env)
    otherwise = None if certain is True else dict(frame.env)
    _refine(frame, node, then, otherwise)
    return then, otherwise, value


def _refine(frame: Frame, node: ast.expr, then: Env | None, otherwise: Env | None) -> None:
    """What a condition says about the names in it."""
    kind = type(node)
    if kind is ast.Compare and len(node.ops) == 1:  # type: ignore[attr-defined]
        operator = type(node.ops[0])  # type: ignore[attr-defined]
        comparator = node.comparators[0]  # type: ignore[attr-defined]
        if operator in (ast.Is, ast.IsNot) and isinstance(comparator, ast.Constant) and comparator.value is None:
            place = path_of(node.left)  # type: ignore[attr-defined]
            if place is None and isinstance(node.left, ast.NamedExpr):  # type: ignore[attr-defined]
                place = node.left.target.id  # type: ignore[attr-defined]
            if place is not None:
                none_env, some_env = (then, otherwise) if operator is ast.Is else (otherwise, then)
                value = _current(frame, place, node.left)  # type: ignore[attr-defined]
                if none_env is not None:
                    _put(none_env, place, NONE, frame)
                if some_env is not None and isinstance(value, Union):
                    _put(some_env, place, without_none(value), frame)
        elif operator is ast.Eq and then is not None and _is_half(frame, node):
            # Only a run in half precision gets past this test.
            then[RARE] = TRUE
        return
    if then is not None and _rarely(node):
        then[RARE] = TRUE
    if kind is ast.Call:
        _refine_call(frame, node, then, otherwise)  # type: ignore[arg-type]
        return
    place = path_of(node)
    if place is not None and then is not None:
        value = _current(frame, place, node)
        if isinstance(value, Union) and may_be_none(value):
            _put(then, place, without_none(value), frame)


def _put(env: Env, place: str, value: Value, frame: Frame) -> None:
    env[place] = value
    if "." in place:
        frame.paths.add(place.partition(".")[0])


def _current(frame: Frame, place: str, node: ast.expr) -> Value:
    value = frame.env.get(place)
    if value is not None:
        return value
    if isinstance(node, ast.Attribute):
        receiver = frame.env.get(place.partition(".")[0], UNKNOWN)
        return calls.attribute(frame, node, receiver, node.attr, quiet=True)
    return UNKNOWN


_SWITCHES: Final = re.compile(r"^_?(verbose|debug|debugging|is_debug|profile|profiling|log_.*|print_.*|trace|dump.*)$")


def _rarely(node: ast.expr) -> bool:
    """A test that is true only when somebody is looking: a debug flag, a log level."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "isEnabledFor"
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return bool(_SWITCHES.match(name))


def _is_half(frame: Frame, node: ast.expr) -> bool:
    assert isinstance(node, ast.Compare)
    for side in (node.left, node.comparators[0]):
        if isinstance(side, ast.Attribute) and side.attr in ("float16", "half"):
            return True
    return False


_TENSOR_TYPES: Final = frozenset({"torch.Tensor", "torch.LongTensor", "torch.FloatTensor", "torch.BoolTensor"})


def _refine_call(frame: Frame, node: ast.Call, then: Env | None, otherwise: Env | None) -> None:
    if not node.args:
        return
    func = evaluate(frame, node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else UNKNOWN
    place = path_of(node.args[0])
    if place is None or not isinstance(func, External):
        return
    value = _current(frame, place, node.args[0])
    if func.name == "builtins.isinstance" and len(node.args) == 2:
        wanted = evaluate(frame, node.args[1])
        narrowed = narrow(value, wanted, frame, node)
        if then is not None:
            _put(then, place, narrowed, frame)
        if otherwise is not None and isinstance(value, Union):
            rest = [o for o in value.options if instance_of(o, wanted) is not True]
            if rest:
                _put(otherwise, place, rest[0] if len(rest) == 1 else Union(tuple(rest)), frame)
    elif func.name == "torch.is_tensor" and then is not None and tensor_of(value) is None and value is UNKNOWN:
        _put(then, place, Tensor(USED, origin=frame.origin(node)), frame)


def narrow(value: Value, wanted: Value, frame: Frame, node: ast.AST) -> Value:
    """The value once isinstance(value, wanted) holds."""
    if isinstance(value, Union):
        kept = [o for o in value.options if instance_of(o, wanted) is not False and o is not UNKNOWN]
        if kept:
            return kept[0] if len(kept) == 1 else Union(tuple(kept))
    elif value is not UNKNOWN:
        return value
    names = {t.name for t in _types(wanted) if isinstance(t, External)}
    if names & _TENSOR_TYPES and len(names) == 1:
        return Tensor(USED, origin=frame.origin(node))
    if names and names <= {"builtins.list", "builtins.tuple", "collections.abc.Sequence"}:
        return Seq("list", None, UNKNOWN)
    if names == {"builtins.int"}:
        return INT
    if names == {"builtins.float"}:
        return FLOAT
    if names == {"builtins.str"}:
        return STR
    if names == {"builtins.bool"}:
        return BOOL
    if names == {"builtins.dict"}:
        return Dict({}, UNKNOWN)
    classes = [t for t in _types(wanted) if isinstance(t, ClassValue)]
    if len(classes) == 1 and not names:
        return Instance(classes[0].cls)
    return UNKNOWN


def _types(wanted: Value) -> tuple[Value, ...]:
    if isinstance(wanted, Seq) and wanted.items is not None:
        return tuple(t for item in wanted.items for t in _types(item))
    return (wanted,)


_SEQUENCE_TYPES: Final = {
    "list": {"builtins.list", "collections.abc.Sequence", "collections.abc.Iterable", "typing.Sequence", "typing.List"},
    "tuple": {"builtins.tuple", "collections.abc.Sequence", "collections.abc.Iterable", "typing.Sequence"},
    "set": {"builtins.set", "collections.abc.Iterable"},
    "size": {"builtins.tuple", "torch.Size", "collections.abc.Sequence"},
}


def instance_of(value: Value, wanted: Value) -> bool | None:
    """isinstance, where it can be told."""
    answers = [_instance_of_one(value, t) for t in _types(wanted)]
    if any(a is True for a in answers):
        return True
    if all(a is False for a in answers) and answers:
        return False
    return None


_PYTHON_TYPES: Final = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.dict", "builtins.str", "builtins.int", "builtins.float"}
    | {"builtins.bool", "builtins.set", "numpy.ndarray", "PIL.Image.Image", "collections.abc.Sequence"}
    | {"collections.abc.Mapping", "numbers.Number", "builtins.bytes", "collections.OrderedDict", "os.PathLike"}
)


def _instance_of_one(value: Value, wanted: Value) -> bool | None:
    if isinstance(value, Union):
        answers = {_instance_of_one(o, wanted) for o in value.options}
        return answers.pop() if len(answers) == 1 else None
    name = wanted.name if isinstance(wanted, External) else ""
    if isinstance(value, Tensor):
        if value.flags & ARRAY:
            return None
        if name in _TENSOR_TYPES:
            return True if value.conf > 1 else None
        if (name in _PYTHON_TYPES or isinstance(wanted, ClassValue)) and value.conf > 1:
            return False
        return None
    if isinstance(value, Const):
        if value.value is None:
            return name == "types.NoneType" if name else False
        have = "builtins." + type(value.value).__name__
        if name == "builtins.int" and have == "builtins.bool":
            return True
        return name == have if name in _PYTHON_TYPES else (False if name in _TENSOR_TYPES else None)
    if isinstance(value, Scalar) and value.type in ("int", "float", "bool", "str"):
        if name in _TENSOR_TYPES:
            return False
        return name == "builtins." + value.type if name in _PYTHON_TYPES else None
    if isinstance(value, Seq):
        known = _SEQUENCE_TYPES.get(value.kind)
        if known is not None and name:
            return name in known
        return None
    if isinstance(value, Dict):
        if name in ("builtins.dict", "collections.abc.Mapping", "typing.Mapping"):
            return True
        return False if name in _TENSOR_TYPES or name in ("builtins.list", "builtins.tuple", "builtins.str") else None
    if isinstance(value, Instance) and (name in _TENSOR_TYPES or name in ("builtins.list", "builtins.tuple")):
        return False
    return None


def _unary(frame: Frame, node: ast.UnaryOp) -> Value:
    operator = type(node.op)
    if operator is ast.Not:
        then, otherwise = branch(frame, node.operand, "not")
        merged = join_env(then, otherwise)
        if merged is not None:
            frame.env = merged
        if then is None:
            return TRUE
        return FALSE if otherwise is None else BOOL
    value = evaluate(frame, node.operand)
    if isinstance(value, Tensor):
        return value.derived(frame.origin(node), value.dtype, value.ndim)
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        if operator is ast.USub:
            return Const(-value.value)
        if operator is ast.UAdd:
            return value
        if operator is ast.Invert and isinstance(value.value, int):
            return Const(~int(value.value))
    if isinstance(value, Scalar):
        return value
    if isinstance(value, (Object, Instance)):
        frame.interp.emit(events.Operation, frame, node, operator.__name__, value, NONE)
    return UNKNOWN


def _bin_op(frame: Frame, node: ast.BinOp) -> Value:
    # A chain a + b + c … is left-deep: walk it without recursion, since generated code has chains of thousands.
    chain: list[ast.BinOp] = [node]
    left_node = node.left
    while type(left_node) is ast.BinOp:
        chain.append(left_node)
        left_node = left_node.left
    value = evaluate(frame, left_node)
    for link in reversed(chain):
        right = evaluate(frame, link.right)
        value = binary(frame, link, type(link.op).__name__, value, right)
    return value


def binary(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """The value of `left operator right`."""
    lt, rt = type(left), type(right)
    if lt is Tensor or rt is Tensor:
        return torch_functions.arithmetic(frame, node, operator, left, right)
    if lt is Const and rt is Const:
        return _fold(operator, left.value, right.value)  # type: ignore[attr-defined]
    if lt is Union or rt is Union:
        tensor = tensor_of(left) or tensor_of(right)
        if tensor is not None:
            return torch_functions.arithmetic(frame, node, operator, tensor, right if tensor_of(left) else left)
        return UNKNOWN
    if lt is Seq or rt is Seq:
        return _sequence_arithmetic(frame, node, operator, left, right)
    if operator in ("BitOr", "BitAnd"):
        absorbing = operator == "BitOr"
        if any(isinstance(v, Const) and v.value is absorbing for v in (left, right)):
            return TRUE if absorbing else FALSE
    if lt in (Scalar, Const) and rt in (Scalar, Const):
        return _scalar_arithmetic(frame, node, operator, left, right)
    if lt is Dict and rt is Dict and operator == "BitOr":
        return join(left, right)
    if lt in (Object, Instance) or rt in (Object, Instance):
        frame.interp.emit(events.Operation, frame, node, operator, left, right)
        return calls.operator_method(frame, node, operator, left, right)
    if operator == "Mod" and lt is Const and isinstance(left.value, str):  # type: ignore[attr-defined]
        return STR
    if (lt is Scalar and left.source == "size") or (rt is Scalar and right.source == "size"):  # type: ignore[attr-defined]
        return UNKNOWN
    return UNKNOWN


_BITWISE: Final[dict[str, Callable[[int, int], int]]] = {
    "BitAnd": lambda a, b: a & b,
    "BitOr": lambda a, b: a | b,
    "BitXor": lambda a, b: a ^ b,
    "LShift": lambda a, b: a << b,
    "RShift": lambda a, b: a >> b,
}


def _fold(operator: str, a: Any, b: Any) -> Value:
    try:
        if operator == "Add":
            return Const(a + b)
        if operator == "Sub":
            return Const(a - b)
        if operator == "Mult":
            if isinstance(a, (str, bytes, int)) and isinstance(b, (str, bytes, int)) and _large(a, b):
                return INT if isinstance(a, int) and isinstance(b, int) else STR
            return Const(a * b)
        if operator == "Div":
            return Const(a / b)
        if operator == "FloorDiv":
            return Const(a // b)
        if operator == "Mod" and not isinstance(a, (str, bytes)):
            return Const(a % b)
        if operator in _BITWISE and isinstance(a, int) and isinstance(b, int) and 0 <= b < 64:
            return Const(_BITWISE[operator](a, b))
        if operator == "Pow" and abs(b) <= 64 and abs(a) <= 2**16:
            return Const(a**b)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return UNKNOWN
    kinds = {scalar_type(a), scalar_type(b)}
    if kinds == {"int"}:
        return INT
    if kinds <= {"int", "float"}:
        return FLOAT
    return STR if "str" in kinds else UNKNOWN


def _large(a: Any, b: Any) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return a.bit_length() + b.bit_length() > 512
    text, times = (a, b) if isinstance(b, int) else (b, a)
    return isinstance(times, int) and len(text) * max(times, 0) > 4096


def _sequence_arithmetic(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    if isinstance(left, Seq) and isinstance(right, Seq):
        if operator != "Add":
            return UNKNOWN
        if left.items is not None and right.items is not None and len(left.items) + len(right.items) <= 64:
            return Seq(left.kind, left.items + right.items)
        return Seq(left.kind, None, join(left.element(), right.element()), left.length or right.length)
    seq, other = (left, right) if isinstance(left, Seq) else (right, left)
    assert isinstance(seq, Seq)
    if operator == "Mult":
        frame.interp.emit(events.Operation, frame, node, "repeat", seq, other)
        if isinstance(other, Const) and isinstance(other.value, int) and seq.items is not None:
            times = max(other.value, 0)
            if len(seq.items) * times <= 64:
                return Seq(seq.kind, seq.items * times)
        source = other.source if isinstance(other, Scalar) else ""
        return Seq(seq.kind, None, seq.element(), source)
    if operator == "Add":
        return Seq(seq.kind, None, seq.element() if other is not UNKNOWN else UNKNOWN)
    return UNKNOWN


def _scalar_arithmetic(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    def parts(v: Value) -> tuple[str, str]:
        if isinstance(v, Scalar):
            return v.type, v.source
        assert isinstance(v, Const)
        return scalar_type(v.value), ""

    (ta, sa), (tb, sb) = parts(left), parts(right)
    strong = ("random", "size", "data")
    source = sa if sa in strong else sb if sb in strong else sa or sb
    if ta == "str" or tb == "str":
        return STR
    origin = left.origin if isinstance(left, Scalar) and left.source else getattr(right, "origin", frame.origin(node))
    # An argument that varies makes what is computed from it vary; a size computed from a size is another size.
    ref = None
    if source == "arg":
        ref = next((v.ref for v in (left, right) if isinstance(v, Scalar) and v.ref is not None), None)
    if operator == "Div":
        return Scalar("float", source, origin, ref)
    if operator == "Pow" or "float" in (ta, tb):
        kind = "float" if "float" in (ta, tb) else "int"
        return Scalar(kind, source, origin, ref)
    if {ta, tb} <= {"int", "bool"}:
        return Scalar("int", source, origin, ref)
    return Scalar("number", source, origin, ref)


_COMPARE_TENSOR: Final = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"})


def _compare(frame: Frame, node: ast.Compare) -> Value:
    left = evaluate(frame, node.left)
    if len(node.ops) == 1:
        right = evaluate(frame, node.comparators[0])
        return compare(frame, node, type(node.ops[0]).__name__, left, right)
    result: Value = TRUE
    for i, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = evaluate(frame, comparator)
        result = compare(frame, node, type(op).__name__, left, right)
        if i < len(node.ops) - 1:
            frame.interp.emit_branch(frame, node, result, "comparison chain")
        left = right
    return result


def compare(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    lt, rt = type(left), type(right)
    if operator in _COMPARE_TENSOR:
        if lt is Tensor or rt is Tensor:
            other = right if lt is Tensor else left
            if isinstance(other, Const) and (other.value is None or isinstance(other.value, str)):
                return FALSE if operator == "Eq" else TRUE
            if isinstance(other, (Seq, Dict)) and operator in ("Eq", "NotEq") and isinstance(other, Dict):
                return BOOL
            tensor = left if lt is Tensor else right
            assert isinstance(tensor, Tensor)
            conf = tensor.conf if not (lt is Tensor and rt is Tensor) else max(left.conf, right.conf)  # type: ignore[attr-defined]
            ndim = 0 if tensor.ndim == 0 and not (isinstance(other, Tensor) and other.ndim != 0) else -1
            kept = tensor.flags & (CONSTANT | ARRAY)
            if isinstance(other, Tensor):
                kept &= other.flags | ARRAY
            return Tensor(conf, "b", ndim, kept, frame.origin(node))
        if lt is Union or rt is Union:
            either = tensor_of(left) or tensor_of(right)
            if either is not None:
                return join(Tensor(either.conf, "b", either.ndim, 0, frame.origin(node)), BOOL)
        if lt is Const and rt is Const:
            return _fold_compare(operator, left.value, right.value)  # type: ignore[attr-defined]
        for a, b in ((left, right), (right, left)):
            if isinstance(a, Seq) and isinstance(b, (Seq, Const, Scalar)):
                frame.interp.emit(events.Operation, frame, node, operator, left, right)
                break
        if lt in (Object, Instance) or rt in (Object, Instance):
            frame.interp.emit(events.Operation, frame, node, operator, left, right)
        source = "size" if _from_size(left) or _from_size(right) else _source(left) or _source(right)
        if not source:
            return BOOL
        ref = next((v.ref for v in (left, right) if isinstance(v, Scalar) and v.ref is not None), None)
        return Scalar("bool", source, frame.origin(node), ref)
    if operator in ("Is", "IsNot"):
        same = _identical(left, right)
        if same is None:
            return BOOL
        return TRUE if same is (operator == "Is") else FALSE
    # in, not in
    if isinstance(left, Const) and isinstance(right, Seq) and right.items is not None:
        if all(isinstance(i, Const) for i in right.items):
            found = any(i.value == left.value and type(i.value) is type(left.value) for i in right.items)  # type: ignore[attr-defined]
            return TRUE if found is (operator == "In") else FALSE
    if isinstance(left, Const) and isinstance(right, Dict) and right.elem is None:
        found = left.value in right.items
        return TRUE if found is (operator == "In") else FALSE
    frame.interp.emit(events.Operation, frame, node, operator, left, right)
    return BOOL


def _from_size(value: Value) -> bool:
    return isinstance(value, Scalar) and value.source == "size"


def _source(value: Value) -> str:
    return value.source if isinstance(value, Scalar) else ""


def _identical(left: Value, right: Value) -> bool | None:
    if isinstance(right, Const) and isinstance(left, Const):
        if right.value is None or left.value is None or isinstance(right.value, bool):
            return left.value is right.value
        return None
    if isinstance(right, Const) and right.value is None:
        other = left
    elif isinstance(left, Const) and left.value is None:
        other = right
    else:
        return None
    if isinstance(other, (Seq, Dict, Instance, FunctionValue, ClassValue, Object, Scalar)):
        return False
    if isinstance(other, Tensor):
        # Named like a tensor is not enough to say that it is there.
        return False if other.conf > 1 else None
    return None


def _fold_compare(operator: str, a: Any, b: Any) -> Value:
    try:
        if operator == "Eq":
            return TRUE if a == b else FALSE
        if operator == "NotEq":
            return TRUE if a != b else FALSE
        if operator == "Lt":
            return TRUE if a < b else FALSE
        if operator == "LtE":
            return TRUE if a <= b else FALSE
        if operator == "Gt":
            return TRUE if a > b else FALSE
        return TRUE if a >= b else FALSE
    except TypeError:
        return BOOL


def _if_exp(frame: Frame, node: ast.IfExp) -> Value:
    then, otherwise = branch(frame, node.test, "conditional expression")
    values: list[Value] = []
    after: Env | None = None
    if then is not None:
        frame.env = then
        values.append(evaluate(frame, node.body))
        after = frame.env
    if otherwise is not None:
        frame.env = otherwise
        values.append(evaluate(frame, node.orelse))
        after = join_env(after, frame.env)
    if after is not None:
        frame.env = after
    return join_all(values)


def _call(frame: Frame, node: ast.Call) -> Value:
    return calls.call_node(frame, node)


def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    receiver = evaluate(frame, node.value)
    index = evaluate_index(frame, node.slice)
    return subscript(frame, node, receiver, index)


def evaluate_index(frame: Frame, node: ast.expr) -> Value:
    return evaluate(frame, node)


def subscript(frame: Frame, node: ast.AST, receiver: Value, index: Value) -> Value:
    """The value of `receiver[index]`."""
    if isinstance(receiver, Union):
        some = [o for o in receiver.options if not (isinstance(o, Const) and o.value is None)]
        results = [subscript(frame, node, option, index) for option in some]
        return join_all(results)
    if isinstance(receiver, Tensor):
        return torch_functions.index(frame, node, receiver, index)
    result = _item(frame, node, receiver, index)
    frame.interp.emit(events.Subscript, frame, node, receiver, index, result)
    return result


def _item(frame: Frame, node: ast.AST, receiver: Value, index: Value) -> Value:
    if isinstance(receiver, Seq):
        return sequence_item(receiver, index)
    if isinstance(receiver, Dict):
        if isinstance(index, Const) and index.value in receiver.items:
            return receiver.items[index.value]
        if isinstance(index, Const) and receiver.elem is None:
            return UNKNOWN
        if isinstance(index, (External, ClassValue, FunctionValue)) and index.key in receiver.items:
            return receiver.items[index.key]
        return UNKNOWN if receiver.kind == "kwargs" else receiver.element()
    if isinstance(receiver, Object):
        if receiver.args is not None:
            inner = _item(frame, node, receiver.args, index)
            if isinstance(inner, Seq) and receiver.name == "torch.nn.Sequential":
                return Object(receiver.name, receiver.origin, receiver.kind, inner)
            return inner
        return calls.object_item(frame, node, receiver, index)
    if isinstance(receiver, Instance):
        return frame.interp.instance_item(frame, node, receiver, index)
    if isinstance(receiver, Const) and isinstance(receiver.value, str):
        return STR
    if isinstance(receiver, (External, ClassValue)):
        return receiver  # a generic alias: list[int], Foo[T]
    return UNKNOWN


def sequence_item(receiver: Seq, index: Value) -> Value:
    if isinstance(index, Const) and isinstance(index.value, int) and receiver.items is not None:
        n = len(receiver.items)
        if -n <= index.value < n:
            return receiver.items[index.value]
        return UNKNOWN
    if isinstance(index, Seq) and index.kind == "slice":
        if receiver.items is not None and index.items is not None:
            bounds: list[Any] = [b.value if isinstance(b, Const) else "?" for b in index.items]
            if all(b is None or isinstance(b, int) for b in bounds):
                return Seq(receiver.kind, receiver.items[slice(bounds[0], bounds[1], bounds[2])])
        if receiver.kind == "size":
            return _some_sizes(receiver, index)
        return Seq(receiver.kind, None, receiver.element(), receiver.length)
    if receiver.kind == "size":
        if receiver.length and isinstance(index, Const) and isinstance(index.value, int):
            return Scalar("int", "size", NOWHERE, (receiver.length, index.value))
        return SIZE
    if receiver.length == "args":
        return UNKNOWN  # positional arguments are of different kinds
    return receiver.element()


def _some_sizes(receiver: Seq, index: Seq) -> Value:
    """`x.shape[a:b]`: which sizes these are, where the bounds tell."""
    start, stop, step = (part.value if isinstance(part, Const) else "?" for part in index.items or (NONE, NONE, NONE))
    if receiver.length and receiver.items is None and receiver.elem is SIZE and step is None:
        if isinstance(start, int) and start < 0 and stop is None:
            return Seq("size", tuple(_size(receiver.length, i) for i in range(start, 0)))
        if start is None or (isinstance(start, int) and start >= 0):
            first = start or 0
            if isinstance(stop, int) and first <= stop:
                return Seq("size", tuple(_size(receiver.length, i) for i in range(first, stop)))
            if stop is None:
                # How many there are is not known: the first stands for all.
                return Seq("size", None, _size(receiver.length, first))
    return Seq("size", None, SIZE)


def _size(tensor: str, dim: int) -> Scalar:
    return Scalar("int", "size", NOWHERE, (tensor, dim))


def _slice(frame: Frame, node: ast.Slice) -> Value:
    items = tuple(NONE if part is None else evaluate(frame, part) for part in (node.lower, node.upper, node.step))
    return Seq("slice", items)


def element_of(frame: Frame, value: Value, node: ast.AST) -> Value:
    """What iterating over a value gives."""
    if isinstance(value, Seq):
        return value.element()
    if isinstance(value, Tensor):
        return value.view(frame.origin(node), value.ndim - 1 if value.ndim > 0 else -1)
    if isinstance(value, Dict):
        keys = [Const(k) if isinstance(k, (str, int, float, bool)) else UNKNOWN for k in value.items]
        return join_all([*keys, STR]) if keys and value.elem is not None else join_all(keys) if keys else UNKNOWN
    if isinstance(value, Object) and value.args is not None:
        return element_of(frame, value.args, node)
    if isinstance(value, Union):
        return join_all(element_of(frame, o, node) for o in without_none(value).options)
    if isinstance(value, Instance):
        return frame.interp.iterate_instance(frame, node, value)
    return UNKNOWN


def _comprehension(frame: Frame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    kind = {"ListComp": "list", "SetComp": "set", "GeneratorExp": "generator"}[type(node).__name__]
    saved = frame.env
    frame.env = dict(saved)
    items, length = _generators(frame, node.generators, lambda: evaluate(frame, node.elt))
    frame.env = _after_comprehension(frame, saved, node)
    if frame.region is None and kind != "generator":
        gathered = join_all(items) if isinstance(items, list) else items
        frame.interp.emit(events.Store, frame, node.elt, "comprehension", UNKNOWN, "", gathered, None, False, None)
    if isinstance(items, list):
        return Seq(kind, tuple(items))
    return Seq(kind, None, items, length)


def _dict_comp(frame: Frame, node: ast.DictComp) -> Value:
    saved = frame.env
    frame.env = dict(saved)

    def pair() -> Value:
        key = evaluate(frame, node.key)
        value = evaluate(frame, node.value)
        return Seq("tuple", (key, value))

    items, _ = _generators(frame, node.generators, pair)
    frame.env = _after_comprehension(frame, saved, node)
    if frame.region is None:
        gathered = join_all(items) if isinstance(items, list) else items
        frame.interp.emit(events.Store, frame, node.value, "comprehension", UNKNOWN, "", gathered, None, False, None)
    if isinstance(items, list):
        known: dict[Any, Value] = {}
        for item in items:
            assert isinstance(item, Seq)
            assert item.items is not None
            key, value = item.items
            if not isinstance(key, Const):
                return Dict({}, join_all(i.items[1] for i in items if isinstance(i, Seq) and i.items))
            known[key.value] = value
        return Dict(known)
    return Dict({}, items.items[1] if isinstance(items, Seq) and items.items else UNKNOWN)


def _after_comprehension(frame: Frame, saved: Env, node: ast.AST) -> Env:
    # A walrus inside a comprehension binds in the enclosing scope.
    if b":=" in frame.module.data:
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr) and inner.target.id in frame.env:
                saved[inner.target.id] = frame.env[inner.target.id]
    return saved


_UNROLL: Final = 12


def _generators(
    frame: Frame, generators: list[ast.comprehension], produce: Callable[[], Value]
) -> tuple[list[Value] | Value, str]:
    """Run the `for` clauses of a comprehension. A short iterable of known items is unrolled."""
    from tclint.interpreter import stores

    first, rest = generators[0], generators[1:]
    iterable = evaluate(frame, first.iter)
    frame.interp.emit(events.Loop, frame, first.iter, iterable, True)
    length = iterable.length if isinstance(iterable, Seq) else ""
    if isinstance(iterable, Const) and isinstance(iterable.value, str) and len(iterable.value) <= _UNROLL:
        iterable = Seq("list", tuple(Const(c) for c in iterable.value))

    def body() -> list[Value] | Value:
        for condition in first.ifs:
            then, _ = branch(frame, condition, "comprehension condition")
            if then is None:
                return []
            frame.env = then
        if rest:
            return _generators(frame, rest, produce)[0]
        return [produce()]

    frame.blocks.append("for")
    try:
        if (
            isinstance(iterable, Seq)
            and iterable.items is not None
            and len(iterable.items) <= _UNROLL
            and not first.ifs
        ):
            out: list[Value] = []
            loose: list[Value] = []
            for item in iterable.items:
                stores.store(frame, first.target, item, first.target, quiet=True)
                made = body()
                if isinstance(made, list):
                    out.extend(made)
                else:
                    loose.append(made)
            if loose:
                return join_all([*out, *loose]), ""
            return out, ""
        stores.store(frame, first.target, element_of(frame, iterable, first.iter), first.target, quiet=True)
        made = body()
        return (join_all(made) if isinstance(made, list) else made), length
    finally:
        frame.blocks.pop()


def _lambda(frame: Frame, node: ast.Lambda) -> Value:
    parent = frame.function
    if parent is None:
        return frame.interp.module_lambda(frame, node)
    return FunctionValue(parent.nested(node, "<lambda>"), None, frame.env)


def _joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    tensor: Tensor | None = None
    source = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = evaluate(frame, part.value)
            found = tensor_of(value)
            if found is not None:
                tensor = found
                frame.interp.emit(events.Format, frame, part, value)
            if isinstance(value, Scalar) and value.source:
                source = value.source
    if tensor is not None:
        return Scalar("str", "tensor", frame.origin(node))
    return Scalar("str", source, frame.origin(node)) if source else STR


def _named(frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(frame, node.value)
    frame.set(node.target.id, value)
    return value


def _starred(frame: Frame, node: ast.Starred) -> Value:
    return evaluate(frame, node.value)


def _await(frame: Frame, node: ast.Await) -> Value:
    return evaluate(frame, node.value)


def _yield(frame: Frame, node: ast.Yield) -> Value:
    value = NONE if node.value is None else evaluate(frame, node.value)
    frame.interp.emit(events.Return, frame, node, value, True)
    frame.yields.append(value)
    return UNKNOWN


def _yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    value = evaluate(frame, node.value)
    frame.yields.append(element_of(frame, value, node))
    return UNKNOWN


def assert_test(frame: Frame, node: ast.Assert) -> Value:
    """Evaluate an assert's condition; a plain tensor in it is no branch (Dynamo turns it into an async assert)."""
    test = node.test
    if type(test) is ast.BoolOp or (type(test) is ast.UnaryOp and type(test.op) is ast.Not):
        then, _ = branch(frame, test, "assert")
        if then is not None:
            frame.env = then
        return BOOL
    value = evaluate(frame, test)
    then = dict(frame.env)
    _refine(frame, test, then, None)
    frame.env = then
    return value


_HANDLERS: Final[dict[type[ast.expr], Callable[[Frame, Any], Value]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _unary,
    ast.BinOp: _bin_op,
    ast.Compare: _compare,
    ast.IfExp: _if_exp,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comp,
    ast.Lambda: _lambda,
    ast.JoinedStr: _joined_str,
    ast.NamedExpr: _named,
    ast.Starred: _starred,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}
