"""The torch-free parts: targets, plans, stubs, what a command line may not say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from diagnosis_helpers import timing

from tclint.cli import main
from tclint.config import Settings, UserError
from tclint.diagnose import plan
from tclint.diagnose.cost import stub
from tclint.diagnose.measurement import Guards, ModeRow, Modes
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
