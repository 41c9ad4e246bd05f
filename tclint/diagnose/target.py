"""What is to be diagnosed: `package.module:Target` or `path/to/file.py:Target`, found without importing anything."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tclint.model.errors import UserError

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class Target:
    text: str
    """As the user wrote it."""
    name: str
    path: str = ""
    """The file, absolute; empty where only the interpreter that has torch can find the module."""
    module: str = ""


def parse(text: str, folders: Sequence[str]) -> Target:
    """The target, its module looked for in these folders."""
    where, colon, name = text.rpartition(":")
    if not colon or not where:
        raise UserError(f"{text}: write package.module:Target or path/to/file.py:Target")
    if not _NAME.fullmatch(name):
        raise UserError(f"{text}: {name or 'nothing'!r} is no name of a class or function")
    if where.endswith(".py") or os.sep in where:
        for folder in folders:
            path = os.path.realpath(os.path.join(folder, where))
            if os.path.isfile(path):
                return Target(text, name, path)
        raise UserError(f"{text}: no such file: {where}")
    if not _NAME.fullmatch(where):
        raise UserError(f"{text}: {where!r} is neither a module nor a .py file")
    for folder in folders:
        base = os.path.join(folder, *where.split("."))
        for path in (f"{base}.py", os.path.join(base, "__init__.py")):
            if os.path.isfile(path):
                return Target(text, name, os.path.realpath(path), where)
    return Target(text, name, "", where)
