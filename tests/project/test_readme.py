"""README.md says what is so: its tables and its picture are current. Its commands run here and in test_guides."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lintkit import ROOT, Project, script, told
from shown import Session, commands

from tclint import output
from tclint.model.settings import Settings, check_selectors
from tclint.ruleset.loading import load_rules
from tclint.sources import configuration

README = (ROOT / "README.md").read_text(encoding="utf-8")


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.S | re.M)


def command(name: str) -> str:
    match = re.search(rf"^<!-- command: {name} -->\n```sh\n(.*)\n```$", README, re.M)
    assert match is not None
    return match[1]


@pytest.mark.parametrize("block", ["settings", "rules", "accuracy", "speed"])
def test_block_is_current(block: str) -> None:
    match = re.search(rf"<!-- {block} -->\n(.*?)\n<!-- /{block} -->", README, re.S)
    assert match is not None
    assert match[1] == script("make_readme").BLOCKS[block](), "run python scripts/make_readme.py"


def test_every_setting_is_described() -> None:
    make_readme = script("make_readme")
    assert list(make_readme.SETTINGS) == [key for key, _ in make_readme._keys(Settings())]


def test_ci_runs_the_command_of_the_readme() -> None:
    runner = (ROOT / ".ci" / "run").read_text()
    extract = re.search(r"^test_command=\$\((.*)\)$", runner, re.M)
    assert extract is not None
    done = subprocess.run(["bash", "-c", extract[1]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == command("test")
    assert 'bash -euo pipefail -c "$test_command"' in runner
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_commands_need_nothing_but_python() -> None:
    for name in ("demo", "test"):
        assert command(name).startswith("python3 -m venv .venv && .venv/bin/pip install ")
        assert "\n" not in command(name)


def test_the_picture_is_current() -> None:
    picture = script("make_picture")
    assert picture.current(), "run python scripts/make_picture.py"
    assert "(docs/assets/terminal.svg)" in README


def test_the_picture_is_well_formed_and_needs_no_net() -> None:
    text = (ROOT / "docs" / "assets" / "terminal.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert re.findall(r"https?://[^\s\"']+", text) == ["http://www.w3.org/2000/svg"]


@pytest.fixture
def benchmarks(tmp_path: Path) -> Session:
    """A project with the benchmarks and, in the place of the libraries, some small files of the demo."""
    session = Session(tmp_path)
    (session.cwd / "benchmarks").mkdir()
    for name in ("accuracy.py", "edits.py", "speed.py"):
        shutil.copy(ROOT / "benchmarks" / name, session.cwd / "benchmarks")
    for library, name in (("transformers", "language_model.py"), ("timm", "vision.py"), ("diffusers", "vlm.py")):
        (session.cwd / "path/to/site-packages" / library).mkdir(parents=True)
        shutil.copy(session.cwd / "models" / name, session.cwd / "path/to/site-packages" / library)
    shutil.copytree(session.cwd / "path/to/site-packages/timm", session.cwd / "path/to/timm")
    return session


def commands_with(word: str) -> list[str]:
    (found,) = [block for block in fenced("sh") if word in block]
    return list(commands(found))


def test_the_command_of_the_accuracy_table(benchmarks: Session) -> None:
    where = {"file": "transformers/language_model.py", "line": 22, "gid": "GB0170", "function": "forward"}
    runs = [{"lib": library, "covered": {}, "breaks": []} for library in ("diffusers", "timm")]
    truth = {"versions": {"torch": "2.13"}, "runs": [*runs, {"lib": "transformers", "covered": {}, "breaks": [where]}]}
    (benchmarks.cwd / "real-models.json.gz").write_bytes(gzip.compress(json.dumps(truth).encode()))
    for command in commands_with("benchmarks/accuracy.py"):
        code, printed = benchmarks(command)
        assert code in (0, 1), printed
    rows = json.loads((benchmarks.cwd / "benchmarks" / "accuracy.json").read_text())["rows"]
    assert [row["what"] for row in rows] == [row[0] for row in table("accuracy")]
    assert (rows[-1]["sites"], rows[-1]["found"]) == (1, 1)


@pytest.mark.slow
def test_the_command_of_the_speed_table(benchmarks: Session) -> None:
    (command,) = commands_with("benchmarks/speed.py")
    code, printed = benchmarks(command)
    assert code == 0, printed
    rows = json.loads((benchmarks.cwd / "benchmarks" / "speed.json").read_text())["rows"]
    assert {row["what"] for row in rows} >= {row[0] for row in table("speed")[:3]}, printed


def table(block: str) -> list[list[str]]:
    """The rows of a generated table."""
    match = re.search(rf"<!-- {block} -->\n(.*?)\n<!-- /{block} -->", README, re.S)
    assert match is not None
    lines = [line for line in match[1].splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_configuration_example_is_valid(tmp_path: Path) -> None:
    (example,) = fenced("toml")
    (tmp_path / "pyproject.toml").write_text(example)
    settings = configuration.load(cwd=str(tmp_path))
    check_selectors(settings, load_rules())
    assert settings.cudagraph.callables == ("*.lensnet",)


def test_suppressions_are_as_shown(project: Project) -> None:
    (example,) = fenced("python")
    branch, item, whole_file = example.splitlines()
    source = f"""\
import torch
{whole_file}

@torch.compile
def f(x: torch.Tensor, loss: torch.Tensor):
    print("step")
    {branch}
        return x
    {item}
    return x
"""
    project.write({"m.py": source})
    report = project.lint("m.py")
    assert not report.findings, told(report.findings)
    assert report.suppressed == 3
    without = re.sub(r"\s*# (tclint|noqa).*", "", source)
    assert [f.code for f in project.write({"m.py": without}).lint("m.py").findings] == ["TCL108", "TCL101", "TCL103"]


@pytest.mark.parametrize("name", ["demo", "demo_fixed", "vendor"])
def test_a_newcomer_sees_no_marks_of_ours_in_the_demo(name: str) -> None:
    """What must be said about it stands in tests/demo_expected.txt."""
    marked = [path.name for path in (ROOT / "fixtures" / name).rglob("*.py") if "# expect" in path.read_text()]
    assert marked == []


def test_formats_are_all_named() -> None:
    (sentence,) = re.findall(r"^`--output-format`:.*?\n\n", README, re.S | re.M)
    assert set(re.findall(r"`(\w[\w-]*)`", sentence)) == set(output.FORMATS)


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
