"""The structured trace is read without torch, from logs recorded with the real one."""

from __future__ import annotations

from pathlib import Path

import pytest
from verify_helpers import finding_on

from tclint.model.finding import Effect, Step
from tclint.verify import NoTrace, Outcome, VerifyOptions, verify_trace
from tclint.verify.ranks import words
from tclint.verify.trace import Collector, events_of, own_name, parse_break, read_trace, reasons_of

DATA = Path(__file__).parent / "data"
OLD = """Graph break in user code at /a/m.py:12
Reason: Unsupported: call_method TensorVariable() item () {}
User code traceback:
  File "/a/m.py", line 9, in forward
    y = scale(x)
  File "/a/m.py", line 12, in scale
    return x / x.max().item()
"""
SKIP = """Graph break: torch.compile cannot properly resume from this graph break, which results in a skip.
torch.compile will skip tracing the frame forward (/a/m.py line 7) and fall back to eager.
The graph break occurred in the following user code:

Traceback (most recent call last):
  File "/t/convert_frame.py", line 1, in f
    x
torch._dynamo.exc.Unsupported: Attempt to trace generator
  Explanation: Generators cannot be compiled directly with `torch.compile`.

 For more details, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0003.html
"""


def test_a_break_as_old_releases_log_it() -> None:
    found = parse_break(OLD)
    assert found is not None
    assert (found.path, found.line, found.kind) == ("/a/m.py", 12, "call_method TensorVariable() item () {}")
    assert found.stack == (Step("/a/m.py", 9, "forward"), Step("/a/m.py", 12, "scale"))
    assert not found.skips


def test_a_frame_that_is_given_up() -> None:
    found = parse_break(SKIP)
    assert found is not None
    assert (found.line, found.gb_id, found.kind, found.skips) == (7, "GB0003", "Attempt to trace generator", True)
    assert found.words == "Generators cannot be compiled directly with `torch.compile`."


def test_text_without_a_place_is_no_break() -> None:
    assert parse_break("nothing of the kind") is None


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("torch_dynamo_resume_in_forward_at_13", "forward"),
        ("torch_dynamo_resume_in_torch_dynamo_resume_in_f_at_3_at_9", "f"),
        ("forward", "forward"),
    ],
)
def test_resumed_functions_have_their_own_name(name: str, own: str) -> None:
    assert own_name(name) == own


def test_reasons_are_one_text_or_a_list() -> None:
    assert reasons_of("0/0: self.step == 1\n  # x") == ["0/0: self.step == 1\n  # x"]
    assert reasons_of('["0/0: a", "0/1: b"]') == ["0/0: a", "0/1: b"]
    assert reasons_of("[not json") == ["[not json"]
    assert reasons_of(" ") == []


def test_events_survive_a_cut_file() -> None:
    lines = ['V1115 02:22:14.838000 5 a.py:1] {"str": ["/a", 0]}\n', "\tpayload\n", "noise\n", 'V1115 x] {"cut": \n']
    assert list(events_of(lines)) == [({"str": ["/a", 0]}, "payload")]


def test_numbers_start_anew_after_a_reset() -> None:
    collector = Collector(strings={0: "/a/m.py"})
    for name in ("f", "f", "g"):
        stack = [{"line": 1 if name == "f" else 9, "name": name, "filename": 0}]
        collector.event({"dynamo_start": {"stack": stack}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}, "")
    assert [(frame.name, frame.compiles) for frame in collector.frames] == [("f", 2), ("g", 1)]


def test_a_recorded_directory() -> None:
    heard = read_trace(DATA)
    assert heard.torch.startswith("2.13")
    run = next(run for run in heard.runs if run.experiment == "breaks")
    assert {(item.line, item.gb_id) for item in run.breaks} == {(14, "GB0059"), (20, "GB0170")}
    forward = next(frame for frame in run.frames if frame.name == "forward")
    assert forward.compiles == 4
    assert "step == 1" in "".join(forward.reasons)


def test_verdicts_from_a_recorded_directory() -> None:
    findings = [
        finding_on("rec_trace.py", 14),
        finding_on("rec_trace.py", 13),
        finding_on("rec_trace.py", 9),
        finding_on("rec_trace.py", 12, Effect.RECOMPILE),
    ]
    report = verify_trace(findings, str(DATA), VerifyOptions(root=str(DATA)))
    outcomes = [verdict.outcome for verdict in report.verdicts]
    assert outcomes == [Outcome.CONFIRMED, Outcome.REFUTED, Outcome.INCONCLUSIVE, Outcome.CONFIRMED]
    assert [(missed.line, missed.gb_id) for missed in report.missed] == [(20, "GB0170")]


def test_ranks_of_one_job_are_one_finding(tmp_path: Path) -> None:
    log = (DATA / "torch_trace.log").read_text(encoding="utf-8")
    quiet = log.replace("rec_trace.py", "elsewhere.py")
    for rank, text in enumerate([log, log, quiet, log]):
        (tmp_path / f"dedicated_log_torch_trace_rank_{rank}_a1.log").write_text(text, encoding="utf-8")
    findings = [finding_on("rec_trace.py", 14), finding_on("rec_trace.py", 12, Effect.RECOMPILE)]
    report = verify_trace(findings, str(tmp_path), VerifyOptions(root=str(DATA)))
    assert [verdict.outcome for verdict in report.verdicts] == [Outcome.CONFIRMED] * 2
    assert all("(on ranks 0-1, 3 of 4)" in verdict.words for verdict in report.verdicts)
    own = [missed for missed in report.missed if missed.path == "rec_trace.py"]
    assert [missed.line for missed in own] == [20]
    assert "(on ranks 0-1, 3 of 4)" in own[0].words
    assert any(note.endswith("rec_trace.py:14 on ranks 0-1, 3 of 4") for note in report.notes)


@pytest.mark.parametrize(
    ("ranks", "everyone", "said"),
    [((0, 1, 2), 3, "on all 3 ranks"), ((2,), 8, "on rank 2 of 8"), ((0, 1, 2, 5), 8, "on ranks 0-2, 5 of 8")],
)
def test_ranks_in_words(ranks: tuple[int, ...], everyone: int, said: str) -> None:
    assert words(ranks, range(everyone)) == said


def test_an_empty_directory_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoTrace, match="TORCH_TRACE"):
        read_trace(tmp_path)
