"""The reports of a diagnosis: every number arrives, and the HTML is one well-formed file that needs nothing else."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from typing import Any

import pytest
from diagnosis_helpers import sample, timing

from tclint.diagnose import figures, plot, report_html, report_json, report_markdown, report_text
from tclint.diagnose.breaks import breaks_of
from tclint.diagnose.measurement import Diagnosis, ModeRow, Modes, SpeedRow
from tclint.diagnose.verdict import headline, verdict_of
from tclint.model import codec
from tclint.verify.heard import Break, Frame, Heard, Run

VOID = {"meta", "br", "hr", "img", "link", "input"}


def test_json_comes_back_as_it_went(diagnosis: Diagnosis) -> None:
    assert codec.decode(Diagnosis, json.loads(report_json.render(diagnosis))) == diagnosis


def test_damaged_json_is_named_by_its_place(diagnosis: Diagnosis) -> None:
    data = json.loads(report_json.render(diagnosis))
    data["speed"]["rows"][0]["eager"]["median_ms"] = "fast"
    with pytest.raises(codec.Malformed, match=r"speed\.rows\[0\]\.eager\.median_ms"):
        codec.decode(Diagnosis, data)


class _Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_html_is_well_formed_and_needs_nothing_else(diagnosis: Diagnosis) -> None:
    page = report_html.render(diagnosis)
    checker = _Checker()
    checker.feed(page)
    assert checker.wrong == []
    assert checker.open == []
    assert not [value for name, value in checker.attributes if name in ("src", "href", "srcset", "action")]
    assert "<script" not in page
    assert "@import" not in page
    assert "url(" not in page
    for address in re.findall(r"https?://[^\"' ]+", page):
        assert address == "http://www.w3.org/2000/svg"
    assert "prefers-color-scheme:dark" in page


def test_html_has_every_plot(diagnosis: Diagnosis) -> None:
    page = report_html.render(diagnosis)
    drawn = [ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    titles = [each.attrib["aria-label"] for each in drawn]
    assert titles == [
        "programs and breaks",
        "step times",
        "peak memory",
        "step times by mode",
        "compile latency",
        "Programs compiled so far, over a varying batch",
    ]


def test_html_escapes_what_programs_say(diagnosis: Diagnosis) -> None:
    page = report_html.render(diagnosis)
    assert "<call>" not in page
    assert "Unsupported &lt;call&gt;" in page


def _poisoned(value: Any, text: str) -> Any:
    """A diagnosis in which everything that anybody could have written says something else too."""
    if isinstance(value, str):
        return value + text
    if isinstance(value, tuple):
        return tuple(_poisoned(each, text) for each in value)
    if isinstance(value, dict):
        return {_poisoned(key, text): _poisoned(each, text) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        # How severe a finding is and what a row is called are words of ours.
        own = [f.name for f in fields(value) if f.init and f.name not in ("severity", "label")]
        return replace(value, **{name: _poisoned(getattr(value, name), text) for name in own})
    return value


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "</style></svg></title><img src=x onerror=alert(1)>",
        "\"' onload='alert(1)' x=\"",
        "]]><!-- & &lt;b&gt; javascript:alert(1)",
        "<a href=http://example.com>" + "y" * 300,
    ],
)
def test_whatever_a_diagnosis_says_adds_nothing_to_its_page(diagnosis: Diagnosis, text: str) -> None:
    """The same elements with the same attributes, and no more of them, as a parser of HTML reads the page."""

    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__(convert_charrefs=True)
            self.found: list[tuple[str, tuple[str, ...]]] = []
            self.said = ""

        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            self.found.append((tag, tuple(name for name, _ in attributes)))

        def handle_comment(self, data: str) -> None:
            self.found.append(("comment", ()))

        def handle_data(self, data: str) -> None:
            self.said += data

    def read(given: Diagnosis) -> Reader:
        reader = Reader()
        reader.feed(report_html.render(given))
        reader.close()
        return reader

    # Words that mean something to the page (which state, which verdict) mean nothing any more in either of them.
    plain, poisoned = read(_poisoned(diagnosis, "z" * len(text))), read(_poisoned(diagnosis, text))
    assert poisoned.found == plain.found
    assert text[:40] in poisoned.said
    assert not [
        name for _, names in poisoned.found for name in names if name.startswith("on") or name in ("src", "href")
    ]
    assert "script" not in {tag for tag, _ in poisoned.found}


def test_bars_are_as_long_as_their_values() -> None:
    drawn = plot.bars("t", [plot.Group("a", (plot.Bar(10, "10"), plot.Bar(5, "5"), plot.Bar(0, "0")))])
    long = [float(each) for each in re.findall(r'class="s0" d="M[\d.]+ [\d.]+h([\d.]+)q', drawn)]
    room = plot.WIDTH - plot.LABEL - plot.VALUE
    assert long[0] == pytest.approx(room - 3, abs=0.1)
    assert long[1] == pytest.approx(room / 2 - 3, abs=0.1)
    assert long[2] == 0


def test_markdown_has_the_severity_table(diagnosis: Diagnosis) -> None:
    text = report_markdown.render(diagnosis)
    assert "| Category | High | Medium | Low | No rule | Total |" in text
    assert "| Graph breaks | 1 | 0 | 0 | 0 | 1 |" in text
    assert "| Recompiles | 0 | 0 | 0 | 1 | 1 |" in text
    assert "### [HIGH] Graph break: TCL102 tokenizer-in-forward" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") >= 3


def test_text_says_what_was_not_measured(diagnosis: Diagnosis) -> None:
    text = report_text.render(diagnosis, 120, False)
    assert "numerics: failed – the target's process died of a segmentation fault" in text
    assert "modes: in part – re-entry: needs cuda" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_text_keeps_to_its_width(diagnosis: Diagnosis, width: int) -> None:
    text = report_text.render(diagnosis, width, False)
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize(
    ("eager", "compiled", "word"), [(10.0, 9.4, "keep"), (10.0, 9.51, "stay eager"), (10.0, 12.0, "stay eager")]
)
def test_the_five_percent_rule(eager: float, compiled: float, word: str) -> None:
    assert verdict_of(SpeedRow("forward", timing(eager), timing(compiled), 1.0)).word == word


def test_a_step_that_waits_for_its_launches_is_told(diagnosis: Diagnosis) -> None:
    assert "GPU busy" not in report_text.render(diagnosis, 120, False)
    assert diagnosis.speed is not None
    first, second = diagnosis.speed.rows
    first = replace(first, eager_gpu_ms=0.8, compiled_gpu_ms=0.5)
    second = replace(second, eager_gpu_ms=8.9, compiled_gpu_ms=9.1)
    for render in (report_markdown.render, report_html.render):
        text = render(replace(diagnosis, speed=replace(diagnosis.speed, rows=(first, second))))
        assert "GPU busy" in text
        assert "20% → 25%" in text
        assert "99% → 100%" in text, "of a whole that was measured at another time"
        assert text.count("waits for the host") == 1
        assert "the GPU works 500.0 µs of 2.00 ms" in text


def test_modes_tell_how_busy_the_gpu_is(diagnosis: Diagnosis) -> None:
    assert diagnosis.modes is not None
    first, second = diagnosis.modes.rows
    rows = (replace(first, gpu_ms=0.5), replace(second, gpu_ms=0.6))
    text = report_markdown.render(replace(diagnosis, speed=None, modes=replace(diagnosis.modes, rows=rows)))
    assert "GPU busy" in text
    lines = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("|")}
    assert "| 25% |" in lines["default"]
    assert "| 60% |" in lines["reduce-overhead"]


def test_a_difference_within_the_spread_is_said_to_be() -> None:
    row = SpeedRow("forward", timing(10.0, 3.0), timing(9.0, 3.0), 1.0)
    assert "within the spread" in verdict_of(row).words


def test_the_headline_tells_kinds_apart(diagnosis: Diagnosis) -> None:
    assert headline(diagnosis) == "inference: keep (+50%); training: stay eager (+1%)"
    assert headline(replace(diagnosis, speed=None)).startswith("no verdict")


def test_an_empty_diagnosis_can_be_reported() -> None:
    empty = Diagnosis("tclint-diagnose/1", "m:f", "cpu")
    for render in (report_html.render, report_markdown.render, report_json.render):
        assert render(empty)
    assert "no verdict" in report_text.render(empty, 100, False)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0123, "12.3 µs"), (1.5, "1.50 ms"), (250.0, "250 ms"), (2500.0, "2.50 s"), (None, "–")]
)
def test_times_have_units(value: float | None, text: str) -> None:
    assert figures.ms(value) == text


def test_sample_is_stable() -> None:
    assert report_html.render(sample()) == report_html.render(sample())


def test_all_modes_are_held_against_one_eager_step() -> None:
    """Each mode's child measures eager too, and a busy host makes one of them slower."""
    rows = tuple(
        ModeRow(mode, 1.0, timing(eager), timing(compiled))
        for mode, eager, compiled in (("default", 4.0, 2.5), ("reduce-overhead", 2.0, 1.0))
    )
    told = replace(sample(), modes=Modes(rows))
    section = next(each for each in figures.sections(told) if each.name == "modes")
    assert [row[3] for row in section.rows] == ["0.80×", "2.00×"]
    page = report_html.render(told)
    assert "2.00 ms" in page.partition("step times by mode")[2]
    assert "4.00 ms" not in page.partition("step times by mode")[2]


def test_card_chart_and_table_count_the_same_breaks(diagnosis: Diagnosis) -> None:
    """A break that is heard twice in one run is one; one that only another mode has is one more."""
    said = Break("m.py", 4, "print", "words", "GB0059")
    other = Break("m.py", 9, "branch", "words", "GB0170")
    train = Run("breaks", "train", "factory", breaks=(said, said, said), frames=(Frame("m.py", 2, "forward", 3),))
    evaluation = Run("breaks", "eval", "factory", breaks=(said, other))
    found = breaks_of(Heard(runs=(train, evaluation)), lambda path: True, lambda path, line: ("Net.forward", 2))
    assert [(row.line, row.modes) for row in found.breaks] == [(4, ("train", "eval")), (9, ("eval",))]
    assert [(row.programs, row.breaks) for row in found.frames] == [(3, 2)]
    page = report_html.render(replace(diagnosis, breaks=found, findings=()))
    assert "<span>graph breaks</span><b>2</b>" in page
    assert re.findall(r">(\d+ breaks?)<", page) == ["2 breaks"]
    table = page[page.index("<h2>Graph breaks") :]
    table = table[table.index("<tbody>") : table.index("</tbody>")]
    assert table.count("<tr") == 2


def test_narrow_pages_cut_no_words(diagnosis: Diagnosis) -> None:
    """At 390 pixels a wide table scrolls by itself, and a long word breaks; nothing is hidden behind an ellipsis."""
    page = report_html.render(diagnosis)
    assert '<meta name="viewport" content="width=device-width' in page
    style = page[page.index("<style>") : page.index("</style>")]
    assert "ellipsis" not in style
    assert "overflow:hidden" not in style
    assert page.count("<table") == page.count('<div class="wide"><table')
