"""Warm steps on a host that others use too."""

from __future__ import annotations

import os
import random
import statistics

import pytest

pytest.importorskip("torch")

from tclint.diagnose.child_clock import Block, Effort, quietest, timings
from tclint.diagnose.child_host import SLOWER, Host


def blocks(busy: float, count: int = 60, seed: int = 0) -> list[Block]:
    """Steps of a millisecond; while a neighbour is busy, host and step take half as long again."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        slower = 1.5 if chance.random() < busy else 1.0
        jitter = chance.uniform(0.99, 1.01)
        found.append(Block(1e-3 * slower * jitter, 5e-4 * slower * chance.uniform(1.0, SLOWER - 0.01)))
    return found


@pytest.mark.parametrize("busy", [0.0, 0.3, 0.6, 0.8])
def test_a_busy_neighbour_does_not_move_the_median(busy: float) -> None:
    kept = quietest(blocks(busy), 5e-4, least=7)
    assert statistics.median(each.taken for each in kept) == pytest.approx(1e-3, rel=0.01)


def test_without_it_the_median_would_be_the_neighbours() -> None:
    assert statistics.median(each.taken for each in blocks(0.8)) > 1.4e-3


def test_on_a_host_that_is_never_quiet_the_best_blocks_count() -> None:
    loud = [Block(1e-3 * n, 5e-4 * (1 + n)) for n in range(1, 30)]
    assert [each.taken for each in quietest(loud, 5e-4, least=3)] == [1e-3, 2e-3, 3e-3]


def test_disturbed_blocks_are_counted_and_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Host, "waited", lambda self: 0.0)
    monkeypatch.setattr(Host, "pace", lambda self: _told(self, next(paces)))
    both = {"a": lambda: sum(range(100)), "b": lambda: sum(range(3000))}
    paces = iter([1.0] * 10 + [2.0] * 36 + [1.0] * 1000)
    told = timings(both, "cpu", Effort(seconds=float("inf"), warm=0.0, block=1e-5, most=41))
    assert told["a"].blocks == told["b"].blocks == 20, "the better half of 41 quiet blocks"
    assert told["a"].disturbed == 12 + 21
    assert told["a"].median_ms < told["b"].median_ms
    paces = iter([1.0] * 10 + [2.0] * 40 + [1.0] * 1000)
    patient = Effort(seconds=1e-9, warm=0.0, block=1e-5, least=5, patience=float("inf"))
    told = timings({"a": both["a"]}, "cpu", patient)
    assert (told["a"].blocks, told["a"].disturbed) == (5, 20)


def test_each_candidate_keeps_its_own_quiet_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A neighbour that comes and goes with the turns hits one of the two; the other's blocks still count."""
    monkeypatch.setattr(Host, "waited", lambda self: 0.0)
    monkeypatch.setattr(Host, "pace", lambda self: _told(self, next(paces)))
    steps = {"a": lambda: None, "b": lambda: None}
    # Before a turn, between its blocks, after it: loud at the end of the first turns, which run a, then b, then b, then a.
    paces = iter([1.0] * 10 + [1.0, 1.0, 2.0] + [2.0, 1.0, 1.0] + [1.0] * 1000)
    told = timings(steps, "cpu", Effort(seconds=float("inf"), warm=0.0, block=1e-5, least=1, most=8))
    assert (told["a"].blocks + told["a"].disturbed, told["b"].blocks + told["b"].disturbed) == (10, 10)
    assert told["a"].blocks == 5, "ten quiet ones"
    assert told["b"].blocks == 4, "eight quiet ones"


def test_time_in_the_queue_counts_as_slowness(monkeypatch: pytest.MonkeyPatch) -> None:
    stood = iter(range(10_000))
    monkeypatch.setattr(Host, "pace", lambda self: _told(self, 1.0))
    monkeypatch.setattr(Host, "waited", lambda self: float(next(stood)))
    told = timings({"a": lambda: None}, "cpu", Effort(seconds=0.01, warm=0.0, block=1e-5, least=5, most=7))
    assert told["a"].blocks == 5, "no block was quiet: the best ones count"
    assert told["a"].disturbed > 0


def _told(host: Host, pace: float) -> float:
    host.best = min(host.best, pace)
    return pace


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_the_cores_are_given_back() -> None:
    allowed = os.sched_getaffinity(0)
    host = Host("cuda")
    with host.settled():
        host.chosen()
        assert len(os.sched_getaffinity(0)) == (1 if len(allowed) > 1 else len(allowed))
    assert os.sched_getaffinity(0) == allowed

    def failing() -> None:
        with host.settled():
            host.chosen()
            assert os.sched_getaffinity(0) != allowed or len(allowed) == 1
            raise KeyError("what the step raised")

    with pytest.raises(KeyError):
        failing()
    assert os.sched_getaffinity(0) == allowed
    with (host := Host("cpu")).settled():
        host.chosen()
        assert os.sched_getaffinity(0) == allowed
