"""What a docstring says of the type of an argument: `channels (int): …`, `channels : list of int`, `:type channels: int`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_KINDS: tuple[tuple[str, Any], ...] = (
    (r"(?:list|tuple|sequence|iterable)s?\W*(?:of\s+)?(?:\w+\.)*floats?\b", list[float]),
    (r"(?:list|tuple|sequence|iterable)s?\W*(?:of\s+)?str", list[str]),
    (r"\btuple\b", tuple),
    (r"\b(?:list|sequence|iterable)\b", list[int]),
    (r"\bdict\b|\bconfigdict\b|\bmapping\b", dict),
    (r"\bbool(?:ean)?\b", bool),
    (r"\bint(?:eger)?s?\b", int),
    (r"\bfloats?\b", float),
    (r"\bstr(?:ing)?\b", str),
)


def kind_in(docs: Sequence[str], name: str) -> tuple[Any, bool]:
    """The kind of an argument by the first docstring that tells it, None where none does; and whether it may be None."""
    plain = re.escape(name)
    for doc in docs:
        for pattern in (
            rf"^\s*[*`]*{plain}[*`]*\s*\(([^)\n]*)\)\s*(?::|--|-)",
            rf"^\s*[*`]*{plain}[*`]*\s*:\s*([a-zA-Z][^\n.]{{0,60}})$",
            rf":type\s+{plain}:\s*([^\n]*)",
            rf":param\s+([\w\[\], .|]+?)\s+{plain}:",
        ):
            found = re.search(pattern, doc, re.MULTILINE)
            if found is not None:
                told = found[1].lower()
                kind = next((kind for word, kind in _KINDS if re.search(word, told)), None)
                return kind, "none" in told or "optional" in told
    return None, False
