"""Checks of tensors that stay in the graph: what TCL101, TCL103 and TCL122 offer."""

from __future__ import annotations

import ast

from tclint.fixes.places import Place
from tclint.fixes.recipes import quoted
from tclint.model.finding import Applicability, Fix
from tclint.rules._messages import constant_text
from tclint.sources.tree import nodes


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


def is_caught(place: Place, raised: ast.Raise) -> bool:
    """Whether the file catches an exception of this type by its name."""
    made = raised.exc.func if isinstance(raised.exc, ast.Call) else raised.exc
    name = made.id if isinstance(made, ast.Name) else ""
    handlers = (n.type for n in nodes(place.module.tree) if isinstance(n, ast.ExceptHandler) and n.type is not None)
    return any(isinstance(n, ast.Name) and n.id == name for handler in handlers for n in ast.walk(handler))
