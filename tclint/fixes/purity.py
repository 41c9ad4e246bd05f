"""Whether an expression may be computed, left out or moved without anybody noticing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.values import Instance, Object

if TYPE_CHECKING:
    from tclint.fixes.places import Place

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


def pure(place: Place, node: ast.AST) -> bool:
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
        return pure(place, node.value) and all(_plain_index(n) for n in _index_parts(node.slice))
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


def _plain_index(node: ast.AST) -> bool:
    if isinstance(node, ast.Slice):
        return all(p is None or _plain_index(p) for p in (node.lower, node.upper, node.step))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant)


def _index_parts(node: ast.AST) -> list[ast.AST]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _pure_callee(place: Place, func: ast.AST) -> bool:
    if not isinstance(func, ast.Attribute):
        return False
    owner = func.value
    if isinstance(owner, ast.Name) and owner.id == "self":
        held = _held(place, func.attr)
        return (
            isinstance(held, Object)
            and held.name.startswith("torch.nn.")
            and (held.name.rpartition(".")[2] in PURE_MODULES)
        )
    if func.attr not in PURE:
        return False
    return isinstance(owner, ast.Name) or pure(place, owner)


def _held(place: Place, attribute: str) -> object:
    """What `self.attribute` is, as far as the interpreter knows."""
    ask = place.event.ask
    owner = ask.local("self")
    return ask.attributes(owner).get(attribute) if isinstance(owner, Instance) else None


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
