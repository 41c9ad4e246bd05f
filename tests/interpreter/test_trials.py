"""A walk through code that only tries the program interprets so many calls, and takes the rest for unknown."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project

from tclint.interpreter.heap import RUNS_OF_A_TRIAL

CHAIN = (
    PRELUDE
    + """
def first(x, level):
    return x + level


{links}


def loud(x):
    print(x)
    return x


def test_all():
    function = link_{last}(loud, 0)
    torch.compile(function)(torch.ones(3))
"""
)


def program(count: int) -> str:
    """A test that hands a function through so many calls before it is compiled."""
    links = ["def link_0(function, level):\n    return function"]
    links += [f"def link_{n}(function, level):\n    return link_{n - 1}(function, level + 1)" for n in range(1, 4)]
    more = "\n".join(f"    link_3(first, {n})" for n in range(count))
    chain = CHAIN.format(links="\n\n\n".join(links), last=3)
    return chain.replace("    function = link_3", f"{more}\n    function = link_3")


@pytest.mark.parametrize(
    ("path", "calls", "found"),
    [
        ("tests/test_model.py", 20, True),
        ("tests/test_model.py", RUNS_OF_A_TRIAL, False),
        ("model.py", RUNS_OF_A_TRIAL, True),
    ],
)
def test_how_far_a_walk_goes(project: Project, path: str, calls: int, found: bool) -> None:
    project.write({path: program(calls)})
    assert bool(project.lint(select=["TCL108"], assume_compiled="never").findings) is found
