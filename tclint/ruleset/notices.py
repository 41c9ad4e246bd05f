"""What tclint says of itself and of files it cannot analyse: the codes 9xx, which are no rules, and their pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Notice:
    """A code that no rule stands for."""

    code: str
    name: str
    short: str
    page: str


_ALL = (
    Notice(
        "TCL901",
        "unused-suppression",
        "a comment that silences nothing; `--fix` removes it",
        """\
A comment `# tclint: ignore` stands on a line, or for a file, where nothing is found. The hazard was repaired, its code was
misspelt, or another rule speaks of the line. Left alone, such comments pile up and silence what comes later.

`tclint --fix` removes it. To keep one on purpose, name this code in it: `# tclint: ignore[TCL101, TCL901]`. To turn the check off,
`ignore = ["TCL901"]`.""",
    ),
    Notice(
        "TCL902",
        "unreadable-file",
        "the file cannot be read or decoded",
        """\
The file cannot be opened, is no regular file, or is not written in the encoding that it declares (UTF-8 where it declares none).
Nothing is known of it, and what other files import from it is unknown.

Mend its rights or its encoding, or leave it out: `extend-exclude = ["path/to/it.py"]`.""",
    ),
    Notice(
        "TCL903",
        "syntax-error",
        "the file does not parse",
        """\
The file is not Python, or not the Python that tclint runs on. Syntax of a newer Python is told as a note and not as an error; run
tclint on that Python to have the file analysed.

Mend the line, or leave out what is only a template: `extend-exclude = ["templates"]`.""",
    ),
    Notice(
        "TCL904",
        "too-deep",
        "the file is nested too deeply to analyse",
        """\
Expressions or blocks are nested so deeply that Python's own parser, or the analysis, gives up: mostly generated code.

Leave the file out: `extend-exclude = ["generated"]`.""",
    ),
    Notice(
        "TCL905",
        "rule-crashed",
        "a rule raised an exception; the other rules went on",
        """\
A rule failed on this line. What the others say of the file holds; what this one would have said is not known.

Where the rule is your own, `TCLINT_DEBUG=1` shows where it failed. Where it is tclint's, please report it with the line: no rule
may fail, whatever the source is.""",
    ),
    Notice(
        "TCL906",
        "internal-error",
        "the analysis of a file failed; the other files went on",
        """\
The analysis of a part of the program failed. What is said of the other parts holds.

`TCLINT_DEBUG=1` shows where. Please report it with the file, or with as little of it as still fails.""",
    ),
)
NOTICES: Final[Mapping[str, Notice]] = {notice.code: notice for notice in _ALL}
