"""A name for a finding that survives edits elsewhere in its file, so that a service knows it again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from tclint.model.finding import Finding
from tclint.output.lines import Lines


def fingerprints(findings: Iterable[Finding], lines: Lines) -> list[str]:
    """One per finding, all different. Made of rule, file, function and the flagged text, not of line numbers."""
    seen: Counter[tuple[str, ...]] = Counter()
    result = []
    for finding in findings:
        text = " ".join(lines.line(finding.path, finding.line).split())
        key = (finding.code, finding.path, finding.function, text or finding.message)
        # Two findings that agree in all of it are told apart by their order.
        parts = (*key, str(seen[key]))
        seen[key] += 1
        result.append(hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32])
    return result
