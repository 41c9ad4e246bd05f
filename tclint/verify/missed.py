"""What the runs met that no finding had predicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tclint.model.finding import Effect, Finding, Step
from tclint.torch_facts import graph_breaks
from tclint.verify.heard import Break, Heard, Run
from tclint.verify.judgement import Outlines, is_follow_on, is_ours, place_of
from tclint.verify.phrases import break_words, recompile_words
from tclint.verify.spans import Function
from tclint.verify.verdict import Missed


def missed_of(findings: Sequence[Finding], heards: Iterable[Heard], outlines: Outlines) -> tuple[Missed, ...]:
    """Breaks, recompiles and hurt CUDA graphs in the project that no finding had predicted, in the order of the source."""
    claimed: set[tuple[str, int]] = set()
    for finding in findings:
        last = max(finding.span.line, finding.span.end_line)
        for line in outlines(finding.path).statement(finding.span.line, last):
            claimed.add((finding.path, line))
    # A recompile is blamed on a line by its rule and on a function by Dynamo: one finding in the file predicts it. So is
    # an output that is overwritten: on where it is kept by its rule, on where it was made or read by the runtime.
    recompiling = {finding.path for finding in findings if finding.effect is Effect.RECOMPILE}
    graphed = {finding.path for finding in findings if finding.effect is Effect.CUDAGRAPH}
    # What the backend refuses is blamed on where Dynamo cuts the graph, not on the operation: the finding that gives this
    # id in the same function has predicted it.
    refusing: dict[str, set[tuple[str, Function | None]]] = {}
    for finding in findings:
        for gb_id in finding.graph_breaks:
            at = _function(outlines, finding.path, finding.span.line)
            refusing.setdefault(gb_id, set()).add(at)
    # What the program leaves eager was compiled to see what happens around it: its own breaks are nobody's.
    left_eager = {_function(outlines, finding.path, finding.span.line) for finding in findings if finding.eager}
    found: dict[tuple[str, int, str], Missed] = {}
    for heard in heards:
        for run in heard.runs:
            for item in run.breaks:
                path, line = place_of(item, is_ours)
                if (path, line) in claimed or is_follow_on(item, run.breaks, outlines):
                    continue
                outermost = (item.stack[0].path, item.stack[0].line) if item.stack else (path, line)
                if (at := _function(outlines, *outermost))[1] is not None and at in left_eager:
                    continue
                if _is_of_the_run(item) and _function(outlines, path, line) in refusing.get(item.gb_id, ()):
                    continue
                if is_ours(path):
                    key = (path, line, item.kind)
                    entry = Missed(
                        path, line, Effect.GRAPH_BREAK.value, break_words(item), item.gb_id, item.stack, run.target
                    )
                    found.setdefault(key, entry)
            for entry in (*_recompiles(run, recompiling), *_graphs(run, graphed)):
                found.setdefault((entry.path, entry.line, entry.effect), entry)
    return tuple(found[key] for key in sorted(found))


def _is_of_the_run(item: Break) -> bool:
    known = graph_breaks().get(item.gb_id)
    return known is not None and known.visibility == "runtime"


def _function(outlines: Outlines, path: str, line: int) -> tuple[str, Function | None]:
    return path, outlines(path).function_at(line)


def _recompiles(run: Run, predicted: set[str]) -> Iterator[Missed]:
    # One recompile, whatever for, is what a correct program makes too where nobody claims otherwise.
    for frame in run.frames if run.experiment in ("recompiles", "cudagraphs") else ():
        again = frame.compiles > run.expected or frame.limit
        if again and is_ours(frame.path) and not predicted & {frame.path, *frame.traced}:
            words = recompile_words(frame, run)
            yield Missed(frame.path, frame.line, Effect.RECOMPILE.value, words, "", (), run.target)


def _graphs(run: Run, predicted: set[str]) -> Iterator[Missed]:
    if run.graphs is None or run.graphs.outcome == "fine":
        return
    own = sorted(path for path in run.covered if is_ours(path))
    stacks = [run.graphs.stack, *(cut.stack for cut in run.graphs.cuts)]
    places = [place for stack in stacks if (place := _innermost(stack)) is not None]
    # Values that are wrong without a word name no line: the program that gives them is named.
    places += [Step(path, min(run.covered[path]), "") for path in own[:1] if run.covered[path]]
    if places and not predicted & {*own, *(place.path for place in places)}:
        at = places[0]
        yield Missed(at.path, at.line, Effect.CUDAGRAPH.value, run.graphs.words, "", run.graphs.stack, run.target)


def _innermost(stack: Sequence[Step]) -> Step | None:
    return next((step for step in reversed(stack) if is_ours(step.path)), None)
