"""What a value is, in the vocabulary of the facts: a tensor of floats of rank 2, a Python int, a tuple of tensors, an object.

The table writes a kind as one word (`Tf2`, `int`, `tuple[Tf2,Ti2]`, `object:re.Pattern`); `Kind.of` reads it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final

_HOLDERS: Final = {"T": "tensor", "P": "parameter", "N": "ndarray", "S": "scalar"}
_LETTERS: Final = frozenset("fdhijbcqso")
#: Kinds that are a Python number.
NUMBERS: Final = frozenset({"int", "float", "bool", "complex"})
#: Builtins that hand on the members of what they are given.
WALKERS: Final = frozenset({"list", "tuple", "iter", "reversed", "enumerate", "zip"})
#: What only mappings have.
MAPPING_METHODS: Final = frozenset({"get", "items", "keys"})


@dataclass(frozen=True)
class Kind:
    """One kind. `name` is tensor, parameter, ndarray, scalar (of numpy), int, float, bool, complex, str, bytes, none, dtype,
    device, layout, size, slice, range, type, module, function, namespace, generator, iterator, dict, set, list, tuple, object."""

    name: str
    #: f float32, d float64, h half or bfloat16, i int64, j another integer, b bool, c complex, q other, s text, o object
    dtype: str | None = None
    rank: int | None = None
    #: What a list or tuple holds, where that was seen; with `alike`, one kind for any number of members.
    members: tuple[Kind, ...] = ()
    alike: bool = False
    #: The full name of the class of an object.
    type_name: str | None = None

    @property
    def is_tensor(self) -> bool:
        return self.name in ("tensor", "parameter")

    @property
    def is_number(self) -> bool:
        return self.name in NUMBERS

    @property
    def holds_tensors(self) -> bool:
        """Whether it is a tensor, or a list or tuple with one in it."""
        return self.is_tensor or any(member.holds_tensors for member in self.members)

    def without_rank(self) -> Kind:
        """The same kind of any rank."""
        members = tuple(member.without_rank() for member in self.members)
        return Kind(self.name, self.dtype, None, members, self.alike, self.type_name)

    def joined(self, other: Kind) -> Kind | None:
        """What both are; None where they have nothing in common but being values."""
        if self == other:
            return self
        if self.name != other.name:
            return Kind("tensor") if self.is_tensor and other.is_tensor else None
        members: tuple[Kind, ...] = ()
        if len(self.members) == len(other.members) and self.alike == other.alike:
            pairs = [a.joined(b) for a, b in zip(self.members, other.members, strict=True)]
            members = tuple(pair for pair in pairs if pair is not None)
            members = members if len(members) == len(pairs) else ()
        return Kind(
            self.name,
            self.dtype if self.dtype == other.dtype else None,
            self.rank if self.rank == other.rank else None,
            members,
            self.alike and bool(members),
            self.type_name if self.type_name == other.type_name else None,
        )

    @staticmethod
    @functools.cache
    def of(word: str) -> Kind:
        """The kind that a word of the table stands for."""
        if word[0] in _HOLDERS and len(word) >= 2 and word[1] in _LETTERS and word[2:].isdigit() | (word[2:] == ""):
            return Kind(_HOLDERS[word[0]], word[1], int(word[2:]) if word[2:] else None)
        if word.startswith("object:"):
            return Kind("object", type_name=word[7:])
        name, opened, inside = word.partition("[")
        if not opened:
            return Kind(name)
        inside = inside[:-1]
        if inside.endswith("*"):
            return Kind(name, members=(Kind.of(inside[:-1]),), alike=True)
        return Kind(name, members=tuple(Kind.of(part) for part in split(inside)))


def split(text: str) -> list[str]:
    """The parts between commas that are outside brackets."""
    if "[" not in text:
        return text.split(",") if text else []
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
