"""Questions to all files: what a function makes of each of them, by itself.

A result that was made with the answers depends on what they say, and on no file as a whole: most edits change none.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tclint.program.symbols import Lookup

if TYPE_CHECKING:
    from tclint.program.module import Module
    from tclint.program.program import Program

MARK: Final = "?"
"""What the name of a question starts with, so that it can stand among paths."""


class Answers(dict[str, Any]):
    """By path, what was said of the files of which something was."""

    comes_to = ""
    """What they come to, where somebody has asked for that."""

    def index(self, build: Callable[[Answers], Lookup]) -> Lookup:
        """What `build` makes of them, made once."""
        made = self.__dict__
        if build.__qualname__ not in made:
            made[build.__qualname__] = build(self)
        return made[build.__qualname__]  # type: ignore[no-any-return]


_Scan = TypeVar("_Scan", bound=Callable[..., Any])
_MENTIONED: Final[dict[Callable[..., Any], int]] = {}
"""The scans that speak of a word, each with the number of the argument that is it."""


def mentioning(number: int) -> Callable[[_Scan], _Scan]:
    """Marks a scan that says nothing of a file in whose text one of its arguments, the one with this number, does not stand."""

    def mark(scan: _Scan) -> _Scan:
        _MENTIONED[scan] = number
        return scan

    return mark


_TABLES: Final[dict[Callable[..., Any], Callable[[Module], Mapping[str, Any]]]] = {}
"""The scans that look a word up in a table of each file, each with what makes that table."""


def looking_up(table: Callable[[Module], Mapping[str, Any]]) -> Callable[[_Scan], _Scan]:
    """Marks a scan that says of a file what a table of that file has for its argument, a word: `module.index(table).get(word)`.

    Thousands of words are asked of thousands of files: the tables are gone through once, for all words.
    """

    def mark(scan: _Scan) -> _Scan:
        _TABLES[scan] = table
        return scan

    return mark


@dataclass(frozen=True, slots=True)
class Question:
    """A function of a file and of plain values, to be found again by its name."""

    scan: Callable[..., Any]
    args: tuple[Any, ...]

    @property
    def path(self) -> str:
        """Its name."""
        return f"{MARK}{self.scan.__module__} {self.scan.__qualname__} {self.args!r}"

    @classmethod
    def named(cls, name: str) -> Question | None:
        """The question of this name, where its function is loaded."""
        module, function, args = name[len(MARK) :].split(" ", 2)
        scan = getattr(sys.modules.get(module), function, None)
        return cls(scan, ast.literal_eval(args)) if callable(scan) else None

    def of(self, modules: Iterable[Module]) -> dict[str, Any]:
        """By path, what is to be said of the files of which something is. What that takes of a file is nobody else's business."""
        number = _MENTIONED.get(self.scan)
        # Thousands of files are asked, and few hold the word: the others are not even called for.
        word = self.args[number].encode() if number is not None else b""
        asked = modules if not word else [module for module in modules if word in module.raw]
        told = ((module.path, self.scan(module, *self.args)) for module in asked)
        return {path: answer for path, answer in told if answer}

    def of_all(self, program: Program) -> Mapping[str, Any]:
        """The same of all files of a program."""
        table = _TABLES.get(self.scan)
        if table is None:
            return self.of(program.modules)
        if table not in program.looked_up:
            program.looked_up[table] = _by_word(program.modules, table)
        return program.looked_up[table].get(self.args[0], {})


def _by_word(
    modules: Iterable[Module], table: Callable[[Module], Mapping[str, Any]]
) -> Mapping[str, Mapping[str, Any]]:
    """By word and path, what the tables of some files have."""
    found: dict[str, dict[str, Any]] = {}
    for module in modules:
        for word, answer in module.index(table).items():
            if answer:
                found.setdefault(word, {})[module.path] = answer
    return found


def digest(answers: Answers) -> str:
    """What the answers come to."""
    text = repr(sorted(answers.items())).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
