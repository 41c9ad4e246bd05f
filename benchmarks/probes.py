"""Hundreds of one-line programs: does Dynamo break, and does tclint say so?

    python benchmarks/probes.py            # what tclint says, against benchmarks/probes.json
    python benchmarks/probes.py --judge    # asks Dynamo again, and writes benchmarks/probes.json (needs torch)

A program is a function of one tensor in `benchmarks/probes/`. It breaks where Dynamo raises under
`torch._dynamo.error_on_graph_break`. Whatever one would write in a forward was written down and asked: 47 of the breaks were
not found then, and what could be told in general was mended.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import re
import sys
import tempfile
import types
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FOLDER, ANSWERS = HERE / "probes", HERE / "probes.json"
_PROGRAM = re.compile(r"(?m)^def (?!_)(\w+)")


def flagged(source: str) -> dict[str, list[str]]:
    """The programs of a file that tclint says will break, with the rules that say so."""
    from tclint.api import lint

    found: dict[str, list[str]] = {}
    compiled = _PROGRAM.sub(r"@torch.compile\ndef \1", source)
    starts = [(compiled.count("\n", 0, m.start()) + 1, m[1]) for m in _PROGRAM.finditer(compiled)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "programs.py")
        path.write_text(compiled, encoding="utf-8")
        for finding in lint([path], cwd=folder, isolated=True).findings:
            owner = [name for line, name in starts if line <= finding.span.line][-1:]
            if finding.effect == "graph-break" and owner:
                found.setdefault(owner[0], []).append(finding.code)
    return found


def judge(path: Path) -> dict[str, str]:
    """What Dynamo says of each program: nothing, or why it breaks. What does not run in eager mode is no program."""
    import torch

    warnings.simplefilter("ignore")
    spec = importlib.util.spec_from_file_location("programs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    told: dict[str, str] = {}
    for name, program in list(vars(module).items()):
        if isinstance(program, types.FunctionType) and program.__module__ == "programs" and not name.startswith("_"):
            torch._dynamo.reset()
            answer = _ask(program, torch.randn(4, 8, requires_grad=True))
            if answer is not None:
                told[name] = answer
    return told


def _ask(program: Any, x: Any) -> str | None:
    import torch

    with contextlib.redirect_stdout(io.StringIO()):
        try:
            program(x)
        except Exception:
            return None
        try:
            with torch._dynamo.error_on_graph_break(True):
                torch.compile(program, backend="eager")(x)
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", action="store_true", help="ask Dynamo again")
    if parser.parse_args().judge:
        import torch

        judged = {path.stem: judge(path) for path in sorted(FOLDER.glob("*.py"))}
        about = {"torch": torch.__version__, "python": sys.version.split()[0]}
        ANSWERS.write_text(json.dumps({**about, "programs": judged}, indent=1) + "\n", encoding="utf-8")
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
    total = [0, 0, 0]
    for stem, truth in answers["programs"].items():
        said = flagged((FOLDER / f"{stem}.py").read_text(encoding="utf-8"))
        missed = [name for name, why in truth.items() if why and name not in said]
        false = [name for name, why in truth.items() if not why and name in said]
        total = [a + b for a, b in zip(total, (sum(map(bool, truth.values())), len(missed), len(false)), strict=True)]
        print(f"{stem}: {len(truth)} programs")
        for name in missed:
            print(f"  missed {name}: {truth[name]}")
        for name in false:
            print(f"  false  {name}: {', '.join(said[name])}")
    breaks, missed_count, false_count = total
    print(f"{breaks} break under torch {answers['torch']}: {breaks - missed_count} found, {false_count} others flagged")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
