"""A target that left lines open is asked once more for those lines by themselves.

One that died took every line with it that it had not come to: alone, only what kills it stays open. One that took
long had to share its searches among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tclint.model.finding import Finding
from tclint.verify.heard import Heard
from tclint.verify.options import VerifyOptions
from tclint.verify.targets import Target, targets_of
from tclint.verify.verdict import Outcome, Verdict

PARTS = 4
"""Most parts of one target. Where it has more lines, a part has several of them."""
SHARE = 0.5
"""Of a target's time, for each part: what is alone has less to try."""


def apart(target: Target, heard: Heard, verdicts: Sequence[Verdict], options: VerifyOptions) -> tuple[Target, ...]:
    """The parts to ask for: none where the target was one line, or a part already that took too long."""
    job = target.job
    is_whole = job.seconds >= options.timeout
    if not (heard.died or (heard.late and is_whole)) or job.record or job.compare or job.pack:
        return ()
    if len({(place.path, place.line) for place in job.places}) < 2:
        return ()
    lines: dict[tuple[str, int], list[Finding]] = {}
    for verdict in verdicts:
        if verdict.outcome not in (Outcome.CONFIRMED, Outcome.REFUTED):
            lines.setdefault((verdict.finding.path, verdict.finding.line), []).append(verdict.finding)
    held = list(lines.values())
    count = min(len(held), PARTS)
    parts = [[finding for own in held[first::count] for finding in own] for first in range(count)]
    shorter = replace(options, timeout=job.seconds * SHARE)
    return tuple(part for findings in parts for part in targets_of(findings, shorter))
