"""Adoption: suppressions that are written, and baselines."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from lintkit import Project

from tclint.adopt import baseline
from tclint.cli import main
from tclint.model.finding import Confidence, Effect, Finding, Severity, Span

PROGRAM = '''\
import torch


@torch.compile
def f(x: torch.Tensor):
    print("one")
    y = x.max().item()  # a number
    text = f"""{x.min().item()}
    more"""
    z = x.sum() \\
        .item()
    return x + y + z, text
'''


def finding(line: int, end: int, code: str = "TCL103", column: int = 5, end_column: int = 20) -> Finding:
    span = Span(line, column, end, end_column)
    return Finding(code, "scalar-extraction", "m.py", span, "m", Effect.SLOW, Severity.LOW, Confidence.HIGH)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(PROGRAM)
    return tmp_path


def run(*args: str) -> int:
    return main([*args, "--isolated", "--no-cache", "--min-confidence", "low"])


# --- suppressions -----------------------------------------------------------------------------------------------------


def test_add_ignore_silences_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.py") == 1
    assert run("--add-ignore=legacy  code", "m.py") == 0
    text = (folder / "m.py").read_text()
    ast.parse(text)
    assert '    print("one")  # tclint: ignore[TCL108] legacy code\n' in text
    assert "  # a number  # tclint: ignore[TCL103] legacy code\n" in text
    capsys.readouterr()
    assert run("m.py") == 0, capsys.readouterr().out
    before = (folder / "m.py").read_bytes()
    assert run("--add-ignore", "m.py") == 0
    assert (folder / "m.py").read_bytes() == before


def test_the_flag_does_not_take_the_path_for_its_reason(folder: Path) -> None:
    assert run("--add-ignore", "m.py") == 0
    assert "# tclint: ignore[TCL108] accepted: print-in-region" in (folder / "m.py").read_text()


@pytest.mark.parametrize(
    ("source", "where", "after"),
    [
        ("a = f()\n", finding(1, 1), "a = f()  # tclint: ignore[TCL103] why\n"),
        ("a = f()", finding(1, 1), "a = f()  # tclint: ignore[TCL103] why"),
        ("a = f()\r\nb\r\n", finding(1, 1), "a = f()  # tclint: ignore[TCL103] why\r\nb\r\n"),
        ("a = f()  # c\n", finding(1, 1), "a = f()  # c  # tclint: ignore[TCL103] why\n"),
        (
            "a = f()  # tclint: ignore[TCL101] x\n",
            finding(1, 1),
            "a = f()  # tclint: ignore[TCL101, TCL103] x\n",
        ),
        ("a = f(\n  1,\n)\n", finding(1, 3), "a = f(  # tclint: ignore[TCL103] why\n  1,\n)\n"),
        ("a = f() + \\\n  1\n", finding(1, 1), "# tclint: ignore[TCL103] why\na = f() + \\\n  1\n"),
        ("a = 1 + \\\n  f()\n", finding(2, 2), "a = 1 + \\\n  f()  # tclint: ignore[TCL103] why\n"),
        ("a = '''x\n%s\n''' % f()\n", finding(1, 3), "a = '''x\n%s\n''' % f()  # tclint: ignore[TCL103] why\n"),
        ("a = f'''x\n{f()}\n'''\n", finding(2, 2), "a = f'''x\n{f()}\n'''  # tclint: ignore[TCL103] why\n"),
    ],
)
def test_where_the_comment_goes(source: str, where: Finding, after: str) -> None:
    done = baseline.add_ignores(source.encode(), [where], "why")
    assert done.data.decode() == after
    assert done.failed == ()


def test_no_place_for_a_comment() -> None:
    source = b"a = 1 + \\\n  f() + \\\n  2\n"
    done = baseline.add_ignores(source, [finding(2, 2)], "why")
    assert (done.data, done.written, len(done.failed)) == (source, 0, 1)


def test_two_findings_share_a_comment() -> None:
    done = baseline.add_ignores(b"a = f()\n", [finding(1, 1), finding(1, 1, "TCL101")], "why")
    assert done.data == b"a = f()  # tclint: ignore[TCL101, TCL103] why\n"


# --- baselines --------------------------------------------------------------------------------------------------------


def test_a_baseline_hides_what_is_known(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.py", "--baseline", "known.json", "--update-baseline") == 0
    document = json.loads((folder / "known.json").read_text())
    assert [entry["code"] for entry in document["findings"]] == ["TCL108", "TCL103", "TCL103", "TCL103"]
    capsys.readouterr()
    assert run("m.py", "--baseline", "known.json") == 0
    assert "baseline known.json: 4 findings held back" in capsys.readouterr().out
    # Lines move, and one hazard is new.
    moved = PROGRAM.replace("import torch\n", "import torch\n\nX = 1\n", 1).replace(
        "    print", '    print("two")\n    print'
    )
    (folder / "m.py").write_text(moved)
    capsys.readouterr()
    assert run("m.py", "--baseline", "known.json", "--output-format", "concise", "-q") == 1
    assert capsys.readouterr().out.count("TCL") == 1


def test_changes_outside_git_are_nobody_s(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.py", "--diff-base", "main") == 2
    assert "is in no git repository" in capsys.readouterr().err


def test_stale_entries_are_told_and_pruned(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("m.py", "--baseline", "known.json", "--update-baseline")
    (folder / "m.py").write_text(PROGRAM.replace('    print("one")\n', ""))
    capsys.readouterr()
    assert run("m.py", "--baseline", "known.json") == 0
    assert "stale: m.py:6 TCL108" in capsys.readouterr().err
    assert run("m.py", "--baseline", "known.json", "--update-baseline") == 0
    assert "1 pruned" in capsys.readouterr().err
    run("m.py", "--baseline", "known.json")
    assert "stale" not in capsys.readouterr().err


def test_files_that_are_not_linted_keep_their_entries(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"a/m.py": PROGRAM, "b/n.py": PROGRAM})
    monkeypatch.chdir(project.root)
    assert run(".", "--baseline", "known.json", "--update-baseline") == 0
    assert run("a/m.py", "--no-project", "--baseline", "known.json", "--update-baseline") == 0
    assert len(json.loads((project.root / "known.json").read_text())["findings"]) == 8
    (project.root / "b" / "n.py").unlink()
    assert run("a/m.py", "--no-project", "--baseline", "known.json", "--update-baseline") == 0
    assert len(json.loads((project.root / "known.json").read_text())["findings"]) == 4


def test_a_baseline_holds_from_another_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"a/m.py": PROGRAM})
    monkeypatch.chdir(project.root)
    run("a", "--baseline", "known.json", "--update-baseline")
    monkeypatch.chdir(project.root / "a")
    assert run(".", "--baseline", "../known.json") == 0


@pytest.mark.parametrize("content", [None, "nonsense", "{}", '{"version": 99, "findings": []}'])
def test_a_baseline_that_is_none(folder: Path, content: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        (folder / "known.json").write_text(content)
    assert run("m.py", "--baseline", "known.json") == 2
    assert "--baseline known.json" in capsys.readouterr().err


def test_update_needs_a_file(folder: Path) -> None:
    assert run("m.py", "--update-baseline") == 2
