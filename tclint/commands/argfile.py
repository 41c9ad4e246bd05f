"""`@files.txt` among the arguments: one argument for each line of that file, for lists that no shell takes."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tclint.model.errors import UserError


def expanded(args: list[str]) -> list[str]:
    """The arguments with the lines of their files in place; what follows `--` is a program's own."""
    end = args.index("--") if "--" in args else len(args)
    return [*(each for arg in args[:end] for each in _lines(arg)), *args[end:]]


def _lines(arg: str) -> Iterator[str]:
    # A folder may well be called `@scope`.
    if len(arg) < 2 or not arg.startswith("@") or os.path.exists(arg):
        yield arg
        return
    try:
        with open(arg[1:], encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{arg}: the file of arguments cannot be read: {reason}") from error
    for line in lines:
        if line.strip():
            yield line.strip()
