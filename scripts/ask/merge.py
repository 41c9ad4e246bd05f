"""One more release into the table: its raw answers beside what the table knows, without those of the others.

    python scripts/ask/merge.py FOLDER/raw/2.16.json            # what it does otherwise than the newest before it
    python scripts/ask/merge.py FOLDER/raw/2.16.json --write    # and into tclint/torch_facts/table.json

A line of the table holds on the new release where the same way of calling did the same there. A way that it was not asked
stands in, where all the ways that both were asked did the same.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import store

NUMBERS = "#"


def given(line: str) -> str:
    """The arguments of a line of the table: the way of calling."""
    return line.partition(" ")[0].rpartition(">")[0]


def where(line: str, known: list[int]) -> tuple[list[int], str]:
    """The releases of a line, and the line without them."""
    if line[0] != "[":
        return known, line
    told, _, text = line[1:].partition("]")
    runs = [run.partition("-") for run in told.split(",")]
    return [r for r in known if any(int(a) <= r <= int(b or a) for a, _, b in runs)], text


class Merged:
    """The table with one more release."""

    def __init__(self, table: dict[str, Any], raw: dict[str, Any]) -> None:
        self.about, self.names = table["about"], table["names"]
        self.torch = raw["torch"].split("+")[0]
        self.release = store.minor(self.torch)
        self.before = [r for r in map(store.minor, self.about["releases"]) if r != self.release]
        self.known = sorted([*self.before, self.release])
        self.nearest = min(self.before, key=lambda r: (abs(r - self.release), -r))
        self.asked = store.asked(raw)
        self.new = {key: self._texts(forms) for key, forms in raw["forms"].items()}

    def _texts(self, forms: list[dict[str, Any]]) -> list[str]:
        told = [form for form in forms if form.get("outcome") not in (None, "fails")]
        return list(dict.fromkeys(_packer().text(form, None) for form in told))

    def old(self, key: str) -> list[tuple[list[int], str]]:
        """The lines of a name, with the other releases on which each holds."""
        lines = (where(line, self.before) for line in self.names.get(key, "").split(" ; ") if line)
        return [([r for r in releases if r != self.release], text) for releases, text in lines]

    def lines(self, key: str) -> str:
        """What the table says of a name with the new release in it."""
        old, new = self.old(key), self.new.get(key, [])
        ways = {given(text) for text in new}
        nearest = [text for releases, text in old if self.nearest in releases and text[0] != NUMBERS]
        alike = all(text in new for text in nearest if given(text) in ways) and bool(new)
        found: dict[str, list[int]] = {}
        for releases, text in old:
            holds = text in new or (alike and text in nearest and given(text) not in ways)
            if text[0] == NUMBERS:
                holds = self.nearest in releases
            found.setdefault(text, []).extend([*releases, *([self.release] if holds else [])])
        for text in new:
            if text not in found:
                found[text] = [self.release]
        return " ; ".join(self._line(text, releases) for text, releases in found.items() if releases)

    def _line(self, text: str, releases: list[int]) -> str:
        held = sorted(set(releases))
        return text if held == self.known else f"[{store.ranges(held, self.known)}]{text}"

    def written(self, part: bool = False) -> str:
        """The whole table; with `part`, what the raw answers do not have stays as it is."""
        names = {key: self.lines(key) for key in sorted({*self.names, *self.new}) if key in self.new or not part}
        if part:
            names = dict(sorted({**self.names, **names}.items()))
        about = {
            **self.about,
            "releases": [f"2.{release}" for release in self.known],
            "torch": {**self.about["torch"], f"2.{self.release}": self.torch},
        }
        body = ",\n".join(f"{json.dumps(key)}: {json.dumps(text)}" for key, text in names.items() if text)
        return f'{{"about": {json.dumps(about, sort_keys=True)},\n"names": {{\n{body}\n}}}}\n'

    def differences(self) -> Iterator[tuple[str, str]]:
        """(heading, what) for all that a person should look at."""
        for key in sorted({*self.names, *self.new}):
            old = [text for releases, text in self.old(key) if self.nearest in releases and text[0] != NUMBERS]
            new = self.new.get(key, [])
            if old and not new and key in self.asked:
                yield "gone, or can no longer be called", key
            elif new and not old:
                yield "new", f"{key}  {' ; '.join(new)}"
            for way in dict.fromkeys(map(given, new)):
                before = [text for text in old if given(text) == way]
                after = [text for text in new if given(text) == way]
                if before and set(before) != set(after):
                    yield _heading(before, after), f"{key}  {' ; '.join(before)}  ->  {' ; '.join(after)}"

    def report(self) -> str:
        found: dict[str, list[str]] = {}
        for heading, what in self.differences():
            found.setdefault(heading, []).append(f"  {what}")
        count = sum(map(len, found.values()))
        lines = [f"torch 2.{self.release} against 2.{self.nearest}: {count} differences"]
        for heading in sorted(found):
            lines += ["", f"{heading} ({len(found[heading])})", *found[heading]]
        return "\n".join(lines)


def _heading(before: list[str], after: list[str]) -> str:
    told, now = (any(re.search(r" [!~]", text) for text in texts) for texts in (before, after))
    if told != now:
        return "breaks now" if now else "breaks no more"
    results = [{text.partition(" ")[0] for text in texts} for texts in (before, after)]
    return "returns something else" if results[0] != results[1] else "otherwise"


def _packer() -> store.Table:
    """The store's way of writing a form, without any raw answers."""
    if not _PACKER:
        _PACKER.append(store.Table.bare())
    return _PACKER[0]


_PACKER: list[store.Table] = []


def merged(raw: Path) -> Merged:
    return Merged(json.loads(store.TABLE.read_text()), json.loads(raw.read_text()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--part", action="store_true", help="the answers are to a part of the names: `run.py --only`")
    options = parser.parse_args()
    table = merged(options.raw)
    print(table.report())
    if options.write:
        store.TABLE.write_text(table.written(options.part))
    return 0


if __name__ == "__main__":
    sys.exit(main())
