"""The contract of every rule: its facts, its page with examples that hold, its fixtures line by line."""

from __future__ import annotations

import inspect
import json
import re
import sys
import textwrap
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from judge import FIXTURES, Expectation, demo_expectations, expectations
from lintkit import PRELUDE, ROOT, TORCH, Project, lint, told, with_caller

from tclint.model.finding import Finding
from tclint.ruleset.loading import load_rules
from tclint.ruleset.rule import Rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RULES = load_rules()
BY_CODE = {rule.code: rule for rule in RULES}
FILES = sorted((FIXTURES / "rules").glob("TCL*/*.py"))

# What a project says about itself, for the rules that need to be told. A page says it in a comment: `# [tool.tclint]`.
CONFIGURED: dict[str, dict[str, object]] = {"TCL411": {"require-compile-wrapper": "safe_compile"}}

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name[:6]}/{path.stem}")


@cache
def graph_breaks() -> dict[str, dict[str, str]]:
    text = (ROOT / "tclint" / "torch_facts" / "graph_breaks.json").read_text()
    registry: dict[str, dict[str, str]] = json.loads(text)
    return registry


# --- facts ------------------------------------------------------------------------------------------------------------


def test_every_file_of_the_folder_is_one_rule() -> None:
    files = [path.stem for path in sorted((ROOT / "rules").glob("tcl*.py"))]
    assert files == [f"{rule.code.lower()}_{rule.name.replace('-', '_')}" for rule in RULES]


def test_codes_and_names_are_unique() -> None:
    for facts in (Counter(rule.code for rule in RULES), Counter(rule.name for rule in RULES)):
        assert [fact for fact, times in facts.items() if times > 1] == []


@each_rule
def test_facts(rule: Rule) -> None:
    assert re.fullmatch(r"TCL\d{3}", rule.code)
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", rule.name)
    assert rule.scope in ("region", "seen", "eager", "any")
    unknown = [gb for gb in rule.graph_breaks if gb not in graph_breaks()]
    assert unknown == []
    rule.holds()  # a version range that cannot be read raises


@each_rule
def test_file_is_named_after_the_rule(rule: Rule) -> None:
    file = Path(inspect.getfile(type(rule)))
    assert file.name == f"{rule.code.lower()}_{rule.name.replace('-', '_')}.py"


@each_rule
def test_has_fixtures(rule: Rule) -> None:
    folder = FIXTURES / "rules" / f"{rule.code}_{rule.name.replace('-', '_')}"
    assert folder.is_dir()
    stems = [path.stem for path in folder.glob("*.py")]
    for kind in ("bad_", "good_", "near_miss_"):
        assert any(stem.startswith(kind) for stem in stems), f"no {kind}*.py in {folder.name}"


# --- the page ---------------------------------------------------------------------------------------------------------


def page(rule: Rule) -> str:
    return inspect.cleandoc(type(rule).__doc__ or "")


def block(rule: Rule, title: str) -> str:
    """The indented block under `Bad::` or `Good::`."""
    match = re.search(rf"^{title}::\n\n((?:    .*\n|\n)+)", page(rule) + "\n", re.M)
    assert match is not None, f"no {title}:: block"
    return textwrap.dedent(match[1]).strip() + "\n"


def example(rule: Rule, title: str) -> str:
    """The block as a program: with imports, its last function `f` compiled where the rule looks at compiled code."""
    source = block(rule, title)
    heads = list(re.finditer(r"^def f\(", source, re.M))
    if rule.scope in ("region", "seen") and heads and not re.search(r"torch\.compile\b", source):
        at = heads[-1].start()
        source = source[:at] + "@torch.compile\n" + source[at:]
    # A page about imports has its own.
    return source if "import torch\n" in source else PRELUDE + "\n\n" + source


def configuration(source: str) -> dict[str, object]:
    """The settings that comments of an example give: `# [tool.tclint.cudagraph]` and the lines below it."""
    commented = "\n".join(
        line[2:] for line in source.splitlines() if re.match(r'# (\[tool\.tclint|["\w*.-]+ = )', line)
    )
    tool = tomllib.loads(commented).get("tool", {}) if "[tool.tclint" in commented else {}
    settings: dict[str, object] = tool.get("tclint", {})
    return settings


def findings_in(project: Project, rule: Rule, title: str) -> tuple[Finding, ...]:
    source = example(rule, title)
    # The setting of the bad example holds for the good one too.
    given = {**CONFIGURED.get(rule.code, {}), **configuration(example(rule, "Bad"))}
    return project.write({"example.py": source}).lint("example.py", select=[rule.code], **given).findings


@each_rule
def test_page_begins_with_a_summary(rule: Rule) -> None:
    first, *rest = page(rule).splitlines()
    assert first.strip()
    assert first.rstrip().endswith(".")
    assert rest[:1] == [""], "the summary is one line, with a blank line after it"


@each_rule
def test_bad_example_is_flagged(rule: Rule, project: Project) -> None:
    found = findings_in(project, rule, "Bad")
    assert rule.code in {f.code for f in found}, example(rule, "Bad") + told(found)


@each_rule
def test_good_example_is_not(rule: Rule, project: Project) -> None:
    found = findings_in(project, rule, "Good")
    assert not found, example(rule, "Good") + told(found)


# --- the fixtures -----------------------------------------------------------------------------------------------------


def linted(path: Path) -> tuple[Finding, ...]:
    """The findings of the fixture's own family, at default confidence."""
    code = path.parent.name[:6]
    source = path.read_text()
    with TemporaryDirectory() as folder:
        Path(folder, path.name).write_text(with_caller(source))
        selected = [code] if code in BY_CODE else []
        report = lint(
            path.name, cwd=Path(folder), extend_select=selected, **CONFIGURED.get(code, {}), **configuration(source)
        )
    last = len(source.splitlines())
    return tuple(f for f in report.findings if f.code.startswith((code[:4], "TCL9")) and f.line <= last)


def wanted(path: Path) -> list[Expectation]:
    family = path.parent.name[:4]
    return [e for e in expectations(path) if e.code.startswith(family) and e.holds_for(TORCH)]


@each_file
def test_fixture_gets_what_it_expects(path: Path) -> None:
    """Its lines and no others, whichever rule of the family speaks; each line its rule, and its words.

    Together, so that a fixture is linted once.
    """
    findings = linted(path)
    found, lines = {f.line for f in findings}, {e.line for e in wanted(path)}
    assert found == lines, f"missed {sorted(lines - found)}, too much {sorted(found - lines)}:\n{told(findings)}"
    source = path.read_text().splitlines()
    for said in wanted(path):
        here = [f for f in findings if (f.line, f.code) == (said.line, said.code)]
        assert here, f"line {said.line}: {said.code} is not among\n{told([f for f in findings if f.line == said.line])}"
        # The words of an expectation are in the message, or are what the finding points at.
        texts = [f.message + "\n" + _flagged(source, f) for f in here]
        assert any(said.words in text for text in texts), f"line {said.line}: {said.words!r} not in {texts}"
    if path.parent.name.startswith("TCL2"):
        # Two rules about recompiles that speak of the same expression say the same thing twice.
        places = [(f.line, f.span.column) for f in findings]
        assert len(places) == len(set(places)), told(findings)


def _flagged(source: list[str], finding: Finding) -> str:
    span = finding.span
    last = source[span.end_line - 1][: span.end_column - 1]
    if span.line == span.end_line:
        return last[span.column - 1 :]
    return "\n".join([source[span.line - 1][span.column - 1 :], *source[span.line : span.end_line - 1], last])


# --- the demo ---------------------------------------------------------------------------------------------------------


def test_demo_is_flagged_line_by_line() -> None:
    report = lint("fixtures/demo", cwd=ROOT)
    expected = {(f"fixtures/demo/{path}", line, code) for path, line, code in demo_expectations()}
    found = {(f.path, f.line, f.code) for f in report.findings}
    assert found == expected, f"missed {sorted(expected - found)}, too much {sorted(found - expected)}"


def test_fixed_demo_is_clean() -> None:
    report = lint("fixtures/demo_fixed", cwd=ROOT)
    assert not report.findings, told(report.findings)
