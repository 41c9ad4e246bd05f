"""What one child process heard from Dynamo, as plain data that crosses the process boundary as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tclint.model.finding import Step

Lines = Mapping[str, tuple[int, ...]]
"""Line numbers by path."""


@dataclass(frozen=True, slots=True)
class Break:
    """One graph break: where, why, and whether the whole frame was given up for it."""

    path: str
    line: int
    kind: str
    words: str
    gb_id: str = ""
    stack: tuple[Step, ...] = ()
    """The user's frames, outermost first; the last one is the place of the break."""
    frame: str = ""
    skips: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """One code object that Dynamo compiled: how often, why again, and which lines it traced on the way."""

    path: str
    line: int
    name: str
    compiles: int = 0
    reasons: tuple[str, ...] = ()
    traced: Lines = field(default_factory=dict)
    limit: str = ""
    """Dynamo's words where it gave up recompiling."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception: where in the user's code, in which act (import, inputs, eager, compiled)."""

    act: str
    kind: str
    message: str
    stack: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """An operation that Inductor keeps out of the CUDA graph: why, and the user's frames, the innermost last."""

    words: str
    stack: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Graphs:
    """What happened to CUDA graphs in a run."""

    outcome: str
    """One of: error, wrong, skip, partition, rerecord, fine."""
    words: str = ""
    skips: tuple[str, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    stack: tuple[Step, ...] = ()
    cuts: tuple[Cut, ...] = ()
    runs: int = 0
    """How often one graph, or one function with graphs, ran: a program's own loop makes many runs in one call of it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One experiment on one target."""

    experiment: str
    """One of: breaks, recompiles, cudagraphs, statement."""
    label: str
    """For people: "eval, float32"."""
    source: str
    """Where the inputs came from."""
    dtype: str = ""
    target: str = ""
    compiled: Step | None = None
    """What verify compiled, by its file and name; None where the program's own sites did."""
    given: bool = False
    """Somebody wrote the example, and says by it what is compiled."""
    covered: Lines = field(default_factory=dict)
    traced: Lines = field(default_factory=dict)
    breaks: tuple[Break, ...] = ()
    frames: tuple[Frame, ...] = ()
    expected: int = 2
    """How often a code object may be compiled in this run before it counts as recompiling."""
    calls: int = 0
    fault: Fault | None = None
    graphs: Graphs | None = None
    complete: bool = True
    """False where the lines that ran are not all known: a trace names only lines that made an operation."""
    eager_known: bool = True
    """False where only the lines are known that Dynamo traced: others may have run in eager mode."""
    differs: str = ""
    """How the compiled values differ from the eager ones, where they do."""
    varied: tuple[str, ...] = ()
    """What changed between the calls: "size", an argument's name, an attribute as `self.name`."""
    chosen: bool = True
    """The calls are a sequence that somebody chose: the program, or an example. False where they were made up."""
    alike: bool = False
    """No argument had another size, layout, type or plain value in one call than in another."""
    unsure: bool = False
    """The calls hold something that was put there to reach a line, of a kind that nobody states: it cannot refute."""
    settings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What a statement made of settings of torch, by their full names: their values before it and after it."""

    @property
    def graph_runs(self) -> int:
        """How often what the CUDA graphs hold was made anew: by our calls, or by the program's own in one of them."""
        return max(self.calls, self.graphs.runs if self.graphs is not None else 0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One sequence of calls, compiled: what Dynamo did, for a comparison of a file before and after a fix."""

    label: str
    """For people: "eval, batch 2, 3, 1, 8"."""
    calls: int
    allowed: int = 2
    """How often a correct function may be compiled in this sequence."""
    compiles: int = 0
    """How often the code object was compiled that was compiled most."""
    reasons: tuple[str, ...] = ()
    """Why it was compiled again."""
    breaks: tuple[Break, ...] = ()
    traced: Lines = field(default_factory=dict)
    fault: str = ""
    """The compiled call raised, and the eager one had not."""


@dataclass(frozen=True, slots=True)
class Equality:
    """Whether a target does the same before and after a change, on the same weights, inputs and seeds."""

    calls: int = 0
    shapes: int = 0
    """How many different shapes of input the calls had."""
    seeds: int = 0
    tensors: int = 0
    """How many tensors were compared: outputs, buffers afterwards, arguments afterwards."""
    numbers: int = 0
    """How many of Python's numbers were compared there."""
    gradients: int = 0
    worst: float = 0.0
    """The largest difference between two elements that were compared."""
    differs: str = ""
    """The first thing that is not equal."""
    trouble: str = ""
    """Why nothing could be compared."""
    notes: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """The whole answer of one child."""

    torch: str = ""
    python: str = ""
    device: str = "cpu"
    runs: tuple[Run, ...] = ()
    faults: tuple[Fault, ...] = ()
    """What went wrong before any experiment could run, one per input source that was tried."""
    tried: tuple[str, ...] = ()
    """Input sources tried, in order, each with what became of it."""
    hint: str = ""
    """What to write to make the target run."""
    sources: tuple[str, ...] = ()
    """Files of the project that the target imported: the result holds as long as they do not change."""
    gpu: str = ""
    trouble: str = ""
    """Why there is no answer at all: the process died, hung, or was stopped."""
    stopped: str = ""
    """Why there is no more than this: what ran before the process died, hung, or was stopped still counts."""
    died: bool = False
    """The process was not stopped: it died of a signal, or ended itself."""
    late: bool = False
    """Much of its time was used before it had looked for every line that it was asked about."""
    bad_factory: str = ""
    """The key of a configured factory that cannot be imported, and why."""
    equality: Equality | None = None
    """Where the job asked for a record or a comparison."""


def with_paths(heard: Heard, rename: Callable[[str], str]) -> Heard:
    """The same answer with every path renamed: the child speaks of absolute paths, findings of relative ones."""

    def steps(stack: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(replace(step, path=rename(step.path)) for step in stack)

    def lines(by_path: Lines) -> Lines:
        return {rename(path): numbers for path, numbers in by_path.items()}

    def fault(item: Fault) -> Fault:
        return replace(item, stack=steps(item.stack))

    def breaks(items: tuple[Break, ...]) -> tuple[Break, ...]:
        return tuple(replace(b, path=rename(b.path), stack=steps(b.stack)) for b in items)

    def trial(item: Trial) -> Trial:
        return replace(item, breaks=breaks(item.breaks), traced=lines(item.traced))

    def equality(item: Equality) -> Equality:
        return replace(item, trials=tuple(trial(each) for each in item.trials))

    def graphs(item: Graphs) -> Graphs:
        cuts = tuple(replace(cut, stack=steps(cut.stack)) for cut in item.cuts)
        return replace(item, stack=steps(item.stack), cuts=cuts)

    def run(item: Run) -> Run:
        return replace(
            item,
            compiled=steps((item.compiled,))[0] if item.compiled else None,
            covered=lines(item.covered),
            traced=lines(item.traced),
            breaks=breaks(item.breaks),
            frames=tuple(replace(f, path=rename(f.path), traced=lines(f.traced)) for f in item.frames),
            fault=fault(item.fault) if item.fault else None,
            graphs=graphs(item.graphs) if item.graphs else None,
        )

    return replace(
        heard,
        runs=tuple(run(item) for item in heard.runs),
        faults=tuple(fault(item) for item in heard.faults),
        sources=tuple(rename(path) for path in heard.sources),
        equality=equality(heard.equality) if heard.equality else None,
    )
