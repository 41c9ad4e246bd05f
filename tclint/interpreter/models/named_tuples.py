"""What `collections.namedtuple` makes: classes, and tuples of which names stand for the items."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import UNKNOWN, Const, External, Seq, Value

CLASS: Final = "tclint.namedtuple"
"""Such a class; behind it, where known, the names of its fields."""


def class_of(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """The class, whose name says what its fields are called, where that is known."""
    told = args[1] if len(args) > 1 else keywords.get("field_names", UNKNOWN)
    if isinstance(told, Seq) and told.items is not None:
        texts = [each.value for each in told.items if isinstance(each, Const)]
        known = len(texts) == len(told.items)
    else:
        texts, known = [told.value if isinstance(told, Const) else None], isinstance(told, Const)
    if not known or not all(isinstance(text, str) for text in texts):
        return External(CLASS)
    return External(" ".join([CLASS, *(" ".join(texts).replace(",", " ").split())]))


def made(names: Sequence[str], args: Args, keywords: Keywords) -> Value:
    """`Pair(a, second=b)`: a tuple, of which names stand for the items where each of them is given."""
    if any(isinstance(value, Seq) and value.kind == "star" for value in args):
        return Seq("tuple", None, UNKNOWN)
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if not names or len(args) > len(names) or given.keys() != set(names):
        return Seq("tuple", (*args, *keywords.values()))
    return Seq("tuple", tuple(given[name] for name in names)).named(tuple(names))
