"""What `torch.compile` returned."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tclint.values.external import External
from tclint.values.function import FunctionValue
from tclint.values.library import MODELS
from tclint.values.method import Method
from tclint.values.value import OBJECT, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.values.region import CompileSite


Code = tuple[Hashable, tuple[Any, ...]]
"""What runs, and the cache of its programs (`CompileSite.cache`)."""


class Compiled(Value):
    """What `torch.compile` returned: the callable and its compile site.

    `code` is what calls are counted by: a compiled method is one code for all objects that it is called on, and for all
    sites that compile it alike.
    """

    __slots__ = ("code", "key", "site", "target")
    is_code = True

    def __init__(self, target: Value, site: CompileSite, code: Code | None = None) -> None:
        self.target = target
        self.site = site
        self.code = code_of(target, site) if code is None else code
        self.key = ("K", target.key, site.key)

    def __repr__(self) -> str:
        return f"Compiled({self.target!r})"

    def nesting(self) -> int:
        return self.target.nesting()

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        if name == "_orig_mod":
            return self.target
        held = self.target.attribute(frame, node, name, quiet)
        # A method of a module that is kept, or handed on, is called as one of the compiled module all the same.
        return Method(self, name) if frame.region is None and self._is_method(held) else held

    def _is_method(self, held: Value) -> bool:
        own = isinstance(held, FunctionValue) and held.bound is not None and held.bound.key == self.target.key
        return own and self.target.rank == OBJECT

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return frame.interp.compile_sites.call(frame, node, self, args, keywords, open_ended)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        if MODELS.modules.gives_itself(name):
            self.target.call_method(frame, node, name, args, keywords, open_ended)  # the mode is that of the module
            return self
        if name == "__call__" or name == "forward" and not self.site.in_place:
            return frame.interp.compile_sites.call(frame, node, self, args, keywords, open_ended)
        if frame.region is None and self.target.rank == OBJECT:
            held = self.target.attribute(frame, node, name, True)
            if isinstance(held, Compiled):  # `net.encode = torch.compile(net.encode)`
                return held.call(frame, node, args, keywords, open_ended)
        own = MODELS.modules.method_of_wrapper(frame, node, name) if self.is_wrapper else None
        frame.interp.emitter.call(frame, node, f"compiled.{name}", args, keywords, self, own or UNKNOWN)
        if own is not None:
            return own
        return self.target.call_method(frame, node, name, args, keywords, open_ended)

    @property
    def is_wrapper(self) -> bool:
        """Whether this is a module around the compiled one, which `_orig_mod` gives back."""
        return not self.site.in_place and self.target.rank == OBJECT

    def is_a(self, wanted: Value) -> bool | None:
        if isinstance(wanted, External) and wanted.name.endswith(".OptimizedModule"):
            return self.is_wrapper
        return super().is_a(wanted)

    def truth(self) -> bool | None:
        return True

    def holds_compiled(self) -> bool:
        return True

    def bound_to(self, receiver: Value) -> Value:
        return Compiled(self.target.bound_to(receiver), self.site, self.code)


def code_of(target: Value, site: CompileSite) -> Code:
    """What the calls of something that is compiled at a site are counted by: what runs, and how it is compiled.

    Objects of classes outside the program look alike: where they are compiled tells them apart.
    """
    return (target.key if target.is_code else (target.key, site.path, site.line), site.cache)
