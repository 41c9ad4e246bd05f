"""docs/guides/equivalents.md: every command that it names is one, with options and names that exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from lintkit import ROOT, Project, tclint_command

from tclint.commands.index import load_command, split_command
from tclint.diagnose.plan import NAMES
from tclint.ruleset.loading import load_rules

PAGE = ROOT / "docs" / "guides" / "equivalents.md"
COMMANDS = sorted(set(re.findall(r"`(tclint [^`]+)`", PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_is_one(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, rest = split_command(shlex.split(command)[1:])
    context = load_command(name).make_context(name, rest)
    assert not context.args


@pytest.mark.parametrize(
    "command", [c for c in COMMANDS if split_command(shlex.split(c)[1:])[0] == "lint" and "--verify" not in c]
)
def test_the_command_runs(command: str, tmp_path: Path) -> None:
    """On the demo. `--verify` is run by the pages about it, and what `diagnose` measures by tests/diagnose."""
    shutil.copytree(ROOT / "fixtures" / "demo", tmp_path / "demo")
    line = tclint_command(*shlex.split(command)[1:])
    done = subprocess.run(line, cwd=tmp_path / "demo", capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert "hazard" in done.stdout


def test_every_diagnostic_has_its_row() -> None:
    told = set(re.findall(r"--(?:only|skip) (\w+)", " ".join(COMMANDS)))
    assert told == set(NAMES) - {"numerics"}  # neither project measures it


def test_the_audits_find_what_they_are_for(project: Project) -> None:
    """The demo is MegaContext's controller in small."""
    codes = {code for command in COMMANDS for code in re.findall(r"TCL\d+", command)}
    assert codes <= {rule.code for rule in load_rules()}
    demo = ROOT / "fixtures" / "demo"
    report = project.lint(demo, select=["TCL301"])
    assert report.findings
