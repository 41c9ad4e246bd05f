"""What of the language Dynamo does not trace, by release: an exception raised again, an object as a key of a dict.

`scripts/ask/language.py` has a program for each feature and asks installed releases; `language.json` is what they said.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from tclint.torch_facts import facts


@dataclass(frozen=True)
class Feature:
    """One feature of the language: in words, on which of the releases that were asked the graph breaks, and what to do."""

    words: str
    breaks: frozenset[int]
    help: str = ""


@dataclass(frozen=True)
class Table:
    releases: tuple[int, ...]
    features: dict[str, Feature]


@functools.cache
def table() -> Table:
    """What all releases said, loaded once."""
    loaded = json.loads(Path(__file__).with_name("language.json").read_text(encoding="utf-8"))
    releases = tuple(int(release.split(".")[1]) for release in loaded["releases"])
    features = {
        name: Feature(words, frozenset(r for r in releases if where and facts.holds(where, r)), *help_)
        for name, (words, where, *help_) in loaded["features"].items()
    }
    return Table(releases, features)


@functools.cache
def owners() -> frozenset[str]:
    """What has attributes at which the graph breaks on some release: `sys.version_info`."""
    start = "attribute of "
    return frozenset(n.removeprefix(start) for n in table().features if n.startswith(start) and "." in n)


def broken(name: str, release: str) -> Feature | None:
    """The feature where the graph breaks at it on the release, or on the nearest one that was asked; else nothing."""
    asked = table()
    found = asked.features.get(name)
    if found is None or not found.breaks:
        return None
    wanted = int(release.split(".")[1])
    nearest = min(asked.releases, key=lambda r: (abs(r - wanted), -r))
    return found if nearest in found.breaks else None


def span(feature: Feature) -> str:
    """`until 2.9`, `since 2.15`; nothing where the graph breaks on every release that was asked, or on and off."""
    asked = table().releases
    told = [release in feature.breaks for release in asked]
    first, last = told.index(True), len(told) - 1 - told[::-1].index(True)
    if not all(told[first : last + 1]):
        return ""
    since = f"since 2.{asked[first]}" if first else ""
    until = f"until 2.{asked[last]}" if last < len(asked) - 1 else ""
    return " ".join(filter(None, (since, until)))
