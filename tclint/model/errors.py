"""What the user can put right, said in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the user can put right: printed in one line, without a traceback, exit code 2."""


class ConfigError(UserError):
    """A setting that cannot be used."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    names = list(known)
    # TCL1O1 is TCL101, however close TCL511 looks.
    as_digits = word[:3].upper() + word[3:].translate(str.maketrans("OoIl", "0011"))
    if as_digits in names:
        close = [as_digits]
    elif word[-1:].isdigit():
        # Codes look alike: only one that a slip of one finger makes is near.
        close = [
            n for n in names if len(n) == len(word) and sum(a != b for a, b in zip(n, word.upper(), strict=True)) == 1
        ]
    else:
        close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""
