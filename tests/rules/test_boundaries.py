"""Rules ask, they do not reach in; and each call has one rule that speaks of it."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

import pytest
from lintkit import ROOT, Project

from tclint.ruleset.loading import load_rules
from tclint.ruleset.rule import Rule

FILES = sorted((ROOT / "rules").glob("*.py"))
RULES = load_rules()
GENERAL = [rule for rule in RULES if rule.general]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_rule_reaches_into_the_interpreter(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    reached = [
        f"{path.name}:{node.lineno} .{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("interp", "frame", "quiet", "env", "dispatcher")
    ]
    imported = [
        f"{path.name}:{node.lineno} {node.module}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("tclint.interpreter", "tclint.run"))
    ]
    assert reached == []
    assert imported == []


def owned(name: str, rule: Rule) -> bool:
    return any(name.startswith(p[:-1]) if p.endswith("*") else name == p for p in rule.owns)


def test_the_general_rules_are_the_ones_made_of_measured_tables() -> None:
    assert [rule.code for rule in GENERAL] == ["TCL110", "TCL119", "TCL124"]


@pytest.mark.parametrize("rule", GENERAL, ids=lambda rule: rule.code)
def test_a_general_rule_lists_nothing_that_others_own(rule: Rule) -> None:
    """A whole family may be named to be left out: `numpy.`."""
    tree = ast.parse(inspect.getsource(sys.modules[type(rule).__module__]))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    listed = {
        (word, other.code)
        for word in words
        for other in RULES
        if other is not rule
        and not word.endswith(".")
        and any(owned(f"{prefix}{word}", other) for prefix in ("", "builtins.", "Tensor."))
    }
    assert listed == set()


# Owned so that nobody else speaks of them: of a sparse tensor its making is told, of a cached function its definition.
OWNED_IN_SILENCE = {"Tensor.values", "Tensor.indices", "functools.lru_cache"}


def test_what_a_rule_owns_it_wants() -> None:
    for rule in RULES:
        wanted = tuple(p.rstrip("*") for p in rule.calls)
        for pattern in rule.owns:
            name = pattern.rstrip("*")
            heard = any(w.startswith(name) or name.startswith(w) for w in wanted)
            assert heard or name in OWNED_IN_SILENCE, (rule, name)


def test_no_call_has_two_owners() -> None:
    owners = [(pattern, rule.code) for rule in RULES for pattern in rule.owns]
    twice = [(one, other) for one in owners for other in owners if one[1] < other[1] and one[0] == other[0]]
    assert twice == []


CODE = """
import torch

@torch.compile
def f(x):
    print(x)
    return x
"""


def test_what_is_owned_is_nobody_elses_even_where_its_owner_is_off(project: Project) -> None:
    project.write({"m.py": CODE})
    assert project.places() == ["m.py:5 TCL108"]
    assert project.places(ignore=["TCL108"]) == []


def test_a_rule_of_ones_own_takes_a_call_over_from_a_general_one(project: Project) -> None:
    project.write({"m.py": CODE.replace("print(x)", "time.time()").replace("import torch", "import time, torch")})
    assert project.places() == ["m.py:5 TCL110"]
    rule = """
    from tclint.api import Call, Rule

    class Clock(Rule):
        \"\"\"A clock.\"\"\"

        code, name = "ACME001", "clock"
        calls = owns = ("time.*",)

        def on_call(self, event: Call):
            yield self.finding(event, "a clock")
    """
    project.write({"lint/clock.py": rule})
    assert project.places("m.py", rules=[str(project.root / "lint")]) == ["m.py:5 ACME001"]
