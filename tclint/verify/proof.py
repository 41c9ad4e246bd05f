"""`--fix --verify`: fixes are tried on a shadow of the project and kept where the compiler shows that they hold.

A fix holds if the hazard at its line is gone, the target computes what it did (outputs, gradients, buffers; eager and
compiled; on the same weights, calls and seeds), and over the same calls no break and no recompile is new.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.fixes import passes
from tclint.fixes.moved import Moved
from tclint.model.finding import Effect, Finding, Span
from tclint.sources.text import decode
from tclint.verify.judgement import is_follow_on, is_ours, place_of
from tclint.verify.spans import outline, outline_of

if TYPE_CHECKING:
    from tclint.run import fixing
    from tclint.run.project import Project
    from tclint.verify.heard import Break, Equality, Trial
    from tclint.verify.verdict import Verdict, VerifyReport

CALLS = 3
"""Fewest calls on which a fix counts as proven."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Which tree to ask about, and where the records of the old one lie."""

    root: str
    record: str = ""
    compare: str = ""


Ask = Callable[[Sequence[Finding], Inquiry], "VerifyReport"]
"""Verifies findings whose paths are relative to a folder: `tclint.verify.verify`, handed in by the command."""

_Key = tuple[str, str, int, int]
_Place = tuple[str, int]


@dataclass(slots=True)
class Proved:
    """What is left to do, and why."""

    done: fixing.Done
    proofs: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


def prove(project: Project, ask: Ask, *, unsafe: bool) -> Proved:
    """Fix with proof: all fixes of a run first; where these do not hold together, those that do by themselves."""
    # Held once: an edit that the user saves meanwhile is in no attempt, and is found when a fix is to be written.
    project = project.held()
    cwd = project.cwd
    nothing = project.fix(write=False, keep=lambda finding, number: False)
    wanted = [f for f in nothing.report.findings if passes.applicable(f, unsafe) and not f.code.startswith("TCL9")]
    proved = Proved(nothing)
    inside = [f for f in wanted if not f.path.startswith(("../", "/"))]
    proved.rejected += [f"{_where(f)}: not fixed: the file lies outside {cwd}" for f in wanted if f not in inside]
    if not inside:
        return proved
    with tempfile.TemporaryDirectory(prefix="tclint-record-") as records:
        before = ask(inside, Inquiry(cwd, record=records))
        prover = _Prover(project, ask, unsafe, records, inside, before, nothing.report.findings)
        allowed: list[Finding] = []
        for finding, verdict in zip(inside, before.verdicts, strict=True):
            if verdict.outcome.value == "confirmed":
                allowed.append(finding)
            else:
                why = f"{verdict.outcome.value}: {_first(verdict.words)}"
                proved.rejected.append(f"{_where(finding)}: not fixed: {why}")
        while allowed:
            attempt = prover.attempt(allowed)
            for finding, why in attempt.bad:
                allowed.remove(finding)
                proved.rejected.append(f"{_where(finding)}: fix rejected: {why}")
            if not attempt.bad and not attempt.together:
                proved.done = attempt.done
                proved.proofs += attempt.proofs
                break
            for group, why in attempt.together:
                allowed = [finding for finding in allowed if finding not in group]
                allowed += _narrowed(prover, [], group, why, proved)
    return proved


def _narrowed(prover: _Prover, good: list[Finding], part: list[Finding], why: str, proved: Proved) -> list[Finding]:
    """`good` with those of `part` that hold beside it, found by halves: each attempt runs the whole target. All of `part`
    together do not hold, for `why`."""
    if len(part) == 1:
        proved.rejected.append(f"{_where(part[0])}: fix rejected: {why}")
        return good
    half = (len(part) + 1) // 2
    found = _tried(prover, good, part[:half], proved)
    if len(found) == len(good) + half:
        # What does not hold is in the other half: all of it was tried before.
        return _narrowed(prover, found, part[half:], why, proved)
    return _tried(prover, found, part[half:], proved)


def _tried(prover: _Prover, good: list[Finding], part: list[Finding], proved: Proved) -> list[Finding]:
    """`good` with those of `part` that hold beside it."""
    if not part:
        return good
    attempt = prover.attempt([*good, *part])
    still = [(finding, why) for finding, why in attempt.bad if finding in part]
    if still:
        proved.rejected += [f"{_where(finding)}: fix rejected: {why}" for finding, why in still]
        return _tried(prover, good, [each for each in part if all(each != finding for finding, _ in still)], proved)
    faults = [why for _, why in (*attempt.together, *attempt.bad)]
    return _narrowed(prover, good, part, faults[0], proved) if faults else [*good, *part]


@dataclass(slots=True)
class _Attempt:
    done: fixing.Done
    bad: list[tuple[Finding, str]] = field(default_factory=list)
    """Fixes whose own hazard is still there."""
    together: list[tuple[list[Finding], str]] = field(default_factory=list)
    """Fixes of one target that together do not hold."""
    proofs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Prover:
    project: Project
    ask: Ask
    unsafe: bool
    records: str
    wanted: Sequence[Finding]
    before: VerifyReport
    initial: Sequence[Finding]
    """Every finding of the old source: a break that one of them predicted is not new."""
    made: dict[frozenset[_Key], _Attempt] = field(default_factory=dict)
    """The attempts until now, by the fixes that were allowed."""

    def attempt(self, allowed: Sequence[Finding]) -> _Attempt:
        keys = frozenset(_key(f) for f in allowed)
        if keys not in self.made:
            self.made[keys] = self._attempt(keys)
        return self.made[keys]

    def _attempt(self, keys: frozenset[_Key]) -> _Attempt:
        tried = [f for f in self.wanted if _key(f) in keys]
        denied = frozenset(_signature(f) for f in self.wanted if _key(f) not in keys)
        done = self.project.fix(unsafe=self.unsafe, write=False, keep=_Chooser(keys, denied))
        with tempfile.TemporaryDirectory(prefix="tclint-") as folder:
            contents = {**done.before, **done.fixed.contents}
            shadow(self.project.cwd, folder, contents, [file.path for file in self.project.files])
            after = self.ask([_moved(f, done) for f in tried], Inquiry(folder, compare=self.records))
            return self._judge(done, tried, after, folder)

    def _judge(self, done: fixing.Done, tried: Sequence[Finding], after: VerifyReport, folder: str) -> _Attempt:
        attempt = _Attempt(done)
        old = dict(zip(map(_key, self.wanted), self.before.equalities, strict=True))
        predicted = {
            (f.path, line)
            for f in self.initial
            if _key(f) not in {_key(t) for t in tried}
            for line in outline(os.path.join(self.project.cwd, f.path)).statement(f.span.line, f.span.end_line)
        }
        groups: dict[int, list[tuple[Finding, Verdict]]] = {}
        for finding, verdict, equality in zip(tried, after.verdicts, after.equalities, strict=True):
            groups.setdefault(id(equality), []).append((finding, verdict))
        equalities = {id(equality): equality for equality in after.equalities}
        for key, members in groups.items():
            still = [(f, why) for f, v in members if (why := _still(f, v))]
            attempt.bad += still
            was, now = old[_key(members[0][0])], equalities[key]
            if was is None or now is None:
                why = "nothing could be compared"
            else:
                why = unequal(was, now) or self._new_break(done, was, now, predicted, folder)
            if why and not still:
                attempt.together.append(([f for f, _ in members], why))
            if not why and was is not None and now is not None:
                attempt.proofs += [f"{_where(f)}: {_proof(v, after, was, now)}" for f, v in members]
        return attempt

    def _new_break(self, done: fixing.Done, was: Equality, now: Equality, predicted: set[_Place], folder: str) -> str:
        known = {(*place_of(b, is_ours), b.kind) for trial in was.trials for b in trial.breaks}
        before, after = (_in_libraries(each.trials) for each in (was, now))
        for trial in now.trials:
            for each in trial.breaks:
                path, line = place_of(each, is_ours)
                if not is_ours(path) or is_follow_on(each, trial.breaks, lambda p: outline(os.path.join(folder, p))):
                    continue
                library = (each.path, each.line, each.kind)
                if library in after and len(after[library]) <= len(before.get(library, ())):
                    # Dynamo gives up at the same line of a library as before: who comes to it first may be another now.
                    continue
                lines = _old_lines(done, path, line)
                if any((path, number) in predicted or (path, number, each.kind) in known for number in lines):
                    continue
                return f"a new break at line {line} of the fixed file ({trial.label}): {_first(_words(each))}"
        return ""


def _still(finding: Finding, verdict: Verdict) -> str:
    """Empty, or why the hazard cannot be called gone."""
    outcome = verdict.outcome.value
    if outcome == "refuted" or verdict.apart:
        # The same was compiled before the fix, whatever the program compiles, and it happened then.
        return ""
    if finding.effect is Effect.SILENT and outcome == "inconclusive" and "values agree" in verdict.words:
        # Confirmed by values that differed: they agree now, and nothing more can be said of a silent fault.
        return ""
    return f"{'still there' if outcome == 'confirmed' else outcome}: {_first(verdict.words)}"


def unequal(was: Equality, now: Equality) -> str:
    """Empty, or what a target does now that it did not do before."""
    if was.trouble or now.trouble:
        return f"nothing could be compared: {was.trouble or now.trouble}"
    if now.differs:
        return f"the values change: {now.differs}"
    if now.calls < CALLS:
        return f"only {now.calls} calls could be made, {CALLS} are needed"
    before = {trial.label: trial for trial in was.trials}
    for trial in now.trials:
        if trial.fault:
            return f"the compiled call fails ({trial.label}): {trial.fault}"
    if not (now.tensors or now.numbers or now.gradients):
        # Every call may be equal and say nothing: a program whose compiled calls nobody could watch.
        return "nothing could be compared: no value came of the calls"
    for trial in now.trials:
        old = before.get(trial.label)
        if trial.compiles > max(trial.allowed, old.compiles if old is not None else 0):
            reason = _first(trial.reasons[-1]) if trial.reasons else ""
            times = (
                f"{trial.compiles} times over {trial.calls} calls ({trial.label}), before {old.compiles if old else 0}"
            )
            return f"a new recompile: compiled {times}: {reason}"
    return ""


def _proof(verdict: Verdict, after: VerifyReport, was: Equality, now: Equality) -> str:
    where = f"{verdict.device or after.device}, torch {verdict.torch or after.torch}"
    counts = ((now.tensors, "tensor"), (now.numbers, "number"), (now.gradients, "gradient"))
    values = " and ".join(_count(number, noun) for number, noun in counts if number)
    ran = f"{now.calls} calls, {_count(now.shapes, 'shape')}, {_count(now.seeds, 'seed')}"
    old, new = (_most(each.trials) for each in (was, now))
    parts = [
        f"fixed and proven ({where}): {_first(verdict.words)}",
        f"{ran}: {values} equal in eager and compiled (largest difference {now.worst:.2g})",
        f"breaks {_breaks(was.trials)} before, {_breaks(now.trials)} after",
        f"programs per function {old} before, {new} after",
        *now.notes,
    ]
    return "; ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _most(trials: Iterable[Trial]) -> int:
    return max((trial.compiles for trial in trials), default=0)


def _breaks(trials: Iterable[Trial]) -> int:
    return len({(*place_of(b, is_ours), b.kind) for trial in trials for b in trial.breaks})


def _in_libraries(trials: Iterable[Trial]) -> dict[tuple[str, int, str], set[_Place]]:
    """By line of somebody else's code that breaks: the user's lines that led to it."""
    found: dict[tuple[str, int, str], set[_Place]] = {}
    for item in (item for trial in trials for item in trial.breaks if not is_ours(item.path)):
        found.setdefault((item.path, item.line, item.kind), set()).add(place_of(item, is_ours))
    return found


def _words(item: Break) -> str:
    return f"{item.kind}: {item.words}" if item.words and item.words != item.kind else item.kind


@dataclass(frozen=True, slots=True)
class _Chooser:
    """Which fixes are tried: those allowed, and in later passes what they have led to, but nothing that was denied."""

    allowed: frozenset[_Key]
    denied: frozenset[tuple[str, ...]]

    def __call__(self, finding: Finding, number: int) -> bool:
        # Lines have moved after the first pass; what a fix would write has not.
        return _key(finding) in self.allowed if number == 0 else _signature(finding) not in self.denied


def shadow(cwd: str, folder: str, contents: Mapping[str, bytes], sources: Iterable[str]) -> None:
    """A folder that looks like `cwd` with other contents of some files: links, but real files for the sources.

    A linked source would lead Python, which follows links, back to the old project and its neighbours.
    """
    own = {Path(p) for p in (*sources, *contents) if not p.startswith(("../", "/"))}
    real = {above for path in own for above in path.parents}
    for inner in sorted({Path("."), *real}, key=lambda p: len(p.parts)):
        Path(folder, inner).mkdir(exist_ok=True)
        for entry in sorted(Path(cwd, inner).iterdir()):
            relative = inner / entry.name
            if relative in own and entry.is_file():
                data = contents.get(relative.as_posix())
                Path(folder, relative).write_bytes(entry.read_bytes() if data is None else data)
            elif relative not in real and entry.name not in (".git", "__pycache__"):
                os.symlink(entry, Path(folder, relative))


def _moved(finding: Finding, done: fixing.Done) -> Finding:
    """The finding where its line is after the fixes."""
    before = done.before[finding.path]
    line = Moved(before, done.fixed.contents.get(finding.path, before)).new(_edited_line(finding, before))
    return replace(finding, span=Span(line, 1, line, 1))


def _edited_line(finding: Finding, before: bytes) -> int:
    """The line the fix changes: what was flagged may stand under a guard afterwards, where nobody compiles it.

    A fix that leaves the function alone (a switch at the top of the file, another function's decorator) is judged where
    the hazard is.
    """
    assert finding.fix is not None
    here = finding.span.line
    around = outline_of(decode(finding.path, before)).function_at(here)
    lines = [edit.span.line for edit in finding.fix.edits if edit.path == finding.path] or [here]
    if around is not None:
        lines = [line for line in lines if around.first <= line <= around.last] or [here]
    return min(lines, key=lambda line: (abs(line - here), line))


def _old_lines(done: fixing.Done, path: str, line: int) -> range:
    before = done.before.get(path, b"")
    return Moved(before, done.fixed.contents.get(path, before)).old(line)


def _key(finding: Finding) -> _Key:
    return finding.path, finding.code, finding.span.line, finding.span.column


def _signature(finding: Finding) -> tuple[str, ...]:
    assert finding.fix is not None
    return (finding.path, finding.code, *(edit.text for edit in finding.fix.edits))


def _where(finding: Finding) -> str:
    return f"{finding.path}:{finding.line} {finding.code}"


def _first(words: str) -> str:
    return words.strip().splitlines()[0] if words.strip() else ""
