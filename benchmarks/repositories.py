"""What tclint says about public repositories, held against verdicts of people who read the source.

    python benchmarks/repositories.py --clones DIR              lint DIR/NAME for every repository, print precision
    python benchmarks/repositories.py --clones DIR --only NAME  one of them, with every finding that has no verdict
    python benchmarks/repositories.py --clones DIR --docs       and renew the table in docs/accuracy.md
    python benchmarks/repositories.py --clones DIR --answers A  keep in A what tclint said, and ask again only what is not there

The repositories are pinned by commit and never copied here; `repositories.json` holds the verdicts: a fingerprint of each
finding, whether it is true, true if that forward were compiled (`assumed-true`), false, or true and without cost (`no-cost`),
one line that says why, and whether it was run or read: `run` means that the construct was run alone under Dynamo, not the
repository's program; `read` that the flagged lines and what is around them were read. A finding without a verdict is listed and counts as neither.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VERDICTS = ROOT / "benchmarks" / "repositories.json"
PAGE = ROOT / "docs" / "accuracy.md"
PINNED = {
    "nanochat": ("karpathy/nanochat", "92d63d4e8bb4df75c3b71618f31ddde2378b2bcd"),
    "modded-nanogpt": ("KellerJordan/modded-nanogpt", "f411b3d346aa52d3504324ca93c230fd84c6c07f"),
    "gpt-fast": ("pytorch-labs/gpt-fast", "32971d3129541c5bfb4f715abc33d1c5f408d204"),
    "litgpt": ("Lightning-AI/litgpt", "26857050fe3ff627cd714fe92f5838f51a3d5efa"),
    "torchtune": ("pytorch/torchtune", "bd2a0fc7c31430972728494fa01aaeeb0ebf1ba1"),
    "torchtitan": ("pytorch/torchtitan", "b5bcd76c66d0acb1a08b176d9639425bc55e0b2a"),
    "lerobot": ("huggingface/lerobot", "7427f31801f944f5ec9ce53cda02862ce7d1638b"),
    "sam2": ("facebookresearch/sam2", "2b90b9f5ceec907a1c18123530e92e794ad901a4"),
    "x-transformers": ("lucidrains/x-transformers", "9252ed7838021ee61e6c5be0930b3a9a88efdf06"),
    "open_clip": ("mlfoundations/open_clip", "89fb801f1e6087880e951fc8354b8a2077b79c6d"),
    "vllm": ("vllm-project/vllm", "a014e35f38c80fb0652387740193ad2147fed6a3"),
    "nanoVLM": ("huggingface/nanoVLM", "4e0c0961846135c2217f95e54cb4c2d66eb55e42"),
    "MegaContext": ("brandf/MegaContext", "b94d12ec36c05ce9a2656ee1154b562cfd8926b7"),
}
RIGHT = ("true", "assumed-true")
KINDS = (*RIGHT, "false", "no-cost")


@dataclass(frozen=True, slots=True)
class Linted:
    """One finding of a run."""

    repository: str
    code: str
    path: str
    line: int
    message: str
    assumed: bool
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Run:
    """What a run over one repository gave."""

    findings: list[Linted]
    lines: list[int]
    """How many lines of output each finding takes, without the blank line between two."""
    sites: int
    unresolved: int
    unlisted: list[str]
    """Places that call torch.compile and are no site of the summary."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--clones", type=Path, required=True, metavar="DIR", help="the folder of the checked-out clones"
    )
    parser.add_argument("--only", metavar="NAME", action="append", choices=PINNED, help="this repository alone")
    parser.add_argument("--docs", action="store_true", help="renew the table in docs/accuracy.md")
    parser.add_argument(
        "--answers", type=Path, metavar="DIR", help="keep what tclint said there, and read what is kept"
    )
    options = parser.parse_args(arguments)
    verdicts = read(VERDICTS)
    runs: dict[str, Run] = {}
    for name in options.only or PINNED:
        clone = options.clones / name
        if not clone.is_dir():
            print(f"{name}: not there: git clone https://github.com/{PINNED[name][0]}, commit {PINNED[name][1]}")
            continue
        runs[name] = lint(name, clone, options.answers)
    for line in told(runs, verdicts):
        print(line)
    if options.docs:
        write_table(PAGE, table(runs, verdicts))
    return 0


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The verdicts, by fingerprint."""
    document = json.loads(path.read_text(encoding="utf-8"))
    found = {row["fingerprint"]: {**row, "repository": name} for name, rows in document.items() for row in rows}
    for row in found.values():
        if row["verdict"] not in KINDS or not row["why"] or row["how"] not in ("run", "read"):
            raise SystemExit(f"{path}: no verdict: {row}")
    return found


def lint(name: str, clone: Path, answers: Path | None = None) -> Run:
    """Lint a clone with the defaults, as somebody would who has just installed tclint."""
    document = json.loads(_answer(answers, f"{name}.json", clone, "--output-format", "json"))
    findings = document["findings"]
    names = fingerprints(findings, lambda path: (clone / path).read_text(encoding="utf-8", errors="replace"))
    linted = [
        Linted(name, f["code"], f["path"], f["line"], f["message"], f["assumed"], fingerprint)
        for f, fingerprint in zip(findings, names, strict=True)
    ]
    blocks = _answer(answers, f"{name}.txt", clone, "--quiet").split("\n\n")
    lengths = [len(block.strip().split("\n")) for block in blocks if " TCL" in block.partition("\n")[0]]
    sites = document["summary"]["sites"]
    listed = {(site["path"], site["line"]) for site in sites}
    unresolved = sum(bool(site["unresolved"]) for site in sites)
    return Run(linted, lengths, len(listed), unresolved, [*_unlisted(clone, listed)])


def _answer(kept: Path | None, name: str, clone: Path, *arguments: str) -> str:
    """What tclint says of a clone, from the file where it was kept if there is one."""
    if kept is None:
        return _tclint(clone, *arguments)
    file = kept / name
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        file.write_text(_tclint(clone, *arguments), encoding="utf-8")
    return file.read_text(encoding="utf-8")


def _tclint(clone: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tclint", "--isolated", "--no-cache", *arguments, "."]
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{clone}: {done.stderr}")
    return done.stdout


def fingerprints(findings: Iterable[Mapping[str, Any]], text_of: Any) -> list[str]:
    """A name for each finding: made of rule, file, function and the flagged line, not of its number."""
    seen: Counter[tuple[str, ...]] = Counter()
    result = []
    for finding in findings:
        try:
            lines = text_of(finding["path"]).split("\n")
        except OSError:
            lines = []
        line = lines[finding["line"] - 1] if finding["line"] <= len(lines) and "cell" not in finding else ""
        key = (finding["code"], finding["path"], finding["function"], " ".join(line.split()) or finding["message"])
        result.append(hashlib.sha256("\0".join((*key, str(seen[key]))).encode()).hexdigest()[:16])
        seen[key] += 1
    return result


def _unlisted(clone: Path, listed: set[tuple[str, int]]) -> Iterator[str]:
    """Calls of torch.compile that the summary does not name."""
    for path in sorted(clone.rglob("*.py")):
        data = path.read_bytes()
        if b"torch.compile" not in data:
            continue
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError):
            continue
        shown = path.relative_to(clone).as_posix()
        for node in ast.walk(tree):
            decorators = getattr(node, "decorator_list", [])
            called = [node] if isinstance(node, ast.Call) else []
            for each in (*called, *(d for d in decorators if not isinstance(d, ast.Call))):
                func = each.func if isinstance(each, ast.Call) else each
                if ast.unparse(func) == "torch.compile" and (shown, each.lineno) not in listed:
                    yield f"{shown}:{each.lineno}"


@dataclass(slots=True)
class Tally:
    """Findings by verdict; those of assumed regions apart."""

    known: Counter[str]
    assumed: Counter[str]

    @property
    def all(self) -> Counter[str]:
        return self.known + self.assumed


def tally(findings: Iterable[Linted], verdicts: Mapping[str, Mapping[str, Any]]) -> Tally:
    counts = Tally(Counter(), Counter())
    for finding in findings:
        row = verdicts.get(finding.fingerprint)
        (counts.assumed if finding.assumed else counts.known)[row["verdict"] if row else "unread"] += 1
    return counts


def precision(counts: Counter[str]) -> str:
    read_ = sum(counts[kind] for kind in KINDS)
    return f"{100 * sum(counts[kind] for kind in RIGHT) / read_:.1f} %" if read_ else "-"


def told(runs: Mapping[str, Run], verdicts: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What a run has to say, a line at a time."""
    yield from table(runs, verdicts)
    findings = [finding for run in runs.values() for finding in run.findings]
    yield ""
    yield "by rule"
    for code in sorted({finding.code for finding in findings}):
        counts = tally((f for f in findings if f.code == code), verdicts).all
        shown = ", ".join(f"{counts[kind]} {kind}" for kind in (*KINDS, "unread") if counts[kind])
        yield f"  {code}  {precision(counts):>8}  {shown}"
    lengths = [length for run in runs.values() for length in run.lines]
    if lengths:
        yield f"lines of output for a finding: median {statistics.median(lengths):g}, most {max(lengths)}"
    for name, run in runs.items():
        for place in run.unlisted:
            yield f"{name}: {place} calls torch.compile and is not listed"
    for finding in findings:
        if finding.fingerprint not in verdicts:
            place = f"{finding.repository}/{finding.path}:{finding.line}"
            yield f"no verdict: {finding.fingerprint} {place} {finding.code} {finding.message}"
    found = {finding.fingerprint for finding in findings}
    for fingerprint, row in verdicts.items():
        if row["repository"] in runs and fingerprint not in found and row["verdict"] in RIGHT:
            yield f"no longer found: {fingerprint} {row['repository']}/{row['path']} {row['code']}: {row['why']}"


def table(runs: Mapping[str, Run], verdicts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Precision by repository, as a table in Markdown."""
    head = "| repository | findings | true | true if compiled | false | no cost | unread | precision | known alone | sites |"
    rows = [head, "|-|-|-|-|-|-|-|-|-|-|"]
    everything: list[Linted] = []
    for name, run in runs.items():
        everything += run.findings
        lost = f", {run.unresolved} not resolved" if run.unresolved else ""
        rows.append(_row(f"{name} `{PINNED[name][1][:8]}`", tally(run.findings, verdicts), f"{run.sites}{lost}"))
    rows.append(_row("all", tally(everything, verdicts), str(sum(run.sites for run in runs.values()))))
    return rows


def _row(name: str, counts: Tally, sites: str) -> str:
    total = counts.all
    numbers = [sum(total.values()), *(total[kind] for kind in (*KINDS, "unread"))]
    return f"| {name} | {' | '.join(map(str, numbers))} | {precision(total)} | {precision(counts.known)} | {sites} |"


def write_table(page: Path, rows: list[str]) -> None:
    text = page.read_text(encoding="utf-8")
    start, end = "<!-- repositories -->", "<!-- /repositories -->"
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{start}\n" + "\n".join(rows) + f"\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
