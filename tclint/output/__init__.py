"""Formats: one module each, imported only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

if TYPE_CHECKING:
    from tclint.model.report import Report

Sources: TypeAlias = "Mapping[str, str] | Callable[[str], str]"
"""The text of a file by the path shown, to quote lines from; raises or lacks what cannot be read."""

FORMATS: Mapping[str, str] = {
    "full": "full",
    "text": "full",
    "grouped": "grouped",
    "concise": "concise",
    "json": "json_",
    "sarif": "sarif",
    "rdjson": "rdjson",
    "rdjsonl": "rdjsonl",
    "github": "github",
    "github-review": "github_review",
    "gitlab": "gitlab",
    "junit": "junit",
    "pylint": "pylint",
}
"""Format -> module of this package."""

WITH_RULES = frozenset({"sarif"})
"""Formats that show the pages of rules."""
FOR_PEOPLE = frozenset({"full", "text", "grouped", "concise"})
IN_CELLS = FOR_PEOPLE | {"json"}
"""Formats that name the cell of a notebook; the others know lines of files only."""


WITHOUT_FIXES = frozenset({"concise", "github", "gitlab", "junit", "pylint"})
"""Formats that say nothing of fixes: for them none is made."""


SUGGESTS = frozenset({"sarif", "rdjson", "rdjsonl", "github-review"})
"""Formats whose fixes a reviewer applies by a click: they show those that pay."""


class RuleInfo(Protocol):
    """The part of a rule that a format shows; the page is the docstring of its class."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...


class Renderer(Protocol):
    """What every format module offers as `render`."""

    def __call__(
        self,
        report: Report,
        *,
        color: bool,
        width: int,
        sources: Sources,
        rules: Sequence[RuleInfo] = (),
        summary: bool = True,
        verbose: bool = False,
    ) -> str: ...


def renderer(name: str) -> Renderer:
    """The `render` function of a format named in `FORMATS`."""
    return cast(Renderer, import_module(f"tclint.output.{FORMATS[name]}").render)
