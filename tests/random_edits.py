"""Edits at random, as somebody makes them who moves things about: lines come and go, definitions change places."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

from lintkit import ROOT, Project

EDITS = int(os.environ.get("TCLINT_RANDOM_EDITS", "8"))
"""How many edits a test makes."""
COMINGS = (
    "\n",
    "# note\n",
    "import torch\n",
    "# tclint: ignore[TCL1]\n",
    "x = 1  # noqa\n",
    '"""\n',
    "# noqa: TCL101\n",
)
"""Lines that come; what a comment silences is kept by the text of its file."""


def edited(source: str, number: int, dice: random.Random) -> str:
    """A text after an edit."""
    text = source.splitlines(keepends=True)
    place = dice.randrange(len(text)) if text else 0
    starts = [i for i, line in enumerate(text) if line.startswith(("def ", "class ", "@", "import ", "from "))]
    if number % 2 and len(starts) > 2:
        first, second, third = sorted(dice.sample(starts, 3))
        text[first:third] = [*text[second:third], *text[first:second]]
    elif text and dice.random() < 0.4:
        del text[place]
    elif text and dice.random() < 0.5:
        line = text[place]
        text[place] = line[: len(line) - len(line.lstrip())] + "x = x.item()\n"
    else:
        text.insert(dice.randrange(len(text) + 1), dice.choice(COMINGS))
    return "".join(text)


def over(project: Project, fixtures: str, most: int, seed: int) -> Iterator[str]:
    """Copy the demo and some fixtures of rules into a project, and edit one file after the other: the names of those that were."""
    chosen = sorted((ROOT / "fixtures" / "demo").rglob("*.py"))
    chosen += sorted((ROOT / "fixtures" / "rules").glob(fixtures))[:most]
    for path in chosen:
        project.write({f"{path.parent.name}/{path.name}": path.read_bytes()})
    dice = random.Random(seed)
    names = sorted(p.relative_to(project.root).as_posix() for p in project.root.rglob("*.py"))
    for number in range(EDITS):
        name = dice.choice(names)
        project.write({name: edited((project.root / name).read_text(), number, dice).encode()})
        yield name
