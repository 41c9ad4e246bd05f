"""SARIF 2.1.0, for code scanning services."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tclint import __version__
from tclint.model import codec
from tclint.model.finding import Confidence, Edit, Finding, Severity, Span
from tclint.output import RuleInfo, Sources, words
from tclint.output.fingerprint import fingerprints
from tclint.output.lines import Lines

if TYPE_CHECKING:
    from tclint.model.report import Report

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVEL = {Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "note"}
_PROBLEM = {Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "recommendation"}
_CERTAINTY = {Confidence.HIGH: "high", Confidence.MEDIUM: "medium", Confidence.LOW: "low"}


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
    described = _rules(report.findings, rules)
    index = {rule["id"]: i for i, rule in enumerate(described)}
    names = fingerprints(report.findings, Lines(sources))
    invocation: dict[str, Any] = {"executionSuccessful": True}
    if report.notes:
        invocation["toolExecutionNotifications"] = [
            {"level": "note", "message": {"text": note}} for note in report.notes
        ]
    run = {
        "tool": {"driver": {"name": "tclint", "version": __version__, "rules": described}},
        "automationDetails": {"id": "tclint/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_result(f, name, index[f.code]) for f, name in zip(report.findings, names, strict=True)],
        "properties": {"torch": report.torch, "assumed": report.assumed},
    }
    return words.as_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rules(findings: Iterable[Finding], rules: Sequence[RuleInfo]) -> list[dict[str, Any]]:
    """The rules that found something, described by their pages."""
    pages = {rule.code: inspect.cleandoc(type(rule).__doc__ or "") for rule in rules}
    examples: dict[str, list[Finding]] = {}
    for finding in findings:
        examples.setdefault(finding.code, []).append(finding)
    described = []
    for code, found in sorted(examples.items()):
        first = found[0]
        page = pages.get(code, "")
        title = page.partition("\n")[0] or first.name.replace("-", " ")
        # A service shows one precision for a rule: that of its least certain finding here.
        least = min((f.confidence for f in found), key=lambda c: ("low", "medium", "high").index(c.value))
        described.append(
            {
                "id": code,
                "name": "".join(word.capitalize() for word in first.name.split("-")),
                "shortDescription": {"text": title},
                "fullDescription": {"text": page.partition("\n\n")[0].replace("\n", " ") or title},
                "help": {"text": page or title, "markdown": _markdown(code, first.name, page or title)},
                "defaultConfiguration": {"level": _LEVEL[first.severity]},
                "properties": {
                    "tags": ["torch.compile", first.effect.value],
                    "precision": _CERTAINTY[least],
                    "problem.severity": _PROBLEM[first.severity],
                },
            }
        )
    return described


def _markdown(code: str, name: str, page: str) -> str:
    return f"# {name} ({code})\n\n{page}\n"


def _result(finding: Finding, fingerprint: str, index: int) -> dict[str, Any]:
    text = words.told(finding)
    if finding.help:
        text += f"\nhelp: {finding.help}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVEL[finding.severity],
        "message": {"text": text},
        "locations": [_location(finding.path, _region(finding.span), function=finding.function)],
        "partialFingerprints": {"tclint/v1": fingerprint},
        "properties": {
            "confidence": finding.confidence.value,
            "precision": _CERTAINTY[finding.confidence],
            "effect": finding.effect.value,
            "assumed": finding.assumed,
            **({"conditions": words.conditions(finding)} if finding.conditions else {}),
            "graphBreaks": list(finding.graph_breaks),
        },
    }
    if finding.verified is not None:
        # SARIF has no field for it; viewers show the property bag and the message.
        result["properties"]["verified"] = codec.encode(finding.verified)
        result["message"]["text"] += f"\nverified: {finding.verified.outcome}: {finding.verified.words}"
    if finding.labels:
        result["relatedLocations"] = [
            {"id": i, **_location(finding.path, {"startLine": label.line}, label.text)}
            for i, label in enumerate(finding.labels, 1)
        ]
    if finding.chain:
        steps = [_location(step.path, {"startLine": step.line}, step.text) for step in finding.chain]
        steps.append(_location(finding.path, _region(finding.span), finding.message))
        flow = {"locations": [{"location": step} for step in steps]}
        result["codeFlows"] = [{"message": {"text": words.reason(finding)}, "threadFlows": [flow]}]
    if finding.fix and finding.fix.edits:
        said = {"text": words.change(finding.fix)}
        result["fixes"] = [{"description": said, "artifactChanges": _changes(finding.fix.edits)}]
    return result


def _location(path: str, region: dict[str, int], text: str = "", function: str = "") -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(path)}
    if region["startLine"] > 0:
        # A link of the chain whose line nobody knows is a place in the file all the same.
        physical["region"] = region
    location: dict[str, Any] = {"physicalLocation": physical}
    if text:
        location["message"] = {"text": text}
    if function:
        location["logicalLocations"] = [{"fullyQualifiedName": function, "kind": "function"}]
    return location


def _artifact(path: str) -> dict[str, str]:
    if path.startswith("/"):
        return {"uri": "file://" + quote(path)}
    if path[1:3] == ":/":
        return {"uri": "file:///" + quote(path, safe="/:")}
    return {"uri": quote(path), "uriBaseId": "%SRCROOT%"}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _changes(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    return [
        {
            "artifactLocation": _artifact(path),
            "replacements": [
                {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in group
            ],
        }
        for path, group in by_path.items()
    ]
