"""Findings as an editor shows them: positions in its units, pages in Markdown."""

from __future__ import annotations

import inspect
import re
from bisect import bisect_right
from pathlib import PurePath
from typing import TYPE_CHECKING

from tclint.output import words

if TYPE_CHECKING:
    from tclint.model.finding import Finding
    from tclint.ruleset.rule import Rule
    from tclint.server.session import Linted

_NEWLINE = re.compile(r"\r\n|\r|\n")


class Positions:
    """Between characters, as Python counts them, and the units of the protocol (UTF-16 unless agreed otherwise)."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._encoding = encoding
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        self._ends = [*(match.start() for match in _NEWLINE.finditer(text)), len(text)]

    def at(self, line: int, column: int) -> tuple[int, int]:
        """The protocol's (line, character) of a line and column that count from 1."""
        line = min(max(line, 1), len(self.starts))
        start, end = self.starts[line - 1], self._ends[line - 1]
        return line - 1, self._units(self.text[start : min(start + max(column - 1, 0), end)])

    def of(self, offset: int) -> tuple[int, int]:
        """The protocol's (line, character) of an offset into the text."""
        line = bisect_right(self.starts, offset)
        return line - 1, self._units(self.text[self.starts[line - 1] : offset])

    def offset(self, line: int, character: int) -> int:
        """The offset into the text of the protocol's (line, character); what lies behind the end of a line is its end."""
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self._ends[line]
        if self.text[start:end].isascii():
            return min(start + character, end)
        at = start
        while at < end and character > 0:
            character -= self._units(self.text[at])
            at += 1
        return at

    def whole_line(self, line: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """From the first character of a line that is no blank to its end."""
        line = min(max(line, 1), len(self.starts))
        text = self.text[self.starts[line - 1] : self._ends[line - 1]]
        return self.at(line, len(text) - len(text.lstrip()) + 1), self.at(line, len(text) + 1)

    def _units(self, text: str) -> int:
        if text.isascii() or self._encoding == "utf-32":
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(char > "\uffff" for char in text)


def message(finding: Finding) -> str:
    text = words.message(finding)
    return f"{text}\nhelp: {finding.help}" if finding.help else text


def hover(finding: Finding, linted: Linted, rule: Rule | None) -> str:
    """What is wrong here, why the line is compiled, and the rule's page; in Markdown."""
    heading = f"{finding.severity.value} · {words.ONE[finding.effect]}"
    if finding.confidence.value != "high":
        heading += f" · {finding.confidence.value} confidence"
    parts = [f"**{finding.code} {finding.name}** ({heading})", words.message(finding)]
    if finding.chain and not (finding.eager and len(finding.chain) == 1):
        title = words.reason(finding).capitalize()
        links = [
            f"{i}. [{step.path}:{step.line}]({PurePath(linted.absolute(step.path)).as_uri()}#L{step.line}) `{step.text}`"
            for i, step in enumerate(finding.chain, 1)
        ]
        parts.append(f"**{title}**\n\n" + "\n".join(links))
    if finding.conditions:
        parts.append(f"**Only if**: {words.only_if(finding, len(finding.conditions))}")
    if advice := words.advice(finding):
        parts.append(f"**Help**: {advice}")
    if finding.fix is not None and finding.fix.note:
        parts.append(f"**Note**: {finding.fix.note}")
    if rule is not None:
        parts.append(f"---\n\n{page(rule)}")
    return "\n\n".join(parts)


def page(rule: Rule) -> str:
    """The docstring of a rule as Markdown: its literal blocks become fenced code."""
    lines = inspect.cleandoc(type(rule).__doc__ or "").split("\n")
    out: list[str] = []
    block: list[str] | None = None

    def close() -> None:
        if block is not None:
            while block and not block[-1]:
                block.pop()
            out.extend(["```python", *block, "```", ""])

    for line in lines:
        if block is not None and (line.startswith("    ") or not line.strip()):
            if line.strip() or block:
                block.append(line[4:])
            continue
        close()
        block = None
        if line.endswith("::"):
            out.extend([f"**{line[:-2]}**", ""])
            block = []
        else:
            out.append(line)
    close()
    return "\n".join(out).strip()
