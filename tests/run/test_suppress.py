"""Comments that silence findings."""

from __future__ import annotations

import pytest

from tclint.model.finding import Confidence, Effect, Finding, Severity, Span
from tclint.run import suppress


def finding(line: int, code: str = "TCL101", name: str = "data-dependent-branch", end: int = 0) -> Finding:
    span = Span(line, 5, end or line, 9)
    return Finding(code, name, "m.py", span, "msg", Effect.GRAPH_BREAK, Severity.HIGH, Confidence.HIGH)


def run(text: str, *findings: Finding, active: tuple[str, ...] | None = None) -> suppress.Suppressed:
    def ran(selector: str) -> bool:
        return active is None or selector in active

    return suppress.apply(findings, {"m.py": text}, ran)


def codes(result: suppress.Suppressed) -> list[str]:
    return [f.code for f in result.kept]


@pytest.mark.parametrize(
    "comment",
    [
        "# tclint: ignore[TCL101] the loop has two steps",
        "# tclint: ignore[TCL101, tokenizer-in-forward, TCL102]",
        "# tclint: ignore[data-dependent-branch]",
        "# tclint: ignore[TCL1]",
        "# tclint: ignore[tcl101]",
        "# tclint: ignore",
        "#tclint:ignore",
        "# type: ignore  # tclint: ignore[TCL101]",
        "# noqa: TCL101",
        "# noqa: E501, TCL101",
        "# NOQA",
        "# noqa",
    ],
)
def test_silences_its_line(comment: str) -> None:
    result = run(f"x = 1\nif x:  {comment}\n    pass\n", finding(2), active=("TCL101", "TCL1", "data-dependent-branch"))
    assert result.kept == ()
    assert result.suppressed == 1


@pytest.mark.parametrize(
    "comment",
    [
        "# tclint: ignore[TCL102]",
        "# noqa: E501",
        "# noqa: because",
        "# tclint: ignore[TCL102",
        "# tclint: ignore TCL101",
        "# ignore[TCL101]",
        "# flake8: noqa",
    ],
)
def test_does_not_silence(comment: str) -> None:
    result = run(f"x = 1\nif x:  {comment}\n    pass\n", finding(2))
    assert "TCL101" in codes(result)
    assert result.suppressed == 0


def test_another_line_is_not_silenced() -> None:
    assert "TCL101" in codes(run("x = 1  # tclint: ignore[TCL101]\nif x:\n    pass\n", finding(2)))


def test_marker_in_a_string_is_no_comment() -> None:
    result = run('if "# tclint: ignore":\n    pass\n', finding(1))
    assert codes(result) == ["TCL101"]


@pytest.mark.parametrize("line", [2, 3, 4])
def test_anywhere_within_the_span(line: int) -> None:
    lines = ["x = 1", "f(", "  x,", ")", "y = 2"]
    lines[line - 1] += "  # tclint: ignore[TCL101]"
    assert run("\n".join(lines) + "\n", finding(2, end=4)).kept == ()


def test_comment_lines_directly_above() -> None:
    text = "x = 1\n# tclint: ignore[TCL101] two steps\n# and no more\nif x:\n    pass\n"
    assert run(text, finding(4)).kept == ()
    apart = "x = 1\n# tclint: ignore[TCL101]\n\nif x:\n    pass\n"
    assert codes(run(apart, finding(4))) == ["TCL901", "TCL101"]


def test_after_a_string_of_several_lines() -> None:
    text = 'log(f"""\n{x.item()}\nend""")  # tclint: ignore[TCL101]\n'
    assert run(text, finding(2)).kept == ()


def test_end_at_the_start_of_the_next_line_is_not_that_line() -> None:
    span = Span(1, 1, 2, 1)
    one = Finding("TCL101", "n", "m.py", span, "m", Effect.SLOW, Severity.LOW, Confidence.HIGH)
    assert "TCL101" in codes(run("a = 1\nb = 2  # tclint: ignore[TCL101]\n", one))


@pytest.mark.parametrize(
    ("text", "line"),
    [("# noqa\n# why\nif x:\n    pass\n", 3), ('x = 1\nf("""\n""")  # noqa\n', 2), ("if x:  # noqa\n    pass\n", 1)],
)
def test_a_bare_noqa_near_a_finding(text: str, line: int) -> None:
    assert run(text, finding(line)).kept == ()


def test_a_bare_noqa_above_all_findings_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules begin with imports that another linter is told to leave alone."""
    monkeypatch.delattr(suppress, "_Comments")
    text = "from a import *  # noqa\n\nif x:\n    pass\n"
    assert codes(run(text, finding(3), finding(4))) == ["TCL101", "TCL101"]
    assert run(text).kept == ()
    with pytest.raises(NameError):
        run(text, finding(1))


def test_whole_file() -> None:
    text = "import x\n# tclint: ignore-file[TCL1]\ny = 1\n"
    result = run(text, finding(3), finding(1, "TCL201", "r"))
    assert codes(result) == ["TCL201"]
    assert run("# tclint: ignore-file\nx = 1\n", finding(2), finding(2, "TCL201", "r")).kept == ()


def test_whole_file_needs_its_own_line() -> None:
    result = run("x = 1  # tclint: ignore-file\n", finding(1))
    assert codes(result) == ["TCL101", "TCL901"]
    assert "line of its own" in result.unused[0].message


def test_unused_is_told_with_its_place_and_a_fix() -> None:
    result = run("x = 1  # tclint: ignore[TCL101] why\n")
    (unused,) = result.kept
    assert (unused.code, unused.name, unused.span) == ("TCL901", "unused-suppression", Span(1, 8, 1, 36))
    assert (unused.effect, unused.severity, unused.confidence) == (Effect.SLOW, Severity.LOW, Confidence.HIGH)
    assert unused.fix is not None
    assert unused.fix.edits[0].span == Span(1, 6, 1, 36)


def test_unused_comment_line_is_removed_whole() -> None:
    (unused,) = run("# tclint: ignore[TCL101]\nx = 1\n").kept
    assert unused.fix is not None
    assert unused.fix.edits[0].span == Span(1, 1, 2, 1)


def test_half_used_names_the_idle_code() -> None:
    (unused,) = run("if x: pass  # tclint: ignore[TCL101, TCL102]\n", finding(1)).kept
    assert unused.message.startswith("TCL102 ")
    assert unused.fix is None


def test_rule_that_did_not_run_is_not_unused() -> None:
    assert run("x = 1  # tclint: ignore[TCL102]\n", active=("TCL901",)).kept == ()


def test_unused_can_be_off_or_excused() -> None:
    assert run("x = 1  # tclint: ignore[TCL101]\n", active=("TCL101",)).kept == ()
    assert run("x = 1  # tclint: ignore[TCL101, TCL901]\n").kept == ()


def test_noqa_unused_only_with_a_code() -> None:
    assert run("x = 1  # noqa\n").kept == ()
    assert run("x = 1  # noqa: E501\n").kept == ()
    (unused,) = run("x = 1  # noqa: TCL101\n").kept
    assert unused.fix is None


@pytest.mark.parametrize(("text", "says"), [("ignor", "did you mean 'ignore'"), ("ignore[]", "empty")])
def test_misspelt_comment_is_told(text: str, says: str) -> None:
    (unused,) = run(f"x = 1  # tclint: {text}\n").kept
    assert says in unused.message


def test_survives_a_file_that_does_not_tokenize() -> None:
    text = "if x:  # tclint: ignore[TCL101]\n    pass\n# tclint: ignore[TCL102]\ny = (\n"
    result = run(text, finding(1))
    assert result.kept == ()


def test_findings_of_files_without_text_are_kept() -> None:
    result = suppress.apply([finding(1)], {})
    assert codes(result) == ["TCL101"]
    assert result.suppressed == 0


def test_activity() -> None:
    active = suppress.activity([("TCL101", "a"), ("TCL102", "b")], [("TCL101", "a")])
    assert active("TCL101")
    assert active("a")
    assert active("TCL1")
    assert not active("TCL102")
    assert not active("b")
    assert active("TCL777"), "a code that no rule has is a misspelling, and should be told"
    assert active("TCL901")
