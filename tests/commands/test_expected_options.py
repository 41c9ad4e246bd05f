"""What users of other linters look for: files, settings, argument files, exit codes of fixes, pylint's lines, colours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lintkit import Project

from tclint import cli

NET = """
    import torch

    @torch.compile
    def step(x: torch.Tensor):
        mask = torch.empty(2, device=x.device)
        print(x)
        return x
"""
FIXABLE = """
    import copy
    import torch

    @torch.compile
    def kept(x: torch.Tensor):
        return copy.deepcopy(x > 0)
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path).write(
        {
            "pyproject.toml": '[tool.tclint]\nselect = ["TCL108", "TCL116"]\n',
            "net.py": NET,
            "other/tclint.toml": 'select = ["TCL101"]\n',
            "other/more.py": NET,
            "left.txt": "no Python",
        }
    )


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("TCLINT_CACHE_DIR", str(project.root / "cache"))

    def main(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = cli.main(list(args))
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    return main


def test_show_files(run: Run) -> None:
    assert run("--show-files")[:2] == (0, "net.py\nother/more.py\n")
    assert run("--show-files", "--extend-exclude", "other")[:2] == (0, "net.py\n")


def test_show_settings_of_each_configuration(run: Run, project: Project) -> None:
    code, out, _ = run("--show-settings")
    assert code == 0
    first, second = out.split("\n\n")
    assert first.startswith(f"# holds for 1 file\n# configuration: {project.root}/pyproject.toml\n")
    assert 'select = ["TCL108", "TCL116"]  # pyproject.toml:2' in first
    assert 'select = ["TCL101"]  # other/tclint.toml:1' in second


def test_arguments_from_a_file(run: Run, project: Project) -> None:
    project.write({"args.txt": "--output-format\nconcise\n\nnet.py\n"})
    code, out, _ = run("@args.txt")
    assert code == 1
    assert out.startswith("net.py:6:5: TCL108[")
    assert (
        run("@none.txt")[2]
        == "tclint: error: @none.txt: the file of arguments cannot be read: No such file or directory\n"
    )
    project.write({"@scope/net.py": NET})
    assert run("@scope", "--show-files")[:2] == (0, "@scope/net.py\n")


def test_what_follows_the_dashes_is_not_touched() -> None:
    from tclint.commands.argfile import expanded

    assert expanded(["verify", "--", "python", "@x"]) == ["verify", "--", "python", "@x"]


def test_exit_code_where_something_was_fixed(run: Run, project: Project) -> None:
    for options, code in (
        (("--fix",), 0),
        (("--fix", "--exit-non-zero-on-fix"), 1),
        (("--fix-only", "--exit-non-zero-on-fix"), 1),
    ):
        project.write({"net.py": FIXABLE})
        assert run("net.py", *options)[0] == code, options
    assert run("net.py", "--fix", "--exit-non-zero-on-fix")[0] == 0  # nothing to do any more
    assert "need --fix" in run("net.py", "--exit-non-zero-on-fix")[2]


def test_lines_as_pylint_writes_them(run: Run) -> None:
    code, out, _ = run("net.py", "--output-format", "pylint")
    assert code == 1
    assert out.startswith("net.py:6: [TCL108(print-in-region), step] ")
    assert out.count("\n") == 1


def test_rule_in_colour(run: Run) -> None:
    _, plain, _ = run("rule", "TCL101", "--color", "never")
    _, bright, _ = run("rule", "TCL101", "--color", "always")
    assert "\x1b[" not in plain
    assert "\x1b[1mTCL101 data-dependent-branch\x1b[0m\n" in bright
    assert "\x1b[1;31mhigh\x1b[0m" in bright
    assert "\x1b[1mBad:\x1b[0m" in bright
    import re

    assert re.sub(r"\x1b\[[\d;]*m", "", bright) == plain
    assert "\x1b[" in run("rule", "--color", "always")[1]


def test_verify_selects_writes_and_is_quiet(run: Run, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(claims: list[object], *rest: object) -> object:
        asked.extend(claim.code for claim in claims)  # type: ignore[attr-defined]
        from tclint.verify.verdict import VerifyReport

        return VerifyReport(verdicts=(), missed=(), torch="2.13", device="cpu")

    monkeypatch.setattr("tclint.verify.verify", answer)
    project.write({"net.py": NET.replace("return x", "return x.nonzero()")})
    code, out, err = run("verify", "net.py", "--select", "TCL108", "-q", "-o", "report.txt", "--no-cache")
    assert (code, out, err) == (1, "", "")
    assert asked == ["TCL108"]
    assert "TCL108" in (project.root / "report.txt").read_text()
    assert "verified" not in (project.root / "report.txt").read_text()
    assert "no --output-file" in run("verify", "net.py", "-o", "x", "--output-format", "jsonl")[2]


@pytest.mark.parametrize(
    ("command", "option"),
    [(["net.py", "--verify", "--verify-python"], "--verify-python"), (["verify", "net.py", "--python"], "--python")],
)
def test_without_torch_it_is_said_once_with_the_option_of_the_command(
    command: list[str], option: str, run: Run, project: Project
) -> None:
    project.write({"net.py": NET.replace("print(x)", "print(x)\n        print(x)")})
    blind = project.root / "python"
    blind.write_text("#!/bin/sh\necho 'No module named torch' >&2\nexit 1\n")
    blind.chmod(0o755)
    code, out, err = run(*command, str(blind), "--no-cache")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1, err
    assert err.startswith(f"tclint: error: torch cannot be imported by {blind}: ")
    assert err.endswith(f"pip install torch there, or name another with {option}\n")


def test_watch_lints_again_on_every_save_until_interrupted(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example of the README, with the saves and the Ctrl-C made by the clock that it sleeps by."""
    from tclint.commands import watch

    saves = iter([lambda: project.write({"net.py": NET.replace("print(x)", "pass  # quiet now")}), lambda: None])

    def sleep(seconds: float) -> None:
        try:
            next(saves)()
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(watch.time, "sleep", sleep)
    code, out, err = run("net.py", "--watch", "--output-format", "concise")
    assert code == 130
    assert out.count("TCL108") == 1  # before the save, and not after it
    assert err.count("watching ") == 2  # the second look saw nothing new
