"""Findings: where they are, and in which order they are told."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest

from tclint.model.finding import RANK, Confidence, Effect, Finding, Severity, Span

ONE = Finding(
    code="TCL101",
    name="x",
    path="a.py",
    span=Span(2, 1, 2, 5),
    message="m",
    effect=Effect.GRAPH_BREAK,
    severity=Severity.HIGH,
    confidence=Confidence.HIGH,
)


def test_order_is_by_place_then_by_rule() -> None:
    told = [
        ONE,
        replace(ONE, code="TCL102"),
        replace(ONE, span=Span(2, 4, 2, 5)),
        replace(ONE, span=Span(10, 1, 10, 2)),
        replace(ONE, path="b.py", span=Span(1, 1, 1, 2)),
    ]
    mixed = [told[n] for n in (3, 0, 4, 2, 1)]
    assert sorted(mixed, key=lambda f: f.sort_key) == told


def test_a_finding_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ONE.message = "other"  # type: ignore[misc]
    assert ONE.line == 2


def test_confidence_has_an_order() -> None:
    assert RANK[Confidence.HIGH] > RANK[Confidence.MEDIUM] > RANK[Confidence.LOW]
