"""Expressions: what value each has, and which events its evaluation raises.

Importing the package fills the table of `tclint.interpreter.evaluate`.
"""

from tclint.interpreter import models
from tclint.interpreter.evaluate import evaluate, lookup
from tclint.interpreter.expressions import (
    calls,
    comparisons,
    comprehensions,
    conditions,
    generators,
    literals,
    names,
    operators,
    strings,
    subscripts,
)
from tclint.interpreter.expressions.conditions import assert_test, branch

__all__ = [
    "assert_test",
    "branch",
    "calls",
    "comparisons",
    "comprehensions",
    "conditions",
    "evaluate",
    "generators",
    "literals",
    "lookup",
    "models",
    "names",
    "operators",
    "strings",
    "subscripts",
]
