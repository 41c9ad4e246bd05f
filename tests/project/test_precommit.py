"""The hooks as people run them: pre-commit installs the repository and calls it with the staged files."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lintkit import ROOT

pytestmark = pytest.mark.slow

TRAIN = """\
import torch

from model import Net
from ops import scale

step = torch.compile(scale)
net = torch.compile(Net())


@torch.compile
def old(x: torch.Tensor):
    print("a hazard in a file that is not staged")
    return x
"""
MODEL = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x
"""
# No compile site here, and no module: only the whole project knows that this is compiled.
OPS = """\
import copy

import torch


def scale(x: torch.Tensor):
    y = copy.deepcopy(x.argmax(0))
    if y.sum() > 0:
        return y
    return -y
"""
CONFIG = """\
repos:
  - repo: {repo}
    rev: v0
    hooks:
      - id: tclint
        args: [--force-exclude, --output-format, concise]
      - id: tclint-fix
        args: [--force-exclude, --output-format, concise]
"""


def git(folder: Path, *args: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as a git repository with a tag: what a user's configuration names."""
    if importlib.util.find_spec("pre_commit") is None:
        pytest.skip("pre-commit is not installed")
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: which files are the project's is not known")
    folder = tmp_path_factory.mktemp("hooks")
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    wanted = ("tclint/", "rules/", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
    for name in listed:
        if name.startswith(wanted) and (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-qm", "hooks")
    git(folder, "tag", "v0")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, hooks: Path) -> Path:
    """Where pre-commit keeps the environment that it makes: once for all tests."""
    folder = tmp_path_factory.mktemp("home")
    project = tmp_path_factory.mktemp("install")
    (project / ".pre-commit-config.yaml").write_text(CONFIG.format(repo=hooks))
    git(project, "init", "-q")
    done = run(project, folder, "install-hooks")
    if done.returncode:
        text = done.stdout + done.stderr
        assert "pip" in text, text
        pytest.skip(f"pre-commit cannot install the hooks here, without a package index: {text.strip()[-300:]}")
    return folder


def run(project: Path, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE")}
    env |= {"PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never"}
    command = [sys.executable, "-m", "pre_commit", *args]
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture
def project(tmp_path: Path, hooks: Path) -> Path:
    for name, text in (
        ("train.py", TRAIN),
        ("model.py", MODEL),
        (".pre-commit-config.yaml", CONFIG.format(repo=hooks)),
    ):
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "ops.py").write_text(OPS)
    git(tmp_path, "add", "ops.py")
    return tmp_path


def test_staged_files_are_reported_and_the_project_is_linked(project: Path, home: Path) -> None:
    done = run(project, home, "run", "tclint")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "ops.py:7:" in done.stdout
    assert "TCL116" in done.stdout
    assert "ops.py:8:" in done.stdout
    assert "train.py:12" not in done.stdout
    assert (project / "ops.py").read_text() == OPS


def test_a_clean_commit_passes(project: Path, home: Path) -> None:
    (project / "ops.py").write_text("import torch\n\n\ndef scale(x: torch.Tensor):\n    return x * 2\n")
    git(project, "add", "ops.py")
    done = run(project, home, "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 2


def test_the_fixing_hook_changes_the_staged_file_only(project: Path, home: Path) -> None:
    done = run(project, home, "run", "tclint-fix")
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout, done.stdout + done.stderr
    fixed = OPS.removeprefix("import copy\n\n").replace("copy.deepcopy(x.argmax(0))", "x.argmax(0).clone()")
    assert (project / "ops.py").read_text() == fixed
    assert git(project, "diff", "--name-only").split() == ["ops.py"]
    assert "ops.py:6:" in done.stdout
    assert "TCL116" not in done.stdout


def test_all_files(project: Path, home: Path) -> None:
    done = run(project, home, "run", "tclint", "--all-files")
    assert "train.py:12:" in done.stdout
