"""Which operations burn a Python number into the graph: asked of torch, one call form after another.

    python benchmarks/specialised.py            # how many do, by benchmarks/specialised.json
    python benchmarks/specialised.py --judge    # asks torch again first (minutes; needs torch)

tclint/torch_facts/table.json has the answers as `#float 0 min`; `scripts/ask` asks the same forms of every release.

Each row is the body of a function of some tensors and a number `v`, called with six values. Where at most two of the calls
compile, the number has become an input of the graph; where four or more do, it is burnt in.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ANSWERS = HERE / "specialised.json"
SETTLES, BURNT = 2, 4


def inputs() -> dict[str, Any]:
    """The tensors that the bodies speak of."""
    import torch

    torch.manual_seed(0)
    r, rand, long = torch.randn, torch.rand, torch.long
    return {
        **{name: r(4, 8) for name in "xyz"},
        **{name: rand(4, 8) * 0.8 + 0.1 for name in ("p", "p2")},
        "m": rand(4, 8) > 0.5,
        "x1": r(8),
        "s": r(4, 4),
        "s1": r(4),
        "s8": r(8, 8),
        "bm": r(4, 4, 4),
        "x24": r(4, 24),
        "c3": r(2, 8, 32),
        "c3b": r(2, 8, 32),
        "c4": r(2, 8, 16, 16),
        "c4b": r(2, 8, 20, 20),
        "c5": r(2, 4, 16, 16, 16),
        "rm": torch.zeros(8),
        "rv": torch.ones(8),
        "tgt": torch.tensor([0, 3, 7, 5]),
        "oh": torch.tensor([0, 1, 0, 1]),
        "sg": (rand(4, 8) > 0.5) * 2.0 - 1,
        "sg1": torch.tensor([1.0, -1, 1, -1]),
        "q": r(2, 2, 4, 8),
        "ew": r(10, 8),
        "idx": torch.tensor([0, 3, 5, 2]),
        "idx2": torch.tensor([[0, 3], [5, 2]]),
        "ix": torch.tensor([1, 3]),
        "ix4": torch.tensor([0, 1, 2, 3]),
        "sidx": torch.zeros(4, 2, dtype=long),
        "i01": torch.tensor([0, 1]),
        "bnd": torch.linspace(0, 1, 9),
        "d8": r(*[2] * 8),
        "o8": r(*[1] * 8),
        "g8": torch.zeros(*[2] * 8, dtype=long),
        "L": r(20),
        "L60": r(60),
        "M": r(12, 12),
        "r8": r(1, 8),
        "li": torch.arange(1, 9),
        "big": rand(4) * 3 + 10,
        "w1": r(8, 8, 3),
        "w2": r(8, 8, 3, 3),
        "w3": r(4, 4, 3, 3, 3),
        "wt1": r(8, 8, 20),
        "wt2": r(8, 8, 20, 20),
        "g1": r(2, 14, 32),
        "gw1": r(14, 2, 3),
        "g2": r(2, 14, 16, 16),
        "gw2": r(14, 2, 3, 3),
        "h1": r(2, 20, 32),
        "hw1": r(20, 2, 3),
        "h2": r(2, 20, 16, 16),
        "hw2": r(20, 2, 3, 3),
        "k1": r(2, 48, 32),
        "kw1": r(48, 48, 3),
        "k2": r(2, 48, 16, 16),
        "kw2": r(48, 48, 3, 3),
        "psc": r(1, 49, 3, 3),
        "puc": r(1, 2, 14, 14),
        "ps2": r(1, 576, 2, 2),
        "pu2": r(1, 1, 24, 24),
        "c24": r(2, 24, 4, 4),
        "lp": torch.log_softmax(r(12, 2, 9), -1),
        "ct": torch.ones(2, 3, dtype=long),
        "cil": torch.tensor([12, 12]),
        "ctl": torch.tensor([3, 3]),
    }


def judge(row: dict[str, Any], tensors: dict[str, Any]) -> int:
    """How many of the calls compile."""
    import numpy
    import torch
    from torch._dynamo.testing import CompileCounterWithBackend

    used = [name for name in tensors if re.search(rf"(?<![\w.]){name}\b(?!=[^=])", row["body"])]
    scope: dict[str, Any] = {"math": math, "torch": torch, "np": numpy}
    exec(f"def program({', '.join([*used, 'v'])}):\n    {row['body']}\n", scope)
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    program = torch.compile(scope["program"], backend=counter)
    compiled = 0
    for value in row["values"]:
        before = counter.frame_count
        program(*(tensors[name].clone() for name in used), value)
        compiled += counter.frame_count > before
    return compiled


def burnt(rows: list[dict[str, Any]], kind: str) -> dict[str, tuple[tuple[int, ...], tuple[str, ...]]]:
    """Positions and keywords by operation; not where another form of the same call settles."""
    forms: dict[tuple[str, int | None, str | None], list[int]] = collections.defaultdict(list)
    for row in rows:
        if row["type"] == kind and re.fullmatch(r"(torch|Tensor)(\.[a-z]\w*)+", row["op"]):
            forms[row["op"], row["position"], row["keyword"]].append(row["compiled"])
    found: dict[str, tuple[set[int], set[str]]] = {}
    for (op, position, keyword), counts in forms.items():
        if max(counts) >= BURNT and min(counts) > SETTLES:
            places, names = found.setdefault(op, (set(), set()))
            places |= {position} if position is not None else set()
            names |= {keyword} if keyword else set()
    return {op: (tuple(sorted(places)), tuple(sorted(names))) for op, (places, names) in sorted(found.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", action="store_true", help="ask torch again")
    options = parser.parse_args()
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
    if options.judge:
        import torch

        warnings.simplefilter("ignore")
        tensors = inputs()
        for row in answers["rows"]:
            before, row["compiled"] = row["compiled"], judge(row, tensors)
            if before != row["compiled"]:
                print(f"{row['body']}: {before} → {row['compiled']}")
        answers["torch"] = torch.__version__
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in answers["rows"])
        ANSWERS.write_text(f'{{"torch":"{torch.__version__}","rows":[\n{rows}\n]}}\n', encoding="utf-8")
    for kind in ("float", "int"):
        counts = [row["compiled"] for row in answers["rows"] if row["type"] == kind]
        print(f"{kind}: {sum(c >= BURNT for c in counts)} of {len(counts)} call forms burn it in")


if __name__ == "__main__":
    main()
