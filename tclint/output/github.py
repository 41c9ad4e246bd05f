"""GitHub workflow commands: annotations on the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tclint.model.finding import Finding, Severity
from tclint.output import RuleInfo, Sources, words
from tclint.output.lines import shown

if TYPE_CHECKING:
    from tclint.model.report import Report

_LEVEL = {Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "notice"}


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
    return "".join(_annotation(finding) + "\n" for finding in report.findings)


def _annotation(finding: Finding) -> str:
    span = finding.span
    properties = {"title": f"tclint {finding.code} {finding.name}", "file": finding.path, "line": str(span.line)}
    if span.line == span.end_line:
        # GitHub takes columns only where the annotation stays on one line.
        properties |= {"col": str(span.column), "endLine": str(span.end_line), "endColumn": str(span.end_column)}
    else:
        properties["endLine"] = str(span.end_line)
    parts = [f"{finding.path}:{span.line}:{span.column}: {finding.code}[{finding.name}] {words.told(finding)}"]
    if finding.chain:
        parts.append(f"{words.reason(finding)} {words.chain(finding)}")
    if finding.help:
        parts.append(f"help: {finding.help}")
    text = "\n".join(shown(line) for line in "\n".join(parts).split("\n"))
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_LEVEL[finding.severity]} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
