"""Pure functions from what a child heard to verdicts. Paths are relative to the root on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tclint.model.finding import Effect, Finding, Step
from tclint.output.words import plural
from tclint.verify import extent
from tclint.verify.claims import Claim, claim_of, is_about, is_claimed, is_varied
from tclint.verify.heard import Break, Fault, Frame, Heard, Run
from tclint.verify.makers import wanted
from tclint.verify.phrases import break_words, fault_words, recompile_words, times
from tclint.verify.spans import Outline
from tclint.verify.trace import own_name
from tclint.verify.verdict import Outcome, Verdict

Outlines = Callable[[str], Outline]
"""The outline of a file by its relative path."""


@dataclass(frozen=True, slots=True)
class _Judge:
    """One finding, what was heard, and the helpers every judgement needs."""

    finding: Finding
    heard: Heard
    outlines: Outlines
    others: frozenset[tuple[str, int]]
    """Lines that other findings claim exactly."""

    @property
    def span(self) -> range:
        """The finding's own lines. An end of 0 stands for a finding that only knows its line."""
        return range(self.finding.span.line, max(self.finding.span.line, self.finding.span.end_line) + 1)

    @property
    def statement(self) -> range:
        return self.outlines(self.finding.path).statement(self.span.start, self.span.stop - 1)

    def runs(self, *experiments: str) -> list[Run]:
        return [run for run in self.heard.runs if run.experiment in experiments]

    def verdict(
        self,
        outcome: Outcome,
        words: str,
        run: Run | None = None,
        *,
        gb_id: str = "",
        stack: tuple[Step, ...] = (),
        hint: str = "",
        apart: bool = False,
    ) -> Verdict:
        return Verdict(
            finding=self.finding,
            outcome=outcome,
            words=words,
            gb_id=gb_id,
            stack=stack,
            torch=self.heard.torch,
            device=self.heard.device,
            dtype=run.dtype if run else "",
            inputs=run.source if run else "",
            hint=wanted(hint, run.source) if run else hint,
            apart=apart,
        )

    def otherwise(self, run: Run) -> str:
        """Why the compiler did not get from this run what the program gives it; empty where it did."""
        return extent.otherwise(self.finding, run, self.heard.runs, self.outlines)

    def refuted(self, words: str, run: Run) -> Verdict:
        """Refuted by a run that compiled as the finding's site does; no other can refute."""
        if why := self.otherwise(run):
            hint = "register an example that compiles as the program does with @tclint.example"
            return self.verdict(Outcome.INCONCLUSIVE, f"{why}: {words}", run, hint=hint, apart=True)
        return self.verdict(Outcome.REFUTED, words, run)

    def here(self, path: str, line: int) -> bool:
        """Whether a place is this finding's: in its span, or elsewhere in its statement where nobody else claims it."""
        if path != self.finding.path:
            return False
        return line in self.span or (line in self.statement and (path, line) not in self.others)

    def touches(self, lines: Iterable[int]) -> bool:
        wanted = self.statement
        return any(line in wanted for line in lines)


def judge(finding: Finding, heard: Heard, outlines: Outlines, others: frozenset[tuple[str, int]]) -> Verdict:
    """The verdict on one finding."""
    judging = _Judge(finding, heard, outlines, others)
    if heard.trouble:
        return judging.verdict(Outcome.INCONCLUSIVE, heard.trouble, hint=_hint_for_trouble(heard.trouble))
    if heard.stopped:
        found = _judge(judging) if heard.runs else None
        if found is not None and found.outcome in (Outcome.CONFIRMED, Outcome.REFUTED):
            return found
        return judging.verdict(Outcome.INCONCLUSIVE, heard.stopped, hint=_hint_for_trouble(heard.stopped))
    if not heard.runs:
        return _nothing_ran(judging)
    return _judge(judging)


def _judge(judging: _Judge) -> Verdict:
    finding = judging.finding
    if finding.effect is Effect.RECOMPILE:
        return _recompile(judging)
    if finding.effect is Effect.CUDAGRAPH:
        return _cudagraph(judging)
    if finding.effect in (Effect.SILENT, Effect.SLOW):
        return _silent(judging)
    return _graph_break(judging)


def _hint_for_trouble(trouble: str) -> str:
    if "changed while the target ran" in trouble:
        return "run again; a target that rewrites its own source cannot be judged"
    if "still running" in trouble:
        return "raise --timeout, or register a smaller example with @tclint.example"
    if "memory" in trouble:
        return "raise --memory, or register a smaller example with @tclint.example"
    if "cannot be imported" in trouble:
        return "pip install torch in that interpreter, or name another with --python"
    return "register an example that runs with @tclint.example"


def _nothing_ran(judging: _Judge) -> Verdict:
    heard = judging.heard
    fault = heard.faults[-1] if heard.faults else None
    if fault is None:
        # What was tried last for the target that the program compiles: the others stand in for it.
        head = heard.tried[0].partition(":")[0] if heard.tried else ""
        own = [text for text in heard.tried if text.partition(":")[0] == head]
        words = own[-1] if own else "nothing in this file can be run"
        hint = heard.hint or "register an example with @tclint.example, returning (callable, [call, ...])"
        return judging.verdict(Outcome.INCONCLUSIVE, words, hint=hint)
    words, hint = fault_words(fault)
    return judging.verdict(Outcome.INCONCLUSIVE, words, stack=fault.stack, hint=heard.hint or hint)


def place_of(heard_break: Break, is_ours: Callable[[str], bool]) -> tuple[str, int]:
    """Where a break is for the user: its own line, or the deepest line of the project that led to it."""
    if is_ours(heard_break.path):
        return heard_break.path, heard_break.line
    for step in reversed(heard_break.stack):
        if is_ours(step.path):
            return step.path, step.line
    return heard_break.path, heard_break.line


_VENDORED = frozenset({"vendor", "third_party", "site-packages", "node_modules"})


def is_ours(path: str) -> bool:
    # Relative paths are under the root: `with_paths` left everything else absolute. Vendored code is not the user's.
    if _VENDORED.intersection(path.split("/")):
        return False
    return not path.startswith(("/", "<")) and ":" not in path[:3]


def _graph_break(judging: _Judge) -> Verdict:
    # What a finding says of dynamic shapes, calls of one size neither show nor refute.
    sized = "dynamic shapes" in judging.finding.message
    runs = judging.runs("breaks") or judging.runs("recompiles")
    if sized:
        runs = sorted(judging.runs("recompiles", "breaks"), key=lambda run: "size" not in run.varied)
    for run in runs:
        # A line may break more than once: what a finding speaks of is told of it.
        for item in sorted(run.breaks, key=lambda item: not _is_meant(judging.finding, item)):
            if run.unsure and not _is_meant(judging.finding, item):
                continue
            if judging.here(*place_of(item, is_ours)) and not is_follow_on(item, run.breaks, judging.outlines):
                return judging.verdict(Outcome.CONFIRMED, break_words(item), run, gb_id=item.gb_id, stack=item.stack)
    for run in runs:
        if run.fault is not None and _fault_here(judging, run.fault):
            words = f"{run.fault.kind}: {run.fault.message.strip().splitlines()[0][:300] if run.fault.message else ''}"
            return judging.verdict(Outcome.CONFIRMED, words, run, stack=run.fault.stack)
    for run in sorted(runs, key=lambda run: bool(judging.otherwise(run))):
        if judging.touches(run.traced.get(judging.finding.path, ())):
            where = judging.finding.span
            if judging.outlines(judging.finding.path).is_conditional(where.line, where.column):
                # A line is traced as a whole: whether the right side of its `and` ran, nobody told.
                words = f"what is flagged stands behind a condition on its line ({run.label or 'one call'})"
                hint = "register an example whose calls run it with @tclint.example"
                return judging.verdict(Outcome.NOT_REACHED, words, run, hint=hint)
            if run.unsure:
                words = (
                    f"traced without a break ({run.label or 'one call'}), on an argument that was made up for this line"
                )
                return judging.verdict(Outcome.INCONCLUSIVE, words, run, hint=_VARY)
            if sized and "size" not in run.varied:
                words = "traced without a break, in calls of one size only"
                return judging.verdict(Outcome.INCONCLUSIVE, words, run, hint=_VARY)
            return judging.refuted(f"traced without a break ({run.label or 'one call'})", run)
    return _untraced(judging, runs)


def _is_meant(finding: Finding, item: Break) -> bool:
    """Whether a break is of the kind that a finding speaks of: an argument of the wrong type brings one of another."""
    return not (finding.graph_breaks and item.gb_id) or item.gb_id in finding.graph_breaks


def is_follow_on(item: Break, breaks: Sequence[Break], outlines: Outlines) -> bool:
    """Whether a break is only the echo of another: a function given up at its `def` line after a break inside it."""
    function = outlines(item.path).function_at(item.line)
    if not item.skips or function is None or item.line not in (function.first, function.line):
        return False
    return any(
        step.path == item.path and function.line < step.line <= function.last
        for other in breaks
        if other is not item
        for step in other.stack
    )


def _fault_here(judging: _Judge, fault: Fault) -> bool:
    ours = [step for step in fault.stack if is_ours(step.path)]
    return bool(ours) and judging.here(ours[-1].path, ours[-1].line)


def _untraced(judging: _Judge, runs: Sequence[Run]) -> Verdict:
    """The line was not traced: because it never ran, or because Dynamo had already left the function."""
    path = judging.finding.path
    covered = [run for run in runs if judging.touches(run.covered.get(path, ()))]
    if not covered:
        fault = next((run.fault for run in runs if run.fault is not None), None)
        if fault is not None and not any(run.covered for run in runs):
            return judging.verdict(Outcome.INCONCLUSIVE, fault_words(fault)[0], runs[0])
        if not all(run.complete for run in runs):
            words = "the trace does not tell whether this line ran"
            return judging.verdict(Outcome.INCONCLUSIVE, words, hint="record with `tclint verify -- <your program>`")
        if not all(run.eager_known for run in runs):
            return _behind(judging, runs) or judging.verdict(
                Outcome.NOT_REACHED, "Dynamo never traced this line: it did not run, or ran in eager mode only", runs[0]
            )
        hint = "register an example whose calls run this line with @tclint.example"
        words = "the calls that were made never ran this line"
        return judging.verdict(Outcome.NOT_REACHED, words, runs[0] if runs else None, hint=hint)
    run = covered[0]
    if (behind := _behind(judging, covered)) is not None:
        return behind
    if run.fault is not None:
        words = f"Dynamo stopped before this line: {fault_words(run.fault)[0]}"
        return judging.verdict(Outcome.NOT_REACHED, words, run, stack=run.fault.stack)
    return judging.verdict(Outcome.NOT_REACHED, "the line ran in eager mode, and Dynamo never traced it", run)


def _behind(judging: _Judge, runs: Sequence[Run]) -> Verdict | None:
    """The verdict on a line that an earlier break of its function sent to eager mode."""
    earlier = _break_before(judging, runs)
    if earlier is None:
        return None
    words = f"behind another break at {earlier.path}:{earlier.line}, which sends the rest of the function to eager mode"
    return judging.verdict(Outcome.NOT_REACHED, words, runs[0], hint="repair that break first, then verify again")


def _break_before(judging: _Judge, runs: Sequence[Run]) -> Break | None:
    """The break that made Dynamo give up the function of the finding's line."""
    path = judging.finding.path
    function = judging.outlines(path).function_at(judging.span.start)
    if function is None:
        return None
    for run in runs:
        for item in run.breaks:
            for step in item.stack:
                if step.path == path and function.first <= step.line <= function.last:
                    return item
    return None


def _recompile(judging: _Judge) -> Verdict:
    claim = claim_of(judging.finding)
    # A change that was made to an attribute for the sake of another finding says nothing about this one.
    runs = [
        run
        for run in judging.runs("recompiles")
        if is_varied(run.varied, claim) or not any(name.startswith("self.") for name in run.varied)
    ]
    if not runs:
        return judging.verdict(Outcome.INCONCLUSIVE, "no sequence of calls could be made")
    path = judging.finding.path
    best: tuple[Run, Frame] | None = None
    other: tuple[Run, Frame] | None = None
    for run in runs:
        for frame in run.frames:
            if not (_too_often(frame, run) and _holds(judging, frame)):
                continue
            # Where nothing but what the finding names was changed, every guard that failed is its guard.
            alone = not run.chosen and is_varied(run.varied, Claim(claim.names))
            about = tuple(reason for reason in frame.reasons if alone or is_about(reason, claim))
            if frame.reasons and not about:
                other = other or (run, frame)
                continue
            frame = replace(frame, reasons=about)
            if best is None or _names_finding(judging, frame, claim) > _names_finding(judging, best[1], claim):
                best = run, frame
    if best is not None:
        run, frame = best
        return judging.verdict(Outcome.CONFIRMED, recompile_words(frame, run), run, stack=_reason_stack(frame))
    for run in runs:
        if run.fault is not None and _fault_here(judging, run.fault):
            return judging.verdict(Outcome.CONFIRMED, fault_words(run.fault)[0], run, stack=run.fault.stack)
    # Made-up calls refute only what they varied; a sequence that somebody chose is the program's own.
    # The same call over and over refutes nothing that is said about arguments.
    own = not claim.kinds and all(name.startswith("self.") for name in claim.names)
    telling = [run for run in runs if (run.chosen and (own or not run.alike)) or is_varied(run.varied, claim)]
    telling = [run for run in telling if not run.unsure]
    reached = [
        run for run in runs if judging.touches(run.traced.get(path, ())) or judging.touches(run.covered.get(path, ()))
    ]
    if reached and other is not None and not any(run in telling and run is not other[0] for run in reached):
        words = f"compiled again, but for another reason: {recompile_words(other[1], other[0])}"
        return judging.verdict(Outcome.INCONCLUSIVE, words, other[0], hint=_VARY)
    if reached and not any(run in telling for run in reached):
        what = ", ".join(claim.names) or ", ".join(sorted(claim.kinds)) or "what the finding speaks of"
        whose = "these calls" if reached[0].chosen else "the calls that could be made up"
        words = f"{whose} do not vary {what}"
        return judging.verdict(Outcome.INCONCLUSIVE, words, reached[0], hint=_VARY)
    for run in sorted(telling, key=lambda run: bool(judging.otherwise(run))):
        if run in reached:
            if run.fault is not None:
                return judging.verdict(Outcome.INCONCLUSIVE, f"the calls ended early: {fault_words(run.fault)[0]}", run)
            most = max((frame.compiles for frame in run.frames if _holds(judging, frame)), default=0)
            if not most and not judging.touches(run.traced.get(path, ())):
                words = "nothing that holds this line was compiled in these calls"
                return judging.verdict(Outcome.INCONCLUSIVE, words, run, hint=_VARY)
            over = f" over {plural(run.calls, 'call')}" if run.calls else ""  # a trace does not count them
            return judging.refuted(f"compiled {times(most)}{over} ({run.label}), as a correct program is", run)
    return _untraced(judging, runs)


_VARY = "register an example whose calls differ as the program's do with @tclint.example"


def _too_often(frame: Frame, run: Run) -> bool:
    # Automatic dynamic shapes excuse one recompile for sizes; strides they do not cover.
    strides = any("stride mismatch" in reason for reason in frame.reasons)
    return frame.compiles > run.expected or bool(frame.limit) or strides


def _holds(judging: _Judge, frame: Frame) -> bool:
    """Whether a compiled code object contains the finding's line: traced there, or the line is in its function.

    A finding may stand on a compile site or a call outside any compiled function: then its function must be on the way.
    """
    path = judging.finding.path
    if judging.touches(frame.traced.get(path, ())):
        return True
    if is_ours(frame.path) and frame.path != path:
        return False
    function = judging.outlines(path).function_at(judging.span.start)
    if function is None:
        # At module level, where compile sites stand: whatever was compiled in this file was compiled by it.
        return frame.path == path
    if own_name(frame.name) == function.name.rpartition(".")[2] and function.first <= frame.line <= function.last:
        return frame.path == path
    # A function that only calls compiled ones (of this file, or of torch, such as an optimizer's step): it must have run.
    inside = range(function.first, function.last + 1)
    runs = judging.runs("recompiles")
    if all(run.eager_known for run in runs) and not any(
        line in inside for run in runs for line in run.covered.get(path, ())
    ):
        return False
    return not any(
        function.first <= line <= function.last
        for run in judging.runs("recompiles")
        for line in run.traced.get(path, ())
    )


def _names_finding(judging: _Judge, frame: Frame, claim: Claim) -> int:
    """How well the guards point at the finding: 4 when one names what it names, 2 when its line, 1 when its function."""
    named = 4 if any(is_about(reason, Claim(claim.names)) for reason in frame.reasons) and claim.names else 0
    path = judging.finding.path.rpartition("/")[2]
    text = "\n".join(frame.reasons)
    if any(f"{path}:{line} " in text + " " or f'{path}", line {line}' in text for line in judging.statement):
        return named + 2
    return named + 1 if judging.finding.path in frame.traced else named


def _reason_stack(frame: Frame) -> tuple[Step, ...]:
    return (Step(frame.path, frame.line, own_name(frame.name)),)


def _cudagraph(judging: _Judge) -> Verdict:
    runs = judging.runs("cudagraphs")
    if not runs:
        if not judging.heard.device.startswith("cuda"):
            words = "CUDA graphs need a CUDA device"
            return judging.verdict(Outcome.INCONCLUSIVE, words, hint="run with --device cuda")
        return _nothing_ran(judging)
    for run in runs:
        for cut in run.graphs.cuts if run.graphs is not None else ():
            ours = [step for step in cut.stack if is_ours(step.path)]
            if ours and judging.here(ours[-1].path, ours[-1].line):
                return judging.verdict(Outcome.CONFIRMED, cut.words, run, stack=cut.stack)
    hurt = [run for run in runs if run.graphs is not None and run.graphs.outcome != "fine"]
    hurt.sort(key=lambda run: not _graphs_here(judging, run))
    path = judging.finding.path
    other: Verdict | None = None
    for run in hurt:
        assert run.graphs is not None
        if _graphs_here(judging, run) or judging.touches(run.covered.get(path, ())):
            if is_claimed(judging.finding, run.graphs.outcome):
                return judging.verdict(Outcome.CONFIRMED, run.graphs.words, run, stack=run.graphs.stack)
            words = f"something else happened to the CUDA graphs: {run.graphs.words}"
            other = other or judging.verdict(Outcome.INCONCLUSIVE, words, run, stack=run.graphs.stack)
    if other is not None:
        return other
    for run in runs:
        if run.fault is not None:
            return judging.verdict(Outcome.INCONCLUSIVE, fault_words(run.fault)[0], run, stack=run.fault.stack)
    hint = "register an example whose calls run this line with @tclint.example"
    touching = [run for run in runs if judging.touches(run.covered.get(path, ()))]
    for run in sorted(touching, key=lambda run: bool(judging.otherwise(run))):
        if run.graph_runs > 1:
            words = f"{plural(run.graph_runs, 'step')} kept and read again: the values are those of eager mode ({run.label})"
            return judging.refuted(words, run)
    for run in touching:
        # What one call gave is still there: only a second one could overwrite it.
        words = f"one call was made, and what a second one would overwrite is not known ({run.label})"
        return judging.verdict(Outcome.INCONCLUSIVE, words, run, hint=hint)
    return judging.verdict(Outcome.NOT_REACHED, "the calls that were made never ran this line", runs[0], hint=hint)


def _graphs_here(judging: _Judge, run: Run) -> bool:
    return run.graphs is not None and any(judging.here(step.path, step.line) for step in run.graphs.stack)


def _silent(judging: _Judge) -> Verdict:
    """Wrong or slow without a word from the compiler: differing values prove it, agreeing ones prove nothing."""
    path = judging.finding.path
    if (told := _setting(judging)) is not None:
        return told
    for run in judging.heard.runs:
        if run.differs and judging.touches(run.covered.get(path, ())):
            return judging.verdict(Outcome.CONFIRMED, f"compiled and eager disagree: {run.differs}", run)
    for run in judging.heard.runs:
        if run.fault is not None and _fault_here(judging, run.fault):
            return judging.verdict(Outcome.CONFIRMED, fault_words(run.fault)[0], run, stack=run.fault.stack)
    reached = [run for run in judging.heard.runs if judging.touches(run.covered.get(path, ()))]
    if not reached:
        # What the statement of another finding did says nothing of this line.
        others = [run for run in judging.heard.runs if run.experiment != "statement"]
        return _untraced(judging, others) if others else _nothing_ran(judging)
    words = "compiled and eager values agree on these calls, which does not rule it out"
    return judging.verdict(Outcome.INCONCLUSIVE, words, reached[0])


def _setting(judging: _Judge) -> Verdict | None:
    """The verdict on a line that is said to raise a setting: what the setting was before it and is after it."""
    names = claim_of(judging.finding).names
    for run in judging.runs("statement"):
        if not judging.touches(run.covered.get(judging.finding.path, ())):
            continue
        for full, (before, after) in run.settings.items():
            if full.rpartition(".")[2] not in names:
                continue
            words = f"`{full}` is {after} after this line, {before} before it"
            raised = before != after and not _is_less(after, before)
            return judging.verdict(Outcome.CONFIRMED if raised else Outcome.REFUTED, words, run)
    return None


def _is_less(after: str, before: str) -> bool:
    """Whether a setting was made smaller: both are numbers as Python writes them."""
    return after.lstrip("-").isdigit() and before.lstrip("-").isdigit() and int(after) < int(before)


def verdicts_of(findings: Sequence[Finding], heard: Heard, outlines: Outlines) -> tuple[Verdict, ...]:
    """The verdicts on the findings of one target."""
    exact = [(finding.path, line) for finding in findings for line in _lines(finding)]
    return tuple(
        judge(finding, heard, outlines, frozenset(place for place in exact if place not in _own(finding)))
        for finding in findings
    )


def _lines(finding: Finding) -> range:
    return range(finding.span.line, max(finding.span.line, finding.span.end_line) + 1)


def _own(finding: Finding) -> set[tuple[str, int]]:
    return {(finding.path, line) for line in _lines(finding)}
