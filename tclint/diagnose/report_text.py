"""A diagnosis on a terminal."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tclint.diagnose import figures
from tclint.diagnose.measurement import Diagnosis
from tclint.diagnose.verdict import headline

_STYLES = {"keep": "bold green", "stay eager": "bold yellow", "high": "red", "differs": "bold red", "ok": "green"}


def render(diagnosis: Diagnosis, width: int, colour: bool) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="auto" if colour else None, highlight=False
    )
    console.print(Text.assemble(("diagnosis of ", "dim"), (diagnosis.target, "bold")))
    for name, value in figures.circumstances(diagnosis):
        console.print(Text.assemble((f"  {name:<11}", "dim"), value))
    console.print()
    line = headline(diagnosis)
    console.print(Text.assemble("verdict: ", (line, _STYLES.get(line.partition(" (")[0], "bold"))))
    sections = [figures.severity_table(diagnosis)] if diagnosis.breaks is not None else []
    for section in [*sections, *figures.sections(diagnosis)]:
        console.print()
        _print(console, section)
    left = figures.states(diagnosis)
    if left:
        console.print()
        console.print(Text("not measured, or not all of it", style="bold"))
        for each in left:
            console.print(Text(f"  {each}"))
    # Rich pads lines to the width: nobody wants to select that.
    return "\n".join(each.rstrip() for each in out.getvalue().splitlines()) + "\n"


def _print(console: Console, section: figures.Section) -> None:
    if section.rows:
        table = Table(
            title=section.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
        )
        for number, column in enumerate(section.columns):
            table.add_column(column, justify="right" if number in section.numbers else "left", overflow="fold")
        for row in section.rows:
            table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
        console.print(table)
    else:
        console.print(Text(section.title, style="bold"))
    for note in section.notes:
        console.print(Text(f"  {note}"))
