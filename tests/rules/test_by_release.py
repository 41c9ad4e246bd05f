"""What breaks the graph on some releases only: each program was compiled on 2.4, 2.6, 2.9, 2.11, 2.13 and 2.15."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import lint

RELEASES = ("2.4", "2.6", "2.9", "2.11", "2.13", "2.15")
PRELUDE = """\
import collections, contextlib, copy, enum, fractions, functools, itertools, types
import torch
from torch import nn


class Plain:
    pass


class Mode(enum.Enum):
    A = 1


Pair = collections.namedtuple("Pair", "a b")


@contextlib.contextmanager
def scaled():
    yield 2.0


@functools.singledispatch
def encode(kind, x):
    return x


class Closing:
    def close(self):
        pass


class Single:
    held = None

    def __new__(cls):
        if cls.held is None:
            cls.held = super().__new__(cls)
        return cls.held


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.plain = Plain()
        self.proxy = types.MappingProxyType({"a": 2.0})

    def forward(self, x):
"""
PROGRAMS = {
    "d = collections.OrderedDict(a=1)\nd.move_to_end('a')": "2.4 2.6",
    "s = {1, 2}\ns.discard(2)": "2.4",
    "s = {1, 2}\nx = x * s.issubset({1})": "2.4 2.6",
    "q = collections.deque(maxlen=3)\nq.append(1)": "2.4 2.6",
    "x = x * len(collections.Counter('aab').most_common(1))": "2.4 2.6 2.9 2.11 2.13",
    "x = x * int.from_bytes(b'ab', 'big')": "2.4 2.6 2.9 2.11",
    "x = x * (5).bit_length()": "2.4",
    "x = x * len(b'ab'.decode())": "2.4",
    "x = x * len(b'ab'.hex())": " ".join(RELEASES),
    "x = x * slice(0, 9).indices(4)[0]": "2.4 2.6 2.9 2.11",
    "x = x * float(fractions.Fraction(1, 3) + 1)": "2.4 2.6 2.9 2.11",
    "x = x * self.proxy['a']": "2.4 2.6",
    "d = collections.defaultdict(int)\nx = x * d['a']": "2.4 2.6 2.9",
    "p = Pair(1, 2)._replace(a=3)": "2.4 2.6",
    "p = copy.copy(self.plain)": "2.4 2.6 2.9 2.11",
    "x = x * eval('2')": "2.4 2.6 2.9 2.11",
    "with contextlib.closing(Closing()):\n    x = x * 2": "2.4 2.6 2.9 2.11 2.13",
    "with scaled() as k:\n    x = x * k": "2.4 2.6",
    "for mode in Mode:\n    x = x * mode.value": "2.4 2.6 2.9 2.11",
    "x = encode(3, x)": "2.4 2.6 2.9 2.11 2.13",
    "it = itertools.cycle([1.0])\nx = x * next(it)": "2.4 2.6",
    "self.fc.eval()": "2.4",
    "self.fc.zero_grad()": "2.4",
    "self.fc.register_forward_hook(lambda m, i, o: o)": " ".join(RELEASES),
    "y = self.fc(x)\ny.register_hook(lambda g: g)": "2.4 2.6 2.9",
    "x = torch.sparse.mm(x.to_sparse(), x.T)": "2.11 2.13 2.15",
    "p = nn.Parameter(torch.ones(8))": "2.9 2.11 2.13 2.15",
    "single = Single()": "2.4 2.6 2.9 2.11",
    "n = x.untyped_storage().nbytes()": " ".join(RELEASES),
}


@pytest.mark.parametrize("release", RELEASES)
def test_a_program_is_told_on_the_releases_where_it_breaks(release: str, tmp_path: Path) -> None:
    names = {}
    for place, body in enumerate(PROGRAMS):
        names[f"program_{place}.py"] = body
        text = "\n".join(f"        {line}" for line in (*body.splitlines(), "return x"))
        (tmp_path / f"program_{place}.py").write_text(PRELUDE + text + "\n")
    report = lint(cwd=tmp_path, target_torch=release, assume_compiled="all")
    told = {names[f.path] for f in report.findings if f.code.startswith("TCL1") and f.confidence.value != "low"}
    broken = {body for body, releases in PROGRAMS.items() if release in releases.split()}
    assert sorted(told - broken) == []
    assert sorted(broken - told) == []
