"""A diagnosis is told while it is made, and whoever stops it keeps what was measured by then."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from diagnosis_helpers import timing

from tclint.cli import main
from tclint.diagnose import plan, report_json
from tclint.diagnose.measurement import Diagnosis, Guards, ModeRow, Modes, Speed, SpeedRow
from tclint.diagnose.order import Order
from tclint.diagnose.session import GOES_ON, Options, Session
from tclint.diagnose.target import parse
from tclint.model import codec
from tclint.model.settings import Settings
from tclint.verify.process import Answer

ROOT = Path(__file__).resolve().parents[2]
FORWARD = Speed((SpeedRow("forward", timing(2.0), timing(1.0), 3.0),))
BOTH = Speed((*FORWARD.rows, SpeedRow("forward+backward", timing(4.0), timing(4.5), 5.0)))
Make = Callable[["Child", Options], tuple[Diagnosis, list[Diagnosis]]]


class Child:
    """Answers in place of real children, and may be interrupted."""

    def __init__(self, stops_at: str = "") -> None:
        self.stops_at = stops_at
        self.asked: list[str] = []

    def ask(self, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        name = f"{order.diagnostic} {order.part}".strip()
        self.asked.append(name)
        if order.diagnostic == "speed" and callable(so_far):
            so_far(FORWARD)
        if name == self.stops_at:
            raise KeyboardInterrupt
        if order.diagnostic == "speed":
            return "done", "", BOTH
        if order.diagnostic == "modes":
            return "done", "", Modes(rows=(ModeRow(order.part, 1.0, timing(1.0), timing(1.0)),))
        return "done", "", Guards(timing(1.0), timing(1.0))


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    def make(child: Child, options: Options) -> tuple[Diagnosis, list[Diagnosis]]:
        told: list[Diagnosis] = []
        monkeypatch.setattr(Session, "ask", lambda self, *args, **kwargs: child.ask(*args, **kwargs))
        target = parse("timm.models:resnet18", [str(tmp_path)])
        made = Session(target, replace(options, cwd=str(tmp_path)), Settings(), lambda *_: None, told.append)
        return made.run(), told

    return make


def test_what_is_known_is_told_at_once(session: Make) -> None:
    end, told = session(Child(), Options(names=("speed", "guards"), quick=True))
    assert [d.speed for d in told] == [FORWARD, BOTH], "the first row before the second is measured"
    assert {d.unfinished for d in told} == {GOES_ON}
    states = {s.name: (s.status, s.words) for s in told[0].states}
    assert states["speed"] == ("done", f"not finished: {GOES_ON}")
    assert states["guards"] == ("not begun", GOES_ON)
    assert not end.unfinished
    assert end.guards is not None


@pytest.mark.parametrize(
    ("stops_at", "known", "missing"),
    [
        ("speed", {"speed"}, {"speed", "modes", "guards"}),
        ("modes default", {"speed"}, {"modes", "guards"}),
        ("modes reduce-overhead", {"speed", "modes"}, {"modes", "guards"}),
        ("guards", {"speed", "modes"}, {"modes", "guards"}),
    ],
)
def test_a_stopped_run_keeps_what_it_has(session: Make, stops_at: str, known: set[str], missing: set[str]) -> None:
    end, _ = session(Child(stops_at), Options(names=("speed", "modes", "guards"), device="cuda"))
    assert end.unfinished.startswith("stopped after ")
    assert {name for name in ("speed", "modes", "guards") if getattr(end, name) is not None} == known
    assert {s.name for s in end.states if "stopped after" in s.words} == missing


def test_quick_leaves_out_what_is_not_asked_for(session: Make) -> None:
    child = Child()
    end, _ = session(child, Options(names=plan.NAMES[1:], device="cuda", quick=True, asked=("latency",)))
    assert child.asked == ["speed", "modes reduce-overhead", "guards", "numerics", "latency"]
    assert next(s for s in end.states if s.name == "shapes").words == "by --quick; --only shapes asks for it"


def test_quick_takes_one_compiled_step_for_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards and values need no compilation of their own; what another child has answered is not asked for again."""
    asked: list[tuple[str, tuple[str, ...]]] = []

    def ask(job: dict[str, object], limits: object, heard: object) -> Answer:
        order = codec.decode(Order, job, "order")
        asked.append((order.diagnostic, order.also))
        also = {
            "guards": {"status": "done", "result": codec.encode(Guards(timing(1.0), timing(0.9)))},
            "numerics": {"status": "failed", "words": "RuntimeError: no such luck"},
        }
        return Answer({"status": "done", "result": codec.encode(BOTH), "also": {n: also[n] for n in order.also}})

    monkeypatch.setattr("tclint.diagnose.session.ask_child", ask)
    target = parse("timm.models:resnet18", [str(tmp_path)])

    def run(*asked_for: str) -> Diagnosis:
        options = Options(names=("speed", "guards", "numerics"), quick=True, asked=asked_for, cwd=str(tmp_path))
        return Session(target, options, Settings(), lambda *_: None).run()

    told = run()
    assert asked == [("speed", ("guards", "numerics"))]
    assert told.guards == Guards(timing(1.0), timing(0.9))
    numerics = next(s for s in told.states if s.name == "numerics")
    assert (numerics.status, numerics.words) == ("failed", "RuntimeError: no such luck")
    asked.clear()
    run("numerics")
    assert asked == [("speed", ("guards",)), ("numerics", ())], "what is asked for by name is measured in full"


def test_one_child_does_not_take_the_time_of_the_others(tmp_path: Path) -> None:
    target = parse("timm.models:resnet18", [str(tmp_path)])
    made = Session(target, Options(names=plan.NAMES, total=100.0, cwd=str(tmp_path)), Settings(), lambda *_: None)
    made.waiting = 4
    assert made._limit() == pytest.approx(60.0, abs=1), "nobody knows yet how long a compilation lasts"
    made.shared.first_s, made.shared.built_s = 9.0, 1.0
    assert made._limit() == pytest.approx(60.0, abs=1), "four others need ten seconds each"
    made.shared.first_s = 29.0
    assert made._limit() == pytest.approx(20.0, abs=1), "an equal share is the least"


NET = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        print("step")
        return self.layer(x)

def get_inputs():
    return [torch.randn(4, 8)]
"""


@pytest.mark.dynamo
@pytest.mark.parametrize("when", ["at once", "with something measured"])
def test_a_killed_run_prints_and_saves(when: str, tmp_path: Path, torch_python: str) -> None:
    """SIGTERM to a real run: exit code 143, the file whole, the rest named, and no process left."""
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "tclint", "diagnose", "net.py:Net", "--total", "0", "--python", torch_python]
    process = subprocess.Popen(
        [*command, "--output-format", "json", "-o", str(out)], cwd=tmp_path, env=None, stderr=subprocess.PIPE
    )
    end = time.monotonic() + 400
    if when == "at once":
        time.sleep(5)
    while when != "at once" and not out.exists() and time.monotonic() < end:
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143, said.decode()
    told = report_json.read(str(out))
    assert told.unfinished.startswith("stopped after ")
    assert json.loads(out.read_text())["unfinished"] == told.unfinished
    if when == "with something measured":
        assert told.breaks is not None
        assert [row.line for row in told.breaks.breaks] == [10]
    missing = {s.name for s in told.states if "stopped after" in s.words}
    assert {"modes", "guards", "numerics", "latency", "shapes"} <= missing
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, check=False).stdout
    assert not left


def test_the_terminal_sees_each_table_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    child = Child()

    def ask(self: Session, *args: object, **kwargs: object) -> object:
        self.shared.about.setdefault("torch", "2.13.0")
        return child.ask(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "ask", ask)
    assert main(["diagnose", "net.py:Net", "--quick", "--only", "speed", "--only", "guards"]) == 0
    said = capsys.readouterr().out
    assert said.count("diagnosis of net.py:Net") == 1
    assert said.index("verdict so far: keep (inference +50%)") < said.index("verdict so far: inference: keep")
    assert said.count("Eager against compiled, warm") == 1
    assert said.rindex("Guard overhead") < said.index("\nverdict: inference: keep (+50%); training: stay eager")
