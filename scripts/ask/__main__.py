"""Add a release of torch to the facts, in one command:

    python scripts/ask 2.16.0 --work FOLDER

makes an environment with it under FOLDER/venvs, asks it (minutes to an hour, one core; a run that was stopped goes on where it
was), writes FOLDER/raw/2.16.json, prints what the release does otherwise than the one before it, and packs the answers of all
releases there into tclint/torch_facts/table.json. Review the differences, then set NEWEST in tclint/torch_facts/releases.py.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import differences
import environment
import store

HERE = Path(__file__).resolve().parent
NUMBERS = HERE.parent.parent / "benchmarks" / "specialised.json"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="ask", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("version", help="2.16.0")
    parser.add_argument("--work", type=Path, required=True, help="where environments and raw answers are kept")
    parser.add_argument("--like", default="2.13", help="the release whose ways of calling are asked again")
    options = parser.parse_args()
    raw = options.work / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    python = environment.install(options.version, options.work / "venvs")
    release = ".".join(options.version.split(".")[:2])
    command = [str(python), str(HERE / "run.py"), str(raw / f"{release}.json"), "--numbers", str(NUMBERS)]
    like = raw / f"{options.like}.json"
    if like.exists() and options.like != release:
        command += ["--questions", str(like)]
    subprocess.run(command, check=True)
    if len(list(raw.glob("2.*.json"))) > 1:
        print(differences.report(raw, release))
    return write(store.Table(raw))


def write(table: store.Table) -> int:
    """Write the table, unless a release that it has would be lost for want of its raw answers."""
    told = json.loads(store.TABLE.read_text())["about"]["releases"] if store.TABLE.exists() else []
    lost = [release for release in told if store.minor(release) not in table.known]
    if lost:
        print(f"not written: the raw answers of {', '.join(lost)} are missing; ask these releases too", file=sys.stderr)
        return 1
    store.TABLE.write_text(table.write())
    return 0


if __name__ == "__main__":
    sys.exit(main())
