"""What the parent asks of one child, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tclint.model.finding import Compiled
from tclint.verify.rebound import Rebinding

PROGRAM = "<program>"
"""The name of a candidate that is the program of its file."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that could be run: a class or function of one file."""

    path: str
    """Absolute."""
    name: str
    """Qualified within the file: `Model`, `Model.encode`, `helper`."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A finding as the child needs it: the lines to reach, and which experiment they call for."""

    path: str
    line: int
    end_line: int
    effect: str
    names: tuple[str, ...] = ()
    """What the finding says changes between calls: arguments, attributes as `self.name`, "size" and the like."""
    column: int = 0
    """Where its mark begins on the line `mark`, from 1; 0 where that is not known."""
    mark: int = 0
    mark_end: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    root: str
    candidates: tuple[Candidate, ...]
    """In order of preference: the head of the chain first, then the function that holds the finding."""
    places: tuple[Goal, ...]
    device: str = "cpu"
    seed: int = 0
    factories: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1
    compiled: Compiled = field(default_factory=Compiled)
    """How the targets are compiled where the program does not do it by itself."""
    sites: tuple[Rebinding, ...] = ()
    """What the program compiles around which all the places are eager code: the targets are not compiled then."""
    record: str = ""
    """A file to write what the target computes to, for a comparison after a fix."""
    compare: str = ""
    """Such a file, written before the fix."""
    seconds: float = 120
    """Time for the whole job: no further example is begun when most of it is over."""
    graphs: bool = False
    """Look for what CUDA graphs do to it, under the real modes of its sites, whether a finding speaks of that or not."""
    pack: str = ""
    """A folder to write what a script needs to do the same without tclint."""

    @property
    def title(self) -> str:
        first = self.candidates[0]
        return f"{first.path}:{first.name}"
