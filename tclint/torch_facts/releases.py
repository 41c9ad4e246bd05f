"""Torch versions as the rules compare them: (major, minor). The newest one that was asked is named here and nowhere else."""

from __future__ import annotations

import re
from typing import Final

Version = tuple[int, int]

NEWEST: Final[Version] = (2, 15)
OLDEST: Final[Version] = (2, 4)
NEWEST_NAME: Final = ".".join(map(str, NEWEST))
OLDEST_NAME: Final = ".".join(map(str, OLDEST))

VERSION_NAMES: Final = frozenset({"torch.__version__", "torch.version.__version__"})
"""Under which names programs read which release they run with."""

_LEADING: Final = re.compile(r"v?(\d+(?:\.\d+)*)")
_NUMBER: Final = re.compile(r"(\d+)\.(\d+)")
_CLAUSE: Final = re.compile(r"(>=|<=|<|>|==)\s*(\d+)\.(\d+)$")


def parse(text: str) -> Version | None:
    """(2, 13) of "2.13.0+cpu", None where there is no version in the text."""
    found = _NUMBER.match(text.strip())
    return (int(found[1]), int(found[2])) if found else None


def matches(specifier: str, version: Version) -> bool:
    """Whether a version is in a range such as ">=2.6,<2.14"; an empty one holds for all."""
    for clause in filter(None, (c.strip() for c in specifier.split(","))):
        found = _CLAUSE.match(clause)
        if found is None:
            raise ValueError(f"not a version range: {clause!r}")
        bound = (int(found[2]), int(found[3]))
        holds = {
            ">=": version >= bound,
            "<=": version <= bound,
            "<": version < bound,
            ">": version > bound,
            "==": version == bound,
        }[found[1]]
        if not holds:
            return False
    return True


class VersionText(str):
    """A version as programs hold it: it is compared by its numbers, with texts and tuples, as `torch.__version__` is."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        # A text that is no version is another text; what is no text is something else.
        if not isinstance(other, str) or _LEADING.match(other) is None:
            return False
        return _numbers(self) == _numbers(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: object) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: object) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: object) -> bool:
        return _numbers(self) >= _numbers(other)


def _numbers(version: object) -> tuple[int, ...]:
    """The numbers of a version, without the zeros at its end. What is none cannot be compared with one."""
    found = _LEADING.match(version) if isinstance(version, str) else None
    if found is None:
        raise TypeError(f"not a version: {version!r}")
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
