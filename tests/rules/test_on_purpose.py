"""A break that a test asks for is what the test is about."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project

BROKEN = (
    PRELUDE
    + """
def two_graphs(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


def test_two_graphs():
    torch.compile(two_graphs)(torch.ones(3))
"""
)


@pytest.mark.parametrize(("path", "told"), [("model.py", 1), ("tests/test_model.py", 0), ("examples/model.py", 1)])
def test_a_break_that_somebody_wrote(project: Project, path: str, told: int) -> None:
    project.write({path: BROKEN})
    assert len(project.lint(select=["TCL113"]).findings) == told
    assert len(project.lint(select=["TCL113"], min_confidence="low").findings) == 1


WHOLE = (
    PRELUDE
    + """
def positive(x):
    if x.sum() > 0:
        return x
    return -x


def test_positive():
    torch.compile(positive, fullgraph={whole})(torch.ones(3))
"""
)


@pytest.mark.parametrize(
    ("path", "whole", "told"),
    [("model.py", True, 1), ("tests/test_model.py", True, 0), ("tests/test_model.py", False, 1)],
)
def test_one_that_wants_a_whole_graph_says_that_nothing_breaks(
    project: Project, path: str, whole: bool, told: int
) -> None:
    project.write({path: WHOLE.format(whole=whole)})
    assert len(project.lint(select=["TCL101"]).findings) == told
    assert len(project.lint(select=["TCL101"], min_confidence="low").findings) == 1
