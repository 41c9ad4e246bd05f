"""The JSON body of a pull-request review: a comment for each finding, its fix as a suggestion that a click applies.

    gh api repos/OWNER/REPO/pulls/NUMBER/reviews --input review.json

GitHub takes comments on the lines of the pull request's diff only: `--diff-base` leaves the others out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tclint.model.finding import Finding
from tclint.output import RuleInfo, Sources, words
from tclint.output.lines import Lines

if TYPE_CHECKING:
    from tclint.model.report import Report

MOST = 20
"""Lines of one suggestion: a longer one would show, as changed, much that is not."""


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
    lines = Lines(sources)
    taken: dict[str, set[int]] = {}
    comments = [_comment(finding, lines, taken.setdefault(finding.path, set())) for finding in report.findings]
    count = words.plural(len(comments), "torch.compile hazard")
    body = f"tclint found {count} in the changed lines." if comments else "tclint found nothing in the changed lines."
    document = {"event": "COMMENT", "body": body, "comments": comments}
    return words.as_json(document, indent=2) + "\n"


def suggestion(finding: Finding, lines: Lines) -> tuple[int, int, str] | None:
    """The first and last line that a fix replaces, and the lines it puts there; None where no suggestion can hold it."""
    fix = finding.fix
    if fix is None or not fix.edits or any(edit.path != finding.path for edit in fix.edits):
        return None
    edits = sorted(fix.edits, key=lambda edit: (edit.span.line, edit.span.column))
    first, last = edits[0].span.line, max(edit.span.end_line for edit in edits)
    text = ""
    at = (first, 1)
    for edit in edits:
        start = (edit.span.line, edit.span.column)
        if start < at:
            return None
        text += lines.between(finding.path, at, start) + edit.text
        at = (edit.span.end_line, edit.span.end_column)
    if at[1] == 1 and (text.endswith("\n") or not text) and at[0] > first:
        # The last edit ends where a line begins: that line stays.
        last, text = at[0] - 1, text.removesuffix("\n")
    else:
        text += lines.line(finding.path, at[0])[at[1] - 1 :]
    known = len(lines.of(finding.path))
    if (
        last > known
        or last - first >= MOST
        or (first == last and first == known and not lines.line(finding.path, first))
    ):
        return None
    return first, last, text


def _comment(finding: Finding, lines: Lines, taken: set[int]) -> dict[str, Any]:
    parts = [f"**{finding.code} {finding.name}** ({finding.severity.value}): {words.told(finding)}"]
    if finding.chain:
        parts.append(f"{words.reason(finding).capitalize()} {words.chain(finding)}.")
    fix = finding.fix
    made = suggestion(finding, lines)
    first = last = finding.span.line
    if made is not None and not taken & set(range(made[0], made[1] + 1)):
        first, last, text = made
        # Two suggestions for one line cannot both be applied.
        taken.update(range(first, last + 1))
        assert fix is not None
        parts.append(f"Fix: {words.change(fix)}")
        fence = "`" * max(3, _longest_run(text) + 1)
        parts.append(f"{fence}suggestion\n{text}\n{fence}" if text else f"{fence}suggestion\n{fence}")
    else:
        if fix is not None and fix.switch is not None and fix.edits:
            parts.append(f"Fix, at the compile site: {words.change(fix)}")
        if finding.help:
            parts.append(f"Help: {finding.help}.")
    comment: dict[str, Any] = {"path": finding.path, "line": last, "side": "RIGHT", "body": "\n\n".join(parts)}
    if last > first:
        comment |= {"start_line": first, "start_side": "RIGHT"}
    return comment


def _longest_run(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
