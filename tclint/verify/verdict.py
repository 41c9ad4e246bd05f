"""The answers of a verification: one verdict per finding, and what no finding had predicted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tclint.model.finding import Finding, Step
from tclint.verify.heard import Equality


class Outcome(str, Enum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not-reached"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the compiler says about one finding."""

    finding: Finding
    outcome: Outcome
    words: str
    """Dynamo's own words where it is confirmed, else why the outcome is what it is."""
    gb_id: str = ""
    stack: tuple[Step, ...] = ()
    torch: str = ""
    device: str = ""
    dtype: str = ""
    inputs: str = ""
    """Where the inputs came from."""
    hint: str = ""
    """What to write so that the next run can tell."""
    apart: bool = False
    """What the finding says did not happen, and what was compiled is not what its site compiles."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A hazard that Dynamo met and no finding had predicted."""

    path: str
    line: int
    effect: str
    words: str
    gb_id: str = ""
    stack: tuple[Step, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class VerifyReport:
    verdicts: tuple[Verdict, ...]
    missed: tuple[Missed, ...] = ()
    torch: str = ""
    device: str = ""
    notes: tuple[str, ...] = ()
    equalities: tuple[Equality | None, ...] = ()
    """By verdict: whether its target still computes what was recorded, where that was asked."""

    bad_factories: tuple[str, ...] = ()
    """Configured factories that cannot be imported: their keys, and why."""
    stopped: bool = False
    """The run was stopped: verdicts on targets that had not ended are missing."""

    def of(self, finding: Finding) -> Verdict | None:
        return next((verdict for verdict in self.verdicts if verdict.finding == finding), None)
