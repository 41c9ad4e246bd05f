"""Small programs that are called several times: does torch compile again and again, and does tclint say so, and where?

    python benchmarks/recompiles.py            # what tclint says, against benchmarks/recompiles.json
    python benchmarks/recompiles.py --judge    # asks torch again, and writes benchmarks/recompiles.json (needs torch)

A program of `benchmarks/recompiles/` is a script whose `main()` calls a compiled callable several times. It is a hazard
where one function is compiled three times or more; `# recompile` stands on the lines that may be blamed. People
who did not know the rules wrote them, and torch corrected their expectations.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import json
import runpy
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER, ANSWERS = HERE / "recompiles", HERE / "recompiles.json"
MARK = "# recompile"
HAZARD = 3


@dataclass(frozen=True, slots=True)
class Score:
    """The programs by name."""

    found: frozenset[str]
    missed: frozenset[str]
    """Hazards without a finding on a line that is marked."""
    false: frozenset[str]
    """What settles, and has a finding."""


def marked(path: Path) -> set[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if line.rstrip().endswith(MARK)}


def flagged() -> dict[str, set[int]]:
    """The lines of each program that tclint says will recompile."""
    from tclint.api import lint

    found: dict[str, set[int]] = collections.defaultdict(set)
    for finding in lint([FOLDER], cwd=str(FOLDER), isolated=True).findings:
        if finding.effect == "recompile" and finding.confidence != "low":
            found[Path(finding.path).stem].update(range(finding.span.line, finding.span.end_line + 1))
    return dict(found)


def score(compiles: dict[str, int]) -> Score:
    said = flagged()
    hazards = {name for name, count in compiles.items() if count >= HAZARD}
    found = {name for name in hazards if said.get(name, set()) & marked(FOLDER / f"{name}.py")}
    return Score(frozenset(found), frozenset(hazards - found), frozenset((said.keys() & compiles.keys()) - hazards))


def judge(path: Path) -> int:
    """How often torch compiles the function that it compiles most, in a process of its own."""
    ran = subprocess.run([sys.executable, __file__, "--one", str(path)], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{path}: {ran.stderr.strip().splitlines()[-1]}")
    return int(ran.stdout)


def _one(path: Path) -> int:
    import torch
    from torch._dynamo.utils import get_compilation_metrics

    warnings.simplefilter("ignore")
    plain = torch.compile

    def compile(*args: object, **options: object) -> object:
        return plain(*args, **{"backend": "aot_eager", **options})  # type: ignore[call-overload]

    torch.compile = compile  # type: ignore[assignment]
    in_place = torch.nn.Module.compile
    torch.nn.Module.compile = lambda self, *args, **options: in_place(  # type: ignore[method-assign]
        self, *args, **{"backend": "aot_eager", **options}
    )
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(path), run_name="__main__")
    # A backward pass that is compiled when it is first run belongs to no function.
    told = [metrics for metrics in get_compilation_metrics() if metrics.co_name]
    counts = collections.Counter((m.co_filename, m.co_firstlineno, m.co_name) for m in told)
    return max(counts.values(), default=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", action="store_true", help="ask torch again")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(_one(options.one))
        return
    if options.judge:
        import torch

        told = {path.stem: judge(path) for path in sorted(FOLDER.glob("*.py"))}
        ANSWERS.write_text(
            json.dumps({"torch": torch.__version__, "compiles": told}, indent=1) + "\n", encoding="utf-8"
        )
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
    result = score(answers["compiles"])
    hazards = len(result.found) + len(result.missed)
    print(
        f"{hazards} of {len(answers['compiles'])} recompile under torch {answers['torch']}: {len(result.found)} found",
        end="",
    )
    print(f", {len(result.false)} others flagged")
    for word, names in (("missed", result.missed), ("false", result.false)):
        for name in sorted(names):
            print(f"  {word} {name}")


if __name__ == "__main__":
    main()
