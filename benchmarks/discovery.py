#!/usr/bin/env python3
"""What verify finds by itself, with no finding given: small programs against their recorded truth.

    python benchmarks/discovery.py FOLDER [--device cuda] [--python PYTHON] [--jobs N] [--limit N] [--only TEXT]

FOLDER holds `truth.json` and `cases/`; recompile programs in their plain form (`micro/plain.py`). A hazard counts as
discovered when verify lists it as missed by lint: a graph break on its line, a recompile or a hurt CUDA graph in its
file. What is listed of a program that the truth calls clean is false; where what ran contradicts the label (`agree`), the
program is not counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tclint.verify import VerifyOptions, verify


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    cases = options.folder / "cases"
    runs = json.loads((options.folder / "truth.json").read_text(encoding="utf-8"))["runs"]
    runs = [run for run in runs if options.only in run.get("model", run.get("case"))][: options.limit or None]
    runs = [run for run in runs if run.get("agree", True)]
    effect = "graph-break" if "covered" in runs[0] else "cudagraph" if "skips" in runs[0] else "recompile"
    wanted: set[tuple[str, int]] = set()
    for run in runs:
        if effect == "graph-break":
            wanted |= {(run["model"], item["line"]) for item in run["breaks"] if item["file"] == run["model"]}
        elif run["labelled"] == "hazard":
            wanted.add((run["case"], 0))
    files = [run.get("model", run.get("case")) for run in runs]
    settings = VerifyOptions(
        device=options.device, timeout=options.timeout, jobs=options.jobs, python=options.python, root=str(cases)
    )
    start = time.monotonic()

    def progress(done: int, total: int, name: str) -> None:
        if done % 25 == 0:
            print(f"  {done}/{total} targets, {time.monotonic() - start:.0f} s", file=sys.stderr)

    report = verify([], settings, progress, also=files)
    found = {
        (item.path, item.line if effect == "graph-break" else 0): item
        for item in report.missed
        if item.effect == effect
    }
    hit = wanted & found.keys()
    false = sorted(found.keys() - wanted)
    share = len(hit) / max(1, len(wanted))
    seconds = time.monotonic() - start
    print(
        f"{len(files)} programs, {seconds:.0f} s: {len(hit)} of {len(wanted)} discovered ({share:.1%}), {len(false)} false"
    )
    for place in sorted(wanted - hit):
        print(f"  not discovered {place[0]}:{place[1]}")
    for place in false:
        print(f"  false {place[0]}:{place[1]} {found[place].words[:140]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
