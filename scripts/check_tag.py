"""Refuse a release whose tag is not the version: `python scripts/check_tag.py v0.1.0`.

The version stands in tclint/__init__.py and nowhere else; the changelog must have a section for it, with a date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version(root: Path = ROOT) -> str:
    """The version, read without importing anything."""
    found = re.search(r'^__version__ = "([^"]+)"$', (root / "tclint" / "__init__.py").read_text(encoding="utf-8"), re.M)
    if found is None:
        raise SystemExit("check_tag: tclint/__init__.py states no version")
    return found[1]


def problem(tag: str, root: Path = ROOT) -> str:
    """Why a tag is no release of this tree; empty where it is."""
    own = version(root)
    if tag != f"v{own}":
        return f"the tag {tag} is not v{own}: change __version__ in tclint/__init__.py, or the tag"
    section = re.search(rf"^## {re.escape(own)} \((.*)\)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    if section is None:
        return f"CHANGELOG.md has no section `## {own} (date)`"
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", section[1]):
        return f"CHANGELOG.md: the section {own} says {section[1]!r}: give it the date of the release"
    return ""


if __name__ == "__main__":
    if why := problem(sys.argv[1] if len(sys.argv) > 1 else ""):
        raise SystemExit(f"check_tag: {why}")
