"""Which files are programs that hand something to the compiler by themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def is_main_guard(test: ast.expr) -> bool:
    """`__name__ == "__main__"`, and whatever else asks for the name."""
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def is_program(file: Path) -> bool:
    """Whether a file compiles something and runs: under a main block, or at module level as scripts do."""
    tree = _tree(file)
    return tree is not None and (
        (
            any(isinstance(node, ast.If) and is_main_guard(node.test) for node in tree.body)
            and any(_compiles(node) for node in ast.walk(tree))
        )
        or _runs_compiled(tree)
    )


def is_script(file: Path) -> bool:
    """Whether importing a file calls what it has compiled: its definitions are all that an importer wants of it."""
    tree = _tree(file)
    return tree is not None and _runs_compiled(tree)


def has_device_main(file: Path) -> bool:
    """Whether a file defines `main(device)`, which runs all of it on a device."""
    try:
        text = file.read_bytes()
        tree = ast.parse(text) if b"def main(" in text else None
    except (OSError, SyntaxError, ValueError):
        return False
    return tree is not None and any(
        isinstance(node, ast.FunctionDef) and node.name == "main" and [a.arg for a in node.args.args] == ["device"]
        for node in tree.body
    )


def _tree(file: Path) -> ast.Module | None:
    """The source of a file that may compile something."""
    try:
        text = file.read_bytes()
        return ast.parse(text) if b"compile" in text else None
    except (OSError, SyntaxError, ValueError):
        return None


def run_on_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that an import runs, also those inside others; main blocks are not among them."""
    for statement in body:
        if isinstance(statement, ast.If) and is_main_guard(statement.test):
            continue
        yield statement
        if isinstance(statement, (ast.If, ast.With, ast.Try)):
            yield from run_on_import(statement.body)


def _runs_compiled(tree: ast.Module) -> bool:
    """Whether a statement at module level calls something compiled, by itself or through a function of the file.

    An assignment only makes things, `step = make_step()`, unless what it calls is compiled already.
    """
    functions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    compiled = {name for name, node in functions.items() if any(map(_compiles_in, node.decorator_list))}
    statements = [node for node in run_on_import(tree.body) if not isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    through: set[str] = set()
    while True:
        before = len(compiled) + len(through)
        through |= {
            name for name, node in functions.items() if _compiles_in(node) or _names(node) & (compiled | through)
        }
        for statement in statements:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                if _compiles_in(statement.value) or _called(statement.value) & through:
                    compiled |= _stored(statement)
            elif isinstance(statement, ast.Expr):
                compiled |= {root for root, method in _calls(statement) if method == "compile"}
        if len(compiled) + len(through) == before:
            break
    for statement in statements:
        if isinstance(statement, (ast.For, ast.While, ast.With, ast.Expr)):
            if _called(statement) & (compiled | through):
                return True
        elif isinstance(statement, (ast.Assign, ast.AugAssign)) and _called(statement.value) & compiled:
            return True
    return False


def _calls(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The name that each call begins with, and the method that is called on it."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            function = call.func
            method = function.attr if isinstance(function, ast.Attribute) else ""
            while isinstance(function, ast.Attribute):
                function = function.value
            if isinstance(function, ast.Name):
                yield function.id, method


def _called(node: ast.AST) -> set[str]:
    return {root for root, method in _calls(node) if method != "compile"}


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def _stored(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _compiles_in(node: ast.AST) -> bool:
    return any(_compiles(part) for part in ast.walk(node))


def _compiles(node: ast.AST) -> bool:
    """`torch.compile`, a method `compile`, a name imported from torch: called or as a decorator."""
    if isinstance(node, ast.Attribute):
        return node.attr == "compile" and not (isinstance(node.value, ast.Name) and node.value.id == "re")
    return isinstance(node, ast.ImportFrom) and node.module == "torch" and any(a.name == "compile" for a in node.names)
