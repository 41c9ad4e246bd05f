"""What the diagnostics measure, as plain data: crosses the process boundary, and is the JSON report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SCHEMA = "tclint-diagnose/1"


@dataclass(frozen=True, slots=True)
class Timing:
    """The time of one warm step: the median of the blocks that nothing disturbed."""

    median_ms: float
    spread_ms: float
    """The distance between the quartiles; or to the next process, where that is more."""
    blocks: int
    steps: int
    """Steps in one block."""
    disturbed: int = 0
    """Blocks that do not count, because others of the same step were faster."""
    launch_us: float | None = None
    """What an empty kernel launch took next to the blocks that count: how fast the host of a GPU was."""


# --- breaks -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BreakRow:
    path: str
    line: int
    kind: str
    words: str
    gb_id: str = ""
    inside: str = ""
    """The place in a library, where the user's line only leads there."""
    modes: tuple[str, ...] = ()
    """In which runs it was heard: train, eval."""
    rule: str = ""
    rule_name: str = ""
    severity: str = ""
    help: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class RecompileRow:
    path: str
    line: int
    name: str
    compiles: int
    expected: int
    sweep: str
    reasons: tuple[str, ...] = ()
    limit: str = ""
    rule: str = ""
    rule_name: str = ""
    severity: str = ""
    help: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class FrameRow:
    path: str
    line: int
    name: str
    programs: int
    """Programs made of it: itself, and what resumes after each break."""
    breaks: int


@dataclass(frozen=True, slots=True)
class Breaks:
    breaks: tuple[BreakRow, ...] = ()
    recompiles: tuple[RecompileRow, ...] = ()
    frames: tuple[FrameRow, ...] = ()
    faults: tuple[str, ...] = ()
    """Errors that compiling raised."""
    covered: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


# --- speed and the like -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SpeedRow:
    kind: str
    """forward, forward+backward"""
    eager: Timing
    compiled: Timing
    first_s: float
    """The first compiled step, which compiles. Never compared with anything but its like."""
    eager_peak_mb: float | None = None
    compiled_peak_mb: float | None = None
    eager_launches: int | None = None
    compiled_launches: int | None = None
    eager_gpu_ms: float | None = None
    """How long the GPU works during a step."""
    compiled_gpu_ms: float | None = None
    processes: int = 1
    """In how many it was measured, one after another; each time is that of the fastest."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Speed:
    rows: tuple[SpeedRow, ...] = ()
    launches: str = "kernel launches"
    """What the launches count: on a CPU it is operators."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShapeStep:
    shape: str
    compilations: int
    lost_ms: float
    """What the first call with this shape took beyond a warm one."""
    steady_ms: float
    guards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShapeRow:
    axis: str
    marked: bool
    backend: str
    steps: tuple[ShapeStep, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def compilations(self) -> int:
        return sum(step.compilations for step in self.steps)

    @property
    def lost_ms(self) -> float:
        """What shapes after the first cost."""
        return sum(step.lost_ms for step in self.steps[1:])


@dataclass(frozen=True, slots=True)
class Shapes:
    rows: tuple[ShapeRow, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LatencyRow:
    label: str
    """whole, regional"""
    kind: str
    first_s: float
    steady: Timing | None = None
    graphs: int = 0
    blocks: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Latency:
    rows: tuple[LatencyRow, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModeRow:
    mode: str
    first_s: float
    eager: Timing
    compiled: Timing
    peak_mb: float | None = None
    skips: tuple[str, ...] = ()
    """Why CUDA graphs were skipped, in Inductor's words."""
    partitions: int = 0
    recordings: int = 0
    notes: tuple[str, ...] = ()
    gpu_ms: float | None = None
    """How long the GPU works during a compiled step."""


@dataclass(frozen=True, slots=True)
class Reentry:
    """Called twice before the first output is read, as an allocator or a cache does."""

    kept: str
    """What became of the first output: fine, wrong, error."""
    cloned: str
    """The same with `tclint.cudagraph.run_cloned`."""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Modes:
    rows: tuple[ModeRow, ...] = ()
    reentry: Reentry | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guards:
    baseline: Timing
    skipped: Timing
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AblateRow:
    option: str
    value: str
    first_s: float
    default: Timing
    changed: Timing


@dataclass(frozen=True, slots=True)
class Ablate:
    rows: tuple[AblateRow, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NumericRow:
    dtype: str
    what: str
    """outputs, gradients"""
    verdict: str
    """ok, differs, not run"""
    max_abs: float | None = None
    eager_error: float | None = None
    """Relative error (root mean square) of eager against float64."""
    compiled_error: float | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Numerics:
    rows: tuple[NumericRow, ...] = ()
    notes: tuple[str, ...] = ()


# --- cost -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CostBreak:
    """A break by what is the same in every copy: lines move, their text does not."""

    path: str
    text: str
    kind: str

    def __str__(self) -> str:
        return f"{self.path} {self.kind}"


@dataclass(frozen=True, slots=True)
class CostSample:
    """One copy of the program: what a warm step takes and what Dynamo says of it."""

    step: Timing
    launches: int | None
    graphs: int
    breaks: tuple[CostBreak, ...]
    compilations: int
    """Programs made over the varying calls."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CostRow:
    path: str
    line: int
    rule: str
    rule_name: str
    effect: str
    remedy: str
    """The fix's title, "stub", or empty."""
    status: str
    """measured, not proven, not measured"""
    words: str
    before_ms: float | None = None
    after_ms: float | None = None
    saved_ms: float | None = None
    noise_ms: float | None = None
    launches: int | None = None
    """Launches the finding costs; operators on a CPU."""
    graphs: int | None = None
    compilations: int | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    rows: tuple[CostRow, ...] = ()
    notes: tuple[str, ...] = ()


# --- the whole --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding of the linter in the target's files."""

    path: str
    line: int
    rule: str
    rule_name: str
    severity: str
    effect: str
    message: str
    help: str = ""
    fix: str = ""
    reached: bool = False
    """The target's calls ran the line."""
    heard: bool = False
    """Dynamo complained there."""


@dataclass(frozen=True, slots=True)
class SlowStep:
    number: int
    """The first step is 1."""
    ms: float


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a program that ran as it is."""

    unit: str
    """optimizer steps, calls of what is compiled"""
    count: int
    first_s: float
    """From the start of the program to the end of its first step."""
    warm: Timing | None = None
    """The later half of the steps, which compile nothing any more; None where there were too few."""
    slow: tuple[SlowStep, ...] = ()
    """Those after the first that took several times as long."""
    peak_mb: float | None = None
    ended: str = ""
    """How the program ended, where that was not by itself and well."""


@dataclass(frozen=True, slots=True)
class State:
    """How one diagnostic went."""

    name: str
    status: str
    """done, failed, not begun, needs cuda, left out, not applicable"""
    words: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    schema: str
    target: str
    device: str
    gpu: str = ""
    torch: str = ""
    python: str = ""
    tclint: str = ""
    inputs: str = ""
    """Where the inputs came from and what they are."""
    parameters: int = 0
    quick: bool = False
    seconds: float = 0.0
    unfinished: str = ""
    """Why this is not all that was asked for: the run goes on, or was stopped."""
    states: tuple[State, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    steps: Steps | None = None
    breaks: Breaks | None = None
    speed: Speed | None = None
    shapes: Shapes | None = None
    latency: Latency | None = None
    modes: Modes | None = None
    guards: Guards | None = None
    ablate: Ablate | None = None
    numerics: Numerics | None = None
    cost: Cost | None = None
