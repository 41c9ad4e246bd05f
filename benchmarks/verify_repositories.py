#!/usr/bin/env python3
"""How many findings in public repositories get a verdict without a line written by the user.

    python benchmarks/verify_repositories.py --clones DIR [--python PYTHON] [--path FOLDER] [--device cuda] [--only NAME ...]
    python benchmarks/verify_repositories.py --reports DIR --device cuda      take DIR/NAME.json, the JSON of runs on another machine
    python benchmarks/verify_repositories.py --docs             renew the table in docs/accuracy.md from the kept answers

DIR/NAME holds each repository (the commits of `repositories.py`; a package from the index by its version). What it needs must be
importable by PYTHON, FOLDER in front. Every repository is verified by the command that its user would type. The answers are
kept in `verify_repositories.json`: how many findings were confirmed, refuted, not reached and left open, and of the last two
each finding with what verify said. A CUDA-graph finding is left open where there is no CUDA device, and counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "benchmarks" / "verify_repositories.json"
PAGE = ROOT / "docs" / "accuracy.md"
NAMES = (
    "nanochat",
    "gpt-fast",
    "litgpt",
    "modded-nanogpt",
    "x-transformers",
    "vector-quantize-pytorch",
    "open_clip",
    "sam2",
    "nanoVLM",
)
OUTCOMES = ("confirmed", "refuted", "not-reached", "inconclusive")
DECIDED = OUTCOMES[:2]


def verified(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """What `tclint verify` says of one repository."""
    command = [sys.executable, "-m", "tclint", "verify", "--no-cache", "--quiet", "--output-format", "json"]
    command += ["--python", options.python, "--device", options.device, "--timeout", str(options.timeout)]
    command += ["--jobs", str(options.jobs), "."]
    env = dict(os.environ) | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "MPLBACKEND": "Agg"}
    if options.path:
        env["PYTHONPATH"] = str(options.path.resolve())
    begun = time.monotonic()
    done = subprocess.run(command, cwd=options.clones / name, env=env, capture_output=True, text=True, check=False)
    if not done.stdout:
        # The others are measured all the same; this one keeps what was known of it.
        print(f"{name}: {done.stderr.strip()[-400:]}")
        return {}
    return row_of(json.loads(done.stdout), options.device, round(time.monotonic() - begun))


def reported(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """What a run said that somebody made elsewhere."""
    file = options.reports / f"{name}.json"
    if not file.is_file() or not file.stat().st_size:
        print(f"{name}: no report")
        return {}
    return row_of(json.loads(file.read_text(encoding="utf-8")), options.device, 0)


def row_of(report: dict[str, Any], device: str, seconds: int) -> dict[str, Any]:
    rows = [
        (finding, finding.get("verified") or {"outcome": "inconclusive", "words": ""}) for finding in report["findings"]
    ]
    counts = Counter(verdict["outcome"] for _, verdict in rows)
    return {
        "device": device,
        "findings": len(rows),
        **{outcome: counts.get(outcome, 0) for outcome in OUTCOMES},
        "seconds": seconds,
        "verdicts": [
            {
                "at": f"{finding['path']}:{finding['line']}",
                "code": finding["code"],
                "outcome": verdict["outcome"],
                "words": " ".join(verdict["words"].split())[:300],
                "inputs": verdict.get("inputs", "")[:160],
            }
            for finding, verdict in rows
        ],
    }


def table(kept: dict[str, Any]) -> str:
    lines = ["| repository | findings | confirmed | refuted | not reached | left open | device |", "|-|-|-|-|-|-|-|"]
    total: Counter[str] = Counter()
    for name in NAMES:
        if name in kept:
            row = kept[name]
            total.update({key: row[key] for key in ("findings", *OUTCOMES)})
            lines.append(
                f"| {name} | {row['findings']} | {' | '.join(str(row[o]) for o in OUTCOMES)} | {row['device']} |"
            )
    lines.append(f"| all | {total['findings']} | {' | '.join(str(total[o]) for o in OUTCOMES)} | |")
    decided = sum(total[outcome] for outcome in DECIDED)
    lines += [
        "",
        f"{decided} of {total['findings']} findings ({decided / max(1, total['findings']):.0%}) got a verdict.",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--path", type=Path, help="a folder of packages that the repositories need")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--only", nargs="*", default=NAMES)
    parser.add_argument("--reports", type=Path, metavar="DIR", help="a folder of NAME.json")
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    for name in options.only if options.clones or options.reports else ():
        row = reported(options, name) if options.reports else verified(options, name)
        if not row:
            continue
        kept[name] = row
        print(name, {key: row[key] for key in ("findings", *OUTCOMES, "seconds")}, flush=True)
        for verdict in row["verdicts"]:
            print(f"  {verdict['outcome']:12} {verdict['code']} {verdict['at']}  {verdict['words'][:150]}")
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if options.docs:
        start, end = "<!-- verified -->", "<!-- /verified -->"
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        PAGE.write_text(f"{before}{start}\n{table(kept)}\n{end}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
