"""GitLab code quality: the widget of a merge request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tclint.model.finding import Effect, Finding, Severity
from tclint.output import RuleInfo, Sources, words
from tclint.output.fingerprint import fingerprints
from tclint.output.lines import Lines

if TYPE_CHECKING:
    from tclint.model.report import Report

_SEVERITY = {Severity.HIGH: "major", Severity.MEDIUM: "minor", Severity.LOW: "info"}


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
    names = fingerprints(report.findings, Lines(sources))
    issues = [_issue(finding, name) for finding, name in zip(report.findings, names, strict=True)]
    return words.as_json(issues, indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str) -> dict[str, Any]:
    span = finding.span
    wrong = finding.effect in (Effect.SILENT, Effect.ERROR, Effect.CUDAGRAPH)
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code}[{finding.name}] {words.told(finding)}",
        "categories": ["Bug Risk" if wrong else "Performance"],
        "severity": _SEVERITY[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": finding.path,
            "positions": {
                "begin": {"line": span.line, "column": span.column},
                "end": {"line": span.end_line, "column": span.end_column},
            },
        },
    }
