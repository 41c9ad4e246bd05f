"""Runs that are ended at any moment, disks that are full, files that change meanwhile: nothing lost, nothing half-written."""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lintkit import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="real processes and their signals")

HAZARD = """\
import torch
from torch import nn


class Net{n}(nn.Module):
    def forward(self, x):
        print("{text}", x)
        if x.sum() > 0:
            x = x + 1
        return x


net{n} = torch.compile(Net{n}())
"""
FILES = 8


def command(*args: str) -> list[str]:
    return [sys.executable, "-P", "-m", "tclint", "--isolated", *args]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def start(folder: Path, *args: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    # A session of its own, so that whoever is left can be found.
    return subprocess.Popen(
        command(*args), cwd=folder, env=environment(), stdout=pipe, stderr=pipe, start_new_session=True
    )


def finished(folder: Path, *args: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command(*args), cwd=folder, env=environment(), capture_output=True, timeout=120, check=False)


def write(folder: Path, text: str = "low") -> dict[str, bytes]:
    for n in range(FILES):
        (folder / f"m{n}.py").write_text(HAZARD.format(n=n, text=text))
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def left_running(session: int) -> list[int]:
    """The processes of a session that are still there, after a moment to end in."""
    for _ in range(100):
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) == session and fields[0] != "Z":
                    found.append(int(entry.name))
        if not found:
            return []
        time.sleep(0.1)
    return found


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What `--fix` makes of the files when nobody disturbs it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    before = write(folder)
    finished(folder, "--no-cache", "--fix", "--unsafe-fixes", ".")
    after = contents(folder)
    assert all(after[name] != before[name] for name in before)
    return after


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_fix_that_is_killed_leaves_each_file_old_or_new(number: int, tmp_path: Path, fixed: dict[str, bytes]) -> None:
    rng = random.Random(number)
    before = write(tmp_path)
    began = time.monotonic()
    finished(tmp_path, "--no-cache", "-j2", ".")
    usual = time.monotonic() - began
    for _ in range(2):
        write(tmp_path)
        run = start(tmp_path, "--no-cache", "-j2", "--fix", "--unsafe-fixes", ".")
        time.sleep(rng.uniform(0.2, 1.6) * usual)
        run.send_signal(number)
        _, err = run.communicate(timeout=60)
        assert b"Traceback" not in err
        assert run.returncode in (0, 1, -number, 128 + number)
        assert left_running(run.pid) == []
        for name, data in contents(tmp_path).items():
            if name.startswith(".tclint-"):
                assert number == signal.SIGKILL, "only a kill leaves an unfinished file"
                (tmp_path / name).unlink()
            else:
                assert data in (before[name], fixed[name])
    finished(tmp_path, "--no-cache", "--fix", "--unsafe-fixes", ".")
    assert contents(tmp_path) == fixed


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes in /proc")
def test_a_run_that_is_killed_leaves_a_cache_that_is_right(tmp_path: Path) -> None:
    rng = random.Random(3)
    write(tmp_path)
    began = time.monotonic()
    expected = finished(tmp_path, "--no-cache", "--output-format", "concise", ".")
    usual = time.monotonic() - began
    assert expected.returncode == 1
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        run = start(tmp_path, "-j2", "--output-format", "concise", ".")
        time.sleep(rng.uniform(0.3, 1.2) * usual)
        run.send_signal(number)
        run.communicate(timeout=60)
        assert left_running(run.pid) == []
        done = finished(tmp_path, "--output-format", "concise", ".")
        assert (done.returncode, done.stdout) == (1, expected.stdout)


def test_two_fixes_at_once(tmp_path: Path, fixed: dict[str, bytes]) -> None:
    write(tmp_path)
    runs = [start(tmp_path, "--no-cache", "--fix", "--unsafe-fixes", ".") for _ in range(2)]
    for run in runs:
        _, err = run.communicate(timeout=120)
        assert b"Traceback" not in err
    assert contents(tmp_path) == fixed


def test_what_the_user_saves_meanwhile_is_never_lost(tmp_path: Path) -> None:
    """Somebody saves one file after the other while `--fix` runs: each holds the edit, fixed or not."""
    for attempt in range(2):
        write(tmp_path, "old")
        run = start(tmp_path, "--no-cache", "--fix", "--unsafe-fixes", ".")
        edited = 0
        while run.poll() is None:
            (tmp_path / f"m{edited % FILES}.py").write_text(HAZARD.format(n=edited % FILES, text=f"edit {edited}"))
            edited += 1
            time.sleep(0.01)
        run.communicate()
        for n in range(FILES):
            text = (tmp_path / f"m{n}.py").read_text()
            ast.parse(text)
            last = max((k for k in range(edited) if k % FILES == n), default=-1)
            assert f'"edit {last}"' in text if last >= 0 else '"old"' in text, (attempt, n)


def test_a_file_that_vanishes_during_a_fix(tmp_path: Path) -> None:
    write(tmp_path)
    run = start(tmp_path, "--no-cache", "--fix", "--unsafe-fixes", ".")
    time.sleep(0.2)
    for n in range(0, FILES, 2):
        (tmp_path / f"m{n}.py").unlink()
    _, err = run.communicate(timeout=120)
    assert b"Traceback" not in err
    assert b"internal error" not in err
    assert not any((tmp_path / f"m{n}.py").exists() for n in range(0, FILES, 2))


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_full_disk(tmp_path: Path) -> None:
    """No file may grow beyond a few bytes, as on a disk without room: the sources stay as they are."""
    import resource

    before = write(tmp_path)

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = subprocess.run(
        command("--fix", "--unsafe-fixes", "--output-format", "concise", "."),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=120,
        check=False,
        preexec_fn=limited,
    )
    assert done.returncode == 2
    assert b"cannot be written: File too large" in done.stderr
    assert b"Traceback" not in done.stderr
    assert contents(tmp_path) == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere")
def test_a_tree_that_cannot_be_written(tmp_path: Path) -> None:
    before = write(tmp_path)
    tmp_path.chmod(0o555)
    try:
        done = finished(tmp_path, "--fix", "--unsafe-fixes", ".")
    finally:
        tmp_path.chmod(0o755)
    assert done.returncode == 2
    assert b"cannot be written" in done.stderr
    assert contents(tmp_path) == before
