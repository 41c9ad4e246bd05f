"""Findings for tests."""

from __future__ import annotations

from pathlib import Path

from tclint.model.finding import Confidence, Effect, Finding, Severity, Span


def finding_at(path: Path | str, text: str, effect: Effect = Effect.GRAPH_BREAK, source: str | None = None) -> Finding:
    """A finding on the first line of a file that holds a text."""
    content = Path(path).read_text(encoding="utf-8") if source is None else source
    line = next(number for number, line in enumerate(content.splitlines(), 1) if text in line)
    return finding_on(Path(path).name if source is None else str(path), line, effect)


def finding_on(
    path: str, line: int, effect: Effect = Effect.GRAPH_BREAK, end_line: int = 0, function: str = ""
) -> Finding:
    return Finding(
        code="TCL101",
        name="test",
        path=path,
        span=Span(line, 1, end_line or line, 2),
        message="a test",
        effect=effect,
        severity=Severity.HIGH,
        confidence=Confidence.HIGH,
        function=function,
    )
