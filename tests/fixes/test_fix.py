"""Fixes: the fixtures byte for byte, the edits, the passes, the files; and Dynamo's word that the hazard is gone."""

from __future__ import annotations

import ast
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from judge import FIXTURES
from lintkit import ROOT, TORCH, Project, within

from tclint.cli import main
from tclint.fixes import apply, passes
from tclint.fixes.unused import without_unused
from tclint.model.finding import Applicability, Confidence, Edit, Effect, Finding, Fix, Severity, Span, Switch
from tclint.model.report import Report
from tclint.model.suggestion import suggestions
from tclint.run import engine, fixing
from tclint.run.project import Project as Opened
from tclint.sources import configuration
from tclint.sources.files import InputFile, discover

RULES = FIXTURES / "rules"
# What a project says about itself, for the rules that need to be told.
CONFIGURED: dict[str, object] = {
    "require-compile-wrapper": "safe_compile",
    "cudagraph": {"callables": ["*.lensnet"], "clone-helpers": ["run_lensnet"]},
}
FILES = [path for path in sorted(RULES.glob("TCL*/fix/*.py")) if not path.name.endswith(".fixed.py")]
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name[:6]}/{path.stem}")


_found: dict[tuple[tuple[str, ...], str, bytes], Report] = {}


class Remembering(Opened):
    """A project of one file that tells what was found in the same bytes before: a fix, its review and its twin are linted
    by several tests, and by each of them several times."""

    def _lint(
        self,
        files: Sequence[InputFile],
        ends: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        (file,) = files
        assert file.text is not None
        key = (tuple(self.settings.select), file.path, file.text)
        if key not in _found:
            _found[key] = super()._lint(files, ends, progress)
        return _found[key]


def twin(path: Path) -> Path:
    return path.with_name(path.stem + ".fixed.py")


def fixed(source: bytes, code: str, unsafe: bool, name: str = "program.py") -> fixing.Done:
    """A program after its fixes of one rule (and, for a graph break, of those it turns into)."""
    selected = [code, "TCL1"] if code.startswith("TCL1") else [code]
    overrides = {"select": selected, "min-confidence": "low", "target-torch": TORCH, "no-cache": True, **CONFIGURED}
    settings = configuration.load([name], cwd="/nowhere", isolated=True, overrides=overrides)
    file = InputFile(name, f"/nowhere/{name}", explicit=True, text=source)
    return Remembering([file], settings, "/nowhere").fix(unsafe=unsafe, write=False)


def result(done: fixing.Done) -> bytes:
    (file,) = done.files
    assert file.text is not None
    return file.text


# --- the fixtures -----------------------------------------------------------------------------------------------------


@each_file
def test_fixed_byte_for_byte(path: Path) -> None:
    code, safe = path.parent.parent.name[:6], path.stem.startswith("safe_")
    done = fixed(path.read_bytes(), code, unsafe=not safe)
    assert result(done).decode() == twin(path).read_text()
    assert done.fixed.rejected == []
    left = [f for f in done.report.findings if f.code == code]
    assert left == []


@each_file
def test_fixed_twin_parses_and_stays(path: Path) -> None:
    source = twin(path).read_bytes()
    ast.parse(source)
    done = fixed(source, path.parent.parent.name[:6], unsafe=True)
    assert done.fixed.contents == {}


@each_file
def test_unsafe_fixes_wait_to_be_asked_for(path: Path) -> None:
    if path.stem.startswith("unsafe_"):
        assert fixed(path.read_bytes(), path.parent.parent.name[:6], unsafe=False).fixed.contents == {}


@pytest.mark.parametrize("path", FILES[::3], ids=lambda path: f"{path.parent.parent.name[:6]}/{path.stem}")
def test_fixes_keep_windows_line_endings_and_a_mark(path: Path) -> None:
    crlf = "\N{ZERO WIDTH NO-BREAK SPACE}".encode() + path.read_bytes().replace(b"\n", b"\r\n")
    want = "\N{ZERO WIDTH NO-BREAK SPACE}".encode() + twin(path).read_bytes().replace(b"\n", b"\r\n")
    done = fixed(crlf, path.parent.parent.name[:6], unsafe=not path.stem.startswith("safe_"))
    assert result(done) == want


@cache
def everything() -> tuple[Path, ...]:
    return tuple(sorted(p for p in FIXTURES.rglob("*.py") if not p.name.endswith(".fixed.py")))


FAMILIES = ["TCL10", "TCL11", "TCL12", "TCL20", "TCL21", "TCL30", "TCL31", "TCL4", "TCL5"]


def test_every_fixture_has_a_family() -> None:
    folders = {path.relative_to(RULES).parts[0] for path in everything() if path.is_relative_to(RULES)}
    assert [name for name in sorted(folders) if not name.startswith(tuple(FAMILIES))] == []


def test_all_fixes_over_the_demo_converge() -> None:
    """A project of several files, on disk and with a cache; what has one file converges where it is clicked through."""
    overrides = {"select": ["ALL"], "min-confidence": "low", "target-torch": TORCH, **CONFIGURED}
    with TemporaryDirectory() as folder, TemporaryDirectory() as kept:
        # After each pass only what it changed is interpreted again, as for whoever lints with a cache.
        overrides["cache-dir"] = kept
        for path in everything():
            if path.is_relative_to(RULES):
                continue
            target = Path(folder, path.relative_to(FIXTURES))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
        settings = configuration.load(["."], cwd=folder, isolated=True, overrides=overrides)
        files = discover(["."], settings, folder)
        done = Opened(files, settings, folder).fix(unsafe=True)
        assert done.fixed.contents
        assert done.failed == []
        converges(done)
        for file in files:
            ast.parse(Path(file.absolute).read_bytes())
        again = Opened(files, settings, folder).fix(unsafe=True)
        assert again.fixed.contents == {}


def converges(done: fixing.Done) -> None:
    assert done.fixed.passes < passes.PASSES
    assert [f for f in done.report.findings if f.code == "TCL905"] == []


# --- edits ------------------------------------------------------------------------------------------------------------


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit("m.py", Span(line, column, end_line, end_column), text)


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        (b"a = 1\nb = 2\n", [edit(2, 1, 2, 2, "c")], b"a = 1\nc = 2\n"),
        (b"a = 1\r\nb = 2\r\n", [edit(2, 1, 2, 1, "x\ny\n")], b"a = 1\r\nx\r\ny\r\nb = 2\r\n"),
        (b"a = 1\rb = 2\r", [edit(2, 1, 2, 1, "x\n")], b"a = 1\rx\rb = 2\r"),
        (b"a = 1", [edit(1, 6, 1, 6, "\nb = 2")], b"a = 1\nb = 2"),
        ("é = 'ü'\n".encode(), [edit(1, 5, 1, 8, "'ö'")], "é = 'ö'\n".encode()),
        (b"# coding: latin-1\ns = '\xfc'\n", [edit(2, 1, 2, 2, "t")], b"# coding: latin-1\nt = '\xfc'\n"),
        (b"\xef\xbb\xbfa = 1\n", [edit(1, 5, 1, 6, "2")], b"\xef\xbb\xbfa = 2\n"),
        (b"a\x0cb = 1\n", [edit(1, 3, 1, 4, "c")], b"a\x0cc = 1\n"),
        (b"a\nb\nc\n", [edit(3, 1, 4, 1, ""), edit(1, 1, 2, 1, "")], b"b\n"),
    ],
)
def test_edits_keep_everything_else(before: bytes, edits: list[Edit], after: bytes) -> None:
    assert apply.apply_edits(before, edits) == after


@pytest.mark.parametrize("edits", [[edit(1, 1, 1, 4, ""), edit(1, 3, 1, 5, "")], [edit(9, 1, 9, 1, "x")]])
def test_edits_that_do_not_fit(edits: list[Edit]) -> None:
    with pytest.raises(apply.CannotApply):
        apply.apply_edits(b"a = 1\n", edits)


def test_text_outside_the_encoding_is_refused() -> None:
    with pytest.raises(apply.CannotApply):
        apply.apply_edits(b"# coding: latin-1\na = 1\n", [edit(2, 1, 2, 2, "\N{SNOWMAN}")])


# --- passes -----------------------------------------------------------------------------------------------------------


def finding(*edits: Edit, how: Applicability = Applicability.SAFE, line: int = 1) -> Finding:
    repair = Fix("t", how, edits)
    where = Span(line, 1, line, 2)
    return Finding("TCL101", "n", "m.py", where, "m", Effect.SLOW, Severity.LOW, Confidence.HIGH, fix=repair)


def test_overlapping_fixes_take_several_passes() -> None:
    def lint(contents: Mapping[str, bytes]) -> Sequence[Finding]:
        text = contents.get("m.py", b"aa\n").decode()
        return [finding(edit(1, m.start() + 1, 1, m.end() + 1, "b")) for m in re.finditer("a", text)]

    done = passes.run(lint, lambda path: b"aa\n")
    assert done.contents == {"m.py": b"bb\n"}
    assert (done.passes, len(done.applied)) == (2, 2)


def test_a_fix_that_leaves_its_hazard_is_not_applied() -> None:
    def lint(contents: Mapping[str, bytes]) -> Sequence[Finding]:
        return [finding(edit(1, 1, 1, 1, "a"))]

    done = passes.run(lint, lambda path: b"a\n")
    assert (done.contents, done.applied) == ({}, [])
    assert done.rejected == ["m.py:1 TCL101: not fixed, the fix does not pay: the hazard would still be there"]


def test_of_several_fixes_in_a_function_those_that_pay_stay() -> None:
    """`a` is cured by `b`; `x` becomes `y`, which is as bad, one line below; the rest of the file has nothing to do with it."""
    before = b"a = 1\nx = 2\na = 3\nx = 4\n"

    def lint(contents: Mapping[str, bytes]) -> Sequence[Finding]:
        found = []
        for number, line in enumerate(contents.get("m.py", before).decode().splitlines(), 1):
            if line[0] in "ax":
                found.append(finding(edit(number, 1, number, 2, "b" if line[0] == "a" else "y"), line=number))
            elif line[0] == "y":
                found.append(replace(finding(line=number), code="TCL103"))
        return found

    done = passes.run(lint, lambda path: before)
    assert done.contents == {"m.py": b"b = 1\nx = 2\nb = 3\nx = 4\n"}
    assert len(done.applied) == 2
    assert done.rejected
    assert all("TCL103" in why for why in done.rejected)


MOVES = """\
import torch

seen = []


@torch.compile
def f(x: torch.Tensor, p: torch.Tensor):
    to_drop = False
    if p < 0.5:
        to_drop = True
    if to_drop:
        seen.append(1)
        return x
    return x + p.item()
"""


def test_a_hazard_that_only_moves_is_not_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of the two branches could become a `where`; the second would then be the one that breaks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(MOVES)
    run("--fix", "--unsafe-fixes", "m.py")
    assert (tmp_path / "m.py").read_text() == MOVES.replace("p.item()", "p.detach()")


def test_a_review_suggests_what_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(MOVES)
    run("m.py", "--output-format", "sarif")
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert {each["ruleId"]: "fixes" in each for each in results} == {"TCL101": False, "TCL103": True, "TCL202": False}


def test_a_fix_that_breaks_the_file_is_discarded_and_told() -> None:
    def lint(contents: Mapping[str, bytes]) -> Sequence[Finding]:
        good = [finding(edit(2, 1, 2, 2, "c"), line=2)] if b"b" in contents.get("m.py", b"b") else []
        return [finding(edit(1, 1, 1, 1, "(")), *good]

    done = passes.run(lint, lambda path: b"a = 1\nb = 2\n")
    assert done.contents == {"m.py": b"a = 1\nc = 2\n"}
    (why,) = done.rejected
    assert "m.py:1 TCL101" in why
    assert "SyntaxError" in why


def test_equal_insertions_count_once() -> None:
    line = edit(1, 1, 1, 1, "import x\n")

    def lint(contents: Mapping[str, bytes]) -> Sequence[Finding]:
        if contents:
            return []
        return [finding(line, edit(2, 1, 2, 2, "A")), finding(line, edit(3, 1, 3, 2, "B"), line=3)]

    done = passes.run(lint, lambda path: b"# top\na\nb\n")
    assert done.contents == {"m.py": b"import x\n# top\nA\nB\n"}


# --- files and the command ----------------------------------------------------------------------------------------------

HAZARD = b"""\
import copy

import torch


@torch.compile
def f(x: torch.Tensor):
    y = copy.deepcopy(x > 0)
    print("y", y)
    return y
"""
SAFE = HAZARD.removeprefix(b"import copy\n\n").replace(b"copy.deepcopy(x > 0)", b"(x > 0).clone()")
ALL = SAFE.replace(b'    print("y", y)', b'    if not torch.compiler.is_compiling():\n        print("y", y)')


@pytest.fixture
def hazard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "m.py"
    path.write_bytes(HAZARD)
    return path


def run(*args: str) -> int:
    return main([*args, "--isolated", "--no-cache"])


def test_fix_applies_what_is_safe_and_reports_the_rest(hazard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hazard.chmod(0o640)
    assert run("m.py", "--fix", "--output-format", "concise") == 1
    assert hazard.read_bytes() == SAFE
    assert stat.S_IMODE(hazard.stat().st_mode) == 0o640
    out, err = capsys.readouterr()
    assert "TCL108" in out
    assert "TCL116" not in out
    assert "1 fixed" in err


def test_unsafe_fixes_too(hazard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.py", "--fix", "--unsafe-fixes", "--show-fixes") == 0
    assert hazard.read_bytes() == ALL
    err = capsys.readouterr().err
    assert "m.py:8 TCL116 clone the tensor\n" in err
    assert "(unsafe)" in err
    assert run("m.py", "--fix", "--unsafe-fixes") == 0
    assert hazard.read_bytes() == ALL


def test_fix_only_says_nothing_of_what_is_left(hazard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m.py", "--fix-only") == 0
    assert hazard.read_bytes() == SAFE
    assert capsys.readouterr().out == ""


def test_diff_changes_nothing(hazard: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run("m.py", "--diff", "--unsafe-fixes") == 1
    assert hazard.read_bytes() == HAZARD
    patch = capfdbinary.readouterr().out
    hazard.with_name("p.diff").write_bytes(patch)
    subprocess.run(["git", "apply", "-p1", "p.diff"], check=True, cwd=hazard.parent)
    assert hazard.read_bytes() == ALL
    assert run("m.py", "--diff", "--unsafe-fixes") == 0


def test_stdin_gives_the_fixed_source(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tclint", "-", "--stdin-filename", "m.py", "--fix", "--isolated", "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, input=HAZARD, capture_output=True, check=False, cwd=tmp_path, env=environment)
    assert (done.stdout, done.returncode) == (SAFE, 1)


def test_a_file_that_changed_meanwhile_is_left_alone(hazard: Path) -> None:
    assert "changed on disk" in apply.write(str(hazard), b"something else", b"new", str(hazard.parent))
    assert hazard.read_bytes() == HAZARD
    assert os.listdir(hazard.parent) == ["m.py"], "no temporary file stays"


@pytest.mark.parametrize("step", ["tempfile.mkstemp", "os.chmod"])
def test_an_edit_saved_while_the_fix_is_written_is_kept(
    hazard: Path, step: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, _, name = step.partition(".")
    original = getattr(sys.modules[module], name)

    def save_meanwhile(*args: object, **kwargs: object) -> object:
        hazard.write_bytes(b"# my edit\n" + HAZARD)
        return original(*args, **kwargs)

    monkeypatch.setattr(sys.modules[module], name, save_meanwhile)
    assert run("m.py", "--fix") == 2
    assert hazard.read_bytes() == b"# my edit\n" + HAZARD
    err = capsys.readouterr().err
    assert "m.py: changed on disk since it was linted; left alone: run tclint again" in err
    assert "0 fixed" in err
    assert os.listdir(hazard.parent) == ["m.py"]


def test_an_edit_saved_during_the_lint_gets_no_suppressions(
    hazard: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lines of the findings are not those of the new text."""
    original = engine.lint

    def lint(*args: Any, **kwargs: Any) -> Report:
        report = original(*args, **kwargs)
        hazard.write_bytes(b"# my edit\n" + HAZARD)
        return report

    monkeypatch.setattr(engine, "lint", lint)
    assert run("m.py", "--add-ignore") == 1
    assert hazard.read_bytes() == b"# my edit\n" + HAZARD
    assert "m.py: changed on disk" in capsys.readouterr().err


@pytest.mark.parametrize("instead", ["pipe", "folder", "nothing"])
def test_what_is_no_file_any_more_is_left_alone(hazard: Path, instead: str) -> None:
    hazard.unlink()
    if instead == "pipe":
        os.mkfifo(hazard)
    elif instead == "folder":
        hazard.mkdir()
    with within(10):
        assert "left alone" in apply.write(str(hazard), HAZARD, SAFE, str(hazard.parent))
    assert os.listdir(hazard.parent) == ([] if instead == "nothing" else ["m.py"])


def test_a_link_stays_a_link(hazard: Path) -> None:
    link = hazard.with_name("link.py")
    link.symlink_to("m.py")
    assert apply.write(str(link), HAZARD, SAFE, str(hazard.parent)) == ""
    assert link.is_symlink()
    assert hazard.read_bytes() == SAFE


@pytest.mark.parametrize("folder", [False, True])
def test_a_link_out_of_the_project_is_not_followed(
    tmp_path: Path, folder: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    (other / "m.py").write_bytes(HAZARD)
    (project / "linked").symlink_to(other)
    (project / "m.py").symlink_to(other / "m.py")
    monkeypatch.chdir(project)
    assert run("linked/m.py" if folder else "m.py", "--fix", "--no-project") == 2
    assert (other / "m.py").read_bytes() == HAZARD
    assert f"a link that leads out of the project, to {other / 'm.py'}; left alone" in capsys.readouterr().err
    assert run("../other/m.py", "--fix", "--no-project") == 1, "by its own name it is the user's own word"
    assert (other / "m.py").read_bytes() == SAFE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX permissions")
def test_a_read_only_file_is_left_alone(hazard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = hazard.read_bytes()
    hazard.chmod(0o444)
    assert run("m.py", "--fix", "--unsafe-fixes") == 2
    assert "m.py: read-only; left alone" in capsys.readouterr().err
    assert hazard.read_bytes() == before
    assert [path.name for path in hazard.parent.iterdir()] == ["m.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(hazard: Path) -> None:
    os.chown(hazard, 12345, 23456)
    run("m.py", "--fix", "--unsafe-fixes")
    assert b"is_compiling" in hazard.read_bytes()
    assert (hazard.stat().st_uid, hazard.stat().st_gid) == (12345, 23456)


@pytest.mark.parametrize(("names", "says"), [(1, "another name"), (3, "3 other names")])
def test_a_file_of_several_names_is_left_alone(
    hazard: Path, capsys: pytest.CaptureFixture[str], names: int, says: str
) -> None:
    """A hard link may lead anywhere, into the store of a package manager say."""
    others = [hazard.with_name(f"other{i}.txt") for i in range(names)]
    for other in others:
        other.hardlink_to(hazard)
    assert run("m.py", "--fix-only") == 2
    assert f"m.py: the same file has {says} (hard links); left alone" in capsys.readouterr().err
    assert all(path.read_bytes() == HAZARD and path.stat().st_ino == hazard.stat().st_ino for path in others)
    for other in others:
        other.unlink()
    assert run("m.py", "--fix-only") == 0
    assert hazard.read_bytes() == SAFE


@pytest.mark.parametrize("flag", ["--unsafe-fixes", "--show-fixes"])
def test_options_that_need_fix(hazard: Path, flag: str) -> None:
    assert run("m.py", flag) == 2


def test_suppressed_findings_are_not_fixed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = HAZARD.replace(b"deepcopy(x > 0)", b"deepcopy(x > 0)  # tclint: ignore[TCL116] on purpose")
    project.write({"m.py": quiet})
    monkeypatch.chdir(project.root)
    run("m.py", "--fix")
    assert (project.root / "m.py").read_bytes() == quiet


def test_unused_suppressions_are_removed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"m.py": b"x = 1  # tclint: ignore[TCL101] old\n"})
    monkeypatch.chdir(project.root)
    assert run("m.py", "--fix") == 0
    assert (project.root / "m.py").read_bytes() == b"x = 1\n"


# --- Dynamo -------------------------------------------------------------------------------------------------------------

BREAKS = [path for path in FILES if path.parent.parent.name.startswith("TCL1")]


@pytest.mark.dynamo
@pytest.mark.parametrize("path", BREAKS, ids=lambda path: f"{path.parent.parent.name[:6]}/{path.stem}")
def test_dynamo_agrees_that_the_break_is_gone(path: Path) -> None:
    pytest.importorskip("torch")
    from kept_verdicts import judged

    before, after = judged(path), judged(twin(path))
    assert before.lines(path.name), "the fixture breaks nothing"
    assert after.lines(twin(path).name) == set(), (after.breaks, after.errors)
    _same_outputs(path)


def _same_outputs(path: Path) -> None:
    import judge
    import torch
    from torch.utils._pytree import tree_flatten

    def opened(file: Path) -> list[object]:
        # Each file has dataclasses of its own, which are never equal to the other's.
        leaves = tree_flatten(judge.outputs(file))[0]
        return tree_flatten([vars(each) if is_dataclass(each) else each for each in leaves])[0]

    try:
        outputs = opened(path)
        assert outputs
        for old, new in zip(outputs, opened(twin(path)), strict=True):
            if isinstance(old, torch.Tensor):
                torch.testing.assert_close(new, old, equal_nan=True)
            else:
                assert new == old
    finally:
        if torch.distributed.is_initialized():  # by a fixture that needs one
            torch.distributed.destroy_process_group()


RECOMPILES = [path for path in FILES if path.parent.parent.name.startswith("TCL2")]


def _named(path: Path) -> object:
    return pytest.param(path, id=f"{path.parent.parent.name[:6]}/{path.stem}")


@pytest.mark.dynamo
@pytest.mark.parametrize("path", [_named(path) for path in RECOMPILES])
def test_dynamo_agrees_that_the_recompile_is_gone(path: Path) -> None:
    pytest.importorskip("torch")
    from kept_verdicts import judged

    before, after = (judged(each, backend="aot_eager") for each in (path, twin(path)))
    assert after.most_compiles < before.most_compiles, (before.compiles, after.compiles)
    assert after.most_compiles <= 2, (after.compiles, after.reasons)
    assert not after.breaks
    assert not after.errors
    _same_outputs(path)


GRAPHS = [path for path in FILES if path.parent.parent.name.startswith("TCL3")]


@pytest.mark.cuda
@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: f"{path.parent.parent.name[:6]}/{path.stem}")
def test_the_runtime_agrees_that_the_graph_is_safe(path: Path) -> None:
    """In a process of its own each: a failed capture spoils the CUDA context."""
    import json

    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    if "OUTCOME" not in path.read_text():
        pytest.skip("says nothing of what the runtime does")
    outcomes = []
    for each in (path, twin(path)):
        command = [sys.executable, str(ROOT / "tests" / "judge.py"), "--cuda", str(each)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
        outcomes.append(json.loads(done.stdout.splitlines()[-1]))
    assert outcomes[0]["outcome"] != "fine", outcomes
    assert outcomes[1]["outcome"] == "fine", outcomes


# --- where code is reviewed -----------------------------------------------------------------------------------------------

SUGGESTION = re.compile(r"(`{3,})suggestion\n(.*?)\n?\1", re.S)


def as_github_applies(source: str, review: dict[str, object]) -> str:
    """The file after a click on every suggestion: whole lines, replaced from the bottom up."""
    lines = source.split("\n")
    comments = review["comments"]
    assert isinstance(comments, list)
    for comment in sorted(comments, key=lambda c: -int(c["line"])):
        found = SUGGESTION.search(comment["body"])
        if found is not None:
            first = comment.get("start_line", comment["line"])
            block = comment["body"][found.end(1) + len("suggestion\n") :]
            text = block[: block.rindex(found[1])]
            lines[first - 1 : comment["line"]] = text.removesuffix("\n").split("\n") if text else []
    return "\n".join(lines)


def remembered(source: bytes, code: str) -> Remembering:
    overrides = {"select": [code], "min-confidence": "low", "target-torch": TORCH, "no-cache": True, **CONFIGURED}
    settings = configuration.load(["m.py"], cwd="/nowhere", isolated=True, overrides=overrides)
    file = InputFile("m.py", "/nowhere/m.py", explicit=True, text=source)
    return Remembering([file], settings, "/nowhere")


def clicked_and_fixed(source: bytes, code: str) -> tuple[str, str, bool]:
    """A file after every suggestion, over as many reviews as it takes; after `--fix`; and whether all fixes fit one."""
    import json

    from tclint.output import renderer
    from tclint.output.github_review import suggestion
    from tclint.output.lines import Lines

    project = remembered(source, code)
    settings, (file,) = project.settings, project.files
    fixed = project.fix(unsafe=True, write=False)
    fit = True

    def review(text: str) -> dict[str, object]:
        nonlocal fit
        project = Remembering([replace(file, text=text.encode())], settings, "/nowhere")
        report = project._lint(project.files)
        # Also those that only a review shows leave Python: nobody parses a suggestion before a person applies it.
        for each in report.findings:
            if each.fix is not None and each.fix.edits:
                assert apply.parses(apply.apply_edits(text.encode(), each.fix.edits)) == "", (each.line, each.code)
        if fixed.fixed.rejected:  # a review leaves out what does not pay, as `--fix` does
            report = project.offered(report)
        lines = Lines({"m.py": text})
        fit &= all(suggestion(f, lines) is not None for f in report.findings if passes.applicable(f, True))
        made: dict[str, object] = json.loads(
            renderer("github-review")(report, color=False, width=100, sources={"m.py": text})
        )
        return made

    clicked = source.decode()
    for _ in range(passes.PASSES):
        after = as_github_applies(clicked, review(clicked))
        if after == clicked:
            break
        clicked = after
    # A suggestion is about its own lines: an import that it leaves idle is for the next one to find.
    clicked = without_unused("m.py", source, clicked.encode(), others=True, taken=lambda name: False).decode()
    return clicked, result(fixed).decode(), fit


@each_file
def test_suggestions_applied_give_what_fix_gives(path: Path) -> None:
    clicked, want, _ = clicked_and_fixed(path.read_bytes(), path.parent.parent.name[:6])
    assert clicked == want


@pytest.mark.slow
@pytest.mark.parametrize("family", [*FAMILIES, "demo"])
def test_all_fixes_of_every_fixture_converge_and_suggestions_give_the_same(family: str) -> None:
    compared = 0
    chosen = [path for path in everything() if any(part.startswith(family) for part in path.parts)]
    clean = [path for path in chosen if path.name.startswith(("good", "near"))]
    for path in chosen:
        if path in clean and path not in clean[::4]:
            continue  # hardly anything is fixed there
        done = remembered(path.read_bytes(), "ALL").fix(unsafe=True, write=False)
        converges(done)
        after = result(done)
        ast.parse(after)
        assert remembered(after, "ALL").fix(unsafe=True, write=False).fixed.contents == {}, path
        # Good code and near misses are clean: there is nothing to click.
        if not path.name.startswith(("good", "near")):
            clicked, want, fit = clicked_and_fixed(path.read_bytes(), "ALL")
            assert want == after.decode()
            # A fix that reaches over more lines than a suggestion may have is only shown.
            assert clicked == want or not fit, path
            compared += fit
    assert compared > 5


def test_diff_base_reports_changed_lines_only(hazard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    def git(*args: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@t"]
        subprocess.run(["git", *who, *args], check=True, cwd=hazard.parent, capture_output=True)

    git("init", "-q")
    git("add", "m.py")
    git("commit", "-qm", "one")
    assert run("m.py", "--diff-base", "HEAD") == 0
    hazard.write_bytes(HAZARD.replace(b'"y"', b'"new"'))
    capsys.readouterr()
    assert run("m.py", "--diff-base", "HEAD", "--output-format", "github-review") == 1
    (comment,) = json.loads(capsys.readouterr().out)["comments"]
    assert (comment["path"], comment["line"], comment["side"]) == ("m.py", 9, "RIGHT")
    want = '```suggestion\n    if not torch.compiler.is_compiling():\n        print("new", y)\n```'
    assert comment["body"].endswith(want)
    assert run("m.py", "--diff-base", "no-such-rev") == 2


# --- one change at the compile site -----------------------------------------------------------------------------------

COMPILED = {
    "model.py": (
        "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
        "        n = int(x.sum())\n        return torch.zeros(n), x.max().item()\n"
    ),
    "train.py": "import torch\n\nfrom model import Model\n\nmodel = torch.compile(Model())\nmodel(torch.ones(3))\n",
}


def opened(tmp_path: Path, names: list[str]) -> Opened:
    for name, text in COMPILED.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text("")
    overrides = {"select": ["TCL103"], "min-confidence": "low", "target-torch": TORCH, "no-cache": True}
    settings = configuration.load(names, cwd=str(tmp_path), isolated=True, overrides=overrides)
    return Opened.of(names, settings, str(tmp_path))


def test_a_switch_in_the_file_that_compiles_cures_what_is_in_another(tmp_path: Path) -> None:
    project = opened(tmp_path, ["model.py", "train.py"])
    findings = project.lint().findings
    assert [f.line for f in findings] == [7, 8]
    assert {f.fix.edits[0].path for f in findings if f.fix} == {"train.py"}
    done = project.fix(unsafe=True)
    assert list(done.fixed.contents) == ["train.py"]
    line = "torch._dynamo.config.capture_scalar_outputs = True\n"
    want = COMPILED["train.py"].replace("import Model\n", f"import Model\n\n{line}")
    assert (tmp_path / "train.py").read_text() == want
    assert done.report.findings == ()
    assert project.fix(unsafe=False, write=False).fixed.contents == {}


def test_a_file_that_is_not_reported_is_left_alone(tmp_path: Path) -> None:
    project = opened(tmp_path, ["model.py"])
    findings = project.lint().findings
    assert [f.fix.applicability for f in findings if f.fix] == [Applicability.DISPLAY] * len(findings)
    assert project.fix(unsafe=True).fixed.contents == {}
    assert (tmp_path / "train.py").read_text() == COMPILED["train.py"]


def test_one_change_is_suggested_for_the_findings_that_it_cures(tmp_path: Path) -> None:
    (found,) = suggestions(opened(tmp_path, ["model.py", "train.py"]).lint().findings)
    assert (found.switch.path, [finding.line for finding in found.cures]) == ("train.py", [7, 8])
    assert "the host still waits" in found.price


@pytest.mark.parametrize(("call", "helps"), [("scale(x)", True), ("torch.vmap(scale)(x)", False)])
def test_no_switch_for_a_function_that_is_handed_on(call: str, helps: bool) -> None:
    """Asked of torch 2.13: under vmap the switch makes `.item()` raise."""
    inner = "    def scale(r):\n        return r / r.max().item()\n"
    source = f"import torch\n\n\n@torch.compile\ndef f(x):\n{inner}\n    return {call}\n"
    text = result(fixed(source.encode(), "TCL103", unsafe=True)).decode()
    assert ("capture_scalar_outputs = True" in text) == helps


@pytest.mark.parametrize(
    ("value", "goes"),
    [
        ("2.0", True),
        ("y[mask] * 2", True),
        ("y[mask].max()", False),
        ("torch.amax(y[mask])", False),
        ("y.pop()", False),
    ],
)
def test_an_if_on_an_empty_mask_goes_where_no_rows_do_no_harm(value: str, goes: bool) -> None:
    """The largest of no elements is an error that the `if` prevents."""
    body = f"    mask = x > 0\n    if mask.any():\n        x[mask] = {value}\n    return x\n"
    source = f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, y: torch.Tensor):\n{body}"
    text = result(fixed(source.encode(), "TCL101", unsafe=True)).decode()
    assert ("if mask.any():" not in text) == goes


@pytest.mark.parametrize(
    ("value", "goes"),
    [("layer(x[rows])", True), ("x[rows].relu() * 2", True), ("x[rows].max()", False), ("y.pop()", False)],
)
def test_an_if_on_no_rows_goes_with_the_switch(value: str, goes: bool) -> None:
    head = (
        "import torch\n\nlayer = torch.nn.Linear(4, 4)\n\n\n@torch.compile\ndef f(x: torch.Tensor, y: torch.Tensor):\n"
    )
    body = f"    rows = (y > 0).nonzero(as_tuple=True)[0]\n    if len(rows) > 0:\n        x[rows] = {value}\n    return x\n"
    text = result(fixed((head + body).encode(), "TCL105", unsafe=True)).decode()
    assert ("if len(rows) > 0:" not in text) == goes
    assert ("capture_dynamic_output_shape_ops = True" in text) == goes


@pytest.mark.parametrize(
    ("turns", "body", "goes"),
    [
        ("range(8)", "x = x / 2", True),
        ("itertools.count()", "x = x / 2", False),
        ("range(1000)", "x = x / 2", False),
        ("range(8)", "x = layers.pop()(x)", False),
        ("range(8)", "seen.append(x)", False),
        ("range(8)", "self.x = x / 2", False),
        ("range(8)", "x = torch.cat([x, x])", False),
        ("range(8)", "y = torch.cat([x, x])\n        x = y", False),
        ("range(8)", "x = x / 2; y = x", False),
        ("range(8)", "x = x[1:]", False),
    ],
)
def test_a_loop_that_a_tensor_ends_makes_all_turns_that_do_nothing_else(turns: str, body: str, goes: bool) -> None:
    source = (
        "import itertools\n\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, self, seen, layers):\n"
        f"    for _ in {turns}:\n        {body}\n        if x.max() < 1:\n            break\n    return x\n"
    )
    text = result(fixed(source.encode(), "TCL101", unsafe=True)).decode()
    assert ("break" not in text) == goes


def test_of_two_switches_the_one_that_pays_stays() -> None:
    """Where one switch is set the other is written right below it: it is the same fix, and was found not to pay."""
    source = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, n: torch.Tensor):\n"
        "    rows = (x.abs() > 1).nonzero(as_tuple=True)[0]\n    if rows.numel() == 0:\n        return None\n"
        "    return x[: n.max().item()], rows\n"
    )
    text = result(fixed(source.encode(), "TCL103", unsafe=True)).decode()
    assert "capture_scalar_outputs = True" in text
    assert "if rows.numel() == 0:" in text


PRICED = """\
import torch


def twice(rows: torch.Tensor) -> int:
    return 1 if rows.shape[0] > 3 else 2


def moved(x: torch.Tensor):
    (rows,) = torch.where(x > 2)
    return x * twice(rows)


def kept(x: torch.Tensor, n: torch.Tensor):
    return x[x > 0], x[x > 1], x.sum() * n.max().item()


@torch.compile
def f(x: torch.Tensor, n: torch.Tensor):
    return moved(x), kept(x, n)
"""


def test_a_switch_is_offered_for_what_it_cures_with_its_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two masks are cured; the `where` is not, its size decides a branch further down, which is the price."""
    import json

    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(PRICED)
    price = "it makes 1 new break, at m.py:5 (TCL101)"
    for output_format in ("sarif", "rdjson", "github-review", "json"):
        run("m.py", "--output-format", output_format, *(["--check-fixes"] if output_format == "json" else []))
        text = capsys.readouterr().out
        assert price in text
        if output_format == "sarif":
            results = json.loads(text)["runs"][0]["results"]
            told = [(each["ruleId"], price in str(each.get("fixes", ""))) for each in results]
            assert told == [("TCL105", False), ("TCL106", True), ("TCL106", True), ("TCL103", False)]
            assert "fixes" not in results[0]
    assert [f["fix"] and f["fix"]["checked"] for f in json.loads(text)["findings"]] == [None, True, True, True]
    run("m.py", "--output-format", "json")  # nobody asked
    assert [f["fix"]["checked"] for f in json.loads(capsys.readouterr().out)["findings"]] == [False] * 4
    run("--fix", "--unsafe-fixes", "--quiet", "m.py")
    once = (tmp_path / "m.py").read_text()
    assert f"capture_dynamic_output_shape_ops = True has a price: {price}" in capsys.readouterr().err
    run("--fix", "--unsafe-fixes", "--quiet", "m.py")
    assert (tmp_path / "m.py").read_text() == once
    assert "capture_dynamic_output_shape_ops = True" in once


def test_a_switch_is_set_where_torch_is_known() -> None:
    source = (
        b"import logging\n\nlogger = logging.getLogger(__name__)\nimport torch\nfrom torch import nn\n\n\n"
        b"@torch.compile\ndef f(x: torch.Tensor):\n    return x[x > 0]\n"
    )
    text = result(fixed(source, "TCL106", unsafe=True)).decode()
    assert "from torch import nn\n\ntorch._dynamo.config.capture_dynamic_output_shape_ops = True\n" in text


@pytest.mark.parametrize(("made", "cloned"), [("torch.sin", True), ("create_block_mask", False)])
def test_what_a_library_makes_may_have_no_clone(made: str, cloned: bool) -> None:
    source = (
        "import torch\nfrom torch.nn.attention.flex_attention import create_block_mask\n\n"
        f"make = torch.compile({made}, mode='reduce-overhead')\n\n\n"
        "class Holder:\n    def build(self):\n        return make(torch.ones(2, device='cuda'))\n\n"
        "    def keep(self, out):\n        out.mask = self.build()\n        return out\n"
    )
    done = fixed(source.encode(), "TCL301", unsafe=True)
    assert (b".clone()" in result(done)) == cloned
    assert cloned or [finding.code for finding in done.report.findings] == ["TCL301"]


@pytest.mark.parametrize(
    ("line", "set_"),
    [("k = n[0].item()\n    y = x[:k]", True), ("k = n[0].item()\n    x[:k] = 0", False), ("x[:, : n[0]] = 0", False)],
)
def test_a_window_is_not_written_by_a_number_of_the_graph(line: str, set_: bool) -> None:
    """Dynamo traces it, and Inductor raises (asked on 2.13)."""
    source = (
        f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, n: torch.Tensor):\n    {line}\n    return x, y\n"
    )
    code = "TCL103" if "item" in line else "TCL104"
    assert (b"capture_scalar_outputs" in result(fixed(source.encode(), code, unsafe=True))) == set_


def test_a_limit_that_is_put_back_is_meant() -> None:
    source = (
        b"import torch\n\n\ndef f():\n    before = torch._dynamo.config.cache_size_limit\n    try:\n"
        b"        torch._dynamo.config.cache_size_limit = 64\n        yield\n    finally:\n"
        b"        torch._dynamo.config.cache_size_limit = before\n"
    )
    assert result(fixed(source, "TCL408", unsafe=True)) == source


def test_a_read_that_breaks_is_not_put_into_a_call() -> None:
    """The value is of a kind that nobody knows, but what it is read by has a size that only the data knows."""
    source = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, mask: torch.Tensor, slots: torch.Tensor, cache):\n"
        "    mask = mask > 0\n    x[mask] = cache[VALUE].mT\n    return x\n"
    )
    for value, goes in (("slots[mask]", False), ("slots", True)):
        text = result(fixed(source.replace("VALUE", value).encode(), "TCL302", unsafe=True))
        assert (b"masked_scatter_" in text) == goes


@pytest.mark.parametrize("where", ["z.py", "m.py"])
def test_a_line_is_not_blamed_for_what_a_switch_does_elsewhere(where: str) -> None:
    """Two files set the same switch, and torch would raise in a third: what was changed there, or beside it, stays changed."""
    switch = edit(1, 1, 1, 1, "on = True\n")

    def setting(path: str) -> Finding:
        return replace(
            finding(replace(switch, path=path)),
            path=path,
            function=path,
            fix=Fix("t", Applicability.UNSAFE, (replace(switch, path=path),), switch=Switch("on", path)),
        )

    def lint(contents: Mapping[str, bytes]) -> Sequence[Finding]:
        found = [setting(path) for path in ("a.py", "b.py") if path not in contents]
        raised = replace(finding(), path=where, function="z", effect=Effect.ERROR, fix=None, span=Span(7, 1, 7, 2))
        return found + [raised] * (len(found) < 2) + [finding(edit(1, 1, 1, 2, "c"))] * ("m.py" not in contents)

    done = passes.run(lint, lambda path: b"b = 1\n", unsafe=True)
    assert done.contents == {"m.py": b"c = 1\n"}
    assert len(done.denied) == 2


@pytest.mark.parametrize("alone", [True, False])
def test_no_number_of_breaks_is_worth_a_wrong_result(alone: bool) -> None:
    """Under the switch the graph takes a bare `irecv` too, and gradients through what it receives are wrong (asked on 2.13)."""
    source = (
        "import torch\nimport torch.distributed as dist\n\n\n@torch.compile\ndef f(x: torch.Tensor, y: torch.Tensor):\n"
        f"    {'pass' if alone else 'dist.irecv(y, 1).wait()'}\n"
        "    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 1), dist.P2POp(dist.irecv, y, 1)]):\n"
        "        work.wait()\n    return x * y\n"
    )
    assert (b"enable_p2p_compilation = True" in result(fixed(source.encode(), "TCL124", unsafe=True))) == alone


@pytest.mark.parametrize(("masks", "set_"), [("x[x > 0], x[x > 1]", True), ("x[x > 0]", False)])
def test_a_switch_cures_more_than_it_makes(masks: str, set_: bool) -> None:
    source = PRICED.replace("x[x > 0], x[x > 1]", masks)
    text = result(fixed(source.encode(), "TCL106", unsafe=True)).decode()
    assert ("capture_dynamic_output_shape_ops" in text) == set_
    assert ("capture_scalar_outputs" in text) == ("n.max().item()" in text)


@pytest.mark.parametrize("line", ["self.low = 1.0", "super().__init__()\n        self.low = start"])
def test_a_number_that_cannot_be_a_buffer_stays_one(line: str) -> None:
    """A module has no buffers before `super().__init__()`, and what a caller gives may be anything."""
    source = (
        "import torch\n\n\n@torch.compile\nclass Model(torch.nn.Module):\n    def __init__(self, start):\n"
        f"        {line}\n\n    def forward(self, x):\n        self.low = self.low + x.min().item()\n        return x * self.low\n"
    )
    assert b"register_buffer" not in result(fixed(source.encode(), "TCL103", unsafe=True))


def test_what_a_comment_explains_is_not_taken_out() -> None:
    limit = b"torch._dynamo.config.cache_size_limit = 64\n"
    plain = b"import torch\n\n" + limit
    told = b"import torch\n\n# One program for each of sixty buckets:\n# a higher limit is meant.\n" + limit
    assert limit not in result(fixed(plain, "TCL408", unsafe=True))
    assert result(fixed(told, "TCL408", unsafe=True)) == told


@pytest.mark.parametrize("reason", ["", "above", "inside", "called"])
def test_what_is_disabled_for_a_reason_stays_disabled(reason: str) -> None:
    def said(where: str, indent: str = "") -> str:
        return f"{indent}# not compatible with compile\n" if where == reason else ""

    program = (
        "import torch\n\n\n"
        f"{said('above')}@torch.no_grad()\n@torch.compiler.disable\ndef flipped(x):\n{said('inside', '    ')}    return x.flip(0)\n\n\n"
        f"@torch.compile\ndef f(x):\n{said('called', '    ')}    y = flipped(x)\n    return y * 2\n"
    ).encode()
    assert (result(fixed(program, "TCL113", unsafe=True)) == program) == bool(reason)
