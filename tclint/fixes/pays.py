"""Whether fixes pay: the hazard is gone, and none came or went elsewhere, as the linter sees the fixed text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from tclint.fixes.moved import Moved
from tclint.model.finding import Effect, Finding, Severity, Switch

_Key = TypeVar("_Key", tuple[str, str, int], tuple[str, str, str])

_GRAVE: Final = (Effect.ERROR, Effect.SILENT)
"""No price for any number of breaks: the program does not run, or computes something else."""

Without = Callable[[str], Sequence[Finding]]
"""The findings that are left where all is applied but what sets one switch, in whichever file."""


@dataclass(frozen=True, slots=True)
class Unpaid:
    """Fixes of which at least one leaves or makes a hazard, and which hazard."""

    suspects: tuple[Finding, ...]
    why: str
    is_left: bool = False
    """The hazard is the one that the fix is for."""
    is_near: bool = False
    """They are in the function of the hazard."""
    is_certain: bool = False
    """All of them: to try them one by one would tell nothing more."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the fixes that were applied did not do, and what the switches among them cost."""

    unpaid: Sequence[Unpaid] = ()
    prices: Mapping[Switch, Sequence[Finding]] = field(default_factory=dict)
    """Hazards that a switch makes elsewhere, fewer than it cures; at the lines of the texts as they were."""


def judged(
    chosen: Sequence[Finding],
    before: Sequence[Finding],
    after: Sequence[Finding],
    old: Mapping[str, bytes],
    new: Mapping[str, bytes],
    without: Without,
) -> Judgement:
    """What `chosen` were applied for and did not do. `before` are all findings of the texts `old`, `after` those of `new`.

    Files that are in neither are as they were. A change of a line makes no hazard at all; a switch, which is one change
    for many findings, may make fewer than it cures.
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
            if hazard.effect in _GRAVE
            or _is_written(hazard, old, new)
            or not _taken(gone, (hazard.path, "", hazard.function))
        ]
    bad: list[Unpaid] = []
    prices: dict[Switch, list[Finding]] = {}
    for hazard in surplus:
        blamed = _blame(hazard, chosen, moved)
        makers = _makers(hazard, blamed, without)
        if makers and not _is_written(hazard, old, new):
            if hazard.effect not in _GRAVE:
                for switch in makers:
                    prices.setdefault(switch, []).append(hazard)
                continue
            setting = tuple(f for f in blamed.suspects if f.fix is not None and f.fix.switch in makers)
            blamed = replace(blamed, suspects=setting, is_certain=not blamed.is_near)
        lines = tuple(f for f in blamed.suspects if f.fix is not None and f.fix.switch is None)
        if lines and not makers and not blamed.is_near:
            blamed = replace(blamed, suspects=lines)  # the hazard is there without any of the switches, too
        bad.append(blamed)
    for switch, hazards in prices.items():
        bad += _unpaid(hazards, [f for f in chosen if f.fix is not None and f.fix.switch == switch], moved)
    if bad:
        return Judgement(bad)
    return Judgement((), {switch: [_as_it_was(h, moved) for h in hazards] for switch, hazards in prices.items()})


def _makers(hazard: Finding, blamed: Unpaid, without: Without) -> list[Switch]:
    """The switches that have made a hazard: those without which it is not there. None where a line may have."""
    switches = list(
        dict.fromkeys(f.fix.switch for f in blamed.suspects if f.fix is not None and f.fix.switch is not None)
    )
    only = all(fixed.fix is not None and fixed.fix.switch is not None for fixed in blamed.suspects)
    if blamed.is_left or not switches or (blamed.is_near and not only):
        return []
    settings = dict.fromkeys(switch.setting for switch in switches)
    if only and len(settings) == 1:
        return switches
    made = {setting for setting in settings if _scope(hazard) not in map(_scope, without(setting))}
    # Each alone would make it, where nothing else can have.
    return [s for s in switches if s.setting in made] or (switches if only else [])


def _unpaid(hazards: Sequence[Finding], cured: Sequence[Finding], moved: Mapping[str, Moved]) -> list[Unpaid]:
    """Those of the findings that a switch cures for which it does not pay, as it makes `hazards`."""
    by_scope: dict[tuple[str, str], list[Finding]] = {}
    for fixed in cured:
        by_scope.setdefault((fixed.path, fixed.function), []).append(fixed)
    made: dict[tuple[str, str], list[Finding]] = {}
    for hazard in hazards:
        # In the function itself, or in what it calls.
        way = [(hazard.path, hazard.function), *((step.path, step.text) for step in reversed(hazard.chain))]
        if scope := next((scope for scope in way if scope in by_scope), None):
            made.setdefault(scope, []).append(hazard)
    # From one line to another, as many as there were: moved, not cured.
    bad = [
        Unpaid(tuple(by_scope[scope]), _why(those[0], moved), is_certain=True)
        for scope, those in made.items()
        if len(those) >= len(by_scope[scope])
    ]
    if bad:
        return bad
    if len(cured) > len(hazards) and any(fixed.severity is Severity.HIGH for fixed in cured):
        return []
    return [Unpaid(tuple(cured), _why(hazards[0], moved), is_certain=True)]


def _as_it_was(hazard: Finding, moved: Mapping[str, Moved]) -> Finding:
    lines = moved.get(hazard.path)
    line = min(lines.old(hazard.line), default=hazard.line) if lines is not None else hazard.line
    return replace(hazard, span=replace(hazard.span, line=line))


def _blame(hazard: Finding, chosen: Sequence[Finding], moved: Mapping[str, Moved]) -> Unpaid:
    for fixed in chosen:
        if (fixed.path, fixed.code) == (hazard.path, hazard.code) and _moved(fixed, moved)[2] == hazard.line:
            return Unpaid((fixed,), "the hazard would still be there", is_left=True)
    here = tuple(fixed for fixed in chosen if fixed.path == hazard.path)
    if near := tuple(fixed for fixed in here if fixed.function == hazard.function):
        return Unpaid(near, _why(hazard, moved), is_near=True)
    if setting := tuple(fixed for fixed in chosen if _switches(fixed, hazard)):
        return Unpaid(setting, _why(hazard, moved))
    # A switch of any file holds for the whole program.
    elsewhere = tuple(f for f in chosen if f.path != hazard.path and f.fix is not None and f.fix.switch is not None)
    return Unpaid((*here, *elsewhere) if here else tuple(chosen), _why(hazard, moved))


def _why(hazard: Finding, moved: Mapping[str, Moved]) -> str:
    why = f"line {hazard.line} would have {hazard.code} then: {hazard.message}"
    return why if hazard.path in moved else f"{hazard.path} {why}"


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
    """A rule, and whether it is worse than slow: what broke the graph before and raises now has become another hazard."""
    return f"{finding.code} {finding.effect.value}" if finding.effect in _GRAVE else finding.code


def _taken(counts: Counter[_Key], key: _Key) -> bool:
    """Whether one of these was left; there is one less afterwards."""
    if counts[key] <= 0:
        return False
    counts[key] -= 1
    return True
