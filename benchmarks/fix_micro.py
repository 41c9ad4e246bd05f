#!/usr/bin/env python3
"""`tclint --fix --unsafe-fixes --verify` over small programs whose breaks are known: how many are removed.

    python benchmarks/fix_micro.py FOLDER [--python PYTHON] [-j N] [--limit N] [--every N] [--out FILE]
    python benchmarks/fix_micro.py --cases DIR --truth FILE [-j N] [...]

FOLDER holds `truth.json` and `cases/`; DIR and FILE say where they are otherwise. A break site is a line of a program at which Dynamo broke. It is *offered* where
a graph-break finding stands on it with a fix that pays as far as the linter can tell, and *removed* where that fix was kept with proof; where the proof says
that no break is left in the program, every site of it is removed, as a fix may lead to another one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tclint.fixes import passes
from tclint.model.finding import Effect, Finding
from tclint.run.project import Project
from tclint.sources import configuration
from tclint.verify import VerifyOptions, VerifyReport, proof, verify
from tclint.verify.process import stop_servers
from tclint.verify.spans import outline


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--cases", type=Path, help="the programs, where they are not in FOLDER/cases")
    parser.add_argument("--truth", type=Path, help="the recorded breaks, where they are not in FOLDER/truth.json")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="only every n-th program")
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=float, default=240)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.folder is None and (options.cases is None or options.truth is None):
        parser.error("give FOLDER, or both --cases and --truth")
    cases = options.cases or options.folder / "cases"
    truth = options.truth or options.folder / "truth.json"
    runs = json.loads(truth.read_text(encoding="utf-8"))["runs"]
    runs = [run for run in runs if run["breaks"] and options.only in run["model"]][:: options.every]
    runs = runs[: options.limit or None]
    sites = {
        (run["model"], item["line"])
        for run in runs
        for item in run["breaks"]
        if item["line"] and item["file"] == run["model"]
    }
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tclint-bench-") as folder:
        for run in runs:
            shutil.copyfile(cases / run["model"], Path(folder, run["model"]))
        names = sorted({run["model"] for run in runs})
        overrides = {"no-cache": True, "min-confidence": "low"}
        settings = configuration.load(names, cwd=folder, isolated=True, overrides=overrides)
        how = VerifyOptions(timeout=options.timeout, jobs=options.jobs, python=options.python, root=folder, keep=True)
        asked = 0

        def ask(findings: list[Finding], about: proof.Inquiry) -> VerifyReport:
            nonlocal asked
            asked += len(findings)
            return verify(findings, replace(how, root=about.root, record=about.record, compare=about.compare))

        offered: set[tuple[str, int]] = set()
        proofs: list[str] = []
        rejected: list[str] = []
        for name in names:
            # By itself: a rejected fix in one program must not cost a round over all of them.
            project = Project.of([name], settings, folder)
            found = proof.prove(project, ask, unsafe=True)  # type: ignore[arg-type]
            proofs += found.proofs
            rejected += found.rejected
            # What a user is offered: the fixes after which, as the linter sees it, the hazard is gone and no other came.
            tried = project.fix(unsafe=True, write=False).fixed
            for each in project.lint().findings:
                if not passes.applicable(each, True) or not tried.pays(each):
                    continue
                if each.effect in (Effect.GRAPH_BREAK, Effect.ERROR):
                    lines = outline(str(Path(folder, name))).statement(each.span.line, each.span.end_line)
                    offered |= {(name, line) for line in lines} & sites
            if len(proofs) % 20 == 0:
                print(f"  {name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        stop_servers()
        removed = {
            (name, line)
            for name, _, rest in (text.partition(":") for text in proofs)
            for line in outline(str(Path(folder, name))).statement(*[int(rest.split()[0].rstrip(":"))] * 2)
        } & sites
        clean = {text.partition(":")[0] for text in proofs if " before, 0 after; programs" in text}
        removed |= {site for site in sites if site[0] in clean}
        offered |= removed
    print(f"{len(runs)} programs, {len(sites)} break sites, {time.monotonic() - start:.0f} s, {asked} verdicts")
    print(f"offered {len(offered)} ({len(offered) / max(1, len(sites)):.1%} of all)")
    share = (
        f"{len(removed) / max(1, len(sites)):.1%} of all, {len(removed) / max(1, len(offered)):.1%} of those offered"
    )
    print(f"removed {len(removed)}: {share}")
    kinds = Counter(text.split(": ", 1)[1].partition(": ")[0] for text in rejected)
    print(f"rejected {len(rejected)}: {dict(kinds)}")
    for text in rejected:
        print(f"  {text[:220]}")
    if options.out:
        data = {"proofs": proofs, "rejected": rejected, "offered": sorted(offered), "removed": sorted(removed)}
        options.out.write_text(json.dumps({**data, "sites": len(sites)}, indent=1), encoding="utf-8")
    return 0 if len(removed) >= 0.8 * len(offered) and len(removed) >= 0.35 * len(sites) else 1


if __name__ == "__main__":
    raise SystemExit(main())
