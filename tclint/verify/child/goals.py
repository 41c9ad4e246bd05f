"""Which goals of a job are left: the places that its runs have not reached, settled or confirmed yet."""

from __future__ import annotations

from collections.abc import Sequence

from tclint.verify.heard import Break, Run
from tclint.verify.job import Candidate, Goal
from tclint.verify.spans import outline


def holds_any(candidate: Candidate, places: Sequence[Goal]) -> bool:
    """Whether one of the places stands in a candidate: in the function itself, or in a method of the class."""
    inside = [
        function
        for function in outline(candidate.path).functions
        if function.name == candidate.name or function.name.startswith(f"{candidate.name}.")
    ]
    return any(
        place.path == candidate.path and function.first <= place.line <= function.last
        for place in places
        for function in inside
    )


def unsettled(places: tuple[Goal, ...], runs: list[Run]) -> list[Goal]:
    """Places whose statements have not shown by themselves what is said of them."""
    return [
        place
        for place in places
        if not any(place.line in run.covered.get(place.path, ()) for run in runs if run.experiment == "statement")
    ]


def unconfirmed(places: tuple[Goal, ...], runs: list[Run]) -> list[Goal]:
    """Places at which no break has been heard yet: another mode could still bring one."""

    own = {place.path for place in places} | {path for run in runs for path in run.covered}
    heard = {_own_place(item, own) for run in runs for item in run.breaks}

    def confirmed(place: Goal) -> bool:
        return any((place.path, line) in heard for line in range(place.line, place.end_line + 1))

    return [place for place in places if not confirmed(place)]


def _own_place(item: Break, own: set[str]) -> tuple[str, int]:
    """Where a break is for the program: its own line, or the deepest of the program's that led to it."""
    steps = [(item.path, item.line), *((step.path, step.line) for step in reversed(item.stack))]
    return next((step for step in steps if step[0] in own), steps[0])


def untraced(places: tuple[Goal, ...], runs: list[Run]) -> list[Goal]:
    """Places said to break a graph, at which nothing was heard, and that Dynamo has not looked at."""

    def traced(place: Goal) -> bool:
        if outline(place.path).is_conditional(place.mark, place.column):
            # A line is traced as a whole: whether the right side of its `and` ran, nobody told.
            return False
        span = range(place.line, place.end_line + 1)
        sure = [run for run in runs if not run.unsure]
        return any(line in span for run in sure for line in run.traced.get(place.path, ()))

    left = [place for place in unconfirmed(places, runs) if place.effect not in ("recompile", "cudagraph")]
    return [place for place in left if not traced(place)]


def unreached(places: tuple[Goal, ...], runs: list[Run]) -> list[Goal]:
    """Places that no call has run yet, or only one that cannot refute, and heard nothing there: another example could still
    reach them."""
    heard = {(item.path, item.line) for run in runs if run.unsure for item in run.breaks}

    def reached(place: Goal) -> bool:
        span = range(place.line, place.end_line + 1)
        return any((place.path, line) in heard for line in span) or any(
            line in span
            for run in runs
            if not run.unsure
            if place.effect != "cudagraph" or _tells_of_graphs(run)
            for lines in (run.covered, run.traced)
            for line in lines.get(place.path, ())
        )

    return [place for place in places if not reached(place)]


def _tells_of_graphs(run: Run) -> bool:
    """Whether a run answers for the CUDA-graph findings that it reaches: one call that went well overwrites nothing."""
    return run.graph_runs > 1 or run.graphs is None or run.graphs.outcome != "fine"
