"""The torch-free parts: targets, plans, stubs, what a command line may not say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from diagnosis_helpers import timing

from tclint.cli import main
from tclint.config import Settings, UserError
from tclint.diagnose import plan
from tclint.diagnose.cost import stub
from tclint.diagnose.measurement import Guards, ModeRow, Modes, Speed, SpeedRow
from tclint.diagnose.order import Order
from tclint.diagnose.session import Options, Session
from tclint.diagnose.target import parse

Write = Callable[[str, str], Path]


def test_targets_are_found_as_modules_and_files(write: Write, tmp_path: Path) -> None:
    module, package = write("models/vlm.py", ""), write("models/__init__.py", "")
    assert parse("models.vlm:VLM", [str(tmp_path)]).path == str(module)
    assert parse("models:build.it", [str(tmp_path)]).path == str(package)
    assert parse("models/vlm.py:VLM", [str(tmp_path)]).path == str(module)
    assert parse("timm.models:resnet18", [str(tmp_path)]).path == ""


@pytest.mark.parametrize("text", ["models.vlm", ":VLM", "models.vlm:", "models.vlm:1x", "a b:C", "none.py:C"])
def test_what_is_no_target_is_named(text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"write package|no name|neither|no such file"):
        parse(text, [str(tmp_path)])


def test_selection() -> None:
    assert plan.selected((), ()) == plan.NAMES
    assert plan.selected(("speed", "modes"), ("speed", "breaks")) == ("breaks",)
    with pytest.raises(UserError, match="did you mean 'speed'"):
        plan.selected(("sped",), ())


def test_ablations() -> None:
    assert plan.ablations("epilogue_fusion;max_autotune=False") == (
        "epilogue_fusion=True",
        "epilogue_fusion=False",
        "max_autotune=False",
    )
    for wrong in ("", ";", "=1", "x="):
        with pytest.raises(UserError):
            plan.ablations(wrong)


def test_a_statement_that_only_talks_can_be_left_out() -> None:
    source = b"def f(x):\n    print(\n        x)\n    return x\n"
    assert stub(source, 2) == b"def f(x):\n    pass\n\n    return x\n"
    assert stub(b"def f(x):\n    logger.info(x)\n", 2) == b"def f(x):\n    pass\n"


@pytest.mark.parametrize(
    "line", ["y = print(x)", "x.append(1)", "return print(x)", "print(x); y = 1", "if x: print(x)", "math.log(x)"]
)
def test_a_statement_that_does_more_is_not(line: str) -> None:
    assert stub(f"def f(x):\n    {line}\n".encode(), 2) is None


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["m"], "write package.module:Target"),
        (["m:F", "--skip", "nothing"], "no such diagnostic"),
        (["m:F", "--only", "speed", "--cost"], "--cost needs the diagnostic breaks"),
        (["m:F", "--only", "speed", "--skip", "speed"], "no diagnostic to run"),
        (["m:F", "--path", "nowhere"], "no such folder"),
        (["m:F", "--ablate", ";"], "names no option"),
    ],
)
def test_mistakes_are_named(
    args: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["diagnose", *args]) == 2
    assert said in capsys.readouterr().err


def test_what_may_take_minutes_runs_last_and_is_shown_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ask(self: Session, order: Order, free: bool = False) -> tuple[str, str, object]:
        asked.append(f"{order.diagnostic} {order.part}".strip())
        if order.diagnostic == "modes":
            return "done", "", Modes(rows=(ModeRow(order.part, 1.0, timing(1.0), timing(1.0)),))
        return "not applicable", "", Guards(timing(1.0), timing(1.0))

    monkeypatch.setattr(Session, "ask", ask)
    target = parse("timm.models:resnet18", [str(tmp_path)])
    options = Options(names=("modes", "guards"), device="cuda", cwd=str(tmp_path))
    told = Session(target, options, Settings(), lambda *_: None).run()
    slow = f"modes {plan.AUTOTUNE}"
    assert asked == ["modes default", "modes reduce-overhead", f"modes {plan.REENTRY}", "guards", slow]
    assert told.modes is not None
    assert [row.mode for row in told.modes.rows] == [*plan.MODES, plan.REENTRY]


def test_repeats_are_spread_over_the_run_and_the_fastest_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    paces = iter([(2.0, 1.2), (2.2, 1.0), (1.9, 1.3)])

    def ask(self: Session, order: Order, free: bool = False) -> tuple[str, str, object]:
        asked.append(f"{order.diagnostic} {order.part}".strip() + (" again" if order.again else ""))
        if order.diagnostic == "speed":
            eager, compiled = next(paces)
            first = SpeedRow("forward", timing(eager), timing(compiled), 3.0, notes=("told once",))
            return "done", "", Speed((replace(first, eager_peak_mb=None if order.again else 7.0),))
        if order.diagnostic == "modes":
            return "done", "", Modes(rows=(ModeRow(order.part, 1.0, timing(1.0), timing(1.0)),))
        return "done", "", Guards(timing(1.0), timing(1.0))

    monkeypatch.setattr(Session, "ask", ask)
    target = parse("timm.models:resnet18", [str(tmp_path)])
    options = Options(names=("speed", "modes", "guards"), device="cuda", cwd=str(tmp_path))
    told = Session(target, options, Settings(), lambda *_: None).run()
    assert asked == [
        "speed",
        "modes default",
        "modes reduce-overhead",
        "speed again",
        f"modes {plan.REENTRY}",
        "guards",
        "speed again",
        f"modes {plan.AUTOTUNE}",
    ]
    assert told.speed is not None
    [row] = told.speed.rows
    assert (row.eager.median_ms, row.compiled.median_ms, row.processes, row.eager_peak_mb) == (1.9, 1.0, 3, 7.0)
    assert row.eager.disturbed == 42, "the blocks of the other two"
    assert row.notes[0] == "told once"
    assert "3 processes differ by 30%" in row.notes[1]

    asked.clear()
    paces = iter([(2.0, 1.2)])
    Session(target, replace(options, quick=True, names=("speed",)), Settings(), lambda *_: None).run()
    assert asked == ["speed"], "--quick measures once"


def test_a_repeat_takes_nothing_from_what_is_to_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    asked: list[bool] = []
    monkeypatch.setattr("tclint.diagnose.session.time.monotonic", lambda: now)

    def ask(self: Session, order: Order, free: bool = False) -> tuple[str, str, object]:
        nonlocal now
        now += 20
        asked.append(order.again)
        return "done", "", Speed((SpeedRow("forward", timing(1.0), timing(1.0), 3.0),))

    monkeypatch.setattr(Session, "ask", ask)
    target = parse("timm.models:resnet18", [str(tmp_path)])
    Session(target, Options(names=("speed",), total=65.0, cwd=str(tmp_path)), Settings(), lambda *_: None).run()
    assert asked == [False, True], "25 of 65 s are left after the first repeat: too little for another of 20"
