"""The processes of one job on several GPUs: which of them met a hazard, and which did not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from tclint.verify.heard import Heard
from tclint.verify.verdict import Missed, Outcome, Verdict

_RANK = re.compile(r"_rank_(\d+)(?!\d)")


def rank_of(log: str) -> int | None:
    """The process that wrote a log, by the name that torch gives it: `dedicated_log_torch_trace_rank_3_x1.log`."""
    found = _RANK.search(log)
    return int(found[1]) if found else None


def by_rank(heard: Heard) -> dict[int, Heard]:
    """What each process heard alone; nothing where fewer than two are told apart."""
    ranks = sorted({rank for run in heard.runs if (rank := rank_of(run.label)) is not None})
    if len(ranks) < 2:
        return {}
    return {rank: replace(heard, runs=tuple(run for run in heard.runs if rank_of(run.label) == rank)) for rank in ranks}


def words(ranks: Iterable[int], everyone: Sequence[int]) -> str:
    """`on all 8 ranks`, `on ranks 0-3, 6 of 8`, `on rank 2 of 8`."""
    these = sorted(set(ranks))
    if these == sorted(set(everyone)):
        return f"on all {len(everyone)} ranks"
    return f"on {'rank' if len(these) == 1 else 'ranks'} {_spans(these)} of {len(everyone)}"


def _spans(numbers: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def told_by_rank(
    verdicts: Sequence[Verdict], alone: Mapping[int, Heard], judge: Callable[[Heard], Sequence[Verdict]]
) -> tuple[Verdict, ...]:
    """The verdicts on the whole job, each confirmed one with the ranks that confirm it by themselves."""
    each = {rank: judge(heard) for rank, heard in alone.items()}
    told = []
    for number, verdict in enumerate(verdicts):
        met = [rank for rank, answers in each.items() if answers[number].outcome is Outcome.CONFIRMED]
        if verdict.outcome is Outcome.CONFIRMED and met:
            verdict = replace(verdict, words=_added(verdict.words, met, alone))
        told.append(verdict)
    return tuple(told)


def missed_by_rank(
    missed: Sequence[Missed], alone: Mapping[int, Heard], search: Callable[[Heard], Sequence[Missed]]
) -> tuple[Missed, ...]:
    """What no finding had predicted, once for each place, with the ranks it happened on."""
    places: dict[tuple[str, int, str], list[int]] = {}
    for rank, heard in alone.items():
        for each in search(heard):
            places.setdefault((each.path, each.line, each.effect), []).append(rank)
    told = []
    for each in missed:
        met = places.get((each.path, each.line, each.effect))
        told.append(replace(each, words=_added(each.words or each.effect, met, alone)) if met else each)
    return tuple(told)


def _added(said: str, met: Iterable[int], alone: Mapping[int, Heard]) -> str:
    """The words with the ranks behind their first line."""
    first, *rest = said.split("\n")
    return "\n".join([f"{first} ({words(met, tuple(alone))})", *rest])


def differences(alone: Mapping[int, Heard]) -> tuple[str, ...]:
    """Places where some ranks broke the graph and others did not: they wait for one another at the next collective."""
    places: dict[tuple[str, int], set[int]] = {}
    for rank, heard in alone.items():
        for run in heard.runs:
            for each in run.breaks:
                places.setdefault((each.path, each.line), set()).add(rank)
    everyone = tuple(alone)
    return tuple(
        f"the ranks differ: the graph breaks at {path}:{line} {words(met, everyone)}"
        for (path, line), met in sorted(places.items())
        if len(met) < len(everyone)
    )
