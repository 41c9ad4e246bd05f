"""Ignore files as git reads them: a line that says nothing is passed over, and no line takes for ever."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Final

from tclint.sources import regular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathspec import GitIgnoreSpec

_STAR: Final = "[^/]*"
_MANY: Final = 3
"""Stars in a line from which on the ways to share a name among them are worth counting."""
_FOLDERS: Final = 4
"""`**` in a line: nobody writes more, and each multiplies the ways to read a path."""


def read(path: str) -> GitIgnoreSpec | None:
    """What an ignore file says; None where there is none, or nothing in it."""
    try:
        data = regular.read(path)
    except OSError:
        # It vanished, or may not be read: git goes on without it too.
        return None
    if data is None:
        return None
    lines = data.decode("utf-8", "replace").splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("#") and line.count("**") <= _FOLDERS]
    if not lines:
        return None
    with warnings.catch_warnings():
        # `[[:alpha:]]` is for git to understand, and no concern of who lints.
        warnings.simplefilter("ignore")
        return _spec(lines)


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        spec = GitIgnoreSpec.from_lines([line for line in lines if _understood(line)])
    for pattern in spec.patterns:
        text = pattern.regex.pattern if pattern.regex is not None else ""
        if text.count(_STAR) >= _MANY:
            pattern.regex = re.compile(_without_choice(text))
    return spec


def _understood(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _without_choice(text: str) -> str:
    """The same pattern, in which each star but the last takes as little as it can and is never asked again.

    What follows a star is found at its first place; if the rest does not fit from there on, it fits from no later one.
    """
    first, *rest = text.split(_STAR)
    last = rest.pop()
    taken = [f"(?=(?P<star{n}>[^/]*?{part}))(?P=star{n})" for n, part in enumerate(rest)]
    return f"{first}{''.join(taken)}{_STAR}{last}"
