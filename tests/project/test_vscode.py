"""The extension for VS Code: what it names is there, and its client library speaks with the real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from lintkit import ROOT

import tclint

FOLDER = ROOT / "editors" / "vscode"
SOURCE = (FOLDER / "src" / "extension.ts").read_text(encoding="utf-8")


def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    return loaded


def test_the_version_is_the_package_s() -> None:
    assert manifest()["version"] == tclint.__version__


def test_every_command_is_registered_and_every_setting_is_read() -> None:
    contributed = manifest()["contributes"]
    commands = {each["command"] for each in contributed["commands"]}
    assert set(re.findall(r'registerCommand\("([\w.]+)"', SOURCE)) == commands
    settings = {name.removeprefix("tclint.") for name in contributed["configuration"]["properties"]}
    # The client reads the level of the trace by itself.
    assert set(re.findall(r'\.get(?:<\w+>)?\("(\w+)"', SOURCE)) == settings - {"trace.server"}
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in settings if f"`tclint.{name}`" not in page] == []


def test_what_could_run_code_is_not_taken_from_untrusted_folders() -> None:
    restricted = manifest()["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert set(restricted) == {"tclint.path", "tclint.args", "tclint.allowRules"}
    assert "workspace.isTrusted && settings" in SOURCE


def test_it_speaks_of_what_the_server_has() -> None:
    pytest.importorskip("pygls", reason="the extra `lsp` is not installed")
    from tclint.server.language import FIX_ALL

    assert f'kind: "{FIX_ALL}"' in SOURCE
    assert FIX_ALL in (FOLDER / "README.md").read_text(encoding="utf-8")
    assert 'copyFile(new URL("docs/tclint.schema.json", root)' in (FOLDER / "build.mjs").read_text(encoding="utf-8")
    assert manifest()["contributes"]["tomlValidation"] == [{"fileMatch": "tclint.toml", "url": "./tclint.schema.json"}]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A copy with the packages of npm's that somebody has installed: 180 MB are not fetched by a test."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    packages = Path(os.environ.get("TCLINT_NODE_MODULES") or FOLDER / "node_modules")
    if not packages.is_dir():
        pytest.skip("the packages of npm's are not here: `npm install` in editors/vscode, or $TCLINT_NODE_MODULES")
    copy = tmp_path / "editors" / "vscode"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))
    (copy / "node_modules").symlink_to(packages.resolve())
    for name in ("tclint/__init__.py", "docs/tclint.schema.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    run(copy, "node", "build.mjs")
    return copy


def run(folder: Path, *command: str, **more: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_client_library_and_the_real_server(built: Path, tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="the extra `lsp` is not installed")
    script = tmp_path / "tclint.sh"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tclint "$@"\n')
    script.chmod(0o755)
    printed = run(built, "node", "--test", "test/", TCLINT=str(script), PYTHONPATH=str(ROOT))
    assert re.search(r"^# pass 2$", printed, re.M), printed


@pytest.mark.slow
def test_types_hold_and_a_vsix_is_packed(built: Path) -> None:
    tools = built / "node_modules" / ".bin"
    run(built, str(tools / "tsc"), "--noEmit")
    flags = ("--no-dependencies", "--skip-license", "--allow-missing-repository")
    run(built, str(tools / "vsce"), "package", *flags, "--out", "dist/")
    with zipfile.ZipFile(built / "dist" / f"tclint-{tclint.__version__}.vsix") as packed:
        names = set(packed.namelist())
    assert {"extension/dist/extension.js", "extension/tclint.schema.json", "extension/package.json"} <= names
    assert not [name for name in names if "node_modules" in name or name.endswith(".ts")]
