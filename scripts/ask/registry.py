"""Dynamo's registry of graph breaks, as the installed torch has it, into `tclint/torch_facts/graph_breaks.json`.

    python scripts/ask/registry.py            # writes it; new ids are `unclassified` until a person has looked
    python scripts/ask/registry.py --check    # exit 1 where the file would change

Visibility (whether source can show the break), family and the switch without which Dynamo breaks are written by hand, and kept:
the registry's hints name switches too, but not all of those help where they are asked.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

REGISTRY = Path(__file__).resolve().parents[2] / "tclint" / "torch_facts" / "graph_breaks.json"
Entries = dict[str, dict[str, Any]]


def joined(asked: dict[str, list[dict[str, Any]]], known: Entries) -> Entries:
    """The ids of a torch, each with what is known of it; an id that torch has dropped keeps its name."""
    found: Entries = {}
    for id_, entries in asked.items():
        before = known.get(id_, {})
        found[id_] = {
            "gb_type": entries[0]["Gb_type"],
            "visibility": before.get("visibility", "unclassified"),
            "family": before.get("family"),
            **{key: before[key] for key in ("switch", "switched") if key in before},
        }
    for id_, before in known.items():
        found.setdefault(id_, {**before, "visibility": "obsolete"})
    return dict(sorted(found.items()))


def written(table: Entries) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(id_)}: {json.dumps(entry)}" for id_, entry in table.items()) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    import torch

    asked = json.loads((Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json").read_text())
    text = written(joined(asked, json.loads(REGISTRY.read_text())))
    if options.check:
        return int(text != REGISTRY.read_text())
    REGISTRY.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
