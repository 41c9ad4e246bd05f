"""Fixes that the compiler has to agree with: what is kept, what is not, and what is said of each."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.cli import main
from tclint.model.finding import Finding, Step
from tclint.run import fixing
from tclint.run.project import Project
from tclint.verify import Outcome, Verdict, VerifyReport, proof
from tclint.verify.heard import Break, Equality, Trial

NET = b"""\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        print("hi")
        x = self.fc(x)
        if x.max() > 0.1:
            x = x / 2
        return x
"""
FINE = Equality(calls=9, shapes=3, seeds=2, tensors=9, gradients=2, trials=(Trial("eval", 3, 1, 1),))


# --- the judgement ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        (FINE, FINE, ""),
        (FINE, replace(FINE, differs="output[0] differs by up to 1"), "the values change: output[0]"),
        (replace(FINE, trouble="no call runs"), FINE, "nothing could be compared: no call runs"),
        (FINE, replace(FINE, trouble="KeyError"), "nothing could be compared: KeyError"),
        (FINE, replace(FINE, calls=2), "only 2 calls could be made"),
        (FINE, replace(FINE, trials=(Trial("eval", 3, 1, 2, ("0/0: n == 1",)),)), "a new recompile: compiled 2 times"),
        (FINE, replace(FINE, trials=(Trial("eval", 3, 2, 2),)), ""),
        (replace(FINE, trials=(Trial("eval", 3, 1, 4),)), replace(FINE, trials=(Trial("eval", 3, 1, 4),)), ""),
        (FINE, replace(FINE, trials=(Trial("eval", 3, fault="AssertionError: no"),)), "the compiled call fails"),
        (FINE, replace(FINE, tensors=0, gradients=0), "nothing could be compared: no value came"),
        (FINE, replace(FINE, tensors=0, gradients=0, numbers=1), ""),
    ],
)
def test_what_counts_as_unequal(was: Equality, now: Equality, why: str) -> None:
    told = proof.unequal(was, now)
    assert told.startswith(why)
    assert bool(told) == bool(why)


class Judge:
    """Stands in for verify: answers what it is told to, and keeps what it was shown."""

    def __init__(self, after: dict[str, str], equality: Equality = FINE) -> None:
        self.after, self.equality = after, equality
        self.seen: list[bytes] = []

    def __call__(self, findings: Sequence[Finding], about: proof.Inquiry) -> VerifyReport:
        self.seen.append(Path(about.root, "net.py").read_bytes())
        first = bool(about.record)
        outcomes = ["confirmed" if first else self.after.get(f.code, "refuted") for f in findings]
        verdicts = tuple(
            Verdict(f, Outcome(o), "said", "", (), "2.13", "cpu") for f, o in zip(findings, outcomes, strict=True)
        )
        shown = FINE if first else self.equality
        return VerifyReport(verdicts, torch="2.13", device="cpu", equalities=(shown,) * len(findings))


def proved(tmp_path: Path, judge: Judge) -> proof.Proved:
    (tmp_path / "net.py").write_bytes(NET)
    project = Project.open(["net.py"], cwd=str(tmp_path), isolated=True, overrides={"no-cache": True})
    found = proof.prove(project, judge, unsafe=True)
    assert (tmp_path / "net.py").read_bytes() == NET
    return found


def test_a_fix_that_does_not_hold_is_not_kept(tmp_path: Path) -> None:
    judge = Judge({"TCL101": "confirmed"})
    found = proved(tmp_path, judge)
    (after,) = found.done.fixed.contents.values()
    assert b"is_compiling" in after
    assert b"torch.where" not in after
    assert [line.split(":")[1] for line in found.proofs] == ["11 TCL108"]
    assert [line for line in found.rejected if "13 TCL101: fix rejected: still there" in line]
    assert judge.seen[0] == NET
    assert b"torch.where" in judge.seen[1]
    assert b"torch.where" not in judge.seen[2]


def test_a_fix_elsewhere_is_judged_where_the_hazard_is(tmp_path: Path) -> None:
    source = b"""\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, k):
        return x[: k.max().item()]
"""
    (tmp_path / "net.py").write_bytes(source)
    project = Project.open(["net.py"], cwd=str(tmp_path), isolated=True, overrides={"no-cache": True})
    asked: list[int] = []

    def ask(findings: Sequence[Finding], about: proof.Inquiry) -> VerifyReport:
        asked.extend(finding.line for finding in findings)
        return Judge({})(findings, about)

    found = proof.prove(project, ask, unsafe=True)
    (after,) = found.done.fixed.contents.values()
    assert b"capture_scalar_outputs = True" in after
    # The switch takes two lines above: what is asked about is the read, not the switch.
    assert asked == [7, 9]


def test_values_that_change_reject_every_fix_that_changes_them(tmp_path: Path) -> None:
    found = proved(tmp_path, Judge({}, replace(FINE, differs="output[0] differs by up to 1")))
    assert found.done.fixed.contents == {}
    assert found.proofs == []
    assert [line.split(": ", 1)[1] for line in found.rejected] == [
        "fix rejected: the values change: output[0] differs by up to 1"
    ] * 2


def test_what_does_not_hold_is_found_by_halves(tmp_path: Path) -> None:
    class Halves(Judge):
        def __call__(self, findings: Sequence[Finding], about: proof.Inquiry) -> VerifyReport:
            text = Path(about.root, "net.py").read_bytes()
            self.equality = replace(FINE, differs="output" if b"torch.where" in text else "")
            return super().__call__(findings, about)

    source = NET.replace(b'        print("hi")\n', b"".join(b'        print("%d")\n' % n for n in range(3)))
    (tmp_path / "net.py").write_bytes(source)
    project = Project.open(["net.py"], cwd=str(tmp_path), isolated=True, overrides={"no-cache": True})
    judge = Halves({})
    found = proof.prove(project, judge, unsafe=True)
    assert [line.split(":")[1] for line in found.proofs] == ["11 TCL108", "12 TCL108", "13 TCL108"]
    assert found.rejected == ["net.py:15 TCL101: fix rejected: the values change: output"]
    # The old source, all four, the first two, these with the third: the target runs for no other question.
    assert [text.count(b"is_compiling") for text in judge.seen] == [0, 3, 2, 3]
    assert [b"torch.where" in text for text in judge.seen] == [False, True, False, False]


@pytest.mark.parametrize(("lines", "kept"), [((5,), True), ((3, 5), False)])
def test_a_library_that_breaks_for_another_caller_is_not_new(lines: Sequence[int], kept: bool, tmp_path: Path) -> None:
    def trials(*callers: int) -> tuple[Trial, ...]:
        told = (Break("/lib/a.py", 9, "Unsupported", "", stack=(Step("net.py", line, "f"),)) for line in callers)
        return (Trial("eval", 3, 1, 1, breaks=tuple(told)),)

    class Library(Judge):
        def __call__(self, findings: Sequence[Finding], about: proof.Inquiry) -> VerifyReport:
            shown = replace(FINE, trials=trials(*((1,) if about.record else lines)))
            return replace(super().__call__(findings, about), equalities=(shown,) * len(findings))

    assert bool(proved(tmp_path, Library({})).done.fixed.contents) is kept


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (3, False),
        # The line that another finding of the old source stands on, and cannot repair: it was there all along.
        (16, True),
    ],
)
def test_a_new_break_rejects_and_a_predicted_one_does_not(line: int, kept: bool, tmp_path: Path) -> None:
    source = NET.replace(b"return x", b'return x * len(open("f").read())')
    heard = Break("net.py", line, "Unsupported", "words")
    judge = Judge({}, replace(FINE, trials=(Trial("eval", 3, 1, 1, breaks=(heard,)),)))
    (tmp_path / "net.py").write_bytes(source)
    project = Project.open(["net.py"], cwd=str(tmp_path), isolated=True, overrides={"no-cache": True})
    found = proof.prove(project, judge, unsafe=True)
    assert bool(found.done.fixed.contents) is kept, found.rejected
    assert any("a new break at line 3" in line for line in found.rejected) is not kept


@pytest.mark.parametrize("when", ["first", "later"])
def test_an_edit_saved_meanwhile_is_kept(tmp_path: Path, when: str) -> None:
    """Every attempt is of what was linted first, and a file that holds anything else by now is not written."""
    (tmp_path / "net.py").write_bytes(NET)
    edited = NET.replace(b"x / 2", b"x / 4")
    judge = Judge({})

    def ask(findings: Sequence[Finding], about: proof.Inquiry) -> VerifyReport:
        if bool(about.record) == (when == "first"):
            (tmp_path / "net.py").write_bytes(edited)
        return judge(findings, about)

    project = Project.open(["net.py"], cwd=str(tmp_path), isolated=True, overrides={"no-cache": True})
    found = proof.prove(project, ask, unsafe=True)
    assert found.done.before == {"net.py": NET}
    assert b"x / 4" not in judge.seen[-1]
    fixing.save(found.done)
    assert (tmp_path / "net.py").read_bytes() == edited
    assert found.done.failed == ["net.py: changed on disk since it was linted; left alone: run tclint again"]
    assert found.done.fixed.applied == []


def test_a_shadow_holds_the_sources_and_links_the_rest(tmp_path: Path) -> None:
    project, folder = tmp_path / "project", tmp_path / "shadow"
    (project / "pkg" / "data").mkdir(parents=True)
    folder.mkdir()
    for name in ("pkg/a.py", "pkg/b.py", "pkg/data/w.bin", "top.txt"):
        (project / name).write_text(name)
    proof.shadow(str(project), str(folder), {"pkg/a.py": b"new"}, ["pkg/a.py", "pkg/b.py", "../else.py"])
    assert (folder / "pkg/a.py").read_text() == "new"
    assert (folder / "pkg/b.py").read_text() == "pkg/b.py"
    assert not (folder / "pkg/b.py").is_symlink()
    assert (folder / "pkg/data").is_symlink()
    assert (folder / "top.txt").read_text() == "top.txt"
    assert (project / "pkg/a.py").read_text() == "pkg/a.py"


# --- the compiler's word ------------------------------------------------------------------------------------------------

WRONG = '''\
"""A rule whose fixes are wrong, each in its own way."""

import ast

from tclint.api import Applicability, Effect, Fix, Place, Rule, Severity

TEXTS = {
    "good": "x = x * 1",
    "values": "x = x + 0.001",
    "gradients": "x = x * 2 - x.detach()",
    "break": "torch._dynamo.graph_break()",
    "recompile": "self.count += 1; x = x + 0 * self.count",
    "shapes": "x = x + 0 * sum(range(x.shape[0] * (x.shape[0] > 2)))",
    "crash": "torch._dynamo.mark_dynamic(x, 0)",
    "eager": "raise ValueError('no')",
    "dtype": "x = x.double()",
    "argument": "x0.data.zero_()",
}


class Wrong(Rule):
    """Replaces a print by something."""

    code, name = "BAD101", "wrong"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    calls = ("builtins.print",)

    def on_call(self, event):
        yield self.finding(event, "print", help="wrong")

    def fix(self, finding, event):
        place = Place(event)
        return Fix("wrong", Applicability.SAFE, (place.replace(event.node, TEXTS[event.node.args[0].value]),))
'''

MODEL = """
class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.count = 0

    def forward(self, x):
        x0 = x
        x = self.fc(x)
{body}
        return x
"""

WHY = {
    "good": "fixed and proven (",
    "values": "fix rejected: the values change: output[0] differs by up to 0.001 in eager mode (train, seed 0)",
    "gradients": "fix rejected: the values change: gradient[",
    "break": "fix rejected: still there: ",
    "recompile": "fix rejected: a new recompile: compiled ",
    "shapes": "fix rejected: a new recompile: compiled ",
    "crash": "fix rejected: still there: ",
    "eager": "fix rejected: ",
    "dtype": "fix rejected: the values change: output[0] is float64[",
    "argument": "fix rejected: the values change: argument[0]",
}


def fix_with(python: str, *arguments: str) -> int:
    """`tclint --fix --verify`, the proof by this interpreter."""
    return main([*arguments, "--fix", "--verify", "--verify-python", python, "--no-cache"])


def models(**bodies: Sequence[str]) -> str:
    text = "import torch\nfrom torch import nn\n\n"
    for name, kinds in bodies.items():
        text += MODEL.format(name=name, body="\n".join(f'        print("{kind}")' for kind in kinds))
    return text


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory, torch_python: str) -> tuple[dict[str, str], str, str]:
    """One run of `--fix --verify` over a model for each kind of fix: what was said of each, the file before and after."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "lint").mkdir()
    (folder / "lint" / "wrong.py").write_text(WRONG)
    (folder / "pyproject.toml").write_text('[tool.tclint]\nrules = ["lint"]\nselect = ["BAD"]\njobs = 2\n')
    source = models(**{kind.capitalize(): [kind] for kind in WHY}, Both=["values", "good"])
    (folder / "model.py").write_text(source)
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("tclint.commands.lint.say", said.append)
        assert fix_with(torch_python, "model.py", "--allow-rules") == 1
    lines = source.splitlines()
    told: dict[str, str] = {}
    owner = ""
    for number, text in enumerate(lines, 1):
        if text.startswith("class "):
            owner = text.split()[1].partition("(")[0].lower()
        if "print(" in text:
            kind = text.split('"')[1]
            key = kind if owner != "both" else f"both, {kind}"
            told[key] = next((s.split(": ", 1)[1] for s in said if s.startswith(f"model.py:{number} ")), "")
    return told, source, (folder / "model.py").read_text()


@pytest.mark.dynamo
@pytest.mark.slow
@pytest.mark.parametrize("kind", [*WHY, "both, values", "both, good"])
def test_a_wrong_fix_is_rejected(kind: str, outcome: tuple[dict[str, str], str, str]) -> None:
    told, _, _ = outcome
    assert told[kind].startswith(WHY[kind.removeprefix("both, ")]), told[kind]
    assert told[kind].count("\n") == 0


PROGRAM = """\
import torch


@torch.compile
def step(x):
    x0 = x
    x = x * x
    print("{kind}")
    return x


for seed in range(3):
    step(torch.full((4,), seed + 1.0, requires_grad=True))
"""


@pytest.mark.dynamo
@pytest.mark.slow
def test_what_a_program_gets_from_its_compiled_calls_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], torch_python: str
) -> None:
    """The program itself reads nothing of it, and asks for no gradient."""
    pytest.importorskip("torch")
    (tmp_path / "lint").mkdir()
    (tmp_path / "lint" / "wrong.py").write_text(WRONG)
    (tmp_path / "pyproject.toml").write_text('[tool.tclint]\nrules = ["lint"]\nselect = ["BAD"]\njobs = 2\n')
    for kind in ("good", "values", "gradients"):
        (tmp_path / f"{kind}.py").write_text(PROGRAM.format(kind=kind))
    monkeypatch.chdir(tmp_path)
    fix_with(torch_python, "good.py", "values.py", "gradients.py", "--allow-rules")
    told = capsys.readouterr().err
    # Three calls, their argument and what they give, in two runs of the program on each of two seeds, eager and compiled.
    assert ": 48 tensors and 24 gradients equal in eager and compiled" in told
    # Each run defines it anew; what was compiled for the breaks and the first seed is there for the second.
    assert "programs per function 5 before, 5 after" in told
    assert "values.py:8 BAD101: fix rejected: the values change: output[0][1][0] differs by up to 0.001" in told
    assert "gradients.py:8 BAD101: fix rejected: the values change: gradient['argument 1 in call 1" in told


@pytest.mark.dynamo
@pytest.mark.slow
def test_only_what_is_proven_is_written(outcome: tuple[dict[str, str], str, str]) -> None:
    _, before, after = outcome
    assert after == before.replace('print("good")', "x = x * 1")


@pytest.mark.dynamo
@pytest.mark.slow
def test_fix_with_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], torch_python: str
) -> None:
    """Two files: the hazard stands in one, and is compiled from the other, which imports it from the shadow."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_bytes(NET)
    (tmp_path / "train.py").write_text(
        textwrap.dedent("""\
        import torch
        from net import Net

        class Outer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = Net()

            def forward(self, x):
                return self.net(x)

        model = torch.compile(Outer())
        model(torch.ones(2, 8))
        """)
    )
    assert fix_with(torch_python, "net.py", "--unsafe-fixes", "--isolated") == 0
    err = capsys.readouterr().err
    assert "net.py:11 TCL108: fixed and proven (cpu, torch" in err
    assert "net.py:13 TCL101: fixed and proven" in err
    assert "19 calls, 7 shapes, 2 seeds: " in err
    assert " gradients equal in eager and compiled (largest difference 0)" in err
    assert "breaks 2 before, 0 after" in err
    assert b"x = torch.where(x.max() > 0.1, x / 2, x)" in (tmp_path / "net.py").read_bytes()


@pytest.mark.dynamo
@pytest.mark.slow
def test_a_line_above_the_call_that_shows_the_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], torch_python: str
) -> None:
    """A fix that inserts a line moves the program's own call, and the example with it."""
    pytest.importorskip("torch")
    program = """\
        import torch
        from torch import nn


        class Net(nn.Module):
            def __init__(self, classes):
                super().__init__()
                self.fc = nn.Linear(8, classes)

            def forward(self, x, labels):
                active = labels != -100
                return nn.functional.cross_entropy(self.fc(x)[active], labels[active])


        def run():
            net = torch.compile(Net(4), backend="eager")
            net(torch.randn(6, 8), torch.tensor([0, 1, -100, 2, 3, -100]))
        """
    (tmp_path / "net.py").write_text(textwrap.dedent(program))
    monkeypatch.chdir(tmp_path)
    fix_with(torch_python, "--unsafe-fixes", "--isolated", "net.py")
    told = capsys.readouterr().err
    assert "fixed and proven" in told
    assert "capture_dynamic_output_shape_ops = True" in (tmp_path / "net.py").read_text()
