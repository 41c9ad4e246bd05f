"""The torch-free parts: targets, plans, stubs, what a command line may not say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from diagnosis_helpers import sample, timing

from tclint.cli import main
from tclint.diagnose import cost, figures, plan
from tclint.diagnose.cost import judged, stub
from tclint.diagnose.measurement import (
    CostBreak,
    CostRow,
    CostSample,
    Diagnosis,
    Guards,
    ModeRow,
    Modes,
    Speed,
    SpeedRow,
)
from tclint.diagnose.order import Order
from tclint.diagnose.session import Options, Session
from tclint.diagnose.shortening import first_line, shortened
from tclint.diagnose.target import parse
from tclint.model.errors import UserError
from tclint.model.finding import Finding
from tclint.model.settings import Settings

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

    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
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


def speeds(*pairs: tuple[float, float]) -> Callable[..., tuple[str, str, object]]:
    """What the processes answer, one after another: the medians of eager and compiled."""
    left = list(pairs)

    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        if order.diagnostic == "speed":
            eager, compiled = left.pop(0)
            row = SpeedRow("forward", timing(eager), timing(compiled), 3.0, notes=("told once",))
            return "done", "", Speed((replace(row, eager_peak_mb=None if order.again else 7.0),))
        if order.diagnostic == "modes":
            return "done", "", Modes(rows=(ModeRow(order.part, 1.0, timing(1.0), timing(1.0)),))
        return "done", "", Guards(timing(1.0), timing(1.0))

    return ask


def run(tmp_path: Path, options: Options) -> tuple[Diagnosis, list[str]]:
    """The result, and what was asked for in which order."""
    shown: list[str] = []
    target = parse("timm.models:resnet18", [str(tmp_path)])
    session = Session(target, replace(options, cwd=str(tmp_path)), Settings(), lambda name, *_: shown.append(name))
    return session.run(), shown[:-1]


def test_speed_is_measured_until_two_processes_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "ask", speeds((2.0, 1.2), (2.2, 1.0), (1.9, 1.3), (1.91, 1.01)))
    told, asked = run(tmp_path, Options(names=("speed", "modes", "guards"), device="cuda"))
    assert asked == [
        "speed",
        "modes default",
        "modes reduce-overhead",
        "speed again",
        f"modes {plan.REENTRY}",
        "guards",
        *["speed again"] * 2,
        f"modes {plan.AUTOTUNE}",
    ]
    assert told.speed is not None
    [row] = told.speed.rows
    assert (row.eager.median_ms, row.compiled.median_ms, row.processes, row.eager_peak_mb) == (1.9, 1.0, 4, 7.0)
    assert row.eager.disturbed == 63, "the blocks of the other three"
    assert row.eager.spread_ms == 0.1
    assert row.notes[0] == "told once"
    assert "4 processes differ by 30%" in row.notes[1]


def test_on_a_quiet_host_two_processes_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "ask", speeds((2.0, 1.0), (2.02, 1.01)))
    told, asked = run(tmp_path, Options(names=("speed",)))
    assert asked == ["speed", "speed again"]
    assert told.speed is not None
    assert told.speed.rows[0].notes == ("told once",)


def test_on_one_that_is_never_quiet_there_is_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "ask", speeds(*[(1.0 + n, 2.0 + n) for n in range(9)]))
    told, asked = run(tmp_path, Options(names=("speed",)))
    assert len(asked) == 6
    assert told.speed is not None
    assert told.speed.rows[0].eager.spread_ms == 1.0, "as far as the next process"


def test_quick_measures_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "ask", speeds((2.0, 1.2)))
    assert run(tmp_path, Options(names=("speed",), quick=True))[1] == ["speed"]


def test_a_repeat_that_does_not_fit_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    answer = speeds(*[(1.0 + n, 2.0 + n) for n in range(9)])

    def ask(self: Session, order: Order, free: bool = False, so_far: object = None) -> tuple[str, str, object]:
        nonlocal now
        now += 20
        return answer(self, order, free)

    monkeypatch.setattr("tclint.diagnose.session.time.monotonic", lambda: now)
    monkeypatch.setattr(Session, "ask", ask)
    _, asked = run(tmp_path, Options(names=("speed",), total=54.0))
    assert asked == ["speed", "speed again"], "14 of 54 s are left after the first repeat: too little for one of 20"


FIRST, SECOND = CostBreak("net.py", "if x.max() > 0:", "GB0170"), CostBreak("net.py", "print(x)", "GB0059")
EDITED, OUTSIDE = CostBreak("net.py", "torch.where(y)", "GB0170"), CostBreak("/lib/vendor.py", "run()", "GB0156")


@pytest.mark.parametrize(
    ("before", "after", "status", "words"),
    [
        ((FIRST, SECOND), (SECOND,), "measured", "; Dynamo no longer breaks: net.py GB0170"),
        (
            (FIRST,),
            (SECOND,),
            "measured",
            "no longer breaks: net.py GB0170; one that it hid is heard now: net.py GB0059",
        ),
        ((FIRST,), (OUTSIDE,), "measured", "one that it hid is heard now: /lib/vendor.py GB0156"),
        ((FIRST,), (EDITED,), "not proven", ", but another break appears: net.py GB0170"),
        ((FIRST,), (FIRST,), "not proven", "; Dynamo says the same with and without it"),
        ((FIRST, FIRST), (FIRST,), "measured", "; Dynamo no longer breaks: net.py GB0170"),
    ],
)
def test_what_a_remedy_did(
    before: tuple[CostBreak, ...],
    after: tuple[CostBreak, ...],
    status: str,
    words: str,
    write: Write,
    tmp_path: Path,
) -> None:
    write("net.py", "def f(x):\n    if x.max() > 0:\n        print(x)\n")
    one, other = (CostSample(timing(1.0), None, 1, breaks, 1) for breaks in (before, after))
    told = judged(one, other, str(tmp_path))
    assert told[0] == status
    assert told[1].endswith(words)


def test_a_remedy_for_recompiles(tmp_path: Path) -> None:
    one, other = (CostSample(timing(1.0), None, 1, (), programs) for programs in (4, 1))
    assert judged(one, other, str(tmp_path)) == ("measured", "; 3 programs fewer over the varying calls")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("fits", "fits"),
        ("two\n   lines", "two lines"),
        ("a word that is cut nowhere", "a word that is …"),
        ("x" * 30, "x" * 16 + " …"),
        ("", ""),
    ],
)
def test_no_word_of_an_error_is_cut(text: str, short: str) -> None:
    assert shortened(text, 18) == short


def test_the_first_line_of_an_error() -> None:
    assert (first_line("one\ntwo"), first_line(""), first_line("\n one \n")) == ("one", "", "one")


def test_a_run_that_is_stopped_keeps_the_costs_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sample(breaks=2).findings
    once = CostSample(timing(2.0), None, 1, (), 1)
    asked: list[int] = []

    def row(session: Session, finding: object, row: object, before: CostSample) -> CostRow:
        asked.append(1)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return CostRow("m.py", 1, "TCL101", "name", "graph-break", "fix", "measured", "gone", 2.0, 1.5, 0.5)

    monkeypatch.setattr(cost, "_sample", lambda session, folder: (once, ""))
    monkeypatch.setattr(cost, "_row", row)
    monkeypatch.setattr(Session, "_part", lambda *_: None)
    options = Options(names=("breaks",), cost=True, cwd=str(tmp_path))
    session = Session(parse("timm.models:resnet18", [str(tmp_path)]), options, Settings(), lambda *_: None)
    session.rows, session.findings = found, cast("tuple[Finding, ...]", (None, None))
    told = session.run()
    assert told.unfinished.startswith("stopped after")
    assert told.cost is not None
    assert [row.saved_ms for row in told.cost.rows] == [0.5]
    assert told.cost.notes == (cost.UNREPEATED,)


def test_quick_says_that_one_process_measured() -> None:
    for quick in (True, False):
        section = next(each for each in figures.sections(replace(sample(), quick=quick)) if each.name == "speed")
        assert any("--quick measures in one process" in note for note in section.notes) is quick
