"""What the compile sites taught is the same after it was written down."""

from __future__ import annotations

import ast
import pickle
from dataclasses import fields
from pathlib import Path

import pytest

from tclint.interpreter.machine import Interpreter
from tclint.interpreter.state import SiteKnowledge
from tclint.model.settings import Settings
from tclint.program import Program, Read, portions, reads
from tclint.ruleset.loading import load_rules
from tclint.run import knowledge, taught
from tclint.run.parts import PartRunner
from tclint.values import UNKNOWN, Const

ROOT = Path(__file__).resolve().parents[2]
LOCAL = b"""
import torch
from functools import partial

class Net(torch.nn.Module):
    def __init__(self, act, sizes=(1, 2)):
        super().__init__()
        self.act = act
        self.step = 0

    def forward(self, x, scale=1.0):
        return self.act(x) * scale

def make(width):
    def inner(x):
        return x * width
    return torch.compile(inner)

def main():
    model = torch.compile(Net(lambda x: x + 1), mode="reduce-overhead")
    part = torch.compile(partial(Net(torch.relu), scale=2.0))
    fast = make(3)
    make(torch.__version__)(torch.ones(2))
    for size in (2, 3):
        model.step += 1
        fast(model(torch.ones(size), scale=size))
"""


def runner_of(files: dict[str, bytes]) -> PartRunner:
    program = Program.build([(path, f"/p/{path}", data, True) for path, data in files.items()])
    runner = PartRunner(program, Settings(), load_rules(()), ())
    runner.find_sites(program.modules)
    runner.compiled()
    return runner


def built_again(runner: PartRunner) -> Program:
    """The same program, nothing of it read."""
    return Program.build(
        [(m.path, f"{m.directory}/{m.path.rpartition('/')[2]}", m.data, True) for m in runner.program.modules]
    )


def told(program: Program, learned: SiteKnowledge, runner: PartRunner) -> list[str]:
    interp = Interpreter(program, runner.main.options, runner.dispatcher, None, learned)
    walks = [knowledge._text(walk, []) for walk in learned.walks.values()]
    return [*(lesson.digest for lesson in knowledge.lessons(interp)), *walks]


@pytest.mark.parametrize("folder", ["", "demo", "tcl301", "tcl210", "tcl202"])
def test_what_is_read_is_what_was_written(folder: str) -> None:
    found = sorted((ROOT / "fixtures").glob(f"{folder}*/**/*.py")) if folder else []
    runner = runner_of({path.relative_to(ROOT).as_posix(): path.read_bytes() for path in found} or {"m.py": LOCAL})
    learned = runner.main.learned
    assert learned.sites
    program = built_again(runner)
    again = taught.read(taught.written(learned).data, program)
    assert again is not None
    assert program.touched == set(), "reading it asks for no file"
    assert told(program, again, runner) == told(runner.program, learned, runner)


CALLER = b"""import torch
from steps import Net, train
model = torch.compile(Net(4))
train(model)
"""
STEPS = b"""import torch
from contextlib import nullcontext

class Net(torch.nn.Module):
    kind = "net"

    def __init__(self, width):
        super().__init__()
        self.layer = torch.nn.Linear(width, width)
        self.calls = 0

    def forward(self, x):
        return self.layer(x)

def train(model):
    wider = Net(8)
    wider.layer.requires_grad_(False)
    scale = lambda x: x * 2
    for size in (2, 3):
        model.calls += 1
        with torch.no_grad():
            model(scale(torch.ones(size)))
"""


def dump(learned: SiteKnowledge) -> dict[str, str]:
    return {each.name: knowledge._text(getattr(learned, each.name), []) for each in fields(learned)}


def test_what_stands_on_other_lines_now_is_taught_there() -> None:
    def learn(steps: bytes) -> tuple[PartRunner, list[Read]]:
        program = Program.build([("main.py", "/p/main.py", CALLER, True), ("steps.py", "/p/steps.py", steps, True)])
        runner = PartRunner(program, Settings(), load_rules(()), ())
        with program.watched() as touched:
            runner.find_sites([program.by_path["main.py"]])
        return runner, reads(touched)

    then, read = learn(STEPS)
    edited = STEPS.replace(b"def train", b"\n# below\ndef train").replace(b"    def forw", b"\n    def forw")
    edited = edited.replace(b"    def __init__", b"    # wide\n    def __init__") + b"LATER = 1\n"
    now, _ = learn(edited)
    written = taught.written(then.main.learned)
    assert written.moving == {"main.py", "steps.py"}
    assert written.fixed == {"main.py"}, "a site goes by its line"
    pieces = next(some.pieces for path, some in read if path == "steps.py" and some is not None)
    old, new = (portions.spans(runner.program.by_path["steps.py"], pieces) for runner in (then, now))
    moved = {"steps.py": portions.moved(old, new)}
    again = taught.read(written.data, now.program, moved)
    assert again is not None
    assert dump(again) == dump(now.main.learned)
    assert dump(again) != dump(then.main.learned), "some of it moved"
    for known in ({1: 1}, {}):
        assert taught.read(written.data, now.program, {"steps.py": known}) is None, "nobody knows where the rest went"
    with pytest.raises(LookupError):
        portions.moved(old, new[:-16])


def test_a_node_without_a_file_is_not_written() -> None:
    bare = SiteKnowledge(frozen={("a", ast.parse("f(x)", mode="eval").body)})
    assert taught.written(bare) == taught.Written()


def test_there_is_one_unknown() -> None:
    runner = runner_of({"m.py": LOCAL})
    learned = SiteKnowledge(set_globals={("m.py", "a"): UNKNOWN, ("m.py", "b"): Const(3)})
    again = taught.read(taught.written(learned).data, runner.program)
    assert again is not None
    assert again.set_globals["m.py", "a"] is UNKNOWN
    assert again.set_globals["m.py", "b"].key == Const(3).key


class Foreign:
    """Nothing that sites teach."""


@pytest.mark.parametrize("data", [b"", b"no pickle", pickle.dumps(Foreign()), pickle.dumps(3), pickle.dumps(print)])
def test_what_is_no_knowledge_is_not_read(data: bytes) -> None:
    assert taught.read(data, runner_of({"m.py": LOCAL}).program) is None


def test_what_belongs_to_no_place_is_not_written() -> None:
    foreign = SiteKnowledge(set_globals={("m.py", "a"): (x for x in "")})  # type: ignore[dict-item]
    assert taught.written(foreign) == taught.Written()


def test_a_program_in_which_a_class_is_gone_is_not_taught() -> None:
    runner = runner_of({"m.py": LOCAL})
    data = taught.written(runner.main.learned).data
    assert data
    assert taught.read(data, Program.build([("m.py", "/p/m.py", b"x = 1", True)])) is None


def test_files_are_parsed_when_more_is_asked_than_whose_they_are() -> None:
    """A class and a function of another file, known by their addresses: they are those that the file has, once it is parsed."""
    sources = {
        "a.py": b"import torch\nimport b\nnet = torch.compile(b.Net())\nnet(torch.ones(2))\nfast = torch.compile(b.help)\n",
        "b.py": b"import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\ndef help(x):\n    return x\n",
    }
    runner = runner_of(sources)
    program = built_again(runner)
    again = taught.read(taught.written(runner.main.learned).data, program)
    assert again is not None
    module = next(m for m in program.modules if m.path == "b.py")
    assert not module.indexed
    owner, function = module.class_at("Net"), module.function_at("help")
    assert (owner.module, owner.address, function.module) == (module, "Net", module)
    assert not module.indexed
    with program.watched() as touched:
        assert owner.qualname == "Net"
        assert list(owner.methods) == ["forward"]
        assert function.name == "help"
    assert module.indexed
    assert touched == {owner}, (
        "who holds a class and a function has not asked for their file, but for what he looked at"
    )
    assert module.names["Net"] is owner
    assert module.names["help"] is function
    assert module.function_at("Net.forward") is owner.methods["forward"]
    assert not hasattr(owner, "nothing_of_the_kind")
    with pytest.raises(LookupError):
        module.class_at("help")
    with pytest.raises(LookupError):
        module.function_at("helper")
