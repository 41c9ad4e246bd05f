"""Every format over everything that the fixtures make tclint say, held against the schemas their readers publish."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from judge import FIXTURES
from lintkit import TORCH
from schemas import restated

from tclint.model.finding import Verification
from tclint.model.report import Report
from tclint.output import renderer
from tclint.ruleset.loading import load_rules
from tclint.run import engine
from tclint.sources import configuration
from tclint.sources.files import discover

jsonschema = pytest.importorskip("jsonschema")

SCHEMAS = Path(__file__).parent / "schemas"
VERIFIED = Verification(
    "confirmed", 'Data-dependent branching: "x" <1>\n', "GB0170", "2.13.0", "cpu", "float32", "main"
)
CONFIGURED: dict[str, object] = {
    "require-compile-wrapper": "safe_compile",
    "cudagraph": {"callables": ["*.lensnet"], "clone-helpers": ["run_lensnet"]},
}


@cache
def report() -> Report:
    """Every finding of two files with hazards and two with fixes of each rule, half of them with a verdict."""
    overrides = {"select": ["ALL"], "min-confidence": "low", "target-torch": TORCH, "no-cache": True, **CONFIGURED}
    folder = str(FIXTURES)
    settings = configuration.load(["."], cwd=folder, isolated=True, overrides=overrides)
    files = [f for f in discover(["."], settings, folder) if not Path(f.path).name.startswith(("good_", "near_miss_"))]
    beside = Counter[Path]()
    for file in list(files):
        beside[Path(file.path).parent] += 1
        if beside[Path(file.path).parent] > 2:
            files.remove(file)
    found = engine.lint(files, settings)
    return replace(
        found, findings=tuple(replace(f, verified=VERIFIED) if n % 2 else f for n, f in enumerate(found.findings))
    )


def source(path: str) -> str:
    return (FIXTURES / path).read_text(encoding="utf-8")


@cache
def rendered(name: str, full: bool = True) -> str:
    what = report() if full else Report(findings=())
    return renderer(name)(what, color=False, width=100, sources=source, rules=load_rules())


def published(name: str) -> Any:
    """A schema that is in no package: from this folder or from the one that TCLINT_SCHEMAS names."""
    for folder in (SCHEMAS, Path(os.environ.get("TCLINT_SCHEMAS") or SCHEMAS)):
        if (folder / name).is_file():
            return json.loads((folder / name).read_text(encoding="utf-8"))
    pytest.skip(f"the published {name} is not here: see tests/output/schemas/README.md")


def test_the_fixtures_say_enough() -> None:
    codes = {f.code for f in report().findings}
    # These need settings or a release that the fixtures name one by one; this run has one for all.
    assert {rule.code for rule in load_rules()} - codes <= {"TCL312", "TCL313", "TCL510"}
    assert sum(f.fix is not None and bool(f.fix.edits) for f in report().findings) > 100


either = pytest.mark.parametrize("full", [True, False], ids=["everything", "nothing"])


@either
def test_sarif(full: bool) -> None:
    schema = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    document = json.loads(rendered("sarif", full))
    errors = sorted(jsonschema.Draft7Validator(schema).iter_errors(document), key=str)
    assert [f"{'/'.join(map(str, e.path))}: {e.message[:200]}" for e in errors] == []


def test_sarif_and_json_carry_the_verdict() -> None:
    results = json.loads(rendered("sarif"))["runs"][0]["results"]
    findings = json.loads(rendered("json"))["findings"]
    for number, (result, finding) in enumerate(zip(results, findings, strict=True)):
        told = result["properties"].get("verified")
        assert told == finding["verified"]
        assert (told is not None) is bool(number % 2)
        if told is not None:
            assert (told["outcome"], told["graph_break"], told["torch"]) == ("confirmed", "GB0170", "2.13.0")
            assert "verified: confirmed: Data-dependent branching" in result["message"]["text"]


@either
def test_junit(full: bool) -> None:
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd"))
    assert [f"{e.path}: {e.reason}" for e in schema.iter_errors(rendered("junit", full))] == []


@either
def test_rdjson(full: bool) -> None:
    jsonschema.validate(json.loads(rendered("rdjson", full)), restated.RDJSON)
    one = jsonschema.validators.validator_for(restated.DIAGNOSTIC)(restated.DIAGNOSTIC)
    one.check_schema(restated.DIAGNOSTIC)  # `validate` would do it again for every line
    for line in rendered("rdjsonl", full).splitlines():
        one.validate(json.loads(line))


@either
def test_rdjson_as_published(full: bool) -> None:
    jsonschema.Draft4Validator(published("rdjson.json")).validate(json.loads(rendered("rdjson", full)))


@either
def test_gitlab(full: bool) -> None:
    document = json.loads(rendered("gitlab", full))
    jsonschema.validate(document, restated.GITLAB)
    prints = [item["fingerprint"] for item in document]
    assert len(prints) == len(set(prints))


@either
def test_gitlab_as_published(full: bool) -> None:
    schema = published("gitlab.json")
    for item in json.loads(rendered("gitlab", full)):
        jsonschema.validate(item, schema)


# --- reviewdog's rules, beyond the schema -------------------------------------------------------------------------------


def offset(data: bytes, position: dict[str, int]) -> int:
    """Where a position is: lines and columns from 1, columns in bytes."""
    lines = data.splitlines(keepends=True)
    return sum(map(len, lines[: position["line"] - 1])) + position["column"] - 1


def test_suggestions_are_ranges_that_reviewdog_takes() -> None:
    """Inside the file, not backwards, and touching the diagnostic's lines or next to them in one hunk of review."""
    seen = 0
    for diagnostic in json.loads(rendered("rdjson"))["diagnostics"]:
        data = source(diagnostic["location"]["path"]).encode()
        for place in (diagnostic["location"], *diagnostic.get("suggestions", ())):
            start, end = place["range"]["start"], place["range"]["end"]
            assert (start["line"], start["column"]) <= (end["line"], end["column"])
            assert 0 <= offset(data, start) <= offset(data, end) <= len(data)
            # A column in the middle of a character would be one counted in characters.
            data[: offset(data, start)].decode("utf-8")
            data[offset(data, start) : offset(data, end)].decode("utf-8")
        seen += len(diagnostic.get("suggestions", ()))
    assert seen > 100


def test_suggestions_applied_as_reviewdog_applies_them_are_the_fix() -> None:
    """Each by itself, as bytes: what `--fix` would make of that one finding."""
    from tclint.fixes import apply

    diagnostics = json.loads(rendered("rdjson"))["diagnostics"]
    for finding, diagnostic in zip(report().findings, diagnostics, strict=True):
        for suggestion in diagnostic.get("suggestions", ()):
            data = source(finding.path).encode()
            start, end = (offset(data, suggestion["range"][side]) for side in ("start", "end"))
            assert finding.fix is not None
            assert data[:start] + suggestion["text"].encode() + data[end:] == apply.apply_edits(data, finding.fix.edits)
