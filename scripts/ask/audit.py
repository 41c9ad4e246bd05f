"""The overlay held against torch: what was written by hand and can be tried after all.

    python scripts/ask/audit.py            # tries every name of `overlay.json` that a check is written for, writes audit.json
    python scripts/ask/audit.py --check    # exit 1 where an answer is another than the stored one

For each effect that has a check: the names for which torch agrees (`so`), those for which it does not (`not so`), and those
that could not be tried here. Besides, the names of torch, numpy and Python that do not exist in this release.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from effects import CHECKS, found  # noqa: E402

OVERLAY = HERE.parent.parent / "tclint" / "torch_facts" / "overlay.json"
ANSWERS = HERE / "audit.json"
ROOTS = ("torch", "numpy", "builtins", "math", "itertools", "functools", "contextlib", "random", "time")


def names_of(overlay: dict[str, Any], release: int) -> Iterator[tuple[str, list[str]]]:
    """The effects with the names that have them on a release."""
    for effect, entries in overlay["effects"].items():
        held = [
            each for each in entries if minor(each.get("since", "2.0")) <= release <= minor(each.get("until", "2.99"))
        ]
        yield effect, list(dict.fromkeys(name for entry in held for name in " ".join(entry["names"]).split()))


def minor(release: str) -> int:
    return int(release.split(".")[1])


def missing(name: str) -> bool:
    """Whether a full name is of torch, numpy or Python, and is not there."""
    plain = name.partition(":")[0]
    root = plain.replace("#", ".").partition(".")[0]
    if "*" in plain or plain.endswith((".", "_")) and "." in plain and not plain.startswith(("Tensor.", "tensor#")):
        return False
    if root not in (*ROOTS, "Tensor", "tensor", "ndarray") or "." not in plain.replace("#", "."):
        return False
    try:
        found(plain)
    except (AttributeError, ImportError):
        return True
    return False


def holds(effect: str, name: str) -> str:
    """Whether torch agrees that a name has an effect, in a word."""
    wanted = {"is false while compiling": False, "is None while compiling": None}.get(effect, True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "so" if CHECKS[effect](name) is wanted else "not so"
    except Exception:
        return "could not"


def audit() -> dict[str, Any]:
    """What the installed torch says of the overlay."""
    import torch

    overlay = dict(names_of(json.loads(OVERLAY.read_text(encoding="utf-8")), minor(torch.__version__)))
    told: dict[str, Any] = {"release": f"2.{minor(torch.__version__)}", "not there": {}, "effects": {}}
    for effect, names in overlay.items():
        gone = sorted(name for name in names if missing(name))
        if gone:
            told["not there"][effect] = gone
        if effect in CHECKS:
            by_answer: dict[str, list[str]] = {"so": [], "not so": [], "could not": []}
            for name in sorted(set(names) - set(gone)):
                by_answer[holds(effect, name)].append(name)
            told["effects"][effect] = {answer: " ".join(which) for answer, which in by_answer.items() if which}
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = json.dumps(audit(), indent=1) + "\n"
    if options.check:
        return int(text != ANSWERS.read_text(encoding="utf-8"))
    ANSWERS.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
