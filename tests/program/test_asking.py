"""Questions to all files: who says nothing of a file is not even asked."""

from __future__ import annotations

from tclint.program import Module, Program, mentioning
from tclint.program.asking import Question

asked: list[str] = []


@mentioning(1)
def _twice(module: Module, more: int, word: str) -> int:
    asked.append(module.path)
    return module.data.count(word.encode()) * 2 + more


def _length(module: Module) -> int:
    return len(module.data)


def program() -> Program:
    files = {"a.py": b"here = 1\n", "b.py": b"", "c.py": b"there\nhere\nhere\n"}
    return Program.build([(path, f"/p/{path}", data, True) for path, data in files.items()])


def test_a_question_about_a_word_is_asked_of_the_files_that_hold_it() -> None:
    asked.clear()
    made = program()
    assert made.answers(_twice, 0, "here") == {"a.py": 2, "c.py": 6}
    assert asked == ["a.py", "c.py"]
    assert made.touched == {Question(_twice, (0, "here"))}


def test_a_question_about_no_word_is_asked_of_all() -> None:
    assert program().answers(_length) == {"a.py": 9, "c.py": 16}
