"""What compile sites teach, as lessons that are the same in every process and change with what they say."""

from __future__ import annotations

from tclint.model.settings import Settings
from tclint.program import Program
from tclint.run import knowledge
from tclint.run.knowledge import Lesson
from tclint.run.memo import Memo, by_file, condition
from tclint.run.parts import PartRunner

NET = b"from torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x, scale):\n        return x * scale\n"
TRAIN = b"import torch\nfrom net import Net\nnet = torch.compile(Net())\nnet(torch.ones(2), 1.5)\n"


def lessons(train: bytes) -> list[Lesson]:
    program = Program.build([("net.py", "/p/net.py", NET, True), ("train.py", "/p/train.py", train, True)])
    runner = PartRunner(program, Settings(), [], [])
    runner.find_sites([program.modules[1]])
    return knowledge.lessons(runner.main)


def test_the_same_program_teaches_the_same() -> None:
    learned = lessons(TRAIN)
    assert learned == lessons(TRAIN)
    assert len(learned) == len(set(learned))
    assert {path for lesson in learned for path in lesson.about} == {"net.py", "train.py"}


def test_another_argument_is_another_lesson_about_the_model() -> None:
    before, after = lessons(TRAIN), lessons(TRAIN.replace(b"1.5", b"2.5"))
    assert set(before) != set(after)
    changed = set(before) ^ set(after)
    assert {path for lesson in changed for path in lesson.about} == {"net.py"}


def test_a_comment_teaches_nothing() -> None:
    assert lessons(TRAIN) == lessons(TRAIN + b"# the end\n")


def test_only_lessons_about_what_was_read_are_a_condition() -> None:
    about_a, about_b, for_all = Lesson(("a.py",), "1"), Lesson(("b.py",), "2"), Lesson((), "3")
    both = [about_a, about_b]
    assert condition(["c.py"], by_file(both)) == ""
    assert condition(["a.py"], by_file(both)) == condition(["a.py"], by_file([about_a])) != ""
    assert condition([], by_file([for_all])) != ""


def test_without_a_cache_everything_is_computed() -> None:
    program = Program.build([("net.py", "/p/net.py", NET, True)])
    memo = Memo(None, program, {})
    assert not memo.keeps
    assert memo.recall("key", ()) is None
    assert memo.remember("key", (), "value", [("net.py", None)]) == ("value",)
    counted: list[int] = []
    for _ in range(2):
        memo.by_content("key", lambda: counted.append(1))
        memo.traced("key", lambda: counted.append(1))
    assert len(counted) == 4
