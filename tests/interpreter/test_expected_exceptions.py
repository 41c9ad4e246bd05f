"""What a program does where it expects an exception is no part of what works: no evidence, no site."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project

REFUSES = (
    PRELUDE
    + """
import unittest
import pytest


def loud(function):
    def wrapped(x):
        print(x)
        return function(x)
    return wrapped


class Runner:
    def __init__(self, function):
        if len(function.__name__) > 20:
            raise ValueError(function)
        self.run = torch.compile(function)


class TestRunner(unittest.TestCase):
    def test_refuses(self):
        with {context}:
            Runner(loud(lambda x: x)).run(torch.ones(3))

    def test_takes(self):
        Runner(plain).run(torch.ones(3))


def plain(x):
    return x + 1
"""
)


@pytest.mark.parametrize(
    ("context", "count"),
    [
        ("pytest.raises(ValueError)", 0),
        ('pytest.raises(ValueError, match="x")', 0),
        ("self.assertRaises(ValueError)", 0),
        ("self.assertRaisesRegex(ValueError, 'x')", 0),
        ("torch.no_grad()", 1),
    ],
)
def test_what_is_compiled_there_is_none_of_what_a_site_compiles(project: Project, context: str, count: int) -> None:
    project.write({"test_runner.py": REFUSES.format(context=context)})
    assert len(project.lint(select=["TCL108"], assume_compiled="never").findings) == count


def test_a_site_that_stands_there_says_so(project: Project) -> None:
    project.write(
        {
            "test_breaks.py": PRELUDE
            + """
import pytest


def test_breaks():
    def loud(x):
        print(x)
        return x

    with pytest.raises(Exception):
        torch.compile(loud, fullgraph=True)(torch.ones(1))
"""
        }
    )
    report = project.lint(select=["TCL108"])
    assert not report.findings
    assert [site.unresolved for site in report.sites] == ["nothing: an exception is expected there"]


def test_the_same_call_elsewhere_counts(project: Project) -> None:
    project.write(
        {
            "test_runner.py": PRELUDE
            + """
import pytest


def loud(x):
    print(x)
    return x


def build(function):
    return torch.compile(function)


def test_both():
    with pytest.raises(ValueError):
        build(loud)(1)
    build(loud)(torch.ones(3))
"""
        }
    )
    assert len(project.lint(select=["TCL108"], assume_compiled="never").findings) == 1
