"""What mkdocs.yml cannot say: the rules' pages in the navigation, and pages that other branches bring.

`mkdocs build --strict` calls these functions; see mkdocs.yml.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GROUPS = {
    "1": "Graph breaks (1xx)",
    "2": "Recompiles (2xx)",
    "3": "CUDA graphs (3xx)",
    "4": "The compile call (4xx)",
    "5": "Silent or slow (5xx)",
}


def on_config(config: Any) -> Any:
    docs = Path(config["docs_dir"])
    config["nav"] = [_with_rules(entry, docs) for entry in config["nav"]]
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """On the page of hazards, the codes of rules lead to their pages."""
    if page.file.src_uri != "hazards.md":
        return markdown
    return re.sub(r"\b(TCL\d{3})(?= [a-z])", r"[\1](rules/\1.md)", markdown)


def _with_rules(entry: Any, docs: Path) -> Any:
    if not (isinstance(entry, dict) and "Rules" in entry):
        return entry
    pages: dict[str, list[dict[str, str]]] = {}
    for path in sorted((docs / "rules").glob("TCL*.md")):
        title = next(line[7:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("title: "))
        group = GROUPS.get(path.stem[3], f"{path.stem[3]}xx")
        pages.setdefault(group, []).append({title: f"rules/{path.name}"})
    return {"Rules": [*entry["Rules"], *({group: listed} for group, listed in pages.items())]}
