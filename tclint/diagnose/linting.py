"""The linter's word on what was heard: every break and recompile gets its rule and fix, every finding its echo."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tclint.diagnose.measurement import BreakRow, Breaks, FindingRow, RecompileRow
from tclint.model.finding import Effect, Finding
from tclint.model.settings import Settings
from tclint.run.project import AUTO, Project
from tclint.verify.heard import Heard
from tclint.verify.judgement import verdicts_of
from tclint.verify.spans import Outline, outline
from tclint.verify.targets import absolute
from tclint.verify.verdict import Outcome


@dataclass(frozen=True, slots=True)
class Linted:
    """What the linter says about the files that the target ran."""

    project: Project
    findings: tuple[Finding, ...]


def lint(paths: Iterable[str], settings: Settings, cwd: str) -> Linted:
    """Lint files by name, linked with the project around them; every `forward` counts as compiled, as it will be."""
    wanted = sorted({path for path in paths if path.endswith(".py") and os.path.isfile(path)})
    chosen = replace(settings, assume_compiled="all", no_cache=True, jobs=1)
    # What is installed belongs to no project of the user's.
    installed = bool(wanted) and "site-packages" in wanted[0]
    project = Project.of(wanted, chosen, cwd, around=None if installed else AUTO)
    findings = project.lint().findings if wanted else ()
    return Linted(project, tuple(finding for finding in findings if not finding.code.startswith("TCL9")))


def explained(breaks: Breaks, findings: Sequence[Finding], cwd: str) -> Breaks:
    """The rows with the rule that speaks of their line."""

    def statement(path: str, line: int) -> range:
        return outline(absolute(path, cwd)).statement(line, line)

    def of_break(row: BreakRow) -> BreakRow:
        lines = statement(row.path, row.line)
        for finding in findings:
            last = max(finding.span.line, finding.span.end_line)
            here = finding.path == row.path and finding.span.line < lines.stop and last >= lines.start
            if here and finding.effect not in (Effect.RECOMPILE, Effect.SLOW):
                return replace(row, **_told(finding))
        return row

    def of_recompile(row: RecompileRow) -> RecompileRow:
        for finding in findings:
            inside = finding.function.rpartition(".")[2] == row.name.rpartition(".")[2]
            if finding.path == row.path and inside and finding.effect is Effect.RECOMPILE:
                return replace(row, **_told(finding))
        return row

    return replace(
        breaks,
        breaks=tuple(of_break(row) for row in breaks.breaks),
        recompiles=tuple(of_recompile(row) for row in breaks.recompiles),
    )


def _told(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.code,
        "rule_name": finding.name,
        "severity": finding.severity.value,
        "help": finding.help,
        "fix": fix_of(finding),
    }


def fix_of(finding: Finding) -> str:
    if finding.fix is None or not finding.fix.edits:
        return ""
    return f"{finding.fix.title} (--fix, {finding.fix.applicability.value})"


def rows_of(findings: Sequence[Finding], heard: Heard, cwd: str) -> tuple[FindingRow, ...]:
    """The findings with what the compiler said. `heard` has paths relative to `cwd`, as findings have."""
    covered: Mapping[str, set[int]] = _covered(heard)

    def outlines(path: str) -> Outline:
        return outline(absolute(path, cwd))

    verdicts = verdicts_of(findings, heard, outlines)
    return tuple(
        FindingRow(
            finding.path,
            finding.line,
            finding.code,
            finding.name,
            finding.severity.value,
            finding.effect.value,
            finding.message,
            finding.help,
            fix_of(finding),
            reached=any(
                line in covered.get(finding.path, ())
                for line in range(finding.span.line, max(finding.span.line, finding.span.end_line) + 1)
            ),
            heard=verdict.outcome is Outcome.CONFIRMED,
        )
        for finding, verdict in zip(findings, verdicts, strict=True)
    )


def _covered(heard: Heard) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for run in heard.runs:
        for path, lines in run.covered.items():
            found.setdefault(path, set()).update(lines)
    return found
