"""`target-torch` decides what breaks: by release, in findings, notes and rule pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.api import lint
from tclint.model.settings import NEWEST_TORCH
from tclint.ruleset.loading import load_rules
from tclint.torch_facts import calls, facts, releases
from tclint.torch_facts.kind import Kind

PROGRAM = """
import copy, json, logging, os, random, warnings
import torch

CONFIG = {{"a": [1, 2]}}

@torch.compile
def f(x: torch.Tensor):
    return {expression}
"""


def codes(expression: str, release: str, folder: Path) -> dict[str, str]:
    (folder / "program.py").write_text(PROGRAM.format(expression=expression))
    return {finding.code: finding.message for finding in lint([folder], target_torch=release).findings}


@pytest.mark.parametrize(
    ("expression", "code", "breaks", "traced"),
    [
        ("x * random.random()", "TCL109", ("2.4", "2.11", "2.13"), ("2.14", "2.15")),
        ("x + copy.deepcopy(CONFIG)['a'][0]", "TCL110", ("2.4", "2.9", "2.11"), ("2.12", "2.15")),
        ("x + (hash('a') != 0)", "TCL110", ("2.6", "2.12"), ("2.13", "2.15")),
        ("x + int(os.getenv('ZZ', '1'))", "TCL110", ("2.4",), ("2.9", "2.15")),
        ("x.to_sparse() @ x", "TCL123", ("2.10", "2.15"), ("2.4", "2.9")),
        ("x + len(json.dumps({'a': 1}))", "TCL110", ("2.4", "2.15"), ()),
    ],
)
def test_a_call_breaks_on_the_releases_where_torch_does(
    expression: str, code: str, breaks: tuple[str, ...], traced: tuple[str, ...], tmp_path: Path
) -> None:
    assert [release for release in (*breaks, *traced) if code in codes(expression, release, tmp_path)] == list(breaks)


def test_the_finding_says_until_when(tmp_path: Path) -> None:
    assert codes("x * random.random()", "2.13", tmp_path)["TCL109"].endswith("(torch until 2.13)")
    assert "torch since 2.10" in codes("x.to_sparse() @ x", "2.13", tmp_path)["TCL123"]
    assert "torch" not in codes("x + len(json.dumps({'a': 1}))", "2.13", tmp_path)["TCL110"]


def test_the_newest_release_is_one_constant() -> None:
    assert NEWEST_TORCH == facts.NEWEST == ".".join(map(str, releases.NEWEST)) == f"2.{facts.table().releases[-1]}"
    assert f"2.{facts.table().releases[0]}" == facts.OLDEST


@pytest.mark.parametrize(("target", "word"), [("2.3", "older"), ("2.99", "newer"), ("1.13", "older")])
def test_a_target_outside_the_tables_is_noted(tmp_path: Path, target: str, word: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(expression="x"))
    (note,) = lint([tmp_path], target_torch=target).notes
    assert word in note
    assert target in note


def test_a_rule_page_names_what_changed() -> None:
    by_code = {rule.code: rule for rule in load_rules(())}
    assert "random.random" in by_code["TCL109"].changes()["until 2.13"]
    assert by_code["TCL101"].changes() == {}


def test_a_release_that_was_not_asked_is_read_off_its_neighbours() -> None:
    assert calls.verdict("random.random", "2.7") == calls.verdict("random.random", "2.8")
    assert calls.verdict("no.such.thing", "2.13") is None


def test_kinds_choose_among_the_ways_of_calling() -> None:
    told = {word: calls.verdict("copy.deepcopy", "2.13", [Kind.of(word)]) for word in ("dict", "Tf2")}
    assert {word: each.breaks for word, each in told.items() if each is not None} == {"dict": "never", "Tf2": "always"}
