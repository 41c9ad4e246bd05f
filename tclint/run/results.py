"""What the parts of a run give, and the same as plain values, for the store and for other processes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tclint.model.finding import Finding
from tclint.model.report import Problem
from tclint.program import FunctionPlace
from tclint.run.knowledge import Lesson
from tclint.run.store import decode, encode

SitePlace = tuple[str, int]
_LINE: Final = re.compile(r"([^\s`'\"(]+):\d")
"""A line of a file in a text: `train.py:40`."""
_OWN_LINE: Final = re.compile(r"\blines? \d")
"""The same of the finding's own file."""


class Brief(NamedTuple):
    """What of a finding says which of several at a place is told: most are found by many parts, and read for that alone."""

    place: tuple[str, int, int, str]
    """The file, the line, the column, the code."""
    start: tuple[str, str] | None
    """What its chain begins with: a file, and the text of the step."""
    ground: int
    confidence: int
    certain: int
    severity: int

    @classmethod
    def of(cls, finding: Finding) -> Brief:
        start = (finding.chain[0].path, finding.chain[0].text) if finding.chain else None
        return cls(finding.sort_key[:4], start, finding.ground, *finding.standing)


class Found:
    """A finding, and where in which text it stands: the same function may stand in several files."""

    __slots__ = ("_finding", "_kept", "brief", "copy")

    def __init__(self, finding: Finding, copy: tuple[str, int, int] | None) -> None:
        self.brief = Brief.of(finding)
        self.copy = copy
        self._finding: Finding | None = finding
        self._kept: Any = None

    @property
    def finding(self) -> Finding:
        if self._finding is None:
            self._finding = decode(self._kept)
        return self._finding

    def packed(self) -> Any:
        """As plain values."""
        kept = self._kept if self._kept is not None else encode(self.finding)
        return (tuple(self.brief), kept, self.copy)

    @classmethod
    def unpacked(cls, value: Any) -> Found:
        """The same again. The finding is made when somebody asks for it."""
        made = cls.__new__(cls)
        brief, made._kept, made.copy = value
        made.brief = Brief(*brief)
        made._finding = None
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Found) and (self.finding, self.copy) == (other.finding, other.copy)

    def __hash__(self) -> int:
        return hash((self.brief, self.copy))


@dataclass(slots=True)
class Result:
    """What a part gave."""

    found: list[Found] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    reached: set[FunctionPlace] = field(default_factory=set)
    sites: list[tuple[str, int, str, str]] = field(default_factory=list)
    reach: dict[SitePlace, set[FunctionPlace]] = field(default_factory=dict)
    whole: set[FunctionPlace] = field(default_factory=set)
    """What is compiled with `fullgraph=True`."""
    unresolved: dict[SitePlace, str] = field(default_factory=dict)
    """The sites of which nobody knows what they compile, and why."""
    unread: dict[SitePlace, str] = field(default_factory=dict)
    """The sites of which a part is known, and the name of what is not."""
    unfollowed: dict[FunctionPlace, tuple[str, ...]] = field(default_factory=dict)
    """By the functions that call it, what may be any module."""
    handing: dict[SitePlace, tuple[str, ...]] = field(default_factory=dict)
    """By the sites that compile what others hand over, the functions of which nobody knows what they do."""
    blind: set[FunctionPlace] = field(default_factory=set)
    """What was reached by calls alone of which nobody knows the arguments: it is still to be entered by its signature."""
    below: set[str] = field(default_factory=set)
    """The libraries that nobody read and whose classes stand below those of what was reached."""

    def packed(self) -> Any:
        """As plain values, for the cache and for other processes."""
        found = tuple([each.packed() for each in self.found])
        problems = encode(tuple(self.problems))
        sites = (self.sites, self.reach, self.whole, self.unresolved, self.unread, self.unfollowed, self.handing)
        return (found, problems, self.reached, *sites, self.blind, self.below)

    def placed(self, odd: Iterable[str] = ()) -> tuple[set[str], set[str]]:
        """The files of which it names lines: of what was read, and of what it may only have been told.

        `odd`: paths that cannot be told from the text around them.
        """
        read = {finding.path for finding in (each.finding for each in self.found)}
        told = {problem.path for problem in self.problems} | {site[0] for site in self.sites}
        told.update(path for path, _ in (*self.reach, *self.unresolved, *self.unread, *self.handing))
        for finding in (each.finding for each in self.found):
            # A chain begins with the site, where there is one.
            told.update(step.path for step in finding.chain[:1])
            read.update(step.path for step in finding.chain[1:])
            texts = [finding.message, finding.help, *finding.graph_breaks, *(label.text for label in finding.labels)]
            if finding.fix is not None:
                told.update(edit.path for edit in finding.fix.edits)
                texts += [finding.fix.title, finding.fix.note]
            told.update(path for text in texts for path in _LINE.findall(text))
            if any(map(_OWN_LINE.search, texts)):
                told.add(finding.path)
            told.update(path for path in odd if any(f"{path}:" in text for text in texts))
        return read, told

    @staticmethod
    def is_odd(path: str) -> bool:
        """Whether a path cannot be told from the text around it."""
        return _LINE.fullmatch(f"{path}:1") is None

    @classmethod
    def unpacked(cls, value: Any) -> Result:
        if isinstance(value, cls):
            return value
        found, problems, *rest = value
        return cls([Found.unpacked(each) for each in found], list(decode(problems)), *rest)


@dataclass(frozen=True, slots=True)
class Root:
    """A class whose forward may be entered: its address in the file, its name, and the place of its own forward."""

    address: str
    name: str
    place: FunctionPlace | None


@dataclass(frozen=True, slots=True)
class EnteredFile:
    """A file that was read and whose outermost roots were entered."""

    problem: Problem | None
    roots: tuple[Root, ...]
    entered: tuple[str, ...]
    """The roots that count as outermost: nobody builds a class of that name."""
    alone: bool
    """No file outside the part leads there: what the outermost roots left was entered too."""

    def roots_left(self, reached: Container[FunctionPlace]) -> tuple[str, ...]:
        """The roots that are still to be entered."""
        return tuple(
            root.address
            for root in self.roots
            if root.address not in self.entered and (root.place is None or root.place not in reached)
        )


@dataclass(slots=True)
class Entered:
    """What the part "outermost" gave: some files read and entered while their trees are in memory."""

    files: list[EnteredFile]
    result: Result

    def packed(self) -> Any:
        files = [
            (encode(f.problem), [(r.address, r.name, r.place) for r in f.roots], f.entered, f.alone) for f in self.files
        ]
        return files, self.result.packed()

    @classmethod
    def unpacked(cls, value: Any) -> Entered:
        if isinstance(value, cls):
            return value
        files = [EnteredFile(decode(row[0]), tuple(Root(*root) for root in row[1]), *row[2:]) for row in value[0]]
        return cls(files, Result.unpacked(value[1]))


@dataclass(slots=True)
class Sites:
    """What the compile sites of the program say about the rest of it."""

    result: Result
    precise: list[str] = field(default_factory=list)
    """Files with a site that compiles a model which is in sight. One that compiles a helper, or a method beside `forward`,
    says nothing about other models."""
    unresolved: list[str] = field(default_factory=list)
    """Files with a site of which nobody knows what it compiles: it may be anything that is linked with them."""
    within: list[str] = field(default_factory=list)
    """The same where the site stands in a method of a module: it is something that the file defines or imports."""
    partly: list[FunctionPlace] = field(default_factory=list)
    """The methods that are compiled by themselves: the others of their classes are not."""
    learned: list[Lesson] = field(default_factory=list)
    """What other parts are interpreted with."""
    ties: list[tuple[str, str]] = field(default_factory=list)
    """Files, each with one of which it was given something (see `leading`)."""

    def packed(self) -> Any:
        learned = [tuple(lesson) for lesson in self.learned]
        return (
            self.result.packed(),
            self.precise,
            self.unresolved,
            self.within,
            self.partly,
            learned,
            self.ties,
        )

    @classmethod
    def unpacked(cls, value: Any) -> Sites:
        result, precise, unresolved, within, partly, learned, ties = value
        lessons = [Lesson(*row) for row in learned]
        return cls(Result.unpacked(result), precise, unresolved, within, partly, lessons, ties)
