"""Programs that nobody wrote, through every door of tclint: lint, fix, notebook, server, cache, several processes.

    python scripts/fuzz.py --seed 1 --count 100000      # as long as you like; a failing program is kept in --keep
    python scripts/fuzz.py --seed 1 --seconds 3600
    python scripts/fuzz.py --seed 1 --count 1000000 --wide   # small programs, 100 to a project: 35 a second

Half of the programs are made by a small grammar, half are real files of installed libraries with some of their lines, words
and bytes changed. What must hold for each of them: the run ends within 20 s; nothing of tclint fails (TCL905, TCL906);
the same result twice, from one process and two, with a cache and without; after a fix the file parses, and a second fix
changes nothing; a notebook holds, and an editor's document gives what the file gives.

One by one (without `--wide`), a program is linted, linted again, fixed twice, and by turns a notebook or an editor's document;
then eight of them are a project. With `--wide` a hundred go through each door at once, so that what a run costs by itself
(starting processes, reading settings and rules) is paid once for all of them.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fuzz_programs import parses, programs, small_programs

from tclint.model.report import Report
from tclint.run.project import Project
from tclint.server.session import Document, Session

LIMIT: Final = 20
"""Seconds that one program may take."""
MANY: Final = 600
"""Seconds that a hundred may take through all doors: usually three, and many times that where ten others want the processor."""
MEMORY: Final = 2000
"""Megabytes that the process may ever have taken."""


# --- what must hold -------------------------------------------------------------------------------------------------


class Broken(Exception):
    """Something that must hold does not."""


class TooLong(BaseException):
    """A program took longer than it may."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


_SETTINGS: Final = {"min-confidence": "low", "select": ["ALL"], "target-torch": "2.13"}


@dataclass
class Fuzzer:
    """Puts programs through all doors, in a folder of its own."""

    folder: Path
    seen: int = 0
    fixed: int = 0
    findings: int = 0
    failures: list[str] = field(default_factory=list)
    keep: Path | None = None
    slowest: float = 0.0
    """Seconds that the slowest program, or batch of them, took."""
    _turn: int = 0

    def __post_init__(self) -> None:
        self._found()

    def _found(self) -> None:
        """An empty project, with the settings for those who read them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{key} = {json.dumps(value)}\n" for key, value in _SETTINGS.items()]
        (self.folder / "tclint.toml").write_text("".join(lines))

    def feed(self, batch: Sequence[bytes]) -> None:
        """Some programs: each by itself, then all of them as one project."""
        for number, data in enumerate(batch):
            self.seen += 1
            self._guarded(f"program {self.seen}", [data], functools.partial(self._alone, data, number), LIMIT)
        self._guarded(f"programs up to {self.seen}", batch, functools.partial(self._runs, batch), LIMIT * len(batch))
        self._bounded()

    def _bounded(self) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        if peak > MEMORY:
            self.failures.append(f"memory: {peak} MB")

    def _guarded(self, name: str, batch: Sequence[bytes], check: Callable[[], object], limit: int) -> None:
        started = time.monotonic()
        try:
            with within(limit):
                check()
        except TooLong:
            self._failed(name, batch, "took too long")
        except Broken as broken:
            self._failed(name, batch, str(broken))
        except Exception:
            self._failed(name, batch, traceback.format_exc())
        self.slowest = max(self.slowest, time.monotonic() - started)

    def _failed(self, name: str, batch: Sequence[bytes], why: str) -> None:
        self.failures.append(f"{name}: {why}")
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            for number, data in enumerate(batch):
                (self.keep / f"{name.replace(' ', '_')}_{number}.py").write_bytes(data)
            (self.keep / f"{name.replace(' ', '_')}.txt").write_text(why)

    def _alone(self, data: bytes, number: int) -> None:
        project = self._project(data)
        report = project.lint()
        _sound(report)
        self.findings += len(report.findings)
        _same("linted again", report, self._project(data).lint())
        self._fix(project, data)
        if number % 4 == 0:
            self._notebook(data)
        elif number % 4 == 1:
            self._document(data, report)

    def _project(self, data: bytes, name: str = "m.py") -> Project:
        overrides = {**_SETTINGS, "no-cache": True, "jobs": 1}
        return Project.open([name], cwd=str(self.folder), isolated=True, overrides=overrides, text=data, around=None)

    def _fix(self, project: Project, data: bytes) -> None:
        done = project.fix(unsafe=True, write=False)
        _sound(done.report)
        (after,) = done.fixed.contents.values() or (data,)
        if after == data:
            return
        self.fixed += 1
        if not parses(after.decode("utf-8", "replace")):
            raise Broken("a fix broke the file")
        again = self._project(after).fix(unsafe=True, write=False)
        if again.fixed.contents:
            raise Broken("a second fix changes the file again")

    def _notebook(self, data: bytes) -> None:
        project = self._project(_notebook(data), "m.ipynb")
        _sound(project.lint())
        for after in project.fix(unsafe=True, write=False).fixed.contents.values():
            json.loads(after)

    def _document(self, data: bytes, report: Report) -> None:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return
        (linted,) = Session().lint([Document(str(self.folder / "m.py"), text)])
        known = {(f.line, f.code) for f in report.findings}
        if new := {(f.line, f.code) for f in linted.findings if f.code.startswith("TCL9")} - known:
            raise Broken(f"the server found something else: {sorted(new)}")

    def _runs(self, batch: Sequence[bytes]) -> Report:
        """The programs as one project: by one process and two, without a cache, with a new one, with one that knows them."""
        for number, data in enumerate(batch):
            (self.folder / f"m{number}.py").write_bytes(data)
        shutil.rmtree(self.folder / ".tclint_cache", ignore_errors=True)
        report = self._all(**{"no-cache": True}).lint()
        _sound(report)
        _same("two processes and a new cache", report, self._all(jobs=2).lint())
        if not (self.folder / ".tclint_cache" / "runs").is_dir():
            raise Broken("no cache was kept")
        _same("the cache", report, self._all().lint())
        return report

    def feed_wide(self, batch: Sequence[bytes]) -> None:
        """Many small programs through all doors at once; those that fail are found by sending each of them alone."""
        before = len(self.failures)
        self.seen += len(batch)
        self._guarded(f"programs up to {self.seen}", batch, functools.partial(self._wide, batch), MANY)
        if len(self.failures) > before and len(batch) > 1:
            for number, data in enumerate(batch):
                name = f"program {self.seen - len(batch) + number + 1}"
                self._guarded(name, [data], functools.partial(self._wide, [data]), LIMIT)
        self._bounded()

    def _wide(self, batch: Sequence[bytes]) -> None:
        shutil.rmtree(self.folder)
        self._found()
        report = self._runs(batch)
        self.findings += len(report.findings)
        self._fix_all(batch)
        self._documents(batch, report)
        self._books(batch)

    def _fix_all(self, batch: Sequence[bytes]) -> None:
        """The fixes of a project, written, and then there is nothing left to fix."""
        done = self._all().fix(unsafe=True)
        _sound(done.report)
        if done.failed:
            raise Broken(f"a fix was not written: {done.failed}")
        for path, after in done.fixed.contents.items():
            self.fixed += 1
            if not parses(after.decode()):
                raise Broken(f"a fix broke {path}")
            if (self.folder / path).read_bytes() != after:
                raise Broken(f"the fix of {path} is not what was written")
        for number, data in enumerate(batch):
            name = f"m{number}.py"
            if name not in done.fixed.contents and (self.folder / name).read_bytes() != data:
                raise Broken(f"{name} was changed, and nobody said so")
        if again := self._all().fix(unsafe=True, write=False).fixed.contents:
            raise Broken(f"a second fix changes {sorted(again)} again")

    def _documents(self, batch: Sequence[bytes], report: Report) -> None:
        """The programs open in an editor, which has not saved them: on disk they are fixed by now."""
        folder = str(self.folder)
        opened = [Document(os.path.join(folder, f"m{n}.py"), data.decode()) for n, data in enumerate(batch)]
        session = Session()
        for linted in session.lint(opened):
            own = tuple(f for f in report.findings if f.path == linted.shown)
            if linted.findings != own:
                odd = sorted({f"{f.path}:{f.line} {f.code}" for f in {*own} ^ {*linted.findings}})
                raise Broken(f"the server found something else: {odd[:5]}")

    def _books(self, batch: Sequence[bytes]) -> None:
        shutil.rmtree(self.folder)
        self._found()
        for number, data in enumerate(batch):
            (self.folder / f"m{number}.ipynb").write_bytes(_notebook(data))
        _sound(self._all().lint())
        # A fix costs as much as the door itself; that of the programs as they are is asked of each of them.
        self._turn += 1
        if self._turn % 2:
            done = self._all().fix(unsafe=True, write=False)
            _sound(done.report)
            for after in done.fixed.contents.values():
                json.loads(after)

    def _all(self, **how: object) -> Project:
        overrides = {**_SETTINGS, "jobs": 1, **how}
        return Project.open(["."], cwd=str(self.folder), isolated=True, overrides=overrides)


def _notebook(data: bytes) -> bytes:
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    cells = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines[i : i + 20]}
        for i in range(0, len(lines), 20)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _sound(report: Report) -> None:
    for finding in report.findings:
        if finding.code in ("TCL905", "TCL906"):
            raise Broken(f"{finding.path}:{finding.line} {finding.code} {finding.message}")


def _same(name: str, one: Report, other: Report) -> None:
    if one.findings != other.findings:
        odd = {f"{f.path}:{f.line} {f.code}" for f in {*one.findings} ^ {*other.findings}}
        raise Broken(f"{name}: not the same findings: {sorted(odd)[:5]}")


def run(
    seed: int,
    folder: Path,
    *,
    count: int = 0,
    seconds: float = 0.0,
    size: int = 8,
    keep: Path | None = None,
    wide: bool = False,
) -> Fuzzer:
    """Feed programs until a number of them or a time is reached."""
    fuzzer = Fuzzer(folder, keep=keep)
    made, size = (small_programs(seed), 100) if wide else (programs(seed), size)
    feed = fuzzer.feed_wide if wide else fuzzer.feed
    end = time.monotonic() + seconds
    while (not count or fuzzer.seen < count) and (not seconds or time.monotonic() < end):
        feed([next(made) for _ in range(size)])
    return fuzzer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tclint-fuzz-") as folder:
        started = time.monotonic()
        done = run(given.seed, Path(folder), count=given.count, seconds=given.seconds, keep=given.keep, wide=given.wide)
        took = time.monotonic() - started
    for failure in done.failures:
        print(failure)
    print(
        f"seed {given.seed}: {done.seen} programs, {done.findings} findings, {done.fixed} fixed, "
        f"{len(done.failures)} failures, {took:.0f} s, the slowest {'100' if given.wide else '8'} {done.slowest:.0f} s"
    )
    return 1 if done.failures else 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.exit(main())
