"""The files of a run as a program, before anything of it is parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tclint.model.errors import ConfigError
from tclint.model.report import Problem
from tclint.program import Data, Program
from tclint.program.libraries import Libraries
from tclint.sources.site_packages import site_packages
from tclint.sources.text import UNREADABLE

if TYPE_CHECKING:
    from tclint.run.lasting import Lasting
    from tclint.run.store import Cache
    from tclint.sources.files import InputFile

_NOTEBOOK: Final = ".ipynb"


class Changed(Exception):
    """A file changed while it was being linted."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read."""

    program: Program
    reported: frozenset[str]
    """The files whose findings are shown."""
    hashes: dict[str, str]
    """Of each file's content, where there is a cache."""
    problems: tuple[Problem, ...]
    """Files that cannot be read."""
    files: int
    """How many files are reported on, those included that cannot be read."""


def read(
    files: Sequence[InputFile],
    cache: Cache | None,
    roots: Sequence[str] = (),
    python: str = "",
    lasting: Lasting | None = None,
) -> Reading:
    """The files of a run, whose imports may start from `roots`, and lead to the libraries in `python`. With a cache their content
    is read when it is asked for: most of it never is. `lasting` may have the program of the lint before."""
    reader = _Reader(cache)
    rows = list(reader.modules(files))
    if lasting is None or cache is None:
        program = Program.build(rows, roots, _libraries(python))
    else:
        program = lasting.program(rows, reader.hashes, roots, _libraries(python))
    reported = {file.path for file in files if file.report} & {module.path for module in program.modules}
    return Reading(
        program, frozenset(reported), reader.hashes, tuple(reader.problems), sum(file.report for file in files)
    )


def _libraries(python: str) -> Libraries | None:
    """The libraries of the environment that was named."""
    if not python:
        return None
    found = site_packages(python)
    if found is None:
        raise ConfigError(
            f"python must be a virtual environment, an interpreter or a site-packages folder, and there is none at {python}; "
            "make it, or leave the setting out (--python names another one)"
        )
    return Libraries(found)


class _Reader:
    def __init__(self, cache: Cache | None) -> None:
        self.cache = cache
        self.hashes: dict[str, str] = {}
        self.problems: list[Problem] = []

    def modules(self, files: Sequence[InputFile]) -> Iterator[tuple[str, str, Data, bool]]:
        for file in files:
            data: Data | None = file.text
            if self.cache is not None:
                self.hashes[file.path] = self.cache.hash_of(file)
                if data is None and self.hashes[file.path] and not file.path.endswith(_NOTEBOOK):
                    data = self._later(file, self.hashes[file.path])
            if data is None:
                try:
                    with open(file.absolute, "rb") as stream:
                        data = stream.read()
                except OSError as error:
                    if not file.report:
                        continue
                    why = f"cannot be read: {error.strerror or error}; not analysed"
                    self.problems.append(Problem(file.path, 1, UNREADABLE, why))
                    continue
            if file.path.endswith(_NOTEBOOK) and isinstance(data, bytes):
                from tclint.sources import notebook

                try:
                    data = notebook.read(data).source
                except notebook.NotebookError as error:
                    if file.report:
                        why = f"cannot be read as a notebook: {error}; not analysed"
                        self.problems.append(Problem(file.path, error.line, UNREADABLE, why))
                    continue
            # `import numpy` beside numpy.ipynb does not mean the notebook.
            absolute = f"{file.absolute}.py" if file.path.endswith(_NOTEBOOK) else file.absolute
            # What is kept must do for runs that report other files: then all of them are looked at.
            yield (file.path, absolute, data, file.report or self.cache is not None)

    def _later(self, file: InputFile, digest: str) -> Callable[[], bytes]:
        def read() -> bytes:
            try:
                with open(file.absolute, "rb") as stream:
                    data = stream.read()
            except OSError:
                raise Changed from None
            if self.cache is not None and self.cache.digest(data) != digest:
                raise Changed
            return data

        return read
