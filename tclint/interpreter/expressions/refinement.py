"""What a condition says about the names in it."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.expressions import unturned
from tclint.interpreter.expressions.comparisons import of_type
from tclint.interpreter.frame import RARE, TRAINS, Env, Frame
from tclint.interpreter.training_flag import parts_follow
from tclint.torch_facts import devices, returns
from tclint.values import (
    BOOL,
    FALSE,
    FLOAT,
    INT,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    USED,
    ClassValue,
    Const,
    Dict,
    External,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
)
from tclint.values.place import path_of
from tclint.values.types import TENSOR_TYPES
from tclint.values.union import one_of

_SWITCHES: Final = re.compile(r"^_?(verbose|debug|debugging|is_debug|profile|profiling|log_.*|print_.*|trace|dump.*)$")


def refine(frame: Frame, node: ast.expr, then: Env | None, otherwise: Env | None) -> None:
    """Put what a condition says about the names in it into the environments where it is true and false."""
    if type(node) is ast.Compare and len(node.ops) == 1:
        _refine_comparison(frame, node, then, otherwise)
        return
    if then is not None and _rarely(node) and not unturned.turned_on(frame, node):
        then[RARE] = TRUE
    if type(node) is ast.Call:
        _refine_call(frame, node, then, otherwise)
        return
    if type(node) is ast.Attribute and node.attr == "training" and frame.region is not None:
        _refine_mode(frame, node, then, otherwise)
    place = path_of(node)
    if place is not None and then is not None:
        value = _current(frame, place, node)
        if isinstance(value, Union) and value.may_be_none():
            _put(then, place, value.without_none(), frame)


def _refine_mode(frame: Frame, node: ast.Attribute, then: Env | None, otherwise: Env | None) -> None:
    """`if self.training:`: what a module calls there is in the same mode."""
    module = frame.env.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if isinstance(module, Instance) and frame.interp.classes.is_nn_module(module.cls) and parts_follow(frame, module):
        for env, mode in ((then, TRUE), (otherwise, FALSE)):
            if env is not None:
                env[TRAINS] = mode


def _refine_comparison(frame: Frame, node: ast.Compare, then: Env | None, otherwise: Env | None) -> None:
    operator, comparator = type(node.ops[0]), node.comparators[0]
    if (asked_of := of_type(node)) is not None:
        _refine_type(frame, node, asked_of, then, otherwise)
    elif operator in (ast.Is, ast.IsNot) and isinstance(comparator, ast.Constant) and comparator.value is None:
        place = node.left.target.id if isinstance(node.left, ast.NamedExpr) else path_of(node.left)
        if place is None:
            return
        none_env, some_env = (then, otherwise) if operator is ast.Is else (otherwise, then)
        value = _current(frame, place, node.left)
        if none_env is not None:
            _put(none_env, place, NONE, frame)
        if some_env is not None and isinstance(value, Union):
            _put(some_env, place, value.without_none(), frame)
    elif (
        operator is ast.Eq
        and then is not None
        and (_is_half(node) or _is_other_device(node) or _is_empty(node) or _is_sparse(frame, comparator))
    ):
        # Only a run in half precision, on another kind of device, with nothing to compute, or with tensors that Dynamo does not
        # take from outside gets past this test.
        then[RARE] = TRUE
    elif operator in (ast.Eq, ast.NotEq) and isinstance(node.left, ast.Attribute) and node.left.attr == "__name__":
        same, others = (then, otherwise) if operator is ast.Eq else (otherwise, then)
        _refine_name(frame, node.left.value, evaluate(frame, comparator), same, others)


def _refine_name(frame: Frame, node: ast.expr, name: Value, same: Env | None, others: Env | None) -> None:
    """One of several functions, told by its name: `if self.activation.__name__ == "glu":`."""
    place = path_of(node)
    value = _current(frame, place, node) if place is not None else UNKNOWN
    if place is None or not isinstance(value, Union) or not isinstance(name, Const):
        return
    named = {option: option.attribute(frame, node, "__name__", quiet=True) for option in value.options}
    for env, wanted in ((same, True), (others, False)):
        fits = [o for o, n in named.items() if not isinstance(n, Const) or (n.value == name.value) is wanted]
        if env is not None and fits:
            _put(env, place, one_of(fits), frame)


def _is_other_device(node: ast.Compare) -> bool:
    """`device == "xpu"`: the facts are those of CPUs and CUDA devices."""
    comparator = node.comparators[0]
    return isinstance(comparator, ast.Constant) and comparator.value in devices.OTHERS


def _is_sparse(frame: Frame, comparator: ast.expr) -> bool:
    """`adjacency.layout == torch.sparse_coo`"""
    if frame.region is None or not isinstance(comparator, ast.Attribute) or not comparator.attr.startswith("sparse_"):
        return False
    with frame.interp.emitter.silence:
        layout = evaluate(frame, comparator)
    return isinstance(layout, External) and layout.name.startswith("torch.sparse_")


def _is_empty(node: ast.Compare) -> bool:
    """`picked.numel() == 0`: there is nothing to compute."""
    asked, none = node.left, node.comparators[0]
    counted = isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute) and asked.func.attr == "numel"
    return counted and isinstance(none, ast.Constant) and none.value == 0


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
        held = frame.interp.graph_memory.held(receiver, node.attr) if frame.region is None else None
        return held if held is not None else receiver.attribute(frame, node, node.attr, quiet=True)
    return UNKNOWN


def _rarely(node: ast.expr) -> bool:
    """A test that is true only when somebody is looking: a debug flag, a log level."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "isEnabledFor"
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return bool(_SWITCHES.match(name))


def _is_half(node: ast.Compare) -> bool:
    sides = (node.left, node.comparators[0])
    return any(isinstance(side, ast.Attribute) and side.attr in ("float16", "half") for side in sides)


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
        if then is not None and not value.python_type and frame.region is not None and _is_path(wanted):
            then[RARE] = TRUE  # what is compiled is given tensors, as a rule, and reads no files
        if then is not None:
            _put(then, place, _narrowed(frame, node, value, wanted), frame)
        if otherwise is not None and isinstance(value, Union):
            rest = [o for o in value.options if o.instance_of(wanted) is not True]
            if len(rest) == 1 and isinstance(rest[0], Tensor):
                rest = [rest[0].with_(conf=max(rest[0].conf, USED))]  # `Tensor | list` that is no list
            if rest:
                _put(otherwise, place, one_of(rest), frame)
    elif func.name == "torch.is_tensor" and then is not None and value is UNKNOWN:
        _put(then, place, Tensor(USED, origin=frame.origin(node)), frame)


def _narrowed(frame: Frame, node: ast.AST, value: Value, wanted: Value) -> Value:
    """A value that is known to be of a type."""
    narrowed = value.narrow(wanted) or _of_type(wanted, frame, node)
    if isinstance(narrowed, Tensor) and _is_tensor(wanted):
        narrowed = narrowed.with_(conf=max(narrowed.conf, USED))
    return narrowed


def _refine_type(frame: Frame, node: ast.Compare, asked_of: ast.expr, then: Env | None, otherwise: Env | None) -> None:
    """`type(n) is int`, `type(n) in (list, tuple)`: as `isinstance` says it, of what the test holds for."""
    env = then if isinstance(node.ops[0], (ast.Is, ast.Eq, ast.In)) else otherwise
    place = path_of(asked_of)
    if env is None or place is None or isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return
    with frame.interp.emitter.silence:
        wanted = evaluate(frame, node.comparators[0])
    if all(isinstance(each, (External, ClassValue)) for each in wanted.types()):
        _put(env, place, _narrowed(frame, node, _current(frame, place, asked_of), wanted), frame)


def _is_tensor(wanted: Value) -> bool:
    """Whether every type that is asked for is one of tensors."""
    return all(isinstance(t, External) and t.name in TENSOR_TYPES for t in wanted.types())


def _is_path(wanted: Value) -> bool:
    """Whether a type is that of the name of a file."""
    return any(isinstance(t, External) and t.name in ("pathlib.Path", "os.PathLike") for t in wanted.types())


_NARROWED: Final[dict[str, Value]] = {
    "builtins.int": INT,
    "builtins.float": FLOAT,
    "builtins.str": STR,
    "builtins.bool": BOOL,
    "builtins.dict": Dict({}, UNKNOWN),
    "numbers.Integral": INT,
    "numbers.Real": Scalar("number"),
    "numbers.Number": Scalar("number"),
}


def _of_type(wanted: Value, frame: Frame, node: ast.AST) -> Value:
    """What something unknown is once it is an instance of a type."""
    types = wanted.types()
    names = {t.name for t in types if isinstance(t, External)}
    if len(names) == 1:
        name = next(iter(names))
        if name in TENSOR_TYPES:
            return Tensor(USED, origin=frame.origin(node))
        if name in _NARROWED:
            return _NARROWED[name]
    if names and names <= {"builtins.list", "builtins.tuple", "collections.abc.Sequence"}:
        return Seq("list", None, UNKNOWN)
    classes = [t for t in types if isinstance(t, ClassValue)]
    if len(classes) == 1 and not names:
        return Instance(classes[0].cls)
    if frame.region is None and names and not classes and all(map(returns.is_module_class, names)):
        return one_of([Object(name, frame.origin(node), "module") for name in sorted(names)])
    return UNKNOWN
