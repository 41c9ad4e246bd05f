"""A diagnosis on a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from tclint.diagnose import figures
from tclint.diagnose.measurement import Diagnosis
from tclint.diagnose.verdict import headline

_STYLES = {"keep": "bold green", "stay eager": "bold yellow", "high": "red", "differs": "bold red", "ok": "green"}


@dataclass(frozen=True, slots=True)
class Pieces:
    """A report in parts that can be shown one by one."""

    head: str
    so_far: str
    """The verdict by what is known now."""
    sections: Mapping[str, str]
    verdict: str
    summary: str
    missing: str
    took: str

    @property
    def end(self) -> str:
        """What comes after the tables, where they were shown one by one: the verdict stands next to the prompt."""
        return f"{self.summary}{self.missing}\n{self.verdict}{self.took}"


def pieces(diagnosis: Diagnosis, width: int, colour: bool) -> Pieces:
    def lines(*shown: RenderableType) -> str:
        out = io.StringIO()
        console = Console(
            file=out, width=width, force_terminal=colour, color_system="auto" if colour else None, highlight=False
        )
        for each in shown:
            console.print(each)
        # Rich pads lines to the width: nobody wants to select that.
        return "".join(f"{each.rstrip()}\n" for each in out.getvalue().splitlines())

    line = headline(diagnosis)
    verdict = (line, _STYLES.get(line.partition(" (")[0], "bold"))
    left = figures.states(diagnosis)
    missing = [Text(""), Text("not measured, or not all of it", style="bold"), *(Text(f"  {each}") for each in left)]
    return Pieces(
        lines(
            Text.assemble(("diagnosis of ", "dim"), (diagnosis.target, "bold")),
            *(Text.assemble((f"  {name:<11}", "dim"), value) for name, value in figures.circumstances(diagnosis)),
        ),
        lines(Text(""), Text.assemble("verdict so far: ", verdict)),
        {each.name: lines(Text(""), *_shown(each)) for each in figures.sections(diagnosis)},
        lines(Text.assemble("verdict: ", verdict)),
        lines(Text(""), *_shown(figures.severity_table(diagnosis))) if diagnosis.breaks is not None else "",
        lines(*missing) if left else "",
        lines(Text(diagnosis.unfinished or f"took {figures.seconds(diagnosis.seconds)}", style="dim")),
    )


def render(diagnosis: Diagnosis, width: int, colour: bool) -> str:
    told = pieces(diagnosis, width, colour)
    return f"{told.head}\n{told.verdict}{told.summary}{''.join(told.sections.values())}{told.missing}"


def _shown(section: figures.Section) -> Iterator[RenderableType]:
    if section.rows:
        table = Table(
            title=section.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
        )
        for number, column in enumerate(section.columns):
            table.add_column(column, justify="right" if number in section.numbers else "left", overflow="fold")
        for row in section.rows:
            table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
        yield table
    else:
        yield Text(section.title, style="bold")
    for note in section.notes:
        yield Text(f"  {note}")
