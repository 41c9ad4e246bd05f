"""How a report shows what stands in notebooks: in cells for people, in lines of the file for services."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.model.finding import Applicability, Edit, Finding, Label, Span, Step
from tclint.model.report import Report
from tclint.sources.notebook import Notebook, NotebookError, named, read

if TYPE_CHECKING:
    from tclint.sources.files import InputFile

_LINE = re.compile(r"\bline (\d+)\b")


def texts(files: Sequence[InputFile]) -> Callable[[str], Notebook | None]:
    """The notebooks among the files of a run, by the path shown, read when asked for."""
    by_path = {file.path: file for file in files if named(file.path)}
    known: dict[str, Notebook | None] = {}

    def find(path: str) -> Notebook | None:
        if path in by_path and path not in known:
            file = by_path[path]
            try:
                if file.text is not None:
                    data = file.text
                else:
                    with open(file.absolute, "rb") as stream:
                        data = stream.read()
                known[path] = read(data)
            except (OSError, NotebookError):  # the engine has told; nothing of it can be quoted
                known[path] = None
        return known.get(path)

    return find


def in_cells(report: Report, find: Callable[[str], Notebook | None]) -> Report:
    """The report with places in notebooks as a person sees them: a cell, and a line in it."""
    findings = tuple(sorted((_in_cell(f, find) for f in report.findings), key=lambda f: f.listed))
    sites = []
    for site in report.sites:
        book = find(site.path)
        cell, line = book.place(site.line) if book is not None else (0, site.line)
        sites.append(replace(site, cell=cell, line=line) if cell else site)
    return replace(report, findings=findings, sites=tuple(sites))


def _in_cell(finding: Finding, find: Callable[[str], Notebook | None]) -> Finding:
    chain = tuple(_step(step, find) for step in finding.chain)
    same_as = tuple(_place(place, find) for place in finding.same_as)
    finding = replace(finding, chain=chain, same_as=same_as)
    book = find(finding.path)
    if book is None or not book.cells:
        return finding
    cell, _ = book.place(finding.span.line)
    labels: list[Label] = []
    message = _reworded(finding.message, cell, book)
    for label in finding.labels:
        there, line = book.place(label.line)
        if there == cell:
            labels.append(replace(label, line=line, text=_reworded(label.text, cell, book)))
        else:
            message += f" (cell {there}, line {line}: {label.text})"
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(_edit(edit, book) for edit in fix.edits))
    return replace(
        finding,
        message=message,
        help=_reworded(finding.help, cell, book),
        cell=cell,
        span=_moved(finding.span, book),
        labels=tuple(labels),
        fix=fix,
    )


def _reworded(text: str, cell: int, book: Notebook) -> str:
    """A message whose "line 12" counts as its span does."""

    def place(match: re.Match[str]) -> str:
        there, line = book.place(int(match[1]))
        return f"line {line}" if there == cell else f"cell {there}, line {line}"

    return _LINE.sub(place, text)


def _moved(span: Span, book: Notebook) -> Span:
    cell = book.cell_at(span.line)
    shift = cell.start - 1 if cell is not None else 0
    return replace(span, line=max(span.line - shift, 1), end_line=max(span.end_line - shift, 1))


def _edit(edit: Edit, book: Notebook) -> Edit:
    return replace(edit, cell=book.place(edit.span.line)[0], span=_moved(edit.span, book))


def _place(text: str, find: Callable[[str], Notebook | None]) -> str:
    """`n.ipynb:35` as `n.ipynb:cell 3:2`."""
    path, _, line = text.rpartition(":")
    book = find(path)
    if book is None or not book.cells or not line.isdigit():
        return text
    cell, row = book.place(int(line))
    return f"{path}:cell {cell}:{row}"


def _step(step: Step, find: Callable[[str], Notebook | None]) -> Step:
    book = find(step.path)
    if book is None or not book.cells:
        return step
    cell, line = book.place(step.line)
    return replace(step, path=f"{step.path}:cell {cell}", line=line)


def in_file(report: Report, find: Callable[[str], Notebook | None]) -> Report:
    """The report with places in notebooks as services see them: lines of the file. Fixes are in `in_cells` only."""
    findings = []
    shown = in_cells(report, find)
    for finding in shown.findings:
        book = find(finding.path)
        cell = next((c for c in book.cells if c.number == finding.cell), None) if book is not None else None
        if cell is not None and book is not None:
            first = book.row(cell.start + finding.span.line - 1)
            last = max(book.row(cell.start + finding.span.end_line - 1), first)
            message = f"cell {cell.number}, line {finding.span.line}: {finding.message}"
            # The edits are of a cell's text; the file holds JSON.
            fix = replace(finding.fix, edits=(), applicability=Applicability.DISPLAY) if finding.fix else None
            finding = replace(finding, span=Span(first, 1, last, 1), message=message, labels=(), fix=fix, cell=0)
        findings.append(finding)
    return replace(shown, findings=tuple(sorted(findings, key=lambda f: f.listed)))


def sources(read_text: Callable[[str], str], find: Callable[[str], Notebook | None]) -> Callable[[str], str]:
    """`read_text`, which also knows `notebook.ipynb:cell 3`."""

    def read_cell(path: str) -> str:
        base, mark, number = path.rpartition(":cell ")
        book = find(base) if mark else None
        if book is not None:
            return next((cell.text for cell in book.cells if str(cell.number) == number), "")
        return read_text(path)

    return read_cell
