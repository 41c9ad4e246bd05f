"""The page of a diagnosis in a real browser: nothing is cut, at the width of a desk and of a telephone, light and dark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import browser
import pytest

from tclint.diagnose import report_html
from tclint.diagnose.measurement import Diagnosis

LOOKS = r"""
(() => {
  const cut = [], words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node; (node = words.nextNode());) {
    for (const word of node.data.matchAll(/[\w+.]{2,24}/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) cut.push(word[0]);
    }
  }
  const wide = [...document.querySelectorAll(".wide")].filter((box) => box.scrollWidth > box.clientWidth + 1).length;
  return {page: document.documentElement.scrollWidth, cut, wide, back: getComputedStyle(document.body).backgroundColor};
})()
"""
"""How wide the page is, which words go on in the next line, how many tables are wider than their card."""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Tab]:
    with browser.opened(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut(tab: browser.Tab, diagnosis: Diagnosis, tmp_path: Path, width: int, dark: bool) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_html.render(diagnosis), encoding="utf-8")
    tab.show(page.as_uri(), width, dark)
    looked = tab.ask(LOOKS)
    if kept := os.environ.get("TCLINT_PICTURES", ""):
        tab.picture(Path(kept) / f"diagnose-{width}-{'dark' if dark else 'light'}.png")
    assert looked["page"] <= width, "the page is wider than the screen"
    assert looked["cut"] == []
    assert looked["wide"] == 0, "a table is wider than its card"
    assert (looked["back"] == "rgb(16, 20, 28)") is dark
