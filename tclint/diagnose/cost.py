"""What one finding costs: the program as it is against a copy in which only that finding is mended."""

from __future__ import annotations

import ast
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.diagnose.measurement import Cost, CostBreak, CostRow, CostSample, Diagnosis, FindingRow
from tclint.model import codec
from tclint.model.finding import Finding
from tclint.verify.proof import shadow
from tclint.verify.targets import relative

if TYPE_CHECKING:
    from tclint.diagnose.session import Session

BUDGET = 60.0
UNREPEATED = "the unchanged program was measured once so far: how much of this is noise is not known yet"
_SILENT = ("print", "pprint", "breakpoint", "warnings.warn", "torch._dynamo.graph_break")
_LOGGERS = ("debug", "info", "warning", "warn", "error", "critical", "exception", "log")


def measure(session: Session, diagnosis: Diagnosis) -> Iterator[Cost]:
    """A row for every finding that the target's calls reach, the dearest first; again after each what is known by then."""
    pairs = [
        (finding, row)
        for finding, row in zip(session.findings, diagnosis.findings, strict=True)
        if row.reached or row.heard
    ]
    if not pairs:
        yield Cost(notes=("no finding is on a line that the target's calls run",))
        return
    before, why = _sample(session, session.options.cwd)
    if before is None:
        yield Cost(notes=(f"the program as it is could not be measured: {why}",))
        return
    notes = list(before.notes)
    rows: list[CostRow] = []
    for finding, row in pairs:
        rows.append(_row(session, finding, row, before))
        yield Cost(_sorted(rows), (*notes, UNREPEATED))
    again, _ = _sample(session, session.options.cwd)
    if again is not None:
        # The same program twice: what they differ by is no finding's cost.
        noise = abs(before.step.median_ms - again.step.median_ms)
        base = (before.step.median_ms + again.step.median_ms) / 2
        rows = [_against(row, base, noise) for row in rows]
        notes.append(f"the unchanged program was measured twice; its warm steps differ by {noise:.3f} ms")
    yield Cost(_sorted(rows), tuple(notes))


def _sorted(rows: list[CostRow]) -> tuple[CostRow, ...]:
    return tuple(sorted(rows, key=lambda row: (row.saved_ms is None, -(row.saved_ms or 0.0), row.path, row.line)))


def _against(row: CostRow, base: float, noise: float) -> CostRow:
    if row.after_ms is None:
        return row
    saved = base - row.after_ms
    words = f"{row.words}; the time is within the noise" if abs(saved) <= noise else row.words
    return replace(row, before_ms=base, saved_ms=saved, noise_ms=noise, words=words)


def _sample(session: Session, folder: str) -> tuple[CostSample | None, str]:
    """The program in a folder that looks like the current one."""
    order = session.order("cost", BUDGET)

    def moved(path: str) -> str:
        inside = os.path.relpath(path, session.options.cwd)
        return os.path.normpath(os.path.join(folder, inside))

    if folder != session.options.cwd:
        order = replace(order, path=moved(order.path), root=moved(order.root))
    _, words, result = session.ask(replace(order, budget=BUDGET), free=True)
    if result is None:
        return None, words
    sample = codec.decode(CostSample, result)
    return replace(sample, breaks=tuple(replace(each, path=relative(each.path, folder)) for each in sample.breaks)), ""


def _row(session: Session, finding: Finding, row: FindingRow, before: CostSample) -> CostRow:
    blank = CostRow(row.path, row.line, row.rule, row.rule_name, row.effect, "", "not measured", "")
    cwd = session.options.cwd
    if os.path.isabs(row.path) or not session.target.path.startswith(os.path.join(cwd, "")):
        return replace(
            blank, words="outside the current folder: run tclint from the project's folder to measure copies"
        )
    contents, remedy, why = _mended(session, finding)
    if not contents:
        return replace(blank, words=why)
    session.progress(f"cost of {row.rule} at line {row.line}", 0, 0)
    with tempfile.TemporaryDirectory(prefix="tclint-cost-") as folder:
        assert session.linted is not None
        sources = [os.path.relpath(file.absolute, cwd) for file in session.linted.project.files]
        shadow(cwd, os.path.realpath(folder), contents, sources)
        after, trouble = _sample(session, os.path.realpath(folder))
    if after is None:
        return replace(blank, remedy=remedy, words=f"the copy with it ({remedy}) does not run: {trouble}")
    status, words = judged(before, after, cwd)
    return replace(
        blank,
        remedy=remedy,
        status=status,
        words=f"{remedy}{words}",
        before_ms=before.step.median_ms,
        after_ms=after.step.median_ms,
        saved_ms=before.step.median_ms - after.step.median_ms,
        launches=_minus(before.launches, after.launches),
        graphs=before.graphs - after.graphs,
        compilations=before.compilations - after.compilations,
    )


def judged(before: CostSample, after: CostSample, cwd: str) -> tuple[str, str]:
    """Whether the remedy did what it is for, as Dynamo tells; and in words that follow its name."""
    gone = Counter(before.breaks) - Counter(after.breaks)
    more = Counter(after.breaks) - Counter(before.breaks)
    hidden = [each for each in more if _was_there(each, cwd)]
    new = [each for each in more if each not in hidden]
    fewer = before.compilations - after.compilations
    if new:
        return "not proven", f", but another break appears: {new[0]}"
    if gone:
        words = f"; Dynamo no longer breaks: {next(iter(gone))}"
        return "measured", f"{words}; one that it hid is heard now: {hidden[0]}" if hidden else words
    if fewer > 0:
        return "measured", f"; {fewer} programs fewer over the varying calls"
    return "not proven", "; Dynamo says the same with and without it"


def _was_there(found: CostBreak, cwd: str) -> bool:
    """A break at a line that the remedy left as it was: until now the program was cut before it."""
    if os.path.isabs(found.path):
        return True  # nobody edits what lies outside
    text = Path(cwd, found.path).read_text(encoding="utf-8", errors="replace")
    return found.text in (line.strip() for line in text.splitlines())


def _minus(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else before - after


def _mended(session: Session, finding: Finding) -> tuple[Mapping[str, bytes], str, str]:
    """The files with this one finding mended: by its fix, or by a stub where that measures the same program."""
    assert session.linted is not None
    if finding.fix is not None and finding.fix.edits:
        done = session.linted.project.fix(
            unsafe=True,
            write=False,
            keep=lambda other, number: number == 0 and other.sort_key == finding.sort_key,
        )
        if done.fixed.contents:
            return done.fixed.contents, f"fix: {finding.fix.title}", ""
        return {}, "", f"its fix ({finding.fix.title}) is only shown: it needs your decision"
    data = Path(session.options.cwd, finding.path).read_bytes()
    stubbed = stub(data, finding.span.line)
    if stubbed is None:
        return {}, "", "no fix, and the line's value is used: a stub would measure another program"
    return {finding.path: stubbed}, "stub: the statement left out", ""


def stub(data: bytes, line: int) -> bytes | None:
    """The source without a statement that only talks (print, logging, warnings); None where it does more."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        last = getattr(node, "end_lineno", 0)
        if isinstance(node, ast.Expr) and node.lineno <= line <= last and _only_talks(node.value):
            lines = data.splitlines(keepends=True)
            indent = lines[node.lineno - 1][: node.col_offset]
            if indent.strip() or lines[last - 1][node.end_col_offset or 0 :].strip(b" \t\r\n;") not in (b"",):
                return None
            blank = [b"\n"] * (last - node.lineno)
            return b"".join([*lines[: node.lineno - 1], indent + b"pass\n", *blank, *lines[last:]])
    return None


def _only_talks(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = ast.unparse(value.func)
    owner, _, method = name.rpartition(".")
    return name in _SILENT or (method in _LOGGERS and "log" in owner.lower())


__all__ = ["judged", "measure", "stub"]
