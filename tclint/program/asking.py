"""Questions to all files: what a function makes of each of them, by itself.

A result that was made with the answers depends on what they say, and on no file as a whole: most edits change none.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tclint.program.symbols import Lookup

if TYPE_CHECKING:
    from tclint.program.module import Module

MARK: Final = "?"
"""What the name of a question starts with, so that it can stand among paths."""


class Answers(dict[str, Any]):
    """By path, what was said of the files of which something was."""

    def index(self, build: Callable[[Answers], Lookup]) -> Lookup:
        """What `build` makes of them, made once."""
        made = self.__dict__
        if build.__qualname__ not in made:
            made[build.__qualname__] = build(self)
        return made[build.__qualname__]  # type: ignore[no-any-return]


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

    def of(self, module: Module) -> Any:
        """What is to be said of one file. What that takes of the file is nobody else's business."""
        with module.program.unwatched():
            return self.scan(module, *self.args)


def digest(answers: Answers) -> str:
    """What the answers come to."""
    text = repr(sorted(answers.items())).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
