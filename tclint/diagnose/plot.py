"""Small plots as inline SVG: horizontal bars and stepped lines. Colours are the page's CSS variables, so both themes fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 680
LABEL = 210
VALUE = 112
BAR, GAP, GROUP = 18, 4, 14
LETTER = 6.6
"""Average width of a letter of the labels."""


@dataclass(frozen=True, slots=True)
class Bar:
    value: float
    text: str
    series: int = 0
    spread: float = 0.0
    """The whole width of the whisker, centred on the end of the bar."""


@dataclass(frozen=True, slots=True)
class Group:
    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    values: tuple[float, ...]
    series: int = 0
    dashed: bool = False


def bars(title: str, groups: Sequence[Group], legend: Sequence[tuple[str, int]] = ()) -> str:
    """Groups of horizontal bars, each with its value written at its end."""
    most = max((bar.value + bar.spread / 2 for group in groups for bar in group.bars), default=0) or 1.0
    room = WIDTH - LABEL - VALUE
    out: list[str] = []
    top = 8.0
    for group in groups:
        height = len(group.bars) * (BAR + GAP) - GAP
        out.append(_text(LABEL - 12, top + height / 2 + 4, _cut(group.label, LABEL - 18), "label", "end"))
        for number, bar in enumerate(group.bars):
            y = top + number * (BAR + GAP)
            long = max(1.0, bar.value / most * room)
            out.append(f'<path class="s{bar.series}" d="{_rounded(LABEL, y, long, BAR)}"><title>{escape(group.label)}: {escape(bar.text)}</title></path>')  # fmt: skip
            end = LABEL + long
            if bar.spread:
                half = bar.spread / 2 / most * room
                low, high = max(LABEL, end - half), end + half
                middle = y + BAR / 2
                out.append(
                    f'<path class="whisker" d="M{low:.1f} {middle:.1f}H{high:.1f}'
                    f'M{low:.1f} {middle - 4:.1f}v8M{high:.1f} {middle - 4:.1f}v8"/>'
                )
                end = high
            out.append(_text(end + 8, y + BAR / 2 + 4, bar.text, "value"))
        top += height + GROUP
    base = top - GROUP + 8
    axis = f'<path class="axis" d="M{LABEL} 0V{base:.0f}"/>'
    return _svg(title, base, [axis, *out], legend)


def lines(title: str, ticks: Sequence[str], series: Sequence[Line], axis_title: str) -> str:
    """Counts that rise step by step over named points."""
    left, right, top, height = 46.0, 150.0, 14.0, 170.0
    most = max((value for line in series for value in line.values), default=0) or 1.0
    step = _nice(most)
    top_value = math.ceil(most / step) * step
    wide = WIDTH - left - right
    out: list[str] = []
    for number in range(round(top_value / step) + 1):
        y = top + height - number * step / top_value * height
        out.append(f'<path class="grid" d="M{left:.0f} {y:.1f}H{left + wide:.0f}"/>')
        out.append(_text(left - 8, y + 4, f"{number * step:g}", "tick", "end"))
    places = [left + wide * (number + 0.5) / max(1, len(ticks)) for number in range(len(ticks))]
    for x, tick in zip(places, ticks, strict=True):
        out.append(_text(x, top + height + 18, tick, "tick", "middle"))
    taken: list[float] = []
    for line in series:
        points = [(x, top + height - value / top_value * height) for x, value in zip(places, line.values, strict=False)]
        if not points:
            continue
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if line.dashed else ""
        out.append(f'<path class="l{line.series}" d="{path}"{dash}><title>{escape(line.label)}</title></path>')
        out += [f'<circle class="s{line.series}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points]
        x, y = points[-1]
        while any(abs(y - other) < 14 for other in taken):
            y += 14
        taken.append(y)
        out.append(_text(left + wide + 8, y + 4, line.label, "value"))
    out.append(_text(left, top + height + 40, axis_title, "tick"))
    return _svg(title, top + height + 48, out, ())


def _svg(title: str, height: float, parts: Sequence[str], legend: Sequence[tuple[str, int]]) -> str:
    out = list(parts)
    if legend:
        x = float(LABEL)
        height += 28
        for label, series in legend:
            out.append(f'<rect class="s{series}" x="{x:.0f}" y="{height - 17:.0f}" width="11" height="11" rx="2"/>')
            out.append(_text(x + 17, height - 7, label, "tick"))
            x += 17 + LETTER * len(label) + 22
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title, quote=True)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(out)}</svg>'
    )


def _rounded(x: float, y: float, long: float, high: float) -> str:
    """A bar with its far end rounded."""
    r = min(3.0, long)
    return (
        f"M{x:.1f} {y:.1f}h{long - r:.1f}q{r:g} 0 {r:g} {r:g}v{high - 2 * r:.1f}q0 {r:g} -{r:g} {r:g}h-{long - r:.1f}z"
    )


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _cut(text: str, room: float) -> str:
    most = int(room / LETTER)
    return text if len(text) <= most else f"…{text[-(most - 1) :]}"


def _nice(most: float) -> float:
    """A round distance between grid lines: four or five of them."""
    rough = most / 4
    base = 10 ** math.floor(math.log10(rough)) if rough > 0 else 1
    return max(1.0, next(base * factor for factor in (1, 2, 5, 10) if base * factor >= rough))
