"""The command line: dispatch, options, exit codes, and where output goes. The engine is a stand-in."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from lintkit import ROOT

import tclint.run
from tclint import cli
from tclint.commands import index
from tclint.model.finding import Confidence, Effect, Finding, Severity, Span
from tclint.model.report import Report
from tclint.model.settings import Settings
from tclint.run.cachedir import CACHE_TAG
from tclint.sources.files import InputFile

FINDING = Finding(
    "TCL101",
    "data-dependent-branch",
    "m.py",
    Span(1, 1, 1, 2),
    "if on a tensor → leaves the graph",
    Effect.GRAPH_BREAK,
    Severity.HIGH,
    Confidence.HIGH,
)


class Branch:
    """An `if` on a tensor leaves the graph.

    Bad:  if x.sum() > 0: ...
    """

    code, name = "TCL101", "data-dependent-branch"
    effect, severity, default = Effect.GRAPH_BREAK, Severity.HIGH, True
    graph_breaks, torch = ("GB0170",), ">=2.4"

    def changes(self) -> dict[str, list[str]]:
        return {}


class Wrapper:
    """A bare torch.compile where the project has its own wrapper."""

    code, name = "TCL401", "bare-compile"
    effect, severity, default = Effect.SLOW, Severity.LOW, False
    graph_breaks, torch = (), ""

    def changes(self) -> dict[str, list[str]]:
        return {}


@dataclass
class Engine:
    """Stands in for tclint.run.engine: remembers what it was asked and answers what it is told."""

    report: Report = field(default_factory=lambda: Report(findings=()))
    files: list[InputFile] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    error: BaseException | None = None

    def lint(self, files: Sequence[InputFile], settings: Settings, **_: object) -> Report:
        self.files, self.settings = list(files), settings
        if self.error is not None:
            raise self.error
        return self.report


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Engine:
    stand_in = Engine()
    rules = types.ModuleType("tclint.ruleset.loading")
    rules.load_rules = lambda *extra, **more: (Branch(), Wrapper())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tclint.ruleset.loading", rules)
    monkeypatch.setitem(sys.modules, "tclint.run.engine", stand_in)
    monkeypatch.setattr(tclint.run, "engine", stand_in, raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "TCLINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "m.py").write_text("x = 1\n")
    return stand_in


@pytest.fixture
def run(engine: Engine, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: str) -> tuple[int, str, str]:
        code = cli.main(args)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def shown(engine: Engine) -> list[tuple[str, bool]]:
    return [(file.path, file.report) for file in engine.files]


# --- exit codes ------------------------------------------------------------------------------------------------------


def test_exit_codes(engine: Engine, run: Run) -> None:
    assert run()[0] == 0
    engine.report = Report(findings=(FINDING,))
    assert run()[0] == 1
    assert run("--exit-zero")[0] == 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["nope.py"], "nope.py: no such file or folder"),
        (["--slect", "TCL1"], "No such option"),
        (["--select", "TCL777"], "command line: select: no rule is called 'TCL777'"),
        (["--select", ","], "names nothing"),
        (["--target-torch", "two"], "target-torch must be"),
        (["--config", "none.toml"], "cannot be read"),
        (["--stdin-filename", "a.py"], "needs the path '-'"),
        (["--project-root", "none", "m.py"], "--project-root none: no such folder"),
        (["--no-project", "--project-root", "."], "exclude each other"),
        (["--output-file", "none/x.txt"], "--output-file none/x.txt: cannot be written"),
        (["-", "m.py"], "cannot be mixed"),
        (["-j", "-2"], "-2"),
        (["rule", "TCL999"], "no rule is called 'TCL999'"),
        (["rule", "GB9999"], "no rule stands for 'GB9999'"),
        (["rule", "bare-compil"], "did you mean 'bare-compile'"),
    ],
)
def test_user_errors_are_one_line_and_exit_2(run: Run, args: list[str], says: str) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert err.startswith("tclint: error: ")
    assert err.count("\n") == 1
    assert says in err


def test_internal_errors_are_one_line_unless_debugging(
    engine: Engine, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.error = ZeroDivisionError("a\nb")
    code, _, err = run()
    assert code == 2
    assert err == "tclint: error: internal error: ZeroDivisionError: a b (TCLINT_DEBUG=1 shows where)\n"
    monkeypatch.setenv("TCLINT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run()


def test_interrupt(engine: Engine, run: Run) -> None:
    engine.error = KeyboardInterrupt()
    assert run()[0] == 130


def test_wrong_configuration_is_named(engine: Engine, run: Run, tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text("\nselekt = []\n")
    assert run() == (2, "", "tclint: error: tclint.toml:2: unknown key 'selekt'; did you mean 'select'?\n")


# --- dispatch --------------------------------------------------------------------------------------------------------


def test_lint_is_the_default_command(engine: Engine, run: Run) -> None:
    for args in ([], ["."], ["lint"], ["lint", "."]):
        engine.files = []
        assert run(*args)[0] == 0
        assert shown(engine) == [("m.py", True)]


def test_a_path_named_like_a_command_is_a_path(engine: Engine, run: Run, tmp_path: Path) -> None:
    (tmp_path / "rule").mkdir()
    (tmp_path / "rule/a.py").touch()
    run("rule")
    assert shown(engine) == [("rule/a.py", True)]


def test_every_command_has_help(engine: Engine, run: Run) -> None:
    for name in index.COMMANDS:
        code, out, _ = run(name, "--help")
        assert code == 0
        assert out.startswith("Usage: tclint")


# --- files -----------------------------------------------------------------------------------------------------------


def test_single_files_bring_their_project_unreported(engine: Engine, run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    run("m.py")
    assert shown(engine) == [("m.py", True)], "no project marker, no project"
    (tmp_path / "pyproject.toml").touch()
    run("m.py")
    assert shown(engine) == [("m.py", True), ("train.py", False)]
    run("m.py", "--no-project")
    assert shown(engine) == [("m.py", True)]


def test_project_root_for_a_folder(engine: Engine, run: Run, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/a.py").touch()
    run("models")
    assert shown(engine) == [("models/a.py", True)]
    run("models", "--project-root", ".")
    assert shown(engine) == [("m.py", False), ("models/a.py", True)]


def test_stdin(engine: Engine, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "setup.py").touch()
    text = "x = 'é'\nif x: pass\n".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    engine.report = Report(findings=(replace(FINDING, span=Span(2, 4, 2, 5)),))
    _, out, _ = run("-", "--stdin-filename", "m.py")
    assert [(file.path, file.report, file.text) for file in engine.files] == [
        ("m.py", True, text),
        ("setup.py", False, None),
    ]
    assert "2 | if x: pass\n" in out, "the frame quotes stdin, not the file on disk"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    run("-")
    assert [(file.path, file.text) for file in engine.files] == [("-", text)]


def test_no_python_files_is_said(engine: Engine, run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, _, err = run("empty")
    assert code == 0
    assert err == "tclint: warning: no Python files in empty\n"


# --- options ---------------------------------------------------------------------------------------------------------


def test_options_reach_the_engine(engine: Engine, run: Run, tmp_path: Path) -> None:
    run(
        *("--select", "TCL1,TCL401", "--select", "bare-compile", "--ignore", "TCL101", "--severity", "high"),
        *(
            "--min-confidence",
            "low",
            "--target-torch",
            "2.9",
            "--target-python",
            "3.12",
            "--assume-compiled",
            "all",
            "-j",
            "3",
        ),
        *("--no-cache", "--cache-dir", "c", "--extend-exclude", "a,b"),
    )
    settings = engine.settings
    assert settings.select == ("TCL1", "TCL401", "bare-compile")
    assert settings.ignore == ("TCL101",)
    assert (settings.severity, settings.min_confidence, settings.target_torch) == ("high", "low", "2.9")
    assert settings.python_version == (3, 12)
    assert (settings.assume_compiled, settings.jobs, settings.no_cache) == ("all", 3, True)
    assert settings.cache_dir == str(tmp_path / "c")
    assert settings.extend_exclude == ("a", "b")


def test_isolated_and_config(engine: Engine, run: Run, tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text("jobs = 5\n")
    (tmp_path / "other.toml").write_text("jobs = 6\n")
    run()
    assert engine.settings.jobs == 5
    run("--isolated")
    assert engine.settings.jobs == 0
    run("--config", "other.toml")
    assert engine.settings.jobs == 6


def test_output_formats_and_file(engine: Engine, run: Run, tmp_path: Path) -> None:
    engine.report = Report(findings=(FINDING,))
    _, out, _ = run("--output-format", "concise")
    assert out == "m.py:1:1: TCL101[data-dependent-branch] if on a tensor → leaves the graph\n"
    code, out, _ = run("--output-format", "json", "--output-file", "out.json")
    assert (code, out) == (1, "")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["findings"][0]["code"] == "TCL101"
    left = sorted(path.name for path in tmp_path.iterdir() if path.name != ".tclint_cache")
    assert left == ["m.py", "out.json"], "no temporary file stays"


def test_output_file_keeps_its_permissions(engine: Engine, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    target.chmod(0o640)
    run("-o", "out.txt")
    assert target.stat().st_mode & 0o777 == 0o640
    assert "no hazards" in target.read_text()


def test_color(engine: Engine, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.report = Report(findings=(FINDING,))
    assert "\x1b[" not in run()[1]
    assert "\x1b[" in run("--color", "always")[1]
    assert "\x1b[" not in run("--color", "always", "--output-format", "json")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run()[1]
    assert "\x1b[" not in run("--color", "never")[1]


def test_quiet_and_verbose(engine: Engine, run: Run) -> None:
    assert run("--quiet")[1:] == ("", "")
    _, out, err = run("--verbose")
    assert "no hazards found" in out
    assert "tclint: files: 1, reported: 1\n" in err


def test_statistics(engine: Engine, run: Run) -> None:
    other = replace(FINDING, code="TCL401", name="bare-compile", severity=Severity.LOW, effect=Effect.SLOW)
    engine.report = Report(findings=(FINDING, other, FINDING))
    code, out, _ = run("--statistics")
    assert code == 1
    assert out == "2  TCL101 data-dependent-branch  high · graph break\n1  TCL401 bare-compile           low · slow\n"
    _, out, _ = run("--statistics", "--output-format", "json")
    assert [row["count"] for row in json.loads(out)] == [2, 1]


def test_unreadable_folders_become_notes(engine: Engine, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from tclint.sources import files

    def discover(*args: Any, on_problem: Callable[[str], None], **options: Any) -> list[InputFile]:
        on_problem("shut: not read: Permission denied")
        return []

    monkeypatch.setattr(files, "discover", discover)
    assert "note: shut: not read: Permission denied" in run()[1]


# --- other commands --------------------------------------------------------------------------------------------------


def test_rule_pages(engine: Engine, run: Run) -> None:
    for what in ("TCL101", "tcl101", "data-dependent-branch", "GB0170", "gb0170", "TCL1"):
        _, out, _ = run("rule", what)
        assert out.startswith("TCL101 data-dependent-branch\n====")
        assert "high · graph break · on by default · torch >=2.4 · GB0170" in out
        assert "Bad:  if x.sum() > 0: ..." in out
        assert "TCL401" not in out
    _, out, _ = run("rule", "--all")
    assert "TCL101" in out
    assert "off by default" in out
    _, out, _ = run("rule")
    assert out == (
        "TCL101  on   data-dependent-branch  high · graph break\nTCL401  off  bare-compile           low · slow\n"
    )
    _, out, _ = run("rule", "TCL401", "--output-format", "json")
    assert json.loads(out)[0]["default"] is False


@pytest.mark.parametrize("number", range(901, 907))
def test_codes_that_are_no_rules_have_pages(engine: Engine, run: Run, number: int) -> None:
    code, out, _ = run("rule", f"tcl{number}")
    assert code == 0
    assert out.startswith(f"TCL{number} ")
    assert len(out.splitlines()) > 5
    _, out, _ = run("rule", f"TCL{number}", "--output-format", "json")
    assert json.loads(out)[0]["code"] == f"TCL{number}"


def test_only_what_is_near_is_suggested(engine: Engine, run: Run) -> None:
    assert "did you mean" not in run("rule", "TCL99")[2]
    assert "did you mean 'TCL101'" in run("rule", "TCL1O1")[2]
    assert "did you mean 'TCL101'" in run("rule", "TCL191")[2]


def test_the_names_that_other_linters_use(engine: Engine, run: Run, tmp_path: Path) -> None:
    assert run("explain", "TCL101") == run("rule", "TCL101")
    assert run("check", str(tmp_path)) == run(str(tmp_path))


def test_config_command_shows_values_and_origins(engine: Engine, run: Run, tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text('[cudagraph]\ncallables = ["*.net"]\n[per-file-ignores]\n"t/*" = ["TCL1"]\n')
    _, out, _ = run("config")
    assert 'select = ["TCL"]  # default\n' in out
    assert 'per-file-ignores = { "t/*" = ["TCL1"] }  # tclint.toml:3\n' in out
    assert 'cudagraph = { callables = ["*.net"], clone-helpers = []' in out


def test_clean_removes_only_what_tclint_wrote(engine: Engine, run: Run, tmp_path: Path) -> None:
    assert run("clean")[1].startswith("no cache at ")
    cache = tmp_path / ".tclint_cache"
    cache.mkdir()
    (cache / "precious.txt").touch()
    code, _, err = run("clean")
    assert code == 2
    assert "remove it by hand" in err
    assert cache.exists()
    (cache / "CACHEDIR.TAG").write_text(CACHE_TAG)
    code, out, _ = run("clean")
    assert code == 0
    assert "left, as it is not ours: precious.txt" in out
    assert [path.name for path in cache.iterdir()] == ["precious.txt"]


def test_clean_follows_no_link_and_keeps_files_of_others(engine: Engine, run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "docs"
    outside.mkdir()
    ours = outside / ("0" * 32)
    ours.write_bytes(b"tclint cache 3\n")
    cache = tmp_path / ".tclint_cache"
    (cache / "runs").mkdir(parents=True)
    (cache / "CACHEDIR.TAG").write_text(CACHE_TAG)
    (cache / "parts").symlink_to(outside)
    (cache / "stats").write_text("my statistics")
    (cache / "runs" / ("1" * 32)).write_text("my notes, under a name like that of an entry")
    (cache / "runs" / "notes").write_bytes(b"tclint cache 3\n")
    (cache / "runs" / ("2" * 32)).symlink_to(ours)
    (cache / "runs" / ("3" * 32)).write_bytes(b"tclint cache 3\nan entry")
    assert run("clean")[0] == 0
    assert ours.exists()
    assert sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*")) == [
        *("parts", "runs", f"runs/{'1' * 32}", f"runs/{'2' * 32}", "runs/notes", "stats")
    ]
    whole = tmp_path / "whole"
    whole.symlink_to(cache)
    code, _, err = run("clean", "--cache-dir", "whole")
    assert code == 2
    assert "is a link" in err


# --- as a process ----------------------------------------------------------------------------------------------------


def process(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tclint", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_version_is_quick_and_light() -> None:
    done = process("--version")
    assert (done.returncode, done.stdout) == (0, f"tclint {tclint.__version__}\n")
    code = (
        "import sys; from tclint.cli import main; main(['--version']);"
        "heavy = {'click', 'libcst', 'rich', 'pathspec', 'dataclasses', 'importlib.metadata'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, env=_here())
    assert (done.returncode, done.stderr) == (0, "")


def test_rich_and_libcst_stay_out_of_the_way_of_text(engine: Engine) -> None:
    code = (
        "import sys; import tclint.commands.lint, tclint.sources.files, tclint.run.suppress, tclint.output.full;"
        "heavy = {'libcst', 'rich', 'pathspec', 'torch'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=_here())
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGPIPE there")
def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    code = """
import sys, types, tclint.run
from tclint.model.finding import *
from tclint.model.report import Report
one = Finding("TCL101", "n", "m.py", Span(1, 1, 1, 2), "m" * 500, Effect.SLOW, Severity.LOW, Confidence.HIGH)
fake = types.ModuleType("tclint.run.engine"); fake.lint = lambda files, settings, **_: Report((one,) * 5000)
rule = types.ModuleType("tclint.ruleset.loading"); rule.load_rules = lambda *extra, **more: ()
sys.modules["tclint.run.engine"] = tclint.run.engine = fake; sys.modules["tclint.ruleset.loading"] = rule
from tclint.cli import main
sys.exit(main(["--output-format", "concise", "m.py"]))
"""
    (tmp_path / "m.py").touch()
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_here()
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.read(10)
    child.stdout.close()
    complaint = child.stderr.read()
    child.stderr.close()
    assert (child.wait(), complaint) == (1, b"")


def _here() -> dict[str, str]:
    root = str(ROOT)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
