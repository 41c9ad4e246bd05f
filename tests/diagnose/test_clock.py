"""Warm steps on a host that others use too."""

from __future__ import annotations

import os
import random
import statistics
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from tclint.diagnose import child_clock, child_host
from tclint.diagnose.child_clock import Effort, timings
from tclint.diagnose.child_host import SLOWER, Host


@pytest.mark.parametrize("busy", [0.0, 0.3, 0.6, 0.8])
def test_a_busy_neighbour_does_not_move_the_median(busy: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of 1 and 2 ms; a neighbour that is busy makes either half as long again."""
    chance, length, shown = random.Random(0), {"a": 1e-3, "b": 2e-3}, []

    def block(step: Callable[[], str], count: int, device: str) -> float:
        slower = 1.5 if chance.random() < busy else 1.0
        shown.append((step(), length[step()] * slower * chance.uniform(0.99, 1.01)))
        return shown[-1][1]

    monkeypatch.setattr(child_clock, "_block", block)
    told = timings({"a": lambda: "a", "b": lambda: "b"}, "cpu", Effort(seconds=0.6, warm=0.0, block=1e-5))
    assert told["a"].median_ms == pytest.approx(1.0, rel=0.011)
    assert told["b"].median_ms == pytest.approx(2.0, rel=0.011)
    everything = [taken for name, taken in shown if name == "a"]
    assert told["a"].blocks + told["a"].disturbed == len(everything) >= 100
    assert told["a"].blocks == max(11, len(everything) // child_clock.QUIET)
    if busy == 0.8:
        assert statistics.median(everything) > 1.4e-3, "what the neighbour would have made of it"


def test_every_candidate_gets_its_blocks_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def block(step: Callable[[], str], count: int, device: str) -> float:
        asked.append(step())
        return 1e-3

    monkeypatch.setattr(child_clock, "_block", block)
    told = timings({"a": lambda: "a", "b": lambda: "b"}, "cpu", Effort(seconds=0.0, warm=0.0, block=1e-5, least=3))
    assert asked == ["a", "b", "b", "a", "a", "b"]
    assert (told["a"].blocks, told["a"].disturbed) == (3, 0), "so few that all count"


def test_the_clock_measures() -> None:
    steps = {"short": lambda: sum(range(300)), "long": lambda: sum(range(6000))}
    told = timings(steps, "cpu", Effort(seconds=0.3, warm=0.05, block=1e-3))
    assert 5 < told["long"].median_ms / told["short"].median_ms < 80
    assert told["short"].steps > told["long"].steps
    assert told["long"].blocks + told["long"].disturbed > 20


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_a_core_is_kept_while_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: list[tuple[int, ...]] = []
    paces = iter([*[1.0] * 3, *[SLOWER - 0.01] * 3, *[1.5] * 3, *[1.0] * 3, *[1.5] * 6])
    monkeypatch.setattr(child_host, "_pin", lambda threads, cores: pinned.append(cores))
    monkeypatch.setattr(child_host, "_allowed", lambda: (4, 5, 6))
    monkeypatch.setattr(child_host, "_work", lambda: next(paces))
    host = Host("cuda")
    with host.settled():
        for _ in range(6):
            host.move()
    assert pinned == [(4,), (5,), (6,), (4,), (4, 5, 6)]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_the_cores_are_given_back() -> None:
    allowed = os.sched_getaffinity(0)
    one = 1 if len(allowed) > 1 else len(allowed)
    host = Host("cuda")

    def failing() -> None:
        with host.settled():
            assert len(os.sched_getaffinity(0)) == one
            raise KeyError("what the step raised")

    with host.settled():
        host.move()
        assert len(os.sched_getaffinity(0)) == one
    assert os.sched_getaffinity(0) == allowed
    with pytest.raises(KeyError):
        failing()
    assert os.sched_getaffinity(0) == allowed
    with (on_cpu := Host("cpu")).settled():
        on_cpu.move()
        assert os.sched_getaffinity(0) == allowed
