"""What publishes tclint: workflows, container, recipe. Each is read, and what of it can be run here is run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lintkit import ROOT

import tclint

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

yaml = pytest.importorskip("yaml")
sys.path.insert(0, str(ROOT / "scripts"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]


def workflow(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(
        (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    )
    return loaded


def project() -> dict[str, Any]:
    document: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return document


def commands(path: Path) -> list[str]:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def test_there_are_two_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["ci", "release"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_command_is_shell_and_every_script_is_there(path: Path) -> None:
    for command in commands(path):
        assert "${{" not in command, "what comes from outside reaches a script through the environment"
        assert subprocess.run(["bash", "-n", "-c", command], check=False).returncode == 0
        for word in shlex.split(command):
            if word.startswith(("scripts/", ".ci/", "packaging/")):
                assert (ROOT / word).is_file(), word
                assert word.endswith((".py", "file")) or os.access(ROOT / word, os.X_OK), word


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_rights_are_few_and_needs_are_met(path: Path) -> None:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert document["permissions"] == {"contents": "read"}
    for name, job in document["jobs"].items():
        assert ("permissions" in job) == (name == "publish")
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(document["jobs"])
        for step in job["steps"]:
            assert "uses" not in step or re.search(r"@(v\d+|release/v\d+)$", step["uses"]), step


@pytest.mark.parametrize("name", ["ci", "release"])
def test_the_wheel_is_tried_on_every_python(name: str) -> None:
    wheel = workflow(name)["jobs"]["wheel"]
    assert wheel["strategy"]["matrix"]["python"] == PYTHONS
    told = [c.rpartition(" ")[2] for c in project()["classifiers"] if re.search(r"Python :: 3\.\d", c)]
    assert told == PYTHONS
    assert any(step.get("run") == "scripts/try_wheel.sh dist" for step in wheel["steps"])


def test_a_release_is_built_tried_attested_and_uploaded_in_this_order() -> None:
    release = workflow("release")
    assert release[True] == {"push": {"tags": ["v*"]}}  # `on`, as YAML reads it
    jobs = release["jobs"]
    assert (jobs["wheel"]["needs"], jobs["publish"]["needs"]) == ("build", "wheel")
    used = [step["uses"].partition("@")[0] for step in jobs["publish"]["steps"]]
    assert used.index("actions/attest-build-provenance") < used.index("pypa/gh-action-pypi-publish")
    assert jobs["publish"]["permissions"]["id-token"] == "write"


def test_the_ci_runs_what_must_hold() -> None:
    assert ".ci/run" in [step.get("run") for step in workflow("ci")["jobs"]["tests"]["steps"]]


# --- the tag ----------------------------------------------------------------------------------------------------------


def _tree(folder: Path, version: str, heading: str) -> Path:
    (folder / "tclint").mkdir()
    (folder / "tclint" / "__init__.py").write_text(f'"""x"""\n\n__version__ = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n")
    return folder


@pytest.mark.parametrize(
    ("tag", "heading", "says"),
    [
        ("v1.2.0", "1.2.0 (2026-11-16)", ""),
        ("v1.2.1", "1.2.0 (2026-11-16)", "the tag v1.2.1 is not v1.2.0"),
        ("1.2.0", "1.2.0 (2026-11-16)", "the tag 1.2.0 is not v1.2.0"),
        ("v1.2.0", "1.2.0 (unreleased)", "give it the date"),
        ("v1.2.0", "1.1.0 (2026-01-01)", "no section"),
    ],
)
def test_a_tag_must_be_the_version(tag: str, heading: str, says: str, tmp_path: Path) -> None:
    import check_tag

    why = check_tag.problem(tag, _tree(tmp_path, "1.2.0", heading))
    assert says in why
    assert bool(why) == bool(says)


def test_the_script_of_the_workflow_exits_with_an_error() -> None:
    import check_tag

    assert check_tag.version() == tclint.__version__
    script = [sys.executable, str(ROOT / "scripts" / "check_tag.py"), "v0.0.0"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("check_tag: the tag v0.0.0 is not v")


# --- container and recipe ---------------------------------------------------------------------------------------------


def _instructions() -> list[tuple[str, str]]:
    text = (ROOT / "packaging" / "Containerfile").read_text(encoding="utf-8")
    lines = [line.partition(" ") for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in lines]


def test_the_image_runs_tclint_as_nobody_special() -> None:
    last = dict(_instructions())
    assert last["ENTRYPOINT"] == '["tclint"]'
    assert last["WORKDIR"] == "/src"
    assert last["USER"] == "lint"


@pytest.mark.slow
def test_what_the_image_copies_is_all_a_build_needs(tmp_path: Path) -> None:
    """The build stage without a container: the same copies, the same command, into another folder."""
    [build] = [rest for name, rest in _instructions() if name == "RUN" and rest.startswith("pip wheel")]
    for name, rest in _instructions():
        if name == "COPY" and not rest.startswith("--from"):
            *wanted, target = rest.split()
            for each in wanted:
                source, place = ROOT / each, tmp_path / target
                if source.is_dir():
                    shutil.copytree(source, place, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(source, place / each)
    command = build.replace("pip", f"{sys.executable} -m pip", 1).replace("/wheels", str(tmp_path / "out"))
    done = subprocess.run(
        f"{command} --no-deps --no-build-isolation --quiet",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if "Could not find a version" in done.stderr:
        pytest.skip("no package index in reach")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == [
        f"torch_compile_lint-{tclint.__version__}-py3-none-any.whl"
    ]


def test_the_recipe_asks_for_what_the_project_asks_for() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    plain = [need.partition(";")[0].replace(">=", " >=") for need in project()["dependencies"]]
    assert recipe["requirements"]["run"] == [f"python {project()['requires-python']}", *plain]
    scripts = [f"{name} = {target}" for name, target in project()["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    assert recipe["package"]["name"] == project()["name"]
    assert not re.search(r"\d+\.\d+\.\d+", str(recipe)), "the version stands in one place"


# --- two packages in one folder ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("theirs", ["", None], ids=["their file in place of ours", "removed together with theirs"])
def test_a_mix_with_the_other_tclint_is_told_in_one_line(theirs: str | None, tmp_path: Path) -> None:
    """That package has an empty tclint/__init__.py; to uninstall it takes the file away."""
    package = tmp_path / "tclint"
    shutil.copytree(ROOT / "tclint", package, ignore=shutil.ignore_patterns("__pycache__", "*.json"), symlinks=True)
    (package / "__init__.py").unlink()
    if theirs is not None:
        (package / "__init__.py").write_text(theirs)
    script = "import sys; sys.path.insert(0, sys.argv[1]); from tclint.cli import run; run()"
    done = subprocess.run(
        [sys.executable, "-S", "-c", script, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert str(package) in done.stderr
    assert done.stderr.endswith("pip uninstall tclint torch-compile-lint, then pip install torch-compile-lint\n")
