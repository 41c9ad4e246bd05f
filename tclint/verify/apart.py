"""A target that died is asked once more for each of its lines alone: only what kills it is left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tclint.model.finding import Finding
from tclint.verify.heard import Heard
from tclint.verify.options import VerifyOptions
from tclint.verify.targets import Target, targets_of
from tclint.verify.verdict import Outcome, Verdict

PARTS = 8
"""Most parts of one target. Where it has more lines, a part has several of them."""
SHARE = 0.25
"""Of a target's time, for each part: what is alone has less to try, and all parts together take twice as long as one target."""


def apart(target: Target, heard: Heard, verdicts: Sequence[Verdict], options: VerifyOptions) -> tuple[Target, ...]:
    """The parts to ask for, where the process died before every finding was decided."""
    job = target.job
    if not heard.died or job.record or job.compare or job.pack:
        return ()
    lines: dict[tuple[str, int], list[Finding]] = {}
    for verdict in verdicts:
        if verdict.outcome not in (Outcome.CONFIRMED, Outcome.REFUTED):
            lines.setdefault((verdict.finding.path, verdict.finding.line), []).append(verdict.finding)
    count = min(len(lines), PARTS)
    if len({(place.path, place.line) for place in job.places}) < 2:
        # It was alone already.
        return ()
    held = list(lines.values())
    shorter = replace(options, timeout=job.seconds * SHARE)
    parts = [[finding for own in held[first::count] for finding in own] for first in range(count)]
    return tuple(part for findings in parts for part in targets_of(findings, shorter))
