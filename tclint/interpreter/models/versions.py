"""Versions of packages, as programs parse and compare them."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords, instance, is_class, library
from tclint.torch_facts.releases import VersionText
from tclint.values import UNKNOWN, Const, Value

_PARSERS: Final = frozenset({"parse", "Version", "LooseVersion", "StrictVersion", "parse_version"})


def _call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`version.parse(torch.__version__)`: a version that is compared by its numbers."""
    if name.rpartition(".")[2] in _PARSERS:
        if len(args) == 1 and isinstance(args[0], Const) and isinstance(args[0].value, str):
            return Const(VersionText(args[0].value))
        return UNKNOWN
    return instance(frame, node, name, args, keywords, open_ended) if is_class(name) else UNKNOWN


library(["packaging", "pkg_resources", "distutils", "looseversion"], _call)
