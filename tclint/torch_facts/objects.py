"""What of objects that were made before compiled code runs Dynamo does not trace: by their type and by what is done to them.

`scripts/ask/objects.py` makes an object of each type and asks installed releases; `objects.json` is what they said.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tclint.torch_facts import facts


@dataclass(frozen=True)
class Table:
    releases: tuple[int, ...]
    #: Operation -> what happens to the object, in words.
    words: Mapping[str, str]
    #: Type -> operation -> the releases on which the graph breaks at it.
    types: Mapping[str, Mapping[str, str]]


_RAISES: Final = ", and torch fails"


@functools.cache
def table() -> Table:
    """What all releases said, loaded once."""
    loaded = json.loads(Path(__file__).with_name("objects.json").read_text(encoding="utf-8"))
    return Table(tuple(int(release.split(".")[1]) for release in loaded["releases"]), loaded["words"], loaded["types"])


@functools.cache
def types() -> frozenset[str]:
    """The types that were asked of, by the name of what makes one of them: `array.array`, `itertools.chain`, `zip`."""
    return frozenset(table().types)


def broken(type_: str, operation: str, release: str, raises: bool = False) -> str:
    """What happens to an object, in words, where the graph breaks at it on the release or the nearest one asked, or where torch
    itself fails; or nothing."""
    asked = table()
    where = asked.types.get(type_, {}).get(operation + (_RAISES if raises else ""), "")
    wanted = int(release.split(".")[1])
    nearest = min(asked.releases, key=lambda r: (abs(r - wanted), -r))
    return asked.words[operation] if where and facts.holds(where, nearest) else ""
