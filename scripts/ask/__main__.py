"""Add a release of torch to the facts, in one command:

    python scripts/ask 2.16.0 --work FOLDER

makes an environment with it under FOLDER/venvs, asks it (minutes to an hour, one core; a run that was stopped goes on where it
was), writes FOLDER/raw/2.16.json, prints what the release does otherwise than the newest one before it, and puts its answers
into tclint/torch_facts/table.json. Review the differences, then set NEWEST in tclint/torch_facts/releases.py.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import environment
import merge
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
    table = merge.merged(raw / f"{release}.json")
    print(table.report())
    store.TABLE.write_text(table.written())
    return 0


if __name__ == "__main__":
    sys.exit(main())
