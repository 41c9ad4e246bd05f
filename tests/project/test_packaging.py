"""What is shipped: the wheel holds everything, and works in an environment that has nothing else, and no torch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from lintkit import ROOT

import tclint

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, without what earlier builds left behind."""
    copy = tmp_path_factory.mktemp("checkout") / "tclint"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "tests", "docs", "site")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=left_out)
    return copy


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the setuptools that is here; the first command of the README builds in isolation, with one it asks for."""
    out = tmp_path_factory.mktemp("wheel")
    done = run(*WHEEL, str(out), str(checkout))
    if done.returncode and re.search(
        r"No matching distribution|Could not find a version|No module named pip", done.stderr
    ):
        pytest.skip("no package index in reach: setuptools for the build cannot be had")
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a fresh environment with the wheel and what it depends on, made as the workflow makes it.

    There the command has told its version, and has found the hazards of the demo and none in its twin.
    """
    work = tmp_path_factory.mktemp("installed")
    done = run("bash", str(ROOT / "scripts" / "try_wheel.sh"), str(wheel.parent), str(work))
    if done.returncode and re.search(r"No matching distribution|Could not find a version", done.stderr):
        pytest.skip("no package index in reach: what tclint depends on cannot be had")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"tclint {tclint.__version__}\n")
    return work / "env" / ("Scripts" if os.name == "nt" else "bin")


WHEEL = (sys.executable, *"-m pip wheel --no-deps --no-build-isolation --quiet --wheel-dir".split())


def run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Without bytecode of whole packages, in the environments that builders make for themselves too: little of it is used."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"NO_COLOR": "1", "PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=600)


def test_version_is_stated_once() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in document["project"]
    assert document["project"]["dynamic"] == ["version"]
    assert document["tool"]["setuptools"]["dynamic"] == {"version": {"attr": "tclint.__version__"}}
    assert f"## {tclint.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_command_goes_by_the_name_of_the_distribution_too() -> None:
    """Another package on the index is called tclint: `uvx torch-compile-lint` and `pipx run torch-compile-lint` mean ours."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == "torch-compile-lint"
    assert project["scripts"] == dict.fromkeys(("tclint", "torch-compile-lint"), "tclint.cli:run")


def test_every_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    there = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in [*(ROOT / "tclint").rglob("__init__.py"), ROOT / "tclint" / "rules" / "__init__.py"]
    }
    assert set(listed) == there


def test_the_wheel_holds_every_module(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tclint").rglob("*.py")}
    sources |= {f"tclint/rules/{path.name}" for path in (ROOT / "rules").glob("*.py")}
    assert sources - names == set()
    data = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tclint").rglob("*.json")}
    assert "tclint/torch_facts/table.json" in data
    assert ({"tclint/py.typed"} | data) - names == set()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"tclint"}


def test_the_source_distribution_builds_the_same_wheel(checkout: Path, wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("build")
    done = run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", str(tmp_path), str(checkout))
    assert done.returncode == 0, done.stdout + done.stderr
    (packed,) = tmp_path.glob("*.tar.gz")
    done = run(*WHEEL, str(tmp_path), str(packed))
    assert done.returncode == 0, done.stdout + done.stderr
    (again,) = tmp_path.glob("*.whl")
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


IMPORTS = """
import sys
import tclint, tclint.api, tclint.verify
from tclint.api import Call, Fix, Place, Rule
assert callable(tclint.example) and "torch" not in sys.modules
for name in ("safe_compile", "cudagraph"):
    try:
        getattr(tclint, name)
    except ModuleNotFoundError as error:
        assert error.name == "torch", error
    else:
        assert "torch" in sys.modules
"""


def test_the_wheel_has_the_version_of_the_package(wheel: Path) -> None:
    assert wheel.name.startswith(f"torch_compile_lint-{tclint.__version__}-")


def test_the_public_names_can_be_imported(installed: Path, tmp_path: Path) -> None:
    done = run(str(installed / "python"), "-c", IMPORTS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


OWN_RULE = '''
from tclint.api import Call, Rule

class Clock(Rule):
    """A clock."""

    code, name = "ACME001", "clock"
    calls = owns = ("time.*",)

    def on_call(self, event: Call):
        yield self.finding(event, "a clock")
'''


def own_rule(tclint: list[str], folder: Path) -> None:
    """Lint a file with a rule of one's own."""
    (folder / "lint").mkdir()
    (folder / "lint" / "clock.py").write_text(OWN_RULE)
    code = "import time, torch\n\n@torch.compile\ndef f(x):\n    time.time()\n    return x\n"
    (folder / "m.py").write_text(code)
    (folder / "tclint.toml").write_text('rules = ["lint"]\n')
    command = (*tclint, "m.py", "--allow-rules", "--no-cache", "--output-format", "concise")
    done = run(*command, cwd=folder)
    assert "m.py:5:5: ACME001" in done.stdout, done.stdout + done.stderr


def test_the_installed_command_takes_rules_of_ones_own(installed: Path, tmp_path: Path) -> None:
    own_rule([str(installed / "tclint")], tmp_path)


def test_an_editable_install(tmp_path: Path) -> None:
    """The one that the tests run from: the README has them installed so."""
    if not any(name.startswith("__editable___torch_compile_lint") for name in sys.modules):
        pytest.skip("tclint is not installed as editable")
    where = run(sys.executable, "-c", "import tclint.rules; print(tclint.rules.__file__)", cwd=tmp_path)
    assert where.stdout.strip().startswith(str(ROOT)), where.stdout + where.stderr
    own_rule([sys.executable, "-m", "tclint"], tmp_path)


def test_the_command_works_without_torch(installed: Path, tmp_path: Path) -> None:
    assert run(str(installed / "python"), "-c", "import torch", cwd=tmp_path).returncode != 0
    listed = run(str(installed / "tclint"), "rule", cwd=tmp_path)
    assert "TCL101" in listed.stdout, listed.stderr


def test_the_first_command_of_the_readme(checkout: Path, wheel: Path) -> None:
    del wheel  # only where it could be built is there an index to install from
    text = (checkout / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^<!-- command: demo -->\n```sh\n(.*)\n```$", text, re.M)
    assert command is not None
    done = run("bash", "-c", command[1], cwd=checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "TCL102 tokenizer-in-forward" in done.stdout


def test_the_commands_of_the_readme_are_posix() -> None:
    assert shutil.which("bash") is None or run("bash", "-n", str(ROOT / ".ci" / "run")).returncode == 0
