"""What the tests of verify share: an interpreter with torch, findings, and a project to write files into."""

from __future__ import annotations

import importlib.util
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tclint.verify.process import stop_servers


@pytest.fixture(scope="session")
def torch_python() -> str:
    """An interpreter that has torch: this one, or the one named by TCLINT_TORCH_PYTHON."""
    named = os.environ.get("TCLINT_TORCH_PYTHON", "")
    if named:
        return named
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    return sys.executable


@pytest.fixture(scope="session", autouse=True)
def no_server_is_left() -> Iterator[None]:
    """Tests keep the processes that have torch loaded (`keep=True`): loading it is most of their time."""
    yield
    stop_servers()


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write
