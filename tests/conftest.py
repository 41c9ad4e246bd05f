"""Shared fixtures."""

from __future__ import annotations

import importlib.util
import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from lintkit import Project

# What the tests of one folder share stands beside them; `pythonpath` in pyproject.toml has this folder only.
sys.path += sorted(str(folder) for folder in Path(__file__).parent.iterdir() if folder.is_dir())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty folder to write a small program into."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def torch_python() -> str:
    """An interpreter that has torch: this one, or the one named by TCLINT_TORCH_PYTHON."""
    named = os.environ.get("TCLINT_TORCH_PYTHON", "")
    if named:
        return named
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    return sys.executable


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file into an empty folder."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write
