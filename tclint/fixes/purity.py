"""Whether an expression may be computed, left out or moved without anybody noticing."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tclint.fixes.uses import uses_in
from tclint.program import Import
from tclint.torch_facts import facts, returns
from tclint.values import DATA_SIZED, Const, External, FunctionValue, Instance, Object, Scalar, Seq, Tensor, Value

if TYPE_CHECKING:
    from tclint.events.queries import Queries
    from tclint.fixes.places import Place
    from tclint.program import Function

_DEEPEST: Final = 3
"""How far the program's own functions are followed."""
_LONGEST: Final = 40
"""Statements of a function that is followed: a side that long is not one to compute for nothing."""
_NUMERIC: Final = ("torch.nn.functional.", "torch.linalg.", "torch.special.", "torch.fft.")
"""Modules of functions that compute a result, but for some that the facts name."""

# Functions and methods that return a fresh value, made of others or of sizes, have no side effect and are defined for every
# input of the right shape.
PURE: Final = frozenset(
    "abs absolute add amax amin all any argmax argmin asin atan atan2 bool broadcast_to cat ceil chunk clamp clamp_max "
    "clamp_min clone contiguous cos cosh count_nonzero cumprod cumsum detach diag diagonal div double einsum eq erf exp "
    "expand expand_as expm1 flatten flip float floor fmod full_like gather ge gelu gt half int isfinite isinf isnan "
    "layer_norm le leaky_relu lerp log log10 log1p log2 log_softmax logical_and logical_not logical_or logsigmoid "
    "logsumexp long lt masked_fill matmul max maximum mean median min minimum mish mm movedim mul nan_to_num ne neg norm "
    "normalize numel ones_like permute pow prod reciprocal relu relu6 remainder reshape roll round rsqrt selu sigmoid sign "
    "silu sin sinh size softmax softplus softsign sqrt square squeeze stack std sub sum tan tanh tile to transpose tril "
    "triu true_divide trunc type_as unbind unflatten unsqueeze var view view_as where zeros_like dim elu celu zeros ones "
    "full arange eye linspace tensor as_tensor new_zeros new_ones new_full new_tensor".split()
)
# Modules whose call changes nothing but its result. Not dropout, not batch norm.
PURE_MODULES: Final = frozenset(
    "Linear Bilinear Identity Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d LayerNorm GroupNorm RMSNorm ReLU GELU "
    "SiLU Tanh Sigmoid Softmax LogSoftmax LeakyReLU ELU Mish Hardswish Embedding Flatten AvgPool1d AvgPool2d MaxPool1d "
    "MaxPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d Softplus ReLU6 Hardtanh Unflatten".split()
)
# Calls that log something and change nothing.
LOGGING: Final = frozenset(
    "debug info warning warn error critical exception log warning_once info_once debug_once error_once print".split()
)


def pure(place: Place | _Body, node: ast.AST) -> bool:
    """Whether an expression may be computed although its value may not be wanted: no effect, no error, no large cost."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return not (isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)))
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, (ast.Name, ast.Attribute)) or pure(place, node.value)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and pure(place, node.operand)
    if isinstance(node, ast.BinOp):
        return pure(place, node.left) and pure(place, node.right)
    if isinstance(node, ast.Compare):
        return (
            len(node.ops) == 1
            and not isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot))
            and (pure(place, node.left) and pure(place, node.comparators[0]))
        )
    if isinstance(node, ast.Subscript):
        return pure(place, node.value) and all(_plain_index(place, n) for n in _index_parts(node.slice))
    if isinstance(node, ast.Starred):
        return _is_known(place, node.value, Seq) and pure(place, node.value)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(pure(place, e) for e in node.elts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        # `float("-inf")`: a number that Python has no literal for.
        return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and not node.keywords
    if isinstance(node, ast.Call):
        return (
            _pure_callee(place, node.func)
            and all(pure(place, a) or _plain(a) for a in (*node.args, *(k.value for k in node.keywords)))
            and all(k.arg is not None for k in node.keywords)
        )
    return False


def _plain(node: ast.AST) -> bool:
    """`dim=None`, `torch.float32`, `"mean"`."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))


def _plain_index(place: Place | _Body, node: ast.AST) -> bool:
    if isinstance(node, ast.Slice):
        # Bounds that lie outside select less, and never fail; a step may be no step.
        return (node.step is None or _is_literal(node.step)) and all(
            bound is None
            or _plain_index(place, bound)
            or (_is_known(place, bound, Scalar, Const) and pure(place, bound))
            for bound in (node.lower, node.upper)
        )
    # A number that Python knows is in range or not whatever a tensor says; positions that were looked for are there.
    return _is_literal(node) or (isinstance(node, ast.Name) and _is_in_range(place, node))


def _is_literal(node: ast.AST) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _is_in_range(place: Place | _Body, node: ast.expr) -> bool:
    value = None if isinstance(place, _Body) else place.event.ask.evaluate(node)
    if isinstance(value, Tensor):
        return value.dtype == "i" and bool(value.flags & DATA_SIZED)
    return (
        value is not None and value.python_type == "int" and not (isinstance(value, Scalar) and value.source == "data")
    )


def _is_known(place: Place | _Body, node: ast.expr, *kinds: type[Value]) -> bool:
    """Whether an expression is surely of one of these kinds: a size and no tensor, a sequence and no object of the program's."""
    return not isinstance(place, _Body) and isinstance(place.event.ask.evaluate(node), kinds)


def _index_parts(node: ast.AST) -> list[ast.AST]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _pure_callee(place: Place | _Body, func: ast.AST) -> bool:
    if isinstance(func, ast.Attribute) and func.attr in PURE:
        owner = func.value
        if isinstance(owner, ast.Name) and owner.id != "self":
            return True
        if not isinstance(owner, ast.Name) and pure(place, owner):
            return True
    if isinstance(func, ast.Attribute) and not isinstance(place, _Body) and _gives_tensor(func.attr):
        if pure(place, func.value) and isinstance(place.event.ask.evaluate(func.value), Tensor):
            return True
    if isinstance(func, ast.Subscript) and not isinstance(place, _Body):
        # `self.heads[0](x)`
        return _is_literal(func.slice) and _pure_value(place.event.ask, place.event.ask.evaluate(func), _DEEPEST)
    if not _is_dotted(func):
        return False
    if isinstance(place, _Body):
        return _pure_value(place.ask, place.value(func), place.depth)
    assert isinstance(func, ast.expr)
    return _pure_value(place.event.ask, place.event.ask.evaluate(func), _DEEPEST)


def _is_dotted(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _pure_value(ask: Queries, value: Value | None, depth: int) -> bool:
    """Whether a call of something changes nothing but its result, as far as the program tells."""
    if isinstance(value, External):
        last = value.name.rpartition(".")[2]
        if value.name.startswith("math.") or value.name == "builtins.len":
            return True
        if value.name.startswith(_NUMERIC):
            return not last.endswith("_") and value.name not in facts.named("draws, or keeps what it has seen")
        if value.name in facts.named("tells the limits of a dtype"):
            return True
        return value.name.startswith("torch.") and (last in PURE or _computes(value.name))
    if isinstance(value, Object) and value.name.startswith("torch.nn."):
        if value.name == "torch.nn.Sequential" and isinstance(value.args, Seq) and value.args.items is not None:
            return all(_pure_value(ask, item, depth) for item in value.args.items)
        return value.name.rpartition(".")[2] in PURE_MODULES
    if depth == 0:
        return False
    if isinstance(value, Instance) and ask.is_nn_module(value.cls):
        forward = ask.method(value.cls, "forward")
        return forward is not None and _Body(ask, forward, value, depth - 1).is_pure()
    if isinstance(value, FunctionValue) and value.closure is None:
        me = value.bound if isinstance(value.bound, Instance) else None
        return (value.bound is None or me is not None) and _Body(ask, value.function, me, depth - 1).is_pure()
    return False


def _gives_tensor(method: str) -> bool:
    """Whether tensors have a method of this name that gives a tensor and does nothing else."""
    draws = f"Tensor.{method}" in facts.named("draws from a generator")
    return not method.endswith("_") and not draws and returns.kind(f"tensor#{method}") == "tensor"


def _computes(name: str) -> bool:
    """Whether a function of torch's own gives a tensor and does nothing else."""
    draws = name in facts.named("draws, or keeps what it has seen")
    return name.count(".") == 1 and not name.endswith("_") and not draws and returns.kind(name) == "tensor"


@dataclass(frozen=True, slots=True)
class _Body:
    """A function of the program that somebody calls, perhaps on an object."""

    ask: Queries
    function: Function
    me: Instance | None
    depth: int

    def is_pure(self) -> bool:
        """Whether it computes a result and does nothing else."""
        node = self.function.node
        if not isinstance(node, ast.FunctionDef) or len(node.body) > _LONGEST:
            return False
        return all(self._pure_statement(statement) for statement in node.body)

    def _pure_statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Expr):
            return isinstance(statement.value, ast.Constant)
        if isinstance(statement, ast.Return):
            return statement.value is None or pure(self, statement.value)
        if isinstance(statement, ast.Assign):
            return all(map(_is_local, statement.targets)) and pure(self, statement.value)
        if isinstance(statement, ast.If):
            plain = isinstance(statement.test, (ast.Name, ast.Attribute, ast.Compare, ast.UnaryOp))
            calls = any(isinstance(n, ast.Call) for n in ast.walk(statement.test))
            return plain and not calls and all(map(self._pure_statement, (*statement.body, *statement.orelse)))
        return isinstance(statement, ast.Pass)

    def value(self, func: ast.AST) -> Value | None:
        """What a dotted name of the function is: an attribute of its object, or what the file knows."""
        names: list[str] = []
        while isinstance(func, ast.Attribute):
            names.insert(0, func.attr)
            func = func.value
        assert isinstance(func, ast.Name)
        arguments = self.function.node.args.args if isinstance(self.function.node, ast.FunctionDef) else []
        if self.me is not None and arguments and func.id == arguments[0].arg:
            return self._attribute(self.me, names[0]) if len(names) == 1 else None
        if func.id in uses_in(self.function.node).bound:
            return None
        imported = self.function.module.names.get(func.id)
        if isinstance(imported, Import) and names:
            return External(".".join(filter(None, (imported.target, imported.attribute, *names))))
        return self.ask.module_value(func.id, self.function.module) if not names else None

    def _attribute(self, me: Instance, name: str) -> Value | None:
        held = self.ask.attributes(me).get(name)
        if held is not None:
            return held
        method = self.ask.method(me.cls, name)
        plain = method is not None and isinstance(method.node, ast.FunctionDef) and not method.node.decorator_list
        return FunctionValue(method, me) if method is not None and plain else None


def _is_local(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(map(_is_local, target.elts))
    return isinstance(target, ast.Name)


def has_effects(node: ast.AST, top: bool = False) -> bool:
    """Whether leaving the arguments of a call out would leave out more than the call."""
    return any(
        isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
        or (isinstance(n, ast.Call) and _changes_something(n.func))
        for n in ast.walk(node)
        if not (top and n is node)
    )


def _changes_something(func: ast.expr) -> bool:
    if isinstance(func, ast.Attribute):
        return func.attr in ("pop", "popleft", "popitem", "append", "update", "add_", "step")
    return isinstance(func, ast.Name) and func.id in ("next", "setattr", "exec")


def only_logs(statement: ast.stmt) -> bool:
    """Whether a statement logs something, and nothing else."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or has_effects(call, top=True):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in LOGGING
