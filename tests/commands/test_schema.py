"""The JSON schema of the configuration says what the loader takes, and `tclint config` what is in effect."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from lintkit import ROOT

from tclint import cli
from tclint.commands import schema
from tclint.model.errors import UserError
from tclint.model.settings import Settings
from tclint.sources import configuration, keys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

jsonschema = pytest.importorskip("jsonschema")
FILE = ROOT / "docs" / "tclint.schema.json"
TOMLS = sorted(path for path in (ROOT / "fixtures").rglob("tclint.toml") if "vendor" not in path.parts)
VALIDATOR = jsonschema.Draft7Validator(schema.schema())


def wrong(table: dict[str, Any]) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(table)]


def test_the_file_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == schema.text(), "run: tclint config --schema > docs/tclint.schema.json"


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(schema.schema())


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema.schema()


def test_every_key_is_described() -> None:
    properties = schema.schema()["properties"]
    assert set(properties) == set(keys.KEYS)
    assert all(each["description"] for each in properties.values())
    assert set(properties["verify"]["properties"]) == set(keys.VERIFY_READERS)
    assert set(properties["cudagraph"]["properties"]) == set(keys.CUDAGRAPH_READERS)


def test_defaults_hold() -> None:
    properties = schema.schema()["properties"]
    assert wrong({key: each["default"] for key, each in properties.items() if "default" in each}) == []
    assert properties["min-confidence"]["default"] == Settings().min_confidence


@pytest.mark.parametrize("path", TOMLS, ids=lambda path: path.parent.name)
def test_our_own_files_hold(path: Path) -> None:
    assert wrong(tomllib.loads(path.read_text(encoding="utf-8"))) == []


def test_the_readme_holds() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.partition("```toml\n[tool.tclint]")[2].partition("```")[0]
    assert wrong(tomllib.loads("[tool.tclint]" + block)["tool"]["tclint"]) == []


GOOD = [
    'select = ["TCL1", "ALL"]',
    'per-file-ignores = { "tests/*" = ["TCL108"] }',
    'target-torch = "2.11.0+cu128"',
    'severity = "high"',
    "jobs = 4",
    "no-cache = true",
    'packs = ["acme"]',
    '[cudagraph]\nonly-through = { "*.net" = ["call"] }',
    '[verify]\ntimeout = 30\ndevice = "cuda:1"\nfactories = { "m:C" = "m:make" }',
    "[verify]\ntimeout = 0.5",
]
BAD = [
    'selct = ["TCL1"]',
    'select = "TCL1"',
    "select = [1]",
    "jobs = -1",
    "jobs = true",
    "jobs = 1.5",
    'no-cache = "yes"',
    'severity = "hgh"',
    'assume-compiled = "maybe"',
    "target-torch = 2.13",
    'target-torch = "two"',
    'per-file-ignores = { "tests/*" = "TCL108" }',
    "cudagraph = 1",
    "[cudagraph]\ncallable = []",
    '[cudagraph]\ncallables = "x"',
    "verify = 3",
    '[verify]\ndevise = "cpu"',
    "[verify]\ntimeout = 0",
    '[verify]\ntimeout = "long"',
    "[verify]\nmemory = -1",
    "[verify]\ndevice = 0",
    '[verify]\nfactories = { "m:C" = "make" }',
    'rules = "lint"',
]


@pytest.mark.parametrize("text", [*GOOD, *BAD])
def test_schema_and_loader_agree(tmp_path: Path, text: str) -> None:
    (tmp_path / "tclint.toml").write_text(text + "\n", encoding="utf-8")
    refused = bool(wrong(tomllib.loads(text)))
    assert refused is (text in BAD)
    if refused:
        with pytest.raises(UserError, match=r"tclint\.toml"):
            configuration.load(cwd=str(tmp_path))
    else:
        configuration.load(cwd=str(tmp_path))


# --- tclint config ----------------------------------------------------------------------------------------------------


def test_config_says_where_each_value_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tclint.toml").write_text('jobs = 3\n\n[cudagraph]\ncallables = ["*.net"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["config"]) == 0
    out = capsys.readouterr().out
    assert "jobs = 3  # tclint.toml:1\n" in out
    assert "no-cache = false  # default\n" in out
    assert 'callables = ["*.net"]' in out
    # What is shown is toml, and gives the same settings again.
    shown = tomllib.loads(out)
    assert wrong(shown) == []
    assert cli.main(["config", "--output-format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["configuration"] == str(tmp_path / "tclint.toml")
    assert document["settings"]["jobs"] == {"value": 3, "source": "tclint.toml:1"}
    assert {key: each["value"] for key, each in document["settings"].items()} == shown
    assert set(document["settings"]) == set(keys.KEYS)
