"""Which rules settings choose, which files a glob means, what a misspelt word may have meant."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tclint.model.errors import ConfigError, did_you_mean
from tclint.model.globs import PathMatcher, file_matcher
from tclint.model.settings import Settings, check_selectors, matches, normal_selector, own_word

RULES = [SimpleNamespace(code="TCL101", name="data-dependent-branch"), SimpleNamespace(code="ACME7", name="no-sleep")]


@pytest.mark.parametrize(
    ("settings", "code", "name", "default", "chosen"),
    [
        (Settings(), "TCL101", "branch", True, True),
        (Settings(), "TCL101", "branch", False, False),
        (Settings(select=("ALL",)), "TCL101", "branch", False, True),
        (Settings(select=("TCL1",)), "TCL101", "branch", False, True),
        (Settings(ignore=("TCL1",)), "TCL101", "branch", True, False),
        # The most specific one wins, and `ignore` wins a tie.
        (Settings(ignore=("TCL1",), extend_select=("TCL101",)), "TCL101", "branch", True, True),
        (Settings(ignore=("TCL101",), extend_select=("TCL101",)), "TCL101", "branch", True, False),
        (Settings(ignore=("branch",)), "TCL101", "branch", True, False),
        # What a project adds belongs to the usual rules.
        (Settings(), "ACME7", "no-sleep", True, True),
        (Settings(select=("TCL1",)), "ACME7", "no-sleep", True, False),
    ],
)
def test_selection(settings: Settings, code: str, name: str, default: bool, chosen: bool) -> None:
    assert settings.selects(code, name, default) is chosen


def test_selectors_are_read_as_people_write_them() -> None:
    assert [normal_selector(word) for word in ("tcl101", " all ", "Print-In")] == ["TCL101", "ALL", "Print-In"]
    assert matches("tcl1", "TCL101", "branch")
    assert not matches("branc", "TCL101", "branch")


def test_a_selector_that_names_nothing_is_refused_with_its_place() -> None:
    check_selectors(Settings(select=("TCL", "TCL901", "no-sleep"), per_file_ignores={"a": ("ACME",)}), RULES)
    wrong = Settings(ignore=("no-slep",), source={"ignore": "tclint.toml:3"})
    with pytest.raises(
        ConfigError, match=r"^tclint.toml:3: ignore: no rule is called 'no-slep'; did you mean 'no-sleep'"
    ):
        check_selectors(wrong, RULES)


@pytest.mark.parametrize(
    ("word", "hint"), [("TCL1O1", "TCL101"), ("data-dependent-brunch", "data-dependent-branch"), ("zzz", "")]
)
def test_did_you_mean(word: str, hint: str) -> None:
    known = ["TCL101", "TCL511", "data-dependent-branch"]
    assert did_you_mean(word, known) == (f"; did you mean {hint!r}?" if hint else "")


@pytest.mark.parametrize(
    ("glob", "path", "found"),
    [
        ("build", "/p/build", True),
        ("build", "/p/builds", False),
        ("*.gen.py", "/p/a/x.gen.py", True),
        ("tests/*.py", "/p/tests/a.py", True),
        ("tests/*.py", "/q/tests/a.py", False),
        ("./tests/", "/p/tests", True),
        ("*/data", "/q/any/data", True),
    ],
)
def test_globs(glob: str, path: str, found: bool) -> None:
    assert PathMatcher([glob], "/p")(path.rpartition("/")[2], path) is found


def test_a_bare_name_means_everything_below_such_a_folder() -> None:
    test = file_matcher("tests", "/p")
    assert test("/p/a/tests/b/c.py")
    assert not test("/p/a/test_x.py")


def test_ignored_in_files_and_in_all_others() -> None:
    settings = Settings(root="/p", per_file_ignores={"tests": ("TCL1",), "!models": ("TCL2",)})
    assert settings.ignored_in("/p/tests/a.py", "TCL101", "branch")
    assert not settings.ignored_in("/p/models/a.py", "TCL101", "branch")
    assert settings.ignored_in("/p/tests/a.py", "TCL201", "stride")
    assert not settings.ignored_in("/p/models/a.py", "TCL201", "stride")


def test_what_cannot_change_a_finding_is_not_in_the_fingerprint() -> None:
    same = Settings(jobs=4, cache_dir="x", no_cache=True, exclude=("y",), root="/q", source={"jobs": "z"})
    assert same.fingerprint() == Settings().fingerprint()
    for other in (Settings(select=("TCL1",)), Settings(target_torch="2.4"), Settings(tokenizers=())):
        assert other.fingerprint() != Settings().fingerprint()


def test_the_users_own_word_is_not_that_of_a_file() -> None:
    said = Settings(source={"cache-dir": "command line", "jobs": "pyproject.toml:3"})
    assert own_word(said, "cache-dir")
    assert not own_word(said, "jobs")
    assert not own_word(said, "select")
