"""What a release does otherwise than the one before it: the text that a person reviews.

python scripts/ask/differences.py RAW_FOLDER 2.16          # against the release before it
python scripts/ask/differences.py RAW_FOLDER 2.16 2.13     # against another
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def outcome(form: dict[str, Any]) -> str:
    """traced, `breaks GB0036`, `raises TypeError`."""
    why = form.get("why", "")
    if form.get("outcome") == "breaks":
        return f"breaks {why[0].split(' ')[0]}" if not why[0].startswith("GB? ") else f"breaks ({why[0][4:40]})"
    if form.get("outcome") == "raises":
        return f"raises {re.split(r'[:(]', why)[0]}"
    return str(form.get("outcome", "not asked"))


def answered(answers: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The names that could be called in some way, with those ways."""
    found = {key: [f for f in forms if f.get("outcome") != "fails"] for key, forms in answers["forms"].items()}
    return {key: forms for key, forms in found.items() if forms}


def differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(heading, name, what) for every difference that a reader should see."""
    before, after = (answered(answers) for answers in (old, new))
    for key in sorted(before.keys() | after.keys()):
        if key not in after:
            yield "gone, or can no longer be called", key, ""
            continue
        if key not in before:
            yield "new", key, "; ".join(sorted({f"{outcome(f)} -> {f['result']}" for f in after[key]}))
            continue
        known = {form["source"]: form for form in before[key]}
        for form in after[key]:
            twin = known.get(form["source"])
            if twin is None:
                continue
            yield from compare(key, twin, form)
    numbers = old.get("numbers", {})
    for body, answer in sorted(new.get("numbers", {}).items()):
        if numbers.get(body, answer) != answer:
            yield "numbers", body, f"{numbers[body]} -> {answer}"


def compare(key: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    told, now = outcome(old), outcome(new)
    if "not asked" in (told, now):
        return
    if told.split(" ")[0] != now.split(" ")[0]:
        heading = (
            "breaks now"
            if now.startswith("breaks")
            else "breaks no more"
            if told.startswith("breaks")
            else "otherwise under Dynamo"
        )
        yield heading, key, f"{new['source']}: {told} -> {now}"
    elif told != now and "(" not in told + now:
        yield "another reason", key, f"{new['source']}: {told} -> {now}"
    if old["result"] != new["result"]:
        yield "returns something else", key, f"{new['source']}: {old['result']} -> {new['result']}"
    for name in ("mutates", "aliases", "follows", "fullgraph"):
        if name in old and name in new and old[name] != new[name]:
            yield name, key, f"{new['source']}: {old[name]} -> {new[name]}"


def report(folder: Path, release: str, against: str | None = None) -> str:
    """The differences as text, by heading."""
    releases = sorted((path.stem for path in folder.glob("2.*.json")), key=lambda r: int(r.split(".")[1]))
    against = against or releases[releases.index(release) - 1]
    old, new = (json.loads((folder / f"{r}.json").read_text()) for r in (against, release))
    found: dict[str, list[str]] = {}
    for heading, key, what in differences(old, new):
        found.setdefault(heading, []).append(f"  {key}  {what}".rstrip())
    lines = [f"torch {release} against {against}: {sum(map(len, found.values()))} differences"]
    for heading in sorted(found):
        lines += ["", f"{heading} ({len(found[heading])})", *found[heading]]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report(Path(sys.argv[1]), *sys.argv[2:4]))
