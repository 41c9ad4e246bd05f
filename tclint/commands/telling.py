"""A diagnosis told while it is made: on a terminal each table as soon as it is there, in a file all that is known."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tclint.model import codec
from tclint.output.lines import harmless

if TYPE_CHECKING:
    from tclint.diagnose.measurement import Diagnosis
    from tclint.diagnose.report_text import Pieces

_WIDTH = 120


class Telling:
    def __init__(self, output_format: str, output_file: str | None) -> None:
        self.format = output_format
        self.file = output_file
        self._shown: dict[str, str] = {}
        """By name, what the terminal has seen."""

    def tell(self, diagnosis: Diagnosis) -> None:
        """There is more, and the run goes on."""
        if not any(state.status == "done" for state in diagnosis.states):
            return  # nothing is known yet, and perhaps it ends with an error
        if self.file is not None:
            self._write(diagnosis)
        elif self.format == "text":
            self._more(diagnosis, settled_only=True)

    def end(self, diagnosis: Diagnosis) -> None:
        if self.file is not None:
            self._write(diagnosis)
        elif self.format == "text" and self._shown:
            self._more(diagnosis, settled_only=False)
            self._show("end", self._text(diagnosis).end)
        else:
            click.echo(rendered(diagnosis, self.format, to_stdout=True), nl=False, color=True)

    def _write(self, diagnosis: Diagnosis) -> None:
        from tclint.output import write

        assert self.file is not None
        write.to_file(rendered(diagnosis, self.format, to_stdout=False), os.path.abspath(self.file))

    def _more(self, diagnosis: Diagnosis, settled_only: bool) -> None:
        from tclint.diagnose.figures import settled

        pieces = self._text(diagnosis)
        if not diagnosis.torch:
            return  # no child has answered yet
        if "head" not in self._shown:
            self._show("head", self._text(replace(diagnosis, seconds=0.0, unfinished="")).head)
        if settled_only and diagnosis.speed is not None:
            self._show("verdict", pieces.so_far)
        for name, text in pieces.sections.items():
            if not settled_only or settled(diagnosis, name):
                self._show(name, text)

    def _show(self, name: str, text: str) -> None:
        if self._shown.get(name) != text:
            self._shown[name] = text
            click.echo(text, nl=False, color=True)

    def _text(self, diagnosis: Diagnosis) -> Pieces:
        from tclint.diagnose import report_text

        return report_text.pieces(codec.mapped(diagnosis, harmless), width(to_stdout=True), _colour(to_stdout=True))


def rendered(diagnosis: Diagnosis, output_format: str, to_stdout: bool) -> str:
    if output_format == "json":
        from tclint.diagnose import report_json

        return report_json.render(diagnosis)
    # Names of files and words of the program are somebody else's.
    diagnosis = codec.mapped(diagnosis, harmless)
    if output_format == "markdown":
        from tclint.diagnose import report_markdown

        return report_markdown.render(diagnosis)
    if output_format == "html":
        from tclint.diagnose import report_html

        return report_html.render(diagnosis)
    from tclint.diagnose import report_text

    return report_text.render(diagnosis, width(to_stdout), _colour(to_stdout))


def _colour(to_stdout: bool) -> bool:
    return to_stdout and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def width(to_stdout: bool) -> int:
    if to_stdout and sys.stdout.isatty():
        import shutil

        return shutil.get_terminal_size((_WIDTH, 24)).columns
    return _WIDTH
