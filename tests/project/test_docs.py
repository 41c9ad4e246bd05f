"""The tables and the generated pages in docs/ are complete and current."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from lintkit import ROOT, script

from tclint.model.errors import ConfigError
from tclint.model.settings import check_selectors
from tclint.ruleset.loading import load_rules
from tclint.ruleset.rule import Rule
from tclint.sources import configuration

IDS = [*(f"R{n}" for n in range(1, 7)), *(f"H{n}" for n in range(7, 58))]


def rows() -> list[list[str]]:
    text = (ROOT / "docs" / "hazards.md").read_text(encoding="utf-8")
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if re.match(r"\| [RH]\d", line)
    ]


def test_every_hazard_has_a_row() -> None:
    assert [row[0] for row in rows()] == IDS


def test_every_hazard_is_covered_or_has_a_reason() -> None:
    for number, hazard, covered, remark, _ in rows():
        assert hazard, number
        if covered == "-":
            assert remark, f"{number} has neither a rule nor a reason"


def test_lines_of_real_code_are_rows_of_the_histories() -> None:
    document = json.loads((ROOT / "benchmarks" / "histories.json").read_text(encoding="utf-8"))
    flagged = {
        (f"{project.rpartition('/')[2]}@{row['commit'][:8]} {row['file']}:{row['line']}", row["rule"])
        for project, found in document.items()
        for row in found
        if row["expected"] == "flagged"
    }
    shown = [(row[4].strip("`"), row[2]) for row in rows() if row[4]]
    assert len(shown) > 15
    for where, covered in shown:
        assert any((where, rule.split()[0]) in flagged for rule in covered.split(", ")), where


def test_rules_named_for_hazards_exist() -> None:
    known = {"verify", *(f"{rule.code} {rule.name}" for rule in load_rules())}
    named = {each for row in rows() for each in row[2].split(", ") if each != "-"}
    assert sorted(named - known) == []


def test_generated_pages_are_current() -> None:
    make_docs = script("make_docs")
    old = [path.relative_to(ROOT).as_posix() for path in make_docs.stale(make_docs.pages())]
    assert old == [], "run python scripts/make_docs.py"


def test_the_diagram_is_current_and_names_modules_that_exist() -> None:
    diagram = script("make_diagram")
    assert diagram.PICTURE.read_text(encoding="utf-8") == diagram.render(), "run python scripts/make_diagram.py"
    for name, _, module, _, _ in diagram.STAGES:
        assert (ROOT / module).exists(), f"{name}: {module}"


def test_every_setting_has_a_valid_example(tmp_path: Path) -> None:
    make_docs = script("make_docs")
    settings_known = script("make_readme").SETTINGS
    assert set(settings_known) <= set(make_docs.EXAMPLES)
    for key in settings_known:
        (tmp_path / "pyproject.toml").write_text(f"[tool.tclint]\n{make_docs.EXAMPLES[key]}\n")
        settings = configuration.load(cwd=str(tmp_path))
        assert key.partition(".")[0] in settings.source
        check_selectors(settings, load_rules())


def test_the_keys_of_verify_are_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text("[verify]\nnonsense = 1\n")
    with pytest.raises(ConfigError, match=r"verify\.nonsense"):
        configuration.load(cwd=str(tmp_path))
    values = {"device": '"cpu"', "timeout": "5", "memory": "0", "factories": "{}", "path": "[]", "python": '"python3"'}
    assert set(values) == set(script("make_docs").VERIFY)
    written = "\n".join(f"{key} = {value}" for key, value in values.items())
    (tmp_path / "tclint.toml").write_text(f"[verify]\n{written}\n")
    assert set(configuration.load(cwd=str(tmp_path)).verify) == set(values)


def test_the_own_codes_of_tclint_are_listed() -> None:
    from tclint.run.assemble import OWN_NAMES

    page = script("make_docs").index_page(load_rules())
    own = {"TCL901": "unused-suppression", **OWN_NAMES}
    assert dict(re.findall(r"^\| (TCL9\d\d) \| ([\w-]+) \|", page, re.M)) == own


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.code)
def test_a_page_says_all_that_its_docstring_says(rule: Rule) -> None:
    """Taking a docstring apart loses no word."""
    page = script("make_docs").rule_page(rule, load_rules())
    page = re.sub(r"\[(TCL\d{3})\]\(\1\.md\)", r"\1", page)
    said = Counter(re.findall(r"\w+", page.lower()))
    doc = inspect.cleandoc(type(rule).__doc__ or "")
    wanted = Counter(re.findall(r"\w+", re.sub(r"^(Fix|Versions|Configuration): ", "", doc, flags=re.M).lower()))
    assert wanted - said == Counter()
    for title in ("## What torch does", "## Bad", "## Good", "## Fix"):
        assert title in page
