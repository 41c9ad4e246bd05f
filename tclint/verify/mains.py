"""Which files are programs that hand something to the compiler by themselves."""

from __future__ import annotations

import ast
from pathlib import Path


def is_main_guard(test: ast.expr) -> bool:
    """`__name__ == "__main__"`, and whatever else asks for the name."""
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def is_program(file: Path) -> bool:
    """Whether a file has a main block and hands something to the compiler by itself."""
    try:
        text = file.read_bytes()
        tree = ast.parse(text) if b"compile" in text and b"__main__" in text else None
    except (OSError, SyntaxError, ValueError):
        return False
    return (
        tree is not None
        and any(isinstance(node, ast.If) and is_main_guard(node.test) for node in tree.body)
        and any(_compiles(node) for node in ast.walk(tree))
    )


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


def _compiles(node: ast.AST) -> bool:
    """`torch.compile`, a method `compile`, a name imported from torch: called or as a decorator."""
    if isinstance(node, ast.Attribute):
        return node.attr == "compile" and not (isinstance(node.value, ast.Name) and node.value.id == "re")
    return isinstance(node, ast.ImportFrom) and node.module == "torch" and any(a.name == "compile" for a in node.names)
