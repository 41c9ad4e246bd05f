"""The rules about the compile call (4xx) and about silent or slow code (5xx), on their fixtures and on their own pages.

The compiler is not asked here: what these rules claim was measured once, and their pages say on which releases.
"""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path

import pytest
from judge import FIXTURES, expectations
from lintkit import Project

from tclint.model.finding import Finding
from tclint.model.settings import Settings
from tclint.ruleset.loading import load_rules
from tclint.ruleset.rule import Rule
from tclint.run.engine import lint
from tclint.sources.files import InputFile

FAMILIES = ("TCL4", "TCL5")
RULES = {rule.code: rule for rule in load_rules() if rule.code.startswith(FAMILIES)}
FILES = [path for family in FAMILIES for path in sorted((FIXTURES / "rules").glob(f"{family}*/*_*.py"))]
# What a rule needs to be told before it says anything.
TARGETS = {"TCL510": "2.11"}
WRAPPERS = {"TCL411": "project.safe_compile"}
IMPORTS = "import collections, functools, os, time\n"


def settings(code: str) -> Settings:
    return Settings(
        select=("TCL", code),
        target_torch=TARGETS.get(code, "2.13"),
        require_compile_wrapper=WRAPPERS.get(code, ""),
        no_cache=True,
    )


def findings(path: str, source: str, code: str) -> list[Finding]:
    file = InputFile(path, f"/fixture/{path}", explicit=True, text=source.encode())
    report = lint([file], settings(code))
    assert not [f for f in report.findings if f.code.startswith("TCL9")], report.findings
    return [f for f in report.findings if f.code.startswith(FAMILIES)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name[:6]}/{path.stem}")
def test_fixture(path: Path) -> None:
    """Every expected line has its finding, in the expected words, and nothing else has one."""
    code = path.parent.name[:6]
    found = findings(path.name, path.read_text(), code)
    wanted = [e for e in expectations(path) if e.holds_for(TARGETS.get(code, "2.13"))]
    assert sorted((f.line, f.code) for f in found) == sorted((e.line, e.code) for e in wanted), found
    for expectation in wanted:
        messages = [f.message for f in found if (f.line, f.code) == (expectation.line, expectation.code)]
        assert any(expectation.words in message for message in messages), (expectation, messages)


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_fixtures(code: str) -> None:
    folders = list((FIXTURES / "rules").glob(f"{code}_*"))
    assert [f.name for f in folders] == [f"{code}_{RULES[code].name.replace('-', '_')}"]
    for kind in ("bad", "good", "near_miss"):
        assert list(folders[0].glob(f"{kind}_*.py")), kind


def block(page: str, heading: str) -> str:
    """The indented code under `Bad::` or `Good::`."""
    _, _, rest = page.partition(f"\n{heading}::\n\n")
    assert rest, heading
    lines = []
    for line in rest.splitlines():
        if line.strip() and not line.startswith("    "):
            break
        lines.append(line)
    return textwrap.dedent("\n".join(lines)).strip() + "\n"


def script(source: str) -> str:
    """A page's example as a file; where it compiles nothing itself, its function or module is compiled."""
    if "import torch" not in source:
        source = f"{IMPORTS}import torch\n\n{source}"
    if "compile" not in source:
        source += "\n\nfast = torch.compile(Net())\n" if "class Net" in source else "\n\nf = torch.compile(f)\n"
    return source


@pytest.mark.parametrize("code", RULES)
def test_page(code: str) -> None:
    """The bad example of a page is found, the good one is clean."""
    rule: Rule = RULES[code]
    page = inspect.cleandoc(rule.__doc__ or "")  # Python 3.13 takes the indent away itself
    assert "\nFix: " in page
    if not rule.default:
        assert "off by default" in page
        assert f'extend-select = ["{code}"]' in page.replace("\n", " ")
    bad = findings("page.py", script(block(page, "Bad")), code)
    assert code in {f.code for f in bad}, bad
    good = findings("page.py", script(block(page, "Good")), code)
    assert code not in {f.code for f in good}, good


def test_the_wrapper_rule_is_silent_until_configured() -> None:
    source = "import torch\n\nfast = torch.compile(lambda x: x * 2)\n"
    file = InputFile("a.py", "/fixture/a.py", explicit=True, text=source.encode())
    assert not [f for f in lint([file], Settings(no_cache=True)).findings if f.code == "TCL411"]


def test_policies_are_off_by_default() -> None:
    off = {"TCL403", "TCL416", "TCL417", "TCL418", "TCL509", "TCL512"}
    assert {code for code, rule in RULES.items() if not rule.default} == off


@pytest.mark.parametrize(
    ("compiled", "handled", "offered"),
    [
        ("torch.compile(f)", "return f", True),
        ("torch.compile(f, fullgraph=True)", "return f", False),  # Dynamo raises there in any case
        ("torch.compile(f)", "raise RuntimeError('no compiler')", False),
        ("torch.compile(f)", "return torch.compile(f, mode='max-autotune')", False),
    ],
)
def test_eager_mode_is_what_the_try_means(project: Project, compiled: str, handled: str, offered: bool) -> None:
    source = f"""
        import torch

        def compiled_or_not(f):
            try:
                return {compiled}
            except Exception:
                {handled}
    """
    first = project.write({"m.py": source}).lint(select=("TCL407",)).findings[0]
    assert (first.fix is not None) == offered
