"""Notebooks that an editor holds open: their cells as one document, and what is found in it told cell by cell.

An editor that knows notebooks sends each cell as a text of its own. They are put together to the file that Jupyter would
write, which is linted as any notebook is; the findings go back to the cells that they stand in.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tclint.model.report import Report
from tclint.server.session import Document, Linted
from tclint.server.wording import Positions
from tclint.sources import cells, notebook


@dataclass(frozen=True, slots=True)
class Cell:
    uri: str
    text: str
    code: bool = True
    version: int = 0


@dataclass(frozen=True, slots=True)
class Book:
    """A notebook as it stands in the editor. `path` is absolute."""

    path: str
    cells: tuple[Cell, ...]
    version: int = 0

    @property
    def document(self) -> Document:
        """The file that Jupyter would write of it, without what tclint does not read."""
        kinds = [{"cell_type": "code" if cell.code else "markdown", "source": cell.text} for cell in self.cells]
        return Document(self.path, json.dumps({"cells": kinds, "metadata": {}, "nbformat": 4}), self.version)

    def told(self, linted: Linted) -> dict[str, Linted]:
        """What is known of each cell of code, in its own lines."""
        joined = notebook.read(linted.document.data)
        shown = linted.shown
        report = cells.in_cells(Report(findings=linted.findings), lambda path: joined if path == shown else None)
        found: dict[str, Linted] = {}
        for number, cell in enumerate(self.cells, 1):
            if not cell.code:
                continue
            # An edit of another cell is none of this text: such a fix is not offered.
            own = [
                replace(each, fix=None) if each.fix and any(e.cell != number for e in each.fix.edits) else each
                for each in report.findings
                if each.cell == number
            ]
            found[cell.uri] = Linted(Document(self.path, cell.text, cell.version), tuple(own), linted.folder)
        return found


def opened(path: str, document: Any, texts: Sequence[Any]) -> Book:
    """The notebook of a `notebookDocument/didOpen`."""
    by_uri = {text.uri: text for text in texts}
    return Book(path, tuple(_cell(each, by_uri) for each in document.cells), document.version)


def changed(book: Book, version: int, change: Any, encoding: str) -> Book:
    """The notebook after a `notebookDocument/didChange`. Cells may send parts of their text; the units are the protocol's."""
    now = list(book.cells)
    if change.cells is not None:
        structure = change.cells.structure
        if structure is not None:
            by_uri = {text.uri: text for text in structure.did_open or ()}
            there = {cell.uri: cell for cell in now}
            array = structure.array
            # A cell that is moved is not opened again: its text is the one we have.
            new = [there.get(each.document) or _cell(each, by_uri) for each in array.cells or ()]
            now[array.start : array.start + array.delete_count] = new
        for content in change.cells.text_content or ():
            now = [_edited(cell, content, encoding) if cell.uri == content.document.uri else cell for cell in now]
    return Book(book.path, tuple(now), version)


def _cell(cell: Any, texts: dict[str, Any]) -> Cell:
    text = texts.get(cell.document)
    code = getattr(cell.kind, "value", cell.kind) == 2 and (text is None or text.language_id == "python")
    return Cell(cell.document, text.text if text is not None else "", code, text.version if text is not None else 0)


def _edited(cell: Cell, content: Any, encoding: str) -> Cell:
    text = cell.text
    for change in content.changes:
        where = getattr(change, "range", None)
        if where is None:
            text = change.text
            continue
        positions = Positions(text, encoding)
        start, end = (positions.offset(at.line, at.character) for at in (where.start, where.end))
        text = text[:start] + change.text + text[end:]
    return replace(cell, text=text, version=content.document.version)
