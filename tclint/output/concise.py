"""One line per finding, for grep and for editors: path:line:col: CODE[name] message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tclint.output import RuleInfo, Sources, words
from tclint.output.lines import shown
from tclint.output.palette import Palette

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
    paint = Palette(color)
    lines = []
    for finding in report.findings:
        place = paint.bold(f"{shown(finding.place)}:{finding.span.line}:{finding.span.column}:")
        code = paint.severity(finding.severity.value, f"{finding.code}[{finding.name}]")
        verdict = f" [{finding.verified.outcome}]" if finding.verified is not None else ""
        lines.append(f"{place} {code} {shown(' '.join(words.told(finding).splitlines()))}{verdict}\n")
    return "".join(lines)
