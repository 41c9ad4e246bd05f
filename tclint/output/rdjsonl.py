"""reviewdog's diagnostic format, one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tclint.output import RuleInfo, Sources
from tclint.output.rdjson import diagnostics

if TYPE_CHECKING:
    from tclint.model.report import Report


def render(
    report: Report,
    *,
    color: bool,
    width: int,
    sources: Sources,
    rules: Sequence[RuleInfo] = (),
    summary: bool = True,
    verbose: bool = False,
) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in diagnostics(report, sources))
