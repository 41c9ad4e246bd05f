"""Programs that nobody wrote, through every door of tclint: lint, fix, notebook, server, cache, several processes.

    python scripts/fuzz.py --seed 1 --count 100000      # as long as you like; a failing program is kept in --keep
    python scripts/fuzz.py --seed 1 --seconds 3600
    python scripts/fuzz.py --seed 1 --count 1000000 --wide   # a hundred programs to a project, linted once: two hundred a second

Half of the programs are made by a small grammar, half are real files of installed libraries with some of their lines, words
and bytes changed. What must hold for each of them: the run ends within 20 s; nothing of tclint fails (TCL905, TCL906);
the same result twice, from one process and two, with a cache and without; after a fix the file parses, and a second fix
changes nothing; a notebook and an editor's document give what the file gives.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib.util
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tclint.model.report import Report
from tclint.run.project import Project
from tclint.server.session import Document, Session

LIMIT: Final = 20
"""Seconds that one program may take."""
MEMORY: Final = 2000
"""Megabytes that the process may ever have taken."""
LIBRARIES: Final = (
    "torch.nn.modules",
    "torch._dynamo",
    "torch.optim",
    "torch.distributions",
    "libcst",
    "click",
    "rich",
)
_NAMES: Final = "x y z self a b n model f g h net cfg mask out".split()
_ATTRIBUTES: Final = (
    "shape sum item T data size view dtype device grad layers weight forward append keys items tolist numpy cpu detach "
    "max any all norm backward training compile"
).split()
_CALLS: Final = (
    "torch.compile torch.ones torch.where torch.zeros nn.Linear nn.Sequential len range print int float bool str list "
    "dict tuple sorted zip isinstance super open id hash f g h torch.tensor torch.cat random.random time.time getattr "
    "torch.no_grad torch.cuda.graph partial os.getenv enumerate type"
).split()
_SIGNS: Final = "+ - * / // % @ ** & | ^ << >>".split()
_RELATIONS: Final = ("<", ">", "<=", ">=", "==", "!=", "in", "is", "not in", "is not")
_HAZARDS: Final = (
    "print(x)",
    "n = x.sum().item()",
    "y = int(x.max())",
    "x = x + time.time()",
    "mask = x[x > 0]",
    "self.n = self.n + 1",
    "out = torch.where(x > 0)",
    "x.data = x.data * 2",
    "out = x.tolist()",
    "if x.sum() > 0: x = x + 1",
    "y = x if x.any() else -x",
    "assert x.min() > 0",
    "a = float(x.mean())",
    "x = x * random.random()",
    "n = os.getenv('N')",
    "z = model(x.numpy())",
)
_HEAD: Final = "import os, random, time\nfrom functools import partial\nimport torch\nfrom torch import nn\n\n"


# --- programs by a grammar ------------------------------------------------------------------------------------------


class Grammar:
    """Python that mostly parses, and says something about torch."""

    def __init__(self, rng: random.Random, most: int = 6) -> None:
        self.rng = rng
        self.most = most

    def program(self) -> str:
        parts = [_HEAD]
        for _ in range(self.rng.randint(1, self.most)):
            parts.append(self.rng.choice([self.function, self.function, self.module, self.top])())
        return "\n".join(parts)

    def top(self) -> str:
        return "".join(self.statements("", 3, 0))

    def function(self, indent: str = "", name: str = "", first: str = "") -> str:
        rng = self.rng
        decorator = rng.choice(
            ["", "@torch.compile", "@torch.compile", "@torch.compile(fullgraph=True)", "@staticmethod", "@f"]
        )
        names = [each for each in dict.fromkeys(["x", *rng.sample(_NAMES, rng.randint(0, 3))]) if each != "self"]
        given = [first] * bool(first) + [
            each + rng.choice(["", "", f"={self.expression(1)}", ": torch.Tensor"]) for each in names
        ]
        # What has no default cannot follow what has one.
        given.sort(key=lambda each: "=" in each)
        head = f"{indent}{decorator}\n" if decorator else ""
        kind = rng.choice(["def", "def", "def", "def", "async def"])
        body = "".join(self.statements(indent + "    ", rng.randint(1, 6), 0, inside=True))
        return f"{head}{indent}{kind} {name or rng.choice(_NAMES)}({', '.join(given)}):\n{body}"

    def module(self) -> str:
        rng = self.rng
        base = rng.choice(["nn.Module", "nn.Module", "Net", "Net.Base", "object", "f(1)", "nn.ModuleList"])
        name = rng.choice(["Net", "Model", "Block"])
        methods = ["forward", rng.choice(["__init__", "__call__", "helper", "forward", "reset"])]
        inner = "\n".join(self.function("    ", method, "self") for method in methods[: rng.randint(1, 2)])
        return f"class {name}({base}):\n{inner}"

    def statements(self, indent: str, count: int, depth: int, inside: bool = False) -> Iterator[str]:
        for _ in range(count):
            yield self.statement(indent, depth, inside)

    def statement(self, indent: str, depth: int, inside: bool) -> str:
        rng = self.rng
        simple: list[Callable[[], str]] = [
            lambda: f"{self.target()} = {self.expression()}",
            lambda: f"{self.target()} {rng.choice(_SIGNS)}= {self.expression()}",
            lambda: f"{self.expression()}",
            lambda: f"{rng.choice(_NAMES)}: {rng.choice(['int', 'torch.Tensor', 'list[int]'])} = {self.expression()}",
            lambda: f"assert {self.expression()}, {self.expression(1)}",
            lambda: f"del {self.target()}",
            lambda: f"{', '.join(rng.sample(_NAMES, 2))} = {self.expression()}",
            lambda: "pass",
            lambda: f"from {rng.choice(['m0', 'm1', 'os', '.m2'])} import {rng.choice(['*', 'Net', 'f', 'g'])}"
            if not inside
            else "import torch",
            lambda: f"raise ValueError({self.expression(1)})",
            *[lambda: rng.choice(_HAZARDS)] * 6,
        ]
        if inside:
            simple += [lambda: f"return {self.expression()}"] * 3 + [lambda: f"global {rng.choice(['a', 'b'])}_g"]
        if depth < 3 and rng.random() < 0.35:
            body = "".join(self.statements(indent + "    ", rng.randint(1, 3), depth + 1, inside))
            head = rng.choice(
                [
                    lambda: f"if {self.expression()}:",
                    lambda: f"while {self.expression()}:",
                    lambda: f"for {rng.choice(_NAMES)} in {self.expression()}:",
                    lambda: f"with {self.expression()} as {rng.choice(_NAMES)}:",
                    lambda: "try:",
                ]
            )()
            text = f"{indent}{head}\n{body}"
            if head == "try:":
                text += f"{indent}except Exception as e:\n{indent}    {rng.choice(['pass', 'raise'])}\n"
            elif head.startswith("if") and rng.random() < 0.5:
                text += f"{indent}else:\n" + "".join(self.statements(indent + "    ", 1, depth + 1, inside))
            return text
        if depth < 2 and inside and rng.random() < 0.08:
            return self.function(indent)
        return f"{indent}{rng.choice(simple)()}\n"

    def target(self) -> str:
        rng = self.rng
        name = rng.choice(_NAMES)
        return rng.choice([name, name, f"{name}.{rng.choice(_ATTRIBUTES)}", f"{name}[{self.expression(2)}]"])

    def expression(self, depth: int = 0) -> str:
        rng = self.rng
        if depth > 3 or rng.random() < 0.25:
            return rng.choice(
                [rng.choice(_NAMES), rng.choice(_NAMES), f"({rng.randint(-2, 9)})", "None", "True", "'s'", "1.5"]
            )
        deeper = functools.partial(self.expression, depth + 1)
        return rng.choice(
            [
                lambda: f"{deeper()}.{rng.choice(_ATTRIBUTES)}",
                lambda: f"{deeper()}.{rng.choice(_ATTRIBUTES)}({deeper()})",
                lambda: f"{deeper()}.{rng.choice(_ATTRIBUTES)}()",
                lambda: f"{rng.choice(_CALLS)}({', '.join(deeper() for _ in range(rng.randint(0, 3)))})",
                lambda: f"({deeper()} {rng.choice(_SIGNS)} {deeper()})",
                lambda: f"({deeper()} {rng.choice(_RELATIONS)} {deeper()})",
                lambda: f"({deeper()} {rng.choice(['and', 'or'])} {deeper()})",
                lambda: f"(not {deeper()})",
                lambda: f"({deeper()} if {deeper()} else {deeper()})",
                lambda: f"[{deeper()}, {deeper()}]",
                lambda: f"({deeper()}, {deeper()})",
                lambda: f"{{{deeper()}: {deeper()}}}",
                lambda: f"[{deeper()} for {rng.choice(_NAMES)} in {deeper()}]",
                lambda: f"(lambda {rng.choice(_NAMES)}: {deeper()})",
                lambda: f"{deeper()}[{deeper()}]",
                lambda: f"{deeper()}[{deeper()}:{deeper()}]",
                lambda: f"f'{{{rng.choice(_NAMES)}}} {{{rng.choice(_NAMES)}.shape}}'",
                lambda: f"(y := {deeper()})" if depth == 0 else deeper(),
                lambda: f"super().forward({deeper()})",
            ]
        )()


# --- real programs, changed -----------------------------------------------------------------------------------------


@functools.cache
def real_files() -> tuple[Path, ...]:
    """Files of installed libraries, none of them long."""
    found: list[Path] = []
    for name in LIBRARIES:
        try:
            spec = importlib.util.find_spec(name)
        except ImportError:
            continue
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            found += [path for path in Path(place).rglob("*.py") if 200 < path.stat().st_size < 20_000]
    return tuple(sorted(found))


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class Mutation:
    """A real file with a few changes."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def program(self) -> bytes:
        files = real_files()
        text = self.rng.choice(files).read_text(encoding="utf-8", errors="replace") if files else _HEAD
        if self.rng.random() < 0.5:
            text = text.replace("    def forward(", "    @torch.compile\n    def forward(", 1)
        whole = self.rng.random() < 0.8
        for _ in range(self.rng.randint(1, 8)):
            changed = self.rng.choice([self.lines, self.words, self.words, self.blocks, self.characters])(text)
            # Most changes break the syntax, and then there is little left to look at.
            text = changed if not whole or _parses(changed) else text
        data = text.encode("utf-8", "replace")
        if self.rng.random() < 0.05:
            at = self.rng.randrange(len(data) + 1)
            data = data[:at] + bytes(self.rng.choices(range(256), k=3)) + data[at:]
        return data

    def lines(self, text: str) -> str:
        lines = text.split("\n")
        a, b = self.rng.randrange(len(lines)), self.rng.randrange(len(lines))
        match self.rng.randrange(3):
            case 0:
                del lines[a]
            case 1:
                lines[a], lines[b] = lines[b], lines[a]
            case _:
                lines.insert(b, lines[a])
        return "\n".join(lines)

    def words(self, text: str) -> str:
        words = [word for word in set(text.replace("(", " ").replace(".", " ").split()) if word.isidentifier()]
        if len(words) < 2:
            return text
        old, new = self.rng.sample(sorted(words), 2)
        return text.replace(old, new, self.rng.choice([1, 1, 3, -1]))

    def blocks(self, text: str) -> str:
        lines = text.split("\n")
        at = self.rng.randrange(len(lines))
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        made = Grammar(self.rng).statement(indent, 1, inside=bool(indent))
        return "\n".join([*lines[:at], made.rstrip("\n"), *lines[at:]])

    def characters(self, text: str) -> str:
        at = self.rng.randrange(len(text) + 1)
        return text[:at] + self.rng.choice("()[]{}:,.=#'\"\\\n\t @*") + text[at + self.rng.randrange(2) :]


def programs(seed: int) -> Iterator[bytes]:
    """Programs without end, the same for the same seed."""
    number = 0
    while True:
        rng = random.Random(f"{seed} {number}")
        yield Grammar(rng).program().encode() if number % 2 == 0 else Mutation(rng).program()
        number += 1


def small_programs(seed: int) -> Iterator[bytes]:
    """Programs of the grammar only, of a function or a class each."""
    number = 0
    while True:
        yield Grammar(random.Random(f"{seed} small {number}"), most=1).program().encode()
        number += 1


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

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "tclint.toml").write_text("")

    def feed(self, batch: Sequence[bytes]) -> None:
        """Some programs: each by itself, then all of them as one project."""
        for number, data in enumerate(batch):
            self.seen += 1
            self._guarded(f"program {self.seen}", [data], functools.partial(self._alone, data, number))
        self._guarded(f"programs up to {self.seen}", batch, functools.partial(self._together, batch))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        if peak > MEMORY:
            self.failures.append(f"memory: {peak} MB")

    def _guarded(self, name: str, batch: Sequence[bytes], check: Callable[[], None]) -> None:
        try:
            with within(LIMIT * len(batch)):
                check()
        except TooLong:
            self._failed(name, batch, "took too long")
        except Broken as broken:
            self._failed(name, batch, str(broken))
        except Exception:
            self._failed(name, batch, traceback.format_exc())

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
        if not _parses(after.decode("utf-8", "replace")):
            raise Broken("a fix broke the file")
        again = self._project(after).fix(unsafe=True, write=False)
        if again.fixed.contents:
            raise Broken("a second fix changes the file again")

    def _notebook(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        lines = text.splitlines(keepends=True)
        cells = [
            {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines[i : i + 20]}
            for i in range(0, len(lines), 20)
        ]
        book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        raw = json.dumps(book).encode()
        project = self._project(raw, "m.ipynb")
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

    def _together(self, batch: Sequence[bytes]) -> None:
        for number, data in enumerate(batch):
            (self.folder / f"m{number}.py").write_bytes(data)
        shutil.rmtree(self.folder / ".tclint_cache", ignore_errors=True)
        runs: dict[str, dict[str, object]] = {
            "one process": {"no-cache": True, "jobs": 1},
            "two processes": {"no-cache": True, "jobs": 2},
            "a new cache": {"jobs": 1},
            "the cache": {"jobs": 1},
        }
        first: Report | None = None
        for name, how in runs.items():
            found = Project.open(["."], cwd=str(self.folder), isolated=True, overrides={**_SETTINGS, **how}).lint()
            _sound(found)
            first = first or found
            _same(name, first, found)

    def feed_wide(self, batch: Sequence[bytes]) -> None:
        """Many small programs as one project, linted once; one that fails is found by linting each of them alone."""
        before = len(self.failures)
        self.seen += len(batch)
        self._guarded(f"programs up to {self.seen}", batch, functools.partial(self._wide, batch))
        if len(self.failures) > before:
            for number, data in enumerate(batch):
                name = f"program {self.seen - len(batch) + number}"
                self._guarded(name, [data], lambda data=data: _sound(self._project(data).lint()))

    def _wide(self, batch: Sequence[bytes]) -> None:
        for number, data in enumerate(batch):
            (self.folder / f"m{number}.py").write_bytes(data)
        how = {**_SETTINGS, "no-cache": True, "jobs": 1}
        report = Project.open(["."], cwd=str(self.folder), isolated=True, overrides=how).lint()
        _sound(report)
        self.findings += len(report.findings)


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
        f"{len(done.failures)} failures, {took:.0f} s"
    )
    return 1 if done.failures else 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.exit(main())
