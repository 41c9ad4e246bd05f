"""Jupyter notebooks: their code cells, in order, as the text of one module; and edits of that text put back into the cells.

Everything between reading and writing sees a file of Python whose lines are known to belong to cells. Lines that IPython
takes for itself (`%time`, `!pip`, `model?`, a `%%bash` cell) become `pass` or comments, one for one, and are put back.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tclint.model.finding import Applicability, Edit, Finding, Label, Span, Step
from tclint.model.report import Report

if TYPE_CHECKING:
    from tclint.sources.files import InputFile

ENDING = ".ipynb"
_MARK = "# %% tclint cell "
_MARKED = re.compile(r"^# %% tclint cell (\d+)$")
_MAGIC = re.compile(r"# tclint magic (\d+)$")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"\bline (\d+)\b")
# Cell magics whose cell is Python all the same.
_PYTHON_CELLS = frozenset("capture memit prun time timeit".split())
# The same width, so that columns stay: what is timed is code like any other.
_TIMED = {"%time ": "if 1: ", "%timeit ": "if True:"}
_ASSIGNED = re.compile(r"^(\s*[\w.,\[\]'\"\s]+?=\s*)([%!])")
_QUESTION = re.compile(r"^\s*(\?{1,2}\s*[\w.*%]+|%{0,2}[\w.*\[\]'\"]+\s*\?{1,2})\s*(#.*)?$")
# IPython takes these without `%` too ("automagic"); none of them can be Python.
_AUTOMAGIC = re.compile(r"^(pip|conda|mamba|cd|ls)\s+[-\w./~][^=(]*$")
_PIECE = re.compile(
    r'''"""(?:\\.|(?!""").)*(?:"""|\Z)|\'\'\'(?:\\.|(?!\'\'\').)*(?:\'\'\'|\Z)'''
    r"""|"(?:\\.|[^"\\\r\n])*"?|'(?:\\.|[^'\\\r\n])*'?|\#[^\r\n]*|\\(?:\r\n|\r|\n)|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<end>\r\n|\r|\n)|[^"'\#\\()\[\]{}\r\n]+|.""",
    re.S,
)


class NotebookError(Exception):
    """A file that is no notebook tclint can read; `line` is where in the file."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


class CannotFold(Exception):
    """An edit that cannot be put back into the cells."""


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
                parts[-1].append(self._restored(line))
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

    def _restored(self, line: str) -> str:
        if not (magic := _MAGIC.search(line)):
            return line
        number = int(magic[1])
        if number >= len(self.magics):
            return line
        original, blanked = self.magics[number]
        if line == blanked:
            return original
        for timed, stand_in in _TIMED.items():
            if blanked.startswith(stand_in) and line.startswith(stand_in):
                return timed + line[len(stand_in) : magic.start()].rstrip()
        raise CannotFold("the edit touches a line that is IPython's")

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
        document = json.loads(raw.removeprefix("\ufeff"))
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
    for number, (kind, source, spot) in enumerate(_cells(raw), 1):
        if kind != "code":
            continue
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            text = "".join(source)
        elif isinstance(source, str):
            text = source
        else:
            row = bisect_right(breaks, spot.start) + 1
            raise NotebookError(row, f'cell {number} has no "source" that is a text or a list of lines')
        blanked = _blanked(text, magics)
        lines.append(f"{_MARK}{number}")
        start = len(lines) + 1
        own = _NEWLINE.split(blanked)
        lines += own
        cells.append(
            Cell(number, text, start, (spot.start, spot.end), spot.gaps, tuple(_rows(source, len(own), spot, breaks)))
        )
    return Notebook(raw, "\n".join([*lines, ""]) if lines else "", tuple(cells), tuple(magics))


def _language(document: dict[str, Any]) -> str:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        about = metadata.get(table)
        if isinstance(about, dict) and isinstance(about.get(key), str):
            return str(about[key]).lower()
    return ""


# --- where a cell's source stands in the file ------------------------------------------------------------------------


@dataclass(slots=True)
class _Spot:
    start: int = 0
    end: int = 0
    gaps: tuple[str, str, str] | None = None
    items: list[int] = field(default_factory=list)
    """Where each line of a list starts."""


def _rows(source: object, count: int, spot: _Spot, breaks: Sequence[int]) -> Iterator[int]:
    if not isinstance(source, list):
        row = bisect_right(breaks, spot.start) + 1
        yield from (row for _ in range(count))
        return
    for text, at in zip(source, spot.items, strict=True):
        row = bisect_right(breaks, at) + 1
        # One item is one line, but nothing stops a program from writing several.
        yield from (row for _ in range(max(len(_NEWLINE.findall(text)), 1)))


def _cells(raw: str) -> Iterator[tuple[str, object, _Spot]]:
    """Of each cell its type, its source and where that stands."""
    scan = _Scanner(raw)
    for key in scan.members():
        if key != "cells":
            scan.value()
            continue
        for _ in scan.items():
            if scan.peek() != "{":
                scan.value()
                yield "", "", _Spot()
                continue
            kind: object = ""
            source: object = None
            spot = _Spot(scan.at, scan.at)
            for name in scan.members():
                if name == "source":
                    source, spot = scan.source()
                elif name == "cell_type":
                    kind = scan.value()
                else:
                    scan.value()
            yield str(kind), source, spot


class _Scanner:
    """Reads JSON that is known to be valid, and knows where it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self._decode = json.JSONDecoder().raw_decode

    def peek(self) -> str:
        while self.text[self.at] in " \t\r\n":
            self.at += 1
        return self.text[self.at]

    def value(self) -> object:
        self.peek()
        value, self.at = self._decode(self.text, self.at)
        return value

    def members(self) -> Iterator[str]:
        """The keys of an object; whoever iterates reads each value before going on."""
        for _ in self.items():
            key = str(self.value())
            self.peek()
            self.at += 1  # the colon
            yield key

    def items(self) -> Iterator[int]:
        """The items of a list, or of an object."""
        self.peek()
        self.at += 1
        while self.peek() not in "]}":
            yield self.at
            if self.peek() == ",":
                self.at += 1
        self.at += 1

    def source(self) -> tuple[object, _Spot]:
        self.peek()
        spot = _Spot(self.at)
        if self.text[self.at] != "[":
            value = self.value()
            spot.end = self.at
            return value, spot
        lines: list[object] = []
        ends: list[int] = []
        for at in self.items():
            spot.items.append(at)
            lines.append(self.value())
            ends.append(self.at)
        spot.end = self.at
        first, last = (spot.items[0], ends[-1]) if ends else (spot.start + 1, spot.start + 1)
        before, after = self.text[spot.start + 1 : first], self.text[last : self.at - 1]
        between = before or (" " if '": ' in self.text else "")
        if len(ends) > 1:
            between = self.text[ends[0] : spot.items[1]].replace(",", "")
        spot.gaps = before, between, after
        return lines, spot


# --- what is IPython's -----------------------------------------------------------------------------------------------


def _blanked(text: str, magics: list[tuple[str, str]]) -> str:
    """A cell as Python, line for line. What was replaced is added to `magics`."""
    stripped = text.lstrip()
    first = stripped.split(None, 1)[0] if stripped else ""
    if first.startswith("%%") and first[2:] not in _PYTHON_CELLS:
        return "\n".join(_stand_in(line, "", magics) if line.strip() else line for line in _NEWLINE.split(text))
    if not re.search(r"[%!?/,;]|^(?:pip|conda|mamba|cd|ls)\s", text, re.M) or (
        not first.startswith("%") and _parses(text)
    ):
        return text
    out: list[str] = []
    at = 0
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end]
        if _is_magic(line):
            stand_in = _statement
            while True:
                body = text[at:end].rstrip("\r\n")
                out.append(stand_in(body, magics) + text[at + len(body) : end])
                at = end
                if not body.endswith("\\") or at >= len(text):
                    break
                # A shell line goes on after a backslash; one statement for all of it is enough.
                end = _line_end(text, at)
                stand_in = _comment
            continue
        assigned = _ASSIGNED.match(line)
        if assigned and not _parses(line.strip()):
            body = line.rstrip("\r\n")
            code = f"{assigned[1]}get_ipython()"
            out.append(_stand_in(body, code, magics) + line[len(body) :])
            at = end
            continue
        end = _logical_end(text, at)
        out.append(text[at:end])
        at = end
    return "".join(out)


def _is_magic(line: str) -> bool:
    start = line.lstrip()
    if start.startswith(("%", "!", "/", ",", ";")) or _AUTOMAGIC.match(line.rstrip()):
        return True
    return _QUESTION.match(line.rstrip()) is not None


def _statement(line: str, magics: list[tuple[str, str]]) -> str:
    if not line.strip():
        return line
    for timed, stand_in in _TIMED.items():
        code = line[len(timed) :]
        if line.startswith(timed) and not code.lstrip().startswith("-") and code.strip() and _parses(code.strip()):
            return _stand_in(line, f"{stand_in}{code}", magics)
    indent = line[: len(line) - len(line.lstrip())]
    return _stand_in(line, f"{indent}pass", magics)


def _comment(line: str, magics: list[tuple[str, str]]) -> str:
    return _stand_in(line, "", magics)


def _stand_in(line: str, code: str, magics: list[tuple[str, str]]) -> str:
    blanked = f"{code}{'  ' if code else ''}# tclint magic {len(magics)}"
    magics.append((line, blanked))
    return blanked


def _line_end(text: str, at: int) -> int:
    found = _NEWLINE.search(text, at)
    return found.end() if found else len(text)


def _logical_end(text: str, at: int) -> int:
    """Where the logical line that starts here ends: brackets closed, strings over."""
    depth = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        assert piece is not None
        at = piece.end()
        if piece["open"]:
            depth += 1
        elif piece["close"]:
            depth = max(depth - 1, 0)
        elif piece["end"] and not depth:
            break
    return at


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


# --- how a report shows it -------------------------------------------------------------------------------------------


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
    findings = tuple(
        sorted((_in_cell(f, find) for f in report.findings), key=lambda f: (f.path, f.cell, *f.sort_key[1:]))
    )
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
    return replace(shown, findings=tuple(sorted(findings, key=lambda f: f.sort_key)))


def sources(read_text: Callable[[str], str], find: Callable[[str], Notebook | None]) -> Callable[[str], str]:
    """`read_text`, which also knows `notebook.ipynb:cell 3`."""

    def read_cell(path: str) -> str:
        base, mark, number = path.rpartition(":cell ")
        book = find(base) if mark else None
        if book is not None:
            return next((cell.text for cell in book.cells if str(cell.number) == number), "")
        return read_text(path)

    return read_cell
