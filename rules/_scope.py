"""The code around an event: positions, order, enclosing blocks, whose a name is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tclint.values import FunctionValue

if TYPE_CHECKING:
    from tclint.events import Compile, Event
    from tclint.interpreter.frame import Frame
    from tclint.program import Function
    from tclint.values import CompileSite

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def text(node: ast.AST | None) -> str:
    return ast.unparse(node) if node is not None else ""


def place(event: Event) -> tuple[str, str]:
    """The function an event happens in: what a rule files its memories under."""
    function = event.frame.function
    return event.frame.module.path, function.qualname if function is not None else ""


def scope(frame: Frame) -> ast.AST:
    """The function of a frame, or its whole file."""
    return frame.function.node if frame.function is not None else frame.module.tree


def own(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or file in source order, without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(root):
        yield child
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield from own(child)


def bound(function: Function) -> frozenset[str]:
    """The names that belong to a function: its parameters, and what it assigns."""
    arguments = function.node.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    return function.stored_names() | names


def of_file(frame: Frame, name: str) -> bool:
    """Whether a name that a function uses is one of its file: a global, an import."""
    return frame.function is not None and name in frame.module.names and name not in bound(frame.function)


def calls(root: ast.AST) -> Iterator[ast.Call]:
    return (node for node in own(root) if isinstance(node, ast.Call))


def same(a: ast.AST, b: ast.AST) -> bool:
    """Whether two nodes stand at the same place: a file may have been parsed again in between."""
    return type(a) is type(b) and _position(a) == _position(b)


def _position(node: ast.AST) -> tuple[int, int, int, int]:
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )


def ancestors(root: ast.AST, node: ast.AST) -> list[ast.AST]:
    """What encloses a node, outermost first, without the node; empty where it is not in there."""
    here = _position(node)
    line, last = here[0], here[2]
    for child in ast.iter_child_nodes(root):
        first: int | None = getattr(child, "lineno", None)
        if first is not None:
            # Most siblings stand on other lines.
            if first > line or child.end_lineno < last:  # type: ignore[attr-defined]
                continue
            place = _position(child)
            if place == here and type(child) is type(node):
                return [root]
            if place[:2] > here[:2] or here[2:] > place[2:]:
                continue
        found = ancestors(child, node)
        if found:
            return [root, *found]
    return []


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


def site_in_place(site: CompileSite) -> bool:
    """The same question for a site, answered from its text."""
    name = site.text.partition("(")[0]
    return not site.decorator and name.endswith(".compile") and name not in ("torch.compile", "th.compile")


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
