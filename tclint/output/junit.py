"""JUnit XML, for CI systems that only know tests: a suite for each file, a failed test for each finding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from tclint.output import RuleInfo, Sources, words
from tclint.output.lines import inert, shown

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
    count = len(report.findings)
    # A document without tests is an error to some readers, so a clean run is one test that passed.
    out = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<testsuites name="tclint" tests="{count or 1}" failures="{count}" errors="0">',
    ]
    if not count:
        out += [
            '  <testsuite name="tclint" tests="1" failures="0" errors="0">',
            '    <testcase name="no hazards" classname="tclint"/>',
            "  </testsuite>",
        ]
    for path, group in groupby(sorted(report.findings, key=lambda f: f.sort_key), key=lambda finding: finding.path):
        findings = list(group)
        attributes = f'tests="{len(findings)}" failures="{len(findings)}" errors="0"'
        out.append(f"  <testsuite name={_attribute(path)} {attributes}>")
        for finding in findings:
            span = finding.span
            body = f"{path}:{span.line}:{span.column} {words.told(finding)}"
            if finding.chain:
                body += f"\n{words.reason(finding)} {words.chain(finding)}"
            if finding.help:
                body += f"\nhelp: {finding.help}"
            name = f"{finding.code} {finding.name} ({span.line}:{span.column})"
            # No file and line attributes: Jenkins refuses a document that has them.
            place = f"classname={_attribute(path)}"
            message = _attribute(words.told(finding))
            out += [
                f"    <testcase name={_attribute(name)} {place}>",
                f'      <failure type="{finding.code}" message={message}>{_text(body)}</failure>',
                "    </testcase>",
            ]
        out.append("  </testsuite>")
    out.append("</testsuites>")
    return "\n".join(out) + "\n"


def _text(text: str) -> str:
    # Of control characters XML 1.0 has no way to write most, not even escaped.
    return escape("\n".join(inert(shown(line)) for line in text.split("\n")))


def _attribute(text: str) -> str:
    return quoteattr(shown(text))
