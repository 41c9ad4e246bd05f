"""Everything, for programs. The shape is a promise: `version` changes when it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tclint import __version__
from tclint.model import codec
from tclint.model.finding import Applicability, Effect, Finding, Fix, Severity
from tclint.model.suggestion import suggestions
from tclint.output import RuleInfo, Sources, words

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
    document = {
        "version": 1,
        "tclint": __version__,
        "torch": report.torch,
        "findings": [finding_object(finding) for finding in report.findings],
        "summary": _summary(report),
    }
    return words.as_json(document, indent=2) + "\n"


def finding_object(finding: Finding) -> dict[str, Any]:
    span = finding.span
    return {
        "code": finding.code,
        "name": finding.name,
        "path": finding.path,
        **({"cell": finding.cell} if finding.cell else {}),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "message": finding.message,
        "effect": finding.effect.value,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "function": finding.function,
        "assumed": finding.assumed,
        **({"uncalled": finding.uncalled} if finding.uncalled else {}),
        **({"conditions": words.conditions(finding)} if finding.conditions else {}),
        "compiled_because": words.because(finding.chain),
        "help": finding.help,
        "graph_breaks": list(finding.graph_breaks),
        "labels": [{"line": label.line, "text": label.text} for label in finding.labels],
        "fix": _fix(finding.fix) if finding.fix else None,
        "same_as": list(finding.same_as),
        "roots": finding.roots,
        "verified": codec.encode(finding.verified) if finding.verified is not None else None,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "title": fix.title,
        "applicability": fix.applicability.value,
        "edits": [
            {
                "path": edit.path,
                **({"cell": edit.cell} if edit.cell else {}),
                "line": edit.span.line,
                "column": edit.span.column,
                "end_line": edit.span.end_line,
                "end_column": edit.span.end_column,
                "text": edit.text,
            }
            for edit in fix.edits
        ],
        "note": fix.note,
        "checked": fix.checked,
    }


def _summary(report: Report) -> dict[str, Any]:
    findings = report.findings
    fixes = Counter(finding.fix.applicability for finding in findings if finding.fix)
    severities = Counter(finding.severity for finding in findings)
    effects = Counter(finding.effect for finding in findings)
    return {
        "findings": len(findings),
        "assumed_findings": sum(finding.assumed for finding in findings),
        "conditional_findings": sum(finding.ground == 1 for finding in findings),
        "files": report.files,
        "functions": report.functions,
        "supposed": report.supposed,
        "suppressed": report.suppressed,
        "severity": {level.value: severities[level] for level in Severity},
        "effect": {effect.value: effects[effect] for effect in Effect},
        "fixable": {how.value: fixes[how] for how in Applicability},
        "assumed": report.assumed,
        "sites": [
            {
                "path": site.path,
                **({"cell": site.cell} if site.cell else {}),
                "line": site.line,
                "text": site.text,
                "mode": site.mode,
                "reaches": site.reaches,
                "unresolved": site.unresolved,
                **({"unread": site.unread} if site.unread else {}),
                **({"handing": list(site.handing)} if site.handing else {}),
                **({"unfollowed": list(site.unfollowed)} if site.unfollowed else {}),
            }
            for site in report.sites
        ],
        "suggestions": [
            {
                "title": each.title,
                "setting": each.switch.setting,
                "path": each.switch.path,
                "price": each.price,
                "cures": [{"path": f.path, "line": f.line, "code": f.code} for f in each.cures],
            }
            for each in suggestions(findings)
        ],
        "notes": list(report.notes),
    }
