"""What earlier runs found out about parts of this one, and whether it still holds.

A result is kept with what it was read from, files or parts of them, and with what of the compile sites' lessons it was made with. It is good
while those are the same.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tclint.program import Portion, Read, portions, reads
from tclint.program.asking import MARK, Answers, Question, digest
from tclint.run.knowledge import Lesson
from tclint.run.store import Cache, digest_of

if TYPE_CHECKING:
    from tclint.program import Module, Program
    from tclint.program.kept_facts import Facts
    from tclint.program.kept_index import Kept

_VARIANTS: Final = 3
_BEHIND: Final = 16
"""Files that may have changed since answers were kept that are the same today, before they are kept anew."""
_Row = tuple[str, str | None, tuple[Any, ...] | None]
"""A file, what it came to as a whole, and what of it was read where that was not all (see `Portion`)."""
EVERYBODY: Final = ""
"""Stands for all files."""


class Memo:
    """The parts of a cache that one run may use; without a cache everything is computed."""

    def __init__(self, cache: Cache | None, program: Program, hashes: dict[str, str]) -> None:
        self.cache = cache
        self.program = program
        self.hashes = hashes
        # A result names files and modules; where one is called something else, none of it holds.
        libraries = [program.libraries.state] if program.libraries is not None else []
        self.layout = digest_of([*libraries, *(f"{m.path} {m.name}" for m in program.modules)])
        self._known = dict[str, str | None](hashes)
        """What `_now` gave. Asked of all that each part read: a question that was answered is looked up as a file is."""
        self._changed: dict[int, tuple[Mapping[str, str], frozenset[str]]] = {}
        """The hashes of earlier runs, by their identity, each with what changed since."""
        self._told: tuple[Sequence[Lesson], Mapping[str, str]] = ((), {})
        """What was learned, and what of it each file is told."""
        self._conditions: dict[tuple[str, ...], str] = {}
        """By the files of which something was learned, what of that matters."""
        self._rows: dict[_Row, _Row] = {}
        """What results are kept with, each once."""

        self.noted: set[str] = set()
        """The files that results were read from, of which somebody wants to know (`noting`)."""
        self._notes = False
        self._held: dict[str, tuple[tuple[str, ...], str, Any]] = {}
        """The same for this run alone, where there is no cache: what is read again with other sites taught may be as it was."""

        if cache is not None:
            program.indexes = _Indexes(cache, hashes, self.layout)

    @property
    def keeps(self) -> bool:
        return self.cache is not None

    @contextmanager
    def noting(self, wanted: bool) -> Iterator[None]:
        """Note what the results of this block were read from."""
        self._notes = wanted
        try:
            yield
        finally:
            self._notes = False

    def traced(self, key: str, compute: Callable[[], Any]) -> Any:
        """A plain value that depends on the files it is read from: kept with them, and good while they are the same."""
        if self.cache is None:
            return compute()
        kept = self.recall(key, ())
        if kept is None:
            with self.program.watched() as touched:
                value = compute()
            kept = self.remember(key, (), value, reads(touched))
        return kept[0]

    def recall(
        self, key: str, learned: Sequence[Lesson], holds: Callable[[Any], bool] | None = None
    ) -> tuple[Any] | None:
        """What was kept under a key, if what it was made from is the same now. None where it is not."""
        if self.cache is None:
            paths, made_with, value = self._held.get(key, ((), None, None))
            if made_with is None or made_with != self._condition(learned, paths) or not (holds is None or holds(value)):
                return None
            if self._notes:
                self.noted.update(paths)
            return (value,)
        known = self._known
        for read, made_with, value in self.cache.get(f"{key} {self.layout}") or ():
            for path, was, some in read:
                # Asked of each file that each part read: most of them are as they were.
                if (was is None or known.get(path) != was) and not self._holds(path, was, some):
                    break
            else:
                if made_with == self._condition(learned, [row[0] for row in read]):
                    if holds is None or holds(value):
                        if self._notes:
                            self.noted.update(row[0] for row in read)
                        return (value,)
            self._know(read)
        return None

    def _know(self, read: Iterable[_Row]) -> None:
        """Keep what the files came to that are as they were: what is read anew is mostly read of the same pieces."""
        digested = self.program.digested
        for path, was, some in read:
            if some is not None and was is not None and self._now(path) == was:
                pieces, facts, placed, digest = some
                digested[path, pieces, facts, placed] = digest

    def remember(self, key: str, learned: Sequence[Lesson], value: Any, read: Sequence[Read]) -> tuple[Any]:
        if self._notes:
            self.noted.update(path for path, _ in read)
        if self.cache is None and self._notes:
            paths = tuple(path for path, _ in read)
            self._held[key] = (paths, self._condition(learned, paths), value)
        elif self.cache is not None:
            key = f"{key} {self.layout}"
            rows = tuple([self._row(path, some) for path, some in read])
            entry = (rows, self._condition(learned, (path for path, *_ in rows)), value)
            # Some older ones stay: people go back and forth between branches.
            self.cache.put(key, (entry, *(self.cache.get(key) or ())[: _VARIANTS - 1]))
        return (value,)

    def _row(self, path: str, some: Portion | None) -> _Row:
        """What a result is kept with of one file: hundreds of parts read the same of it, and it is written once for all of them."""
        row = (path, self._now(path), tuple(some) if some is not None else None)
        return self._rows.setdefault(row, row)

    def _condition(self, learned: Sequence[Lesson], read: Iterable[str]) -> str:
        if not learned:
            return ""
        if learned is not self._told[0]:
            self._told = (learned, by_file(learned))
            self._conditions.clear()
        told = self._told[1]
        of = tuple([path for path in read if path in told])
        known = self._conditions.get(of)
        if known is None:
            # Neighbours read the same files of those that anything was learned about.
            known = self._conditions[of] = condition(of, told)
        return known

    def _holds(self, path: str, was: str | None, some: tuple[Any, ...] | None) -> bool:
        if was is not None and self._now(path) == was:
            return True
        return some is not None and self._same(path, Portion(*some))

    def _same(self, path: str, then: Portion) -> bool:
        """Whether a file that changed is as it was where it was read."""
        module = self.program.by_path.get(path)
        return module is not None and portions.digest(module, then.pieces, then.facts, then.placed) == then.digest

    def _now(self, path: str) -> str | None:
        """The hash of a file's content, or of what is said to a question to all files; None where nobody can ask it again."""
        if path not in self._known:
            self._known[path] = self._said(path) if path.startswith(MARK) else self._of_library(path)
        return self._known[path]

    def _of_library(self, path: str) -> str | None:
        libraries = self.program.libraries
        if self.cache is None or libraries is None or not libraries.holds(path):
            return None
        return self.cache.hash_at(path) or None

    def _said(self, name: str) -> str | None:
        question = Question.named(name)
        if question is None:
            return None
        return self._asked(name, question).comes_to

    def answers(self, scan: Callable[..., Any], *args: Any) -> Answers:
        """What all files say to a question of the run itself, on which no result depends."""
        question = Question(scan, args)
        return self._asked(question.path, question) if self.keeps else self.program.answers(scan, *args)

    def _asked(self, name: str, question: Question) -> Answers:
        """What all files say; of those that are as they were when they were last asked, what they said then."""
        assert self.cache is not None
        key = f"asked {name} {self.layout}"
        kept = self.cache.get(key)
        changed = self._changed_since(kept[0]) if kept is not None else frozenset()
        known = self.program.answered.get(question)
        if known is None:
            with self.program.unwatched():
                if kept is not None:
                    known = self._answers(question, kept[1], kept[2], changed)
                else:
                    known = Answers(sorted(question.of_all(self.program).items()))
            self.program.answered[question] = known
        if not known.comes_to:
            known.comes_to = digest(known)
        if kept is None or known.comes_to != kept[2] or len(changed) > _BEHIND:
            self.cache.put(key, (self.hashes, dict(known), known.comes_to))
        return known

    def _answers(self, question: Question, said: Mapping[str, Any], came_to: str, changed: frozenset[str]) -> Answers:
        """What all files say now, where they said this before some of them changed."""
        now = question.of([self.program.by_path[path] for path in changed & self.program.paths])
        if now != {path: said[path] for path in changed if path in said}:
            rest = {path: answer for path, answer in said.items() if path not in changed}
            return Answers(sorted((rest | now).items()))
        # Most edits change no answer.
        known = Answers(said)
        known.comes_to = came_to
        return known

    def _changed_since(self, then: Mapping[str, str]) -> frozenset[str]:
        """The files that held something else. Most questions were last asked in the same run."""
        if id(then) not in self._changed:
            changed = frozenset(path for path, now in self.hashes.items() if then.get(path) != now)
            self._changed[id(then)] = (then, changed)
        return self._changed[id(then)][1]

    def by_content(self, key: str, compute: Callable[[], Any]) -> Any:
        """A plain value that depends on nothing but its key: from the cache, or computed and put there."""
        if self.cache is None:
            return compute()
        value = self.cache.get(key)
        if value is None:
            value = compute()
            self.cache.put(key, value)
        return value


class _Indexes:
    """The indexes of files, by what they hold, and facts about them.

    As bytes: they are most of what is kept, and few are asked for where little changed.
    """

    def __init__(self, cache: Cache, hashes: Mapping[str, str], layout: str) -> None:
        self._cache = cache
        self._hashes = hashes
        self._layout = layout

    def recall(self, module: Module) -> Kept | None:
        now = self._hashes.get(module.path)
        data = self._cache.get(f"index {module.package} {now}") if now else None
        found: Kept | None = marshal.loads(data) if data is not None else None
        return found

    def keep(self, module: Module, kept: Kept) -> None:
        if now := self._hashes.get(module.path):
            self._cache.put(f"index {module.package} {now}", marshal.dumps(kept))

    def facts(self, module: Module) -> Facts:
        now = self._hashes.get(module.path)
        found: Facts | None = self._cache.get(self._facts_key(module, now)) if now else None
        return found or {}

    def keep_facts(self, module: Module, facts: Facts) -> None:
        if now := self._hashes.get(module.path):
            self._cache.put(self._facts_key(module, now), facts)

    def _facts_key(self, module: Module, now: str) -> str:
        # What an import means is for all files to say: a fact may have asked.
        return f"facts {self._layout} {module.path} {now}"


def condition(read: Iterable[str], told: Mapping[str, str]) -> str:
    """What was learned that matters to a result that was read from these files; empty where nothing does.

    `told`: what the lessons about each file come to. There are thousands of them, and they are asked of every part.
    """
    matter = [f"{path} {told[path]}" for path in (EVERYBODY, *read) if path in told]
    return digest_of(matter) if matter else ""


def by_file(learned: Sequence[Lesson]) -> dict[str, str]:
    """By file, what the lessons that speak of it come to."""
    digests: dict[str, list[str]] = {}
    for lesson in learned:
        for path in lesson.about or (EVERYBODY,):
            digests.setdefault(path, []).append(lesson.digest)
    return {path: digest_of(each) for path, each in digests.items()}
