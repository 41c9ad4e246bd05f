"""Findings and their places in the types of the protocol."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from tclint.model.finding import Finding, Severity
from tclint.output import words
from tclint.ruleset.rule import Rule
from tclint.server import wording

LEVEL = {
    Severity.HIGH: types.DiagnosticSeverity.Warning,
    Severity.MEDIUM: types.DiagnosticSeverity.Warning,
    Severity.LOW: types.DiagnosticSeverity.Information,
}


def span(finding: Finding, positions: wording.Positions) -> Any:
    here = finding.span
    start, end = positions.at(here.line, here.column), positions.at(here.end_line, here.end_column)
    # A problem with a whole file has no width: mark its line.
    return between(start, end) if end > start else between(*positions.whole_line(here.line))


def related(finding: Finding, own: str, absolute: Callable[[str], str], positions: wording.Positions) -> list[Any]:
    """The places that a finding names beside its own: labels of its file, and the chain that leads to it."""
    found = [
        types.DiagnosticRelatedInformation(types.Location(own, between(*positions.whole_line(label.line))), label.text)
        for label in finding.labels
    ]
    title = words.reason(finding)
    for number, step in enumerate(finding.chain[:-1] if len(finding.chain) > 1 else finding.chain):
        there = types.Position(step.line - 1, 0)
        found.append(
            types.DiagnosticRelatedInformation(
                types.Location(from_fs_path(absolute(step.path)), types.Range(there, there)),
                f"{title}: {step.text}" if not number else f"→ {step.text}",
            )
        )
    return found


def between(start: tuple[int, int], end: tuple[int, int]) -> Any:
    return types.Range(types.Position(*start), types.Position(*end))


def contains(span: Any, line: int, character: int) -> bool:
    start, end = (span.start.line, span.start.character), (span.end.line, span.end.character)
    return start <= (line, character) <= end


def touch(a: Any, b: Any) -> bool:
    return (a.start.line, a.start.character) <= (b.end.line, b.end.character) and (b.start.line, b.start.character) <= (
        a.end.line,
        a.end.character,
    )


def wanted(kind: str, only: list[str]) -> bool:
    """Whether an editor that asks for some kinds asks for this one: `source.fixAll` asks for all below it."""
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in only)


def page(rule: Rule) -> str:
    """The file of the rule: its docstring is its page, and it is there without a network."""
    return PurePath(inspect.getfile(type(rule))).as_uri()
