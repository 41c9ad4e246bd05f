"""Several configurations in one run: each file is held to the one nearest to it, as in a repository of several projects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tclint.model.settings import Settings
from tclint.sources import configuration
from tclint.sources.files import InputFile


class Configurations:
    """The configurations that a run meets, by the folder from which on they hold."""

    def __init__(
        self, first: Settings, cwd: str, overrides: Mapping[str, object] | None, allow_rules: bool | None
    ) -> None:
        self._cwd, self._overrides, self._allow = cwd, overrides, allow_rules
        self._first = first
        self._read = {first.config_file: first}
        self._asked: dict[str, Settings] = {}
        self._from: dict[str, Settings] = {}

    def above(self, path: str) -> Settings:
        """What holds for a path of the command line."""
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        if folder not in self._asked:
            held = self._asked[folder] = self._load(folder)
            self._from[os.path.dirname(held.config_file) or folder] = held
        return self._asked[folder]

    def inside(self, folder: str) -> Settings | None:
        """What a configuration in this very folder says; None where there is none."""
        if folder in self._from and self._from[folder].config_file:
            return self._from[folder]
        if not configuration.lies_in(folder):
            return None
        held = self._from[folder] = self._load(folder)
        return held

    def over(self, files: Iterable[InputFile]) -> Settings:
        """The settings of the run: the first path's, which know what holds for the files of the others."""
        places = tuple(sorted(self._from.items()))
        all_of_them = replace(self._first, nearer=places)
        met = {id(all_of_them.at(file.absolute)): all_of_them.at(file.absolute) for file in files if file.report}
        if all(held is self._first for held in met.values()):
            return self._first
        # Where imports start from is a question about the whole program.
        src = tuple(dict.fromkeys(folder for held in (self._first, *met.values()) for folder in held.src))
        return replace(all_of_them, src=src)

    def _load(self, folder: str) -> Settings:
        held = configuration.load([folder], cwd=self._cwd, overrides=self._overrides, allow_rules=self._allow)
        return self._read.setdefault(held.config_file, held)
