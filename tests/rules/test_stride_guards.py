"""An expanded tensor alive across a graph break (TCL201): said where torch guards its strides, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lintkit import PRELUDE, Project

ROTARY = """
class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("frequencies", torch.ones(4))

    def forward(self, position_ids):
        frequencies = self.frequencies
        {body}
        return position_ids.unsqueeze(-1) * frequencies
"""
MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, x):
        b, s, _ = x.shape
        {body}

step = torch.compile(Model())
for b in {sizes}:
    step(torch.randn(b, 5, 4))
"""
BREAKS = "if position_ids.max() > 64: frequencies = frequencies / 2"
WHOLE = "frequencies = torch.where(position_ids.max() > 64, frequencies / 2, frequencies)"
HANDED = """position_ids = torch.arange(s).unsqueeze(0).expand(b, -1)
        return x + self.rotary(position_ids)"""
LATER = """position_ids = torch.arange(s)[None].expand(b, s)
        print("made")
        return x + position_ids.unsqueeze(-1)"""
MIXED = "(4, 2, 1)"


def program(rotary: str, model: str, sizes: str) -> str:
    return PRELUDE + ROTARY.format(body=rotary) + MODEL.format(body=model, sizes=sizes)


GUARDED = {
    "handed to a function that breaks": program(BREAKS, HANDED, MIXED),
    "read after a break": program(WHOLE, LATER, MIXED),
    "read after a call that breaks": program(
        "print('here')",
        """position_ids = torch.arange(s).unsqueeze(0).expand(b, -1)
        y = self.rotary(torch.zeros(1, 5))
        return x + y + position_ids.unsqueeze(-1)""",
        MIXED,
    ),
    "handed on by a function that runs eagerly": program(
        WHOLE,
        """position_ids = torch.arange(s).unsqueeze(0).expand(b, -1)
        for turn in range(2):
            print("made")
        return x + self.rotary(position_ids)""",
        MIXED,
    ),
    "a parameter of one row": program(
        BREAKS,
        """token = self.rotary.frequencies.view(1, 1, 4).expand(b, -1, -1)
        print("made")
        return x + token""",
        MIXED,
    ),
}
FREE = {
    "in one graph": program(WHOLE, HANDED, MIXED),
    "repeated": program(BREAKS, HANDED.replace("expand(b, -1)", "repeat(b, 1)"), MIXED),
    "copied": program(BREAKS, HANDED.replace("expand(b, -1)", "expand(b, -1).contiguous()"), MIXED),
    "never a batch of one": program(BREAKS, HANDED, "(4, 2, 8)"),
    "used up before the break": program(
        WHOLE,
        """position_ids = torch.arange(s).unsqueeze(0).expand(b, -1)
        y = x + position_ids.unsqueeze(-1)
        print("used")
        return y * 2""",
        MIXED,
    ),
    "sizes that are there": program(
        WHOLE,
        """heads = x[:, :, None, :].expand(b, s, 3, 4)
        print("made")
        return heads * 2""",
        "(4, 2, 8)",
    ),
    "a function that runs eagerly as a whole": program(
        WHOLE,
        """position_ids = torch.arange(s).unsqueeze(0).expand(b, -1)
        for turn in range(2):
            print("made")
        return x + position_ids.unsqueeze(-1)""",
        MIXED,
    ),
}


def flagged(project: Project, source: str) -> bool:
    project.write({"a.py": source})
    found = [f for f in project.lint("a.py").findings if f.code == "TCL201"]
    assert all(".expand(" in source.splitlines()[f.line - 1] for f in found)
    return bool(found)


@pytest.mark.parametrize("name", GUARDED)
def test_a_guard_on_strides_is_found(project: Project, name: str) -> None:
    assert flagged(project, GUARDED[name])


@pytest.mark.parametrize("name", FREE)
def test_where_torch_makes_none_nothing_is_said(project: Project, name: str) -> None:
    assert not flagged(project, FREE[name])


def test_a_second_caller_of_what_breaks_is_told_too(project: Project) -> None:
    """What a call gave is remembered, and so is that the graph breaks in it."""
    body = """first = torch.arange(s).unsqueeze(0).expand(b, -1)
        y = x + self.rotary(first)
        second = torch.arange(s).unsqueeze(0).expand(b, -1)
        return y + self.rotary(second)"""
    project.write({"a.py": program(BREAKS, body, MIXED)})
    lines = [f.line for f in project.lint("a.py").findings if f.code == "TCL201"]
    assert len(lines) == 2
    assert lines[1] == lines[0] + 2


def test_no_fix_where_the_break_is_to_blame(project: Project) -> None:
    """`repeat` alone saves no program there."""
    project.write({"a.py": GUARDED["handed to a function that breaks"]})
    (found,) = [f for f in project.lint("a.py").findings if f.code == "TCL201"]
    assert found.fix is None
    assert "mend the break" in found.help


@pytest.mark.dynamo
def test_torch_says_the_same(tmp_path: Path) -> None:
    """All in one process: starting torch takes longer than they do."""
    pytest.importorskip("torch")
    runner = ["import sys, torch", "torch._logging.set_logs(recompiles=True)"]
    for number, (name, source) in enumerate({**GUARDED, **FREE}.items()):
        eager = source.replace("torch.compile(Model())", 'torch.compile(Model(), backend="eager")')
        (tmp_path / f"case{number}.py").write_text(eager)
        runner += [f"print('@@{name}', file=sys.stderr, flush=True)", f"import case{number}", "torch._dynamo.reset()"]
    (tmp_path / "run.py").write_text("\n".join(runner))
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = {part.partition("\n")[0]: part for part in done.stderr.split("@@")}
    assert {name for name in (*GUARDED, *FREE) if "stride mismatch" in told[name]} == set(GUARDED)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_one_that_another_file_expands_stands_nowhere_in_this_one(project: Project, elsewhere: bool) -> None:
    made = "def positions(x):\n    return torch.arange(x.shape[1]).unsqueeze(0).expand(x.shape[0], -1)\n"
    used = """
block = torch.compile(nn.Linear(8, 8))

def run(x):
    return block(positions(x).float())

def step(x):
    return block(torch.arange(x.shape[1]).unsqueeze(0).expand(x.shape[0], -1)) + block(positions(x))
"""
    head = "from other import positions\n" if elsewhere else made
    project.write({"a.py": PRELUDE + head + used, "other.py": PRELUDE + made})
    found = [(f.path, f.line) for f in project.lint(min_confidence="low").findings if f.code == "TCL201"]
    source = (PRELUDE + head + used).splitlines()
    expected = [n for n, line in enumerate(source, 1) if ".expand(" in line]
    assert found == [("a.py", line) for line in expected]


def test_of_a_batch_that_is_no_size_nobody_knows_whether_it_varies(project: Project) -> None:
    source = """
block = torch.compile(nn.Linear(8, 8))

def run(rows, count):
    return block(rows.unsqueeze(0).expand(count, -1, -1))

def step(rows, x):
    return block(rows.unsqueeze(0).expand(x.shape[0], -1, -1))
"""
    project.write({"a.py": PRELUDE + source})
    text = (PRELUDE + source).splitlines()
    told = [text[f.line - 1].strip() for f in project.lint().findings if f.code == "TCL201"]
    assert told == ["return block(rows.unsqueeze(0).expand(x.shape[0], -1, -1))"]
