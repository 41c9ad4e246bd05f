"""The projects that tclint was asked for: is the hazard flagged before its repair, and its place silent afterwards?

    python benchmarks/histories.py --mirrors DIR               lint every commit of the table, print what is not as it says
    python benchmarks/histories.py --mirrors DIR --only NAME   one project

DIR holds a git directory for each project, `DIR/owner+name/repo`. The trees are written to a temporary folder and linted whole,
with no configuration; nothing of theirs is copied here. `histories.json` holds the rows: the commit whose tree is linted, the
file and line, the rule, what the hazard is, whether the line must be `flagged` or `silent`, and how that is known (`run`: the
construct was run under torch; `read`: the lines, the diff of the repair and what is around them were read).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "benchmarks" / "histories.json"
READ = (".py", ".ipynb", ".toml")
EXPECTED = ("flagged", "silent")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a commit, and what must be said of it."""

    project: str
    commit: str
    file: str
    line: int
    rule: str
    hazard: str
    expected: str
    how: str

    def __str__(self) -> str:
        return f"{self.project}@{self.commit[:8]} {self.file}:{self.line} {self.rule} {self.expected}: {self.hazard}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mirrors", type=Path, required=True, metavar="DIR", help="the folder of the git directories")
    parser.add_argument("--only", metavar="NAME", action="append", help="this project alone")
    options = parser.parse_args(arguments)
    rows = [row for row in read(ROWS) if not options.only or row.project in options.only]
    wrong = []
    for row in score(rows, options.mirrors):
        wrong.append(row)
        print(f"not so: {row}", flush=True)
    for line in told(rows, wrong):
        print(line)
    return 1 if wrong else 0


def read(path: Path) -> list[Row]:
    """The rows of the table, in its order."""
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = [Row(project, **row) for project, found in document.items() for row in found]
    for row in rows:
        sound = re.fullmatch("[0-9a-f]{40}", row.commit) and re.fullmatch(r"TCL\d{3}", row.rule) and row.hazard
        if not sound or row.expected not in EXPECTED or row.how not in ("run", "read"):
            raise SystemExit(f"{path}: no row: {row}")
    return rows


def score(rows: Sequence[Row], mirrors: Path) -> Iterator[Row]:
    """The rows that are not as the table says; each tree is linted once."""
    for project, commit in dict.fromkeys((row.project, row.commit) for row in rows):
        with tempfile.TemporaryDirectory() as folder:
            write_tree(mirrors / project.replace("/", "+") / "repo", commit, Path(folder))
            found = lint(Path(folder))
        for row in rows:
            if (row.project, row.commit) == (project, commit):
                flagged = (row.file, row.line, row.rule) in found
                if flagged is not (row.expected == "flagged"):
                    yield row


def write_tree(mirror: Path, commit: str, folder: Path) -> None:
    """What tclint reads of a commit. A snapshot may lack large files, so blobs are asked for one by one."""
    listed = _git(mirror, "ls-tree", "-r", "-z", commit).decode("utf-8", "surrogateescape")
    for entry in filter(None, listed.split("\0")):
        about, _, name = entry.partition("\t")
        mode, kind, blob = about.split()[:3]
        path = (folder / name).resolve()
        if kind != "blob" or mode == "120000" or not name.endswith(READ) or not path.is_relative_to(folder.resolve()):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_git(mirror, "cat-file", "blob", blob))


def _git(mirror: Path, *arguments: str) -> bytes:
    command = ["git", "--git-dir", str(mirror), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{mirror}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def lint(folder: Path) -> set[tuple[str, int, str]]:
    """The findings as somebody sees them who has just installed tclint: file, line, rule."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-m",
        "tclint",
        "--isolated",
        "--no-cache",
        "--exit-zero",
        "--output-format",
        "json",
        ".",
    ]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{folder}: {done.stderr}")
    return {(f["path"], f["line"], f["code"]) for f in json.loads(done.stdout)["findings"] if "cell" not in f}


def told(rows: Sequence[Row], wrong: Sequence[Row]) -> Iterator[str]:
    """The table in short."""
    for project in dict.fromkeys(row.project for row in rows):
        counts = Counter((row.expected, row not in wrong) for row in rows if row.project == project)
        shares = [f"{counts[e, True]} of {counts[e, True] + counts[e, False]} {e}" for e in EXPECTED]
        yield f"{project}: {', '.join(shares)}"
    right = len(rows) - len(wrong)
    yield f"{right} of {len(rows)} rows are so" + (f" ({100 * right / len(rows):.1f} %)" if rows else "")


if __name__ == "__main__":
    raise SystemExit(main())
