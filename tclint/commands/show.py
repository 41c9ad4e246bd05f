"""A report on its way out: in a format, to stdout or to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tclint import output
from tclint.model.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from tclint.model.report import Report
    from tclint.ruleset.rule import Rule
    from tclint.run.project import Project

_WIDTH: Final = 110
"""Columns where the output goes to no terminal."""


@dataclass(frozen=True, slots=True)
class Show:
    """How the command line wants a report."""

    format: str = "full"
    file: str | None = None
    statistics: bool = False
    color: str = "auto"
    quiet: bool = False
    verbose: bool = False

    def __post_init__(self) -> None:
        if self.format not in output.FORMATS:
            raise UserError(f"--output-format {self.format}: unknown{did_you_mean(self.format, output.FORMATS)}")

    def __call__(self, report: Report, project: Project) -> None:
        """Print a report, or write it to the file."""
        from tclint.output import palette, write

        colored = palette.wants_color(self.color, None if self.file else sys.stdout, os.environ)
        if self.format not in output.FOR_PEOPLE:
            colored = False
        sources: Callable[[str], str] = project.text_of
        if any(file.path.endswith(".ipynb") for file in project.files):
            from tclint.sources import cells

            books = cells.texts(project.files)
            moved = cells.in_cells if self.format in output.IN_CELLS else cells.in_file
            report = moved(report, books)
            sources = cells.sources(project.raw_text_of, books)
        if self.statistics:
            from tclint.output import statistics as counts

            text = counts.render(report, color=colored, as_json=self.format == "json")
        else:
            rules: Sequence[Rule] = project.rules if self.format in output.WITH_RULES else ()
            text = output.renderer(self.format)(
                report,
                color=colored,
                width=self._width(),
                sources=sources,
                rules=rules,
                summary=not self.quiet,
                verbose=self.verbose,
            )
        if self.file:
            write.to_file(text, self.file)
        else:
            write.to_stdout(text, utf8=self.format not in output.FOR_PEOPLE)

    def _width(self) -> int:
        if self.file or not sys.stdout.isatty():
            return _WIDTH
        import shutil

        return shutil.get_terminal_size((_WIDTH, 24)).columns
