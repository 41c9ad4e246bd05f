"""reviewdog's diagnostic format, one JSON object per line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tclint.output import RuleInfo, Sources, words
from tclint.output.rdjson import diagnostics

if TYPE_CHECKING:
    from tclint.model.report import Report


def render(
    report: Report,
    *,
    color: bool,
    width: int,
    sources: Sources,
    rules: Sequence[RuleInfo] = (),
    summary: bool = True,
    verbose: bool = False,
) -> str:
    return "".join(words.as_json(each) + "\n" for each in diagnostics(report, sources))
