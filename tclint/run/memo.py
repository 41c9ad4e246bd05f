"""What earlier runs found out about parts of this one, and whether it still holds.

A result is kept with the files it was read from and with what of the compile sites' lessons it was made with. It is good
while those are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.run.knowledge import Lesson
from tclint.run.store import Cache, digest_of

if TYPE_CHECKING:
    from tclint.program import Program

_VARIANTS: Final = 3


class Memo:
    """The parts of a cache that one run may use; without a cache everything is computed."""

    def __init__(self, cache: Cache | None, program: Program, hashes: dict[str, str]) -> None:
        self.cache = cache
        self.program = program
        self.hashes = hashes
        # A result names files and modules; where one is called something else, none of it holds.
        self.layout = digest_of(f"{m.path} {m.name}" for m in program.modules)

    @property
    def keeps(self) -> bool:
        return self.cache is not None

    def traced(self, key: str, compute: Callable[[], Any]) -> Any:
        """A plain value that depends on the files it is read from: kept with them, and good while they are the same."""
        if self.cache is None:
            return compute()
        kept = self.recall(key, ())
        if kept is None:
            with self.program.watched() as touched:
                value = compute()
            kept = self.remember(key, (), value, sorted(m.path for m in touched))
        return kept[0]

    def recall(
        self, key: str, learned: Sequence[Lesson], holds: Callable[[Any], bool] | None = None
    ) -> tuple[Any] | None:
        """What was kept under a key, if what it was made from is the same now. None where it is not."""
        if self.cache is None:
            return None
        hashes = self.hashes
        for read, made_with, value in self.cache.get(f"{key} {self.layout}") or ():
            if all(hashes.get(path) == was for path, was in read) and made_with == condition(learned, dict(read)):
                if holds is None or holds(value):
                    return (value,)
        return None

    def remember(self, key: str, learned: Sequence[Lesson], value: Any, read: Iterable[str]) -> tuple[Any]:
        if self.cache is not None:
            key = f"{key} {self.layout}"
            rows = {path: self.hashes[path] for path in read}
            entry = (tuple(rows.items()), condition(learned, rows), value)
            # Some older ones stay: people go back and forth between branches.
            self.cache.put(key, (entry, *(self.cache.get(key) or ())[: _VARIANTS - 1]))
        return (value,)

    def by_content(self, key: str, compute: Callable[[], Any]) -> Any:
        """A plain value that depends on nothing but its key: from the cache, or computed and put there."""
        if self.cache is None:
            return compute()
        value = self.cache.get(key)
        if value is None:
            value = compute()
            self.cache.put(key, value)
        return value


def condition(learned: Sequence[Lesson], read: Container[str]) -> str:
    """What of it matters to a result that was read from these files; empty where nothing does."""
    told = [lesson.digest for lesson in learned if not lesson.about or any(path in read for path in lesson.about)]
    return digest_of(told) if told else ""
