"""Class methods of libraries that build an object of the class they are called on: `Model.from_pretrained("name")`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords
from tclint.torch_facts import facts
from tclint.values import TRUE, UNKNOWN, ClassValue, External, Instance, Object, Value

if TYPE_CHECKING:
    from tclint.program import Class

_KIND: Final = "class method that builds"
_BUILDS: Final = frozenset(facts.named("builds an object of the class it is called on"))
_MORE: Final = ("return_", "output_")
"""How the flags begin that ask for more than the object."""


def builder(frame: Frame, node: ast.AST, cls: Class, name: str, order: Sequence[Class]) -> Value | None:
    """`cls.name`, which no class of the program has, where one of a library has it; None where nobody knows it.

    `order` are the classes whose bases may have it.
    """
    if name not in _BUILDS or frame.region is not None or not frame.interp.classes.is_nn_module(cls):
        return None
    bases = (base for each in order for base in frame.interp.classes.bases(each))
    outside = (base.name if isinstance(base, External) else _of_library(base) for base in bases)
    base = next((each for each in outside if each and not _is_bare(each)), "")
    return Object(f"{base}.{name}", frame.origin(node), _KIND, ClassValue(cls)) if base else None


def _of_library(base: Value) -> str:
    """The dotted name of a class of a library that is read; none for one of the program."""
    if not isinstance(base, ClassValue) or not base.cls.module.library:
        return ""
    return f"{base.cls.module.name}.{base.cls.qualname}"


def _is_bare(base: str) -> bool:
    """Whether a class has no such methods: that of all modules, and those of Python."""
    return base.startswith(_BARE) or base.partition(".")[0] in sys.stdlib_module_names


_BARE: Final = ("torch.nn.Module", "torch.nn.modules.module.Module")


def _call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """Some object of the class: what its constructor is given stands in a file that nobody reads."""
    assert isinstance(func.args, ClassValue)
    more = any(word.startswith(_MORE) and given.key == TRUE.key for word, given in keywords.items())
    made = UNKNOWN if more else Instance(func.args.cls)
    frame.interp.emitter.call(frame, node, func.name, args, keywords, func, made)
    return made


objects.register(_KIND, call=_call)
