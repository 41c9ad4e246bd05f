"""What other people's CI runs: the composite action and the workflow of this repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from shown import ROOT, Session

yaml = pytest.importorskip("yaml")
ACTION = ROOT / ".github" / "actions" / "tclint" / "action.yml"


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return loaded


def step(name: str) -> str:
    (script,) = [each["run"] for each in action()["runs"]["steps"] if each["name"] == name]
    return str(script)


def test_every_input_is_used() -> None:
    steps = json.dumps(action()["runs"]["steps"])
    for name, facts in action()["inputs"].items():
        assert f"inputs.{name}" in steps
        assert facts["description"]


def test_inputs_reach_the_shell_through_the_environment_only() -> None:
    """An expression inside a script is how an input of a pull request becomes a command."""
    for each in action()["runs"]["steps"]:
        assert "${{" not in each["run"]
        assert subprocess.run(["bash", "-n", "-c", each["run"]], check=False).returncode == 0


@pytest.mark.slow
def test_the_action_annotates_and_writes_sarif(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.environment |= {"PATHS": "models/vlm.py train.py", "ARGS": "--select TCL102", "SARIF": "out.sarif"}
    code, printed = session("set -eo pipefail\n" + step("Run tclint"))
    assert code == 1, printed
    assert printed.startswith("::error")
    assert "TCL102" in printed
    results = json.loads((session.cwd / "out.sarif").read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["TCL102"]


def test_the_action_installs_the_repository_it_lies_in() -> None:
    assert "$ACTION/../../.." in step("Install tclint")
    assert (Path(os.path.normpath(ACTION.parent / "../../..")) / "pyproject.toml").exists()
