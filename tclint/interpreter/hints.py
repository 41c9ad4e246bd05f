"""Annotations: the weaker witness of what a parameter or attribute is."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING, Final

from tclint.interpreter import heirs
from tclint.interpreter.models import tokenizers
from tclint.program import Assignment, Class, Import
from tclint.sources import roles
from tclint.torch_facts import facts, returns
from tclint.values import (
    ARRAY,
    INT,
    NAMED,
    NONE,
    PROVEN,
    STR,
    UNKNOWN,
    ClassValue,
    Dict,
    External,
    Instance,
    Object,
    Origin,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join,
    join_all,
)
from tclint.values.constant import is_none
from tclint.values.scalar import SCALARS
from tclint.values.types import TENSOR_TYPES

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter
    from tclint.program import Module

_TENSORS: Final = {
    "Tensor": "",
    "LongTensor": "i",
    "IntTensor": "i",
    "ByteTensor": "i",
    "FloatTensor": "f",
    "HalfTensor": "f",
    "DoubleTensor": "f",
    "BFloat16Tensor": "f",
    "BoolTensor": "b",
}
# jaxtyping and friends: Float[Tensor, "b t"].
_SHAPED: Final = {"Float": "f", "Int": "i", "Bool": "b", "Integer": "i", "Shaped": "", "Num": "", "Complex": "c"}
_MODULE: Final = "torch.nn.Module"
_NUMBERS: Final = {"numbers.Integral": "int", "numbers.Real": "number", "numbers.Number": "number"}
_LISTS: Final = frozenset({"List", "list", "Sequence", "Iterable", "Collection", "Iterator", "MutableSequence"})
_TUPLES: Final = frozenset({"Tuple", "tuple"})
_CLASSES: Final = frozenset({"Type", "type"})
_DICTS: Final = frozenset({"Dict", "dict", "Mapping", "OrderedDict", "MutableMapping", "DefaultDict", "defaultdict"})


def evaluate(interp: Interpreter, module: Module, node: ast.expr | None, origin: Origin, depth: int = 0) -> Value:
    """The value an annotation promises, unknown where it says nothing."""
    if node is None or depth > 6:
        return UNKNOWN
    if isinstance(node, ast.Constant):
        if node.value is None:
            return NONE
        if isinstance(node.value, str):
            try:
                return evaluate(interp, module, ast.parse(node.value, mode="eval").body, origin, depth + 1)
            except (SyntaxError, ValueError, RecursionError):
                return UNKNOWN
        return UNKNOWN
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _either(
            evaluate(interp, module, node.left, origin, depth + 1),
            evaluate(interp, module, node.right, origin, depth + 1),
        )
    if isinstance(node, ast.Name):
        return _named(interp, module, node.id, origin, node, depth)
    if isinstance(node, ast.Attribute):
        return _named(interp, module, node.attr, origin, node, depth)
    if isinstance(node, ast.Subscript):
        return _generic(interp, module, node, origin, depth)
    return UNKNOWN


def is_tensor(node: ast.expr) -> bool:
    """Whether an annotation promises a tensor and nothing else."""
    return (isinstance(node, ast.Name) and node.id in _TENSORS) or (
        isinstance(node, ast.Attribute) and node.attr in _TENSORS
    )


def is_of_dicts(node: ast.expr) -> bool:
    """Whether an annotation promises a dict (or None) and says of what."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return is_of_dicts(node.left) or is_of_dicts(node.right)
    if not isinstance(node, ast.Subscript):
        return False
    name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
    return name in _DICTS or name == "Optional" and is_of_dicts(node.slice)


def python_only(node: ast.expr) -> frozenset[str]:
    """The plain types of Python that an annotation names, beside None; nothing where it names anything else."""
    if isinstance(node, ast.Name):
        return frozenset({node.id}) if node.id in SCALARS else frozenset()
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Subscript):
        name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
        inner = node.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name == "Literal":
            types = [type(part.value).__name__ for part in parts if isinstance(part, ast.Constant)]
            return frozenset(types) if len(types) == len(parts) and SCALARS.keys() >= set(types) else frozenset()
        if name not in ("Optional", "Union"):
            return frozenset()
    told = [python_only(part) for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
    return frozenset[str]().union(*told) if all(told) else frozenset()


def holds_plain(node: ast.expr) -> bool:
    """Whether an annotation names a list or a tuple of plain numbers or words, however deep: no tensor is one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return all(holds_plain(part) for part in (node.left, node.right) if not _is_none(part))
    if not isinstance(node, ast.Subscript):
        return False
    name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    parts = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is ... or _is_none(part))]
    if name in ("Optional", "Union"):
        return bool(parts) and all(map(holds_plain, parts))
    return name in _LISTS | _TUPLES and bool(parts) and all(python_only(part) or holds_plain(part) for part in parts)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _either(a: Value, b: Value) -> Value:
    """`A | B`. Next to None an unknown alternative stays unknown; next to a tensor it makes the whole unknown."""
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    return _doubted(join(a, b))


def _doubted(value: Value) -> Value:
    """A tensor beside something else than None: callers may pass either, and the annotation does not say which."""
    if not isinstance(value, Union) or all(isinstance(o, Tensor) or is_none(o) for o in value.options):
        return value
    return Union(tuple([o.with_(conf=NAMED) if isinstance(o, Tensor) else o for o in value.options]))


def _named(interp: Interpreter, module: Module, name: str, origin: Origin, node: ast.expr, depth: int) -> Value:
    if name in _TENSORS:
        return Tensor(PROVEN, _TENSORS[name], -1, 0, origin)
    if isinstance(node, ast.Name):
        scalar = SCALARS.get(name)
        if scalar is not None:
            return Scalar(scalar.type, "", origin)
        if name in _LISTS or name in _TUPLES:
            return Seq("list" if name in _LISTS else "tuple", None, UNKNOWN)
        if name in _DICTS:
            return Dict({}, UNKNOWN)
    if name.endswith(tokenizers.CLASS_ENDINGS):
        # A layer that makes tokens of features is a module like any other, a tokenizer in plain Python can be traced.
        cls = interp.classes.of(interp.names.value(module, name)) if isinstance(node, ast.Name) else None
        if cls is not None and not interp.classes.external_base(cls).endswith(tokenizers.CLASS_ENDINGS):
            return Instance(cls)
        return Object(tokenizers.TOKENIZER, origin)
    if name == "Logger":
        return Object("logging.Logger", origin)
    if name == "ndarray":
        return Tensor(PROVEN, "", -1, ARRAY, origin)
    if isinstance(node, ast.Name):
        definition = module.named(name)
        if isinstance(definition, Class):
            return Instance(definition)
        if isinstance(definition, Import):
            value = interp.names.value(module, name)
            if isinstance(value, External):
                known = _NUMBERS.get(value.name)
                return Scalar(known, "", origin) if known is not None else _of_torch(value.name, origin)
            found = interp.classes.of(value)
            return Instance(found) if found is not None else UNKNOWN
        if isinstance(definition, Assignment):
            statement = module.node(definition.ordinal)
            value = getattr(statement, "value", None)
            if isinstance(value, (ast.Subscript, ast.BinOp, ast.Name, ast.Attribute)):
                return evaluate(interp, module, value, origin, depth + 1)
    elif isinstance(node, ast.Attribute):
        found = interp.classes.of(interp.evaluate_silently(interp.names.frame(module), node))
        if found is not None:
            return Instance(found)
    if name == "Module":
        return Object(_MODULE, origin)
    dotted = _dotted(interp, module, node)
    return Scalar(_NUMBERS[dotted], "", origin) if dotted in _NUMBERS else _of_torch(dotted, origin)


def _dotted(interp: Interpreter, module: Module, node: ast.expr) -> str:
    """The dotted name of what an annotation names in a library, nothing where the program defines it."""
    if isinstance(node, ast.Attribute):
        base = _dotted(interp, module, node.value)
        return f"{base}.{node.attr}" if base else ""
    if not isinstance(node, ast.Name) or not isinstance(module.named(node.id), Import):
        return ""
    value = interp.names.value(module, node.id)
    return value.name if isinstance(value, External) else ""


def _of_torch(name: str, origin: Origin) -> Value:
    """An instance of a class of torch, or of one that somebody made below it."""
    name = facts.canonical(name)
    if name in TENSOR_TYPES:
        return Tensor(PROVEN, "", -1, 0, origin)
    if name == _MODULE or name.startswith("torch.nn.") and returns.is_module_class(name):
        return Object(name, origin, "" if name == _MODULE else "module")
    return UNKNOWN


def _generic(interp: Interpreter, module: Module, node: ast.Subscript, origin: Origin, depth: int) -> Value:
    base = node.value
    name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
    inner = node.slice
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name in _SHAPED:
        return Tensor(PROVEN, _SHAPED[name], _shaped_ndim(parts), 0, origin)
    if name == "Optional":
        return _either(evaluate(interp, module, inner, origin, depth + 1), NONE)
    if name == "Union":
        values = [evaluate(interp, module, p, origin, depth + 1) for p in parts]
        return UNKNOWN if any(v is UNKNOWN for v in values) else _doubted(join_all(values))
    if name in ("Annotated", "Final", "ClassVar", "Required"):
        return evaluate(interp, module, parts[0], origin, depth + 1)
    if name in _CLASSES:
        return _class_of(interp, evaluate(interp, module, parts[0], origin, depth + 1))
    if name in _LISTS:
        return Seq("list", None, evaluate(interp, module, parts[0], origin, depth + 1))
    if name in _TUPLES:
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
            return Seq("tuple", None, evaluate(interp, module, parts[0], origin, depth + 1))
        values = [evaluate(interp, module, p, origin, depth + 1) for p in parts]
        # `Tuple[Tensor]` is often written for a tuple of any length.
        return Seq("tuple", None, values[0]) if len(values) == 1 else Seq("tuple", tuple(values))
    if name in _DICTS and len(parts) == 2:
        return Dict({}, evaluate(interp, module, parts[1], origin, depth + 1))
    if name == "Literal":
        literals = [p.value for p in parts if isinstance(p, ast.Constant)]
        if literals and all(isinstance(v, str) for v in literals):
            return Scalar("str", "", origin, among=tuple(literals)) if len(literals) == len(parts) else STR
        if literals and all(isinstance(v, int) for v in literals):
            return Scalar("int", "", origin, among=tuple(literals)) if len(literals) == len(parts) else INT
    return UNKNOWN


def _class_of(interp: Interpreter, made: Value) -> Value:
    """`type[Base]`: that class of the program or any below it, where these are few."""
    found: dict[Class, None] = {}
    for each in made.options:
        if not isinstance(each, Instance):
            return UNKNOWN
        mine = (h for h in heirs.of_kind(interp, each.cls) if not roles.is_test(h.module.path))
        # Of a base of thousands nobody needs to know them all to say that they are many.
        found |= dict.fromkeys(islice(mine, heirs.MOST + 1))
        if len(found) > heirs.MOST:
            return UNKNOWN
    return join_all([ClassValue(cls) for cls in found])


def _shaped_ndim(parts: list[ast.expr]) -> int:
    if len(parts) == 2 and isinstance(parts[1], ast.Constant) and isinstance(parts[1].value, str):
        axes = parts[1].value.split()
        if not any(a.startswith(("*", "...")) for a in axes):
            return len(axes)
    return -1
