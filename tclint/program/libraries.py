"""The libraries of an environment: whose files are read when a name out of them is asked for, and which are left alone."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import Final

from tclint.sources import wheels
from tclint.torch_facts import facts

_MOST: Final = 2_000_000
"""Bytes of a file; what is larger is a table that was generated."""


class Libraries:
    """A `site-packages` folder. Nothing is read until a dotted name is looked for."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def state(self) -> str:
        """What differs when something is installed, upgraded or removed."""
        try:
            return repr((self.folder, wheels.state(self.folder)))
        except OSError:
            return self.folder

    @cached_property
    def names(self) -> frozenset[str]:
        """The packages and modules that lie in the folder, without those of which the facts know more than their text says."""
        try:
            with os.scandir(self.folder) as entries:
                found = {e.name.removesuffix(".py") for e in entries if e.name.endswith(".py") or e.is_dir()}
        except OSError:
            return frozenset()
        return frozenset(name for name in found if name.isidentifier() and is_read(name))

    def file_of(self, dotted: str) -> str | None:
        """The file of a module or package; None where there is none in Python, or where the library is not read."""
        first, _, rest = dotted.partition(".")
        if first not in self.names or not all(part.isidentifier() for part in rest.split(".") if rest):
            return None
        place = os.path.join(self.folder, *dotted.split("."))
        for path in (os.path.join(place, "__init__.py"), f"{place}.py"):
            try:
                if 0 <= os.stat(path).st_size <= _MOST:
                    return path
            except (OSError, ValueError):
                continue
        return None

    def holds(self, path: str) -> bool:
        """Whether a file lies here."""
        return path.startswith(os.path.join(self.folder, ""))


def is_read(package: str) -> bool:
    """Whether a library is read: not the standard library, nor what torch was asked about, nor what Dynamo does not trace into."""
    return package not in sys.stdlib_module_names and not facts.speaks_for(package)


__all__ = ["Libraries", "is_read"]
