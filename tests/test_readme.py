"""README.md says what is so: its commands run, its tables and example output are current."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lintkit import ROOT, Project, script, told

from tclint import config, output
from tclint.rule import load_rules

README = (ROOT / "README.md").read_text(encoding="utf-8")


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.S | re.M)


def command(name: str) -> str:
    match = re.search(rf"^<!-- command: {name} -->\n```sh\n(.*)\n```$", README, re.M)
    assert match is not None
    return match[1]


@pytest.mark.parametrize("block", ["demo", "settings", "rules", "accuracy", "speed"])
def test_block_is_current(block: str) -> None:
    match = re.search(rf"<!-- {block} -->\n(.*?)\n<!-- /{block} -->", README, re.S)
    assert match is not None
    assert match[1] == script("make_readme").BLOCKS[block](), "run python scripts/make_readme.py"


def test_every_setting_is_described() -> None:
    make_readme = script("make_readme")
    assert list(make_readme.SETTINGS) == [key for key, _ in make_readme._keys(config.Settings())]


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


def test_usage_runs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "fixtures" / "demo", tmp_path / "demo")
    usage = next(block for block in fenced("sh") if block.startswith("tclint"))
    for line in usage.splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "tclint"
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path / "demo",
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode in (0, 1), f"{line}: {done.stderr}"
        assert not done.stderr, f"{line}: {done.stderr}"
        assert done.stdout, line


def test_configuration_example_is_valid(tmp_path: Path) -> None:
    (example,) = fenced("toml")
    (tmp_path / "pyproject.toml").write_text(example)
    settings = config.load(cwd=str(tmp_path))
    config.check_selectors(settings, load_rules())
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


def test_formats_are_all_named() -> None:
    (sentence,) = re.findall(r"^`--output-format`:.*?\n\n", README, re.S | re.M)
    assert set(re.findall(r"`(\w[\w-]*)`", sentence)) == set(output.FORMATS)


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
