"""The registry of graph breaks: what torch reports for the programs of `scripts/ask/seen.txt`, tclint says on that line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lintkit import ROOT, lint, script

seen = script("ask/seen")
PROGRAMS = seen.programs((ROOT / "scripts/ask/seen.txt").read_text(encoding="utf-8"))
STORED = json.loads((ROOT / "scripts/ask/seen.json").read_text(encoding="utf-8"))
TRIED = "no program was found that gets there: those that were tried are traced, or break for another reason"
REGISTRY = json.loads((ROOT / "tclint/torch_facts/graph_breaks.json").read_text(encoding="utf-8"))


def _name(id_: str) -> str:
    """The heading of the program that shows an id: with the release, where it is not the one that the tests ask."""
    _, _, *other = STORED["seen"][id_]
    return f"{id_} torch {other[0]}" if other else id_


def test_every_line_that_torch_names_is_told_and_no_look_alike(tmp_path: Path) -> None:
    paths = {name: name.replace(" ", "_").replace("-", "_").replace(".", "_") + ".py" for name in PROGRAMS}
    told, sure, breaks = set(), set(), []
    for release in sorted({seen.release(name) for name in PROGRAMS}):
        folder = tmp_path / release
        folder.mkdir()
        for name, source in PROGRAMS.items():
            if seen.release(name) == release:
                (folder / paths[name]).write_text(source, encoding="utf-8")
        report = lint(cwd=folder, assume_compiled="all", min_confidence="low", target_torch=release)
        told |= {(f.path, f.code, n) for f in report.findings for n in range(f.line, f.span.end_line + 1)}
        likely = [f for f in report.findings if f.confidence.value != "low"]
        sure |= {(f.path, f.code) for f in likely}
        breaks += [f for f in likely if f.effect.value == "graph-break"]
    missed = [id_ for id_, (line, code, *_) in STORED["seen"].items() if (paths[_name(id_)], code, line) not in told]
    assert missed == []
    # Whether a package is there, source does not show.
    unsure = {id_ for id_, (_, code, *_) in STORED["seen"].items() if (paths[_name(id_)], code) not in sure}
    assert unsure <= {"GB0069"}
    alike = {path: name for name, path in paths.items() if "look-alike" in name}
    assert [(alike[f.path], f.code) for f in breaks if f.path in alike] == []


def test_every_program_has_an_answer_and_every_id_is_of_the_registry() -> None:
    assert {name for name in PROGRAMS if " " not in name.partition(" torch ")[0]} == {
        _name(id_) for id_ in STORED["seen"]
    }
    tried = {name.split()[0] for name in PROGRAMS if " tried" in name}
    reasons = [id_ for ids in STORED["reasons"].values() for id_ in ids]
    assert set(STORED["reasons"][TRIED]) <= tried <= set(reasons)
    assert len(reasons) == len(set(reasons))
    assert not set(reasons) & set(STORED["seen"])
    for id_ in (*reasons, *STORED["seen"]):
        assert REGISTRY[id_]["visibility"] == "static", id_


@pytest.mark.dynamo
def test_torch_says_so() -> None:
    own = {name: source for name, source in PROGRAMS.items() if seen.release(name) == seen.HOME}
    sample = {name: source for place, (name, source) in enumerate(own.items()) if place % 8 == 0}
    told = _asked(sample)
    for name, answer in told.items():
        id_, _, role = name.partition(" ")
        if role.startswith("tried"):
            assert seen.line_of(id_, answer) is None, name
        elif role:
            assert answer == [], name
        else:
            assert seen.line_of(name, answer) == STORED["seen"][name][0], name


def _asked(sample: dict[str, str]) -> dict[str, list[list[Any]]]:
    """In a process of its own: its children are forked, and would wait for ever for threads that other tests have started."""
    code = "import json, sys, seen; print(json.dumps(seen.ask(json.load(sys.stdin))))"
    paths = os.pathsep.join([str(ROOT / "scripts/ask"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(sample),
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, list[list[Any]]] = json.loads(done.stdout.strip().splitlines()[-1])
    return told
