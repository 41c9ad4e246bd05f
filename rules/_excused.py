"""Calls that print or log at which Dynamo does not break, because the program has told it so."""

from __future__ import annotations

import ast
from typing import Final

from tclint.events import Call
from tclint.values import Const, Scalar, tensor_of

_LEFT_OUT: Final = ("ignore_logging_functions", "ignore_logger_methods")
_LATER: Final = "reorderable_logging_functions"


def is_excused(event: Call) -> bool:
    """Whether Dynamo leaves a call out, or has it done behind the graph: that of tensors, numbers and texts alone."""
    node = event.node
    if not isinstance(node, ast.Call):
        return False
    written = ast.unparse(node.func)
    methods = (written, f"logging.Logger.{event.method}")
    if any(event.configured(f"{setting}: {name}") for setting in _LEFT_OUT for name in methods):
        return True
    given = (*event.args, *event.keywords.values())
    plain = all(isinstance(each, (Const, Scalar)) or tensor_of(each) is not None for each in given)
    return plain and event.configured(f"{_LATER}: {written}")
