"""What objects of eager code hold at each moment of a walk."""

from __future__ import annotations

import pytest
from small_programs import given, interpreter

from tclint.values import Const, Scalar, Seq, Value

COUNTER = """
class Counter:
    limit = 4
    def __init__(self, start):
        self.n = start
        self.seen = []
    def step(self):
        self.n = min(self.n * 2, 12)
        self.seen.append(self.n)
        return self.n
    @property
    def last(self):
        return self.n
"""
PROGRAMS = {
    "a method changes it": ("c = Counter(3)\n    c.step()\n    return c.n", 6),
    "each call goes on from the last": ("c = Counter(3)\n    return [c.step(), c.step(), c.step()]", [6, 12, 12]),
    "two objects of one class": ("a, b = Counter(1), Counter(5)\n    a.step()\n    return [a.n, b.n]", [2, 5]),
    "two names for one object": ("a = Counter(1)\n    b = a\n    b.step()\n    return a.n", 2),
    "a list in it grows": ("c = Counter(1)\n    c.step()\n    c.step()\n    return len(c.seen)", 2),
    "a property reads it": ("c = Counter(1)\n    c.step()\n    return c.last", 2),
    "another function changes it": ("c = Counter(1)\n    bump(c)\n    bump(c)\n    return c.n", 21),
    "a field of the class": ("c = Counter(1)\n    return c.limit", 4),
    "setattr": ("c = Counter(1)\n    setattr(c, 'n', 9)\n    return c.n", 9),
    "turn by turn": ("c = Counter(1)\n    for _ in range(3):\n        c.step()\n    return c.n", 8),
    "by a closure": ("c = Counter(1)\n    def go():\n        return c.step()\n    go()\n    return go()", 4),
    "what a function captures": (
        "k = 1\n    def go():\n        return k\n    a = go()\n    k = 2\n    return [a, go()]",
        [1, 2],
    ),
    "in a container in an object": (
        "c = Counter(1)\n    c.t = {'a': {'b': 1}}\n    c.t['a']['b'] = 5\n    return c.t['a']['b']",
        5,
    ),
    "tried": (
        "c = Counter(1)\n    try:\n        c.step()\n    except ValueError:\n        c.n = 100\n    return c.n",
        2,
    ),
}


WALKED = """
class Lengths:
    def __init__(self, many):
        self.many = many
    def __iter__(self):
        for n in range(self.many):
            yield n * 2

class Rows:
    def __len__(self):
        return 3
    def __getitem__(self, k):
        return k + 1
"""


def test_a_loop_over_an_object() -> None:
    interp = interpreter(a=f"{WALKED}\ndef f():\n    return [*[n for n in Lengths(3)], *[n for n in Rows()]]\n")
    assert plain(given(interp, "f")) == [0, 2, 4, 1, 2, 3]


def plain(value: Value) -> object:
    if isinstance(value, Const):
        return value.value
    assert isinstance(value, Seq)
    assert value.items is not None
    return [plain(item) for item in value.items]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_an_object_holds(name: str) -> None:
    body, expected = PROGRAMS[name]
    interp = interpreter(a=f"{COUNTER}\ndef bump(c):\n    c.n += 10\n\ndef f():\n    {body}\n")
    assert plain(given(interp, "f")) == expected
    assert interp.results.failures == []


def test_where_nobody_knows_which_way_it_went() -> None:
    interp = interpreter(
        a=f"{COUNTER}\ndef f(flag):\n    c = Counter(1)\n    if flag:\n        c.step()\n    else:\n        c.n = 7\n    return c.n\n"
    )
    assert isinstance(given(interp, "f"), Scalar)


def test_after_a_loop_of_unknown_length() -> None:
    interp = interpreter(
        a=f"{COUNTER}\ndef f(items):\n    c = Counter(1)\n    for _ in items:\n        c.step()\n    return c.n\n"
    )
    assert isinstance(given(interp, "f"), Scalar)
