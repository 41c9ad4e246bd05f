"""Whatever the program: no crash, no internal diagnostic, and the same bytes out in any order."""

from __future__ import annotations

import ast
import random
import tempfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lintkit import PRELUDE, ROOT, Project, told, within

from tclint import output
from tclint.model.report import Report
from tclint.run import engine
from tclint.sources import configuration, files

# --- random programs --------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["x", "y", "z", "n", "mask", "self.a", "self.b", "self.items", "cfg", "CONST", "missing"])
TARGETS = st.sampled_from(["x", "y", "z", "n", "self.a", "x[0]", "x[mask]", "self.items[n]", "x, y", "(x, *y)", "n"])
LEAVES = st.one_of(
    NAMES,
    st.sampled_from(
        ["0", "1", "-2", "1.5", "None", "True", "'s'", "[]", "()", "{}", "...", "f'{x}'", "x.shape", "x.T"]
    ),
    st.sampled_from(
        ["torch.randn(3)", "torch.arange(n)", "self.fc(x)", "helper(x)", "super()", "torch.inf", "__name__"]
    ),
)
METHODS = st.sampled_from(
    [
        "sum()",
        "item()",
        "max()",
        "tolist()",
        "view(-1)",
        "size(0)",
        "unbind(0)",
        "clone()",
        "to('cpu')",
        "append(x)",
        "get('k')",
    ]
)
CALLED = """torch.relu torch.cat torch.where int float len range list helper self.step print max F.relu np.array
math.sqrt isinstance getattr zip enumerate torch.compile nn.Linear type"""
FUNCTIONS = st.sampled_from(CALLED.split())
OPERATORS = st.sampled_from(["+", "-", "*", "/", "//", "%", "@", "**", "<<", "&", "|", "^"])
COMPARISONS = st.sampled_from(["<", ">=", "==", "!=", "is", "is not", "in", "not in"])


def _expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, OPERATORS, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, COMPARISONS, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["not ", "-", "~"]), inner).map(lambda t: f"({t[0]}{t[1]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(inner, METHODS).map(lambda t: f"({t[0]}).{t[1]}"),
        st.tuples(FUNCTIONS, st.lists(inner, max_size=3)).map(lambda t: f"{t[0]}({', '.join(t[1])})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]})[{t[1]}]"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]})[{t[1]}:, None, ...]"),
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"({', '.join(items)},)"),
        st.tuples(inner, inner).map(lambda t: f"{{'k': {t[0]}, **({t[1]})}}"),
        st.tuples(inner, inner, inner).map(lambda t: f"[{t[0]} for x in {t[1]} if {t[2]}]"),
        st.tuples(inner, inner).map(lambda t: f"{{x: {t[0]} for x, y in {t[1]}}}"),
        inner.map(lambda e: f"(lambda x, *y: {e})"),
        inner.map(lambda e: f"(z := {e})"),
        st.tuples(inner, inner).map(lambda t: f"helper(*({t[0]}), **({t[1]}))"),
    )


EXPRESSIONS = st.recursive(LEAVES, _expressions, max_leaves=6)


def _indent(body: list[str]) -> str:
    return textwrap.indent("\n".join(body) or "pass", "    ")


def _statements(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, max_size=3).map(_indent)
    e = EXPRESSIONS
    return st.one_of(
        st.tuples(e, body, body).map(lambda t: f"if {t[0]}:\n{t[1]}\nelse:\n{t[2]}"),
        st.tuples(e, body).map(lambda t: f"while {t[0]}:\n{t[1]}\n    break"),
        st.tuples(TARGETS, e, body).map(lambda t: f"for {t[0]} in {t[1]}:\n{t[2]}\n    continue\nelse:\n    pass"),
        st.tuples(e, body).map(lambda t: f"with {t[0]} as y:\n{t[1]}"),
        st.tuples(body, e, body).map(
            lambda t: f"try:\n{t[0]}\nexcept (ValueError, {t[1]}) as e:\n{t[2]}\nfinally:\n    pass"
        ),
        st.tuples(body, e).map(lambda t: f"def helper(x, y=1, *z, **n):\n{t[0]}\n    return {t[1]}"),
        body.map(
            lambda b: f"class Inner(nn.Module):\n    CONST = 1\n    def forward(self, x):\n{textwrap.indent(b, '    ')}"
        ),
        st.tuples(e, e, body).map(
            lambda t: f"match {t[0]}:\n    case [x, *y] if {t[1]}:\n{textwrap.indent(t[2], '    ')}"
        ),
    )


SIMPLE = st.one_of(
    st.tuples(TARGETS, EXPRESSIONS).map(lambda t: f"{t[0]} = {t[1]}"),
    st.tuples(st.sampled_from(["x", "self.a", "x[0]"]), OPERATORS, EXPRESSIONS).map(lambda t: f"{t[0]} {t[1]}= {t[2]}"),
    EXPRESSIONS,
    EXPRESSIONS.map(lambda e: f"return {e}"),
    EXPRESSIONS.map(lambda e: f"assert {e}, {e}"),
    EXPRESSIONS.map(lambda e: f"raise ValueError({e})"),
    EXPRESSIONS.map(lambda e: f"y: torch.Tensor = {e}"),
    st.sampled_from(["pass", "del x", "import os", "from other import *", "global CONST", "yield x"]),
)
STATEMENTS = st.recursive(SIMPLE, _statements, max_leaves=8)
BODIES = st.lists(STATEMENTS, min_size=1, max_size=5).map(_indent)
HEADS = st.sampled_from(
    ["@torch.compile\n", "", "@torch.no_grad()\n", "@torch.compile(fullgraph=True, mode='reduce-overhead')\n"]
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    function, forward = draw(BODIES), textwrap.indent(draw(BODIES), "    ")
    step = textwrap.indent(draw(BODIES), "    ")
    return (
        f"{PRELUDE}\nCONST = 3\n\n{draw(HEADS)}def helper(x, y=None, *z, n: int = 0, **mask):\n{function}\n\n"
        f"class Net(nn.Module):\n    def __init__(self, cfg):\n        super().__init__()\n"
        f"        self.fc = nn.Linear(4, 4)\n        self.a = torch.randn(4)\n"
        f"        self.b = cfg.b\n        self.items = [1, 2]\n\n"
        f"    def forward(self, x: torch.Tensor, mask=None):\n{forward}\n\n    def step(self, y, n=0):\n{step}\n\n"
        f"net = {draw(st.sampled_from(['Net(None)', 'torch.compile(Net(None))']))}\n"
    )


def parses(source: str) -> bool:
    try:
        compile(source, "m.py", "exec", flags=ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError):
        return False
    return True


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(source=programs().filter(parses))
def test_no_program_crashes_the_linter(source: str) -> None:
    with tempfile.TemporaryDirectory() as folder, within(20):
        report = Project(Path(folder)).write({"m.py": source}).lint(select=["ALL"], min_confidence="low")
    own = [f for f in report.findings if f.code.startswith("TCL9")]
    assert not own, told(own)
    lines = source.splitlines()
    for finding in report.findings:
        span = finding.span
        assert 1 <= span.line <= span.end_line <= len(lines), told([finding])
        assert 1 <= span.column <= len(lines[span.line - 1]) + 1, told([finding])
        assert 1 <= span.end_column <= len(lines[span.end_line - 1]) + 1, told([finding])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.binary(max_size=200))
def test_no_bytes_crash_the_linter(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = Project(Path(folder)).write({"m.py": b"def forward(x): pass\n" + data}).lint()
    assert len(report.findings) <= 1


# --- the same bytes ---------------------------------------------------------------------------------------------------


def rendered(report: Report) -> str:
    return output.renderer("json")(report, color=False, width=100, sources={}, rules=(), summary=True)


@pytest.mark.parametrize(
    "folder", ["demo", "rules/TCL101_data_dependent_branch", "rules/TCL301_cudagraph_output_escape"]
)
def test_same_bytes_in_any_file_order(folder: str) -> None:
    settings = configuration.load([f"fixtures/{folder}"], cwd=str(ROOT), isolated=True, overrides={"no-cache": True})
    found = files.discover([f"fixtures/{folder}"], settings, str(ROOT))
    expected = rendered(engine.lint(found, settings))
    for seed in range(2):
        shuffled = random.Random(seed).sample(found, len(found))
        assert rendered(engine.lint(shuffled, settings)) == expected
