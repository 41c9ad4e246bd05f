"""How often `--target-torch` agrees with torch on whether a small program breaks the graph, release by release.

    python benchmarks/versions.py PROBES_FOLDER [--wrong]

The folder holds `probes.py` (each probe one idiom, registered by name) and `versions.json` (what each release did with it).
Each probe becomes a program of its own, which is compiled and called once; a finding that is not of low confidence and
whose effect is a graph break counts as "breaks".
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: The function of the probes' file at which definitions end and running begins.
RUNS = "run_one"
ONE_TENSOR = "X()"


def programs(path: Path) -> Iterator[tuple[str, str]]:
    """The name of each probe and a program that compiles it and calls it once."""
    shared: list[ast.stmt] = []
    probes: list[tuple[str, ast.expr, str, ast.expr | None]] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == RUNS:
            break
        probe = _probe(node)
        if probe is None:
            shared.append(node)
        else:
            probes.append(probe)
    text = "\n".join(ast.unparse(node) for node in shared)
    for name, made, kind, arguments in probes:
        target = ast.unparse(made)
        if kind != "fn":
            target = f"({target})()"
        yield name, f"{text}\nprobe = torch.compile({target})\nprobe({_call(arguments, kind)})\n"


def _probe(node: ast.stmt) -> tuple[str, ast.expr, str, ast.expr | None] | None:
    """Name, what is compiled, how it is made (fn, mk, mod, modpre) and the list of argument makers."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Name) and call.func.id == "simple" and isinstance(call.args[0], ast.Constant):
            return str(call.args[0].value), call.args[1], "fn", call.args[2] if len(call.args) > 2 else None
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Subscript)
        and isinstance(node.value, ast.Tuple)
    ):
        key = node.targets[0].slice
        kind, made, arguments = node.value.elts
        if isinstance(key, ast.Constant) and isinstance(kind, ast.Constant):
            return str(key.value), made, str(kind.value), arguments
    return None


def _call(arguments: ast.expr | None, kind: str) -> str:
    """The arguments of the first call, as source."""
    if not (isinstance(arguments, ast.BinOp) and isinstance(arguments.left, ast.List)):
        return ONE_TENSOR
    maker = arguments.left.elts[0]
    if isinstance(maker, ast.Lambda) and isinstance(maker.body, ast.Tuple) and kind != "modpre":
        known = {"i": ast.Constant(0)}
        body = _Substitute(known).visit(maker.body)
        return ", ".join(ast.unparse(element) for element in body.elts)
    return ONE_TENSOR


class _Substitute(ast.NodeTransformer):
    def __init__(self, known: dict[str, ast.Constant]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.known.get(node.id, node)


def said_to_break(folder: Path, release: str) -> set[str]:
    """The stems of the programs that are said to break on a release."""
    command = [sys.executable, "-m", "tclint", ".", "--no-cache", "-j", "1", "--isolated", "--exit-zero"]
    command += ["--output-format", "json", "--target-torch", release]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    findings = json.loads(done.stdout)["findings"]
    return {
        Path(finding["path"]).stem
        for finding in findings
        if finding["effect"] in ("graph-break", "error") and finding["confidence"] != "low"
    }


def _breaks(seen: dict[str, Any]) -> bool | None:
    """Whether a release broke the graph: it counted a break, compiled nothing, or fullgraph=True refused."""
    if seen.get("gb") is None:
        return None
    return bool(seen["gb"]) or not seen["graphs"] or seen["full"] not in ("ok", "-")


Count = dict[str, tuple[int, int]]


def score(folder: Path) -> tuple[Count, list[str]]:
    """By release, how many answers agree and of how many; and those that do not."""
    measured = json.loads((folder / "versions.json").read_text(encoding="utf-8"))
    found: Count = {}
    wrong = []
    with tempfile.TemporaryDirectory() as made:
        names = {}
        for number, (name, text) in enumerate(programs(folder / "probes.py")):
            names[f"probe_{number}"] = name
            (Path(made) / f"probe_{number}.py").write_text(text, encoding="utf-8")
        for version in measured["versions"]:
            said = said_to_break(Path(made), ".".join(version.split(".")[:2]))
            agreeing = asked = 0
            for stem, name in names.items():
                breaks = _breaks(measured["probes"].get(name, {}).get(version, {}))
                if breaks is None:
                    continue
                asked += 1
                if (stem in said) == breaks:
                    agreeing += 1
                else:
                    wrong.append(f"{version} {name}: {'said' if stem in said else 'not said'} to break")
            found[version] = agreeing, asked
    return found, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", action="store_true", help="name what does not agree")
    options = parser.parse_args()
    found, wrong = score(options.folder)
    if options.wrong:
        print("\n".join(wrong))
    for version, (agreeing, asked) in found.items():
        print(f"{version:7} {agreeing} of {asked} agree: {agreeing / asked:.1%}")
    agreeing, asked = (sum(count[place] for count in found.values()) for place in (0, 1))
    print(f"in all  {agreeing} of {asked} agree: {agreeing / asked:.1%}")


if __name__ == "__main__":
    main()
