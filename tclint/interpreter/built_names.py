"""Names of attributes that a class puts together: `self.register_buffer(f"table_{i}", table)`."""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Sequence

from tclint.interpreter.constructors import REGISTERS
from tclint.program import Class
from tclint.sources.tree import nodes


def may_be(name: str, order: Sequence[Class]) -> bool:
    """Whether a name may be one of those that an object's classes put together; so it is where they do not say how."""
    patterns = [each for cls in order for method in cls.methods.values() for each in method.node_index(_patterns)]
    return not patterns or any(fnmatch.fnmatchcase(name, each) for each in patterns)


def _patterns(root: ast.AST) -> tuple[str, ...]:
    """The names that a function gives to attributes where it does not write them out: `table_*`."""
    found: list[str] = []
    for node in nodes(root):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in REGISTERS and node.args:
            named = node.args[0]
        elif isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) == 3:
            named = node.args[1]
        else:
            continue
        if isinstance(named, ast.JoinedStr):
            parts = (_as_it_is(str(p.value)) if isinstance(p, ast.Constant) else "*" for p in named.values)
            found.append("".join(parts))
        elif not isinstance(named, ast.Constant):
            found.append("*")
    return tuple(found)


def _as_it_is(text: str) -> str:
    """A text that stands for itself in a pattern."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in text)
