"""Features of the language: what the programs of the asking show, tclint says, on every release that was asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lintkit import ROOT, lint, script

from tclint.torch_facts import features

asking = script("ask/language")
PROGRAMS = {program.name: program for program in asking.programs((ROOT / "scripts/ask/language.txt").read_text())}


def test_every_feature_has_its_program() -> None:
    assert set(PROGRAMS) == set(features.table().features)
    assert {name: (each.words, each.help) for name, each in PROGRAMS.items()} == {
        name: (each.words, each.help) for name, each in features.table().features.items()
    }


@pytest.mark.parametrize("release", [f"2.{release}" for release in features.table().releases])
def test_what_breaks_is_told_and_nothing_else(release: str, tmp_path: Path) -> None:
    names = {}
    asked = _worth_asking(release)
    for place, program in enumerate(asked.values()):
        names[f"program_{place}.py"] = program.name
        (tmp_path / f"program_{place}.py").write_text(program.source)
    report = lint(cwd=tmp_path, target_torch=release, assume_compiled="all", min_confidence="low")
    breaks = [f for f in report.findings if f.code.startswith("TCL1")]
    told = {names[f.path] for f in breaks if f.confidence.value != "low"}
    doubted = {names[f.path] for f in breaks} - told
    broken = {name for name in asked if features.broken(name, release)}
    assert sorted(told - broken) == []
    # Whether a package is there, source does not show.
    unseen = {"import of a package that is not there"}
    assert sorted(broken - told - (unseen & doubted)) == []


def _worth_asking(release: str) -> dict[str, Any]:
    """Every program on the oldest and the newest release; between them those that did otherwise on the release before."""
    known = [f"2.{each}" for each in features.table().releases]
    if release in (known[0], known[-1]):
        return PROGRAMS
    before = known[known.index(release) - 1]
    return {n: p for n, p in PROGRAMS.items() if bool(features.broken(n, release)) != bool(features.broken(n, before))}


def test_what_was_not_asked_is_as_on_the_nearest_release() -> None:
    assert features.broken("raise again", "2.5") is not None
    assert features.broken("raise again", "2.8") is None
    assert features.broken("nothing of the kind", "2.4") is None


def test_the_span_of_a_feature() -> None:
    known = features.table().features
    assert features.span(known["raise again"]) == "until 2.6"
    assert features.span(known["class in a function"]) == ""


def test_answers_of_several_releases_make_the_table(tmp_path: Path) -> None:
    for release, broken in (("2.4.1", True), ("2.15.0", False)):
        answers = {"torch": release, "breaks": dict.fromkeys(PROGRAMS, broken)}
        (tmp_path / f"{release}.json").write_text(json.dumps(answers))
    made = json.loads(asking.write(sorted(tmp_path.glob("*.json")), {"releases": [], "features": {}}))
    assert made["releases"] == ["2.4", "2.15"]
    assert set(made["features"]) == set(PROGRAMS)
    assert {where for _, where, *_ in made["features"].values()} == {"4"}


def test_what_no_answer_speaks_of_stays(tmp_path: Path) -> None:
    table = {"releases": ["2.4", "2.15"], "features": {"raise again": ["…", "4"]}}
    (tmp_path / "new.json").write_text(json.dumps({"torch": "2.9.1", "breaks": {"raise from": True}}))
    made = json.loads(asking.write([tmp_path / "new.json"], table))
    assert made["releases"] == ["2.4", "2.9", "2.15"]
    assert made["features"]["raise again"][1] == "4,9", "a release that was not asked is as its neighbour"
    assert made["features"]["raise from"][1] == "4,9,15"


def test_what_to_do_is_data_of_the_feature() -> None:
    """`### name | words || help`: told where a finding has nothing better, and kept where the table is written anew."""
    told = PROGRAMS["collective with async_op"]
    assert told.words == "a collective with `async_op=True`"
    assert "the plain collective is traced" in told.help
    feature = features.broken("collective with async_op", "2.13.0")
    assert feature is not None
    assert feature.help == told.help
    assert not PROGRAMS["isinstance of a union"].help
    assert "A | B" in PROGRAMS["isinstance of a union"].words
