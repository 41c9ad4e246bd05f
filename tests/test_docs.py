"""The tables in docs/ are complete and current."""

from __future__ import annotations

import re

from lintkit import ROOT, script

from tclint.rule import load_rules

IDS = [*(f"R{n}" for n in range(1, 7)), *(f"H{n}" for n in range(7, 58))]


def rows() -> list[list[str]]:
    text = (ROOT / "docs" / "hazards.md").read_text(encoding="utf-8")
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if re.match(r"\| [RH]\d", line)
    ]


def test_every_hazard_has_a_row() -> None:
    assert [row[0] for row in rows()] == IDS


def test_every_hazard_is_covered_or_has_a_reason() -> None:
    for number, hazard, covered, remark in rows():
        assert hazard, number
        if covered == "-":
            assert remark, f"{number} has neither a rule nor a reason"


def test_rules_named_for_hazards_exist() -> None:
    known = {"verify", *(f"{rule.code} {rule.name}" for rule in load_rules())}
    named = {each for row in rows() for each in row[2].split(", ") if each != "-"}
    assert sorted(named - known) == []


def test_graph_breaks_page_is_current() -> None:
    page = (ROOT / "docs" / "graph-breaks.md").read_text(encoding="utf-8")
    assert page == script("make_docs").render(), "run python scripts/make_docs.py"
