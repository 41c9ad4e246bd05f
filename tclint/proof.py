"""`--fix --verify`: fixes are tried on a shadow of the project, and kept where Dynamo says that the hazard is gone."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tclint import fix as fixes
from tclint import fixing
from tclint.finding import Finding, Span

if TYPE_CHECKING:
    from tclint.config import Settings
    from tclint.files import InputFile

Ask = Callable[[Sequence[Finding], str], Any]
"""Verifies findings whose paths are relative to a folder: `tclint.verify.verify`, handed in by the command."""

_Key = tuple[str, str, int, int]


@dataclass(slots=True)
class Proved:
    """What is left to do, and why."""

    done: fixing.Done
    proofs: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


def prove(files: Sequence[InputFile], settings: Settings, ask: Ask, cwd: str, *, unsafe: bool) -> Proved:
    """Fix with proof: all fixes of a run first; where one of them does not hold, only those that do."""
    nothing = fixing.fix(files, settings, write=False, keep=lambda finding, number: False)
    initial = nothing.report.findings
    wanted = [f for f in initial if fixes.applicable(f, unsafe)]
    before = ask(wanted, cwd) if wanted else None
    proved = Proved(nothing)
    if before is None:
        return proved
    allowed: set[_Key] = set()
    for finding, verdict in zip(wanted, before.verdicts, strict=True):
        if verdict.outcome.value == "confirmed":
            allowed.add(_key(finding))
        else:
            proved.rejected.append(f"{_where(finding)}: not fixed: {verdict.outcome.value}: {_first(verdict.words)}")
    known = _missed(before.missed)
    while allowed:
        denied = {_signature(f) for f in wanted if _key(f) not in allowed}
        may = _Chooser(frozenset(allowed), frozenset(denied))
        done = fixing.fix(files, settings, unsafe=unsafe, write=False, keep=may)
        tried = [f for f in wanted if _key(f) in allowed]
        after = _after(done, tried, ask, cwd)
        bad = [
            (finding, verdict)
            for finding, verdict in zip(tried, after.verdicts, strict=True)
            if verdict.outcome.value != "refuted"
        ]
        worse = _missed(after.missed) - known
        for finding, verdict in bad:
            allowed.discard(_key(finding))
            why = "still there" if verdict.outcome.value == "confirmed" else verdict.outcome.value
            proved.rejected.append(f"{_where(finding)}: fix rejected: {why}: {_first(verdict.words)}")
        for path in {path for path, _ in worse}:
            for finding in [f for f in tried if f.path == path and _key(f) in allowed]:
                allowed.discard(_key(finding))
                proved.rejected.append(f"{_where(finding)}: fix rejected: another break appeared in {path}")
        if not bad and not worse:
            proved.done = done
            for finding, verdict in zip(tried, after.verdicts, strict=True):
                where = f"{verdict.device or after.device}, torch {verdict.torch or after.torch}"
                proved.proofs.append(f"{_where(finding)}: fixed and proven ({where}): {_first(verdict.words)}")
            return proved
    return proved


@dataclass(frozen=True, slots=True)
class _Chooser:
    """Which fixes are tried: those allowed, and in later passes what they have led to, but nothing that was denied."""

    allowed: frozenset[_Key]
    denied: frozenset[tuple[str, ...]]

    def __call__(self, finding: Finding, number: int) -> bool:
        # Lines have moved after the first pass; what a fix would write has not.
        return _key(finding) in self.allowed if number == 0 else _signature(finding) not in self.denied


def _after(done: fixing.Done, tried: Sequence[Finding], ask: Ask, cwd: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="tclint-") as folder:
        shadow(cwd, folder, done.fixed.contents)
        moved = []
        for finding in tried:
            after = done.fixed.contents.get(finding.path, done.before[finding.path])
            line = _new_line(done.before[finding.path], after, _edited_line(finding))
            moved.append(replace(finding, span=Span(line, 1, line, 1)))
        return ask(moved, folder)


def shadow(cwd: str, folder: str, contents: Mapping[str, bytes]) -> None:
    """A folder that looks like `cwd` with other contents of some files: links, and real files where they differ."""
    real = {Path(path).parent for path in contents}
    real |= {above for path in tuple(real) for above in path.parents}
    for inner in sorted({Path("."), *real}, key=lambda p: len(p.parts)):
        Path(folder, inner).mkdir(exist_ok=True)
        for entry in sorted(Path(cwd, inner).iterdir()):
            relative = (inner / entry.name).as_posix()
            if relative in contents:
                Path(folder, relative).write_bytes(contents[relative])
            elif Path(relative) not in real and entry.name not in (".git", "__pycache__"):
                os.symlink(entry, Path(folder, relative))


def _edited_line(finding: Finding) -> int:
    """The line the fix changes: what was flagged may stand under a guard afterwards, where nobody compiles it."""
    assert finding.fix is not None
    lines = (edit.span.line for edit in finding.fix.edits)
    return min(lines, key=lambda line: (abs(line - finding.span.line), line))


def _new_line(before: bytes, after: bytes, line: int) -> int:
    """Where a line is after the edits; the beginning of what it became, where it changed."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        if i1 <= line - 1 < i2:
            return min(j1 + (line - 1 - i1), max(j2 - 1, j1)) + 1
    return line


def _key(finding: Finding) -> _Key:
    return finding.path, finding.code, finding.span.line, finding.span.column


def _signature(finding: Finding) -> tuple[str, ...]:
    assert finding.fix is not None
    return (finding.path, finding.code, *(edit.text for edit in finding.fix.edits))


def _where(finding: Finding) -> str:
    return f"{finding.path}:{finding.line} {finding.code}"


def _first(words: str) -> str:
    return words.strip().splitlines()[0] if words.strip() else ""


def _missed(missed: Sequence[Any]) -> Counter[tuple[str, str]]:
    return Counter((each.path, each.gb_id) for each in missed)
