"""Flags of a function that is only assumed to be compiled: what is never passed keeps its default.

Nobody knows the calls of such a function. A flag (`check=False`) is what most of them leave it at: what only happens where
somebody sets it is told where the program holds `check=…` with something else.
"""

from __future__ import annotations

import ast
import re

from tclint.program import Function, Module, mentioning
from tclint.values import Const


def default_of_flag(function: Function, parameter: ast.arg, default: ast.expr | None) -> Const | None:
    """The default of a flag that the program gives no other value by its name, None for all else."""
    if not isinstance(default, ast.Constant) or not isinstance(default.value, bool):
        return None
    if function.module.program.answers(_gives_another, parameter.arg, repr(default.value)):
        return None
    return Const(default.value)


@mentioning(0)
def _gives_another(module: Module, name: str, default: str) -> bool:
    """Whether a file holds `name=…` with something else than a default. An assignment counts too: it may be handed on."""
    # The name first: what a pattern begins with is looked for many times as fast as what must not stand before it.
    given = re.finditer(rf"{name}(?<![\w.]{name})[ \t]*=[ \t]*(?!=)(\w*)".encode(), module.data)
    return any(found[1] != default.encode() for found in given)
