"""What an error says, short enough for a row of a table, and with no word cut in the middle."""

from __future__ import annotations

import textwrap

MOST = 240
_MORE = " …"


def shortened(text: str, most: int = MOST) -> str:
    """The text in one line; where that is too long, its first words."""
    short = textwrap.shorten(text, most, placeholder=_MORE)
    # One word alone that is too long: an address, a value.
    return short if short != _MORE.strip() else text.strip()[: most - len(_MORE)] + _MORE


def first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return shortened(lines[0]) if lines else ""
