"""Which lines changed: what git writes, read; and which findings are on such lines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tclint.adopt.changed import changed_lines, only_changed
from tclint.model.errors import UserError
from tclint.model.finding import Applicability, Confidence, Edit, Effect, Finding, Fix, Severity, Span
from tclint.model.report import Report


def git(folder: Path, *words: str) -> None:
    names = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("one\ntwo\nthree\nfour\n")
    (tmp_path / "gone.py").write_text("x\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_lines_that_are_new_or_different(repository: Path) -> None:
    (repository / "a.py").write_text("one\nTWO\nthree\nfour\nfive\n")
    (repository / "gone.py").unlink()
    git(repository, "add", "-A")
    assert {path: lines for path, lines in changed_lines("HEAD", str(repository)).items() if lines} == {"a.py": {2, 5}}


def test_an_added_line_that_looks_like_the_head_of_a_file(repository: Path) -> None:
    (repository / "a.py").write_text("one\n++ b.py\n@@ -1 +9 @@\nthree\nfour\n")
    assert changed_lines("HEAD", str(repository)) == {"a.py": {2, 3}}


def test_names_with_blanks_and_quotes(repository: Path) -> None:
    for name in ("a b.py", 'q"q.py', "ü.py"):
        (repository / name).write_text("x = 1\n")
    git(repository, "add", "-A")
    assert changed_lines("HEAD", str(repository)) == {"a b.py": {1}, 'q"q.py': {1}, "ü.py": {1}}


def test_paths_are_shown_from_where_one_stands(repository: Path) -> None:
    (repository / "sub").mkdir()
    (repository / "sub" / "b.py").write_text("x = 1\n")
    git(repository, "add", "-A")
    assert changed_lines("HEAD", str(repository / "sub")) == {"b.py": {1}}


@pytest.mark.parametrize("base", ["", "--output=x", "no-such-branch"])
def test_what_is_no_revision_is_said(repository: Path, base: str) -> None:
    with pytest.raises(UserError, match="--diff-base"):
        changed_lines(base, str(repository))


def finding(first: int, last: int, fix: Fix | None = None) -> Finding:
    return Finding(
        code="TCL101",
        name="x",
        path="a.py",
        span=Span(first, 1, last, 5),
        message="m",
        effect=Effect.GRAPH_BREAK,
        severity=Severity.HIGH,
        confidence=Confidence.HIGH,
        fix=fix,
    )


def test_a_finding_counts_where_one_of_its_lines_changed() -> None:
    report = Report(findings=(finding(1, 1), finding(2, 4), finding(9, 9)))
    kept = only_changed(report, {"a.py": {3, 9}, "b.py": {1}}).findings
    assert [f.line for f in kept] == [2, 9]


def test_a_fix_that_reaches_other_lines_is_only_shown() -> None:
    fix = Fix("do it", Applicability.SAFE, (Edit("a.py", Span(1, 1, 2, 1), "import x\n"),), "")
    report = Report(findings=(finding(3, 3, fix),))
    (whole,) = only_changed(report, {"a.py": {1, 3}}).findings
    assert whole.fix == fix
    (shown,) = only_changed(report, {"a.py": {3}}).findings
    assert shown.fix is not None
    assert (shown.fix.title, shown.fix.applicability, shown.fix.edits) == ("do it", Applicability.DISPLAY, ())
