"""What formats share: words, lines of files, and the names by which a finding is known again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity, Span, Step, Verification
from tclint.model.report import Report
from tclint.output import statistics, words
from tclint.output.fingerprint import fingerprints
from tclint.output.lines import Lines

FINDING = Finding(
    code="TCL101",
    name="x",
    path="a.py",
    span=Span(2, 1, 2, 5),
    message="a branch",
    effect=Effect.GRAPH_BREAK,
    severity=Severity.HIGH,
    confidence=Confidence.HIGH,
    function="f",
    graph_breaks=("GB0170", "GB0001"),
    chain=(Step("train.py", 9, "torch.compile(f)"), Step("a.py", 4, "g"), Step("b.py", 1, "h")),
)
SOURCES = {"a.py": "def f(x):\n    if x:\n    if  x:\n"}


def test_every_effect_has_its_words() -> None:
    assert set(words.ONE) == set(words.MANY) == set(Effect)


def test_the_first_id_stands_behind_a_message_once() -> None:
    assert words.message(FINDING) == "a branch (GB0170)"
    assert words.message(replace(FINDING, message="GB0170: a branch")) == "GB0170: a branch"
    assert words.message(replace(FINDING, graph_breaks=())) == "a branch"


def test_a_chain_names_files_where_they_change() -> None:
    assert words.chain(FINDING) == "train.py:9 torch.compile(f) → g:4 → b.py:1 h"
    assert words.because(FINDING.chain)[1] == "a.py:4 g"


@pytest.mark.parametrize(
    ("applicability", "how"),
    [(Applicability.SAFE, "--fix, safe"), (Applicability.UNSAFE, "--unsafe-fixes"), (Applicability.DISPLAY, "by hand")],
)
def test_advice_says_who_can_do_it(applicability: Applicability, how: str) -> None:
    fix = Fix("wrap it", applicability, (), "")
    assert words.advice(replace(FINDING, fix=fix)) == f"wrap it   [{how}]"
    assert words.advice(replace(FINDING, help="do this", fix=fix)) == f"do this   [{how}]"
    assert words.advice(replace(FINDING, help="do this")) == "do this"


def test_json_holds_nothing_that_a_terminal_obeys() -> None:
    text = words.as_json({"a": "é \x1b \u202e \u2028"})
    assert text.isprintable()
    assert "é" in text
    assert json.loads(text) == {"a": "é \x1b \u202e \u2028"}


def test_plural() -> None:
    assert [words.plural(n, "file") for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert words.plural(2, "class", "classes") == "2 classes"


def test_a_verdict_in_one_line() -> None:
    verdict = Verification("not-run", "no inputs\nmore", "GB0170", "2.13.0", "cpu", "float32", "main")
    assert words.verified(verdict) == "cpu, torch 2.13.0: not run (GB0170), no inputs"
    assert words.verified(Verification("confirmed", "")) == "confirmed"


def test_a_fingerprint_survives_edits_above_and_blanks() -> None:
    (one,) = fingerprints([FINDING], Lines(SOURCES))
    moved = replace(FINDING, span=Span(3, 1, 3, 5))
    assert fingerprints([moved], Lines(SOURCES)) == [one]
    assert len(one) == 32


def test_fingerprints_differ() -> None:
    alike = replace(FINDING, span=Span(3, 1, 3, 5))
    other = replace(FINDING, code="TCL102")
    elsewhere = replace(FINDING, function="g")
    assert len(set(fingerprints([FINDING, alike, other, elsewhere], Lines(SOURCES)))) == 4


def test_statistics_count_by_rule() -> None:
    report = Report(findings=(FINDING, FINDING, replace(FINDING, code="TCL102", name="y")))
    text = statistics.render(report, color=False)
    assert [line.split()[:2] for line in text.splitlines()[:2]] == [["2", "TCL101"], ["1", "TCL102"]]
    counted = json.loads(statistics.render(report, color=False, as_json=True))
    assert [(row["code"], row["count"]) for row in counted] == [("TCL101", 2), ("TCL102", 1)]


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (90, "train.py:9 torch.compile(f, mode='default') → Net.forward:4 → Net.inner.<locals>.helper:2"),
        (80, "train.py:9 torch.compile(f, mode='default') → … → Net.inner.<locals>.helper:2"),
        (60, "train.py:9 torch.compile(f, mode='default') → … → helper:2"),
        (50, "train.py:9 torch.compile → … → helper:2"),
        (30, "train.py:9 torch.compile → …"),
    ],
)
def test_a_short_chain_keeps_its_beginning(room: int, expected: str) -> None:
    """Where it ends is where the finding stands."""
    steps = (
        Step("train.py", 9, "torch.compile(f, mode='default')"),
        Step("a.py", 4, "Net.forward"),
        Step("a.py", 2, "Net.inner.<locals>.helper"),
    )
    assert words.short_chain(replace(FINDING, chain=steps), room) == expected
