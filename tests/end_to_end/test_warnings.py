"""No warning, on any Python: neither from tclint's own files nor about the files it reads."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from lintkit import ROOT

# What Python itself warns about when it compiles this: tclint reads it, and keeps silent.
ODD = r"""
import re
import torch


@torch.compile
def f(x: torch.Tensor):
    name = "\d" + '\.'
    if name is "a":
        pass
    assert (x, "always true")
    if x.sum() > 0:
        return x
    return re.sub("\w", "", name), -x
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["odd.py"],
        ["odd.py", "--output-format", "sarif"],
        ["odd.py", "--statistics"],
        ["rule", "--all"],
        ["config"],
        ["--help"],
        ["odd.py", "--diff", "--unsafe-fixes"],
        ["odd.py", "--fix", "--unsafe-fixes"],
        ["odd.py", "--add-ignore=because"],
    ],
    ids=" ".join,
)
def test_commands_warn_of_nothing(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tclint", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "Warning" not in done.stderr
    assert "TCL903" not in done.stdout, "a warning was taken for a syntax error"


def test_the_sources_compile_without_a_warning() -> None:
    folders = ("tclint", "rules", "scripts", "tests", "benchmarks")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
