"""Shared fixtures."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import kept_bytecode
import kept_compiler
import kept_process
import kept_tclint
import kept_torch
import pytest
from hypothesis import HealthCheck, settings
from lintkit import Project

# How long an example takes says how busy the machine is, not whether it holds.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# What the tests of one folder share stands beside them; `pythonpath` in pyproject.toml has this folder only.
sys.path += sorted(str(folder) for folder in Path(__file__).parent.iterdir() if folder.is_dir())


def pytest_configure(config: pytest.Config) -> None:
    """What compiles C++ here does it in a folder of this run: another run's killed compiler leaves half a file there.

    Inductor asks the compiler what this processor can do by building a library for each answer, in every process
    anew: twenty seconds. The processor's own word is enough for tests. Headers that are compiled once would lie in a
    folder that all runs share; so the compiler of the tests keeps them, and every library it has built, for this run.

    Bytecode is written: the tests start hundreds of processes, and each would compile tclint anew. pip writes none for
    whole packages in environments that the tests make: little of it is used.

    One thread each: threads of one process wait for each other by turning, which on busy cores costs more than they do.
    """
    if hasattr(config, "workerinput"):
        # It has the environment of the process that started it.
        mine = config.workerinput
        kept_bytecode.written(config, int(mine["workerid"].removeprefix("gw")), mine["workercount"])
        return
    folder = tempfile.mkdtemp(prefix="tclint-tests-inductor-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "1"
    os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ |= {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compiler = kept_compiler.made(Path(folder))
    if compiler and "CXX" not in os.environ:
        os.environ["CXX"] = compiler
    if sys.platform == "linux":
        os.environ["TCLINT_TESTS_PYTHON"] = kept_torch.made(Path(folder, "torch"))
        os.environ["TCLINT_TESTS_TCLINT"] = kept_tclint.made(Path(folder, "tclint"))
        for kept in ("torch", "tclint"):
            config.add_cleanup(partial(kept_process.ended, Path(folder, kept)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every worker begins with its share of what takes long: at the end only short tests are left to be handed about.

    `--dist worksteal` gives each worker one stretch of the list, and takes from the end of the longest one what is left.
    """
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    long = [item for item in items if {"slow", "dynamo"} & set(item.keywords)]
    short = [item for item in items if not {"slow", "dynamo"} & set(item.keywords)]
    stretches = [
        part[len(part) * n // workers : len(part) * (n + 1) // workers]
        for n in range(workers)
        for part in (long, short)
    ]
    items[:] = [item for stretch in stretches for item in stretch]


def pytest_collection_finish() -> None:
    """What is loaded now stays: no collection of garbage needs to look at torch and at ten thousand tests again."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers() -> int | None:
    """For `-n auto` one more than there are processors: part of the tests wait, for a child, a clock or a limit."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    mine = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return len(mine) + 1


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty folder to write a small program into."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def torch_python(own_python: str) -> str:
    """An interpreter that has torch; where it is this one, the process that has loaded it is forked, not started."""
    return os.environ.get("TCLINT_TESTS_PYTHON", own_python) if own_python == sys.executable else own_python


@pytest.fixture(scope="session")
def own_python() -> str:
    """An interpreter that has torch: this one, or the one named by TCLINT_TORCH_PYTHON."""
    named = os.environ.get("TCLINT_TORCH_PYTHON", "")
    if named:
        return named
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    return sys.executable


@pytest.fixture(scope="session", autouse=True)
def no_server_is_left() -> Iterator[None]:
    """Processes that have torch loaded and were kept for the next test end with the last one."""
    yield
    if "tclint.verify.process" in sys.modules:
        sys.modules["tclint.verify.process"].stop_servers()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file into an empty folder."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write
