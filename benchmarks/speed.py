"""What linting costs, beside what the same files cost others, in one run.

    python benchmarks/speed.py path/to/timm [path/to/transformers/models ...]
    python benchmarks/speed.py --json benchmarks/speed.json path/to/timm
    python benchmarks/speed.py --no-growth --peers none path/to/timm      # floor and tclint only
    python benchmarks/speed.py --edits path/to/vllm --targets 2.9,2.13 --sizes 10000,1500000 path/to/timm

Every measurement is a process of its own: CPU (user and system) and peak memory are what the kernel counted for it, so
starting Python is included everywhere. The floor is `ast.parse` of the same files. Tools too slow for all the files run
on a sample, and ratios are taken per line. `growth` lints 10,000, 100,000 and 1,000,000 lines made of copies of the
files. `--edits` names a large project: cold, one file of it alone, and what one line costs in a leaf, in three of them and
in the file that most others import. `--targets` lints the files for other releases of torch.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import edits

ROOT = Path(__file__).resolve().parent.parent

READ = "import sys; files = open(sys.argv[1]).read().split('\\0'); data = [open(f, 'rb').read() for f in files]; "
AST = READ + "import ast, warnings; warnings.simplefilter('ignore')\nfor d in data:\n    ast.parse(d)"
LIBCST = READ + "import libcst\nfor d in data:\n    libcst.parse_module(d)"


ALONE, LEAF = "tclint, one file alone, cold", "tclint, warm, one line in a leaf"
HOOK, SHARED = "tclint, a hook on three edited leaves", "tclint, warm, one line in a shared file"
BOUNDS = {ALONE: 6.0, LEAF: 1.5, HOOK: 2.0, SHARED: 6.0}


@dataclass(frozen=True)
class Cost:
    """What one process took."""

    cpu: float
    wall: float
    peak_mib: float
    code: int


@dataclass(frozen=True)
class Row:
    what: str
    files: int
    lines: int
    cpu: float
    wall: float
    ratio: float
    """CPU for a line, in units of `ast.parse` of the same files."""
    peak_mib: float
    note: str = ""


def measure(command: list[str], cwd: Path | None = None) -> Cost:
    started = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    # An installed tclint has its bytecode: without it every run would compile five hundred files of its own first.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with open(os.devnull, "wb") as nothing:
        child = subprocess.Popen(command, cwd=cwd, env=environment, stdout=nothing, stderr=nothing)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    peak = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, peak, child.returncode)


def best(command: list[str], repeat: int, cwd: Path | None = None) -> Cost:
    """The cheapest of several runs, by CPU: everything else is the machine's business."""
    costs = [measure(command, cwd)]
    while len(costs) < repeat and costs[0].cpu < 60:
        costs.append(measure(command, cwd))
    return min(costs, key=lambda cost: cost.cpu)


def python_files(folders: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for folder in folders:
        found += [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    return [path for path in found if "__pycache__" not in path.parts]


def count_lines(files: Iterable[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in files)


def sampled(files: list[Path], most_lines: int) -> list[Path]:
    """Every n-th file, so that the sample is like the whole."""
    total = max(1, count_lines(files))
    step = max(1, -(-total // most_lines))
    return files[::step]


def tool(name: str) -> str | None:
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def tclint(*options: str) -> list[str]:
    return [sys.executable, "-m", "tclint", "--isolated", "--exit-zero", "--output-format", "json", *options]


class Bench:
    def __init__(self, folders: list[Path], repeat: int, sample: int, scratch: Path) -> None:
        self.folders, self.repeat, self.sample, self.scratch = folders, repeat, sample, scratch
        self.files = python_files(folders)
        self.lines = count_lines(self.files)
        if not self.lines:
            raise SystemExit("no Python files in " + ", ".join(map(str, folders)))
        self.rows: list[Row] = []
        self.floor = 0.0  # CPU seconds for a line
        self.changed_folder: Path | None = None

    def add(self, what: str, files: list[Path], cost: Cost, allowed: tuple[int, ...] = (0,), note: str = "") -> Row:
        lines = self.lines if files is self.files else count_lines(files)
        if cost.code not in allowed:
            note = f"exit code {cost.code}: not a result"
        ratio = cost.cpu / max(1, lines) / self.floor if self.floor else 1.0
        row = Row(what, len(files), lines, cost.cpu, cost.wall, ratio, cost.peak_mib, note)
        self.rows.append(row)
        print(
            f"  {what:<34} {len(files):>6} files {lines:>10,} lines {cost.cpu:>9.2f} s CPU {cost.wall:>9.2f} s wall",
            end="",
        )
        print(f" {ratio:>8.2f} x {cost.peak_mib:>7.0f} MiB  {note}", flush=True)
        return row

    def listed(self, files: list[Path]) -> str:
        handle, name = tempfile.mkstemp(dir=self.scratch)
        with open(handle, "w") as stream:
            stream.write("\0".join(map(str, files)))
        return name

    def run_floor(self) -> None:
        cost = best([sys.executable, "-c", AST, self.listed(self.files)], self.repeat)
        self.floor = cost.cpu / self.lines
        self.add("ast.parse (the floor)", self.files, cost)
        part = sampled(self.files, self.sample)
        self.add("libcst.parse_module", part, measure([sys.executable, "-c", LIBCST, self.listed(part)]), note="sample")

    def cold(self) -> list[str]:
        return tclint("--no-cache", "--jobs", "1", "-o", os.devnull, *map(str, self.folders))

    def run_tclint(self) -> None:
        self.add("tclint, cold, one process", self.files, best(self.cold(), self.repeat))
        self._run_cached()

    def _run_cached(self) -> None:
        """Warm, and with one file changed: on a copy, because a file is written to."""
        copy = self.scratch / "copy"
        for number, folder in enumerate(self.folders):
            if folder.is_dir():
                shutil.copytree(folder, copy / f"{number}" / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
        cache = self.scratch / "cache"
        command = tclint("--cache-dir", str(cache), "-o", os.devnull, ".")
        measure(command, copy)
        entries = [path for path in cache.rglob("*") if path.name not in ("CACHEDIR.TAG", ".gitignore")]
        if not entries:
            print("  (tclint wrote no cache: warm runs are not measured)")
            return
        # A file is only believed to be unchanged some seconds after it was written.
        time.sleep(2.5)
        measure(command, copy)
        self.add("tclint, warm, nothing changed", self.files, best(command, self.repeat, copy))
        changed = max(python_files([copy]), key=lambda path: path.stat().st_size)
        self.changed_folder = changed.parent
        one = tclint("--cache-dir", str(cache), "-o", os.devnull, "--project-root", ".", str(changed))
        for what, wanted in (("tclint, warm, one file changed", command), ("tclint, a hook on that file", one)):
            costs = []
            for number in range(self.repeat):
                with changed.open("a") as stream:
                    stream.write(f"\n# changed {what} {number}\n")
                costs.append(measure(wanted, copy))
            self.add(what, self.files, min(costs, key=lambda cost: cost.wall))
        measure(one, copy)
        self.add("tclint, a hook, nothing changed", self.files, best(one, self.repeat, copy))
        self.add("tclint --version", self.files, best([sys.executable, "-m", "tclint", "--version"], self.repeat))

    def run_targets(self, releases: Sequence[str]) -> None:
        for release in releases:
            command = tclint("--no-cache", "--jobs", "1", "-o", os.devnull, "--target-torch", release)
            self.add(
                f"tclint, cold, for torch {release}", self.files, best([*command, *map(str, self.folders)], self.repeat)
            )

    def run_edits(self) -> None:
        """One line in a large project, on a copy of it: in each run the edit, then what linting costs."""
        (folder,) = self.folders
        copy = self.scratch / "edited" / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__", ".git"))
        chosen = edits.chosen(copy, python_files([copy]))
        leaf, names = chosen.leaves[0], [str(path.relative_to(copy)) for path in chosen.leaves]
        print(f"  leaves: {', '.join(names)}; shared: {chosen.shared.relative_to(copy)}")
        alone = tclint("--no-cache", "--jobs", "1", "-o", os.devnull, str(leaf))
        self.add(ALONE, [leaf], best(alone, self.repeat, copy))
        cached = tclint("--cache-dir", str(self.scratch / "edits"), "--jobs", "1", "-o", os.devnull)
        whole = [*cached, "."]
        self.add("tclint, cold, cache written", self.files, measure(whole, copy))
        time.sleep(2.5)  # a file is only believed to be unchanged some seconds after it was written
        measure(whole, copy)
        most = f"{chosen.importers} files import it"
        for what, paths, edit, command, note in (
            (LEAF, [leaf], edits.add_within, whole, "a line within a function"),
            (HOOK, chosen.leaves, edits.add_within, [*cached, *names], "a line within a function of each"),
            (SHARED, [chosen.shared], edits.add_at_end, whole, f"a line at its end; {most}"),
            ("tclint, warm, a shared file's lines moved", [chosen.shared], edits.add_above, whole, most),
            (
                "tclint, warm, one line in a leaf after that",
                [leaf],
                edits.add_within,
                whole,
                "a line within a function",
            ),
            ("tclint, warm, a function added to a shared file", [chosen.shared], edits.add_function, whole, most),
            ("tclint, warm, a function of a shared file changed", [chosen.shared], edits.add_within, whole, most),
        ):
            costs = []
            for number in range(self.repeat):
                for path in paths:
                    edit(path, number)
                costs.append(measure(command, copy))
                if costs[-1].cpu > 60:
                    break
            self.add(what, list(paths), min(costs, key=lambda cost: cost.cpu), note=note)

    def run_peers(self) -> None:
        ruff = tool("ruff")
        if ruff is not None:
            command = [
                ruff,
                "check",
                "--select",
                "ALL",
                "--no-cache",
                "--exit-zero",
                "--isolated",
                "-q",
                "--no-respect-gitignore",
            ]
            self.add("ruff, every rule, no cache", self.files, best([*command, *map(str, self.folders)], self.repeat))
            if self.changed_folder is not None:
                folder = self.changed_folder
                self.add(
                    "ruff, the changed file's folder",
                    python_files([folder]),
                    best([*command, str(folder)], self.repeat),
                )
        part = sampled(self.files, self.sample)
        torchfix, fixit = tool("torchfix"), tool("fixit")
        names = [str(path) for path in part]
        if torchfix is not None:
            self.add("TorchFix, every rule", part, measure([torchfix, "--select", "ALL", *names]), (0, 1), "sample")
        if fixit is not None:
            self.add("Fixit", part, measure([fixit, "lint", *names], self.scratch), (0, 1), "sample")
        for name, found in (("ruff", ruff), ("TorchFix", torchfix), ("Fixit", fixit)):
            if found is None:
                print(f"  ({name} is not installed)")

    def summary(self) -> list[str]:
        """What this project asks of itself, and what was measured."""
        rows = {row.what: row for row in self.rows}
        cold, warm = rows.get("tclint, cold, one process"), rows.get("tclint, warm, nothing changed")
        ruff, folder = rows.get("ruff, every rule, no cache"), rows.get("ruff, the changed file's folder")
        told = []

        def say(what: str, value: float, bound: float, unit: str, least: bool = False) -> None:
            good = value >= bound if least else value <= bound
            told.append(f"{'ok  ' if good else 'OVER'} {what}: {value:.2f} {unit} (bound {bound:.2f})")

        for what, bound in BOUNDS.items():
            if what in rows:
                say(f"{what}, CPU", rows[what].cpu, bound, "s")
        for what, row in rows.items():
            if what.startswith("tclint, cold, for torch ") and cold is not None:
                say(what, row.cpu / cold.cpu, 1.1, "x the newest")
        if cold is not None:
            say("cold, one process, CPU", cold.ratio, 3.5 if ALONE in rows else 4.0, "x ast.parse")
            say("cold, peak memory", cold.peak_mib, 1024, "MiB")
            if (torchfix := rows.get("TorchFix, every rule")) is not None and not torchfix.note.startswith("exit"):
                say("TorchFix, CPU for a line", torchfix.ratio / cold.ratio, 40, "x tclint", least=True)
        if warm is not None and ruff is not None:
            say("warm, nothing changed, wall", warm.wall, ruff.wall, "s")
        if (changed := rows.get("tclint, warm, one file changed")) is not None and folder is not None:
            say("warm, one file changed, wall", changed.wall, max(0.5, 2 * folder.wall), "s")
        if (hook := rows.get("tclint, a hook, nothing changed")) is not None:
            say("a hook, warm, wall", hook.wall, 0.35, "s")
        if (version := rows.get("tclint --version")) is not None:
            say("--version, CPU", version.cpu, 0.1, "s")
        return told

    def run_growth(self, sizes: Iterable[int]) -> list[Row]:
        """The same code in growing amounts: what a line costs must not grow with the project."""
        print("\ngrowth (copies of the same files, cold, one process)")
        before = len(self.rows)
        for size in sizes:
            project = self.scratch / f"grown_{size}"
            grown = grow(self.files, size, project)
            command = tclint("--no-cache", "--jobs", "1", "-o", os.devnull, str(project))
            self.add(f"{size:,} lines", grown, best(command, self.repeat if size < 1_000_000 else 1))
            shutil.rmtree(project)
        rows, self.rows = self.rows[before:], self.rows[:before]
        first, last = rows[0], rows[-1]
        times = (last.cpu / last.lines) / (first.cpu / first.lines)
        print(f"  a line costs {times:.2f} times at {last.lines:,} lines what it costs at {first.lines:,}")
        return rows


def grow(files: list[Path], lines: int, project: Path) -> list[Path]:
    """A project of about so many lines: whole files, then copies of them under other package names."""
    made: list[Path] = []
    written = round_ = 0
    while written < lines:
        for path in files:
            data = path.read_bytes()
            # The first files of a round must not overshoot a small project.
            if data.count(b"\n") > max(200, lines - written):
                continue
            target = project / f"copy_{round_}" / path.parent.name / path.name
            if target.exists():
                target = target.with_name(f"{path.stem}_{len(made)}.py")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            made.append(target)
            written += data.count(b"\n")
            if written >= lines:
                break
        round_ += 1
        if round_ > 10_000:
            break
    return made


def setting() -> str:
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=lambda text: Path(text).resolve())
    parser.add_argument("--repeat", type=int, default=3, help="runs of each measurement; the cheapest counts")
    parser.add_argument("--sample", type=int, default=20_000, help="lines that the slow tools get")
    parser.add_argument("--growth", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--sizes", default="10000,100000,1000000", help="lines of the grown projects")
    parser.add_argument("--peers", choices=["all", "none"], default="all")
    parser.add_argument("--edits", type=lambda text: Path(text).resolve(), metavar="FOLDER", help="a large project")
    parser.add_argument("--targets", default="", help="releases of torch to lint for, with commas between them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result for the README")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(args.folders, args.repeat, args.sample, Path(scratch))
        print(f"{', '.join(map(str, args.folders))}: {setting()}")
        steps: list[Callable[[], None]] = [bench.run_floor, bench.run_tclint]
        if args.peers == "all":
            steps.append(bench.run_peers)
        for step in steps:
            step()
        bench.run_targets([release for release in args.targets.split(",") if release])
        large = Bench([args.edits], args.repeat, args.sample, Path(scratch)) if args.edits is not None else None
        if large is not None:
            print(f"\n{args.edits}")
            large.run_floor()
            large.add("tclint, cold, one process", large.files, best(large.cold(), large.repeat))
            large.run_edits()
        growth = bench.run_growth([int(size) for size in args.sizes.split(",")]) if args.growth else []
        print("\n" + "\n".join(bench.summary()))
        if large is not None:
            print(f"{args.edits}\n" + "\n".join(large.summary()))
    if args.json is not None:
        rows = [asdict(r) for r in bench.rows]
        edited = [asdict(r) for r in large.rows] if large is not None else []
        result = {"rows": rows, "edits": edited, "growth": [asdict(r) for r in growth], "setting": setting()}
        args.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
