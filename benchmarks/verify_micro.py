#!/usr/bin/env python3
"""Verdicts against the recorded truth of small programs.

    python benchmarks/verify_micro.py FOLDER [--python PYTHON] [--jobs N] [--limit N] [--bad N]

FOLDER holds `truth.json` and `cases/`. Every true break becomes a finding on its line, which must be confirmed; every
other
executed line of the same functions becomes a finding too, which must not be. Graph-break and recompile folders are
told apart by what the truth says of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tclint.model.finding import Confidence, Effect, Finding, Severity, Span, Step
from tclint.verify import Outcome, VerifyOptions, verify


def finding(path: str, line: int, effect: Effect, truth: str) -> Finding:
    return Finding(
        code="TCL000",
        name=truth,
        path=path,
        span=Span(line, 1, line, 2),
        message=truth,
        effect=effect,
        severity=Severity.HIGH,
        confidence=Confidence.HIGH,
        chain=(Step(path, 1, "Model.forward"),) if effect is Effect.GRAPH_BREAK else (),
    )


def graph_breaks(runs: list[dict[str, Any]]) -> list[Finding]:
    found = []
    for run in runs:
        path = run["model"]
        breaks = {item["line"] for item in run["breaks"] if item["line"] and item["file"] == path}
        for line in sorted(set(run["covered"].get(path, ())) | breaks):
            truth = "break" if line in breaks else "error" if run["kind"] == "error" else "clean"
            found.append(finding(path, line, Effect.GRAPH_BREAK, truth))
    return found


def recompiles(runs: list[dict[str, Any]], folder: Path) -> list[Finding]:
    found = []
    for run in runs:
        lines = run["hazard_lines"]
        if not lines:
            text = (folder / run["case"]).read_text(encoding="utf-8").splitlines()
            lines = [number for number, line in enumerate(text, 1) if line.lstrip().startswith("return ")][:1]
        truth = "break" if run["labelled"] == "hazard" else "clean"
        found.extend(finding(run["case"], line, Effect.RECOMPILE, truth) for line in lines)
    return found


def cudagraphs(runs: list[dict[str, Any]], folder: Path) -> list[Finding]:
    found = []
    for run in runs:
        if not run["agree"]:
            continue
        lines = run["hazard_lines"]
        if not lines:
            text = (folder / run["case"]).read_text(encoding="utf-8").splitlines()
            lines = [number for number, line in enumerate(text, 1) if line.lstrip().startswith("return ")][:1]
        truth = "break" if run["labelled"] == "hazard" else "clean"
        found.extend(finding(run["case"], line, Effect.CUDAGRAPH, truth) for line in lines)
    return found


ALLOWED = {
    "break": {Outcome.CONFIRMED},
    "clean": {Outcome.REFUTED, Outcome.NOT_REACHED},
    # Lines of a program that does not compile at all: the truth does not say which line is to blame.
    "error": {Outcome.CONFIRMED, Outcome.REFUTED, Outcome.NOT_REACHED},
}


DISPUTED = {("asserts__torch_assert_close.py", 8), ("asserts__torch_assert_close.py", 9)}
"""The truth blames `y = x * 2` on line 8; Dynamo's own stack names the call of assert_close on line 9."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--bad", type=int, default=40)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    cases = options.folder / "cases"
    runs = json.loads((options.folder / "truth.json").read_text(encoding="utf-8"))["runs"]
    runs = [run for run in runs if options.only in run.get("model", run.get("case"))]
    runs = runs[: options.limit or None]
    if "covered" in runs[0]:
        findings = graph_breaks(runs)
    elif "outcome" in runs[0]:
        findings = cudagraphs(runs, cases)
    else:
        findings = recompiles(runs, cases)
    settings = VerifyOptions(
        device=options.device, timeout=options.timeout, jobs=options.jobs, python=options.python, root=str(cases)
    )
    start = time.monotonic()

    def progress(done: int, total: int, name: str) -> None:
        if done % 50 == 0:
            print(f"  {done}/{total} targets, {time.monotonic() - start:.0f} s", file=sys.stderr)

    report = verify(findings, settings, progress)
    seconds = time.monotonic() - start
    table: Counter[tuple[str, str]] = Counter()
    bad = []
    disputed = []
    for verdict in report.verdicts:
        truth = verdict.finding.name
        table[truth, verdict.outcome.value] += 1
        if verdict.outcome is Outcome.INCONCLUSIVE or verdict.outcome in ALLOWED[truth]:
            continue
        (disputed if (verdict.finding.path, verdict.finding.line) in DISPUTED else bad).append(verdict)
    decided = sum(count for (_, outcome), count in table.items() if outcome != "inconclusive")
    print(f"torch {report.torch}, {report.device}: {len(runs)} programs, {len(findings)} findings, {seconds:.0f} s")
    for (truth, outcome), count in sorted(table.items()):
        print(f"  {truth:6} {outcome:13} {count:5}")
    shares = f"decided {decided / max(1, len(findings)):.1%}, disagreeing {len(bad)}"
    print(f"{shares}, disputed {len(disputed)}, missed {len(report.missed)}")
    for verdict in bad[: options.bad]:
        place = f"{verdict.finding.path}:{verdict.finding.line}"
        print(f"  {place} {verdict.finding.name} -> {verdict.outcome.value}: {verdict.words[:160]}")
    unsure = [verdict for verdict in report.verdicts if verdict.outcome is Outcome.INCONCLUSIVE]
    for verdict in unsure[: options.bad]:
        print(f"  ? {verdict.finding.path}:{verdict.finding.line} {verdict.words[:200]}")
    for item in report.missed[: options.bad]:
        print(f"  missed {item.path}:{item.line} {item.words[:120]}")
    if options.out:
        rows = [
            [v.finding.path, v.finding.line, v.finding.name, v.outcome.value, v.words, v.gb_id] for v in report.verdicts
        ]
        options.out.write_text(json.dumps(rows, indent=0), encoding="utf-8")
    return 1 if bad or decided < 0.95 * len(findings) else 0


if __name__ == "__main__":
    raise SystemExit(main())
