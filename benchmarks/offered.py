"""How many of the true findings on public repositories carry a change that can be applied, at their line or at the site.

    python benchmarks/offered.py --clones DIR                 DIR/NAME for every repository that is there
    python benchmarks/offered.py --clones DIR --only NAME     one of them, with what is offered for each finding
    python benchmarks/offered.py --clones DIR --alone NAME    of that one the files with true findings, without the others

A change counts where `--fix --unsafe-fixes` makes it: the fixed text was linted, and the change pays (`--check-fixes`). Verdicts
and pinned commits are those of `repositories.py`; what is found no more is not counted, but what is not found alone is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VERDICTS = ROOT / "benchmarks" / "repositories.json"
Place = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Offer:
    """One finding with a verdict that is right, and the title of its change."""

    place: Place
    verdict: str
    title: str


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True, action="append")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--alone", action="append", default=[])
    options = parser.parse_args(arguments)
    found: dict[str, list[Offer]] = {}
    for name, rows in json.loads(VERDICTS.read_text()).items():
        clone = next((folder / name for folder in options.clones if (folder / name).is_dir()), None)
        if clone is None or (options.only and name not in options.only):
            continue
        paths = sorted({row["path"] for row in rows if row["verdict"] == "true"}) if name in options.alone else []
        known = [row for row in rows if row["path"] in paths or not paths]
        found[name] = offers(linted(clone, paths), known, bool(paths))
        print(row_of(name, found[name]), flush=True)
        for each in found[name] if options.only else ():
            print("   ", *each.place, each.verdict, "|", each.title or "-")
    print(row_of("all", [each for those in found.values() for each in those]))
    return 0


def linted(clone: Path, paths: Sequence[str]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tclint", "--exit-zero", "--output-format", "json", "--check-fixes"]
    command += ["--no-project", *paths] if paths else ["."]
    run = subprocess.run(command, cwd=clone, stdout=subprocess.PIPE, check=True)
    findings: list[dict[str, Any]] = json.loads(run.stdout)["findings"]
    return findings


def offers(findings: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], all_: bool = False) -> list[Offer]:
    """The findings with a verdict that is right; one place may have several findings of a rule.

    `all_`: what was not found counts too, as one without a change.
    """
    titles: dict[Place, str] = {}
    for finding in findings:
        place = (finding["path"], finding["line"], finding["code"])
        fix = finding["fix"]
        titles[place] = titles.get(place) or (fix["title"] if fix and fix["edits"] else "")
    places = ((row["verdict"], (row["path"], row["line"], row["code"])) for row in rows)
    right = [(verdict, place) for verdict, place in places if _is_right(verdict) and (all_ or place in titles)]
    return [Offer(place, verdict, titles.get(place, "")) for verdict, place in right]


def _is_right(verdict: str) -> bool:
    return verdict in ("true", "assumed-true")


def row_of(name: str, those: Sequence[Offer]) -> str:
    true = [each for each in those if each.verdict == "true"]
    return f"| {name} | {' | '.join(_share(each) for each in (true, those))} |"


def _share(those: Sequence[Offer]) -> str:
    offered = sum(bool(each.title) for each in those)
    return f"{offered} of {len(those)}" + (f" ({offered / len(those):.0%})" if those else "")


if __name__ == "__main__":
    sys.exit(main())
