"""Keys that `sorted(items, key=…)`, `max` and `min` ask for."""

from __future__ import annotations

import ast

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args
from tclint.values import UNKNOWN, Value, join_all
from tclint.values.sequence import compare_keys


def ask(frame: Frame, node: ast.AST, key: Value, items: Args) -> None:
    """Every key is asked for. In compiled code they are compared; eager code holds them all, `max` the best one so far."""
    if frame.region is not None:
        compare_keys(frame, node, join_all(items), key)
        return
    asked = join_all([key.call(frame, node, [item], {}) for item in items])
    place = next((k.value for k in node.keywords if k.arg == "key"), node) if isinstance(node, ast.Call) else node
    frame.interp.emitter.emit(events.Store, frame, place, "comprehension", UNKNOWN, "", asked, None, False, None)
