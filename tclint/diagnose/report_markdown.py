"""A diagnosis in Markdown: for a pull request, an issue, a wiki."""

from __future__ import annotations

from tclint.diagnose import figures
from tclint.diagnose.measurement import Diagnosis
from tclint.diagnose.verdict import headline, verdicts_of


def render(diagnosis: Diagnosis) -> str:
    out = ["# torch.compile diagnosis", "", f"**Target**: {_code(diagnosis.target)}  "]
    out += [f"**{name.capitalize()}**: {_cell(value)}  " for name, value in figures.circumstances(diagnosis)]
    out += ["", f"**Verdict**: {_cell(headline(diagnosis))}", ""]
    out += [f"- {verdict.kind}: **{verdict.word}**: {_cell(verdict.words)}" for verdict in verdicts_of(diagnosis)]
    if diagnosis.breaks is not None:
        out += ["", "## Summary", "", *_table(figures.severity_table(diagnosis))]
    for section in figures.sections(diagnosis):
        out += ["", f"## {section.title}", ""]
        if section.rows:
            out += [*_table(section), ""]
        out += [f"- {_cell(note)}" for note in section.notes]
    issues = [row for row in diagnosis.findings if row.reached or row.heard]
    if issues:
        order = {name: rank for rank, name in enumerate(figures.SEVERITIES)}
        out += ["", "## Issues found"]
        for row in sorted(issues, key=lambda each: (order.get(each.severity, 9), each.path, each.line)):
            title = figures.CATEGORIES.get(row.effect, row.effect).removesuffix("s")
            said = "confirmed by Dynamo in this run" if row.heard else "reached, not heard in this run"
            out += ["", f"### [{row.severity.upper()}] {title}: {_cell(f'{row.rule} {row.rule_name}')}", ""]
            out += [f"**Location**: {_code(f'{row.path}:{row.line}')}  ", f"**Status**: {said}  "]
            out += [f"**Trigger**: {_cell(row.message)}"]
            if row.help or row.fix:
                out += ["", f"**Fix**: {_cell(row.help)}" + (f" [{row.fix}]" if row.fix else "")]
    left = figures.states(diagnosis)
    if left:
        out += ["", "## Not measured", "", *(f"- {_cell(each)}" for each in left)]
    return "\n".join(_squeezed(out)).rstrip() + "\n"


def _squeezed(lines: list[str]) -> list[str]:
    """Without empty lines in a row."""
    return [line for number, line in enumerate(lines) if line or number == 0 or lines[number - 1]]


def _table(section: figures.Section) -> list[str]:
    marks = ["---:" if number in section.numbers else "---" for number in range(len(section.columns))]
    return [
        _row(section.columns),
        f"| {' | '.join(marks)} |",
        *(_row(row) for row in section.rows),
    ]


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _code(text: str) -> str:
    return f"`{' '.join(text.split()).replace('`', chr(39)).replace('<', '&lt;')}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
