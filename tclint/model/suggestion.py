"""One change at a compile site in place of many at single lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tclint.model.finding import Finding, Switch


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A switch, what it costs, and the findings that it would cure."""

    switch: Switch
    price: str
    cures: tuple[Finding, ...]

    @property
    def title(self) -> str:
        return f"set torch._dynamo.config.{self.switch.setting} = True in {self.switch.path}"


def suggestions(findings: Sequence[Finding]) -> list[Suggestion]:
    """The switches that cure more than one finding, the one that cures most first."""
    cured: dict[Switch, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None and finding.fix.switch is not None:
            cured.setdefault(finding.fix.switch, []).append(finding)
    found = [
        Suggestion(switch, those[0].fix.note if those[0].fix else "", tuple(those))
        for switch, those in cured.items()
        if len(those) > 1
    ]
    return sorted(found, key=lambda each: (-len(each.cures), each.switch.path, each.switch.setting))
