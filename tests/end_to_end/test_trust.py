"""A repository that one has just cloned: linting it, asking for its rules and opening it in an editor run none of its code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lintkit import ROOT, Project

from tclint import api
from tclint.model.errors import ConfigError
from tclint.ruleset import packs
from tclint.sources import configuration, files, trust

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # tclint: ignore[ACME9] a rule of ours
            return x
        return -x


torch.compile(Model())(torch.ones(3))
"""


@pytest.fixture
def hostile(project: Project) -> Project:
    """Every place from which a repository's code was run, or could be: each leaves a mark."""
    mark = f"import os; open(os.path.join({str(project.root)!r}, 'RAN-' + __name__), 'w').close()\n"
    rule = mark + "from tclint.api import Rule\n"
    shadows = {f"{name}.py": mark for name in ("click", "ast", "typing", "libcst", "pathspec", "tomllib", "hashlib")}
    project.write(
        {
            "m.py": MODEL,
            "pyproject.toml": '[tool.tclint]\nrules = ["lint"]\nselect = ["TCL", "EVIL"]\nextend-select = ["EVIL001"]\n',
            "lint/evil.py": rule,
            "evil_pack.py": rule,
            "evil-1.0.egg-info/entry_points.txt": "[tclint.rules]\nevil = evil_pack\n",
            "evil-1.0.egg-info/PKG-INFO": "Name: evil\nVersion: 1.0\n",
            "sitecustomize_.py": mark,
            **shadows,
        }
    )
    return project


def marks(project: Project) -> list[str]:
    return sorted(path.name for path in project.root.rglob("RAN-*"))


def tclint(cwd: Path, *args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k not in ("TCLINT_ALLOW_RULES", "PYTHONSAFEPATH")}
    return subprocess.run(
        [sys.executable, "-m", "tclint", *args],
        cwd=cwd,
        env={**clean, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(cwd / "no-config"), **env},
        capture_output=True,
        text=True,
        input=stdin,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("args", "env"),
    [
        (["."], {}),
        (["-j2", "."], {}),
        (["m.py", "--no-cache", "--output-format", "sarif"], {}),
        (["-", "--stdin-filename", "m.py"], {}),
        (["--diff", "m.py"], {}),
        (["--config", "pyproject.toml", "m.py"], {}),
        (["rule", "TCL101"], {}),
        (["config"], {}),
        (["clean"], {}),
        ([], {"_TCLINT_COMPLETE": "bash_complete", "COMP_WORDS": "tclint --select T", "COMP_CWORD": "2"}),
    ],
)
def test_nothing_of_the_repository_runs(hostile: Project, args: list[str], env: dict[str, str]) -> None:
    before = {path.name for path in hostile.root.iterdir()}
    done = tclint(hostile.root, *args, stdin=MODEL, **env)
    assert marks(hostile) == []
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in hostile.root.iterdir()} - before <= {".tclint_cache"}
    if not env and args[0] != "clean":
        assert done.stderr.count("not loaded: the rules of pyproject.toml:2 (lint)") == 1, done.stderr
        assert "--allow-rules" in done.stderr


def test_the_findings_stay_and_so_does_the_exit_code(hostile: Project) -> None:
    done = tclint(hostile.root, "m.py", "--output-format", "concise")
    # The comment may speak of a rule that was not loaded: it is not told to be of no use.
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["TCL101[data-dependent-branch]"]
    assert done.returncode == 1


def test_a_pack_on_the_path_that_lies_in_the_repository(hostile: Project) -> None:
    path = os.pathsep.join([str(ROOT), str(hostile.root / "sub")])
    (hostile.root / "sub").mkdir()
    for name in ("evil_pack.py", "evil-1.0.egg-info"):
        (hostile.root / name).rename(hostile.root / "sub" / name)
    done = tclint(hostile.root, "m.py", PYTHONPATH=path)
    assert marks(hostile) == []
    assert "the packs evil (evil 1.0) of this folder" in done.stderr
    tclint(hostile.root, "m.py", "--allow-rules", PYTHONPATH=path)
    assert "RAN-evil_pack" in marks(hostile)


def test_a_pack_that_was_installed_is_loaded_from_an_environment_inside_the_project(tmp_path: Path) -> None:
    inside = Path(sys.prefix) / "lib" / "python3.11" / "site-packages"
    assert not trust.brought_along(str(inside), [str(Path(sys.prefix).parent)])
    assert trust.brought_along(str(tmp_path / "venv" / "site-packages"), [str(tmp_path)])
    assert packs.brought_along([str(tmp_path)]) == ()


@pytest.mark.parametrize("how", ["option", "variable", "list"])
def test_who_says_so_gets_the_rules(project: Project, how: str) -> None:
    rule = (
        "from tclint.api import Rule\n\n\nclass NoSleep(Rule):\n    'No sleep.'\n\n    code, name = 'ACME001', 'no-sleep'\n"
        "    calls = ('time.sleep',)\n\n    def on_call(self, event):\n        yield self.finding(event, 'sleep')\n"
    )
    code = "import time\nimport torch\n\n\n@torch.compile\ndef f(x):\n    time.sleep(1)\n    return x\n\n\nf(torch.ones(1))\n"
    repo = Project(project.root / "repo")
    repo.write({"m.py": code, "tclint.toml": 'rules = ["lint"]\n', "lint/sleep.py": rule})
    project.write({"config/tclint/trusted.toml": f'folders = ["{project.root}/repo"]\n'})
    env = {"variable": {"TCLINT_ALLOW_RULES": "1"}, "list": {"XDG_CONFIG_HOME": str(project.root / "config")}}
    args = ["m.py", "--output-format", "concise", *(["--allow-rules"] if how == "option" else [])]
    done = tclint(repo.root, *args, **env.get(how, {}))
    assert "ACME001" in done.stdout, done.stderr
    assert "not loaded" not in done.stderr
    nobody = tclint(repo.root, "m.py", "--output-format", "concise", TCLINT_ALLOW_RULES="0")
    assert "ACME001" not in nobody.stdout


def test_a_program_that_lints_is_told_in_the_notes(hostile: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TCLINT_ALLOW_RULES", raising=False)
    report = api.lint(["m.py"], cwd=hostile.root)
    assert [note.partition(":")[0] for note in report.notes] == ["not loaded"]
    assert marks(hostile) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("folders = 3\n", "and nothing else"),
        ("jobs = 2\n", "and nothing else"),
        ('folders = ["x"]\n', "absolute"),
        ("[", "toml"),
    ],
)
def test_a_wrong_list_of_trusted_folders(
    project: Project, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    project.write({"tclint/trusted.toml": text})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project.root))
    with pytest.raises(ConfigError, match=says):
        trust.trusted_folders()


# --- configuration of somebody else ------------------------------------------------------------------------------------


def owned(monkeypatch: pytest.MonkeyPatch, owners: dict[Path, int], user: int = 1000) -> None:
    known = {str(path): owner for path, owner in owners.items()}
    monkeypatch.setattr(trust, "_owner", lambda path: known.get(str(path), user))
    monkeypatch.setattr(trust, "_user", lambda: user)


def test_configuration_above_a_folder_of_somebody_else_is_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"tclint.toml": "jobs = 7\n", "shared/mine/m.py": "x = 1\n", "shared/.git/HEAD": ""})
    mine = str(project.root / "shared" / "mine")
    assert configuration.load(cwd=mine).jobs == 7
    assert files.project_root(mine) == str(project.root / "shared")
    owned(monkeypatch, {project.root / "shared": 1001})
    assert configuration.load(cwd=mine).jobs == 0
    assert files.project_root(mine) is None


def test_a_configuration_that_somebody_put_into_a_folder_of_everybody_is_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"tclint.toml": "jobs = 7\n", "mine/m.py": "x = 1\n"})
    mine = str(project.root / "mine")
    owned(monkeypatch, {project.root: 0, project.root / "tclint.toml": 1001})
    assert configuration.load(cwd=mine).jobs == 0
    owned(monkeypatch, {project.root: 0, project.root / "tclint.toml": 0})
    assert configuration.load(cwd=mine).jobs == 7
    # A checkout that a container mounted belongs to its owner as a whole.
    owned(monkeypatch, {project.root: 5, project.root / "tclint.toml": 5, project.root / "mine": 5})
    assert configuration.load(cwd=mine).jobs == 7


def test_configuration_above_the_home_is_not_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"tclint.toml": "jobs = 7\n", "home/code/m.py": "x = 1\n"})
    code = str(project.root / "home" / "code")
    assert configuration.load(cwd=code).jobs == 7
    monkeypatch.setenv("HOME", str(project.root / "home"))
    assert configuration.load(cwd=code).jobs == 0
