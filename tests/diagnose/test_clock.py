"""Warm steps on a host that others use too."""

from __future__ import annotations

import os
import random
import statistics

import pytest

pytest.importorskip("torch")

from tclint.diagnose.child_clock import Effort, Round, quietest, timings
from tclint.diagnose.child_host import SLOWER, Host


def rounds(busy: float, count: int = 60, seed: int = 0) -> list[Round]:
    """Steps of a millisecond; while a neighbour is busy, host and step take half as long again."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        slower = 1.5 if chance.random() < busy else 1.0
        jitter = chance.uniform(0.99, 1.01)
        found.append(Round({"step": 1e-3 * slower * jitter}, 5e-4 * slower * chance.uniform(1.0, SLOWER - 0.01)))
    return found


@pytest.mark.parametrize("busy", [0.0, 0.3, 0.6, 0.8])
def test_a_busy_neighbour_does_not_move_the_median(busy: float) -> None:
    kept = quietest(rounds(busy), 5e-4, least=7)
    assert statistics.median(each.taken["step"] for each in kept) == pytest.approx(1e-3, rel=0.01)


def test_without_it_the_median_would_be_the_neighbours() -> None:
    assert statistics.median(each.taken["step"] for each in rounds(0.8)) > 1.4e-3


def test_on_a_host_that_is_never_quiet_the_best_rounds_count() -> None:
    loud = [Round({"step": 1e-3 * n}, 5e-4 * (1 + n)) for n in range(1, 30)]
    assert [each.taken["step"] for each in quietest(loud, 5e-4, least=3)] == [1e-3, 2e-3, 3e-3]


def test_disturbed_rounds_are_counted_and_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Host, "waited", lambda self: 0.0)
    monkeypatch.setattr(Host, "pace", lambda self: _told(self, next(paces)))
    both = {"a": lambda: sum(range(100)), "b": lambda: sum(range(3000))}
    paces = iter([1.0] * 10 + [2.0] * 36 + [1.0] * 1000)
    told = timings(both, "cpu", Effort(seconds=float("inf"), warm=0.0, block=1e-5, most=41))
    assert told["a"].blocks == told["b"].blocks == 20, "the better half of 41 quiet rounds"
    assert told["a"].disturbed == 12 + 21
    assert told["a"].median_ms < told["b"].median_ms
    paces = iter([1.0] * 10 + [2.0] * 40 + [1.0] * 1000)
    patient = Effort(seconds=1e-9, warm=0.0, block=1e-5, least=5, patience=float("inf"))
    told = timings({"a": both["a"]}, "cpu", patient)
    assert (told["a"].blocks, told["a"].disturbed) == (5, 20)


def test_time_in_the_queue_counts_as_slowness(monkeypatch: pytest.MonkeyPatch) -> None:
    stood = iter(range(10_000))
    monkeypatch.setattr(Host, "pace", lambda self: _told(self, 1.0))
    monkeypatch.setattr(Host, "waited", lambda self: float(next(stood)))
    told = timings({"a": lambda: None}, "cpu", Effort(seconds=0.01, warm=0.0, block=1e-5, least=5, most=7))
    assert told["a"].blocks == 5, "no round was quiet: the best ones count"
    assert told["a"].disturbed > 0


def _told(host: Host, pace: float) -> float:
    host.best = min(host.best, pace)
    return pace


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_the_cores_are_given_back() -> None:
    allowed = os.sched_getaffinity(0)
    host = Host("cuda")
    with host.settled():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == allowed
    with pytest.raises(ZeroDivisionError), host.settled():
        _ = 1 / 0
    assert os.sched_getaffinity(0) == allowed
    with Host("cpu").settled():
        assert os.sched_getaffinity(0) == allowed
