"""How much of a file a result was read from: all of it, or some of its definitions and facts about it.

Most edits change one function, or add a name. What was read from others, and asked no more of the file than an edit leaves as it is,
holds, wherever that stands now: where it stands counts for those alone who say so (`Lines`).
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tclint.program.symbols import Class, Function

if TYPE_CHECKING:
    from tclint.program.module import Module


class Outline:
    """A file without the bodies of its functions: all that it defines, in order."""

    __slots__ = ("module",)

    def __init__(self, module: Module) -> None:
        self.module = module


class Named:
    """What a name of a file's top level is bound to, or that it is not. Without a name: the statements that bind none by themselves."""

    __slots__ = ("module", "name")

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name


class Asked(dict[str, Named]):
    """The names of a file that somebody asked for."""

    __slots__ = ("module",)

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.module = module

    def __missing__(self, name: str) -> Named:
        made = self[name] = Named(self.module, name)
        return made


class Lines:
    """Where that stands which was read of a file: for a result that names lines of it."""

    __slots__ = ("module",)

    def __init__(self, module: Module) -> None:
        self.module = module


class Fact:
    """What a function makes of a whole file. Whoever asks depends on what comes out."""

    __slots__ = ("module", "name")

    def __init__(self, module: Module, build: Callable[[Module], Any]) -> None:
        self.module = module
        self.name = f"{build.__module__} {build.__qualname__}"


class Portion(NamedTuple):
    """What of a file was read, where it was not all of it: as plain values, with what that comes to."""

    pieces: bytes
    """Their numbers (see `_number`)."""
    facts: tuple[str, ...]
    """The names of the functions that made them."""
    placed: bool
    """Whether it counts where that stands."""
    digest: str


Read = tuple[str, Portion | None]
"""A file, or a question to all of them, and what of it was read; None for all."""


def reads(touched: Iterable[Any]) -> list[Read]:
    """What was touched (see `Program.touched`), as plain values."""
    whole: dict[str, None] = {}
    partly: dict[Module, tuple[set[int], list[str], list[Lines]]] = {}
    for each in touched:
        if isinstance(each, (Outline, Named, Function, Class, Fact, Lines)):
            pieces, facts, placed = partly.setdefault(each.module, (set(), [], []))
            if isinstance(each, Fact):
                facts.append(each.name)
            elif isinstance(each, Lines):
                placed.append(each)
            else:
                pieces.update(_numbers(each))
        else:
            whole[each.path] = None
    rows: list[Read] = [(path, None) for path in whole]
    for module, (pieces, facts, placed) in partly.items():
        if module.path not in whole:
            numbers, names = array("Q", sorted(pieces)).tobytes(), tuple(sorted(facts))
            now = digest(module, numbers, names, bool(placed))
            rows.append((module.path, Portion(numbers, names, bool(placed), now) if now is not None else None))
    return sorted(rows, key=lambda row: row[0])


def _numbers(each: Outline | Named | Function | Class) -> Iterator[int]:
    """The pieces that one brings with it."""
    if isinstance(each, Named):
        yield _number(_NAME, each.name)
    elif isinstance(each, Outline):
        yield _number(_ALL, "")
    else:
        yield _number(_DEFINED, each.address)
        # What a method is depends on its class: which others there are, and what it is derived from.
        if isinstance(each, Function) and each.cls is not None:
            yield _number(_DEFINED, each.cls.address)


_ALL: Final = "all"
_NAME: Final = "name"
_DEFINED: Final = "defined"
_known: dict[tuple[str, str], int] = {}


def _number(kind: str, name: str) -> int:
    """A piece as a number, the same in every process and wherever the piece stands; also one that is not there."""
    number = _known.get((kind, name))
    if number is None:
        text = f"{kind} {name}".encode("utf-8", "surrogatepass")
        number = _known[kind, name] = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
    return number


def digest(module: Module, pieces: bytes, facts: tuple[str, ...], placed: bool) -> str | None:
    """What some pieces of a file and some facts come to; None where that cannot be said."""
    told = module.program.digested.get((module.path, pieces, facts, placed))
    if told is not None:
        return told
    with module.program.unwatched():
        known = module.index(_pieces)
        if module.problem is not None:
            return None
        made = [_fact(module, name) for name in facts]
    if None in made:
        return None
    texts = [known[_number(_NAME, "")].text]
    numbers = _in_order(known, pieces)
    for number in numbers:
        piece = known[number]
        texts.append(f"{number} {piece.text} {piece.places if placed else ''}")
    stories = [each for each in made if each is not None]
    # Of expressions, too, it counts where they stand for those alone who say so, and for the others what stands before them.
    order = sorted({*(known[number].first for number in numbers), *(line for each in stories for line in each.lines)})
    for each in stories:
        places = each.lines if placed else [bisect_left(order, line) for line in each.lines]
        texts.append(f"{each.text} {','.join(map(str, places))}")
    return _hash("\n".join(texts).encode())


def _in_order(known: Mapping[int, _Piece], pieces: bytes) -> list[int]:
    """Those of some pieces that are there, as they stand in the file."""
    return [number for _, number in sorted((known[n].first, n) for n in array("Q", pieces) if n in known)]


def spans(module: Module, pieces: bytes) -> bytes:
    """The first and last lines of all that some pieces hold. Where they come to the same, in whichever lines, there are as many."""
    with module.program.unwatched():
        known = module.index(_pieces)
    numbers = [_number(_NAME, ""), *_in_order(known, pieces)]
    return array("L", (line for number in numbers for span in known[number].spans for line in span)).tobytes()


def moved(old: bytes, new: bytes) -> dict[int, int]:
    """By the lines that some pieces stood on, those on which they stand now. Only if they come to the same."""
    found: dict[int, int] = {}
    before, after = array("L", old), array("L", new)
    if len(before) != len(after):
        raise LookupError("not the same pieces")
    for first, last, now in zip(before[::2], before[1::2], after[::2], strict=True):
        for line in range(first, last + 1):
            if found.setdefault(line, now + line - first) != now + line - first:
                raise LookupError(line)  # two statements that stood on one line: nobody knows whose it was
    return found


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# -- the pieces of a file ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Piece:
    """A definition, the definitions of a name, or all of them: what it says, and where."""

    first: int
    text: str
    places: str
    spans: tuple[tuple[int, int], ...]
    """The first and last lines of its text. Of a function in an outline only the name is text, and that has none."""


@dataclass(slots=True)
class _Making:
    """A piece in the making."""

    text: list[bytes] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def add(self, text: Iterable[bytes], lines: Iterable[int], spans: Iterable[tuple[int, int]]) -> None:
        self.text += text
        self.lines += lines
        self.spans += spans

    def made(self) -> _Piece:
        first = self.lines[0] if self.lines else 0
        return _Piece(first, _hash(b"\0".join(self.text)), ",".join(map(str, self.lines)), tuple(self.spans))


_ENCODED: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=].*", re.MULTILINE)


def _pieces(module: Module) -> Mapping[int, _Piece]:
    """By number, the pieces of a file."""
    index = module.indexed_again()
    within = _Within(module)
    made: dict[int, _Making] = {}
    every, rest = _Making(), _Making()
    # The first two lines may say how the rest is encoded.
    rest.text += _ENCODED.findall(module.peek(1, 2))
    rest.text.append(repr(sorted(module.rebound)).encode())
    loose = 0  # statements that bind no name by themselves: a name is bound before or after each of them
    for names, first, last in index.statements:
        text, lines, spans = within.outline(first, last)
        every.add(text, lines, spans)
        if names is None:
            loose += 1
            rest.add(text, lines, spans)
        for name in names or ():
            made.setdefault(_number(_NAME, name), _Making()).add([b"%d" % loose, *text], lines, spans)
    for address, definition in index.by_address.items():
        first, last, _ = index.spans[definition.ordinal]
        piece = made[_number(_DEFINED, address)] = _Making()
        if isinstance(definition, Class):
            # Who names a line of a method has read that one: where the others stand is nothing to him.
            text, lines, spans = within.outline(first, last)
            piece.add(text, [line for line in lines if not within.is_function(line)], spans)
        else:
            piece.add([module.peek(first, last)], [first], [(first, last)])
    made[_number(_NAME, "")] = rest
    made[_number(_ALL, "")] = every
    return {number: piece.made() for number, piece in made.items()}


class _Within:
    """Looks up what of a file's outline stands on some lines."""

    def __init__(self, module: Module) -> None:
        self._module = module
        index = module.indexed_again()
        self._segments = index.outline
        self._starts = [first for first, _ in self._segments]
        functions = [(f.line, index.spans[number][1], f.address) for number, f in index.by_ordinal.items()]
        self._functions = sorted(functions)
        self._heads = [first for first, *_ in self._functions]

    def outline(self, first: int, last: int) -> tuple[list[bytes], list[int], list[tuple[int, int]]]:
        """What stands there outside of functions, and the names of these; on which lines; and from where to where that goes."""
        functions = self._functions[bisect_left(self._heads, first) : bisect_right(self._heads, last)]
        found = [(head, b"def " + address.encode("utf-8", "surrogatepass"), 0) for head, _, address in functions]
        for line, end in self._segments[bisect_left(self._starts, first) : bisect_right(self._starts, last)]:
            # A compound statement may hold functions.
            held = slice(bisect_left(self._heads, line), bisect_right(self._heads, end)) if line < end else slice(0)
            for head, foot, _ in self._functions[held]:
                if line < head:
                    found.append((line, self._module.peek(line, head - 1), head - 1))
                line = foot + 1
            if line <= end:
                found.append((line, self._module.peek(line, end), end))
        found.sort(key=lambda each: each[0])
        spans = [(line, last) for line, _, last in found if last]
        return [text for _, text, _ in found], [line for line, *_ in found], spans

    def is_function(self, line: int) -> bool:
        place = bisect_left(self._heads, line)
        return place < len(self._heads) and self._heads[place] == line


# -- facts ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Story:
    """What a fact comes to: a text, wherever its expressions stand, and the lines on which these begin."""

    text: str
    lines: tuple[int, ...]


def _fact(module: Module, name: str) -> _Story | None:
    """What a fact about a file comes to; None where whoever made it is not loaded, or it is nothing that can be compared."""
    known = module.index(_facts)
    if name not in known:
        home, function = name.split(" ")
        build = getattr(sys.modules.get(home), function, None)
        lines: list[int] = []
        text = _plain(module.index(build), lines) if callable(build) else None
        known[name] = _Story(_hash(text.encode("utf-8", "surrogatepass")), tuple(lines)) if text is not None else None
    return known[name]


def _facts(module: Module) -> dict[str, _Story | None]:
    """What was asked before."""
    return {}


def _plain(value: Any, lines: list[int]) -> str | None:
    """A value as text that is the same in every process; None of one that has no such text. On which lines its expressions begin
    is added to the `lines`: in the text they count from there."""
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        return repr(value)
    if isinstance(value, ast.AST):
        first: int = getattr(value, "lineno", 0)
        lines.append(first)
        return _dumped(value, first)
    if is_dataclass(value):
        parts = [_plain(getattr(value, field.name), lines) for field in fields(value)]
    elif kind is dict:
        parts = [each for pair in value.items() for each in (_plain(part, lines) for part in pair)]
    elif kind in (set, frozenset):
        # They have no order of their own.
        told: list[tuple[str | None, list[int]]] = []
        for each in value:
            mine: list[int] = []
            told.append((_plain(each, mine), mine))
        told.sort(key=lambda row: (row[0] or "", row[1]))
        parts = [text for text, _ in told]
        lines += [line for _, mine in told for line in mine]
    elif kind in (tuple, list):
        parts = [_plain(each, lines) for each in value]
    else:
        return None
    if None in parts:
        return None
    return f"{kind.__name__}({', '.join(part for part in parts if part is not None)})"


def _dumped(node: Any, first: int) -> str:
    """A node as text, with the lines counted from one."""
    if isinstance(node, list):
        return f"[{', '.join(_dumped(each, first) for each in node)}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    held = [_dumped(getattr(node, name, None), first) for name in node._fields]
    if "lineno" in node._attributes:
        held += (
            f"{line - first if line else line}"
            for line in (getattr(node, "lineno", None), getattr(node, "end_lineno", None))
        )
        held += (f"{getattr(node, name, None)}" for name in ("col_offset", "end_col_offset"))
    return f"{type(node).__name__}({', '.join(held)})"
