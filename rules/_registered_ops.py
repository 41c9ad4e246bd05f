"""Operators that a file registers with `torch.library` and does not call compliant, where Dynamo was told to take no others."""

from __future__ import annotations

import ast
from typing import Final

from tclint.events import Call
from tclint.program import Module
from tclint.sources.tree import nodes, text

FEATURE: Final = "operator that is not called compliant"
_SETTING: Final = "only_allow_pt2_compliant_ops"


def of_call(event: Call) -> str | None:
    if not event.name.startswith("torch.ops.") or not event.configured(_SETTING):
        return None
    namespace, _, name = event.name.removeprefix("torch.ops.").removesuffix(".default").rpartition(".")
    return FEATURE if f"{namespace}::{name}" in event.ask.of_file(_untagged) else None


def _untagged(module: Module) -> frozenset[str]:
    """`library::name` of the operators that are defined by a schema, without tags."""
    if b".define(" not in module.data:
        return frozenset()
    libraries: dict[str, str] = {}
    found: set[str] = set()
    for node in nodes(module.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            made = node.value
            if text(made.func).endswith("Library") and made.args and isinstance(made.args[0], ast.Constant):
                libraries[node.targets[0].id] = str(made.args[0].value)
    for node in nodes(module.tree):
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(function, ast.Attribute) or function.attr != "define":
            continue
        told = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if isinstance(told, str) and not any(each.arg == "tags" for each in node.keywords):
            name = told.partition("(")[0].strip()
            owner = libraries.get(text(function.value))
            found.add(name if "::" in name else f"{owner}::{name}" if owner else "")
    return frozenset(found - {""})
