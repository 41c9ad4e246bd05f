"""reviewdog's diagnostic format. Columns count UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tclint.model.finding import Finding, Severity, Span
from tclint.output import RuleInfo, Sources, words
from tclint.output.lines import Lines

if TYPE_CHECKING:
    from tclint.model.report import Report

_SEVERITY = {Severity.HIGH: "ERROR", Severity.MEDIUM: "WARNING", Severity.LOW: "INFO"}
_MAX_SUGGESTION = 20
"""Lines. A wider one would quote, as changed, code that the fix does not touch."""


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
    document = {"source": {"name": "tclint"}, "severity": "WARNING", "diagnostics": diagnostics(report, sources)}
    return words.as_json(document, indent=2) + "\n"


def diagnostics(report: Report, sources: Sources) -> list[dict[str, Any]]:
    lines = Lines(sources)
    return [_diagnostic(finding, lines) for finding in report.findings]


def _diagnostic(finding: Finding, lines: Lines) -> dict[str, Any]:
    parts = [words.told(finding)]
    if finding.chain:
        parts.append(f"{words.reason(finding)} {words.chain(finding)}")
    if finding.help:
        parts.append(f"help: {finding.help}")
    if finding.fix is not None and finding.fix.edits:
        parts.append(f"fix: {words.change(finding.fix)}")
    diagnostic: dict[str, Any] = {
        "message": "\n".join(parts),
        "location": {"path": finding.path, "range": _range(finding.path, finding.span, lines)},
        "severity": _SEVERITY[finding.severity],
        "source": {"name": "tclint"},
        "code": {"value": finding.code},
    }
    suggestion = _suggestion(finding, lines)
    if suggestion is not None:
        diagnostic["suggestions"] = [suggestion]
    return diagnostic


def _range(path: str, span: Span, lines: Lines) -> dict[str, Any]:
    return {
        "start": {"line": span.line, "column": _bytes(lines.line(path, span.line), span.column)},
        "end": {"line": span.end_line, "column": _bytes(lines.line(path, span.end_line), span.end_column)},
    }


def _bytes(line: str, column: int) -> int:
    before = line[: column - 1]
    # Beyond the end of the line (or of a file that vanished) characters count as one byte.
    return len(before.encode("utf-8", "surrogatepass")) + max(0, column - 1 - len(line)) + 1


def _suggestion(finding: Finding, lines: Lines) -> dict[str, Any] | None:
    """The fix as one contiguous replacement, which is all that a review comment can hold."""
    if finding.fix is None or not finding.fix.edits:
        return None
    edits = sorted(finding.fix.edits, key=lambda edit: (edit.span.line, edit.span.column))
    first, last = edits[0].span, edits[-1].span
    if any(edit.path != finding.path for edit in edits) or last.end_line - first.line > _MAX_SUGGESTION:
        return None
    text = ""
    at = (first.line, first.column)
    for edit in edits:
        start = (edit.span.line, edit.span.column)
        if start < at:
            return None  # overlapping edits: no one text says what they mean
        text += lines.between(finding.path, at, start) + edit.text
        at = (edit.span.end_line, edit.span.end_column)
    span = Span(first.line, first.column, last.end_line, last.end_column)
    return {"range": _range(finding.path, span, lines), "text": text}
