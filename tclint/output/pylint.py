"""Lines as pylint's `parseable` format has them, for tools that read those: path:line: [CODE(name), function] message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tclint.output import RuleInfo, Sources, words
from tclint.output.lines import shown

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
    lines = []
    for finding in report.findings:
        what = f"{finding.code}({finding.name}), {shown(finding.function)}"
        said = shown(" ".join(words.told(finding).splitlines()))
        lines.append(f"{shown(finding.path)}:{finding.span.line}: [{what}] {said}\n")
    return "".join(lines)
