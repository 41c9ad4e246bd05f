"""What a person sees and types: colours, frames, groups, progress, completion, and errors that help."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lintkit import ROOT, Project, tclint_command

from tclint import cli, output
from tclint.commands import completion, index
from tclint.model.finding import Confidence, Effect, Finding, Label, Severity, Span, Step
from tclint.model.report import Report
from tclint.output import grouped
from tclint.output.progress import Progress

CODE = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n\n\nf(torch.ones(2))\n"


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM", "CI")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def run(args: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.main(args)
    return code, *capsys.readouterr()


# --- colours, on a real terminal --------------------------------------------------------------------------------------


def on_terminal(cwd: Path, *args: str, **env: str) -> str:
    """What tclint writes where stdout and stderr are a terminal."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    command = tclint_command("m.py", "--no-cache", *args)
    process = subprocess.Popen(command, cwd=cwd, env=environment(**env), stdout=slave, stderr=slave, stdin=slave)
    os.close(slave)
    written = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        written += piece
    process.wait()
    os.close(master)
    return written.decode()


@pytest.mark.parametrize(
    ("args", "env", "colored"),
    [
        ((), {"TERM": "xterm"}, True),
        ((), {"TERM": "dumb"}, False),
        ((), {"TERM": "xterm", "NO_COLOR": "1"}, False),
        ((), {"TERM": "xterm", "NO_COLOR": ""}, True),
        (("--color", "always"), {"TERM": "xterm", "NO_COLOR": "1"}, True),
        (("--color", "never"), {"TERM": "xterm", "FORCE_COLOR": "1"}, False),
        (("--output-format", "json"), {"TERM": "xterm", "FORCE_COLOR": "1"}, False),
        (("--output-format", "grouped"), {"TERM": "xterm"}, True),
    ],
)
def test_colours_on_a_terminal(project: Project, args: tuple[str, ...], env: dict[str, str], colored: bool) -> None:
    project.write({"m.py": CODE})
    written = on_terminal(project.root, *args, **env)
    assert "TCL108" in written
    assert ("\x1b[" in written) is colored


@pytest.mark.parametrize(
    ("args", "env", "colored"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "0"}, False),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {}, True),
    ],
)
def test_colours_in_a_pipe(project: Project, args: tuple[str, ...], env: dict[str, str], colored: bool) -> None:
    project.write({"m.py": CODE})
    command = tclint_command("m.py", "--no-cache", *args)
    done = subprocess.run(command, cwd=project.root, env=environment(**env), capture_output=True, text=True)
    assert done.returncode == 1
    assert ("\x1b[" in done.stdout) is colored


# --- frames -----------------------------------------------------------------------------------------------------------


def finding(path: str = "m.py", line: int = 4, **more: object) -> Finding:
    facts: dict[str, object] = {
        "code": "TCL101",
        "name": "data-dependent-branch",
        "message": "`if` on a tensor",
        "effect": Effect.GRAPH_BREAK,
        "severity": Severity.HIGH,
        "confidence": Confidence.HIGH,
        **more,
    }
    return Finding(path=path, span=Span(line, 5, line, 9), **facts)  # type: ignore[arg-type]


def shown(*findings: Finding, name: str = "full", sources: dict[str, str] | None = None) -> str:
    text = {"m.py": "".join(f"    line{n}\n" for n in range(1, 40)), **(sources or {})}
    report = Report(findings, files=1)
    return output.renderer(name)(report, color=False, width=100, sources=text, summary=False, verbose=True)


def test_frame_marks_the_site_the_caller_and_the_tensor() -> None:
    chain = (Step("m.py", 1, "torch.compile(f)"), Step("m.py", 9, "f"), Step("m.py", 12, "g"), Step("m.py", 20, "h"))
    text = shown(finding(line=20, chain=chain, labels=(Label(17, "tensor since here: x.sum()"),)))
    assert text.splitlines()[1:-1] == [
        "   |",
        " 1 |     line1",
        "   |     ----- compiled here",
        "...",
        "12 |     line12",
        "   |     ------ called here, in g",
        "...",
        "17 |     line17",
        "   |     ------ tensor since here: x.sum()",
        "...",
        "20 |     line20",
        "   |     ^^^^ `if` on a tensor",
        "   |",
    ]


def test_frame_marks_what_the_message_speaks_of() -> None:
    text = shown(finding(line=9, message="`if` on a tensor: `y` comes from `x.max() + 1` (line 7)"))
    assert " 7 |     line7\n  |     ----- tensor since here\n" in text.replace("\n7 |", "\n 7 |")
    assert "tensor since here" not in shown(finding(line=7, message="`y` comes from `x` (line 7)"))


def test_steps_in_other_files_stay_in_the_note() -> None:
    chain = (Step("train.py", 3, "torch.compile(model)"), Step("m.py", 4, "M.forward"))
    text = shown(finding(chain=chain))
    assert "compiled here" not in text
    assert "= compiled because  train.py:3 torch.compile(model) → M.forward:4" in text


def test_other_roots_are_counted() -> None:
    chain = (Step("a.py", 3, "A.forward"), Step("m.py", 4, "helper"))
    assert "A.forward → helper:4  (and from 39 other roots)" in shown(finding(chain=chain, roots=40))
    assert "other root" not in shown(finding(chain=chain, roots=1))


# --- grouping ---------------------------------------------------------------------------------------------------------

HELPER = "import torch\n\n\ndef clamp(x):\n    if x.max() > 1:\n        x = x / x.max()\n    print(x)\n    return x\n"
MODEL = """\
from torch import nn
from helper import clamp


class M{n}(nn.Module):
    def forward(self, x):
        return self.norm(clamp(x))

    def norm(self, x):
        if x.sum() > 0:
            return x
        return -x
"""


def test_one_helper_that_breaks_forty_models_is_one_cause(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write({"helper.py": HELPER, **{f"m{n:02}.py": MODEL.format(n=n) for n in range(40)}})
    monkeypatch.chdir(project.root)
    code, out, _ = run([".", "--group", "--no-cache", "--target-torch", "2.13"], capsys)
    assert code == 1
    assert "helper.py:5 in clamp  2 findings · reached from 40 roots\n" in out
    assert "(and from 39 other roots)" in out
    assert "m00.py:10 in M0.norm  40 findings · 40 copies of the code\n" in out
    assert "= same code as      m01.py:10, m02.py:10, m03.py:10 and 36 more" in out
    assert "2 root causes\nfound 42 hazards in 41 of 41 files" in out


def test_sites_are_roots_too(project: Project) -> None:
    train = "import torch\nfrom helper import clamp\n\n\n@torch.compile\ndef a(x):\n    return clamp(x)\n\n\n@torch.compile\ndef b(x):\n    return clamp(x) + 1\n\n\na(torch.ones(3))\nb(torch.ones(3))\n"
    report = project.write({"helper.py": HELPER, "train.py": train}).lint()
    assert {(f.path, f.roots) for f in report.findings} == {("helper.py", 2)}


def test_causes_are_sorted_by_what_hangs_on_them() -> None:
    low = [finding("a.py", n, function="f", severity=Severity.LOW) for n in (1, 2, 3)]
    few, many = finding("b.py", 1, function="g"), finding("c.py", 1, function="h", roots=9)
    found = grouped.causes([*low, few, many])
    assert [(c.findings[0].path, c.total) for c in found] == [("c.py", 1), ("b.py", 1), ("a.py", 3)]


def test_group_is_for_people(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"m.py": CODE})
    monkeypatch.chdir(project.root)
    code, _, err = run(["m.py", "--group", "--output-format", "json"], capsys)
    assert code == 2
    assert "--group is for people" in err


# --- progress ---------------------------------------------------------------------------------------------------------


class Screen(io.StringIO):
    def __init__(self, terminal: bool = True) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_progress_waits_draws_and_goes_away() -> None:
    screen, clock = Screen(), Clock()
    with Progress(stream=screen, environ={}, clock=clock) as progress:
        progress(1, 200)
        assert screen.getvalue() == ""  # most runs are over before anybody wonders
        clock.now += 1.5
        progress(50, 200)
        assert screen.getvalue() == "\rtclint: 50/200 files (25 %)"
        progress(51, 200)
        assert "51" not in screen.getvalue()  # not with every file
        clock.now += 2.5
        progress(100, 200)
        assert screen.getvalue().endswith("\rtclint: 100/200 files (50 %)")
    after = screen.getvalue().rpartition("%)")[2]
    assert after.strip("\r ") == ""
    assert after.startswith("\r")
    assert len(after) > len("tclint: 100/200 files (50 %)")


@pytest.mark.parametrize(
    ("terminal", "quiet", "environ"),
    [(False, False, {}), (True, True, {}), (True, False, {"TERM": "dumb"}), (True, False, {"CI": "1"})],
)
def test_progress_only_where_somebody_looks(terminal: bool, quiet: bool, environ: dict[str, str]) -> None:
    screen, clock = Screen(terminal), Clock()
    with Progress(stream=screen, quiet=quiet, environ=environ, clock=clock) as progress:
        clock.now += 5
        progress(3, 9)
    assert screen.getvalue() == ""


# --- completion -------------------------------------------------------------------------------------------------------


def words(*typed: str, incomplete: str = "") -> list[str]:
    return [item.value for item in completion.completions(list(typed), incomplete)]


def test_completes_commands_options_and_rules() -> None:
    first = words()
    assert set(index.COMMANDS) <= set(first)
    assert words(incomplete="ver") == ["ver", "verify"]  # the word itself, as a file
    assert {"--select", "--severity"} <= set(words(incomplete="--se"))
    assert "--select" in words("models/", incomplete="--sel")
    assert set(words("--select", incomplete="TCL10")) >= {"TCL101", "TCL109"}
    assert words("--select", incomplete="data-dep") == ["data-dependent-branch"]
    assert words("--select", incomplete="TCL101,tcl102") == ["TCL101,TCL102"]
    assert words("rule", incomplete="TCL301") == ["TCL301"]
    assert "json" in words("--output-format")
    assert "--schema" in words("config", incomplete="--")
    assert set(words("completion")) == {"bash", "fish", "zsh"}


def test_a_wrong_configuration_does_not_disturb_typing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.write({"tclint.toml": "nonsense = 1\n"}).root)
    assert words("--select", incomplete="TCL101") == ["TCL101"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tclint ver", {"verify"}),
        ("tclint rule TCL30", {"TCL301", "TCL302"}),
        ("tclint --ignore TCL101,TCL30", {"TCL101,TCL301"}),
        ("tclint --assume-compiled ", {"auto", "all", "never"}),
        ("tclint m", {"default"}),  # no command begins so: bash completes files
        ("tclint src/", {"default"}),
    ],
)
def test_in_a_real_bash(project: Project, line: str, expected: set[str]) -> None:
    bash = "/bin/bash"
    if not os.path.exists(bash):
        pytest.skip("no bash here")
    project.write({"model.py": ""})
    tool = project.root / "bin" / "tclint"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m tclint "$@"\n')
    tool.chmod(0o755)
    script = f"""
        eval "$(tclint completion bash)"
        line={line!r}
        read -ra COMP_WORDS <<< "$line"
        [[ $line == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        COMP_LINE=$line COMP_POINT=${{#line}}
        compopt() {{ echo "compopt $*"; }}
        _tclint_completion tclint "${{COMP_WORDS[COMP_CWORD]}}" ''
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    env = environment(PATH=f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run([bash, "-c", script], cwd=project.root, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert expected <= {word.strip() for word in done.stdout.split("\n")}, (done.stdout, done.stderr)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(["completion", shell], capsys)
    assert code == 0
    assert f"_TCLINT_COMPLETE={shell}_complete" in out


# --- errors that help -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["veryfy"], "no such file, folder or command; did you mean `tclint verify`?"),
        (["modle.py"], "modle.py: no such file or folder; did you mean 'model.py'?"),
        (["src/modle.py"], "src/modle.py: no such file or folder; did you mean 'src/model.py'?"),
        (["scr/model.py"], "scr/model.py: no such file or folder; there is no folder scr"),
        (["nothing-alike-at-all.py"], "nothing-alike-at-all.py: no such file or folder\n"),
        (["--selct", "TCL1"], "--select"),
        (["--select", "TCL110x"], "no rule is called 'TCL110x'; did you mean 'TCL110'?"),
        (["--select", "TCL999"], "no rule is called 'TCL999'"),
        (["--select", "data-dependant-branch"], "did you mean 'data-dependent-branch'?"),
        (["rule", "TCL1O1"], "did you mean 'TCL101'?"),
        (["rule", "print-in-regoin"], "did you mean 'print-in-region'?"),
    ],
)
def test_errors_say_what_was_meant(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: list[str], says: str
) -> None:
    project.write({"model.py": "", "src/model.py": ""})
    monkeypatch.chdir(project.root)
    code, out, err = run(args, capsys)
    assert (code, out) == (2, "")
    assert err.startswith("tclint: error: ")
    assert err.count("\n") == 1
    assert says in err


def test_a_folder_named_like_a_misspelt_command_is_a_folder(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.write({"rules/m.py": ""}).root)
    assert run(["rules"], capsys)[0] == 0
