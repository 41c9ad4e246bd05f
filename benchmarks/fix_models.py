#!/usr/bin/env python3
"""`tclint --fix --unsafe-fixes --verify` on models of transformers that break the graph: which breaks are gone afterwards.

    python benchmarks/fix_models.py TRUTH SITE FOLDER [--python PYTHON] [--only NAME ...] [--out FILE]

TRUTH is the record of breaks (`real-models.json.gz`), SITE the site-packages whose transformers it was made with. Each program of
`benchmarks/models/` builds one model with random weights, compiles it and calls it, in training, with two shapes. It is put into a folder
of its own under FOLDER together with copies of those files of transformers that break there, line by line as they are, but for absolute
imports; the rest of transformers stays where it is. A site of the record counts where the program breaks there before the fix; it is
removed where Dynamo no longer breaks on the line it has become. Outputs and gradients of eager code before are held against compiled code
afterwards.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tclint.fixes.moved import Moved

HERE = Path(__file__).resolve().parent

CHECK = "torch_compilable_check"
"""What most models of transformers call to compare numbers of tokens; its file is imported through a package."""


def broken(truth: Path) -> dict[str, dict[str, dict[int, str]]]:
    """By model and file of transformers: the lines that broke, with the id of the break."""
    found: dict[str, dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    with gzip.open(truth, "rt") as file:
        runs = json.load(file)["runs"]
    for run in runs:
        for item in run["breaks"]:
            if item.get("file", "").startswith("transformers/") and not item.get("follow_on"):
                found[run["model"]][item["file"].removeprefix("transformers/")][item["line"]] = item["gid"]
    return found


def absolute(text: str, package: list[str]) -> str:
    """A module with `from ...x import y` spelled out."""

    def spelled(found: re.Match[str]) -> str:
        base = package[: len(package) - len(found[1]) + 1]
        return f"from {'.'.join([*base, *filter(None, [found[2]])])} import"

    return re.sub(r"from (\.+)([\w.]*) import", spelled, text)


def dotted(file: str) -> str:
    return "transformers." + file.removesuffix(".py").replace("/", ".")


def vendor(program: Path, breaking: set[str], site: Path, folder: Path) -> None:
    """The program and its copies of what breaks, so that a fix changes them and nothing else."""
    source = site / "transformers"
    text = program.read_text(encoding="utf-8")
    todo = [f"models/{n}/modeling_{n}.py" for n in re.findall(r"^from modeling_(\w+) import", text, re.M)]
    copies: dict[str, str] = {}
    while todo:
        file = todo.pop()
        copies[file] = absolute((source / file).read_text(encoding="utf-8"), ["transformers", *Path(file).parent.parts])
        for other in breaking - {*copies, *todo}:
            through = other == "utils/import_utils.py" and CHECK in copies[file]
            if through or f"from {dotted(other)} import" in copies[file]:
                todo.append(other)
    folder.mkdir(parents=True)
    for file, copy in copies.items():
        for other in copies:
            copy = copy.replace(f"from {dotted(other)} import", f"from {Path(other).stem} import")
        if "utils/import_utils.py" in copies and f"{CHECK}(" in copy and not file.startswith("utils/"):
            # On a line that is there: the record's lines stay what they are.
            import_of = rf"\1; from import_utils import {CHECK}"
            copy = re.sub(rf"^(    )?{CHECK},$", "", copy, flags=re.M)
            copy = re.sub(
                rf"^(from transformers\.utils import .*?)(, )?\b{CHECK}\b(?(2)|,? ?)", r"\1", copy, flags=re.M
            )
            copy = re.sub(r"^(from transformers[\w.]* import [^(\n]+)$", import_of, copy, count=1, flags=re.M)
        (folder / Path(file).name).write_text(copy, encoding="utf-8")
    (folder / "main.py").write_text(text, encoding="utf-8")


def told(command: list[str], folder: Path, python_path: str) -> str:
    environment = {**os.environ, "PYTHONPATH": python_path, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def judged(python: str, folder: Path, path: str, into: Path, how: str = "compiled") -> dict[str, Any]:
    """What `benchmarks/models/_judge.py` has seen; its tensors are left in `into`."""
    words = told([python, str(HERE / "models" / "_judge.py"), str(into), how], folder, path)
    try:
        return dict(json.loads(into.with_suffix(".json").read_text(encoding="utf-8")))
    except OSError:
        return {"breaks": {}, "graphs": None, "error": words[-400:]}


def sites_of(seen: dict[str, Any], known: dict[str, dict[int, str]]) -> set[tuple[str, int]]:
    places = {tuple(place.rsplit(":", 1)) for place in seen["breaks"]}
    lines = {(Path(file).name, line) for file, of in known.items() for line in of}
    return {(name, line) for name, line in lines if (name, str(line)) in places}


def one(program: Path, known: dict[str, dict[int, str]], options: argparse.Namespace) -> dict[str, Any]:
    folder = options.folder / program.stem
    vendor(program, set(known), options.site, folder)
    old = {file.name: file.read_bytes() for file in folder.glob("*.py")}
    path = os.pathsep.join([str(HERE.parent), str(options.site), os.environ.get("PYTHONPATH", "")])
    kept = options.folder / f"{program.stem}.kept"
    kept.mkdir()
    judged(options.python, folder, path, kept / "eager", "eager")
    before = judged(options.python, folder, path, kept / "before")
    command = [options.python, "-m", "tclint", "--no-cache", "--isolated", "--exit-zero", "--quiet"]
    command += ["--fix", "--unsafe-fixes", "--verify", "--verify-timeout", str(options.timeout), "."]
    begun = time.monotonic()
    words = told(command, folder, path)
    seconds = round(time.monotonic() - begun)
    (kept / "told.txt").write_text(words, encoding="utf-8")
    after = judged(options.python, folder, path, kept / "after")
    same = told([options.python, str(HERE / "models" / "_judge.py"), str(kept), "same"], folder, path).strip()
    left = {tuple(place.rsplit(":", 1)) for place in after["breaks"]}
    rows = []
    for name, line in sorted(sites_of(before, known)):
        moved = Moved(old[name], (folder / name).read_bytes()).new(line)
        gid = next(of[line] for file, of in known.items() if Path(file).name == name and line in of)
        rows.append({"file": name, "line": line, "gid": gid, "removed": (name, str(moved)) not in left})
    lines = [text for text in words.splitlines() if text.startswith("tclint: ")]
    graphs = {"before": before["graphs"], "after": after["graphs"]}
    errors = {"before": before["error"], "after": after["error"]}
    made = {"model": program.stem, "sites": rows, "graphs": graphs, "errors": errors, "same": same}
    return {**made, "seconds": seconds, "told": lines}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("truth", type=Path)
    parser.add_argument("site", type=Path)
    parser.add_argument("folder", type=Path, help="is made, and must not be there")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--timeout", type=float, default=240)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    known = broken(options.truth)
    results = []
    for program in sorted((HERE / "models").glob("[a-z]*.py")):
        if options.only and program.stem not in options.only:
            continue
        # A program that shows one part of several models of the record has the breaks of that part.
        own = known.get(program.stem) or {
            file: of for files in known.values() for file, of in files.items() if program.stem in Path(file).parts
        }
        results.append(one(program, own, options))
        print(json.dumps(results[-1])[:2000], flush=True)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        fair = result["same"].startswith("same") and not result["errors"]["after"]
        for row in result["sites"]:
            kinds[row["gid"]]["sites"] += 1
            kinds[row["gid"]]["removed"] += row["removed"] and fair
    for gid, counts in sorted(kinds.items(), key=lambda item: -item[1]["sites"]):
        print(f"{gid}: {counts['removed']} of {counts['sites']}")
    total = sum(counts["sites"] for counts in kinds.values())
    removed = sum(counts["removed"] for counts in kinds.values())
    print(f"{len(results)} models, {total} break sites, removed {removed} ({removed / max(1, total):.1%})")
    if options.out:
        options.out.write_text(json.dumps(results, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
