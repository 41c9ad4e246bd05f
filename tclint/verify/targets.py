"""Which class or function must run so that a finding's line runs."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tclint.model.finding import Compiled, Effect, Finding
from tclint.verify.claims import claim_of
from tclint.verify.job import PROGRAM, Candidate, Goal, Job
from tclint.verify.mains import is_program
from tclint.verify.makers import key_of
from tclint.verify.options import VerifyOptions
from tclint.verify.rebound import Rebinding, rebindings
from tclint.verify.spans import outline

_NAME = re.compile(r"^[A-Za-z_][\w.<>]*$")


@dataclass(frozen=True, slots=True)
class Target:
    """One job and the findings it answers."""

    job: Job
    findings: tuple[Finding, ...]


def absolute(path: str, root: str) -> str:
    return os.path.realpath(path if os.path.isabs(path) else os.path.join(root, path))


def relative(path: str, root: str) -> str:
    """A path as findings have it: relative to the root, with forward slashes."""
    real = os.path.realpath(path) if os.path.isabs(path) else path
    base = os.path.join(os.path.realpath(root), "")
    return real[len(base) :].replace(os.sep, "/") if real.startswith(base) else path


def candidates_of(finding: Finding, root: str, factories: Collection[str] = ()) -> tuple[Candidate, ...]:
    """What to run for a finding, best first: the program that compiles it, the head of its chain, then what holds the line,
    then what lies between, the nearest to the line first: what is further out is harder to build.

    What holds the line comes before the head where `factories` names it: those inputs were written for this very line.
    """
    between: list[Candidate] = []
    for step in finding.chain:
        text = step.text.strip().removesuffix("()")
        if _NAME.match(text) and step.path and (candidate := _candidate(absolute(step.path, root), text)):
            between.append(candidate)
    found, between = [*_program(finding, root), *between[:1]], between[1:]
    path = absolute(finding.path, root)
    name = finding.function
    if not name and (function := outline(path).function_at(finding.line)) is not None:
        name = function.name
    if name and (candidate := _candidate(path, name)):
        key = key_of(candidate.path, candidate.name, factories) or ""
        found.insert(0 if key.rpartition(":")[2] == candidate.name else len(found), candidate)
        if private := _candidate(path, name, inner=True):
            between.append(private)
    if not found:
        # Code at module level, or a name that the file does not define: a convention of the file may still run it.
        found.append(Candidate(path, name or "<module>"))
    return tuple(dict.fromkeys([*found, *reversed(between)]))


def _program(finding: Finding, root: str) -> tuple[Candidate, ...]:
    """The program in another file whose compile site leads to the line: it builds what it compiles and has inputs for it."""
    site = finding.chain[0] if finding.chain else None
    if site is None or not site.path or site.path == finding.path or finding.eager or not finding.begins_with_site:
        return ()
    if finding.effect is Effect.CUDAGRAPH or _NAME.match(site.text.strip().removesuffix("()")):
        return ()
    path = absolute(site.path, root)
    return (Candidate(path, PROGRAM),) if is_program(Path(path)) else ()


def _candidate(path: str, name: str, inner: bool = False) -> Candidate | None:
    """The runnable thing a qualified name stands for: a class for its `forward`, a function, or a method."""
    known = outline(path)
    head = name.split(".<locals>")[0]
    owner, _, method = head.rpartition(".")
    if head in known.classes:
        return Candidate(path, head)
    if owner in known.classes:
        if method in ("forward", "__call__", "__init__") or (method.startswith("_") and not inner):
            # Private methods are reached through forward: their arguments are nobody's promise.
            return Candidate(path, owner)
        return Candidate(path, head)
    if any(item.name == head for item in known.functions):
        return Candidate(path, head)
    return None


def targets_of(findings: Sequence[Finding], options: VerifyOptions) -> tuple[Target, ...]:
    """The findings grouped by what must run and by their file. CUDA-graph findings run apart: they need the real modes of each
    site. So does each file that what is compiled leads to: where the whole cannot be run, its classes are looked for by
    themselves, and those of one file have the time of a target for that. For a proof a program runs once for all of them, and
    has the time of all of them: what it computes is compared as a whole.
    """
    root = os.path.realpath(options.root)
    groups: dict[tuple[Candidate, bool, Compiled, str], list[tuple[Finding, tuple[Candidate, ...]]]] = {}
    for finding in findings:
        candidates = candidates_of(finding, root, options.factories)
        graphs = finding.effect is Effect.CUDAGRAPH
        key = (candidates[0], graphs, _site(finding), _part(candidates[0], finding, options))
        groups.setdefault(key, []).append((finding, candidates))
    return tuple(_target(members, root, options) for members in groups.values())


def _part(candidate: Candidate, finding: Finding, options: VerifyOptions) -> str:
    """The file of which the findings of a target are, where they are of one."""
    whole = candidate.name == PROGRAM and bool(options.record or options.compare)
    return "" if whole else finding.path


def _threads(jobs: int) -> int:
    """For each job: its share of the cores, and no more than the user allows a process. Threads of several jobs that wait for
    each other on the same cores spin, and take more time than they save."""
    share = max(1, (os.cpu_count() or 1) // max(1, jobs))
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    return min(share, int(allowed)) if allowed.isdigit() and int(allowed) else share


def _varies(finding: Finding) -> tuple[str, ...]:
    claim = claim_of(finding)
    return (*claim.names, *sorted(claim.kinds))


def _site(finding: Finding) -> Compiled:
    """What of the compile site an experiment heeds: all of it for CUDA graphs; the rest runs without Inductor."""
    site = finding.compiled or Compiled()
    return site if finding.effect is Effect.CUDAGRAPH else Compiled(dynamic=site.dynamic, fullgraph=site.fullgraph)


def _around(findings: Sequence[Finding], root: str) -> tuple[Rebinding, ...]:
    """The sites of the findings' file, where all of them are in code that the program leaves eager."""
    if not all(finding.eager for finding in findings):
        return ()
    holding = {finding.function for finding in findings}
    paths = dict.fromkeys(absolute(finding.path, root) for finding in findings)
    return tuple(site for path in paths for site in rebindings(path) if site.name not in holding)


def _record_file(folder: str, root: str, candidate: Candidate, finding: Finding, part: str) -> str:
    """Where a target's record lies: the same name for the same target under another root."""
    if not folder:
        return ""
    graphs = finding.effect is Effect.CUDAGRAPH
    name = f"{relative(candidate.path, root)}:{candidate.name}:{graphs}:{_site(finding)}:{part}"
    return os.path.join(folder, hashlib.sha256(name.encode()).hexdigest()[:24] + ".pt")


def _target(members: Sequence[tuple[Finding, tuple[Candidate, ...]]], root: str, options: VerifyOptions) -> Target:
    candidates = tuple(dict.fromkeys(c for _, own in members for c in own[:1]))
    candidates += tuple(dict.fromkeys(c for _, own in members for c in own if c not in candidates))
    places = []
    for finding, _ in members:
        path = absolute(finding.path, root)
        lines = outline(path).statement(finding.span.line, max(finding.span.line, finding.span.end_line))
        span = finding.span
        marked = (span.column, span.line, max(span.line, span.end_line))
        places.append(Goal(path, lines.start, lines.stop - 1, finding.effect.value, _varies(finding), *marked))
    factories: Mapping[str, str] = dict(options.factories)
    first = members[0][0]
    part = _part(candidates[0], first, options)
    files = 1 if part else len({finding.path for finding, _ in members})
    job = Job(
        root=root,
        candidates=candidates,
        places=tuple(dict.fromkeys(places)),
        device=options.device,
        seed=options.seed,
        seconds=options.timeout * files,
        factories=factories,
        threads=_threads(options.jobs),
        compiled=_site(first),
        sites=_around([finding for finding, _ in members], root),
        record=_record_file(options.record, root, candidates[0], first, part),
        compare=_record_file(options.compare, root, candidates[0], first, part),
    )
    return Target(job, tuple(finding for finding, _ in members))
