"""Which experiments a job calls for, on which example, until every place has been reached or nothing is left to try."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from types import ModuleType
from typing import Final

import torch

from tclint.model.finding import Step
from tclint.verify import usage
from tclint.verify.child import equal, pack
from tclint.verify.child.cudagraph import run_cudagraphs
from tclint.verify.child.excerpt import excerpt
from tclint.verify.child.experiments import (
    EagerFailed,
    Setup,
    fault_of,
    run_breaks,
    run_eager,
    run_partly,
)
from tclint.verify.child.flagged import flagged, flagged_inside
from tclint.verify.child.goals import holds_any, unconfirmed, unreached, unsettled, untraced
from tclint.verify.child.inputs import BadFactory, Call, Example, NoInputs, check_factories, made_on, moved_whole
from tclint.verify.child.load import load
from tclint.verify.child.rebinding import rebound
from tclint.verify.child.repeated import parameters_of, recompile_runs
from tclint.verify.child.sources import sources
from tclint.verify.child.statement import statement_runs
from tclint.verify.child.towards import among, ran_by, towards
from tclint.verify.cover import is_project
from tclint.verify.heard import Equality, Fault, Heard, Run, Trial
from tclint.verify.job import Candidate, Goal, Job
from tclint.verify.waiting import waited

EXAMPLES = 3
"""Most examples that are run for one job, once they work."""
ENOUGH = 0.7
"""Of a job's time: when it is over and something ran, nothing new is begun."""
LATE = 0.9
"""Of a job's time: until then lines are run by themselves, which takes a moment each."""
LONG = 0.5
"""Of a job's time: who has used it and left lines out had to share what each search may take among them."""
WAYS = 3
"""Most calls whose values are taken for one line that is run by itself."""
SPARE = 0.2
"""Of a job's time: until then a target is also searched for what no finding speaks of."""


_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "")
"""tclint itself may lie under the root (an editable install): its frames are never the user's."""


_LINE: Final = re.compile(r"(?<=\.py):\d+")


@dataclass
class _Notes:
    runs: list[Run] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    hint: str = ""
    examples: dict[tuple[str, str], Example] = field(default_factory=dict)
    """Those that ran, by candidate and source."""
    records: list[equal.Record] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    swept: dict[str, list[Call]] = field(default_factory=dict)
    """The calls of a sweep, by its label."""
    packed: bool = False
    ways: list[tuple[Candidate, Example]] = field(default_factory=list)
    """Those that may be made and called otherwise, for lines that stand behind conditions."""
    more: list[tuple[Candidate, Example]] = field(default_factory=list)
    """Others of the same candidates, each of which came to a line that the first one passes by."""
    partial: list[tuple[Candidate, Example]] = field(default_factory=list)
    """Those of which a call raises in the end."""
    halves: dict[str, Example] = field(default_factory=dict)
    """Those of them that were run up to there, by source."""
    near: list[Example] = field(default_factory=list)
    """Those of them that come to no line somebody asks about, of what holds such a line."""
    unsearched: list[tuple[Candidate, Example]] = field(default_factory=list)
    """Those that ran, and that nobody has searched for recompiles."""
    tell: Callable[[], None] = lambda: None
    """Called when there is more to know: what is saved until then outlives the process."""
    has_time: Callable[[], bool] = lambda: False
    """Whether so little of the job's time is used that something may be looked for that nobody asked about."""


def carry_out(job: Job, save: Callable[[Heard], None] | None = None) -> Heard:
    """Everything that can be learned. `save` is given what is known so far, again and again."""
    begun = time.monotonic() - waited()

    def used() -> float:
        return time.monotonic() - waited() - begun

    files = {place.path for place in job.places} | {candidate.path for candidate in job.candidates}
    setup = Setup(
        device=job.device,
        seed=job.seed,
        wanted=lambda path: path in files or (not path.startswith(_OWN) and is_project(path, job.root)),
        title=job.candidates[0].name,
        compiled=job.compiled,
    )
    notes = _Notes()
    notes.has_time = lambda: used() < job.seconds * SPARE
    if save is not None:
        notes.tell = lambda: save(_heard(job, setup, notes))
    for told in statement_runs(job, setup.wanted):
        if isinstance(told, Run):
            notes.runs.append(told)
        else:
            notes.faults.append(told)
    checked = False
    waiting = list(job.candidates)
    while waiting:
        candidate = waiting.pop(0)
        if notes.runs and not unsettled(job.places, notes.runs):
            break
        if notes.runs and used() > job.seconds * ENOUGH:
            break
        if not holds_any(candidate, unreached(job.places, notes.runs)):
            # It only leads to what holds the lines: what runs already, called otherwise, is nearer to them.
            _go_on(job, setup, notes, lambda: used() < job.seconds * ENOUGH)
        try:
            module = load(candidate.path, job.root)
        except (Exception, SystemExit) as error:
            notes.faults.append(fault_of("import", error, setup.wanted))
            notes.tried.append(f"{candidate.name}: its file cannot be imported")
            continue
        try:
            if not checked:
                check_factories(job)
                checked = True
            _candidate(job, candidate, module, _heading(setup, candidate), notes)
        except BadFactory as error:
            return Heard(device=job.device, trouble=f"the configured factory of {error}", bad_factory=str(error))
        left = unreached(job.places, notes.runs)
        if notes.runs and not left:
            break
        # The head of the chain is what the program compiles. Where it leaves lines out, whoever holds one is nearest to it.
        waiting.sort(key=lambda one: not holds_any(one, left))
    notes.ways += notes.more
    _go_on(job, setup, notes, lambda: used() < job.seconds * ENOUGH)
    for candidate, example in notes.partial:
        if not unreached(job.places, notes.runs) or used() > job.seconds * ENOUGH:
            break
        _partly(job, candidate, example, _heading(setup, candidate), notes)
    late = used() > job.seconds * LONG and bool(unreached(job.places, notes.runs))
    _alone(job, setup, notes, lambda: used() < job.seconds * LATE)
    _discover(job, setup, notes)
    return replace(_heard(job, setup, notes), equality=_equality(job, setup, notes), late=late)


def _heading(setup: Setup, candidate: Candidate) -> Setup:
    """Experiments that compile this candidate."""
    return replace(setup, head=Step(candidate.path, 0, candidate.name))


def _heard(job: Job, setup: Setup, notes: _Notes) -> Heard:
    return Heard(
        runs=tuple(notes.runs),
        faults=tuple(notes.faults),
        tried=tuple(dict.fromkeys(notes.tried)),
        hint=notes.hint,
        sources=tuple(sorted(_imported(setup))),
        gpu=torch.cuda.get_device_name() if job.device.startswith("cuda") else "",
    )


def _equality(job: Job, setup: Setup, notes: _Notes) -> Equality | None:
    """The record that was asked for, or the comparison with one."""
    if job.record:
        equal.save(job.record, notes.records)
        troubles = [item.trouble for item in notes.records if item.trouble]
        nothing = "" if notes.records else "it does not run in eager mode"
        return Equality(trouble=troubles[0] if troubles else nothing, trials=tuple(notes.trials))
    if not job.compare:
        return None
    if not notes.examples:
        words = f"{notes.faults[-1].kind}: {notes.faults[-1].message[:200]}" if notes.faults else "nothing can be run"
        return Equality(trouble=words)
    parts = []
    seen: Counter[tuple[str, str]] = Counter()
    for old in equal.load(job.compare):
        key = old.candidate, _placed(old.source)
        alike = [made for (name, source), made in notes.examples.items() if (name, _placed(source)) == key]
        number, seen[key] = seen[key], seen[key] + 1
        example = notes.examples.get((old.candidate, old.source))
        example = example or next(iter(alike[number:]), None) or _made_again(job, old, number)
        if example is None:
            return Equality(trouble=f"{old.candidate} cannot be run any more on {old.source}")
        parts.append(equal.compare(setup, old, example))
    return _joined(parts)


def _placed(source: str) -> str:
    """Where an example comes from, without the line: a fix may have put others above it."""
    return _LINE.sub("", source)


def _made_again(job: Job, old: equal.Record, number: int) -> Example | None:
    """An example that the new source had no need of, as the first one reached everything; one of several of a file by its number."""
    candidate = next((item for item in job.candidates if item.name == old.candidate), None)
    if candidate is None:
        return None
    made = (each for each in sources(job, candidate, load(candidate.path, job.root)) if isinstance(each, Example))
    alike = (example for example in made if _placed(example.source) == _placed(old.source))
    return next(islice(alike, number, None), None)


def _joined(parts: list[Equality]) -> Equality:
    if not parts:
        return Equality(trouble="nothing was recorded")
    return Equality(
        calls=sum(part.calls for part in parts),
        shapes=max(part.shapes for part in parts),
        seeds=max(part.seeds for part in parts),
        tensors=sum(part.tensors for part in parts),
        numbers=sum(part.numbers for part in parts),
        gradients=sum(part.gradients for part in parts),
        worst=max(part.worst for part in parts),
        differs=next((part.differs for part in parts if part.differs), ""),
        trouble=next((part.trouble for part in parts if part.trouble), ""),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        trials=tuple(trial for part in parts for trial in part.trials),
    )


def _candidate(job: Job, candidate: Candidate, module: ModuleType, setup: Setup, notes: _Notes) -> None:
    worked = 0
    for example in sources(job, candidate, module):
        if isinstance(example, NoInputs):
            notes.tried.append(f"{candidate.name}: {example}")
            if holds_any(candidate, unreached(job.places, notes.runs)):
                for each in example.partial:
                    _partly(job, candidate, each, setup, notes)
            else:
                notes.partial += [(candidate, each) for each in example.partial]
            owner = candidate.name.split(".")[0]
            notes.hint = f"write @tclint.example({owner}) above a function returning ({owner}(...), [(inputs, ...)])"
            continue
        if worked and not (job.record or example.seen or _reaches(example, unreached(job.places, notes.runs), setup)):
            notes.tried.append(f"{candidate.name}: {example.source}: reaches nothing new")
            continue
        try:
            _experiments_there(job, candidate, example, setup, notes)
        except EagerFailed as failed:
            if isinstance(failed.__cause__, BadFactory):
                raise failed.__cause__ from failed
            notes.faults.append(failed.fault)
            notes.tried.append(f"{candidate.name}: {example.source}: {failed.fault.kind}: {failed.fault.message[:200]}")
            continue
        notes.tried.append(f"{candidate.name}: {example.source}: ran")
        notes.examples[candidate.name, example.source] = example
        if job.pack and not notes.packed and not unreached(job.places, notes.runs):
            swept = notes.swept.get(run.label) if (run := pack.worst(notes.runs)) is not None else None
            pack.write(job, setup, candidate, module, example, swept)
            notes.packed = True
        if job.record:
            made, trials = equal.record(setup, candidate.name, example)
            notes.records.append(made)
            notes.trials += trials
        worked += 1
        if example.wrap and not example.given:
            (notes.ways if worked == 1 else notes.more).append((candidate, example))
        if worked == EXAMPLES or not unreached(job.places, notes.runs):
            return


def _go_on(job: Job, setup: Setup, notes: _Notes, has_time: Callable[[], bool]) -> None:
    """The targets that run made and called otherwise, for lines that stand behind conditions."""
    while notes.ways and has_time():
        candidate, example = notes.ways.pop(0)
        _otherwise(job, candidate, example, _heading(setup, candidate), notes)


def _otherwise(job: Job, candidate: Candidate, example: Example, setup: Setup, notes: _Notes) -> None:
    own = [run for run in notes.runs if run.source == example.source]
    left = [place for place in unreached(job.places, notes.runs) if any(run.covered.get(place.path) for run in own)]
    for other in towards(example, left, setup):
        if other.partial:
            notes.partial.append((candidate, other))
            continue
        try:
            _experiments(job, candidate, other, setup, notes)
        except EagerFailed as failed:
            notes.tried.append(f"{candidate.name}: {other.source}: {failed.fault.kind}: {failed.fault.message[:200]}")
            continue
        notes.examples[candidate.name, other.source] = other


def _reaches(example: Example, places: Sequence[Goal], setup: Setup) -> bool:
    """Whether another example that runs gets to a place: it is asked without the compiler, which takes far longer."""
    ran, whole = ran_by(example, places, setup)
    return bool(ran) and whole


def _experiments_there(job: Job, candidate: Candidate, example: Example, setup: Setup, notes: _Notes) -> None:
    """The same; where the example does not run once it is moved to the device, with one that is made there: `.to` leaves the
    tensors behind that a module keeps as plain attributes. What was only kept and is not made again is moved with them."""
    ways = [example]
    if not example.given and setup.device != "cpu":
        ways += [made_on(example, setup.device), moved_whole(example, setup.device)]
    for way in ways:
        try:
            _experiments(job, candidate, way, setup, notes)
            return
        except EagerFailed:
            if way is ways[-1]:
                raise


def _experiments(job: Job, candidate: Candidate, example: Example, setup: Setup, notes: _Notes) -> None:
    """All experiments on one example. Raises EagerFailed where it never runs at all."""
    if job.sites and example.wrap:
        example = rebound(example, job.sites, job.root)
    if job.graphs and not example.wrap:
        notes.runs.append(run_cudagraphs(setup, example))
        return
    effects = {place.effect for place in job.places}
    if effects - {"recompile", "cudagraph"} or not effects:
        _breaks(job, example, setup, notes)
    if "recompile" in effects:
        _recompiles(job, candidate, example, setup, notes)
    else:
        notes.unsearched.append((candidate, example))
    if "cudagraph" in effects:
        notes.runs.append(run_cudagraphs(setup, example))


def _partly(job: Job, candidate: Candidate, example: Example, setup: Setup, notes: _Notes) -> None:
    """What a call does before it raises, where it gets to a line that no other call has run."""
    left = unreached(job.places, notes.runs)
    for mode in ("train", "eval"):
        if not ran_by(example, unreached(job.places, notes.runs), setup, (mode,))[0]:
            if holds_any(candidate, left) and example not in notes.near:
                notes.near.append(example)
            continue
        run = run_partly(setup, example, mode)
        notes.runs.append(run)
        notes.halves[example.source] = example
        notes.tried.append(f"{candidate.name}: {example.source}: ran {run.label}")
        notes.tell()


def _alone(job: Job, setup: Setup, notes: _Notes, has_time: Callable[[], bool]) -> None:
    """What Dynamo never looked at, by itself: lines that ran behind another break, on the values they had there; what stands
    behind a flag that no call sets, on its line or above it, on the values that there were at the flag."""
    known = {source: example for (_, source), example in notes.examples.items()} | notes.halves
    for place in untraced(job.places, notes.runs):
        ways: dict[tuple[str, str], Run] = {}
        for run in notes.runs:
            mode = next((word for word in ("train", "eval") if run.label.startswith(word)), "")
            if run.source in known and run.covered.get(place.path):
                ways.setdefault((run.source, mode), run)
        for (source, mode), run in islice(_nearest(place, ways).items(), WAYS):
            if not has_time():
                return
            if among([place], run.covered):
                others = [excerpt(known[source], place, setup, mode), flagged_inside(known[source], place, setup, mode)]
            else:
                others = [flagged(known[source], place, setup, mode, run.covered)]
            if any(other is not None and _by_itself(place, other, setup, notes) for other in others):
                break
        for example in notes.near[:WAYS] if not ways else ():
            if not has_time() or _behind_a_flag(place, example, setup, notes):
                break


def _behind_a_flag(place: Goal, example: Example, setup: Setup, notes: _Notes) -> bool:
    """Whether a line shows by itself what is said of it, on the values of a call that raises after the flag before it."""
    try:
        covered, _ = run_eager(replace(setup, device="cpu"), example, "train")
    except EagerFailed as failed:
        covered = failed.covered
    other = flagged(example, place, setup, "train", covered)
    return other is not None and _by_itself(place, other, setup, notes)


def _nearest(place: Goal, ways: dict[tuple[str, str], Run]) -> dict[tuple[str, str], Run]:
    """Those that run the line first, then those that come nearest to it from above."""

    def order(run: Run) -> tuple[bool, int]:
        above = [line for line in run.covered[place.path] if line <= place.line]
        return not among([place], run.covered), place.line - max(above, default=0)

    return dict(sorted(ways.items(), key=lambda item: order(item[1])))


def _by_itself(place: Goal, example: Example, setup: Setup, notes: _Notes) -> bool:
    try:
        run = run_breaks(setup, example)
    except EagerFailed as failed:
        notes.tried.append(f"{example.source}: {failed.fault.kind}: {failed.fault.message[:200]}")
        return False
    if unconfirmed((place,), [run]):
        # What statements do by themselves is real; what they do not do says nothing of the function around them.
        return False
    notes.runs.append(replace(run, covered={}, traced={}))
    notes.tell()
    return True


def _discover(job: Job, setup: Setup, notes: _Notes) -> None:
    """What nobody asked about, when all that was asked has been looked for."""
    for candidate, example in notes.unsearched:
        if not _may_discover(job, example, notes):
            continue
        try:
            _recompiles(job, candidate, example, _heading(setup, candidate), notes, notes.has_time)
        except EagerFailed:
            # It ran in another mode, and nobody asked about this one.
            notes.tried.append(f"{candidate.name}: {example.source}: not searched for recompiles")


def _recompiles(
    job: Job,
    candidate: Candidate,
    example: Example,
    setup: Setup,
    notes: _Notes,
    go_on: Callable[[], bool] = lambda: True,
) -> None:
    names = dict.fromkeys(name for place in job.places if place.effect == "recompile" for name in place.names)
    passed = usage.literals_of(candidate.name.rpartition(".")[2], parameters_of(example), job.root)
    for run in recompile_runs(example, setup, notes.swept, list(names), passed):
        notes.runs.append(run)
        notes.tell()
        if not go_on():
            return


def _may_discover(job: Job, example: Example, notes: _Notes) -> bool:
    """Whether a target is also searched for recompiles that no finding speaks of: where it runs, and there is time."""
    asked = bool(job.record or job.compare or job.pack) or {place.effect for place in job.places} == {"cudagraph"}
    return not asked and (example.wrap or example.given) and notes.has_time()


def _breaks(job: Job, example: Example, setup: Setup, notes: _Notes) -> None:
    """Train and eval; then the half type, where lines are left that neither ran."""
    attempts: list[tuple[str, torch.dtype | None]] = [("train", None), ("eval", None)] if example.wrap else [("", None)]
    half = torch.float16 if job.device.startswith("cuda") else torch.bfloat16
    failure: EagerFailed | None = None
    ran = 0
    if job.compiled.fullgraph and example.wrap:
        # The first break is an error there, and hides the others: the runs below find those.
        for mode, _ in attempts:
            try:
                notes.runs.append(run_breaks(setup, example, mode, fullgraph=True))
            except EagerFailed:
                continue
    for mode, dtype in [*attempts, *([("eval", half)] if example.wrap else [])]:
        try:
            if ran and not (dtype is None and notes.has_time()):
                # Without the compiler it is told in no time what this run could be asked about.
                left = unconfirmed(job.places, notes.runs) if dtype is None else unreached(job.places, notes.runs)
                if not left or not among(left, run_eager(setup, example, mode, dtype)[0]):
                    continue
            elif dtype is not None:
                continue
            notes.runs.append(run_breaks(setup, example, mode, dtype))
        except EagerFailed as failed:
            failure = failure or failed
            continue
        ran += 1
        notes.tell()
    if not ran and failure is not None:
        raise failure


def _imported(setup: Setup) -> set[str]:
    """The user's files that the target drew in."""
    found = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and setup.wanted(path):
            found.add(path)
    return found
