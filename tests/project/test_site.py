"""The documentation site builds without a warning, and no link on it leads nowhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lintkit import ROOT

pytest.importorskip("mkdocs")
pytest.importorskip("material")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    # mkdocs-material advertises its successor on stderr.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    done = subprocess.run(
        [*command, "--site-dir", str(out)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return out


class Page(HTMLParser):
    """The ids and the references of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.update(value for name in ("id", "name") if (value := given.get(name)))
        if tag == "a" and (target := given.get("href")):
            self.links.append(target)
        self.loaded += [target for name in ("src", "srcset", "data") if (target := given.get(name))]
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload") and (target := given.get("href")):
            self.loaded.append(target)


@cache
def page(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def test_every_link_leads_somewhere(site: Path) -> None:
    broken = []
    pages = sorted(path for path in site.rglob("*.html") if path.name != "404.html")
    assert len(pages) > 90
    for path in pages:
        for target in [*page(path).links, *page(path).loaded]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            lost = parts.fragment and to.suffix == ".html" and to.exists()
            if not to.exists() or (lost and unquote(parts.fragment) not in page(to).ids | {"__comments"}):
                broken.append(f"{path.relative_to(site)}: {target}")
    assert broken == []


def test_nothing_is_fetched_from_the_net(site: Path) -> None:
    for path in site.rglob("*.html"):
        for target in page(path).loaded:
            assert not urlsplit(target).netloc, f"{path.relative_to(site)} loads {target}"


def test_pictures_need_nothing(site: Path) -> None:
    for path in (site / "assets").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "url(http" not in text
        assert "@import" not in text


def test_every_rule_has_a_page(site: Path) -> None:
    from tclint.ruleset.loading import load_rules

    for rule in load_rules():
        text = (site / "rules" / rule.code / "index.html").read_text(encoding="utf-8")
        assert rule.name in text
        assert "What torch does" in text
        for gb in rule.graph_breaks:
            assert gb in page(site / "graph-breaks" / "index.html").ids


def test_only_reserved_pages_are_missing() -> None:
    import yaml

    class Loader(yaml.SafeLoader):
        """mkdocs.yml has tags of its own."""

    Loader.add_multi_constructor("!", lambda loader, suffix, node: None)
    nav = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)["nav"]

    def targets(entry: object) -> list[str]:
        if isinstance(entry, dict):
            return [target for value in entry.values() for target in targets(value)]
        return [t for each in entry for t in targets(each)] if isinstance(entry, list) else [str(entry)]

    missing = {target for target in targets(nav) if not (ROOT / "docs" / target).exists()}
    assert not missing


def found(site: Path, how: str, *queries: str) -> list[list[str]]:
    """The pages that the site's own search finds, the best first."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: nobody runs the search of the browser")
    command = [node, str(Path(__file__).parent / "search.mjs"), how, str(site), *queries]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


TYPED = {".item()": "TCL103", "GB0170": "TCL101", "recompile limit": "TCL408", "tokenizer": "TCL102"}
PASTED = {
    **TYPED,
    "torch._dynamo hit config.recompile_limit (8)": "TCL408",
    "Unsupported Tensor.item() call with capture_scalar_outputs=False": "TCL103",
    "Data-dependent branching\n  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).": "TCL101",
    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run.": "TCL301",
    "skipping cudagraphs due to mutated inputs": "TCL302",
}


@pytest.mark.parametrize(("how", "queries"), [("typed", TYPED), ("pasted", PASTED)])
def test_the_search_finds_the_right_rule_first(site: Path, how: str, queries: dict[str, str]) -> None:
    best = [pages[0] if pages else "" for pages in found(site, how, *queries)]
    assert dict(zip(queries, best, strict=True)) == {query: f"rules/{code}/" for query, code in queries.items()}


def test_install_line_and_picture_come_before_everything_else(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    text = text[text.index('<article class="md-content__inner') :]
    places = [text.index(part) for part in ("<h1", "pip", "terminal.svg", "<li>")]
    assert places == sorted(places)
    # Above them is one paragraph.
    assert text[: places[1]].count("<p>") == 1


def test_tags_are_for_the_search_only(site: Path) -> None:
    assert "md-tags" not in (site / "rules" / "TCL103" / "index.html").read_text(encoding="utf-8")
