"""Children that run beside each other: all compile at once, one measures, and none is lost."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from diagnosis_helpers import timing

from tclint.diagnose import session as session_module
from tclint.diagnose.child.turn import Turn
from tclint.diagnose.measurement import ModeRow, Modes, Speed, SpeedRow
from tclint.diagnose.order import Order
from tclint.diagnose.plan import STEPS
from tclint.diagnose.session import Options, Session
from tclint.diagnose.target import parse
from tclint.model.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
Asked = Callable[..., tuple[str, str, object]]


def answer(order: Order) -> tuple[str, str, object]:
    if order.diagnostic == "speed":
        return "done", "", Speed(tuple(SpeedRow(kind, timing(2.0), timing(1.0), 3.0) for kind in [order.part]))
    if order.diagnostic == "modes":
        return "done", "", Modes(rows=(ModeRow(order.part, 1.0, timing(1.0), timing(1.0)),))
    return "failed", "nothing to listen to", None


def hurried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Asked, cores: int = 16) -> Session:
    monkeypatch.setattr(session_module, "cores", lambda: cores)
    monkeypatch.setattr(Session, "ask", ask)
    options = Options(names=("breaks", "speed", "modes"), device="cuda", quick=True, cwd=str(tmp_path))
    return Session(parse("timm.models:resnet18", [str(tmp_path)]), options, Settings(), lambda *_: None)


def test_all_compile_at_the_same_time_and_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together, orders = threading.Barrier(4), []

    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        orders.append(order)
        together.wait(timeout=20)  # who waits for the others alone raises
        return answer(order)

    told = hurried(tmp_path, monkeypatch, ask).run()
    assert told.speed is not None
    assert told.modes is not None
    assert tuple(row.kind for row in told.speed.rows) == STEPS
    assert [row.mode for row in told.modes.rows] == ["reduce-overhead"]
    assert len({order.turn for order in orders}) == 1
    assert orders[0].turn != ""
    assert [order.part for order in orders if order.ahead] == [STEPS[0]]


def test_a_whole_run_starts_what_takes_turns_together_and_the_rest_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict, together, orders, lock = threading.Barrier(2), threading.Barrier(5), [], threading.Lock()
    budgets: dict[str, float] = {}

    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        with lock:
            orders.append(order)
            place = len(orders)
            budgets[f"{order.diagnostic} {order.part}".strip()] = order.budget
        if order.part == STEPS[0]:
            self.shared.built_s, self.shared.first_s = 8.0, 12.0
        if place <= 7:
            (verdict if place <= 2 else together).wait(timeout=20)
        return answer(order)

    monkeypatch.setattr(session_module, "cores", lambda: 16)
    monkeypatch.setattr(Session, "ask", ask)
    options = Options(
        names=("breaks", "speed", "modes", "guards", "numerics", "shapes"),
        total=145.0,
        device="cuda",
        cwd=str(tmp_path),
    )
    session = Session(parse("timm.models:resnet18", [str(tmp_path)]), options, Settings(), lambda *_: None)
    told = session.run()
    names = [f"{order.diagnostic} {order.part}".strip() for order in orders]
    assert sorted(names[:2]) == ["breaks", "speed forward"]
    assert sorted(names[2:7]) == [
        "modes default",
        "modes re-entry",
        "modes reduce-overhead",
        "numerics",
        "speed forward+backward",
    ]
    # They run at the same time: only guards and shapes are kept time for, not each of those beside.
    assert budgets["modes default"] == 30.0
    assert budgets["numerics"] == 45.0
    later = [f"{order.diagnostic} {order.part}".strip() for order in orders[7:] if not order.again]
    assert later == ["guards", "shapes", "modes max-autotune-no-cudagraphs"]
    assert told.speed is not None
    assert tuple(row.kind for row in told.speed.rows) == STEPS


def test_an_answer_that_is_there_counts_when_the_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        if order.part == STEPS[0]:
            for future in self.beside.values():
                future.exception(timeout=20)
            self.began -= 1000.0
        return answer(order)

    told = hurried(tmp_path, monkeypatch, ask).run()
    assert told.speed is not None
    assert tuple(row.kind for row in told.speed.rows) == STEPS


def test_a_machine_with_few_cores_measures_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[str] = []

    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        parts.append(f"{order.diagnostic} {order.part}".strip())
        assert order.turn == ""
        return answer(order)

    hurried(tmp_path, monkeypatch, ask, cores=2).run()
    assert parts == ["breaks", "speed", "modes reduce-overhead"]


def test_who_found_no_memory_beside_the_others_is_asked_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, alone, lock = [0], [], threading.Lock()

    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        with lock:
            running[0] += 1
            first = running[0]
        try:
            if order.part == STEPS[1] and not alone:
                alone.append(0)
                return "failed", "OutOfMemoryError: CUDA out of memory", None
            if order.part == STEPS[1]:
                alone.append(first)
            return answer(order)
        finally:
            with lock:
                running[0] -= 1

    told = hurried(tmp_path, monkeypatch, ask).run()
    assert told.speed is not None
    assert tuple(row.kind for row in told.speed.rows) == STEPS
    assert alone == [0, 1], "asked again, when nothing else ran"


def test_what_was_answered_beside_is_not_lost_when_the_run_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()

    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        if order.part == STEPS[0]:
            answered.wait(timeout=20)
            for future in self.beside.values():
                future.exception(timeout=20)
            raise KeyboardInterrupt
        if order.part == STEPS[1]:
            answered.set()
        return answer(order)

    told = hurried(tmp_path, monkeypatch, ask).run()
    assert told.unfinished.startswith("stopped")
    assert told.speed is not None
    assert [row.kind for row in told.speed.rows] == [STEPS[1]]


def test_one_measures_at_a_time_and_nobody_compiles_meanwhile(tmp_path: Path) -> None:
    compiling, measuring, wrong, most, lock = [0], [0], [], [0], threading.Lock()
    together = threading.Barrier(3)

    @contextmanager
    def counted(counter: list[int]) -> Iterator[None]:
        with lock:
            counter[0] += 1
            most[0] = max(most[0], compiling[0])
            if measuring[0] > 1 or (measuring[0] and compiling[0]):
                wrong.append((compiling[0], measuring[0]))
        try:
            yield
        finally:
            with lock:
                counter[0] -= 1

    def child() -> None:
        turn = Turn(str(tmp_path / "turn"))
        with turn.compiling(), counted(compiling):
            together.wait(timeout=20)
        for _ in range(20):
            with turn.measuring(), counted(measuring):
                time.sleep(0.001)

    threads = [threading.Thread(target=child) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert most == [3], "they compile together"


def test_who_goes_ahead_compiles_alone_until_its_process_ends(tmp_path: Path) -> None:
    path = str(tmp_path / "turn")
    code = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from tclint.diagnose.child.turn import Turn
turn = Turn({path!r}, ahead=True)
with turn.compiling(), turn.measuring():
    print("ahead", flush=True)
time.sleep(1)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "ahead\n"
        with Turn(path).compiling():
            assert first.wait(timeout=20) == 0, "the lock came back with its process"


def test_alone_there_is_nothing_to_wait_for() -> None:
    turn = Turn()
    with turn.compiling(), turn.measuring():
        assert turn
