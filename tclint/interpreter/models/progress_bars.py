"""Progress bars: they give, one by one, what they are given."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords, instance, is_class, library
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Object, Value

_BARS: Final = frozenset(facts.named("hands on what is iterated"))


def _call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    if name in _BARS:
        return Object(name, frame.origin(node), "", args[0] if args else keywords.get("iterable", UNKNOWN))
    return instance(frame, node, name, args, keywords, open_ended) if is_class(name) else UNKNOWN


library(sorted({name.partition(".")[0] for name in _BARS}), _call)
