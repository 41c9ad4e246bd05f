"""Which Python numbers an operation burns into the graph: three calls with three values.

The first call compiles. Where the number becomes an input of the graph, the second compiles once more and the third does
not; where the third compiles too, it is burned in.
"""

from __future__ import annotations

import re
import signal
from typing import Any

import observe


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


def judge(row: dict[str, Any], tensors: dict[str, Any], ear: observe.Ear) -> str:
    """`burned`, `settles`, `breaks`, or `raises` and what."""
    import math

    import numpy
    import torch

    used = [name for name in tensors if re.search(rf"(?<![\w.]){name}\b(?!=[^=])", row["body"])]
    scope: dict[str, Any] = {"math": math, "torch": torch, "np": numpy}
    exec(f"def program({', '.join([*used, 'v'])}):\n    {row['body']}\n", scope)
    torch._dynamo.reset()
    ear.heard.clear()
    counter = observe.Counter()
    program = torch.compile(scope["program"], backend=counter)
    counts = []
    try:
        observe.alarm(30)
        for value in row["values"][:3]:
            program(*(tensors[name].clone() for name in used), value)
            counts.append(counter.graphs)
    except BaseException as error:
        return f"raises {type(error).__name__}"
    finally:
        signal.alarm(0)
    if counts[2] > counts[1] > counts[0]:
        return "burned"
    return "breaks" if ear.heard else "settles"
