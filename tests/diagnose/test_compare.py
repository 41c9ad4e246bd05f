"""`tclint compare`: side by side, exit 1 on a regression, 2 on what is no result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from diagnosis_helpers import sample

from tclint.cli import main
from tclint.diagnose import report_json
from tclint.diagnose.compare import compared
from tclint.diagnose.measurement import Diagnosis, NumericRow, Numerics


@pytest.fixture
def save(tmp_path: Path):  # type: ignore[no-untyped-def]
    def save(name: str, diagnosis: Diagnosis) -> str:
        path = tmp_path / name
        path.write_text(report_json.render(diagnosis), encoding="utf-8")
        return str(path)

    return save


def test_the_same_is_no_regression(save, capsys) -> None:  # type: ignore[no-untyped-def]
    assert main(["compare", save("a.json", sample()), save("b.json", sample())]) == 0
    assert "no regression above 5%" in capsys.readouterr().out


@pytest.mark.parametrize(("after", "code"), [(2.09, 0), (2.11, 1), (1.0, 0)])
def test_a_slower_step_is_one_above_the_threshold(save, after: float, code: int) -> None:  # type: ignore[no-untyped-def]
    assert main(["compare", save("a.json", sample(2.0)), save("b.json", sample(after))]) == code


def test_the_threshold_can_be_set(save) -> None:  # type: ignore[no-untyped-def]
    files = [save("a.json", sample(2.0)), save("b.json", sample(2.3))]
    assert main(["compare", *files, "--threshold", "20%"]) == 0
    assert main(["compare", *files, "--threshold", "10"]) == 1
    assert main(["compare", *files, "--threshold", "much"]) == 2


def test_one_break_more_is_a_regression(save, capsys) -> None:  # type: ignore[no-untyped-def]
    assert main(["compare", save("a.json", sample(breaks=0)), save("b.json", sample(breaks=1))]) == 1
    assert "graph breaks" in capsys.readouterr().out.splitlines()[-1]


def test_values_that_begin_to_differ_are_a_regression() -> None:
    fine = replace(sample(), numerics=Numerics((NumericRow("float32", "outputs", "ok"),)))
    names = [row.name for row in compared(fine, sample(), 0.05).regressions]
    assert names == ["values that differ from eager"]


def test_more_work_on_the_gpu_is_a_regression() -> None:
    def with_work(gpu_ms: float) -> Diagnosis:
        told = sample()
        assert told.speed is not None
        rows = (replace(told.speed.rows[0], compiled_gpu_ms=gpu_ms), *told.speed.rows[1:])
        return replace(told, speed=replace(told.speed, rows=rows))

    assert compared(with_work(0.50), with_work(0.52), 0.05).regressions == ()
    names = [row.name for row in compared(with_work(0.50), with_work(0.54), 0.05).regressions]
    assert names == ["forward, compiled, the GPU works"]


@pytest.mark.parametrize(
    ("gpu_ms", "compiled_ms", "launch_us", "change", "verdict"),
    [
        (0.2, 2.24, 7.0, "+12.0%", "worse"),  # the same host: the model's
        (0.2, 2.24, 7.9, "+0.4%", "same"),  # the host's
        (0.2, 2.60, 7.9, "+16.3%", "worse"),  # the host's in part
        (0.2, 2.24, 6.0, "+12.0%", "worse"),  # a host that is faster takes nothing away
        (0.2, 2.02, 6.0, "+1.0%", "same"),  # and makes nothing worse
        (0.2, 1.80, 6.2, "+0.0%", "same"),  # nor better
        (2.2, 2.24, 7.9, "+12.0%", "worse"),  # the GPU's own time does not wait for the host
    ],
)
def test_a_slower_host_is_no_regression(
    gpu_ms: float, compiled_ms: float, launch_us: float, change: str, verdict: str
) -> None:
    def on_host(compiled_ms: float, launch_us: float) -> Diagnosis:
        told = sample(compiled_ms)
        assert told.speed is not None
        first, *others = told.speed.rows
        first = replace(first, compiled=replace(first.compiled, launch_us=launch_us), compiled_gpu_ms=gpu_ms)
        return replace(told, speed=replace(told.speed, rows=(first, *others)))

    rows = compared(on_host(2.0, 7.0), on_host(compiled_ms, launch_us), 0.05).rows
    row = next(row for row in rows if row.name == "forward, compiled")
    assert (row.change, row.verdict) == (change, verdict)
    blamed = f"a launch took {launch_us} µs on the host instead of 7.0" in row.note
    assert blamed == (change != f"{compiled_ms / 2.0 - 1:+.1%}")


def test_eager_is_context_only() -> None:
    before = sample()
    assert before.speed is not None
    slower = replace(before.speed.rows[0], eager=replace(before.speed.rows[0].eager, median_ms=40.0))
    after = replace(before, speed=replace(before.speed, rows=(slower, *before.speed.rows[1:])))
    assert compared(before, after, 0.05).regressions == ()


def test_other_devices_are_told(save, capsys) -> None:  # type: ignore[no-untyped-def]
    main(["compare", save("a.json", sample()), save("b.json", replace(sample(), device="cpu"))])
    assert "device differs: cuda → cpu" in capsys.readouterr().out


def test_json_and_markdown(save, capsys) -> None:  # type: ignore[no-untyped-def]
    files = [save("a.json", sample(2.0)), save("b.json", sample(3.0))]
    assert main(["compare", *files, "--output-format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["regressions"] == 1
    assert main(["compare", *files, "--output-format", "markdown"]) == 1
    assert "**worse**" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[]", "not a result of tclint diagnose"),
        ('{"schema": "other/1"}', "its schema is 'other/1'"),
        ('{"schema": "tclint-diagnose/1", "device": "cpu"}', "diagnosis.target is missing"),
    ],
)
def test_foreign_files_are_an_error(save, tmp_path: Path, capsys, text: str, said: str) -> None:  # type: ignore[no-untyped-def]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text)
    assert main(["compare", save("a.json", sample()), str(wrong)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert str(wrong) in told


def test_a_missing_file_is_an_error(save, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    assert main(["compare", save("a.json", sample()), str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_nothing_in_common_is_an_error(save) -> None:  # type: ignore[no-untyped-def]
    empty = Diagnosis("tclint-diagnose/1", "m:f", "cpu")
    assert main(["compare", save("a.json", sample()), save("b.json", empty)]) == 2
