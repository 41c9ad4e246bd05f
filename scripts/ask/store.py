"""Raw answers of all releases -> the one table that tclint reads.

    python scripts/ask/store.py RAW_FOLDER            # writes tclint/torch_facts/table.json
    python scripts/ask/store.py RAW_FOLDER --check    # exit 1 where the table would change

One line a name. Its forms, separated by ` ; `, are `arguments>result flags`; a form that does not hold on every release
begins with the releases on which it does, `[4-9,11]`. `tclint/torch_facts/form.py` reads them; its docstring has the grammar.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
FACTS = ROOT / "tclint" / "torch_facts"
TABLE = FACTS / "table.json"
#: The release whose ways of calling the others are asked.
REFERENCE = 13
STEADY = re.compile(r"object:|function|module|namespace|type|generator|iterator|dict|set|none")
VALUE = re.compile(r"(int|float|bool|str|bytes|complex|scalar|S\w|(list|tuple)\[(int|float|bool|str|list|S))")
HOLDER = re.compile(r"[TPN][a-z]\d|(list|tuple)\[.*[TPN][a-z]\d")


def minor(release: str) -> int:
    return int(release.split(".")[1])


def ranges(releases: list[int], known: list[int]) -> str:
    """`4-9,11`: runs of releases among those that were asked."""
    runs: list[list[int]] = []
    for place, release in enumerate(known):
        if release not in releases:
            continue
        if runs and runs[-1][1] == known[place - 1]:
            runs[-1][1] = release
        else:
            runs.append([release, release])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def signature(form: dict[str, Any]) -> str:
    """The kinds of a form's arguments, without dtype and rank."""
    return re.sub(r"\b([TPN])[a-z]\d", r"\1", json.dumps(form.get("arguments"), sort_keys=True))


def asked(raw: dict[str, Any]) -> set[str]:
    """The names that a release was asked about to some end: a way fared so or so, or none worked."""
    return {k for k in raw["asked"] if not raw["forms"].get(k) or any("outcome" in form for form in raw["forms"][k])}


def _ids() -> dict[str, str]:
    """The id of each kind of graph break, by its name."""
    registry = json.loads((FACTS / "graph_breaks.json").read_text())
    return {entry["gb_type"]: id_ for id_, entry in registry.items()}


class Table:
    """The answers of several releases, joined by the way of calling."""

    @classmethod
    def bare(cls) -> Table:
        """One without answers, which can write forms all the same."""
        made = cls.__new__(cls)
        made.ids = _ids()
        return made

    def __init__(self, folder: Path) -> None:
        self.raw: dict[int, dict[str, Any]] = {}
        #: Releases whose asking has not come far enough to be told.
        self.unfinished: list[str] = []
        for path in folder.glob("2.*.json"):
            raw = json.loads(path.read_text())
            forms = [form for answers in raw["forms"].values() for form in answers]
            if sum("outcome" in form for form in forms) < 0.6 * len(forms):
                self.unfinished.append(path.stem)
            else:
                self.raw[minor(path.stem)] = raw
        self.known = sorted(self.raw)
        self.asked = {release: asked(raw) for release, raw in self.raw.items()}
        self.ids = _ids()
        numbers = json.loads((ROOT / "benchmarks" / "specialised.json").read_text())["rows"]
        self.numbers = {f"{row['type']} {row['body']}": row for row in numbers}
        if REFERENCE in self.raw:  # benchmarks/specialised.py has asked that release, with six values
            told = {
                f"{row['type']} {row['body']}": "burned" if row["compiled"] >= 4 else "settles"
                for row in numbers
                if row["compiled"] != 3
            }
            self.raw[REFERENCE].setdefault("numbers", {}).update(told)

    def id(self, why: str) -> str:
        """The id of a break, from the text where the release prints none."""
        id_, _, text = why.partition(" ")
        return id_ if id_ != "GB?" else self.ids.get(text, "GB?")

    def outcome(self, form: dict[str, Any], later: dict[str, Any] | None) -> list[str]:
        """How Dynamo fares, as flags; a break without an id has the one that a later release gives the same call."""
        kind = form["outcome"]
        if kind == "breaks":
            ids = [self.id(why) for why in form["why"]]
            id_ = next((i for i in ids if i != "GB?"), "GB?")
            if id_ == "GB?" and later is not None and later.get("outcome") == "breaks":
                id_ = next((i for i in map(self.id, later["why"]) if i != "GB?"), "GB?")
            flags = [f"!{id_}"]
            if form.get("fullgraph") == "traced":
                flags.append("F")
            if form.get("made") == "traced":
                flags.append("I")
            return flags
        if kind == "raises":
            return ["^" + form["why"].split(":")[0].split("(")[0]]
        return {"traced": [], "skipped": ["~"], "crashes": ["%"]}[kind]

    def text(self, form: dict[str, Any], later: dict[str, Any] | None) -> str:
        labels = dict(
            sorted(form["arguments"].items(), key=lambda item: (item[0] != "self", not item[0].isdigit(), item[0]))
        )
        words = [kind if label.isdigit() or label == "self" else f"{label}={kind}" for label, kind in labels.items()]
        if (
            words[:1] == ["namespace"] and labels.get("self") == "namespace"
        ):  # operator.setitem(x, ...): x is the receiver
            words = words[1:]
        result = form["result"]
        flags = self.outcome(form, later)
        for letter, name in (("m", "mutates"), ("a", "aliases"), ("s", "same")):
            places = [place for place in form.get(name, ()) if place in labels]
            flags += [f"{letter}:{place}" for place in places]
        if form.get("follows"):
            flags.append("v")
        if form.get("reads") and VALUE.match(result) and any(HOLDER.match(kind) for kind in labels.values()):
            flags.append("r")
        if form.get("unsteady") and not STEADY.match(result):
            flags.append("u")
        again = form.get("again", "")
        if again in ("burned", "breaks"):
            flags.append({"burned": "B", "breaks": "X"}[again])
        return " ".join([f"{','.join(words)}>{result}", *flags])

    def forms(self, key: str) -> list[str]:
        """The forms of a name with the releases where they hold, in the order in which they were asked."""
        by_source: dict[str, dict[int, dict[str, Any]]] = {}
        for release in sorted(self.known, key=lambda r: (r != REFERENCE, -r)):
            for form in self.raw[release]["forms"].get(key, ()):
                if "outcome" in form:
                    by_source.setdefault(form["source"], {})[release] = form
        self.stand_in(key, by_source)
        seen: dict[str, list[int]] = {}
        for answers in by_source.values():
            for release in self.known:
                form = answers.get(release)
                if form is None or form["outcome"] == "fails":
                    continue
                later = next((answers[r] for r in self.known if r > release and self.has_id(answers.get(r))), None)
                seen.setdefault(self.text(form, later), []).append(release)
        return [self.line(text, found) for text, found in seen.items()]

    def stand_in(self, key: str, by_source: dict[str, dict[int, dict[str, Any]]]) -> None:
        """Fill in what a release was not asked.

        About another way of calling the same name: it fares as on the nearest release, where all the ways that both
        were asked about fare alike, and either every way fares so there or one of these differs in dtype or rank only.
        About the name: where the nearest releases before and after agree, it did in between.
        """
        asked = {source: dict(answers) for source, answers in by_source.items()}
        for source, answers in asked.items():
            for release in self.known:
                if release in answers or key not in self.asked[release]:
                    continue
                nearest = min(answers, key=lambda r: (abs(r - release), -r))
                both = [a for a in asked.values() if release in a and nearest in a]
                uniform = len({a[nearest]["outcome"] for a in asked.values() if nearest in a}) == 1
                like = uniform or any(signature(a[nearest]) == signature(answers[nearest]) for a in both)
                if both and like and all(a[release]["outcome"] == a[nearest]["outcome"] for a in both):
                    by_source[source][release] = answers[nearest]
        for answers in by_source.values():
            for release in [r for r in self.known if key not in self.asked[r]]:
                before = answers.get(max((r for r in self.known if r < release and key in self.asked[r]), default=0))
                after = answers.get(min((r for r in self.known if r > release and key in self.asked[r]), default=0))
                if before is not None and after is not None and before["outcome"] == after["outcome"]:
                    told = [r for r in answers if key in self.asked[r]]
                    answers[release] = answers[min(told, key=lambda r: (abs(r - release), -r))]

    def has_id(self, form: dict[str, Any] | None) -> bool:
        return (
            form is not None and form.get("outcome") == "breaks" and any(self.id(why) != "GB?" for why in form["why"])
        )

    def line(self, text: str, releases: list[int]) -> str:
        where = sorted(set(releases))
        return text if where == self.known else f"[{ranges(where, self.known)}]{text}"

    def burned(self) -> dict[str, list[str]]:
        """`#int 0 dim`: the place and the keyword of a number that each new value compiles again for."""
        found: dict[str, dict[str, list[int]]] = {}
        settled: dict[tuple[str, str, int], set[int]] = {}
        for release in self.known:
            for body, answer in self.raw[release].get("numbers", {}).items():
                row = self.numbers.get(body)
                if row is None or not re.fullmatch(r"(torch|Tensor|math|np|numpy)(\.[a-z_]\w*)+", row["op"]):
                    continue
                key = re.sub(r"^np\.", "numpy.", re.sub(r"^Tensor\.", "tensor#", row["op"]))
                place = "-" if row["position"] is None else str(row["position"])
                text = f"#{row['type']} {place} {row['keyword'] or '-'}"
                if answer == "burned":
                    found.setdefault(key, {}).setdefault(text, []).append(release)
                elif answer == "settles":
                    settled.setdefault((key, text, 0), set()).add(release)
        lines: dict[str, list[str]] = {}
        asked = [r for r in self.known if self.raw[r].get("numbers")]
        for key, entries in found.items():
            for text, releases in sorted(entries.items()):
                held = sorted(set(releases) - settled.get((key, text, 0), set()))
                if held:
                    where = "" if held == asked else f"[{ranges(held, asked)}]"
                    lines.setdefault(key, []).append(where + text)
        return lines

    def lines(self) -> dict[str, str]:
        names = sorted({key for raw in self.raw.values() for key in raw["forms"]})
        found = {name: self.forms(name) for name in names}
        for key, entries in self.burned().items():
            found.setdefault(key, []).extend(entries)
        return {key: " ; ".join(forms) for key, forms in sorted(found.items()) if forms}

    def write(self) -> str:
        head = {
            "releases": [f"2.{release}" for release in self.known],
            "torch": {f"2.{r}": self.raw[r]["torch"].split("+")[0] for r in self.known},
            "numbers": [f"2.{r}" for r in self.known if self.raw[r].get("numbers")],
        }
        body = ",\n".join(f"{json.dumps(key)}: {json.dumps(text)}" for key, text in self.lines().items())
        return f'{{"about": {json.dumps(head, sort_keys=True)},\n"names": {{\n{body}\n}}}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    table = Table(options.folder)
    text = table.write()
    if table.unfinished:
        print(f"left out, not yet asked: {', '.join(sorted(table.unfinished))}", file=sys.stderr)
    if options.check:
        return 0 if TABLE.exists() and TABLE.read_text() == text else 1
    TABLE.write_text(text)
    print(f"{TABLE.relative_to(ROOT)}: {len(text):,} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
