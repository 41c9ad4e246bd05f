"""What torch does, asked by release: the one place that knows.

    torch = facts.at("2.11")
    torch.call("torch.nonzero").breaks          # "always"
    torch.method("tensor", "item").result       # a Python number
    torch.attribute("tensor", "shape").result   # a size
    torch.names(reads_number)                   # every name with an effect that was measured
    torch.named("reads a clock")                # every name with an effect that cannot be: overlay.json has them

A name that no release was asked about is unknown: None, never a guess. `scripts/ask` makes the table, `overlay` holds
what cannot be asked.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from tclint.torch_facts import index_groups, overlay, releases
from tclint.torch_facts.answer import Answer, Burned
from tclint.torch_facts.form import Argument, Form, parse

T = TypeVar("T")

#: The newest release that was asked, and the oldest.
NEWEST: Final = releases.NEWEST_NAME
OLDEST: Final = releases.OLDEST_NAME
#: Other names of a kind of receiver.
KINDS: Final = {
    "torch.Tensor": "tensor",
    "numpy.ndarray": "ndarray",
    "numpy.random.Generator": "numpy.random._generator.Generator",
    "numpy.random.RandomState": "numpy.random.mtrand.RandomState",
    "Generator": "numpy.random._generator.Generator",
    "RandomState": "numpy.random.mtrand.RandomState",
    "torch.Generator": "torch._C.Generator",
    "torch.Size": "size",
    "torch.dtype": "dtype",
    "torch.device": "device",
    "torch.nn.Module": "module",
    "pathlib.Path": "pathlib.PosixPath",
    "frozenset": "set",
}


@dataclass(frozen=True)
class Table:
    """The whole table, as text; a name is read when it is asked for."""

    releases: tuple[int, ...]
    #: Releases that were asked which numbers are burned in.
    numbers: tuple[int, ...]
    names: dict[str, str]


@functools.cache
def table() -> Table:
    """The table of all releases, loaded once."""
    text = Path(__file__).with_name("table.json").read_text(encoding="utf-8")
    loaded = json.loads(text)
    about = loaded["about"]
    return Table(
        tuple(int(r.split(".")[1]) for r in about["releases"]),
        tuple(int(r.split(".")[1]) for r in about["numbers"]),
        loaded["names"],
    )


@functools.cache
def at(version: str) -> Release:
    """The facts of a release: "2.11", "2.11.0+cu130". Below the oldest or above the newest: the nearest, with a note."""
    told = re.match(r"(\d+)\.(\d+)", version)
    if told is None:
        raise ValueError(f"not a torch version: {version!r}")
    major, wanted = int(told[1]), int(told[2])
    if major != 2:
        wanted = 0 if major < 2 else 10_000
    known = table().releases
    nearest = min(known, key=lambda release: (abs(release - wanted), -release))
    note = None
    if nearest != wanted:
        where = "older than" if wanted < known[0] else "newer than" if wanted > known[-1] else "not among"
        note = f"torch {version} is {where} the releases that were asked (2.{known[0]} to 2.{known[-1]}): read as 2.{nearest}"
    return Release(f"2.{nearest}", note)


@dataclass(frozen=True)
class Release:
    """The facts of one release."""

    version: str
    #: Why these are not the facts of the version that was asked for.
    note: str | None = None

    @property
    def _minor(self) -> int:
        return int(self.version.split(".")[1])

    def call(self, name: str) -> Answer | None:
        """What is known of a function or class by its dotted name; a bare name is a builtin."""
        return _answer(canonical(name), self._minor)

    def method(self, kind: str, name: str) -> Answer | None:
        """What is known of a method of a kind of object (`tensor`, `ndarray`, `str`, or the full name of its class)."""
        return _answer(f"{KINDS.get(kind, kind)}#{name}", self._minor)

    def attribute(self, kind: str, name: str) -> Answer | None:
        """What is known of an attribute that is not called."""
        return _answer(f"{KINDS.get(kind, kind)}@{name}", self._minor)

    def module(self, name: str) -> Answer | None:
        """What is known of calling an object of a class of torch.nn, by the dotted name of the class."""
        return _answer(f"{canonical(name)}#__call__", self._minor)

    def names(self, effect: Effect) -> frozenset[str]:
        """Every key with this effect: `torch.nonzero`, `tensor#item`, `tensor@shape`."""
        return _names(effect, self._minor)

    def named(self, effect: str) -> tuple[str, ...]:
        """Every name, as events carry them, with an effect that is written by hand."""
        return overlay.named(effect, self._minor)

    def answers(self) -> Iterator[Answer]:
        """Every answer, in the order of the table."""
        for key in dict.fromkeys([*table().names, *overlay.names()]):
            found = _answer(key, self._minor)
            if found is not None:
                yield found


@dataclass(frozen=True)
class Places:
    """Some arguments of a call: those at these positions (of a method: without the receiver) or by these keywords."""

    positions: tuple[int, ...]
    keywords: tuple[str, ...]
    #: All positional arguments.
    every: bool = False

    def within(self, count: int) -> tuple[int, ...]:
        """The positions that a call with so many arguments has."""
        return tuple(range(count)) if self.every else tuple(p for p in self.positions if p < count)

    def given(self, args: Sequence[T], keywords: Mapping[str, T]) -> list[T]:
        """What a call gives there."""
        values = [args[position] for position in self.within(len(args))]
        return [*values, *(keywords[name] for name in self.keywords if name in keywords)]

    @staticmethod
    def of(words: str) -> Places:
        each = words.split(",")
        numbers = tuple(int(word) for word in each if word.isdigit())
        return Places(numbers, tuple(w for w in each if w and w != "*" and not w.isdigit()), "*" in each)


Effect = Callable[[Answer], bool]
#: Other spellings of the same objects.
_SPELLINGS: Final = (
    (re.compile(r"torch\.Tensor\.(\w+)$"), r"tensor#\1"),
    (re.compile(r"numpy\.ndarray\.(\w+)$"), r"ndarray#\1"),
    (re.compile(r"(?:builtins\.)?(str|bytes|int|float|list|tuple|dict|set)\.(\w+)$"), r"\1#\2"),
    (re.compile(r"torch\.nn\.modules\.\w+\.(\w+)$"), r"torch.nn.\1"),
    (re.compile(r"torch\.functional\.(\w+)$"), r"torch.\1"),
)


@functools.cache
def canonical(name: str) -> str:
    """The key of a dotted name: a bare name is a builtin, an unbound method is that of its kind."""
    if "." not in name:
        return name if "#" in name or "@" in name else f"builtins.{name}"
    for spelling, key in _SPELLINGS:
        if spelling.match(name):
            return spelling.sub(key, name)
    return name


def callable_somewhere(name: str) -> bool:
    """Whether some release was seen to call what has this name: where it is there at all, it is not None."""
    return canonical(name) in table().names


def has(name: str, version: str) -> bool:
    """Whether a release surely has a name: it was asked about there, or is a module of what was."""
    release = at(version)
    return release.call(name) is not None or name in _modules(release.version)


@functools.cache
def _modules(version: str) -> frozenset[str]:
    minor = int(version.split(".")[1])
    keys = (key for key, text in table().names.items() if "#" not in key and "@" not in key and _told(text, minor))
    return frozenset(part for key in keys for part in itertools.accumulate(key.split(".")[:-1], "{}.{}".format))


def _told(text: str, release: int) -> bool:
    """Whether a line of the table says something of a release."""
    return any(holds(where(line)[0], release) for line in text.split(" ; "))


def named(effect: str) -> tuple[str, ...]:
    """Every name, as events carry them, that has an effect by hand on some release: `torch.save`, `Tensor.item`, `tqdm.*`."""
    return overlay.named(effect)


@functools.cache
def knows_package(name: str) -> bool:
    """Whether callables of a package were asked: torch, numpy, the standard library."""
    return name in _packages()


@functools.cache
def _packages() -> frozenset[str]:
    """What stands before a dot in the names of the table."""
    return frozenset(
        part for key in table().names for part in itertools.accumulate(key.split(".")[:-1], "{}.{}".format)
    )


@functools.cache
def speaks_for(package: str) -> bool:
    """Whether what is known of a package is known of all of it, so that nobody need read its text."""
    return knows_package(package) or any(whole == package or whole.startswith(f"{package}.") for whole in _whole())


@functools.cache
def speaks_of(name: str) -> bool:
    """Whether something is known of calling what has this dotted name, or an object of it."""
    return name in _written() or f"{name}.__call__" in _written() or speaks_for(name.partition(".")[0])


@functools.cache
def shown(name: str) -> str:
    """The name under which something is known of what a library defines in a file of its own and shows a folder up:
    `library.nn.conv.gcn_conv.GCNConv` is `library.nn.conv.GCNConv`, `library.transforms._transforms.Resample` is `library.transforms.Resample`."""
    *folders, file, last = name.split(".")
    if not folders or knows_package(folders[0]) or not (names := _in_package(folders[0])):
        return name
    plain = file.strip("_").replace("_", "")
    if not last.lower().startswith(plain) and plain != folders[-1].replace("_", ""):
        return name  # another part of the library, which may have one of the same name: `transforms.v2`
    upper = ".".join((*folders, last))
    return upper if name not in names and upper in names else name


@functools.cache
def _in_package(package: str) -> frozenset[str]:
    return frozenset(n.removesuffix(".__call__") for n in _written() if n.startswith(f"{package}."))


@functools.cache
def _written() -> frozenset[str]:
    by_effect = (name for effect in overlay.effects() for name in overlay.named(effect))
    return frozenset((*by_effect, *index_groups.CALLS))


@functools.cache
def _whole() -> frozenset[str]:
    """The packages of which something is said as a whole: `tqdm.*`, `scipy.`. What they may be given says nothing of what they do."""
    ends = (".*", ".")
    told = _written().difference(named("takes tensors alone"))
    return frozenset(n.removesuffix("*").removesuffix(".") for n in told if n.endswith(ends) and n.count(".") == 1)


@functools.cache
def methods(effect: str) -> frozenset[str]:
    """The last parts of those names."""
    return frozenset(name.rpartition(".")[2] for name in overlay.named(effect))


@functools.cache
def places(effect: str) -> dict[str, Places]:
    """For an effect on arguments, where these stand: `torch.narrow:2,3,start,length`."""
    return {name: Places.of(words) for name, _, words in (word.partition(":") for word in overlay.named(effect))}


def changed(key: str) -> tuple[str, ...]:
    """The releases on which a name behaves otherwise than on the one before that knows it."""
    found: list[str] = []
    before: Answer | None = None
    for release in table().releases:
        answer = _answer(key, release)
        if answer is None:
            continue
        if before is not None and not _alike(before, answer):
            found.append(f"2.{release}")
        before = answer
    return tuple(found)


def breaks_until(key: str) -> str | None:
    """The last release on which a name breaks in some way, where later ones were asked and do not."""
    known = table().releases
    told = [(answer := _answer(key, release)) is not None and answer.breaks != "never" for release in known]
    if True not in told or told[-1]:
        return None
    return f"2.{max(release for release, breaks in zip(known, told, strict=True) if breaks)}"


def breaks_since(key: str) -> str | None:
    """The first release on which a name breaks in some way, where earlier ones knew the name and did not."""
    known = table().releases
    answers = [_answer(key, release) for release in known]
    told = [answer is not None and answer.breaks != "never" for answer in answers]
    if True not in told or not told[-1]:
        return None
    first = told.index(True)
    before = [answer for answer in answers[:first] if answer is not None]
    return f"2.{known[first]}" if before else None


def _alike(old: Answer, new: Answer) -> bool:
    """Whether two releases do the same in every way of calling that both know."""
    before, after = (_behaviour(answer) for answer in (old, new))
    return all(before[arguments] == after[arguments] for arguments in before.keys() & after.keys())


def _behaviour(answer: Answer) -> dict[tuple[Argument, ...], set[tuple[str, str]]]:
    found: dict[tuple[Argument, ...], set[tuple[str, str]]] = {}
    for form in answer.forms:
        found.setdefault(form.arguments, set()).add((form.outcome, form.result.name))
    return found


def by_hand(key: str) -> tuple[Form, ...]:
    """The forms of a name that are written by hand, for any release."""
    method = "#" in key or "@" in key
    return tuple(parse(form, method) for item in overlay.ENTRIES if item.key == key for form in item.forms)


@functools.cache
def _answer(key: str, release: int) -> Answer | None:
    method = "#" in key or "@" in key
    by_hand = overlay.entry(key, release)
    if by_hand is not None:
        return Answer(key, tuple(parse(form, method) for form in by_hand.forms), (), by_hand.reason)
    text = table().names.get(key)
    if text is None:
        return None
    forms: list[Form] = []
    burned: list[Burned] = []
    numbers = _nearest(table().numbers, release)
    for line in text.split(" ; "):
        releases, line = where(line)
        if line[0] == "#":
            if numbers is not None and holds(releases, numbers):
                burned.append(_burned(line))
        elif holds(releases, release):
            forms.append(parse(line, method))
    return Answer(key, tuple(dict.fromkeys(forms)), tuple(burned)) if forms else None


def _nearest(known: tuple[int, ...], release: int) -> int | None:
    return min(known, key=lambda other: (abs(other - release), -other)) if known else None


def where(line: str) -> tuple[str, str]:
    """The releases of a line of the table, as `holds` reads them, and the rest of it."""
    if line[0] != "[":
        return "", line
    releases, _, rest = line[1:].partition("]")
    return releases, rest


@functools.cache
def holds(where: str, release: int) -> bool:
    """Whether `4-9,11` holds the release; nothing holds every one."""
    if not where:
        return True
    for run in where.split(","):
        first, _, last = run.partition("-")
        if int(first) <= release <= int(last or first):
            return True
    return False


def _burned(line: str) -> Burned:
    type_, place, keyword = line[1:].split(" ")
    return Burned(type_, None if place == "-" else int(place), None if keyword == "-" else keyword)


@functools.cache
def _names(effect: Effect, release: int) -> frozenset[str]:
    found = set()
    for key in dict.fromkeys([*table().names, *overlay.names()]):
        answer = _answer(key, release)
        if answer is not None and effect(answer):
            found.add(key)
    return frozenset(found)
