"""Warm steps on a host that others use too."""

from __future__ import annotations

import os
import random
import statistics
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from tclint.diagnose.child import clock
from tclint.diagnose.child import host as host_module
from tclint.diagnose.child.clock import Effort, covered, timings, work_of
from tclint.diagnose.child.host import CORES, Host


@pytest.mark.parametrize("busy", [0.0, 0.3, 0.6, 0.8])
def test_a_busy_neighbour_does_not_move_the_median(busy: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of 1 and 2 ms; a neighbour that is busy makes either half as long again."""
    chance, length, shown = random.Random(0), {"a": 1e-3, "b": 2e-3}, []

    def block(step: Callable[[], str], count: int, device: str) -> float:
        slower = 1.5 if chance.random() < busy else 1.0
        shown.append((step(), length[step()] * slower * chance.uniform(0.99, 1.01)))
        return shown[-1][1]

    monkeypatch.setattr(clock, "_block", block)
    told = timings({"a": lambda: "a", "b": lambda: "b"}, "cpu", Effort(seconds=0.6, warm=0.0, block=1e-5))
    assert told["a"].median_ms == pytest.approx(1.0, rel=0.011)
    assert told["b"].median_ms == pytest.approx(2.0, rel=0.011)
    everything = [taken for name, taken in shown if name == "a"]
    assert told["a"].blocks + told["a"].disturbed == len(everything) >= 100
    assert told["a"].blocks == max(11, len(everything) // clock.QUIET)
    if busy == 0.8:
        assert statistics.median(everything) > 1.4e-3, "what the neighbour would have made of it"


def test_every_candidate_gets_its_blocks_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def block(step: Callable[[], str], count: int, device: str) -> float:
        asked.append(step())
        return 1e-3

    monkeypatch.setattr(clock, "_block", block)
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
@pytest.mark.parametrize(
    ("allowed", "visited"),
    [
        ((4, 5, 6), [4, 5, 6, 4]),
        (tuple(range(64)), [*range(0, 64, 64 // CORES), 0, 4, 8, 12, 16, 20]),
    ],
)
def test_every_core_has_its_turn(allowed: tuple[int, ...], visited: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of 3 s, looked at for 4 s."""
    pinned: list[tuple[int, ...]] = []
    monkeypatch.setattr(host_module, "_pin", lambda threads, cores: pinned.append(cores))
    monkeypatch.setattr(host_module, "_allowed", lambda: allowed)
    host = Host("cuda", 3.0)
    with host.settled():
        for tick in range(400):
            host.visit(tick * 0.01)
    assert pinned == [*[(core,) for core in visited], allowed]


def test_a_core_that_is_slower_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of sixteen cores are quiet, as a neighbour leaves them."""
    at = [0]
    monkeypatch.setattr(host_module, "_pin", lambda threads, cores: at.__setitem__(0, cores[0]))
    monkeypatch.setattr(host_module, "_allowed", lambda: tuple(range(16)))
    monkeypatch.setattr(host_module, "_backward", tuple)
    monkeypatch.setattr(clock, "_block", lambda step, count, device: 1e-3 if at[0] in (3, 7, 8, 12) else 1.6e-3)
    monkeypatch.setattr(clock, "_warmed", lambda step, device, how: 1)
    monkeypatch.setattr(Host, "launch", lambda host: 7e-6 if at[0] in (3, 7, 8, 12) else 9e-6)
    told = timings({"a": lambda: None}, "cuda", Effort(seconds=0.4, warm=0.0, block=1e-5))
    assert told["a"].median_ms == 1.0
    assert told["a"].launch_us == pytest.approx(7.0), "the host's pace while it was quiet"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_the_cores_are_given_back() -> None:
    allowed = os.sched_getaffinity(0)
    one = 1 if len(allowed) > 1 else len(allowed)
    host = Host("cuda", 0.0)

    def failing() -> None:
        with host.settled():
            host.visit(0.2)
            assert len(os.sched_getaffinity(0)) == one
            raise KeyError("what the step raised")

    with host.settled():
        host.visit(0.0)
        assert len(os.sched_getaffinity(0)) == one
    assert os.sched_getaffinity(0) == allowed
    with pytest.raises(KeyError):
        failing()
    assert os.sched_getaffinity(0) == allowed
    with (on_cpu := Host("cpu", 1.0)).settled():
        on_cpu.visit(0.0)
        assert os.sched_getaffinity(0) == allowed


@pytest.mark.parametrize(
    ("spans", "length"),
    [([], 0), ([(0, 2), (5, 6)], 3), ([(0, 4), (1, 2), (3, 5)], 5), ([(3, 5), (0, 4)], 5), ([(1, 1)], 0)],
)
def test_kernels_at_the_same_time_count_once(spans: list[tuple[float, float]], length: float) -> None:
    assert covered(spans) == length


@pytest.mark.cuda
def test_how_long_the_gpu_works() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    large, small = (torch.randn(side, side, device="cuda") for side in (4096, 8))
    long, short = work_of(lambda: large @ large, "cuda"), work_of(lambda: small.add_(1), "cuda")
    assert long.launches == short.launches == 1
    assert long.gpu_ms is not None
    assert short.gpu_ms is not None
    took = timings({"long": lambda: large @ large}, "cuda", Effort(seconds=0.3, warm=0.1, block=0.01))["long"]
    assert took.launch_us is not None
    assert 1 < took.launch_us < 100
    assert long.gpu_ms == pytest.approx(took.median_ms, rel=0.25), "one large kernel is all of the step"
    assert short.gpu_ms < long.gpu_ms / 20
