"""What torch does is data, not code: asked of every release, and the one place that knows.

`facts` is asked by name and release, `calls` by the kinds of a call's arguments; `traits` and `returns` say what an operation
computes, which no release changes. `table.json` and `results.json` are made by `scripts/ask`, `overlay.json` holds by hand what
cannot be asked, `graph_breaks.json` is Dynamo's registry of graph breaks.
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
    #: the setting of Dynamo that is off by default and with which, asked, it does not break
    switch: str = ""
    #: what is wrong then, though it does not break: seen where outputs and gradients were held against eager code
    switched: str = ""


@functools.cache
def graph_breaks() -> Mapping[str, GraphBreak]:
    """Every graph-break id, from GB0000 on."""
    import json
    from pathlib import Path

    text = Path(__file__).with_name("graph_breaks.json").read_text(encoding="utf-8")
    return {
        id_: GraphBreak(e["gb_type"], e["visibility"], e["family"], e.get("switch", ""), e.get("switched", ""))
        for id_, e in json.loads(text).items()
    }


def graph_break(id_: str) -> GraphBreak:
    return graph_breaks()[id_]
