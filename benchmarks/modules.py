#!/usr/bin/env python3
"""What Dynamo does with the modules of installed packages, every one built and called by verify's own guesser.

    python benchmarks/modules.py SITE --out FOLDER [--python PYTHON] [--built 450] [--per-package 40] [PACKAGE ...]

SITE is a folder that `pip install --no-deps --target SITE ...` has filled; what the packages need besides must be
importable by PYTHON. Each package gets a process that imports it and lists its `nn.Module` classes; each class a fork of
that process, with limits on time and memory, that finds inputs (conventions, the package's own calls, inference: the
sources of `tclint verify` in their order) and runs the first example that works under Dynamo, in training and in
evaluation.

FOLDER/classes/PACKAGE.jsonl gets a line for every class as soon as it is decided, and a second run goes on from there.
FOLDER/truth.json.gz is in the format of `score.py`: break sites, and the lines that eager runs executed.
FOLDER/summary.json counts what was found, built and not built, by class of reason. Classes that are only promises, abstract
ones and those whose `forward` does nothing but raise, are counted apart and not tried. The share that was built is told twice:
of all that were tried, and without those that nobody could run here (`APART`).
"""

from __future__ import annotations

import argparse
import gc
import gzip
import hashlib
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

IMPORT_LIMIT = 300
"""Seconds in which a package must have been imported."""


@dataclass(frozen=True)
class Found:
    """A module class of a package: its file relative to SITE, its name there, and where its `forward` begins."""

    file: str
    name: str
    forward: tuple[str, int]


@dataclass
class Result:
    file: str
    name: str
    built: bool = False
    reason: str = ""
    """The class of reason why it was not built, or not run under Dynamo."""
    words: str = ""
    source: str = ""
    seconds: float = 0.0
    runs: list[dict[str, Any]] = field(default_factory=list)


# --- In the package's own process: torch is imported here only. -------------------------------------------------------


def is_left_out(file: Path) -> bool:
    """Test files and programs are no models, and importing them runs things."""
    names = {part.lower() for part in file.parts}
    return bool(
        names & {"tests", "test", "testing", "examples", "scripts", "benchmarks", "__main__.py", "setup.py"}
    ) or (file.name.startswith("test_") or file.name == "conftest.py")


def is_promise(cls: type, forward: Any) -> bool:
    """Whether a class cannot be run by anybody: it is abstract, or its `forward` only says that there is none."""
    import ast
    import inspect

    from tclint.verify.child.needs import tree_of

    if inspect.isabstract(cls) or getattr(forward, "__isabstractmethod__", False):
        return True
    function = tree_of(forward)
    body = function.body if function is not None else []
    said = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return bool(body) and all(isinstance(s, ast.Pass) or _raises_not_implemented(s) for s in said)


def _raises_not_implemented(statement: Any) -> bool:
    import ast

    error = statement.exc if isinstance(statement, ast.Raise) else None
    name = error.func if isinstance(error, ast.Call) else error
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"


def module_classes(site: Path, package: str) -> tuple[list[Found], list[str], dict[str, str]]:
    """The module classes that the package's files define; those that are promises; and the files that cannot be imported,
    with the reason."""
    import inspect

    from torch import nn

    from tclint.verify.child.load import load

    top = site / package
    files = sorted(top.rglob("*.py")) if top.is_dir() else [top.with_suffix(".py")]
    found: dict[tuple[str, str], Found] = {}
    promises: list[str] = []
    failed: dict[str, str] = {}
    end = time.monotonic() + IMPORT_LIMIT
    for file in files:
        if is_left_out(file.relative_to(site)):
            continue
        if time.monotonic() > end:
            failed[str(file.relative_to(site))] = "time"
            continue
        try:
            module = load(str(file), str(top if top.is_dir() else site))
        except (Exception, SystemExit) as error:
            failed[str(file.relative_to(site))] = f"{type(error).__name__}: {error}"[:200]
            continue
        for value in list(vars(module).values()):
            if not (isinstance(value, type) and issubclass(value, nn.Module)) or value.__module__ != module.__name__:
                continue
            forward = inspect.unwrap(value.forward)
            code = getattr(forward, "__code__", None)
            if getattr(forward, "__qualname__", "") == "_forward_unimplemented" or code is None:
                continue
            try:
                where = str(Path(code.co_filename).resolve().relative_to(site))
            except ValueError:
                where = ""
            one = Found(str(file.relative_to(site)), value.__qualname__, (where, code.co_firstlineno))
            if "<locals>" in one.name:
                continue
            if is_promise(value, forward):
                promises.append(f"{one.file}:{one.name}")
            else:
                found.setdefault((one.file, one.name), one)
    return list(found.values()), promises, failed


APART = ("a package is missing", "needs a network", "needs a GPU", "abstract", "needs what only its program prepares")
"""Reasons for which nobody could run a class here, whatever it is given."""
_DECISIVE = ("cannot be made:", "no inputs were found")
"""What verify says of its own attempt, after which nothing better came: why the class itself did not run."""


def reason_of(words: list[str], package: str) -> str:
    """The class of reason why nothing ran, from what verify says of each source it tried.

    A place of the program that could not be repeated is no excuse where the class itself failed for another reason.
    """
    own = [line for line in words if any(part in line for part in _DECISIVE)]
    text = "\n".join(own or words)
    missing = re.search(r"No module named '(\w+)", text)
    if (missing and missing[1] != package) or re.search(r"ImportError: (?!cannot import name)", text):
        return "a package is missing"
    if any(part in text for part in ("URLError", "ConnectionError", "offline", "LocalEntryNotFound", "Max retries")):
        return "needs a network"
    if re.search(
        r"Found no NVIDIA|not compiled with CUDA|No CUDA GPUs|Unsupported device type: cpu|CUDA (?:is|must)", text
    ):
        return "needs a GPU"
    if re.search(
        r"abstract (?:class|method)|missing the required \"forward\"|NotImplementedError: *$", text, re.MULTILINE
    ):
        return "abstract"
    if re.search(r"NotFitted|not been fit|not (?:yet )?fitted|FileNotFoundError", text):
        return "needs what only its program prepares"
    if "too large" in text:
        return "too large"
    if "no inputs were found" in text:
        return "no inputs"
    if "cannot be made" in text:
        return "cannot be constructed"
    return "does not run in eager mode" if text else "no source of inputs"


def examine(site: Path, package: str, one: Found, save: Any) -> None:
    """Build one class, call it eagerly and under Dynamo; `save` is given what is known after each step."""
    import torch

    from tclint.verify.child import compiling
    from tclint.verify.child.experiments import EagerFailed, Setup, run_breaks
    from tclint.verify.child.inputs import NoInputs
    from tclint.verify.child.load import load
    from tclint.verify.child.sources import sources
    from tclint.verify.cover import is_project
    from tclint.verify.job import Candidate, Job

    torch.set_num_threads(1)
    compiling.adopt_sites()
    top = site / package
    root = str(top if top.is_dir() else site)
    candidate = Candidate(str(site / one.file), one.name)
    job = Job(root=root, candidates=(candidate,), places=())
    setup = Setup(device="cpu", seed=0, wanted=lambda path: is_project(path, str(site)), title=one.name)
    result = Result(one.file, one.name)
    said: list[str] = []
    for example in sources(job, candidate, load(candidate.path, root)):
        if isinstance(example, NoInputs):
            said.append(str(example))
            continue
        result.source = example.source
        for mode in ("eval", "train"):
            try:
                run = run_breaks(setup, example, mode if example.wrap else "")
            except EagerFailed as failed:
                said.append(f"{example.source}: {mode}: {failed.fault.kind}: {failed.fault.message[:200]}")
                continue
            result.built = True
            result.reason = result.words = ""
            result.runs.append(truth_row(site, package, one, mode, run))
            save(result)
        if result.built:
            return
    result.reason, result.words = reason_of(said, package), " | ".join(said)[-600:]
    save(result)


def truth_row(site: Path, package: str, one: Found, mode: str, run: Any) -> dict[str, Any]:
    from tclint.verify.judgement import is_follow_on, place_of
    from tclint.verify.spans import outline

    base = str(site) + os.sep

    def ours(path: str) -> bool:
        return path.startswith(base)

    breaks = []
    for item in run.breaks:
        path, line = place_of(item, ours)
        if not ours(path):
            continue
        at = [step for step in item.stack if (step.path, step.line) == (path, line)]
        row = {
            "gid": item.gb_id,
            "gb_type": item.kind,
            "file": path.removeprefix(base),
            "line": line,
            "name": at[-1].text if at else "",
            "explanation": item.words,
            "stack": [
                {"file": s.path.removeprefix(base), "line": s.line, "name": s.text} for s in item.stack if ours(s.path)
            ],
        }
        if is_follow_on(item, run.breaks, outline):
            row["follow_on"] = True
        breaks.append(row)
    row = {
        "lib": package,
        "model": f"{one.file}:{one.name}",
        "variant": mode,
        "mode": mode,
        "entry_class": one.name,
        "entry_forward": list(one.forward),
        "graphs": sum(frame.compiles for frame in run.frames),
        "error": f"{run.fault.kind}: {run.fault.message[:300]}" if run.fault is not None else None,
        "breaks": breaks,
        "covered": {p.removeprefix(base): list(lines) for p, lines in run.covered.items() if ours(p)},
    }
    if run.fault is not None:
        # Dynamo went no further: of what eager mode ran afterwards nothing is known.
        row["traced"] = {"": []} | {p.removeprefix(base): list(lines) for p, lines in run.traced.items() if ours(p)}
    return row


def package_process(site: Path, package: str, seconds: float, memory_mb: int) -> int:
    """Lists the classes on standard output, then examines those whose numbers come in, each in a fork."""
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.dont_write_bytecode = True
    import torch
    import torch._dynamo

    from tclint.verify import usage

    torch.set_num_threads(1)
    torch.compile(torch.nn.Linear(2, 2), backend="eager")(torch.ones(1, 2))
    torch._dynamo.reset()
    found, promises, failed = module_classes(site, package)
    usage.read_ahead(str(site / package))
    gc.freeze()
    told = {"found": [asdict(one) for one in found], "promises": promises, "failed": failed}
    print(json.dumps(told), file=protocol, flush=True)
    for line in sys.stdin:
        one = found[int(line)]
        print(json.dumps(asdict(_in_fork(site, package, one, seconds, memory_mb))), file=protocol, flush=True)
    return 0


def _in_fork(site: Path, package: str, one: Found, seconds: float, memory_mb: int) -> Result:
    begun = time.monotonic()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _fork(site, package, one, seconds, memory_mb, writing)
    os.close(writing)
    told = b""
    # On a busy machine the processor's time is the limit; the clock only ends what sleeps.
    end = begun + seconds * 6
    trouble = "time"
    while (left := end - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            part = os.read(reading, 1 << 20)
            if not part:
                trouble = ""
                break
            told += part
    os.close(reading)
    _kill(pid)
    _, status = os.waitpid(pid, 0)
    lines = [line for line in told.split(b"\n")[:-1] if line]
    result = Result(**json.loads(lines[-1])) if lines else Result(one.file, one.name)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        trouble = "time"
    if not lines:
        result.reason = trouble or "its process died"
        result.words = f"status {status}"
    result.seconds = round(time.monotonic() - begun, 1)
    return result


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _fork(site: Path, package: str, one: Found, seconds: float, memory_mb: int, writing: int) -> None:
    """Never returns."""
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        work = f"/tmp/tclint-modules-{os.getpid()}"
        os.makedirs(work, exist_ok=True)
        os.chdir(work)
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        limit = used + memory_mb * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        def save(result: Result) -> None:
            data = (json.dumps(asdict(result)) + "\n").encode()
            while data:
                data = data[os.write(writing, data) :]

        try:
            examine(site, package, one, save)
        except MemoryError:
            save(Result(one.file, one.name, reason="memory"))
        except BaseException as error:
            save(Result(one.file, one.name, reason="verify failed", words=f"{type(error).__name__}: {error}"[:300]))
    finally:
        os._exit(0)


# --- The parent: knows nothing of torch. ------------------------------------------------------------------------------


def packages_in(site: Path) -> list[str]:
    """Top packages and modules of the folder."""
    found = [p.parent.name for p in site.glob("*/__init__.py")] + [p.stem for p in site.glob("*.py")]
    return sorted(name for name in found if name.isidentifier() and name not in ("tests", "test", "bin"))


def results_of(out: Path, package: str) -> dict[str, Result]:
    """What an earlier run has decided; a line that was cut off by its end is not there."""
    path = out / "classes" / f"{package}.jsonl"
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            result = Result(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[f"{result.file}:{result.name}"] = result
    return found


def title(one: Found) -> str:
    return f"{one.file}:{one.name}"


def order(found: list[Found]) -> list[int]:
    """A sample that nobody has chosen, and the same every time."""
    keys = [hashlib.sha256(title(one).encode()).hexdigest() for one in found]
    return sorted(range(len(found)), key=lambda number: keys[number])


def run_package(options: argparse.Namespace, package: str, most: int) -> Iterator[Result]:
    """The results that this call has added."""
    out: Path = options.out
    (out / "classes").mkdir(parents=True, exist_ok=True)
    known = results_of(out, package)
    listing = out / "classes" / f"{package}.list.json"
    if listing.is_file() and not options.only:
        listed = len(json.loads(listing.read_text(encoding="utf-8"))["found"])
        if len(known) >= min(most, listed):
            return
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "PYTHON"))}
    # What the caller put on its path is what the packages need besides.
    paths = [str(options.site), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    env |= {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
        "MPLBACKEND": "Agg",
    }
    env |= {"PYTHONHASHSEED": "0", "TRANSFORMERS_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [options.python, __file__, str(options.site), "--child", package]
    command += ["--seconds", str(options.seconds), "--memory", str(options.memory)]
    with (
        open(out / "classes" / f"{package}.log", "wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=env, text=True, cwd="/tmp"
        ) as process,
        open(out / "classes" / f"{package}.jsonl", "a", encoding="utf-8") as file,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            ready = select.select([process.stdout], [], [], IMPORT_LIMIT * 2)[0]
            first = process.stdout.readline() if ready else ""
            if not first:
                listing.write_text(
                    json.dumps({"found": [], "promises": [], "failed": {package: "its process died or hung"}})
                )
                return
            listing.write_text(first)
            found = [Found(one["file"], one["name"], tuple(one["forward"])) for one in json.loads(first)["found"]]
            wanted = set(json.loads(options.only.read_text(encoding="utf-8"))) if options.only else None
            for number in [n for n in order(found) if wanted is None or title(found[n]) in wanted][:most]:
                one = found[number]
                if title(one) in known:
                    continue
                process.stdin.write(f"{number}\n")
                process.stdin.flush()
                line = process.stdout.readline()
                if not line:
                    return
                file.write(line)
                file.flush()
                yield Result(**json.loads(line))
        finally:
            process.kill()


def assemble(out: Path, versions: dict[str, str]) -> dict[str, Any]:
    """Write the truth and the summary of everything decided so far."""
    runs: list[dict[str, Any]] = []
    by_package: dict[str, dict[str, Any]] = {}
    reasons: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for listing in sorted((out / "classes").glob("*.list.json")):
        package = listing.name.removesuffix(".list.json")
        data = json.loads(listing.read_text(encoding="utf-8"))
        results = list(results_of(out, package).values())
        for result in results:
            runs += result.runs
            if not result.built:
                reasons[result.reason] += 1
        failed.update(words.partition(":")[0] for words in data["failed"].values())
        by_package[package] = {
            "found": len(data["found"]),
            "tried": len(results),
            "built": sum(result.built for result in results),
            "not tried, abstract": len(data["promises"]),
            "files not imported": len(data["failed"]),
        }
    with gzip.open(out / "truth.json.gz", "wt", encoding="utf-8") as file:
        json.dump({"versions": versions, "runs": runs}, file)
    total = {
        key: sum(row[key] for row in by_package.values()) for key in ("found", "tried", "built", "not tried, abstract")
    }
    summary = {
        "packages": sum(1 for row in by_package.values() if row["found"]),
        **total,
        "built of those that can be run here": _share(total["built"], total["tried"] - sum(reasons[r] for r in APART)),
        "runs": len(runs),
        "runs that Dynamo ended with an error": sum(1 for run in runs if run["error"]),
        "not built": dict(reasons.most_common()),
        "files not imported": dict(failed.most_common()),
        "by package": by_package,
    }
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return summary


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / max(1, whole):.1%})"


def versions_in(site: Path) -> dict[str, str]:
    found = {}
    for info in sorted(site.glob("*.dist-info")):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        found[name] = version
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("modules"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--built", type=int, default=450, help="stop when that many are built")
    parser.add_argument("--per-package", type=int, default=40, help="most classes of one package that are tried")
    parser.add_argument("--seconds", type=float, default=20, help="of the processor, for one class")
    parser.add_argument("--memory", type=int, default=4000, help="MB that one class may add")
    parser.add_argument("--only", type=Path, help="a JSON list of FILE:CLASS: no others are tried")
    parser.add_argument("--child", default="")
    options = parser.parse_args()
    options.site = options.site.resolve()
    if options.child:
        return package_process(options.site, options.child, options.seconds, options.memory)
    packages = options.packages or packages_in(options.site)
    built = sum(r.built for package in packages for r in results_of(options.out, package).values())
    begun = time.monotonic()
    for package in packages:
        if built >= options.built:
            break
        for result in run_package(options, package, options.per_package):
            built += result.built
            word = "built" if result.built else result.reason
            sites = len({(b["file"], b["line"]) for run in result.runs for b in run["breaks"]})
            print(
                f"{time.monotonic() - begun:6.0f} s  {built:4d} built  {result.seconds:5.1f} s  {word}  {sites} breaks  "
                f"{result.file}:{result.name}",
                flush=True,
            )
            if built >= options.built:
                break
        assemble(options.out, versions_in(options.site))
    summary = assemble(options.out, versions_in(options.site))
    print(json.dumps({key: value for key, value in summary.items() if key != "by package"}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
