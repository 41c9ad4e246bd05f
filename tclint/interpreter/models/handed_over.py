"""Functions that an operator takes as a graph of its own: what they do is done inside of it."""

from __future__ import annotations

import ast
from dataclasses import replace

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import Value


def call_inside(
    frame: Frame,
    node: ast.AST,
    name: str,
    function: Value,
    args: Args,
    open_ended: bool = False,
    keywords: Keywords | None = None,
) -> Value:
    """The value of a function that compiled code hands to the operator `name`, here."""
    region = frame.region
    assert region is not None
    frame.region = replace(region, inside=name, entry=node)
    try:
        return function.call(frame, node, args, keywords or {}, open_ended)
    finally:
        frame.region = region
