"""Whether fixes pay: the hazard is gone, and none came or went elsewhere, as the linter sees the fixed text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tclint.fixes.moved import Moved
from tclint.model.finding import Effect, Finding

_Key = TypeVar("_Key", tuple[str, str, int], tuple[str, str, str])


@dataclass(frozen=True, slots=True)
class Unpaid:
    """Fixes of which at least one leaves or makes a hazard, and which hazard."""

    suspects: tuple[Finding, ...]
    why: str


def unpaid(
    chosen: Sequence[Finding],
    before: Sequence[Finding],
    after: Sequence[Finding],
    old: Mapping[str, bytes],
    new: Mapping[str, bytes],
) -> list[Unpaid]:
    """What `chosen` were applied for and did not do. `before` are all findings of the texts `old`, `after` those of `new`.

    Files that are in neither are as they were.
    """
    moved = {path: Moved(data, new[path]) for path, data in old.items() if path in new}
    applied = Counter(map(_place, chosen))
    left = [finding for finding in before if not _taken(applied, _place(finding))]
    there = Counter(map(_place, after))
    missing = Counter(_scope(finding) for finding in left if not _taken(there, _moved(finding, moved)))
    expected = Counter(_moved(finding, moved) for finding in left)
    surplus = [finding for finding in after if not _taken(expected, _place(finding))]
    # What a change did not touch it may have carried along, further than the difference of the lines tells.
    surplus = [hazard for hazard in surplus if not _taken(missing, _scope(hazard))]
    if any(fixed.fix is not None and fixed.fix.switch is not None for fixed in chosen):
        # A switch reaches functions that nobody wanted to change: there a break may go from one line to the next.
        gone = Counter({(path, "", function): count for (path, _, function), count in missing.items()})
        # Not so where the program does not run any more, or where a fix has written the line itself.
        surplus = [
            hazard
            for hazard in surplus
            if hazard.effect is Effect.ERROR
            or _is_written(hazard, old, new)
            or not _taken(gone, (hazard.path, "", hazard.function))
        ]
    return [_blame(hazard, chosen, moved) for hazard in surplus]


def _blame(hazard: Finding, chosen: Sequence[Finding], moved: Mapping[str, Moved]) -> Unpaid:
    for fixed in chosen:
        if (fixed.path, fixed.code) == (hazard.path, hazard.code) and _moved(fixed, moved)[2] == hazard.line:
            return Unpaid((fixed,), "the hazard would still be there")
    why = f"line {hazard.line} would have {hazard.code} then: {hazard.message}"
    here = tuple(fixed for fixed in chosen if fixed.path == hazard.path)
    near = tuple(fixed for fixed in here if fixed.function == hazard.function)
    near = near or tuple(fixed for fixed in chosen if _switches(fixed, hazard))
    if hazard.path not in moved:
        why = f"{hazard.path} {why}"
    return Unpaid(near or here or tuple(chosen), why)


def _is_written(hazard: Finding, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> bool:
    """Whether the line of a hazard was nowhere in the file before."""
    if hazard.path not in old or hazard.path not in new:
        return False
    lines = new[hazard.path].splitlines()
    return 0 < hazard.line <= len(lines) and lines[hazard.line - 1] not in old[hazard.path].splitlines()


def _switches(fixed: Finding, hazard: Finding) -> bool:
    """Whether a fix is a switch in a file that the hazard is compiled from."""
    switch = fixed.fix.switch if fixed.fix is not None else None
    return switch is not None and switch.path in {hazard.path, *(step.path for step in hazard.chain)}


def _place(finding: Finding) -> tuple[str, str, int]:
    return finding.path, _kind(finding), finding.line


def _moved(finding: Finding, moved: Mapping[str, Moved]) -> tuple[str, str, int]:
    lines = moved.get(finding.path)
    return finding.path, _kind(finding), finding.line if lines is None else lines.new(finding.line)


def _scope(finding: Finding) -> tuple[str, str, str]:
    return finding.path, _kind(finding), finding.function


def _kind(finding: Finding) -> str:
    """A rule, and whether torch raises: what broke the graph before and raises now has become another hazard."""
    return f"{finding.code} raises" if finding.effect is Effect.ERROR else finding.code


def _taken(counts: Counter[_Key], key: _Key) -> bool:
    """Whether one of these was left; there is one less afterwards."""
    if counts[key] <= 0:
        return False
    counts[key] -= 1
    return True
