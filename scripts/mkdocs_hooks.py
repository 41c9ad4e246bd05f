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


# What people paste who have met a hazard, and torch's own messages have no id: by the rule that is about it.
MESSAGES = {
    "TCL101": [
        "Data-dependent branching",
        "Detected data-dependent branching (e.g. if my_tensor.sum() > 0:). Dynamo does not support tracing dynamic control flow.",
    ],
    "TCL408": ["torch._dynamo hit config.recompile_limit (8)", "torch._dynamo hit config.cache_size_limit (8)"],
    "TCL302": ["skipping cudagraphs due to mutated inputs", "skipping cudagraphs due to index_put"],
}
FIRST = 4
_FENCED = re.compile(r"^```.*?^```", re.S | re.M)
_QUOTED = re.compile(r'(?<![\w"])"(\w[^"`|]{18,240}[\w.)])"(?!\w)')
_NAMED = re.compile(r"^- \[(GB\d{4})\]\(\S+\) (.+)$", re.M)


def search_words(code: str, description: str, markdown: str) -> list[str]:
    """What the page of a rule is found by before all others: Dynamo's ids and names for it, the messages it quotes."""
    text = _FENCED.sub("", markdown).partition("## Silence it")[0]
    # The first id is the one that the rule is about; the same id may be among the others of many rules.
    first, *others = [list(found.groups()) for found in _NAMED.finditer(text)] or [[]]
    named = first * FIRST + [word for pair in others for word in pair]
    quoted = [" ".join(words.split()) for words in _QUOTED.findall(text)]
    long = [words for words in quoted if words.count(" ") > 3]
    return [*named, description, *MESSAGES.get(code, []) * FIRST, *long]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """On the page of hazards, the codes of rules lead to their pages; the pages of rules have their words for the search."""
    code = re.fullmatch(r"rules/(TCL\d{3})\.md", page.file.src_uri)
    if code is not None:
        page.meta["tags"] = search_words(code[1], str(page.meta.get("description", "")), markdown)
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
