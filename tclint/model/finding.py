"""What a rule says about one place in the source: the finding, its parts and their order."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Effect(str, Enum):
    """What `torch.compile` does at the flagged line."""

    GRAPH_BREAK = "graph-break"
    RECOMPILE = "recompile"
    CUDAGRAPH = "cudagraph"
    ERROR = "error"
    SILENT = "silent"
    SLOW = "slow"


class Severity(str, Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Confidence(str, Enum):
    """How sure the interpreter is that the values are what the rule took them for."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Applicability(str, Enum):
    """How a fix may be applied: by `--fix`, by `--unsafe-fixes`, or only shown."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


RANK = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Span:
    """A range of source. Lines and columns count from 1, columns in characters, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Step:
    """One link of the chain that makes a line compiled, outermost first."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that explains the finding: "tensor since here"."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A test on the way to a finding of which nobody in sight says what it comes to, as it must come out."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a span of one file by a text."""

    path: str
    span: Span
    text: str
    cell: int = 0
    """As in `Finding`."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting of Dynamo that cures a finding, and all others of its kind, in the file that compiles."""

    setting: str
    path: str


@dataclass(frozen=True, slots=True)
class Fix:
    title: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()
    note: str = ""
    switch: Switch | None = None
    """Where the change is one at the compile site, for many findings."""
    checked: bool = field(default=False, compare=False)
    """The fixed text was linted, and the fix pays."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What the compiler said about a finding when it was asked: `outcome` is confirmed, refuted, not-reached or inconclusive."""

    outcome: str
    words: str
    graph_break: str = ""
    torch: str = ""
    device: str = ""
    dtype: str = ""
    inputs: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Compiled:
    """How the region of a finding is compiled: the arguments of its site, as far as they can be read."""

    mode: str = ""
    backend: str = ""
    dynamic: bool | None = None
    fullgraph: bool = False
    options: tuple[tuple[str, str], ...] = ()
    """Names, and their values as Python literals."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One hazard at one place. `path` is relative to the folder tclint runs in, with forward slashes."""

    code: str
    name: str
    path: str
    span: Span
    message: str
    effect: Effect
    severity: Severity
    confidence: Confidence
    help: str = ""
    function: str = ""
    chain: tuple[Step, ...] = ()
    labels: tuple[Label, ...] = ()
    graph_breaks: tuple[str, ...] = ()
    fix: Fix | None = None
    compiled: Compiled | None = field(default=None, compare=False)
    """None in eager code, and where no compile site is in sight."""
    eager: bool = False
    """The finding is in eager code around a compiled callable: `chain` says how it is reached, not why it is compiled."""
    assumed: bool = False
    """It rests on something that no code in sight says: that the `forward` that `chain` begins with is compiled, that the method
    in `uncalled` is called, that the `conditions` hold."""
    uncalled: str = ""
    """Of what is assumed, the method that holds the compile site that `chain` begins with: no code of the program calls it."""
    conditions: tuple[Condition, ...] = ()
    """The tests on the way to it of which nobody in sight says what they come to, outermost first."""
    cell: int = 0
    """The cell of a notebook that the lines count from, from 1; 0 where they count from the start of the file, as they do in
    everything but output."""
    same_as: tuple[str, ...] = field(default=(), compare=False)
    verified: Verification | None = field(default=None, compare=False)
    roots: int = field(default=0, compare=False)
    """How many compile sites, or files with a `forward` taken as compiled, were seen to reach it; `chain` is from one."""

    @property
    def line(self) -> int:
        return self.span.line

    @property
    def place(self) -> str:
        """The file, and in a notebook the cell: `demo.ipynb:cell 3`."""
        return f"{self.path}:cell {self.cell}" if self.cell else self.path

    @property
    def begins_with_site(self) -> bool:
        """Whether the first link of the chain is what compiles, and no function."""
        return not self.assumed or bool(self.uncalled) or self.compiled is not None

    @property
    def ground(self) -> int:
        """What it rests on: 2 where that is known, 1 where a compile site reaches it under conditions, 0 without a site."""
        return 2 if not self.assumed else int(self.begins_with_site or self.eager)

    @property
    def standing(self) -> tuple[int, int, int]:
        """Which of two findings of one rule at one place is told: the surer one, then the one that hangs on less, then the graver."""
        return (RANK[self.confidence.value], int(not self.conditions), RANK[self.severity.value])

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        return (self.path, self.span.line, self.span.column, self.code, self.message)

    @property
    def listed(self) -> tuple[int, str, int, int, int, str, str]:
        """Where programs read it: what is only assumed comes after what is known, each by place."""
        return (-self.ground, self.path, self.cell, *self.sort_key[1:])

    @property
    def weight(self) -> tuple[int, int, str, int, int, int, str, str]:
        """Where people read it: the known before the assumed, and what costs most first."""
        return (-self.ground, -RANK[self.severity.value], *self.listed[1:])
