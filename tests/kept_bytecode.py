"""In a fresh clone no bytecode is there: each worker writes its share, and reads what the others wrote.

Otherwise all of them, which collect the same files in the same order at the same time, compile all of tclint and
rewrite the assertions of all tests: ten seconds of a processor each. Who comes to a file before it is written compiles
it, as ever.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import py_compile
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

ROOT = Path(__file__).resolve().parent.parent


def written(config: pytest.Config, number: int, workers: int) -> None:
    """Write the share of one of these workers, as far as it is not there."""
    sources = sorted([*(ROOT / "tclint").rglob("*.py"), *(ROOT / "tclint" / "rules").glob("*.py")])
    for path in sources[number::workers]:
        kept = Path(importlib.util.cache_from_source(str(path)))
        if not kept.exists() or kept.stat().st_mtime < path.stat().st_mtime:
            with contextlib.suppress(py_compile.PyCompileError, OSError):
                py_compile.compile(str(path), doraise=True)
    for path in sorted((ROOT / "tests").rglob("test_*.py"))[number::workers]:
        # pytest has no door for this one; where it builds its house anew, tests are rewritten as they are imported.
        with contextlib.suppress(AttributeError, TypeError, KeyError, SyntaxError, OSError):
            _rewrite(config, path)


def _rewrite(config: pytest.Config, path: Path) -> None:
    folder = rewrite.get_cache_dir(path)
    os.makedirs(folder, exist_ok=True)
    kept = folder / (path.name[:-3] + rewrite.PYC_TAIL)
    if rewrite._read_pyc(path, kept) is None:
        version, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, version, kept)  # type: ignore[arg-type]
