"""Small programs written to a folder and linted in this process: what the tests of the engine and the rules share."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tclint.model.finding import Finding
from tclint.model.report import Report
from tclint.run.project import Project as Opened

ROOT = Path(__file__).resolve().parent.parent

PRELUDE = """\
import copy, logging, math, os, random, time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""

TORCH = "2.13"


def lint(*paths: str | Path, cwd: Path, **overrides: object) -> Report:
    """Lint paths as the command would, with no configuration but `overrides` (underscores for dashes)."""
    given = {key.replace("_", "-"): value for key, value in overrides.items()}
    given.setdefault("target-torch", TORCH)
    given.setdefault("no-cache", True)
    names = [str(path) for path in paths] or ["."]
    return Opened.open(names, cwd=str(cwd), isolated=True, overrides=given, around=None).lint()


def tclint_command(*args: str) -> list[str]:
    """The command `tclint`, in a process that is cheap to start; `kept_tclint` says what it is not good for."""
    return [os.environ.get("TCLINT_TESTS_TCLINT", sys.executable), "-m", "tclint", *args]


class Project:
    """A folder of source files."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, sources: dict[str, str | bytes]) -> Project:
        for name, source in sources.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(source, str):
                source = textwrap.dedent(source).lstrip("\n").encode()
            path.write_bytes(source)
        return self

    def lint(self, *paths: str | Path, **overrides: object) -> Report:
        return lint(*paths, cwd=self.root, **overrides)

    def places(self, *paths: str | Path, **overrides: object) -> list[str]:
        """Every finding as `path:line CODE`."""
        return [f"{f.path}:{f.line} {f.code}" for f in self.lint(*paths, **overrides).findings]

    def marked(self, mark: str = "# here") -> list[tuple[str, int]]:
        """The lines that carry a mark, as (path, line)."""
        found = []
        for path in sorted(self.root.rglob("*.py")):
            for number, text in enumerate(path.read_text().splitlines(), 1):
                if mark in text:
                    found.append((path.relative_to(self.root).as_posix(), number))
        return found


def lines(report: Report, code: str = "") -> list[tuple[str, int]]:
    """The places of a report's findings whose code begins with `code`, each once."""
    return sorted({(f.path, f.line) for f in report.findings if f.code.startswith(code)})


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail the test, instead of hanging the suite, where something takes for ever."""

    def late(number: int, frame: object) -> None:
        pytest.fail(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def told(findings: tuple[Finding, ...] | list[Finding]) -> str:
    return "\n".join(f"{f.path}:{f.line}:{f.span.column} {f.code} {f.message}" for f in findings) or "(nothing)"


def script(name: str) -> ModuleType:
    """A file of `scripts/`, imported."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- fixtures as the judge runs them ----------------------------------------------------------------------------------


def with_caller(source: str) -> str:
    """A fixture that only has `Model` and its inputs and, below it, what the judge does with it."""
    if "\ndef get_inputs(" not in source:
        return source
    body = ["program = torch.compile(Model(*get_init_inputs()))", "program(*get_inputs())"]
    return source + "\n\ndef called_by_the_judge():\n" + textwrap.indent("\n".join(body), "    ") + "\n"
