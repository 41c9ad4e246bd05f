"""Questions to all files: who says nothing of a file is not even asked."""

from __future__ import annotations

from collections.abc import Mapping

from tclint.program import Module, Program, looking_up, mentioning
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


def _words(module: Module) -> Mapping[str, int]:
    asked.append(module.path)
    words = module.data.decode().split()
    return {word: words.count(word) for word in words}


@looking_up(_words)
def _often(module: Module, word: str) -> int:
    return module.index(_words).get(word, 0)


def test_a_question_that_looks_a_word_up_goes_through_the_files_once_for_all_words() -> None:
    asked.clear()
    made = program()
    assert made.answers(_often, "here") == {"a.py": 1, "c.py": 2}
    assert made.answers(_often, "there") == {"c.py": 1}
    assert made.answers(_often, "nowhere") == {}
    assert asked == ["a.py", "b.py", "c.py"]
    assert Question(_often, ("here",)).of(made.modules) == {"a.py": 1, "c.py": 2}


def test_what_was_looked_up_is_forgotten_when_a_file_changes() -> None:
    made = program()
    assert made.answers(_often, "here") == {"a.py": 1, "c.py": 2}
    made.renew([("a.py", "/p/a.py", b"there\n", True)])
    assert made.answers(_often, "here") == {"c.py": 2}
    assert made.answers(_often, "there") == {"a.py": 1, "c.py": 1}
