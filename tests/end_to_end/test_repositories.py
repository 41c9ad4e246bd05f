"""The benchmark over public repositories: its verdicts are whole, and it counts as it says."""

from __future__ import annotations

import sys
from collections import Counter

from lintkit import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import repositories


def finding(fingerprint: str, assumed: bool = False) -> object:
    return repositories.Linted("r", "TCL101", "a.py", 1, "m", assumed, fingerprint)


def test_every_verdict_is_whole() -> None:
    verdicts = repositories.read(repositories.VERDICTS)
    assert verdicts
    assert {row["repository"] for row in verdicts.values()} <= set(repositories.PINNED)


def test_precision_counts_what_was_read_and_the_assumed_apart() -> None:
    verdicts = {"a": {"verdict": "true"}, "b": {"verdict": "assumed-true"}, "c": {"verdict": "false"}}
    counts = repositories.tally([finding("a"), finding("b", True), finding("c"), finding("new")], verdicts)
    assert counts.all == Counter({"true": 1, "assumed-true": 1, "false": 1, "unread": 1})
    assert repositories.precision(counts.all) == "66.7 %"
    assert repositories.precision(counts.known) == "50.0 %"
    assert repositories.precision(Counter(unread=2)) == "-"


def test_a_finding_without_a_verdict_and_one_that_is_gone_are_told() -> None:
    row = {"repository": "sam2", "path": "a.py", "code": "TCL101", "verdict": "true", "why": "because"}
    run = repositories.Run([finding("new")], [6, 8], 1, 0, ["b.py:3"])
    lines = [*repositories.told({"sam2": run}, {"gone": row})]
    assert "no verdict: new r/a.py:1 TCL101 m" in lines
    assert "no longer found: gone sam2/a.py TCL101: because" in lines
    assert "sam2: b.py:3 calls torch.compile and is not listed" in lines
    assert "lines of output for a finding: median 7, most 8" in lines


def test_a_fingerprint_knows_a_line_and_not_its_number() -> None:
    first = {"code": "TCL101", "path": "a.py", "line": 1, "function": "f", "message": "m"}
    moved = {**first, "line": 2}
    one = repositories.fingerprints([first], lambda _: "if x:")
    assert one == repositories.fingerprints([moved], lambda _: "# above\n    if x:")
    assert one != repositories.fingerprints([first], lambda _: "if y:")
    assert len(set(repositories.fingerprints([first, first], lambda _: "if x:"))) == 2
