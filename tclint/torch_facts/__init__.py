"""What torch does is data, not code: tables read from an installed torch, and measured on it.

`generated` holds the tables, `versions` what changed between releases, `graph_breaks.json` Dynamo's registry of graph
breaks. `scripts/make_torch_facts.py` writes all but `versions`; `measured.json` is what it saw, kept for its next run.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple


class GraphBreak(NamedTuple):
    """One id of Dynamo's registry."""

    gb_type: str
    #: static (source can show it), runtime, internal, obsolete, or unclassified
    visibility: str
    family: str | None


@functools.cache
def graph_breaks() -> Mapping[str, GraphBreak]:
    """Every graph-break id, from GB0000 on."""
    import json
    from pathlib import Path

    text = Path(__file__).with_name("graph_breaks.json").read_text(encoding="utf-8")
    return {id_: GraphBreak(e["gb_type"], e["visibility"], e["family"]) for id_, e in json.loads(text).items()}


def graph_break(id_: str) -> GraphBreak:
    return graph_breaks()[id_]
