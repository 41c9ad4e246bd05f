"""The code around an event: positions, order, enclosing blocks, whose a name is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tclint.sources.tree import ancestors, by_kind, own, text
from tclint.values import FunctionValue

if TYPE_CHECKING:
    from tclint.events import Compile, Event
    from tclint.program import Function

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def place(event: Event) -> tuple[str, str]:
    """The function an event happens in: what a rule files its memories under."""
    function = event.enclosing
    return event.module.path, function.qualname if function is not None else ""


def scope(event: Event) -> ast.AST:
    """The function an event happens in, or its whole file."""
    return event.enclosing.node if event.enclosing is not None else event.module.tree


def of_file(event: Event, name: str) -> bool:
    """Whether a name that a function uses is one of its file: a global, an import."""
    function = event.enclosing
    return function is not None and event.module.named(name) is not None and name not in function.bound_names()


def stores(function: Function) -> Counter[str]:
    """How often each name is bound in a function and in those inside it; asked as an index of the function."""
    return Counter(n.id for n in by_kind(function.node)[ast.Name] if type(n.ctx) is ast.Store)


def calls(root: ast.AST) -> Iterator[ast.Call]:
    return (node for node in own(root) if isinstance(node, ast.Call))


def header(node: ast.AST) -> ast.AST:
    """The first line of a compound statement, so that a finding does not span its body."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        head = ast.Pass(lineno=node.lineno, col_offset=node.col_offset)
        head.end_lineno = node.lineno
        head.end_col_offset = (
            node.col_offset + len("class " if isinstance(node, ast.ClassDef) else "def ") + len(node.name)
        )
        return head
    return node


def inside(node: ast.AST, block: ast.AST | Sequence[ast.stmt]) -> bool:
    """Whether a node lies within the lines of a statement or block."""
    first, last = (block, block) if isinstance(block, ast.AST) else (block[0], block[-1])
    line = getattr(node, "lineno", 0)
    return bool(getattr(first, "lineno", 0) <= line <= (getattr(last, "end_lineno", 0) or 0))


def argument(node: ast.AST, name: str, index: int = -1) -> ast.expr | None:
    """The expression passed for a parameter."""
    if not isinstance(node, ast.Call):
        return None
    for keyword in node.keywords:
        if keyword.arg == name:
            return keyword.value
    return node.args[index] if 0 <= index < len(node.args) else None


def callee(node: ast.AST) -> str:
    """`torch.compile` of `torch.compile(f)`, of `@torch.compile` and of `@torch.compile(mode=…)`."""
    return text(node.func if isinstance(node, ast.Call) else node)


def compiles_in_place(event: Compile) -> bool:
    """`module.compile()`, as against `torch.compile(module)`."""
    node = event.node
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "compile"
        and event.positional == len(node.args) + 1
        and not isinstance(event.target, FunctionValue)
    )


def target_of(event: Compile) -> ast.expr | None:
    """The expression that is compiled."""
    node = event.node
    if compiles_in_place(event):
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Attribute)
        return node.func.value
    return argument(node, "model", 0)


def result_name(root: ast.AST, node: ast.AST) -> str:
    """The name or path that the value of a call is bound to: `x` in `x = call(…)`."""
    chain = ancestors(root, node)
    parent = chain[-1] if chain else None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return text(parent.targets[0])
    if isinstance(parent, (ast.AnnAssign, ast.NamedExpr)):
        return text(parent.target)
    return ""
