"""Broken and strange input: one clear diagnostic each, and the rest of the run unharmed."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from lintkit import Project, told, within

from tclint.model.finding import Finding
from tclint.model.report import Report
from tclint.run import engine
from tclint.sources import configuration, files

# What must be found whatever stands in the file beside it.
GOOD = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x
    return -x
"""
UNHARMED = ("good.py", 6, "TCL101")


def places(report: Report) -> list[tuple[str, int, str]]:
    return [(f.path, f.line, f.code) for f in report.findings]


def only(report: Report, path: str = "bad.py") -> Finding:
    """The single finding about one file; the good file beside it must have its own."""
    assert UNHARMED in places(report), told(report.findings)
    found = [f for f in report.findings if f.path == path]
    assert len(found) == 1, told(report.findings)
    assert len(report.findings) == 2, told(report.findings)
    return found[0]


def clean(report: Report) -> None:
    assert places(report) == [UNHARMED], told(report.findings)


@pytest.fixture
def beside(project: Project) -> Project:
    return project.write({"good.py": GOOD})


# --- files that cannot be analysed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "code", "line", "words"),
    [
        pytest.param(b"import torch\ndef forward(:\n", "TCL903", 2, "syntax error", id="syntax"),
        pytest.param(b"import torch\nclass A:\ndef forward(): pass\n", "TCL903", 3, "syntax error", id="indentation"),
        pytest.param(b"import torch\nx = '\xff\xfe'\ndef forward(x): pass\n", "TCL902", 2, "UTF-8", id="not-utf-8"),
        pytest.param(b"# coding: klingon\ndef forward(x): pass\n", "TCL903", 1, "klingon", id="unknown-coding"),
        pytest.param(b"import torch\x00\ndef forward(x): pass\n", "TCL903", 1, "null", id="null-byte"),
        pytest.param(
            b"def forward(x):\n    return " + b"(" * 300 + b"x" + b")" * 300 + b"\n",
            "TCL903",
            2,
            "nested",
            id="parentheses",
        ),
        pytest.param(b"def forward(x):\n    return x\n  return 1\n", "TCL903", 3, "syntax error", id="dedent"),
        pytest.param(b"def forward(x):\n    s = '''abc\n", "TCL903", 2, "syntax error", id="unterminated"),
    ],
)
def test_a_broken_file_is_one_finding(beside: Project, data: bytes, code: str, line: int, words: str) -> None:
    finding = only(beside.write({"bad.py": data}).lint())
    assert (finding.code, finding.line) == (code, line), told([finding])
    assert words in finding.message
    assert "\n" not in finding.message


def test_a_broken_file_named_on_the_command_line(beside: Project) -> None:
    beside.write({"bad.py": "def f(:\n"})
    assert [f.code for f in beside.lint("bad.py").findings] == ["TCL903"]


def test_a_broken_file_that_is_imported(beside: Project) -> None:
    beside.write(
        {
            "bad.py": "def helper(x):\n    return (\n",
            "main.py": """
            import torch
            from bad import helper

            @torch.compile
            def g(x):
                return helper(x)
            """,
        }
    )
    assert only(beside.lint()).code == "TCL903"


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    with within(100):
        yield


def test_a_deep_expression(beside: Project) -> None:
    """3,000 terms nest 3,000 deep in the tree. Analysed or told, but never a crash."""
    terms = " + ".join(["x"] * 3_000)
    beside.write({"bad.py": f"import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return {terms}\n"})
    report = beside.lint()
    assert UNHARMED in places(report)
    assert {f.code for f in report.findings if f.path == "bad.py"} <= {"TCL904"}, told(report.findings)
    assert len(report.findings) <= 2, told(report.findings)


def test_a_deep_chain_of_calls(beside: Project) -> None:
    chain = "x" + ".relu()" * 3_000
    beside.write({"bad.py": f"import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return {chain}\n"})
    report = beside.lint()
    assert UNHARMED in places(report)
    assert {f.code for f in report.findings if f.path == "bad.py"} <= {"TCL904"}, told(report.findings)


def test_deep_nesting_of_blocks(beside: Project) -> None:
    lines = ["import torch", "@torch.compile", "def f(x, flags):"]
    lines += ["    " * (n + 1) + f"if flags[{n}]:" for n in range(60)]
    lines.append("    " * 61 + "x = x + 1")
    lines.append("    return x")
    clean(beside.write({"bad.py": "\n".join(lines) + "\n"}).lint())


def test_mutual_recursion(beside: Project) -> None:
    beside.write(
        {
            "bad.py": """
            import torch

            def even(x, n):
                return x if n == 0 else odd(x + 1, n - 1)

            def odd(x, n):
                return even(x * 2, n - 1)

            @torch.compile
            def start(x):
                return even(x, 10)
            """
        }
    )
    clean(beside.lint())


def test_a_class_that_inherits_from_itself(beside: Project) -> None:
    beside.write(
        {
            "bad.py": """
            from torch import nn

            class A(B):
                def forward(self, x):
                    return super().forward(x)

            class B(A):
                pass

            class C(C, nn.Module):
                def forward(self, x):
                    return self.forward(x)
            """
        }
    )
    clean(beside.lint())


def test_imports_in_a_circle(beside: Project) -> None:
    beside.write(
        {
            "a.py": "from b import g\nfrom b import *\ndef f(x):\n    return g(x)\n",
            "b.py": "from a import f\nfrom a import *\nx = f\ng = f\n",
            "c.py": "import torch\nfrom a import f\nstep = torch.compile(f)\n",
        }
    )
    clean(beside.lint())


# --- files on disk ----------------------------------------------------------------------------------------------------


def test_a_file_that_vanishes(beside: Project) -> None:
    beside.write({"bad.py": GOOD})
    settings = configuration.load(["."], cwd=str(beside.root), isolated=True, overrides={"no-cache": True})
    found = files.discover(["."], settings, str(beside.root))
    (beside.root / "bad.py").unlink()
    finding = only(engine.lint(found, settings))
    assert finding.code == "TCL902"
    assert "No such file" in finding.message


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(beside: Project) -> None:
    beside.write({"bad.py": GOOD})
    (beside.root / "bad.py").chmod(0)
    assert only(beside.lint()).code == "TCL902"


def test_a_file_that_becomes_a_folder(beside: Project) -> None:
    beside.write({"bad.py": GOOD})
    settings = configuration.load(["."], cwd=str(beside.root), isolated=True, overrides={"no-cache": True})
    found = files.discover(["."], settings, str(beside.root))
    (beside.root / "bad.py").unlink()
    (beside.root / "bad.py").mkdir()
    assert only(engine.lint(found, settings)).code == "TCL902"


def test_links_in_a_circle(beside: Project) -> None:
    (beside.root / "sub").mkdir()
    (beside.root / "sub" / "up").symlink_to(beside.root)
    (beside.root / "loop.py").symlink_to("loop.py")
    (beside.root / "nowhere.py").symlink_to("missing.py")
    clean(beside.lint())


def test_a_folder_called_like_a_file(beside: Project) -> None:
    (beside.root / "folder.py").mkdir()
    clean(beside.lint())


# --- strange but valid ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\n\n\n", id="blank"),
        pytest.param(b"\xef\xbb\xbf", id="only-a-byte-order-mark"),
        pytest.param(b"#", id="comment"),
        pytest.param(b"'''doc'''", id="docstring"),
        pytest.param(b"pass", id="no-newline"),
        pytest.param(b"\x0c\nimport torch\n\x0c\ndef forward(x):\n    return x\n", id="form-feed"),
        pytest.param("# -*- coding: latin-1 -*-\ns = 'é'\n".encode("latin-1"), id="latin-1"),
        pytest.param("# coding: utf-8\nσ = 1\n".encode(), id="unicode-names"),
    ],
)
def test_nothing_to_say(beside: Project, data: bytes) -> None:
    clean(beside.write({"bad.py": data}).lint())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda s: b"\xef\xbb\xbf" + s, id="byte-order-mark"),
        pytest.param(lambda s: s.replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param(lambda s: s.replace(b"import torch\n", b"\x0cimport torch\n"), id="form-feed"),
        pytest.param(lambda s: b"# coding: latin-1\n" + s.replace(b"torch\n", b"torch  # \xe9\n", 1), id="latin-1"),
        pytest.param(lambda s: b"# caf\xe9, coding: latin-1\n" + s, id="latin-1-on-the-coding-line"),
        pytest.param(lambda s: s.replace(b"import torch\n", "import torch; é = 'ü'\n".encode()), id="non-ascii"),
        pytest.param(lambda s: s.rstrip(b"\n"), id="no-newline"),
        pytest.param(lambda s: s.replace(b"    ", b"\t"), id="tabs"),
    ],
)
def test_encodings_do_not_move_the_finding(project: Project, change: object) -> None:
    assert callable(change)
    data = change(GOOD.encode())
    line = 7 if b"latin-1" in data else 6
    report = project.write({"bad.py": data}).lint()
    assert places(report) == [("bad.py", line, "TCL101")], told(report.findings)


def test_columns_count_characters(project: Project) -> None:
    source = GOOD.replace("if x.sum() > 0:", "if 'é' and x.sum() > 0:")
    (finding,) = project.write({"m.py": source}).lint().findings
    text = source.splitlines()[5]
    assert text[finding.span.column - 1 : finding.span.end_column - 1] in ("x.sum() > 0", "'é' and x.sum() > 0")


SYNTAX = {
    "match": """
        match x.shape:
            case [1, *rest]:
                return x
            case (a, b) if a > b:
                return x * 2
            case {"k": 1, **others}:
                return x
            case int(n) | float(n):
                return x
            case _ as whole:
                return x + 1
        """,
    "walrus": """
        if (n := x.shape[0]) > 2 and [m := k for k in range(n)]:
            return x * n
        return x
        """,
    "star": """
        first, *middle, last = x.unbind(0)
        parts = [*middle, first, *[last]]
        table = {**{"a": first}, "b": last}
        return torch.stack([*parts, *table.values()])
        """,
    "try-star": """
        try:
            y = x + 1
        except* ValueError as group:
            y = x
        else:
            y = y + 1
        finally:
            z = 1
        return y
        """,
    "lambda": """
        return (lambda a, /, b=1, *c, d=2, **e: a * b + d)(x)
        """,
    "comprehensions": """
        a = {k: v for k, v in zip("ab", (x, x))}
        b = {n for n in range(3) if n}
        c = (y for y in [x])
        return sum(c) + a["a"]
        """,
    "decorators": """
        @(lambda g: g)
        def inner(y, /, *, z: "int" = 1) -> "torch.Tensor":
            nonlocal x
            x = y
            return x + z
        return inner(x)
        """,
    "slices": """
        x = x[..., None, 1:2, ::-1 if False else 1]
        return x[(slice(None), *([0] * 2))]
        """,
    "fstring": """
        name = f"{1 + 1!r:>{10}} {'nested'}" "implicit"
        del name
        return x
        """,
    "global": """
        global COUNTER
        COUNTER: int = 1
        return x
        """,
    "type-alias": """
        type Pair[T] = tuple[T, T]
        def generic[T: int, *Ts, **P](y: T) -> T:
            return y
        class Box[T]:
            item: T
        return generic(x)
        """,
    "nested-fstring": """
        return x * len(f"{", ".join(f"{n}" for n in range(2))}")
        """,
}
NEEDS = {"try-star": (3, 11), "type-alias": (3, 12), "nested-fstring": (3, 12)}


@pytest.mark.parametrize("name", SYNTAX)
def test_all_of_the_syntax(beside: Project, name: str) -> None:
    if sys.version_info < NEEDS.get(name, (3, 0)):
        pytest.skip("newer syntax than this Python reads")
    body = textwrap.indent(textwrap.dedent(SYNTAX[name]).strip(), "    ")
    beside.write({"bad.py": f"import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n{body}\n"})
    report = beside.lint(select=["TCL1", "TCL9"])
    told_about = [f for f in report.findings if f.path == "bad.py" and f.code.startswith("TCL9")]
    assert not told_about, told(told_about)
    assert UNHARMED in places(report)


def test_async(beside: Project) -> None:
    beside.write(
        {
            "bad.py": """
            import torch
            from torch import nn

            class Server(nn.Module):
                async def forward(self, x):
                    async with self.lock as held:
                        async for row in self.rows(x):
                            y = await row
                    return [z async for z in self.rows(x) if await z]

                async def rows(self, x):
                    yield x

            @torch.compile
            async def f(x):
                return await x
            """
        }
    )
    report = beside.lint(select=["TCL101", "TCL9"])
    assert [p for p in places(report) if p[2].startswith("TCL9")] == [], told(report.findings)
    assert UNHARMED in places(report)


# --- size -------------------------------------------------------------------------------------------------------------


def test_a_file_of_50_000_lines(beside: Project) -> None:
    method = """\
    def step_{n}(self, x):
        y = self.fc(x) + {n}
        if self.training:
            y = F.dropout(y, 0.1)
        return y if y.shape[0] > 1 else x

"""
    head = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\nclass Big(nn.Module):\n"
    body = "".join(method.format(n=n) for n in range(8_300))
    calls = "".join(f"        x = self.step_{n}(x)\n" for n in range(0, 8_300, 100))
    source = f"{head}{body}    def forward(self, x):\n{calls}        return x\n"
    assert source.count("\n") > 49_000
    beside.write({"bad.py": source})
    # About 2 s here; the bound is for slow machines and catches what is quadratic.
    with within(60):
        report = beside.lint(select=["TCL101", "TCL9"])
    assert UNHARMED in places(report)
    assert not [f for f in report.findings if f.code.startswith("TCL9")], told(report.findings)


def test_a_long_function(beside: Project) -> None:
    body = "".join(f"    x = x + {n} if x.shape[0] > {n} else x * 2\n" for n in range(3_000))
    beside.write({"bad.py": f"import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n{body}    return x\n"})
    with within(60):
        report = beside.lint(select=["TCL101", "TCL9"])
    assert UNHARMED in places(report)
    assert not [f for f in report.findings if f.code.startswith("TCL9")], told(report.findings)


def test_branches_that_double(beside: Project) -> None:
    """Forty `if`s in a row have 2^40 paths, and here as many shapes of a value."""
    body = "".join(f"    if flags[{n}]:\n        x, y = y, x\n    else:\n        y = (x, y)\n" for n in range(40))
    beside.write({"bad.py": f"import torch\n\n@torch.compile\ndef f(x, y, flags):\n{body}    return x\n"})
    with within(20):
        assert UNHARMED in places(beside.lint(select=["TCL101", "TCL9"]))


# --- rules that throw -------------------------------------------------------------------------------------------------

BROKEN_RULE = '''\
from tclint.model.finding import Effect, Severity
from tclint.ruleset.rule import Rule


class Broken(Rule):
    """Throws.

    Bad::

        x

    Good::

        y
    """

    code, name = "TCL999", "broken-rule"
    effect, severity = Effect.SLOW, Severity.LOW

    def on_branch(self, event):
        raise ValueError("oh no")
        yield
'''


def test_a_rule_that_throws(beside: Project) -> None:
    beside.write({"lint/broken.py": BROKEN_RULE})
    report = beside.lint("good.py", rules=["lint"])
    assert places(report) == [("good.py", 6, "TCL101"), ("good.py", 6, "TCL905")] or places(report) == [
        ("good.py", 6, "TCL905"),
        ("good.py", 6, "TCL101"),
    ], told(report.findings)
    (crash,) = [f for f in report.findings if f.code == "TCL905"]
    assert "TCL999" in crash.message
    assert "oh no" in crash.message


def test_a_rule_that_throws_often_is_told_once_for_a_file(beside: Project) -> None:
    many = GOOD + "\n\n" + GOOD.replace("def f", "def g").replace("import torch\n", "")
    beside.write({"lint/broken.py": BROKEN_RULE, "good.py": many})
    report = beside.lint("good.py", rules=["lint"])
    assert [f.code for f in report.findings].count("TCL905") == 1


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param("import nonexistent_module\n", "nonexistent_module", id="import-error"),
        pytest.param("def broken(:\n", "syntax error", id="syntax-error"),
        pytest.param(BROKEN_RULE.replace("TCL999", "TCL101"), "TCL101", id="code-taken"),
    ],
)
def test_a_rule_that_cannot_be_loaded(beside: Project, source: str, words: str) -> None:
    from tclint.ruleset.loading import RuleError

    beside.write({"lint/broken.py": source})
    with pytest.raises(RuleError, match=words):
        beside.lint("good.py", rules=["lint"])


def test_no_rules_folder(beside: Project, tmp_path: Path) -> None:
    from tclint.ruleset.loading import RuleError

    with pytest.raises(RuleError, match="cannot read the rules"):
        beside.lint("good.py", rules=["nowhere"])
