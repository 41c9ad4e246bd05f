"""What other people's CI runs: the composite action and the workflow of this repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import workflow
from lintkit import ROOT

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


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Somebody's repository: a model with a hazard, committed."""
    source = "import torch\n\n@torch.compile\ndef step(x: torch.Tensor):\n    print(x)\n    return x\n"
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "net.py").write_text(source)
    (folder / "clean.py").write_text("import torch\n")
    for command in ("init -q", "add -A", "-c user.name=t -c user.email=t@example.org commit -qm first"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    return folder


def _commands(folder: Path) -> dict[str, str]:
    """An environment whose `tclint` is the one that is tested."""
    folder.mkdir()
    script = folder / "tclint"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tclint "$@"\n')
    script.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "GITHUB_ACTIONS": "true"}


def test_the_steps_of_the_action_in_a_repository(repository: Path, tmp_path: Path) -> None:
    """Everything but the installation, as GitHub would run it: annotations, the SARIF file, the exit code."""
    environment = _commands(tmp_path / "bin")
    given = {"install": "", "paths": "net.py clean.py", "args": "--select TCL108", "sarif": "out.sarif"}
    with pytest.raises(workflow.Failed) as failed:
        workflow.run_action(action(), given, path=ACTION.parent, cwd=repository, environment=environment)
    assert failed.value.code == 1
    [line] = [line for line in failed.value.output.splitlines() if line.startswith("::")]
    assert "file=net.py,line=5" in line
    results = json.loads((repository / "out.sarif").read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["TCL108"]
    given = {"install": "", "paths": "clean.py"}
    printed = workflow.run_action(action(), given, path=ACTION.parent, cwd=repository, environment=environment)
    assert "::error" not in printed
    with pytest.raises(workflow.Failed) as failed:
        workflow.run_action(
            action(), {"install": "", "paths": "none.py"}, path=ACTION.parent, cwd=repository, environment=environment
        )
    assert failed.value.code == 2


@pytest.mark.slow
def test_the_action_installs_itself_and_lints(repository: Path, tmp_path: Path) -> None:
    """The whole action, with an environment of its own in place of the runner's Python."""
    pytest.importorskip("pip")
    import venv

    import pip

    venv.create(tmp_path / "env")
    # Our pip: one of its own takes longer to make than all the rest.
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "pip").symlink_to(Path(pip.__file__).parent)
    [packages] = (tmp_path / "env").glob("lib/*/site-packages")
    (packages / "pip.pth").write_text(f"{tmp_path / 'pip'}\n")
    environment = {"PATH": f"{tmp_path / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": ""}
    with pytest.raises(workflow.Failed) as failed:
        workflow.run_action(action(), {"paths": "net.py"}, path=ACTION.parent, cwd=repository, environment=environment)
    if "No matching distribution" in failed.value.output:
        pytest.skip("no package index in reach")
    assert failed.value.code == 1, failed.value.output
    assert "file=net.py,line=5" in failed.value.output


def test_the_action_installs_the_repository_it_lies_in() -> None:
    assert "$ACTION/../../.." in step("Install tclint")
    assert (Path(os.path.normpath(ACTION.parent / "../../..")) / "pyproject.toml").exists()
