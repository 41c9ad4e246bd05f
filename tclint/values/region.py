"""Compiled regions: the compile sites, what their options mean, and why a function counts as compiled."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tclint.model.finding import Condition

if TYPE_CHECKING:
    from tclint.values.evidence import Evidence

_KEEPS_NUMBERS: Final = "capture_scalar_outputs"


DROPPED: Final = "nothing: what torch.compile returns is not kept"
"""Why nothing is compiled by a call that stands for itself."""


@dataclass(frozen=True)
class CompileSite:
    """One place that hands a callable to the compiler.

    `mode`, `backend`, `dynamic` and `fullgraph` are None where they are not given, "?" where they cannot be read.
    """

    path: str
    line: int
    text: str
    mode: Any = None
    backend: Any = None
    dynamic: Any = None
    fullgraph: Any = None
    options: Mapping[str, Any] | None = field(default=None, hash=False)
    cudagraphs: bool = False
    decorator: bool = False
    many: bool = False
    """The site runs in a loop: it compiles several callables, one after the other."""
    alone: bool = False
    """Its graphs share no memory with those of other sites: `torch.cuda.make_graphed_callables`."""
    settings: frozenset[str] = frozenset()
    """What the program switches on in Dynamo's configuration."""
    own: bool = False
    """The site stands in a method of a module: it compiles that module, or what it holds."""
    test: bool = False
    """The site stands in a test or an example: it compiles, but says nothing about the rest of the program."""
    uncalled: str = ""
    """The method that holds the site, where no code of the program calls it."""
    conditions: tuple[Condition, ...] = ()
    """The settings it waits for, which nobody in sight turns on."""
    idle: str = ""
    """Why nothing is compiled there: torch.compile raises for these arguments, or nobody keeps what it returns."""

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.path, self.line, self.cudagraphs)

    @property
    def in_place(self) -> bool:
        """Whether a module is told to compile itself, `module.compile()`: nothing is wrapped around it."""
        name = self.text.partition("(")[0]
        return not self.decorator and name.endswith(".compile") and name not in ("torch.compile", "th.compile")

    @cached_property
    def cache(self) -> tuple[Any, ...]:
        """Sites that compile a function alike share the programs of its code; `fullgraph` makes no others.

        What a test compiles, no run of the program meets.
        """
        mode, backend = self.mode or "default", self.backend or "inductor"
        options = tuple(sorted((name, str(value)) for name, value in (self.options or {}).items()))
        return (str(mode), str(backend), str(self.dynamic), options, self.cudagraphs, self.alone, self.test)


@dataclass(frozen=True)
class Region:
    """What a root compiles under: its site, or the assumption that every forward is compiled."""

    site: CompileSite | None
    evidence: Evidence | None = field(default=None, compare=False)
    inside: str = ""
    """The operator whose argument is being traced, a graph of its own: `torch.utils.checkpoint.checkpoint`."""
    entry: ast.AST | None = field(default=None, compare=False)
    """The call of that operator."""
    assuming: frozenset[str] = frozenset()
    """Without a site: what the program switches on in Dynamo's configuration."""
    training: bool | None = None
    """Whether what is compiled is only ever run in training, or only in evaluation; None where it may be both."""
    gradients: bool = True
    """Whether a backward pass may follow: not where all calls in sight turn gradients off, or give nothing that needs one."""

    @property
    def settings(self) -> frozenset[str]:
        """What is switched on in Dynamo's configuration where the region is compiled."""
        return self.site.settings if self.site is not None else self.assuming

    @property
    def keeps_numbers(self) -> bool:
        """Whether a number that is read out of a tensor stays in the graph."""
        return _KEEPS_NUMBERS in self.settings

    @property
    def key(self) -> tuple[Any, ...]:
        """Regions whose findings cannot differ share a key."""
        if self.site is None:
            return ("assumed", id(self.evidence) if self.evidence is not None else None, self.inside, self.assuming)
        seen = (self.site.path, self.site.line) if self.evidence is not None or self.site.many else None
        how = (
            self.site.cudagraphs,
            self.site.fullgraph is True,
            self.site.dynamic,
            self.site.settings,
            self.site.uncalled,
            self.site.conditions,
        )
        return (*how, seen, self.inside, self.gradients, self.training)


OWN_BACKEND = "<function>"
"""The backend where it is a function of the program, which may do what it likes with a mode and records no CUDA graphs."""
CUDAGRAPH_MODES = frozenset({"reduce-overhead", "max-autotune"})


def uses_cudagraphs(mode: Any, backend: Any, options: Mapping[str, Any] | None, default: bool = False) -> bool:
    """Whether a call of torch.compile with these arguments records CUDA graphs."""
    if options is not None:
        for name in ("triton.cudagraphs", "triton.cudagraph_trees"):
            if options.get(name) is False and name == "triton.cudagraphs":
                return False
        if options.get("triton.cudagraphs") is True:
            return True
    if backend == "cudagraphs":
        return True
    if backend not in (None, "inductor", "?"):
        return False
    return mode in CUDAGRAPH_MODES or default
