"""How often each rule fired, for `--statistics`."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from tclint.output import words
from tclint.output.palette import Palette

if TYPE_CHECKING:
    from tclint.model.report import Report


def render(report: Report, *, color: bool, as_json: bool = False) -> str:
    counts = Counter((f.code, f.name, f.severity, f.effect) for f in report.findings)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0][0]))
    if as_json:
        rows = [
            {"code": code, "name": name, "severity": severity.value, "effect": effect.value, "count": count}
            for (code, name, severity, effect), count in ordered
        ]
        return json.dumps(rows, indent=2) + "\n"
    paint = Palette(color)
    digits = max((len(str(count)) for count in counts.values()), default=1)
    longest = max((len(name) for _, name, _, _ in counts), default=1)
    return "".join(
        f"{count:>{digits}}  {paint.severity(severity.value, code)} {name:<{longest}}"
        f"  {severity.value} · {words.ONE[effect]}\n"
        for (code, name, severity, effect), count in ordered
    )
