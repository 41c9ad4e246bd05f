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
    close = [as_digits] if as_digits in names else difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""
