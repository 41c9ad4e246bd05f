"""How many programs the modes of a program make that anybody expects: it trains and it evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tclint.timeline.guarded import Exact, Guarded, Moment
from tclint.timeline.policy import Policy, programs

SETTLES: Final = 2
"""Two programs are what anybody expects; the third is a hazard."""
_NEEDED: Final = ("training", "grad")
_WITHOUT: Final = Exact("without", "no gradients")


def of_modes(moments: Sequence[Moment], policy: Policy, off: frozenset[str]) -> int:
    """The programs that modes may cost: one each for training and evaluation, with gradients and without them as the calls are,
    and one more for a setting of another kind. Each is compiled once, and runs again whenever its mode comes back.

    No more than two where some kind of mode alone makes more: a row of precisions, layers that are unfrozen one by one, two
    ways to turn gradients off (`off`, by the names of their contexts).
    """
    kinds: dict[str, list[dict[str, Guarded]]] = {}
    for number, moment in enumerate(moments):
        for name, told in moment.items():
            kinds.setdefault(_kind(name), [{} for _ in moments])[number][name] = told
    if any(len(programs(each, policy)) > SETTLES for each in kinds.values()):
        return SETTLES
    needed = [{name: _plain(told, off) for name, told in each.items() if _kind(name) in _NEEDED} for each in moments]
    return max(SETTLES, len(programs(needed, policy)) + 1)


def _kind(name: str) -> str:
    """`training` of `Net.training`, and of how many of them are set in a row."""
    return name.removesuffix(" times").rpartition(".")[2]


def _plain(told: Guarded, off: frozenset[str]) -> Guarded:
    """Whether gradients are off, however that was done."""
    return _WITHOUT if isinstance(told, Exact) and told.text in off else told
