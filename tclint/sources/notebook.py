"""Jupyter notebooks: their code cells, in order, as the text of one module; and edits of that text put back into the cells.

Everything between reading and writing sees a file of Python whose lines are known to belong to cells. Lines that IPython
takes for itself (`%time`, `!pip`, `model?`, a `%%bash` cell) become `pass` or comments, one for one, and are put back.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from tclint.sources import ipython, notebook_json
from tclint.sources.ipython import NEWLINE, CannotFold, restored

ENDING = ".ipynb"
_MARK = "# %% tclint cell "
_MARKED = re.compile(r"^# %% tclint cell (\d+)$")


class NotebookError(Exception):
    """A file that is no notebook tclint can read; `line` is where in the file."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


def named(path: str) -> bool:
    return path.endswith(ENDING)


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell. `number` counts all cells of the notebook from 1."""

    number: int
    text: str
    start: int
    """The line of the joined text that holds its first line."""
    value: tuple[int, int]
    """Where its source stands in the notebook's own text."""
    gaps: tuple[str, str, str] | None
    """The blanks before, between and after its lines, where the source is a list of lines; None where it is one string."""
    rows: tuple[int, ...]
    """The line of the notebook's file for each line of the cell."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook that was read."""

    raw: str
    text: str
    """All code cells as one module."""
    cells: tuple[Cell, ...]
    magics: tuple[tuple[str, str], ...] = field(default=())
    """Lines of IPython's own, and what stands for them in `text`."""

    @property
    def source(self) -> bytes:
        return self.text.encode("utf-8", "surrogatepass")

    def cell_at(self, line: int) -> Cell | None:
        """The cell that a line of the joined text belongs to."""
        index = bisect_right([cell.start - 1 for cell in self.cells], line) - 1
        return self.cells[max(index, 0)] if self.cells else None

    def place(self, line: int) -> tuple[int, int]:
        """Cell number and line in the cell, of a line of the joined text."""
        cell = self.cell_at(line)
        return (cell.number, max(line - cell.start + 1, 1)) if cell is not None else (0, line)

    def row(self, line: int) -> int:
        """The line of the notebook's file, of a line of the joined text."""
        cell = self.cell_at(line)
        if cell is None or not cell.rows:
            return 1
        return cell.rows[min(max(line - cell.start, 0), len(cell.rows) - 1)]

    def folded(self, source: bytes) -> bytes:
        """The notebook whose joined text is this: only cells that changed are written anew."""
        parts = self._split(source.decode("utf-8", "surrogatepass"))
        pieces: list[str] = []
        at = 0
        for cell, text in zip(self.cells, parts, strict=True):
            if text != cell.text:
                start, end = cell.value
                pieces += [self.raw[at:start], self._written(cell, text)]
                at = end
        return ("".join(pieces) + self.raw[at:]).encode("utf-8", "surrogatepass")

    def _split(self, text: str) -> list[str]:
        """The text of each cell, with IPython's lines back in their places."""
        parts: list[list[str]] = [[]]
        numbers: list[int] = []
        for line in text.split("\n"):
            if mark := _MARKED.match(line):
                numbers.append(int(mark[1]))
                parts.append([])
            else:
                parts[-1].append(restored(line, self.magics))
        if numbers != [cell.number for cell in self.cells]:
            raise CannotFold("the edit reaches across cells")
        before, *bodies = parts
        if bodies:
            bodies[-1] = bodies[-1][:-1]  # what follows the last line end
        elif any(before):
            raise CannotFold("the notebook has no cell for it")
        if any(before):
            if self.cells[0].text.lstrip().startswith("%%"):
                raise CannotFold("nothing can stand before a cell magic")
            bodies[0] = [*before, *bodies[0]]
        return ["\n".join(body) for body in bodies]

    def _written(self, cell: Cell, text: str) -> str:
        ascii_only = self.raw.isascii()
        if cell.gaps is None:
            return json.dumps(text, ensure_ascii=ascii_only)
        before, between, after = cell.gaps
        # As nbformat cuts it.
        lines = [json.dumps(line, ensure_ascii=ascii_only) for line in text.splitlines(keepends=True)]
        return f"[{before}{f',{between}'.join(lines)}{after}]" if lines else "[]"


def read(data: bytes) -> Notebook:
    """The notebook of a file's bytes, or `NotebookError`."""
    try:
        raw = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotebookError(data[: error.start].count(b"\n") + 1, "not UTF-8") from None
    try:
        document = json.loads(raw.removeprefix("\ufeff"), parse_int=float)
        return _read(raw, document)
    except json.JSONDecodeError as error:
        raise NotebookError(error.lineno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise NotebookError(1, "nested too deeply") from None


def _read(raw: str, document: Any) -> Notebook:
    if not isinstance(document, dict):
        raise NotebookError(1, "no notebook, which is a JSON object")
    if isinstance(document.get("worksheets"), list):
        raise NotebookError(1, "written in format 3: open and save it with a newer Jupyter")
    if not isinstance(document.get("cells"), list):
        raise NotebookError(1, 'no notebook: it has no list "cells"')
    if _language(document) not in ("", "python", "ipython"):
        return Notebook(raw, "", ())
    breaks = [match.end() for match in re.finditer(r"\n", raw)]
    cells: list[Cell] = []
    lines: list[str] = []
    magics: list[tuple[str, str]] = []
    for number, (kind, source, spot) in enumerate(notebook_json.cells(raw), 1):
        if kind != "code" or _is_foreign(document["cells"][number - 1]):
            continue
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            text = "".join(source)
        elif isinstance(source, str):
            text = source
        else:
            row = bisect_right(breaks, spot.start) + 1
            raise NotebookError(row, f'cell {number} has no "source" that is a text or a list of lines')
        blanked = ipython.blanked(text, magics)
        lines.append(f"{_MARK}{number}")
        start = len(lines) + 1
        own = NEWLINE.split(blanked)
        lines += own
        cells.append(
            Cell(
                number,
                text,
                start,
                (spot.start, spot.end),
                spot.gaps,
                tuple(notebook_json.rows(source, len(own), spot, breaks)),
            )
        )
    return Notebook(raw, "\n".join([*lines, ""]) if lines else "", tuple(cells), tuple(magics))


def _is_foreign(cell: Any) -> bool:
    """Whether an editor was told that a cell is in another language: a shell's, or plain text."""
    about = cell.get("metadata") if isinstance(cell, dict) else None
    editor = about.get("vscode") if isinstance(about, dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else None
    return isinstance(language, str) and language.lower() not in ("", "python", "ipython")


def _language(document: dict[str, Any]) -> str:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        about = metadata.get(table)
        if isinstance(about, dict) and isinstance(about.get(key), str):
            return str(about[key]).lower()
    return ""


__all__ = ["ENDING", "CannotFold", "Cell", "Notebook", "NotebookError", "named", "read"]
