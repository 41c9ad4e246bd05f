"""What a process keeps of a project that it lints again and again, with a text that changes a little each time.

The program stays as it was read and linked, but for the files that hold something else now (`Program.renew`), and what earlier
lints found out stays at hand (`Cache`), also where nothing may be kept on disk. Neither changes what is found: it is what a
process reads that begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.program import Data, Program
from tclint.run.cachedir import Nowhere
from tclint.run.store import Cache, open_cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from tclint.model.settings import Settings
    from tclint.program.libraries import Libraries

Row = tuple[str, str, Data, bool]
"""A file as `Program.build` takes it: the path shown, the absolute one, what it holds, whether it is looked at."""


class Lasting:
    """What is kept between the lints of one project. One lint at a time."""

    def __init__(self) -> None:
        self._settings: tuple[object, ...] = ()
        self._cache: Cache | None = None
        self._program: Program | None = None
        self._laid_out: tuple[object, ...] = ()
        """The files of that program, and what they are found by."""
        self._held: dict[str, str] = {}
        """The hashes of what these files held."""

    def cache(self, settings: Settings, cwd: str, say: Callable[[str], None] | None) -> Cache:
        """The cache of a lint; what goes to disk goes there with `save`."""
        where = (settings, cwd, settings.root, settings.cache_dir, settings.no_cache, settings.jobs)
        # Who writes rules of his own changes them meanwhile: they are looked at each time.
        if (
            self._cache is None
            or where != self._settings
            or any(held.rules or held.packs for held in settings.everywhere())
        ):
            self.save()
            self._cache = open_cache(settings, cwd, say) or Cache(Nowhere(), settings, cwd)
            self._cache.lasting = True
            self._settings = where
        else:
            self._cache.again()
        return self._cache

    def program(
        self, rows: Sequence[Row], hashes: Mapping[str, str], roots: Sequence[str], libraries: Libraries | None
    ) -> Program:
        """The program of these files, of which many were read before."""
        laid_out = (
            tuple((path, absolute, report) for path, absolute, _, report in rows),
            tuple(roots),
            libraries.folder if libraries is not None else "",
        )
        program, held = self._program, self._held
        # Where a lint ends halfway nobody knows what it left behind.
        self._program = None
        if program is None or laid_out != self._laid_out:
            program = Program.build(rows, roots, libraries)
        else:
            program.libraries = libraries
            program.renew([row for row in rows if not hashes.get(row[0]) or held.get(row[0]) != hashes[row[0]]])
        self._laid_out, self._held = laid_out, dict(hashes)
        return program

    def keep(self, program: Program) -> None:
        """A lint of the program ended well: the next one may begin with it."""
        self._program = program

    def save(self) -> None:
        """Write down what is to outlive the process."""
        if self._cache is not None:
            self._cache.save()
