"""Checks of tensors that stay in the graph: what TCL103 and TCL122 offer."""

from __future__ import annotations

import ast

from tclint.fixes.places import Place
from tclint.fixes.recipes import quoted
from tclint.model.finding import Applicability, Fix
from tclint.rules._messages import constant_text


def asynchronous(place: Place, node: ast.Call, *, every: bool = False) -> Fix | None:
    """`torch._assert_async(t, "…")` for `torch._check(t, lambda: "…")`; for a check of every element, of `t.all()`."""
    if node.keywords or not node.args or not isinstance(node.func, ast.Attribute):
        return None
    message = node.args[1] if len(node.args) > 1 else None
    body = message.body if isinstance(message, ast.Lambda) else message
    text = constant_text(body) if body is not None else ""
    owner = place.source(node.func.value)
    rest = f", {quoted(text)}" if text else ""
    condition = f"{place.atom(node.args[0])}.all()" if every else place.argument(node.args[0])
    edit = place.replace(node, f"{owner}._assert_async({condition}{rest})")
    note = "the error comes later, as an asynchronous one, and another exception is raised"
    return Fix("check in the graph", Applicability.UNSAFE, (edit,), note)
