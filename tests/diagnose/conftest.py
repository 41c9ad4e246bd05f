"""What the tests of diagnose share: an interpreter with torch, a project to write into, and a result to report."""

from __future__ import annotations

import importlib.util
import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from diagnosis_helpers import sample

from tclint.diagnose.measurement import Diagnosis


@pytest.fixture(scope="session")
def torch_python() -> str:
    named = os.environ.get("TCLINT_TORCH_PYTHON", "")
    if named:
        return named
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    return sys.executable


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def diagnosis() -> Diagnosis:
    return sample()
